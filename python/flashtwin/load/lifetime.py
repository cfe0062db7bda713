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
from collections import Counter
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
from flashtwin.load.life import YEAR_DAYS, Jumps, Life, Until, live, stage
from flashtwin.load.loads import Load
from flashtwin.load.stretch import BATCH, GRAIN, Counts, Host, Stretch, writes
from flashtwin.load.words import Interval, Latency, Lifetime
from flashtwin.model.fio_job import Blocks, Span
from flashtwin.model.histogram import percentiles_of, summed
from flashtwin.model.job import Job
from flashtwin.model.step import Fill, Result
from flashtwin.model.target import Progress
from flashtwin.model.units import parse_size, readable_number, readable_size
from flashtwin.runner.pool import Send, Work
from flashtwin.runner.target import Variant

# Objects of a 32nd of a superblock and smaller are as if they were small, whatever their size.
OBJECTS = 32
OBJECT_GRAIN = 4096
# The probability that an interval holds its value.
CONFIDENCE = 0.9
# A small copy holds about that much; each copy smaller than this is simulated as it is.
COPY_BYTES = 4 << 30
# Host bytes are whole requests, so that a stretch may have a little less than it is asked for.
ROUNDING = 0.02
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
SHARES = (50.0, 99.0, 99.9)
KINDS = ("read", "write", "sync")


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """When a copy's steady state is there: once the mean of its last `batches` is known to the
    share `steady`, and their halves agree as far. `least` and `most`: capacities by which the copy
    is renewed before that is looked at, and at most. `work`: what is simulated at most, in the unit
    of `stretch`, of which the share `SETTLING` is for the steady state and the rest for the stages
    of the life, whose number is at most `jumps`."""

    least: float
    most: float
    batches: int
    steady: float
    work: float
    jumps: int

    @property
    def of_batch(self) -> float:
        """The most work of a batch: one that is cut short has enough others beside it."""
        return self.work * SETTLING / (2 * self.batches)


# With these a copy takes about 40 s of a processor at most, and a brief one 15.
THOROUGH = _Plan(least=2.0, most=5.0, batches=8, steady=0.02, work=400e6, jumps=12)
BRIEF = _Plan(least=2.0, most=3.0, batches=4, steady=0.04, work=120e6, jumps=8)
SETTLING = 0.6
# A copy settles without reads, which take most of the time and wear next to nothing. Then a load
# that reads has `SHOWN` batches with its reads. They tell waits, power and write amplification:
# where only a part of the map is in memory, reads have more of it written.
SHOWN = 2
# The share by which a write amplification may be off of which nothing is known but its size.
UNKNOWN = 1.0
# The batches whose wear is told of a life that cannot be repeated: before them superblocks that had
# never been used were taken, which costs no erase.
WORN = 4


