"""Years of a load on a drive: what the flash takes, when its cycles are used up, what a host waits.

A small copy of the drive (`--scale`: as many superblocks, as many dies, all ratios) is filled as
far as the real one is, and given the load in stretches of writing and rest until its write
amplification no longer moves. Then it lives on by jumps until its rated cycles are used up
(`life`). Rates are not scaled and sizes are, so that the small drive lives its days as many times
faster: times that the firmware waits (an idle second before it folds) are longer beside a day
there, which a copy of half the size shows.

The interval has four parts: how far batches of the end differ, how far stages of the life differ,
how far the smaller copy differs, and how far drives differ that are drawn over what is not known of
this one (`unknowns.toml`). The smaller copy and the drawn ones are simulated for less long.
Invariant: everything is counted in bytes and in the drive's time, so that the same question has
the same answer on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import fmean, stdev

from msgspec import Struct

from flashtwin._core import Spec
from flashtwin.analysis.estimate import student_t
from flashtwin.drives import untimed
from flashtwin.drives.twin import Twin
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan
from flashtwin.load.drawn import assumed, drawn, posterior_of
from flashtwin.load.life import YEAR_DAYS, Counts, Life, Until, live, stage
from flashtwin.load.loads import DAY_S, Load
from flashtwin.load.words import Interval, Latency, Lifetime
from flashtwin.model.fio_job import NONE, Fio, Span
from flashtwin.model.histogram import percentiles_of, summed
from flashtwin.model.job import Job
from flashtwin.model.step import Fill, Rest, Result, Run
from flashtwin.model.target import Progress
from flashtwin.model.units import parse_size, readable_size
from flashtwin.runner.pool import Send, Work
from flashtwin.runner.target import Variant

# The probability that an interval holds its value.
CONFIDENCE = 0.9
# A small copy holds about that much; each copy smaller than this is simulated as it is.
COPY_BYTES = 4 << 30
# A batch of the end renews a copy (`life.Counts.renewed`) by a quarter of its capacity.
BATCH = 0.25
# Host bytes are whole requests, so that a stretch may have a little less than it is asked for.
ROUNDING = 0.02
# Stretches of writing that a capacity is written in, at most.
MOST_STRETCHES = 64
# Drives drawn over what is not known.
DRAWS = 4
# The years after which an answer shows the drive, if nothing else is said.
YEARS = 5.0
# How many times as long as a brief copy another one takes: 2.4 to 3.6 on three drives.
LONGER = 3.0
# Memory of a worker beside that of the drive itself.
BESIDE_BYTES = 60 << 20
# Placement handles that a drive may have.
MOST_HANDLES = 8
# Spans of files lie on whole MiB.
GRAIN = 1 << 20
SHARES = (50.0, 99.0, 99.9)
KINDS = ("read", "write", "sync")


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """When a copy's steady state is there: once the mean of its last `batches` is known to the
    share `steady`, and their halves agree as far. `least` and `most`: capacities by which the copy
    is renewed before that is looked at, and at most."""

    least: float
    most: float
    batches: int
    steady: float


THOROUGH = _Plan(least=2.0, most=5.0, batches=8, steady=0.02)
BRIEF = _Plan(least=2.0, most=3.0, batches=4, steady=0.04)
# The batches whose wear a life begins with: before them superblocks that had never been used were
# taken, which costs no erase.
WORN = 4


class Simulated(Struct, frozen=True, kw_only=True):
    """The end of a copy's simulation, and its life after that.

    `wear`: share of its rated life that a written byte takes; `by_cause`: bytes programmed for a
    byte of the host's; `kept_up`: of what the load asks for, how much it took; `steady`: the write
    amplification no longer moved."""

    scale: int
    capacity_bytes: int
    waf: float
    waf_error: float
    wear: float
    by_cause: dict[str, float]
    watts: float
    kept_up: float
    steady: bool
    written: float
    latencies: list[Latency]
    life: Life


@dataclass(frozen=True, kw_only=True)
class Question:
    """A load on a drive that is so full; `full` is the share of the capacity that holds data, which
    follows from `data_bytes` where those are given.

    `trims`: the drive is told which data is gone, so that the rest of it is empty; else all of it
    has been written once, and the rest holds data that nobody reads or writes any more. `handles`:
    each job that writes has a placement handle of its own, or those that
    the load names. `years`: after them the drive is shown.
    """

    variant: Variant
    load: Load
    full: float = 0.8
    data_bytes: int | None = None
    years: float = YEARS
    seed: int = 1
    trims: bool = True
    handles: bool = False

    def __post_init__(self) -> None:
        if self.data_bytes is not None:
            spec = self.variant.spec()
            object.__setattr__(self, "full", self.data_bytes / spec.capacity_bytes)
            if self.full > 1:
                raise FlashtwinError(
                    f"--full {readable_size(self.data_bytes)} is more than {spec.name} holds",
                    hint=f"it has {readable_size(spec.capacity_bytes)}",
                    exit_code=USAGE,
                )
        if not 0.01 <= self.full <= 1:
            raise FlashtwinError(
                f"--full {100 * self.full:g}% is not between 1 and 100 %",
                hint="write the share of the drive that holds data, such as 80%",
                exit_code=USAGE,
            )


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A small copy to be simulated: picklable, so that a worker can do it.

    `brief`: it says how far copies differ, so that its steady state is known less well and its life
    has fewer stages. `reads`: it has the jobs that only read, which wear next to nothing."""

    variant: Variant
    scale: int
    load: Load
    full: float
    seed: int
    years: float = YEARS
    trims: bool = True
    handles: bool = False
    brief: bool = False
    reads: bool = True


