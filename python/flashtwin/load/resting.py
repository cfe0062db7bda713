"""How long a drive has to rest between bursts of a load, until the next one goes in as fast again.

A burst is what the load writes in one of its periods, asked for as fast as the drive takes it. The
drive is filled, a quarter of it is written once more without rest, so that no cache is empty, and
then each rest of the ladder has cycles of burst and rest. The rest and the burst of a small copy
are smaller by its scale; times that the firmware waits are not, which the copy of half the size
shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from msgspec import Struct

from flashtwin.charts import figures
from flashtwin.drives import untimed
from flashtwin.drives.twin import Twin
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.load import lifetime
from flashtwin.load.drawn import assumed
from flashtwin.load.lifetime import Copy, Question, unwatched
from flashtwin.load.loads import DAY_S
from flashtwin.load.stretch import GRAIN, nominal, writes
from flashtwin.load.words import Interval, Rested, Rests
from flashtwin.model.fio_job import NONE
from flashtwin.model.histogram import percentiles_of, summed
from flashtwin.model.job import Job
from flashtwin.model.step import Fill, Rest, Result, Run
from flashtwin.model.units import (
    readable_number,
    readable_period,
    readable_size,
)
from flashtwin.report.answer import Answer, Figure, Table
from flashtwin.runner.pool import Send, Work

LADDER_S = (1.0, 10.0, 60.0, 600.0, 3600.0)
# As fast as after a long rest is nine tenths of it, as the battery `recovery` has it.
BACK = 0.9
# Bursts after each rest: those before the ones that count let the drive get used to it.
BEFORE, COUNTED = 4, 4
# Written without rest at first, as a share of the capacity.
FIRST = 0.25
# A copy of a question about rests is larger than others: it is written to less.
COPY_BYTES = 32 << 30


class Ladder(Struct, frozen=True, kw_only=True):
    """What the rests of a ladder showed on a copy."""

    scale: int
    rests: list[Rested]


def copies(question: Question, draws: int) -> list[Copy]:
    """The copies that the answer needs."""
    return lifetime.copies(question, draws, COPY_BYTES)


def works(plan: Sequence[Copy], rests: Sequence[float]) -> list[Work]:
    """Their simulations."""
    return [
        Work(call=partial(_ladder, copy, tuple(rests)), memory_bytes=lifetime.memory_of(copy))
        for copy in plan
    ]


def _ladder(copy: Copy, rests: Sequence[float], _send: Send) -> Ladder:
    return ladder(copy, rests)


def ladder(copy: Copy, rests: Sequence[float]) -> Ladder:
    """Put cycles of burst and rest to a copy, for each rest of a ladder."""
    full_size = copy.variant.spec()
    spec = lifetime.scaled(copy.variant, copy.scale).spec()
    twin = Twin(spec, seed=copy.seed, preparation=untimed.AUTO).open()
    held = int(spec.capacity_bytes * copy.full) // GRAIN * GRAIN
    jobs = [job for job in lifetime.jobs_of(copy, full_size, held) if writes(job)]
    twin.do(Fill(label="full", size=held), unwatched)
    burst_bytes = burst_of(copy, full_size.capacity_bytes) / copy.scale
    _burst(twin, jobs, FIRST * spec.capacity_bytes, 0)
    shown, number = [], 1
    for rest_s in rests:
        results, bytes_s = [], []
        for cycle in range(BEFORE + COUNTED):
            twin.do(Rest(label=f"rest {number}", seconds=rest_s / copy.scale), unwatched)
            result, rate = _burst(twin, jobs, burst_bytes, number)
            number += 1
            if cycle >= BEFORE:
                results.append(result)
                bytes_s.append(rate)
        shown.append(_rested(rest_s, results, bytes_s))
    return Ladder(scale=copy.scale, rests=shown)


def burst_of(copy: Copy, capacity: int) -> float:
    """What the load writes in one of its periods, on the drive of the full size."""
    return copy.load.bytes_a_day(capacity) * copy.load.period_s / DAY_S


def _burst(
    twin: Twin, jobs: Sequence[Job], burst_bytes: float, number: int
) -> tuple[Result, float]:
    """Write a burst as fast as the drive takes it; its bytes a second too."""
    total = sum(nominal(job, 1) for job in jobs)
    parts = tuple(
        _share(job, burst_bytes * nominal(job, 1) / total, number, index)
        for index, job in enumerate(jobs)
    )
    began_ns = twin.simulation.now_ns()
    result = twin.do(Run(label=f"burst {number}", jobs=parts, sample_s=3600.0), unwatched)
    assert isinstance(result, Result), "a twin does everything"
    passed_ns = twin.simulation.now_ns() - began_ns
    moved = sum(row["write"]["bytes"] for row in result.fio)
    if not moved:
        raise FlashtwinError(
            "the drive took nothing of a burst",
            hint="it may be worn out: ask for fewer years",
            exit_code=USAGE,
        )
    return result, moved / passed_ns * 1e9


def _share(job: Job, burst_bytes: float, number: int, index: int) -> Job:
    assert job.fio is not None, "a plan has fio's jobs only"
    pace = replace(job.fio.pace, bytes_s=NONE, iops=NONE)
    fio = replace(job.fio, pace=pace, time_based=False, number_ios=0, start_ns=0, size=None)
    return replace(
        job,
        seed=job.seed + 7919 * (number + 1) + index,
        io_bytes=max(int(burst_bytes), job.block_bytes),
        runtime_s=None,
        ramp_s=0.0,
        fio=fio,
    )


def _rested(rest_s: float, results: Sequence[Result], bytes_s: Sequence[float]) -> Rested:
    bins = summed(row["write"]["lat_hist"] for result in results for row in result.fio)
    at = percentiles_of(bins, lifetime.SHARES)
    return Rested(
        rest_s=rest_s,
        bytes_s=sum(bytes_s) / len(bytes_s),
        p50_ns=at[50.0],
        p99_ns=at[99.0],
        p999_ns=at[99.9],
    )


def needed(rests: Sequence[Rested]) -> float:
    """The shortest rest after which bursts go in about as fast as after the best one."""
    best = max(row.bytes_s for row in rests)
    return next(row.rest_s for row in rests if row.bytes_s >= BACK * best)


def rests_of(question: Question, plan: Sequence[Copy], ladders: Sequence[Ladder]) -> Rests:
    """The answer that the copies give together."""
    spec = question.variant.spec()
    needs = [needed(row.rests) for row in ladders]
    return Rests(
        name=spec.name,
        title=question.load.title,
        full=question.full,
        burst_bytes=burst_of(plan[0], spec.capacity_bytes),
        rests=ladders[0].rests,
        needed_s=Interval(value=needs[0], low=min(needs), high=max(needs)),
        scale=plan[0].scale,
        assumed=assumed(spec),
        sources=lifetime.sources_of(question),
    )


def sentences(of: Rests) -> list[str]:
    """The answer, the most important first."""
    shortest, longest = of.rests[0], of.rests[-1]
    load = f"{of.name} under {of.title}, {100 * of.full:g} % full"
    burst = readable_size(of.burst_bytes, 3)
    if of.needed_s.value == shortest.rest_s:
        first = (
            f"{load}, takes the next {burst} as fast after {readable_period(shortest.rest_s)} of"
            f" rest as after {readable_period(longest.rest_s)}"
        )
    else:
        first = (
            f"{load}, has to rest {readable_period(of.needed_s.value)} until it takes the next"
            f" {burst} as fast as it ever does"
        )
    low, high = of.needed_s.low, of.needed_s.high
    if high > low:
        first += f" (drives like it: {readable_period(low)} to {readable_period(high)})"
    speeds = ", ".join(
        f"{readable_period(row.rest_s)} {readable_size(row.bytes_s, 3)}/s" for row in of.rests
    )
    return [f"{first}.", f"By the rest before it, it is written at: {speeds}."]


def notes(of: Rests) -> list[str]:
    """What the answer rests on."""
    lines = [
        *of.sources,
        "a burst is what the load writes in a period, as fast as the drive takes it",
    ]
    if of.scale > 1:
        lines.append(
            f"asked of a copy of 1/{of.scale} with rests of 1/{of.scale}: times that its firmware"
            " waits are not shorter there, so that short rests are told worse than they are"
        )
    if of.assumed:
        lines.append(f"drawn, since nobody printed it for this drive: {', '.join(of.assumed)}")
    return lines


HEAD = ("rest", "written at", "write median", "99 %", "99.9 %")


def table(of: Rests) -> list[tuple[str, ...]]:
    """A row a rest."""
    return [
        (
            readable_period(row.rest_s),
            f"{readable_size(row.bytes_s, 3)}/s",
            *(_wait(wait_ns) for wait_ns in (row.p50_ns, row.p99_ns, row.p999_ns)),
        )
        for row in of.rests
    ]


def _wait(count: int) -> str:
    return readable_period(float(f"{count / 1e9:.3g}"))


def answer(of: Rests) -> Answer:
    """The page of a question about rests."""
    words = [readable_period(row.rest_s) for row in of.rests]
    bars = [
        {
            "x": word,
            "y": round(row.bytes_s / 1e6, 3),
            "line": "MB/s",
            "shown": f"{readable_number(row.bytes_s / 1e6, 3)} MB/s",
        }
        for word, row in zip(words, of.rests, strict=True)
    ]
    axis = figures.words_axis("rest before it", words)
    return Answer(
        kind="How long to rest it",
        title=f"{of.title[0].upper()}{of.title[1:]} on {of.name}",
        sentences=sentences(of),
        figures=[
            Figure(
                title="How fast a burst goes in",
                lines=("MB/s",),
                chart=figures.side_by_side(bars, ("MB/s",), axis, "MB/s"),
            )
        ],
        tables=[Table(title="Rests", head=HEAD, rows=table(of))],
        notes=notes(of),
    )