class Simulated(Struct, frozen=True, kw_only=True):
    """The end of a copy's simulation, and its life after that.

    `wear`: share of its rated life that a written byte takes; `by_cause`: bytes programmed for a
    byte of the host's; `kept_up`: of what the load asks for, how much it took; `taken`: that in
    whole sectors, which is what the drive counts; `steady`: the write amplification no longer
    moved; `work`: what was simulated, in the unit of `stretch`; `objects`: by what its largest
    writes are smaller (`object_factor`)."""

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
    taken: float = 1.0
    work: float = 0.0
    objects: float = 1.0


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
    has fewer stages. `reads`: it shows waits and power, and so is read from too."""

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
    # A load that cannot be asked of the drive is refused here, before any worker starts.
    _planned(question.load, spec, int(spec.capacity_bytes * question.full))
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
    jobs, objects = _scaled_jobs(copy, full_size, held)
    filled = held if copy.trims else spec.capacity_bytes // GRAIN * GRAIN
    twin.do(Fill(label="full", size=filled), watch)
    stretch = Stretch.of(copy.load, copy.scale, spec, full_size, jobs)
    return _Steady(Host(twin, stretch, watch), spec, copy, stretch, objects).run()


def jobs_of(copy: Copy, full_size: Spec, held: int) -> list[Job]:
    """The jobs of the load, as they are asked of the copy."""
    return _scaled_jobs(copy, full_size, held)[0]


def _scaled_jobs(copy: Copy, full_size: Spec, held: int) -> tuple[list[Job], float]:
    """The jobs as they are asked of the copy, and by what the objects are smaller of the job whose
    objects are shrunk most."""
    full_bytes = int(full_size.capacity_bytes * copy.full)
    planned = _planned(copy.load, full_size, full_bytes)
    superblock = superblock_of(scaled(copy.variant, copy.scale).spec())
    of_scale = superblock / superblock_of(full_size)
    is_alone = sum(map(writes, planned)) == 1
    factors = [object_factor(job, superblock, of_scale, is_alone=is_alone) for job in planned]
    jobs = [
        _with_objects(_smaller(job, copy.scale, held), factor)
        for job, factor in zip(planned, factors, strict=True)
    ]
    handled = _handled(jobs) if copy.handles else [replace(job, handles=()) for job in jobs]
    return handled, min(factors)


def superblock_of(spec: Spec) -> float:
    """About the bytes of a superblock, by the blocks that a plane has."""
    values = {row["key"]: row["value"] for row in spec.values()}
    return spec.capacity_bytes / int(values["nand.blocks_per_plane"])


def object_factor(job: Job, superblock: float, of_scale: float, *, is_alone: bool) -> float:
    """By what the writes of a job are smaller in a copy. An object that fills much of a small
    superblock is gone with it as a whole, and costs no move: it keeps the share of a superblock
    that it has in the drive of full size, or gets a share that is too small to matter. What one job
    alone writes in order lies together whatever its size.
    """
    assert job.fio is not None, "a plan has fio's jobs only"
    if not writes(job) or (is_alone and not job.rw.startswith("rand")):
        return 1.0
    most = job.fio.blocks[1].most if job.fio.blocks else job.block_bytes
    return min(max(of_scale, superblock / OBJECTS / most), 1.0)


def _with_objects(job: Job, factor: float) -> Job:
    """A job whose requests are smaller, in whole pages of 4 KiB."""
    if factor >= 1:
        return job
    assert job.fio is not None, "a plan has fio's jobs only"

    def shrunk(size: int) -> int:
        return max(int(size * factor) // OBJECT_GRAIN * OBJECT_GRAIN, OBJECT_GRAIN)

    def smaller(of: Blocks) -> Blocks:
        return Blocks(
            least=shrunk(of.least),
            most=shrunk(of.most),
            split=tuple((shrunk(size), percent) for size, percent in of.split),
            align=None if of.align is None else shrunk(of.align),
        )

    blocks = job.fio.blocks
    if blocks is not None:
        reads, written, trims = blocks
        blocks = (smaller(reads), smaller(written), smaller(trims))
    fio = replace(job.fio, blocks=blocks)
    return replace(job, block_bytes=shrunk(job.block_bytes), fio=fio)


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
            f"{load.name} writes nothing, and reads do not wear a drive",
            hint="flashtwin ask --help lists loads that write",
            exit_code=USAGE,
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


class _Steady:
    """Batches of stretches until their end is steady, and what it showed. `_batches` has the
    results of the last ones with the bytes that their stretches asked for."""

    def __init__(
        self, host: Host, spec: Spec, copy: Copy, stretch: Stretch, objects: float
    ) -> None:
        self._host, self._spec, self._copy, self._objects = host, spec, copy, objects
        self._plan = BRIEF if copy.brief else THOROUGH
        self._marks = [Counts.of(host.twin)]
        self._batches: list[tuple[list[Result], float]] = []
        # A burst that is larger than a batch is one.
        self._batch_bytes = max(BATCH * spec.capacity_bytes, stretch.write_bytes)

    def run(self) -> Simulated:
        while not self._is_over():
            self._batch(reads=False)
        steady = self._is_steady() and self._renewed() >= self._plan.least * (1 - ROUNDING)
        batches, error = self._end(steady=steady)
        if not (self._copy.reads and self._host.reads):
            return self._outcome(batches, WORN, error, steady=steady)
        for _ in range(SHOWN):
            self._batch(reads=True)
        return self._outcome(SHOWN, SHOWN, error, steady=steady)

    def _batch(self, *, reads: bool) -> None:
        """Stretches until the copy is renewed by a batch, or its work is done."""
        last, results = self._marks[-1], []
        wanted, most_work = self._host.wanted_bytes, self._host.work + self._plan.of_batch
        counts = last
        while (
            counts.renewed(last) < self._batch_bytes * (1 - ROUNDING)
            and self._host.work < most_work
        ):
            before = counts
            results.append(self._host.go_on(reads=reads))
            counts = Counts.of(self._host.twin)
            if counts.host == before.host and len(self._marks) + len(results) > 4:
                raise FlashtwinError(
                    f"{self._spec.id} takes no writes any more",
                    hint="ask for fewer years, or a load that writes less",
                    exit_code=USAGE,
                )
        self._marks.append(counts)
        self._batches = self._batches[1 - self._plan.batches :]
        self._batches.append((results, self._host.wanted_bytes - wanted))

    def _renewed(self) -> float:
        """Capacities by which the copy was renewed."""
        return self._marks[-1].renewed(self._marks[0]) / self._spec.capacity_bytes

    def _is_over(self) -> bool:
        """True once the end is steady, or the copy was renewed as often as may be, or its work is
        done."""
        renewed = self._renewed() / (1 - ROUNDING)
        if renewed >= self._plan.most or self._host.work >= self._plan.work * SETTLING:
            return True
        return renewed >= self._plan.least and self._is_steady()

    def _is_steady(self) -> bool:
        wafs = self._wafs()
        if len(wafs) < self._plan.batches:
            return False
        steady = self._plan.steady * fmean(wafs)
        return _error_of_mean(wafs) <= steady and _drift(wafs) <= steady

    def _wafs(self) -> list[float]:
        """The write amplification of each batch of the end; batches without a write have none."""
        marks = self._marks[-self._plan.batches - 1 :]
        return [
            (after.programmed - before.programmed) / (after.host - before.host)
            for before, after in pairwise(marks)
            if after.host > before.host
        ]

    def _end(self, *, steady: bool) -> tuple[int, float]:
        """How many of the last batches tell the write amplification, and the share by which it may
        be off. While it moves the later half of them is nearest to where it goes. From there it may
        go on as it went between the halves of these, ever more slowly: a drive forgets how it was
        filled within about a capacity."""
        wafs = self._wafs()
        if steady:
            return self._plan.batches, _error_of_mean(wafs) / fmean(wafs)
        if len(wafs) >= 4:
            wafs = wafs[len(wafs) // 2 :]
        if len(wafs) < 2:
            return 1, UNKNOWN
        window = self._marks[-1].renewed(self._marks[-len(wafs) - 1]) / self._spec.capacity_bytes
        missing = max(self._plan.least - self._renewed(), 0.0)
        further = _drift(wafs) * max(-math.expm1(-missing) / math.expm1(window / 2), 1.0)
        error = math.hypot(_error_of_mean(wafs), further) / fmean(wafs)
        return len(wafs), min(max(error, self._plan.steady), UNKNOWN)

    def _outcome(
        self, batches: int, shown_batches: int, error: float, *, steady: bool
    ) -> Simulated:
        """The write amplification of the last batches, and waits, power and the beginning of a life
        of those that are shown; `error`: the share by which the write amplification may be off."""
        first, last = self._marks[-batches - 1 :][0], self._marks[-1]
        worn, shown = self._marks[-WORN - 1 :][0], self._marks[-shown_batches - 1 :][0]
        host, seconds = last.host - first.host, (last.now_ns - shown.now_ns) / 1e9
        wanted_bytes = sum(wanted for _, wanted in self._batches[-shown_batches:])
        results = [result for batch, _ in self._batches[-shown_batches:] for result in batch]
        waf = (last.programmed - first.programmed) / host
        moved = sum(row["write"]["bytes"] for result in results for row in result.fio)
        kept_up = moved / wanted_bytes if moved < wanted_bytes * (1 - ROUNDING) else 1.0
        taken = kept_up * (last.host - shown.host) / moved
        return Simulated(
            scale=self._copy.scale,
            capacity_bytes=self._spec.capacity_bytes,
            waf=waf,
            waf_error=waf * error,
            wear=(last.used - worn.used) / (last.host - worn.host),
            by_cause={
                name: (count - first.by_cause[name]) / host
                for name, count in last.by_cause.items()
                if count > first.by_cause[name]
            },
            watts=(last.energy_j - shown.energy_j) / seconds,
            kept_up=kept_up,
            steady=steady,
            written=(last.host - self._marks[0].host) / self._spec.capacity_bytes,
            latencies=list(_latencies(results)),
            taken=taken,
            life=self._life(shown, results, taken),
            work=self._host.work,
            objects=self._objects,
        )

    def _life(self, first: Counts, results: Sequence[Result], taken: float) -> Life:
        """The years after the simulated end, by jumps. `taken`: the share of the load's bytes that
        the drive takes each day."""
        full_size = self._copy.variant.spec().capacity_bytes
        a_day = self._copy.load.bytes_a_day(full_size) / self._copy.scale * taken
        a_year = a_day * YEAR_DAYS
        until = Until(asked=self._copy.years * a_year, a_year=a_year, scale=self._copy.scale)
        begin = stage(first, self._marks[-1], results, a_year)
        stretch = self._host.twin.simulation.since(first.mark)
        plan = Jumps(
            most=self._plan.jumps,
            work=self._plan.work,
            brief=self._copy.brief,
            reads=self._copy.reads,
        )
        return live(self._host, begin, stretch, until, plan)


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
    shrunk = [] if base.objects >= 1 else [_of_objects(base.objects)]
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
        waf=_interval(base.waf, logs, math.hypot(waf_error, scale_error), least=_least_waf(base)),
        years=_interval(
            years_of(base, per_day),
            lasting,
            math.hypot(waf_error, max(scale_error, scale_error_years), life.jump_error),
        ),
        wear=life.wear,
        flash_per_day_bytes=per_day * base.taken * base.waf,
        warranty_years=rated / (per_day * base.taken) / YEAR_DAYS if rated else None,
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
        sources=[*sources_of(question), *shrunk, *_whole_sectors(base)],
    )


def _whole_sectors(of: Simulated) -> list[str]:
    """A note where the drive counts more bytes than the load asks for."""
    times = of.taken / of.kept_up
    if times < 1 + ROUNDING:
        return []
    return [
        f"requests of parts of sectors take whole ones: the drive gets {readable_number(times, 3)}"
        " bytes for one that is asked, and flash bytes are told for a byte that it gets"
    ]


def _of_objects(factor: float) -> str:
    return (
        f"large writes have {readable_number(100 * factor, 2)} % of their size in the copy,"
        " whose superblocks are smaller: waits and IOPS are of those"
    )


def _beside(value: float, other: float) -> float:
    """By what share a value differs from another one; nothing where one of them is endless."""
    return abs(value / other - 1) if math.isfinite(value) and math.isfinite(other) else 0.0


def years_of(of: Simulated, per_day: float) -> float:
    """Until the rated life is used up; for ever where nothing wears. What cannot be repeated wears
    on as it did."""
    if of.life.refused is None:
        return math.inf if of.life.end_years is None else of.life.end_years
    a_year = of.wear * per_day * of.taken / of.scale * YEAR_DAYS
    return 1 / a_year if a_year > 0 else math.inf


def _bytes_of(text: str) -> int:
    return 0 if text == "0" else parse_size(text.replace(" ", ""))


def _interval(value: float, logs: Sequence[float], own: float, *, least: float = 0.0) -> Interval:
    """A value with its own relative error and the spread of drawn drives, in quadrature; it cannot
    be less than `least`."""
    if not math.isfinite(value):
        return Interval(value=value, low=value, high=value)
    width = math.hypot(math.log1p(own), spread_of(logs))
    low = max(value * math.exp(-width), min(least, value))
    return Interval(value=value, low=low, high=value * math.exp(width))


def _least_waf(of: Simulated) -> float:
    """The least write amplification: each host byte is programmed once, in SLC mode or natively;
    below 1 where the drive compresses."""
    own = sum(of.by_cause.get(name, 0.0) for name in ("slc", "direct"))
    return own * of.waf / max(sum(of.by_cause.values()), of.waf)


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
    if fitted is None:
        lines.append(_rests_on(question.variant.spec()))
    else:
        weights = [weight for weight, _ in fitted.drives]
        worth = sum(weights) ** 2 / max(sum(weight * weight for weight in weights), 1e-12)
        lines.append(
            f"drawn from the twin that was fitted to {fitted.run}: {len(weights)} drives that it"
            f" leaves possible, worth {worth:.1f} of equal weight"
        )
    return lines


def _rests_on(spec: Spec) -> str:
    """How much of a spec is of the drive itself."""
    origins = Counter(row["origin"] for row in spec.values())
    if not origins["published"] and not origins["fitted"]:
        return (
            f"label only: no published measurement of {spec.name} is in its spec, which has what"
            " drives of its kind usually have; not checked on hardware"
        )
    usual = origins["prior"]
    return (
        f"{origins.total() - usual} of {origins.total()} values of the spec are of this drive (its"
        " data sheet, published measurements); the others are usual for its kind; not checked on"
        " hardware"
    )