def copies(question: Question, draws: int = DRAWS, copy_bytes: int = COPY_BYTES) -> list[Copy]:
    """The copies that an answer needs: the drive, it once more at half the size, and drives drawn
    over what is not known."""
    variant = _with_log(_with_handles(question) if question.handles else question.variant)
    spec = variant.spec()
    scale = _scale(spec, variant, copy_bytes)
    base = Copy(
        variant=variant,
        scale=scale,
        load=question.load,
        full=question.full,
        seed=question.seed,
        years=question.years,
        trims=question.trims,
        handles=question.handles,
    )
    smaller = [other for other in spec.scales() if other >= 2 * scale and fits(variant, other)]
    half = replace(base, scale=smaller[0], brief=True) if smaller else None
    others = [
        replace(base, variant=other, seed=seed, brief=True, reads=False)
        for seed, other in drawn(variant, question.seed, draws, partial(fits, scale=scale))
    ]
    return [base, *([half] if half else []), *others]


def _with_handles(question: Question) -> Variant:
    """The drive with as many placement handles as the load names, and room for what each of them
    keeps open."""
    variant, load = question.variant, question.load
    spec = variant.spec()
    jobs = _handled(_planned(load, spec, int(spec.capacity_bytes * question.full)))
    more = max(handle for job in jobs for handle in job.handles or (0,))
    if not more:
        raise FlashtwinError(
            f"one job of {load.name} writes, and handles tell jobs apart",
            hint="leave handles out, or take a load with several jobs that write",
            exit_code=USAGE,
        )
    values = {row["key"]: row["value"] for row in spec.values()}
    # Below that the firmware would hardly ever open a superblock for a handle.
    room = [f"{key}={int(values[key]) + more + 1}" for key in ("gc.low", "gc.high")]
    return replace(variant, sets=(*variant.sets, f"fdp.handles={more + 1}", *room))


def _with_log(variant: Variant) -> Variant:
    """The drive with SMART data: NVMe prescribes its log, where a spec names no maker's."""
    values = {row["key"]: row["value"] for row in variant.spec().values()}
    if values.get("smart.family", "none") != "none" or values["link.kind"] != "nvme":
        return variant
    return replace(variant, sets=(*variant.sets, "smart.family=nvme"))


