"""wafmap: write amplification, or rates, under loads that spare flash and superblocks shape.

Even writes at several fills, in order, skewed, and zones that are written whole, one at a time and
side by side. Each load is written until the drive has settled and then for a part that counts,
between two readings of its counters. What the loads say together is `inference`'s, and zones of
further sizes follow while one of them would tell more. Invariant: a drive that does not count what
it programs gets the same loads, and is judged by its rates.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.counters import Ratio, between
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller
from flashtwin.batteries.base.registry import Part, host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import fio_job, units
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.fio_job import Blocks, Distribution, Fio
from flashtwin.model.series import WRITE
from flashtwin.model.step import Ask, Fill, Flush, Job, Mark, NotPossible, Purge, Result, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer, Steps
    from flashtwin.batteries.wafmap.inference import Inferred
    from flashtwin.batteries.wafmap.responses import Kind, Load
    from flashtwin.model.step import Step
    from flashtwin.model.target import DriveInfo

NAME = "wafmap"
PAGE, BLOCK, DEPTH, STREAMS = 4096, 512 << 10, 32, 4
LEAST_ZONES, LEAST_BLOCKS = 3, 16
ZONES = "zones/"
THETA = 0.8
# Further zones have to be open by this much of what one drive scatters.
LEAST_TOLD = 0.5


@dataclass(frozen=True, kw_only=True)
class _Way:
    """A load: its name in labels, its span, and zones where it has any."""

    name: str
    title: str
    span_bytes: int
    kind: Kind
    zone_bytes: int = 0
    active: int = 1

    @property
    def label(self) -> str:
        """The label below which its steps are."""
        return f"{NAME}/{self.name}"


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Each load on an erased drive that is filled as far; then zones of the size that tells most,
    again and again."""
    loads = []
    for way in _ways(parameters, info):
        loads += yield from _measured(parameters, info, way)
    for _ in range(parameters.refine):
        further = _further(parameters, info, loads)
        if further is None:
            return
        loads += yield from _measured(parameters, info, further)


def _measured(parameters: Any, info: DriveInfo, way: _Way) -> Generator[Step, Answer, list[Load]]:
    """Settle, read, write, read; the load with what it showed, or nothing."""
    purged = yield Purge(label=f"{way.label}/purge")
    yield Fill(label=f"{way.label}/fill", size=way.span_bytes)
    settled = yield Run(
        label=f"{way.label}/settle", jobs=_jobs(parameters, info, way, parameters.passes, 1)
    )
    yield Flush(label=f"{way.label}/flush")
    before = yield Ask(label=f"{way.label}/before", of="smart")
    jobs = _jobs(parameters, info, way, parameters.measured, 2)
    written = yield Run(label=f"{way.label}/write", jobs=jobs)
    yield Flush(label=f"{way.label}/end")
    after = yield Ask(label=f"{way.label}/after", of="smart")
    yield Mark(label=f"{way.label}/found")
    erased = _erased(way, purged, settled)
    return _load(way, jobs[0], between(before, after), _rate_of(written), erased)


