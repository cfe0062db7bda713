"""cache_by_fill: how large the cache is when the drive is empty, a quarter, half, nearly full.

What reviewers do (trust P): AnandTech writes a burst again at 80 % full, as a cache that borrows
cells shrinks with what is stored. Here, for each share: erase, fill in order up to it, rest so that
the drive can tidy up, and write on from there until the drive is full. The first plateau's end is
the cache, read as `fill` reads it. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller
from flashtwin.batteries.base.registry import Part, host_ns
from flashtwin.batteries.base.writing import (
    FEWEST,
    GB,
    MIB,
    Burst,
    burst_of,
    curve_of,
    whole_blocks,
)
from flashtwin.batteries.base.writing import write as write_step
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.step import Fill, Mark, Purge, Rest, Result
from flashtwin.model.units import readable_gb, readable_mb_s

if TYPE_CHECKING:
    from flashtwin.analysis.curve import Curve
    from flashtwin.analysis.estimate import Estimate
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "cache_by_fill"


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """For each share: erase, fill, rest, write what is free."""
    if not info.can.purge:
        raise FlashtwinError(
            f"{NAME} cannot be measured on {info.name}: it cannot be erased, so"
            " nobody can set how full it is",
            hint=f"leave {NAME} out of --battery, or measure a simulated drive",
            exit_code=USAGE,
        )
    if _free(info, max(parameters.fills)) < MIB:
        raise FlashtwinError(
            f"{NAME}: less than 1MiB is free at {max(parameters.fills):g} % of {info.name}",
            hint=f"set {NAME}:fills to less",
            exit_code=USAGE,
        )
    for percent in parameters.fills:
        stem = _stem(percent)
        yield Purge(label=f"{stem}/purge")
        if begin := _begin(info, percent):
            yield Fill(label=f"{stem}/fill", size=begin)
            yield Rest(label=f"{stem}/settle", seconds=parameters.settle_s)
        answer = yield write_step(
            f"{stem}/write",
            info,
            offset=begin,
            size=_free(info, percent),
            host_ns=host_ns(parameters, info),
        )
        if isinstance(answer, Result):
            yield Mark(label=f"{stem}/found")


def conclude(record: Record) -> list[Finding]:
    """Size and speed of the cache at each share, and what is left of it at the fullest."""
    findings: list[Finding] = []
    sizes: dict[float, Estimate] = {}
    curves = {
        percent: curve
        for percent in record.parameters.fills
        if (curve := curve_of(record, f"{_stem(percent)}/write")) is not None
    }
    emptiest = burst_of(curves[min(curves)]) if curves else ""
    for percent, curve in curves.items():
        cache = burst_of(curve)
        if isinstance(emptiest, Burst) and (rate := _spent(curve, cache, emptiest)) is not None:
            sizes[percent], none_left = _none_left(percent, rate, curve, emptiest)
            findings.append(none_left)
            continue
        if isinstance(cache, str):
            free = f"{readable_gb(curve.total_bytes)} were free and written"
            findings.append(_size_of(percent, None, curve, note=f"{cache}; {free}"))
            continue
        step = record.step(f"{_stem(percent)}/write")
        if step is None or not step.cut:
            sizes[percent] = cache.size
        findings.append(_size_of(percent, cache.size, curve))
        findings.append(_speed_of(percent, cache.fast, curve))
    return [*findings, *_left(sizes, record.parameters.fills)]


def _spent(curve: Curve, cache: Burst | str, emptiest: Burst) -> float | None:
    """The rate at which a write begins, where that is the drive's own past its cache and not the
    cache's: nearer by ratio to what the emptiest drive showed past its cache than to it in it."""
    from flashtwin.analysis.shape import shape_of

    rate = shape_of(curve).head.speed.value if isinstance(cache, str) else cache.fast.value
    return rate if rate**2 < emptiest.fast.value * emptiest.slow else None


def _none_left(
    percent: float, rate: float, curve: Curve, emptiest: Burst
) -> tuple[Estimate, Finding]:
    """A drive so full that no cache is left: none from the size on that would have shown."""
    from flashtwin.analysis import calibration, first_plateau
    from flashtwin.analysis.estimate import Estimate

    least = calibration.bound(first_plateau.smallest_cache(curve), curve.total_bytes)
    first_bytes = float(curve.size[:FEWEST].sum())
    first_rate = first_bytes / float(curve.dt[:FEWEST].sum())
    if first_rate**2 < emptiest.fast.value * emptiest.slow:
        # A cache as fast as the emptiest drive's would have made its first samples fast too.
        least = min(least, first_bytes)
    none = Estimate(value=0.0, low=0.0, high=least)
    note = (
        f"no cache is left: it begins at {readable_mb_s(rate)}, as the emptiest drive writes past "
        "its cache"
    )
    bound = Interval.of(0.0, least / GB, "bound")
    title = f"Cache at {percent:g} % full"
    return none, _teller(percent, curve.total_bytes).tell(
        f"size.{percent:g}", title, "GB", 0.0, interval=bound, better="higher", note=note
    )


def _size_of(
    percent: float, size: Estimate | None, curve: Curve, note: str | None = None
) -> Finding:
    in_gb = None if size is None else size.scaled(1 / GB)
    teller = _teller(percent, curve.total_bytes if size is None else size.value)
    title = f"Cache at {percent:g} % full"
    return teller.tell(f"size.{percent:g}", title, "GB", in_gb, better="higher", note=note)


def _speed_of(percent: float, speed: Estimate, curve: Curve) -> Finding:
    return _teller(percent, curve.total_bytes).tell(
        f"speed.{percent:g}",
        f"Speed in the cache at {percent:g} % full",
        "MB/s",
        speed.scaled(1e-6),
        beside=f"size.{percent:g}",
    )


def _left(sizes: dict[float, Estimate], fills: tuple[float, ...]) -> list[Finding]:
    """The cache at the fullest share over that at the emptiest: 1 for a cache of fixed size.

    Nothing where one of both has none that was seen to end.
    """
    empty, full = min(fills), max(fills)
    if empty == full or not {empty, full} <= sizes.keys():
        return []
    least, most = sizes[full], sizes[empty]
    interval = None
    if not most.value:
        return []
    if least.low is not None and least.high is not None and most.low and most.high:
        interval = Interval(low=least.low / most.high, high=least.high / most.low)
    return [
        _teller(full, least.value).tell(
            "left",
            "What is left of the cache on a full drive",
            "fraction",
            least.value / most.value,
            interval=interval,
            better="higher",
            headline=True,
            note=f"at {full:g} % full over at {empty:g} %; a cache of fixed size keeps 1",
        )
    ]


def _teller(percent: float, end: float) -> Teller:
    label = f"{_stem(percent)}/write"
    return Teller(battery=NAME, label=label, title="", axis="bytes", end_s=end)


def _stem(percent: float) -> str:
    return f"{NAME}/{percent:g}"


def _begin(info: DriveInfo, percent: float) -> int:
    return whole_blocks(info.capacity_bytes * percent / 100)


def _free(info: DriveInfo, percent: float) -> int:
    return whole_blocks(info.capacity_bytes - _begin(info, percent))


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """Each share by itself: the emptiest and the fullest first, which tell most."""
    shares = sorted(parameters.fills)
    worth = [*dict.fromkeys([shares[0], shares[-1], *shares])]
    return [Part(title=f"{percent:g} % full", labels=(_stem(percent),)) for percent in worth]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
)