def _scale(spec: Spec, variant: Variant, copy_bytes: int) -> int:
    """The scale at which a copy is small enough, or the last that the drive can be."""
    scale = 1
    for smaller in spec.scales():
        if spec.capacity_bytes / scale <= copy_bytes:
            break
        if fits(variant, smaller):
            scale = smaller
    return scale


def fits(variant: Variant, scale: int) -> bool:
    """True where a copy at a scale is a possible drive."""
    try:
        scaled(variant, scale).spec()
    except FlashtwinError:
        return False
    return True


def scaled(variant: Variant, scale: int) -> Variant:
    """The variant of a smaller drive; one that is scaled already is scaled further."""
    before = int(variant.scale.partition("/")[2]) if variant.scale else 1
    total = before * scale
    return replace(variant, scale=f"1/{total}" if total > 1 else None)


def weight_of(copy: Copy) -> float:
    """How long the simulation of a copy takes beside that of a brief one."""
    return 1.0 if copy.brief else LONGER


def work_of(copy: Copy) -> Work:
    """The simulation of a copy, for a worker."""
    return Work(call=partial(_simulated, copy), memory_bytes=memory_of(copy))


def _simulated(copy: Copy, _send: Send) -> Simulated:
    return simulate(copy)


def memory_of(copy: Copy) -> int:
    """What a copy takes in memory."""
    memory_bytes: int = copy.variant.spec().memory_bytes // copy.scale + BESIDE_BYTES
    return memory_bytes


def unwatched(progress: Progress) -> bool:
    """A watch that lets a step go on."""
    return True


def simulate(copy: Copy, watch: Callable[[Progress], bool] = unwatched) -> Simulated:
    """Give a copy its load until its write amplification stays where it is, and let it live on."""
    full_size = copy.variant.spec()
    spec = scaled(copy.variant, copy.scale).spec()
    twin = Twin(spec, seed=copy.seed, preparation=untimed.AUTO).open()
    held = int(spec.capacity_bytes * copy.full) // GRAIN * GRAIN
    jobs = jobs_of(copy, full_size, held)
    if not copy.reads:
        jobs = [job for job in jobs if job.rw not in ("read", "randread")]
    filled = held if copy.trims else spec.capacity_bytes // GRAIN * GRAIN
    twin.do(Fill(label="full", size=filled), watch)
    stretch = _Stretch.of(copy, spec, full_size, jobs)
    return _Steady(twin, spec, copy, stretch).run(watch)


def jobs_of(copy: Copy, full_size: Spec, held: int) -> list[Job]:
    """The jobs of the load, as they are asked of the copy."""
    full_bytes = int(full_size.capacity_bytes * copy.full)
    jobs = [_smaller(job, copy.scale, held) for job in _planned(copy.load, full_size, full_bytes)]
    return _handled(jobs) if copy.handles else [replace(job, handles=()) for job in jobs]


