"""wafmap: write amplification, or rates, under loads that spare flash and superblocks shape.

Even writes at several fills, in order, skewed, and zones that are written whole, one at a time and
side by side. Each load is written until the drive has settled and then for a part that counts,
between two readings of its counters. Invariant: a drive that does not count what it programs gets
the same steps, and is told by its rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.counters import between
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller
from flashtwin.batteries.base.registry import Part, host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.finding import Finding
from flashtwin.model.fio_job import Blocks, Distribution, Fio, Sequence
from flashtwin.model.step import Ask, Fill, Flush, Job, Mark, Purge, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "wafmap"
PAGE, BLOCK, DEPTH, STREAMS = 4096, 512 << 10, 32, 4
# Blocks of zones that hold less than a few hundred of the usual ones.
SMALL_BLOCK = 64 << 10
LEAST_ZONES = 3
THETA = 0.8


@dataclass(frozen=True, kw_only=True)
class _Way:
    """A load: its name in labels, its span, and zones where it has any."""

    name: str
    title: str
    span_bytes: int
    kind: str
    zone_bytes: int = 0
    active: int = 1

    @property
    def label(self) -> str:
        """The label below which its steps are."""
        return f"{NAME}/{self.name}"


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Each load on an erased drive that is filled as far: settle, read, write, read."""
    for way in _ways(parameters, info):
        yield Purge(label=f"{way.label}/purge")
        yield Fill(label=f"{way.label}/fill", size=way.span_bytes)
        yield Run(
            label=f"{way.label}/settle", jobs=_jobs(parameters, info, way, parameters.passes, 1)
        )
        yield Flush(label=f"{way.label}/flush")
        yield Ask(label=f"{way.label}/before", of="smart")
        yield Run(
            label=f"{way.label}/write", jobs=_jobs(parameters, info, way, parameters.measured, 2)
        )
        yield Flush(label=f"{way.label}/end")
        yield Ask(label=f"{way.label}/after", of="smart")
        yield Mark(label=f"{way.label}/found")


def _ways(parameters: Any, info: DriveInfo) -> list[_Way]:
    """All loads, in their order; `FlashtwinError` where a zone does not fit often enough."""
    spans = [int(info.capacity_bytes * fill / 100) // BLOCK * BLOCK for fill in parameters.fills]
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
    return ways + list(_zoned(parameters, info, span))


def _zoned(parameters: Any, info: DriveInfo, span: int) -> Iterator[_Way]:
    for size in parameters.zones:
        name = f"zones/{units.show_size(size)}"
        yield from _zones(info, span, name, size, 1)
    for active in parameters.active:
        yield from _zones(info, span, f"active/{active}", parameters.zone, active)


def _zones(info: DriveInfo, span: int, name: str, size: int, active: int) -> Iterator[_Way]:
    """Nothing where a drive is too small for zones of the default's sizes."""
    zone = size // BLOCK * BLOCK
    if not zone:
        raise FlashtwinError(f"{NAME}: a zone is {units.show_size(BLOCK)} or more", exit_code=USAGE)
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


def _jobs(parameters: Any, info: DriveInfo, way: _Way, passes: float, seed: int) -> tuple[Job, ...]:
    """The streams of a load: one a zone that is written at a time, else one."""
    block = PAGE if way.kind in ("uniform", "zipf") else BLOCK
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
    # A random zone, and its blocks in order until it is full. Fewer wait at once than a quarter of
    # it holds: else a drive of small zones would get several of them side by side.
    while block > SMALL_BLOCK and block * DEPTH > way.zone_bytes // 4:
        block //= 2
    depth = max(min(DEPTH // way.active, way.zone_bytes // 4 // block), 1)
    blocks = Blocks(least=block, most=block, align=way.zone_bytes)
    fio = Fio(
        blocks=(blocks, blocks, blocks),
        sequence=Sequence(every=way.zone_bytes // block),
        random_map=False,
    )
    job = replace(job, block_bytes=block, depth=depth, fio=fio)
    return tuple(replace(job, name=f"zone {at}", seed=seed + 97 * at) for at in range(way.active))


def conclude(record: Record) -> list[Finding]:
    """Write amplification of each load that is over, and its rate where it was not cut off."""
    findings = []
    for way in _ways(record.parameters, record.info):
        if record.step(f"{way.label}/found") is None:
            continue
        before, after = (record.answer(f"{way.label}/{when}") for when in ("before", "after"))
        value, grain, why = between(before, after)
        findings.append(
            _teller(way, "Write amplification").tell(
                "waf", way.title, "x", value, interval=grain, better="lower", note=why
            )
        )
        result = record.result(f"{way.label}/write")
        if result is not None and result.duration_ns and not result.cut:
            rate = sum(job.bytes for job in result.jobs) * 1e3 / result.duration_ns
            findings.append(_teller(way, "Write rate").tell("rate", way.title, "MB/s", rate))
    return findings


def _teller(way: _Way, title: str) -> Teller:
    label = f"{way.label}/write"
    return Teller(battery=NAME, label=label, title=title, variant=way.name, axis="cell")


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """Each load by itself."""
    return [Part(title=way.title, labels=(way.label,)) for way in _ways(parameters, info)]


BATTERY = declared(__name__, measure=measure, conclude=conclude, parts=parts)
