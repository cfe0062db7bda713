"""recovery: how long a drive has to rest until its cache is back, and what TRIM gives back.

What reviewers do (trust P). The cache of an erased drive is written full and past its end; after a
rest the same range is written again, and what is fast again is what the drive cleared in between.
Each write of the ladder goes past the end of the cache, so each rest begins with a full one, and
as it overwrites the same range the drive is equally full all the while. At last everything is
trimmed, and the range is written at once and after a short rest.

A rewrite makes what it replaces worthless, so that the drive may clear its cache of it without
copying anything. A user's next copy goes elsewhere: so after TRIM the range is written once more,
and after a rest a fresh range, which replaces nothing.

`conclude` reads each rewrite against the first write: fast is what lies above the middle of its
two speeds. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller
from flashtwin.batteries.base.registry import Part, host_ns, with_mark
from flashtwin.batteries.base.writing import GB, MIB, burst_of, curve_of, fast_part, whole_blocks
from flashtwin.batteries.base.writing import write as write_step
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.finding import Better, Finding, Interval
from flashtwin.model.step import Purge, Rest, Result, Trim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.analysis.curve import Curve
    from flashtwin.analysis.estimate import Estimate
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.batteries.base.writing import Burst
    from flashtwin.model.step import Run
    from flashtwin.model.target import DriveInfo

NAME = "recovery"
FIRST = f"{NAME}/first"
# So much of the first write's fast part has to be there again for the cache to be back.
BACK = 0.9


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase, write; rest and write again for each rung; trim, rest and write again."""
    if _size(parameters, info) < MIB:
        raise FlashtwinError(
            f"recovery: {parameters.size_percent:g} % of {info.name} is less than 1MiB",
            hint="set recovery:size_percent to more, or make the target larger",
            exit_code=USAGE,
        )
    yield Purge(label=f"{NAME}/purge")
    yield from with_mark(_write(parameters, info, FIRST))
    for rung in rungs(parameters):
        fresh = rung.kind == "fresh"
        if fresh and _left(parameters, info) < MIB:
            return
        if rung.kind != "rest":
            trimmed = yield Trim(label=f"{rung.stem}/trim")
            if not isinstance(trimmed, Result):
                continue
        if fresh:
            yield from with_mark(_write(parameters, info, f"{rung.stem}/fill"))
        if rung.rest_s:
            yield Rest(label=f"{rung.stem}/rest", seconds=rung.rest_s)
        yield from with_mark(_write(parameters, info, rung.label, fresh=fresh))


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A rest with the write after it: of the range again, of the range after TRIM of everything,
    or of a fresh range."""

    rest_s: float
    kind: Literal["rest", "trim", "fresh"] = "rest"

    @property
    def name(self) -> str:
        """The rest as it is typed: 5m."""
        return units.show_seconds(self.rest_s)

    @property
    def title(self) -> str:
        """For a reader."""
        rest = f"{self.name} of rest"
        return {"rest": rest, "trim": f"TRIM and {rest}", "fresh": f"{rest}, elsewhere"}[self.kind]

    @property
    def stem(self) -> str:
        """What the labels of its steps begin with."""
        return f"{NAME}/{self.kind}-{self.name}"

    @property
    def label(self) -> str:
        """The rewrite's."""
        return f"{self.stem}/write"


def rungs(parameters: Any) -> Iterator[Rung]:
    """The rests before rewrites, those after TRIM, then those before writes elsewhere."""
    yield from (Rung(rest_s=seconds) for seconds in parameters.rests)
    yield from (Rung(rest_s=seconds, kind="trim") for seconds in parameters.trim_rests)
    yield from (Rung(rest_s=seconds, kind="fresh") for seconds in parameters.fresh_rests)


def _size(parameters: Any, info: DriveInfo) -> int:
    return whole_blocks(info.capacity_bytes * parameters.size_percent / 100)


def _left(parameters: Any, info: DriveInfo) -> int:
    """Bytes of the fresh range: as much as each write covers, or what is left beside it."""
    size = _size(parameters, info)
    return min(size, whole_blocks(info.capacity_bytes) - size)


