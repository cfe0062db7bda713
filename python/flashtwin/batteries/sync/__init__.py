"""sync: small writes that have to be on flash before the next one is sent.

What databases, hypervisors and storage clusters ask of a drive first (trust M): 4 and 8 KiB with a
flush after each, with the flag that makes a write wait for the flash (O_DSYNC: FUA), etcd's
journal, and several writers whose flushes wait together. On an erased drive that has rested, on one
whose cache is full, and on that beside a writer that keeps a pace. The host's time a command is a
prior: 5 us. Whether the drive is protected against power cuts follows from the time of one such
write alone, as a host sees it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from flashtwin.batteries.base.counters import between
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, SAMPLES, Load, Teller, check_fits
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import Part, with_mark
from flashtwin.batteries.base.tail import bins_in, percentile_us, tail_findings
from flashtwin.hypothesis.structures import synced_writes
from flashtwin.model.finding import Finding
from flashtwin.model.fio_job import Blocks, Fio, Pace, Syncs
from flashtwin.model.step import Ask, Fill, Job, Purge, Rest, Result, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer, Steps
    from flashtwin.model.target import DriveInfo

NAME = "sync"
MB = 10**6
PAGE = 4 * KIB
BESIDE = "beside"
# 2,300 bytes that are appended touch a second page so often, in percent.
ETCD_TWO_PAGES = 56
ETCD_US = 10_000.0
# Published drives are too few to say more than this.
MOST_CERTAIN = 0.995


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A kind of synchronous write. `way`: how it becomes durable. `two_pages` of a hundred are
    twice as long. `group`: writes that are sent at the same time and wait for one flush."""

    name: str
    title: str
    block_bytes: int = PAGE
    way: Literal["flush", "fua"] = "flush"
    random: bool = True
    writers: int = 1
    two_pages: int = 0
    group: int = 1

    @property
    def load(self) -> Load:
        """As findings name it."""
        return Load(
            random=self.random, block_bytes=self.block_bytes, read_percent=0, depth=self.group
        )


SINGLE = (
    Cell(name="4k", title="4 KiB and a flush"),
    Cell(name="8k", title="8 KiB and a flush", block_bytes=2 * PAGE),
    Cell(name="dsync", title="4 KiB with FUA", way="fua"),
    Cell(name="etcd", title="etcd's journal", random=False, two_pages=ETCD_TWO_PAGES),
)


# The kind of one writer that several are compared with, by how they wait for the flash.
_ALONE = {"flush": "4k", "fua": "dsync"}


def cells(parameters: Any) -> list[Cell]:
    """The kinds of a run, in their order."""
    single = next(cell for cell in SINGLE if cell.name == _ALONE[parameters.together])
    several = [
        replace(single, name=f"w{count}", title=f"{count} writers, {single.title}", writers=count)
        for count in dict.fromkeys(parameters.writers)
        if count > 1
    ]
    grouped = [
        Cell(name=f"g{count}", title=f"{count} writes of 4 KiB and one flush", group=count)
        for count in dict.fromkeys(parameters.grouped)
        if count > 1
    ]
    return [*SINGLE, *several, *grouped]


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """State by state, kind by kind; SMART data before and after each where the drive has them."""
    check_fits(NAME, [cell.load for cell in SINGLE], info)
    for state in parameters.states:
        yield from _brought_to(state, parameters, info)
        smart = yield Ask(label=f"{NAME}/{state}/smart", of="smart")
        for cell in cells(parameters):
            yield from with_mark(_step(state, cell, parameters, info))
            if isinstance(smart, Result):
                yield Ask(label=f"{label_of(state, cell)}/smart", of="smart")


def _brought_to(state: str, parameters: Any, info: DriveInfo) -> Steps:
    """Erased, with the file laid out and a rest; or written once, without one."""
    if state == "fresh":
        yield Purge(label=f"{NAME}/{state}/purge")
        yield Fill(label=f"{NAME}/{state}/file", size=_span(parameters, info))
        yield Rest(label=f"{NAME}/{state}/rest", seconds=parameters.rest_s)
    elif state == "full" or "full" not in parameters.states:
        yield Fill(label=f"{NAME}/{state}/fill", block_bytes=128 * KIB, depth=32)