def _further(parameters: Any, info: DriveInfo, loads: Sequence[Load]) -> _Way | None:
    """Zones of the size that tells most of what is still open; none where none tells much, or
    nothing would be said."""
    from flashtwin.batteries.wafmap.erased import apart
    from flashtwin.batteries.wafmap.inference import inferred, telling

    if apart(loads) is not None:
        return None
    span = _spans(parameters, info)[-1]
    measured = {load.zone_bytes for load in loads}
    sizes = [size for size in _further_sizes(span, _block(parameters)) if size not in measured]
    known = inferred(loads, info.capacity_bytes)
    if known is None or not sizes:
        return None
    if known.superblock is None:
        size = sizes[len(sizes) // 2]
    else:
        promise = telling(known, span, sizes)
        size = sizes[int(promise.argmax())]
        if promise.max() < LEAST_TOLD:
            return None
    return next(_zones(_block(parameters), span, f"{ZONES}{units.show_size(size)}", size, 1), None)


def _further_sizes(span: int, block: int) -> list[int]:
    """Sizes 12 % apart, of which few are whole multiples of one another."""
    sizes, size = [], span / LEAST_ZONES
    while size >= LEAST_BLOCKS * block:
        sizes.append(int(size) // block * block)
        size /= 1.12
    return sizes


def _ways(parameters: Any, info: DriveInfo) -> list[_Way]:
    """All loads, in their order; `FlashtwinError` where a zone does not fit often enough."""
    spans = _spans(parameters, info)
    if min(spans) < 64 * BLOCK:
        raise FlashtwinError(
            f"{NAME}: less than 32 MiB would be written",
            hint=f"{info.name} has {units.show_size(info.capacity_bytes)}; raise wafmap:fills",
            exit_code=USAGE,
        )
    span = spans[-1]
    ways = [_Way(name="sequential", title="in order", span_bytes=span, kind="sequential")]
    for fill, each in zip(parameters.fills, spans, strict=True):
        title = f"even, {fill:g} % full"
        ways.append(_Way(name=f"even/{fill:g}", title=title, span_bytes=each, kind="uniform"))
    ways.append(_Way(name="zipf", title=f"zipf {THETA:g}", span_bytes=span, kind="zipf"))
    block = _block(parameters)
    for size in parameters.zones:
        ways += _zones(block, span, f"{ZONES}{units.show_size(size)}", size, 1)
    for active in parameters.active:
        ways += _zones(block, span, f"active/{active}", parameters.zone, active)
    return ways


def _spans(parameters: Any, info: DriveInfo) -> list[int]:
    """Bytes that are written over at each fill."""
    return [int(info.capacity_bytes * fill / 100) // BLOCK * BLOCK for fill in parameters.fills]


def _zones(block: int, span: int, name: str, size: int, active: int) -> Iterator[_Way]:
    """Nothing where a drive is too small for zones of this size."""
    zone = size // block * block
    if zone < LEAST_BLOCKS * block:
        least = units.show_size(LEAST_BLOCKS * block)
        raise FlashtwinError(
            f"{NAME}: a zone is {least} or more",
            hint=f"write {NAME}:zones and {NAME}:zone with sizes of {least} or more",
            exit_code=USAGE,
        )
    count = span // zone
    if count >= max(LEAST_ZONES, active + 1):
        title = f"zones of {units.show_size(size)}"
        title += f", {active} at a time" if active > 1 else ""
        yield _Way(
            name=name,
            title=title,
            span_bytes=count * zone,
            kind="zones",
            zone_bytes=zone,
            active=active,
        )


def _block(parameters: Any) -> int:
    """The request of zones and of what is written in order: DEPTH of them are a quarter of most
    zones or less, so that hardly two are written at once, and rates can be compared."""
    block = BLOCK
    while block > PAGE and block * DEPTH > min(parameters.zones) // 16:
        block //= 2
    return block


def _jobs(parameters: Any, info: DriveInfo, way: _Way, passes: float, seed: int) -> tuple[Job, ...]:
    """The streams of a load: one a zone that is written at a time, else one.

    Zones of each size come in an order of their own: in one order for all, what is dear by chance
    would be dear at every size.
    """
    seed += 2 * (way.zone_bytes // PAGE)
    block = PAGE if way.kind in ("uniform", "zipf") else _block(parameters)
    moved = max(int(way.span_bytes * passes / way.active) // block, 1) * block
    job = Job(
        name="write",
        rw="write" if way.kind == "sequential" else "randwrite",
        block_bytes=block,
        depth=DEPTH,
        threads=STREAMS if block == PAGE and way.kind == "uniform" else 1,
        size=way.span_bytes,
        io_bytes=moved,
        host_ns=host_ns(parameters, info),
        seed=seed,
    )
    if way.kind == "zipf":
        law = Distribution(kind="zipf", value=THETA)
        return (replace(job, depth=DEPTH * STREAMS, fio=Fio(distribution=law, random_map=False)),)
    if way.kind != "zones":
        return (job,)
    # A random zone, and its blocks in order until it is full.
    depth = max(min(DEPTH // way.active, way.zone_bytes // 4 // block), 1)
    blocks = Blocks(least=block, most=block, align=way.zone_bytes)
    fio = Fio(
        blocks=(blocks, blocks, blocks),
        sequence=fio_job.Sequence(every=way.zone_bytes // block),
        random_map=False,
    )
    job = replace(job, block_bytes=block, depth=depth, fio=fio)
    return tuple(replace(job, name=f"zone {at}", seed=seed + 97 * at) for at in range(way.active))


def conclude(record: Record) -> list[Finding]:
    """A finding a load, and what they say together."""
    from flashtwin.batteries.wafmap.inference import inferred

    findings: list[Finding] = []
    loads: list[Load] = []
    for way in [*_ways(record.parameters, record.info), *_added(record)]:
        if record.step(f"{way.label}/found") is None:
            continue
        before, after = (record.answer(f"{way.label}/{when}") for when in ("before", "after"))
        ratio = value, grain, why = between(before, after)
        rate = _rate_of(record.answer(f"{way.label}/write"))
        erased = _erased(
            way, *(record.answer(f"{way.label}/{when}") for when in ("purge", "settle"))
        )
        findings.append(
            _teller(way, "Write amplification").tell(
                "waf", way.title, "x", value, interval=grain, better="lower", note=why
            )
        )
        if rate is not None:
            findings.append(_teller(way, "Write rate").tell("rate", way.title, "MB/s", rate / 1e6))
        if erased is not None:
            took, sample = (each / 1e9 for each in erased)
            bound = Interval.of(took - sample, took + sample)
            label = f"{way.label}/settle"
            findings.append(
                _teller(way, "Written before it slows down", label).tell(
                    "erased", way.title, "GB", took, interval=bound
                )
            )
        job = _jobs(record.parameters, record.info, way, record.parameters.measured, 2)[0]
        loads += _load(way, job, ratio, rate, erased)
    known = inferred(loads, record.info.capacity_bytes) if loads else None
    return findings if known is None else [*findings, *_together(record.info, loads, known)]


def _added(record: Record) -> Iterator[_Way]:
    """The zones that were chosen under way, in their order."""
    span, block = _spans(record.parameters, record.info)[-1], _block(record.parameters)
    planned = {way.label for way in _ways(record.parameters, record.info)}
    begins, ends = f"{NAME}/{ZONES}", "/found"
    for step in record.steps:
        label = step.label.removesuffix(ends)
        if step.label.endswith(ends) and label.startswith(begins) and label not in planned:
            size = units.parse_size(label.removeprefix(begins))
            yield from _zones(block, span, label.removeprefix(f"{NAME}/"), size, 1)


def _load(
    way: _Way, job: Job, ratio: Ratio, rate: float | None, erased: tuple[float, float] | None
) -> list[Load]:
    """A load with what it showed; nothing where it was cut off, or zones lay side by side."""
    from flashtwin.batteries.wafmap import responses

    if rate is None or way.active > 1:
        return []
    load = responses.Load(
        kind=way.kind,
        span_bytes=way.span_bytes,
        zone_bytes=way.zone_bytes,
        rate=rate,
        requests=(job.block_bytes, job.depth * job.threads),
        erased=erased,
    )
    waf, bound, _ = ratio
    if waf is None or bound is None:
        return [load]
    low, high = bound.low or 0.0, bound.high or 2 * waf
    return [replace(load, waf=waf, rate=None, noise=(high - low) / 2 / waf)]


def _rate_of(written: Result | NotPossible) -> float | None:
    """Bytes a second of the part that counts; none where it was cut off."""
    if not isinstance(written, Result) or not written.duration_ns or written.cut:
        return None
    return sum(job.bytes for job in written.jobs) * 1e9 / written.duration_ns


def _erased(
    way: _Way, purged: Result | NotPossible, settled: Result | NotPossible
) -> tuple[float, float] | None:
    """Bytes that were written from the erased drive on until it slowed down: the fill in order and
    the beginning of the load. None where the drive could not be erased, and none for zones, which
    move little at first."""
    from flashtwin.batteries.wafmap.erased import erased_bytes

    known = isinstance(purged, Result) and isinstance(settled, Result)
    if not known or way.kind not in ("uniform", "zipf"):
        return None
    assert isinstance(settled, Result), "known steps have results"
    written = settled.series.only(WRITE)
    took = erased_bytes(written.bytes.astype(float), written.dt_ns / 1e9)
    return None if took is None else (way.span_bytes + took[0], took[1])


def _teller(way: _Way, title: str, label: str = "") -> Teller:
    label = label or f"{way.label}/write"
    return Teller(battery=NAME, label=label, title=title, variant=way.name, axis="cell")


def _doubt(loads: Sequence[Load], known: Inferred) -> str | None:
    """Why the loads tell neither flash nor superblock, where that is so: the table is of drives
    without a cache whose flash is what a host waits for."""
    from flashtwin.batteries.wafmap.erased import against_amount, apart
    from flashtwin.batteries.wafmap.inference import shows_nothing

    superblock = known.superblock[0] if known.superblock else 0.0
    differ, against = apart(loads), against_amount(loads, known.flash[0], superblock)
    if differ is not None:
        least, most = (f"{each / 1e9:.3g} GB" for each in differ)
        return (
            f"the erased drive slowed down after {least} under one load and after {most} under "
            "another, as drives do that have a cache, become hot or were not empty: it is not "
            "known which"
        )
    if against is not None:
        took, fitting = (f"{each / 1e9:.3g} GB" for each in against)
        return (
            f"the erased drive took {took} before it slowed down, but what it shows later is that "
            f"of a drive that takes {fitting}: a small cache moves data in ways that this battery "
            "does not know"
        )
    if shows_nothing(loads):
        return (
            "only rates are known, and these do not tell what is moved: the drive could not be "
            "erased before, or host or link are as slow as its collection"
        )
    return None


def _together(info: DriveInfo, loads: Sequence[Load], known: Inferred) -> Iterator[Finding]:
    """Spare flash, superblock and how victims are chosen, or why there are no values."""
    why = _doubt(loads, known)

    def found(name: str, title: str, unit: str, three: Sequence[float]) -> Finding:
        value, low, high = three
        return Finding(
            battery=NAME,
            name=name,
            title=title,
            value=None if why else value,
            unit=unit,
            interval=None if why else Interval.of(low, high),
            note=why,
        )

    flash = [100 * (each / info.capacity_bytes - 1) for each in known.flash]
    yield found("over_provisioning", "Effective over-provisioning", "%", flash)
    if known.superblock is not None:
        yield found("superblock", "Superblock", "MB", [each / 1e6 for each in known.superblock])
    for policy, share in known.policies.items():
        yield Finding(
            battery=NAME,
            name="policy",
            variant=policy,
            title=f"Victims are chosen: {policy}",
            value=None if why else 100 * share,
            unit="%",
            note=why,
        )


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """Each load by itself."""
    return [Part(title=way.title, labels=(way.label,)) for way in _ways(parameters, info)]


BATTERY = declared(__name__, measure=measure, conclude=conclude, parts=parts)