def _write(parameters: Any, info: DriveInfo, label: str, *, fresh: bool = False) -> Run:
    size = _size(parameters, info)
    offset, length = (size, _left(parameters, info)) if fresh else (0, size)
    return write_step(label, info, offset=offset, size=length, host_ns=host_ns(parameters, info))


def conclude(record: Record) -> list[Finding]:
    """The cache of the erased drive; then what each rewrite found of it, and the least rest."""
    first = curve_of(record, FIRST)
    if first is None:
        return []
    cache = burst_of(first)
    if isinstance(cache, str):
        return [_finding("cache", "Cache of the erased drive", "GB", None, first, note=cache)]
    findings = [
        _finding("cache", "Cache of the erased drive", "GB", cache.size, first),
        _finding("speed", "Speed in the cache", "MB/s", cache.fast, first),
    ]
    shares: dict[float, float] = {}
    for rung in rungs(record.parameters):
        curve = curve_of(record, rung.label)
        if curve is None:
            continue
        fast = fast_part(curve, cache.between)
        findings.append(_again(rung, fast, cache, curve))
        if rung.kind == "rest":
            shares[rung.rest_s] = fast.value / cache.size.value
    return [*findings, *_back(shares, len(record.parameters.rests))]


def _again(rung: Rung, fast: Estimate, cache: Burst, curve: Curve) -> Finding:
    """What was fast again after a rest, and which part of the cache that is."""
    share = f"{100 * fast.value / cache.size.value:.0f} % of the cache of the erased drive"
    return _finding(
        f"{rung.kind}.{rung.name}",
        f"Fast again after {rung.title}",
        "GB",
        fast,
        curve,
        label=rung.label,
        note=share,
    )


def _back(shares: dict[float, float], rests: int) -> list[Finding]:
    """The least rest after which the cache is back, if one was long enough; else nothing before
    all of the rests are over."""
    enough = [rest for rest in sorted(shares) if shares[rest] >= BACK]
    least = enough[0] if enough else None
    if not shares or (least is None and len(shares) < rests):
        return []
    short = [rest for rest in shares if least is None or rest < least]
    interval = Interval.of(max(short, default=0.0), least, "bound")
    best = max(shares.values())
    note = f"at least {100 * BACK:.0f} % of the erased drive's cache"
    if least is None:
        note = f"not within the rests that were tried: at most {100 * best:.0f} % came back"
    return [
        Finding(
            battery=NAME,
            name="back",
            title="Rest until the cache is back",
            value=least,
            unit="s",
            interval=interval if least is not None else None,
            better="lower",
            headline=True,
            note=note,
        )
    ]


def _finding(
    name: str,
    title: str,
    unit: str,
    estimate: Estimate | None,
    curve: Curve,
    *,
    label: str = FIRST,
    note: str | None = None,
) -> Finding:
    """A finding in GB or MB/s of a write; estimates come in bytes and bytes a second."""
    in_unit = None if estimate is None else estimate.scaled(1 / (GB if unit == "GB" else 1e6))
    end = curve.total_bytes if estimate is None or unit != "GB" else estimate.value
    teller = Teller(battery=NAME, label=label, title=title, axis="bytes", end_s=end)
    better: Better | None = "higher" if unit == "GB" else None
    finding = teller.tell(name, "", unit, in_unit, better=better, note=note)
    if finding.interval is None or label == FIRST:
        return finding
    return replace(finding, interval=replace(finding.interval, means="bound"))


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The first write, then the rungs in their order: a rung without the first says nothing."""
    first = "first write"
    return [
        Part(title=first, labels=(f"{NAME}/purge", FIRST)),
        *(
            Part(title=rung.stem.removeprefix(f"{NAME}/"), labels=(rung.stem,), needs=(first,))
            for rung in rungs(parameters)
        ),
    ]


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """How this run departs from what the reviewers do."""
    if info.can.whole_drive:
        return []
    return ["writes a file: the drive under it is neither erased nor filled first"]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
    parts=parts,
)