def _span(parameters: Any, info: DriveInfo) -> int:
    least = 2 * PAGE
    most: int = min(here(parameters, "span", info), info.capacity_bytes // 2)
    return max(most // least * least, least)


def _step(state: str, cell: Cell, parameters: Any, info: DriveInfo) -> Run:
    jobs = [_writer(cell, number, parameters, info) for number in range(1, cell.writers + 1)]
    if state == BESIDE:
        jobs.append(_beside(parameters, info))
    sample_s = min(1.0, here(parameters, "seconds", info) / SAMPLES)
    return Run(label=label_of(state, cell), jobs=tuple(jobs), sample_s=sample_s)


def _writer(cell: Cell, number: int, parameters: Any, info: DriveInfo) -> Job:
    every = cell.group if cell.way == "flush" else 0
    fio = Fio(time_based=True, random_map=False, syncs=Syncs(fdatasync_every=every))
    if cell.two_pages:
        split = ((PAGE, 100 - cell.two_pages), (2 * PAGE, cell.two_pages))
        fio = replace(fio, blocks=(Blocks(least=PAGE, most=2 * PAGE, split=split),) * 3)
    job = cell.load.job_for(
        parameters,
        info,
        size=_span(parameters, info),
        seconds=here(parameters, "seconds", info),
        fio=fio,
    )
    return replace(job, name=f"writer{number}", seed=number, sync=cell.way == "fua")


def _beside(parameters: Any, info: DriveInfo) -> Job:
    """The writer that keeps a pace, on what lies behind the file."""
    block, first = 128 * KIB, _span(parameters, info)
    size = (info.capacity_bytes - first) // block * block
    load = Load(random=False, block_bytes=block, read_percent=0, depth=4)
    fio = Fio(time_based=True, pace=Pace(bytes_s=(0, parameters.pace * MB, 0)))
    seconds = here(parameters, "seconds", info)
    return load.job_for(
        parameters, info, size=size, seconds=seconds, name=BESIDE, offset=first, fio=fio
    )


def label_of(state: str, cell: Cell) -> str:
    """The step of a kind in a state."""
    return f"{NAME}/{state}/{cell.name}"


def conclude(record: Record) -> list[Finding]:
    """What each kind came to in each state, what several writers gain, and what it all says of the
    drive."""
    findings: list[Finding] = []
    single_us: list[tuple[float, Teller]] = []
    for state in record.parameters.states:
        rates: dict[int, float] = {}
        before = record.answer(f"{NAME}/{state}/smart")
        for cell in cells(record.parameters):
            result = record.result(label_of(state, cell))
            if result is None or not (rate := _rate(result)):
                continue
            teller = _teller(state, cell, result)
            findings.append(teller.tell("iops", "writes a second", "IOPS", rate, headline=True))
            findings += _tails(state, cell, teller, result)
            after = record.answer(f"{label_of(state, cell)}/smart")
            findings += _waf(teller, before, after)
            before = after
            if cell.name in ("4k", "dsync"):
                single_us.append((1e6 / rate, teller))
            if cell.name == _ALONE[record.parameters.together] or cell.writers > 1:
                rates[cell.writers] = rate
        findings += _gain(state, rates)
    return [*findings, *_protected(single_us)]


def _rate(result: Result) -> float:
    """Writes a second of those that wait for the flash."""
    jobs = [job for job in result.jobs if job.name != BESIDE and job.duration_ns]
    return sum(job.ios / (job.duration_ns / 1e9) for job in jobs)


def _teller(state: str, cell: Cell, result: Result) -> Teller:
    where = {"fresh": "on an erased drive", "full": "with the cache full"}
    return Teller(
        battery=NAME,
        label=label_of(state, cell),
        title=f"{cell.title} {where.get(state, 'beside a writer')}",
        variant=f"{state}-{cell.name}",
        end_s=result.duration_ns / 1e9,
    )


def _tails(state: str, cell: Cell, teller: Teller, result: Result) -> Iterable[Finding]:
    """Percentiles of the flushes, or of the writes where these wait themselves. Beside another
    writer those are not told apart from its own."""
    if cell.way == "fua" and state == BESIDE:
        return
    bins = bins_in([result], "sync" if cell.way == "flush" else "write")
    yield from tail_findings(teller, bins)
    slow_us = percentile_us(bins, "p99")
    if cell.name == "etcd" and slow_us is not None:
        holds = teller.tell("etcd", "99 % within 10 ms", "", slow_us, beside="iops")
        value = "yes" if slow_us <= ETCD_US else "no"
        yield replace(holds, value=value, choices=("yes", "no"))


def _waf(teller: Teller, before: Answer, after: Answer) -> Iterable[Finding]:
    """Where the drive's counters tell it."""
    value, grain, _ = between(before, after)
    if value is not None:
        title = "write amplification"
        yield teller.tell("waf", title, "x", value, interval=grain, beside="iops", better="lower")


def _gain(state: str, rates: dict[int, float]) -> Iterable[Finding]:
    most = max(rates, default=1)
    if most > 1 and 1 in rates:
        yield Finding(
            battery=NAME,
            name="gain",
            variant=state,
            title=f"{most} writers against one",
            value=rates[most] / rates[1],
            unit="x",
            better="higher",
        )


def _protected(single_us: Sequence[tuple[float, Teller]]) -> Iterable[Finding]:
    """How likely the drive answers from RAM, by its quickest synchronous write."""
    if not single_us:
        return
    quickest_us, teller = min(single_us, key=lambda row: row[0])
    probability = protection_probability(quickest_us)
    note = f"{quickest_us:.0f} us a synchronous write; a drive that ignores flushes looks the same"
    finding = teller.tell("is_protected", "", "fraction", probability, headline=True, note=note)
    yield replace(finding, variant="", title="Probability of protection against power cuts")


def protection_probability(write_us: float) -> float:
    """By the time of one synchronous write, both kinds equally likely before."""
    published = synced_writes()
    middle = (published.protected_ln_us + published.other_ln_us) / 2
    slope = (published.other_ln_us - published.protected_ln_us) / published.ln_us_sd**2
    odds = math.exp(-slope * (math.log(write_us) - middle))
    probability = min(max(odds / (1 + odds), 1 - MOST_CERTAIN), MOST_CERTAIN)
    return probability if probability > MOST_CERTAIN - 0.01 else float(f"{probability:.2g}")


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """What a file has beside the drive's own flushes."""
    if info.can.virtual_time:
        return []
    return ["the file system may write metadata and send a flush of its own beside each fdatasync"]


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """State by state; beside a writer the drive is as full as before."""
    full = ("full",) if "full" in parameters.states else ()
    needs = {BESIDE: full}
    return [
        Part(title=state, labels=(f"{NAME}/{state}",), needs=needs.get(state, ()))
        for state in parameters.states
    ]


BATTERY = declared(__name__, measure=measure, conclude=conclude, departs=departs, parts=parts)