def _planned(load: Load, spec: Spec, full_bytes: int) -> list[Job]:
    """The jobs of the load on a drive on which as much holds data."""
    if load.touches > full_bytes:
        raise FlashtwinError(
            f"{load.name} touches {readable_size(load.touches)}, and {spec.name} holds"
            f" {readable_size(full_bytes)} of data",
            hint="take a larger drive, or say with --full that it holds more",
            exit_code=USAGE,
        )
    target = Target(name=spec.id, bytes=full_bytes // GRAIN * GRAIN, unit_bytes=spec.map_unit_bytes)
    planned = plan(load.jobs, target)
    if len(planned.phases) != 1:
        raise FlashtwinError(
            f"the jobs of {load.name} run one after another, and a load is jobs at once",
            hint="leave out stonewall",
            exit_code=USAGE,
        )
    jobs = [process.job for process in planned.processes]
    if not any(writes(job) for job in jobs):
        raise FlashtwinError(
            f"{load.name} writes nothing, and reads do not wear a drive", exit_code=USAGE
        )
    return jobs


def _handled(jobs: Sequence[Job]) -> list[Job]:
    """Jobs with the handles that the load names; where it names none, each that writes has one of
    its own, and the last ones share the last."""
    if any(job.handles for job in jobs):
        return list(jobs)
    writers = [index for index, job in enumerate(jobs) if writes(job)]
    handles = {index: min(place, MOST_HANDLES - 1) for place, index in enumerate(writers)}
    return [
        replace(job, handles=(handles[index],)) if index in handles else job
        for index, job in enumerate(jobs)
    ]


def writes(job: Job) -> bool:
    return "write" in job.rw or job.rw in ("rw", "randrw")


def _smaller(job: Job, scale: int, held: int) -> Job:
    """A job whose files are smaller by the scale, on whole MiB within what holds data."""
    assert job.fio is not None, "a plan has fio's jobs only"

    def shrunk(count: int) -> int:
        return count // scale // GRAIN * GRAIN

    spans = []
    for span in job.fio.spans:
        start = min(shrunk(span.start), held - GRAIN)
        offset = shrunk(span.offset)
        length = min(max(shrunk(span.bytes), offset + GRAIN), held - start)
        size = None if span.size is None else max(min(shrunk(span.size), length - offset), GRAIN)
        spans.append(Span(start=start, bytes=length, offset=offset, size=size))
    size = None if job.fio.size is None else max(shrunk(job.fio.size), GRAIN)
    return replace(job, fio=replace(job.fio, spans=tuple(spans), size=size))


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """A time of writing and the rest after it."""

    jobs: tuple[Job, ...]
    factor: float
    active_s: float
    rest_s: float
    write_bytes: float

    @classmethod
    def of(cls, copy: Copy, spec: Spec, full_size: Spec, jobs: Sequence[Job]) -> _Stretch:
        """As many bytes as the load has in its period, and enough for a capacity to take a
        bounded number of stretches; without rests a stretch is no more than a batch."""
        rate = copy.load.bytes_a_day(full_size.capacity_bytes) / DAY_S
        in_period = rate * copy.load.period_s / copy.scale
        if copy.load.active >= 1:
            in_period = min(in_period, BATCH * spec.capacity_bytes)
        write_bytes = max(in_period, spec.capacity_bytes / MOST_STRETCHES)
        period_s = write_bytes / rate
        nominal_rate = sum(nominal(job, 1) for job in jobs)
        return cls(
            jobs=tuple(jobs),
            factor=rate / copy.load.active / nominal_rate,
            active_s=period_s * copy.load.active,
            rest_s=period_s * (1 - copy.load.active),
            write_bytes=write_bytes,
        )

    def run(self, number: int, done: Sequence[int]) -> Run:
        """The stretch with a number; `done` is how many bytes each job has moved before."""
        jobs = tuple(
            self._paced(job, number, index, done[index]) for index, job in enumerate(self.jobs)
        )
        return Run(label=f"stretch {number}", jobs=jobs, sample_s=max(self.active_s, 1e-3))

    def _paced(self, job: Job, number: int, index: int, done: int) -> Job:
        assert job.fio is not None, "a plan has fio's jobs only"
        reads, writes, trims = (max(int(nominal(job, kind) * self.factor), 1) for kind in range(3))
        pace = replace(job.fio.pace, bytes_s=(reads, writes, trims), iops=NONE)
        fio = replace(
            job.fio, pace=pace, time_based=True, number_ios=0, loops=1, start_ns=0, size=None
        )
        return replace(
            job,
            seed=job.seed + 7919 * (number + 1) + index,
            io_bytes=None,
            runtime_s=self.active_s,
            ramp_s=0.0,
            fio=_going_on(fio, job, done),
        )


def _going_on(fio: Fio, job: Job, done: int) -> Fio:
    """A sequential job goes on where it was; of a random one there is no such place."""
    if job.rw.startswith("rand") or len(fio.spans) != 1:
        return fio
    (span,) = fio.spans
    length = span.size if span.size is not None else span.bytes - span.offset
    at, begin = done % length // GRAIN * GRAIN, span.start + span.offset
    if not at:
        return fio
    # The rest of the pass, then its beginning, as two files one after the other.
    rest = Span(start=begin + at, bytes=length - at)
    return replace(
        fio, spans=(rest, Span(start=begin, bytes=at)), file_service="sequential", open_files=1
    )


def nominal(job: Job, kind: int) -> float:
    """Bytes of a kind that a job asks for in a second, as its rates say; only shares count."""
    assert job.fio is not None, "a plan has fio's jobs only"
    directions = _shares(job)
    if not directions[kind]:
        return 0.0
    pace = job.fio.pace
    if pace.bytes_s[kind]:
        return float(pace.bytes_s[kind])
    if pace.iops[kind]:
        return float(pace.iops[kind] * job.block_bytes)
    return 1e6 * directions[kind]


def _shares(job: Job) -> tuple[float, float, float]:
    """The shares of reads, writes and trims among the requests of a job."""
    match job.rw.removeprefix("rand"):
        case "read":
            return (1.0, 0.0, 0.0)
        case "write":
            return (0.0, 1.0, 0.0)
        case "rw":
            return (job.read_percent / 100, 1 - job.read_percent / 100, 0.0)
        case "trimwrite":
            return (0.0, 0.5, 0.5)
    return (0.0, 0.0, 1.0)


class _Steady:
    """Stretches until the end is steady, and what it showed."""

    def __init__(self, twin: Twin, spec: Spec, copy: Copy, stretch: _Stretch) -> None:
        self._twin, self._spec, self._copy, self._stretch = twin, spec, copy, stretch
        self._plan = BRIEF if copy.brief else THOROUGH
        self._marks = [Counts.of(twin)]
        # Results of the last batches, and of the one under way.
        self._batches: list[list[Result]] = []
        self._results: list[Result] = []
        self._done = [0] * len(stretch.jobs)
        self._stretches = 0
        # A burst that is larger than a batch is one.
        self._batch = max(BATCH * spec.capacity_bytes, stretch.write_bytes)

    def run(self, watch: Callable[[Progress], bool]) -> Simulated:
        while not self._is_over():
            self._results.append(self._go_on(watch))
            counts = Counts.of(self._twin)
            if counts.host == self._marks[-1].host and self._stretches > 3:
                raise FlashtwinError(
                    f"{self._spec.id} takes no writes any more after {self._stretches} stretches",
                    exit_code=USAGE,
                )
            if counts.renewed(self._marks[-1]) >= self._batch * (1 - ROUNDING):
                self._marks.append(counts)
                self._batches = [*self._batches[1 - self._plan.batches :], self._results]
                self._results = []
        return self._outcome(watch)

    def _go_on(self, watch: Callable[[Progress], bool]) -> Result:
        """The next stretch with the rest after it."""
        result = self._twin.do(self._stretch.run(self._stretches, self._done), watch)
        assert isinstance(result, Result), "a twin does everything"
        for index, row in enumerate(result.fio):
            self._done[index] += row["read"]["bytes"] + row["write"]["bytes"]
        if self._stretch.rest_s:
            self._twin.do(Rest(seconds=self._stretch.rest_s), watch)
        self._stretches += 1
        return result

    def _is_over(self) -> bool:
        """True once the end is steady, or the copy was renewed as often as may be."""
        count = len(self._marks) - 1
        if count >= self._plan.most / BATCH:
            return True
        least = max(self._plan.least / BATCH, self._plan.batches)
        return count >= least and self._is_steady()

    def _is_steady(self) -> bool:
        wafs = self._wafs()
        steady = self._plan.steady * fmean(wafs)
        return _error_of_mean(wafs) <= steady and _drift(wafs) <= steady

    def _wafs(self) -> list[float]:
        """The write amplification of each batch of the end."""
        marks = self._marks[-self._plan.batches - 1 :]
        return [
            (after.programmed - before.programmed) / (after.host - before.host)
            for before, after in pairwise(marks)
        ]

    def _outcome(self, watch: Callable[[Progress], bool]) -> Simulated:
        first, last = self._marks[-self._plan.batches - 1 :][0], self._marks[-1]
        worn = self._marks[-WORN - 1 :][0]
        host, seconds = last.host - first.host, (last.now_ns - first.now_ns) / 1e9
        wanted_bytes = self._stretch.write_bytes * self._stretches
        # Only the latencies of the end count.
        results = [result for batch in self._batches for result in batch]
        wafs, steady = self._wafs(), self._is_steady()
        error = _error_of_mean(wafs)
        return Simulated(
            scale=self._copy.scale,
            capacity_bytes=self._spec.capacity_bytes,
            waf=(last.programmed - first.programmed) / host,
            # A mean that still moves may go on as far as it went within the batches.
            waf_error=error if steady else math.hypot(error, _drift(wafs)),
            wear=(last.used - worn.used) / (last.host - worn.host),
            by_cause={
                name: (count - first.by_cause[name]) / host
                for name, count in last.by_cause.items()
                if count > first.by_cause[name]
            },
            watts=(last.energy_j - first.energy_j) / seconds,
            kept_up=min((last.host - self._marks[0].host) / wanted_bytes, 1.0),
            steady=steady,
            written=(last.host - self._marks[0].host) / self._spec.capacity_bytes,
            latencies=list(_latencies(results)),
            life=self._life(worn, watch),
        )

    def _life(self, first: Counts, watch: Callable[[Progress], bool]) -> Life:
        """What follows on the end, by jumps."""
        results = [result for batch in self._batches[-WORN:] for result in batch]
        full_size = self._copy.variant.spec().capacity_bytes
        a_day = self._copy.load.bytes_a_day(full_size) / self._copy.scale
        a_year = a_day * YEAR_DAYS
        until = Until(asked=self._copy.years * a_year, a_year=a_year, scale=self._copy.scale)
        begin = stage(first, self._marks[-1], results, a_year)
        stretch = self._twin.simulation.since(first.mark)
        go_on = partial(self._go_on, watch)
        return live(self._twin, begin, stretch, go_on, until, brief=self._copy.brief)


def _latencies(results: Sequence[Result]) -> Iterator[Latency]:
    """The waiting of each kind over several stretches."""
    rows = [row for result in results for row in result.fio]
    for kind in KINDS:
        bins = summed(row[kind]["lat_hist"] for row in rows)
        if not bins:
            continue
        at = percentiles_of(bins, SHARES)
        yield Latency(
            kind=kind,
            count=sum(bins.values()),
            p50_ns=at[50.0],
            p99_ns=at[99.0],
            p999_ns=at[99.9],
        )


def _drift(values: Sequence[float]) -> float:
    """By what the halves of some batches differ."""
    half = len(values) // 2
    return abs(fmean(values[:half]) - fmean(values[half:]))


def _error_of_mean(values: Sequence[float]) -> float:
    """Half the width of the interval of 90 % for a mean of batches."""
    if len(values) < 2:
        return math.inf
    return student_t(len(values) - 1, CONFIDENCE) * stdev(values) / math.sqrt(len(values))


def lifetime(question: Question, simulated: Sequence[Simulated]) -> Lifetime:
    """The answer that the copies of a question give together, in the order of `copies`."""
    spec = question.variant.spec()
    base, others = simulated[0], list(simulated[1:])
    half = others.pop(0) if others and others[0].scale != base.scale else None
    per_day = question.load.bytes_a_day(spec.capacity_bytes)
    scale_error = abs(half.waf / base.waf - 1) if half else 0.0
    scale_error_years = _beside(years_of(half, per_day), years_of(base, per_day)) if half else 0.0
    logs = [math.log(drawn.waf) for drawn in others]
    draws = [years_of(drawn, per_day) for drawn in others]
    lasting = [math.log(years) for years in draws if math.isfinite(years)]
    life, waf_error = base.life, base.waf_error / base.waf
    values = {row["key"]: row["value"] for row in spec.values()}
    rated = float(_bytes_of(values.get("drive.rated_tbw", "0")))
    return Lifetime(
        drive=spec.id,
        name=spec.name,
        load=question.load.name,
        title=question.load.title,
        full=question.full,
        capacity_bytes=spec.capacity_bytes,
        per_day_bytes=per_day,
        waf=_interval(base.waf, logs, math.hypot(waf_error, scale_error)),
        years=_interval(
            years_of(base, per_day),
            lasting,
            math.hypot(waf_error, max(scale_error, scale_error_years), life.jump_error),
        ),
        wear=life.wear,
        flash_per_day_bytes=per_day * base.waf,
        warranty_years=rated / per_day / YEAR_DAYS if rated else None,
        aged=life.aged,
        stages=life.stages,
        repeated=life.repeated_bytes / (base.written * base.capacity_bytes),
        jump_error=life.jump_error,
        drift_p99=life.drift_p99,
        refused=life.refused,
        ended=life.ended,
        scale_error=scale_error,
        kept_up=base.kept_up,
        steady=base.steady,
        by_cause=dict(sorted(base.by_cause.items(), key=lambda row: -row[1])),
        latencies=base.latencies,
        watts=base.watts,
        draws=draws,
        assumed=assumed(spec),
        sources=sources_of(question),
    )


def _beside(value: float, other: float) -> float:
    """By what share a value differs from another one; nothing where one of them is endless."""
    return abs(value / other - 1) if math.isfinite(value) and math.isfinite(other) else 0.0


def years_of(of: Simulated, per_day: float) -> float:
    """Until the rated life is used up; for ever where nothing wears. What cannot be repeated wears
    on as it did."""
    if of.life.refused is None:
        return math.inf if of.life.end_years is None else of.life.end_years
    a_year = of.wear * per_day / of.scale * YEAR_DAYS
    return 1 / a_year if a_year > 0 else math.inf


def _bytes_of(text: str) -> int:
    return 0 if text == "0" else parse_size(text.replace(" ", ""))


def _interval(value: float, logs: Sequence[float], own: float) -> Interval:
    """A value with its own relative error and the spread of drawn drives, in quadrature."""
    if not math.isfinite(value):
        return Interval(value=value, low=value, high=value)
    width = math.hypot(math.log1p(own), spread_of(logs))
    return Interval(value=value, low=value * math.exp(-width), high=value * math.exp(width))


def spread_of(logs: Sequence[float]) -> float:
    """Half the width of the interval of 90 % for one more drawn drive."""
    return student_t(len(logs) - 1, CONFIDENCE) * stdev(logs) if len(logs) > 1 else 0.0


def sources_of(question: Question) -> list[str]:
    """Where the load comes from, and what of the drive was fitted."""
    lines = list(question.load.sources)
    (reach, line), capacity = question.load.reaches, question.variant.spec().capacity_bytes
    if reach > capacity:
        lines.append(
            f"line {line:,} of {question.load.name} reaches to {readable_size(reach)}, beyond a"
            f" drive of {readable_size(capacity)}: places were drawn within the data that it holds"
        )
    fitted = posterior_of(question.variant)
    if fitted is not None:
        weights = [weight for weight, _ in fitted.drives]
        worth = sum(weights) ** 2 / max(sum(weight * weight for weight in weights), 1e-12)
        lines.append(
            f"drawn from the twin that was fitted to {fitted.run}: {len(weights)} drives that it"
            f" leaves possible, worth {worth:.1f} of equal weight"
        )
    return lines
