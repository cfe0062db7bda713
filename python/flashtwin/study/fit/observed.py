"""A run as a fit reads it: its steps, scaled for a small drive, and the rates that it showed.

A chapter begins at an erased drive and ends where a step cannot be asked of a small drive. Bytes
and rests are scaled by one factor, so that shares of the capacity and of the time of a fill stay;
block sizes, depths and the host's time a command stay as they are. A chain is played part by part.
Only one conclusion of the run's batteries is used: the rest after which the cache recovers, which a
ladder of rests brackets more closely than the few reads of a small copy could. Invariants: only
what a host sees is used, never the X-ray; a step that wrote is repeated by bytes and not by time,
so that a candidate goes through the same states as the drive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.analysis.curve import Curve, curve_of, in_equal_bytes
from flashtwin.analysis.interruptions import without_silence
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.hypothesis import distance
from flashtwin.model.findings import Findings
from flashtwin.model.fio_job import Fio, Syncs
from flashtwin.model.job import Job, job_of, jobs_json
from flashtwin.model.series import TRIM, WRITE, Series
from flashtwin.model.step import Result
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.rundir import Run

Floats = NDArray[np.float64]
# What `_core.simulate` takes: jobs with a sample's length, a rest, or none for TRIM of everything.
SmallStep = tuple[str, int] | None

WHOLE_SHARE = 0.9
SAMPLES, FILL_SAMPLES = 400, 2400
LEAST_SAMPLE_NS = 100_000
# The fewest requests that a load is repeated with; fewer would show nothing. A few reads are
# repeated one for one, since the first of them wait for writes that are still on their way.
# `READS_DIFFER`: the standard deviation of the logarithm of one read's time where some data lies in
# SLC mode and some does not, or is being folded.
LEAST_REQUESTS, READS_DIFFER = 1000, 1.0
# The most reads that are repeated: more would show no more, and reads leave no other state behind.
MOST_READS = 3000
# Random writes leave no trace once the whole drive has been written again. Of those before such a
# fill at most this number is repeated, and the rate of that fill is not compared.
MOST_BEFORE_FILL = 400_000
# In place of the others as much is written at random in larger blocks, which the copy has sooner
# done, up to this share of the capacity. It leaves as little flash free, and superblocks that hold
# as little.
MOST_OF_REST, BLOCK_OF_REST = 1.0, 64 << 10
# Random writes that were kept up for a time and show one rate: this number of them is repeated, and
# five times as many of writes to the whole drive. Where that leaves some out the chapter ends,
# because what comes after depends on all of them.
MOST_OF_A_RATE, ON_ALL = 20_000, 5
# The least shares of the capacity from which a sequential and a random write are compared as
# curves. A shorter random write swings with the data that it happens to meet; its mean shows more.
CURVE_SHARE, RANDOM_CURVE_SHARE = 0.02, 0.15
BINS_FILL, BINS_CURVE, BINS_RANDOM = 96, 32, 12
# The least share of the capacity in a bin of a write that is no fill: some six superblocks of the
# small copy. In smaller bins each superblock's beginning would show.
LEAST_BIN = 0.01
# Two kinds of sequential writes over less than this share of the capacity, some 20 superblocks of
# the small copy, are not compared, since the copy has fewer and larger superblocks than the drive.
# One after random writes is slow until collection has freed the superblocks that it aims at. A file
# that is written again and again stays in the cache if its superblocks become invalid in time: one
# of 85 % of the cache fits into the drive's and not into the copy's.
LEAST_IN_ORDER = 0.06
# A fill's beginning is compared once more, in finer bins: there small caches end.
BEGINNING, BINS_BEGINNING = 1 / 24, 24
# A host makes the first seconds of a write slower or faster: by a deviation of this share where no
# more than those are compared.
BEGINS_OFF, BEGINNING_S = 0.13, 6.0
# The number of independent values that a curve counts as. A step with a single rate counts as less
# than one.
FILL_COUNTS, CURVE_COUNTS, RANDOM_COUNTS, RATE_COUNTS = 24.0, 8.0, 8.0, 0.7
BEGINNING_COUNTS = 6.0
# The finding that says after which rest the cache recovers, whichever battery has it.
REST_FINDING = "rest_begin"
# The finding that says how likely the drive answers writes from RAM that outlasts a power cut.
PROTECTED_FINDING = "is_protected"
# The finding, one of each way, that says how likely collection chooses its victims so, in percent.
VICTIMS_FINDING = "policy"
# Standard deviations from the middle of an interval of 95 % to its ends.
DEVIATIONS = 1.96
BATTERIES = "fill,discover,crystaldiskmark,states,sync"
HINT = f"flashtwin test TARGET --battery {BATTERIES} measures what it takes"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The rates of a step, as logarithms of bytes a second, and how much they count.

    `noise`: the standard deviation of each; `common`: that of what all of them have in common.
    `until`: the part of the step that they cover, as a share from its beginning.
    """

    label: str
    at: int
    rate: tuple[float, ...]
    noise: tuple[float, ...]
    counts: float
    until: float = 1.0
    common: float = 0.0

    def apart(self, rate: Floats) -> Floats:
        """Distances to other rates in units of the noise, weighted so that a step with all of them
        at 1 adds `counts` to the misfit, and less where they are so in common."""
        noise = np.array(self.noise)
        distances = distance.signed(rate - np.array(self.rate), noise)
        # The mean of independent values against what they have in common.
        more = self.counts * self.common**2 / float(np.mean(np.square(noise)))
        distances -= float(distances.mean()) * (1 - 1 / math.sqrt(1 + more))
        return distances * math.sqrt(self.counts / rate.size)


@dataclass(frozen=True, kw_only=True)
class FoundRest:
    """The rest after which folding begins, as a battery found it, and the standard deviation of its
    logarithm."""

    seconds: float
    noise: float

    def apart(self, seconds: float) -> float:
        """The distance of another rest from this one, in units of the noise."""
        ratio = math.log(seconds / self.seconds)
        return float(distance.signed(np.asarray(ratio), self.noise))


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """Steps for a small drive, from erased on, and the rates that the measured drive showed.

    `has_requests`: whether it read at random long enough to tell how many requests are served at a
    time; `reads`: a read is compared; `has_syncs`: writes waited for the flash; `collects`: a write
    is compared of a drive all of which was written before.
    """

    steps: tuple[SmallStep, ...]
    seen: tuple[Seen, ...]
    requests: float
    longest_rest_s: float = 0.0
    collects: bool = False
    has_requests: bool = False
    has_syncs: bool = False
    reads: bool = False


@dataclass(frozen=True, kw_only=True)
class Observed:
    """A run as a fit takes it. `fill` is the curve of that whole fill of the erased drive whose
    rate varies least, because what another one has more comes from the host. `fill_battery` is the
    battery of the first of them.

    `scale` is the small drive's capacity over the measured one's; `erased`: whether the target
    could be erased wherever the run asked for it; `found_rest`: the rest before folding, if a
    battery of the run found it; `protected`: whether one found that writes are answered from RAM
    that outlasts a power cut; `victims`: how collection chooses what it erases, where one found a
    way likelier than all others together.
    """

    name: str
    capacity_bytes: int
    small_bytes: int
    fill: Curve
    fill_battery: str
    chapters: tuple[Chapter, ...]
    fastest: float
    fastest_read: float
    left_out: tuple[str, ...]
    erased: bool
    found_rest: FoundRest | None = None
    protected: bool = False
    victims: str | None = None

    @property
    def scale(self) -> float:
        return self.small_bytes / self.capacity_bytes

    @property
    def fill_alone(self) -> Chapter:
        """The first chapter up to the end of its fill."""
        first = self.chapters[0]
        return Chapter(
            steps=first.steps[:1],
            seen=tuple(seen for seen in first.seen if seen.at == 0),
            requests=0.0,
        )

    @property
    def rests(self) -> bool:
        """Whether the run rested between writes."""
        return any(chapter.longest_rest_s > 0 for chapter in self.chapters)

    @property
    def has_requests(self) -> bool:
        """Whether the run read at random: the time of such a read shows where the map is."""
        return any(chapter.has_requests for chapter in self.chapters)

    @property
    def reads(self) -> bool:
        """True if the run tells how long a read takes: the fit compares one."""
        return any(chapter.reads for chapter in self.chapters)

    @property
    def has_syncs(self) -> bool:
        """True if the run has writes that waited for the flash."""
        return any(chapter.has_syncs for chapter in self.chapters)

    @property
    def collects(self) -> bool:
        """True if the run has writes to a drive all of which was written before."""
        return any(chapter.collects for chapter in self.chapters)

    @property
    def counts(self) -> float:
        """The number of independent values in the run."""
        of_steps = sum(seen.counts for chapter in self.chapters for seen in chapter.seen)
        return of_steps + (self.found_rest is not None)


def observed(
    run: Run, small_bytes: int, most_requests: float, most_of_chapter: float = math.inf
) -> Observed:
    """The run's chapters; raises `FlashtwinError` where no fill of an erased drive is in it."""
    capacity = int(run.target["capacity_bytes"])
    small_bytes = min(small_bytes, capacity)
    steps = list(_unchained(run))
    reader = _Reader(
        run=run,
        capacity=capacity,
        scale=small_bytes / capacity,
        in_chains={
            (record.step, record.label): series for record, series in steps if series is not None
        },
    )
    parts = _parts([record for record, _ in steps])
    fills = [index for index, part in enumerate(parts) if reader.fill_of(part) is not None]
    if not fills:
        raise _no_fill(run, parts, reader)
    calmest, fill = min(
        ((index, curve) for index in fills if (curve := reader.fill_of(parts[index])) is not None),
        key=lambda pair: _varies(pair[1]),
    )
    order = [calmest, *(index for index in range(len(parts)) if index != calmest)]
    chapters, left_out, requests = [], [], 0.0
    for index in order:
        left = min(most_requests - requests, most_of_chapter)
        chapter = reader.chapter(parts[index], left)
        if chapter is None or not chapter.seen:
            left_out.append(parts[index][0].label)
            continue
        requests += chapter.requests
        chapters.append(chapter)
    chapters = _held_against_repeats(chapters)
    return Observed(
        name=str(run.target["name"]),
        capacity_bytes=capacity,
        small_bytes=small_bytes,
        fill=fill,
        fill_battery=parts[fills[0]][0].battery,
        chapters=tuple(chapters),
        fastest=max(reader.fastest, float(np.quantile(fill.rate, 0.98))),
        fastest_read=reader.fastest_read,
        left_out=tuple(left_out),
        erased=not any(
            record.kind == "purge" and record.not_possible is not None for record in run.steps
        ),
        found_rest=found_rest(run.findings),
        protected=_is_protected(run.findings),
        victims=_victims(run.findings),
    )


def _varies(fill: Curve) -> float:
    """By how much the rate of a fill changes from bin to bin, all in all, in its logarithm."""
    return float(np.abs(np.diff(binned(fill, BINS_FILL))).sum())


def _held_against_repeats(chapters: Sequence[Chapter]) -> list[Chapter]:
    """The chapters; where the run has a test twice, from the same state on, by how much the answers
    differ is noise: it is not the drive that made one of them so."""
    answers: dict[object, list[Seen]] = {}
    for chapter in chapters:
        for seen in chapter.seen:
            answers.setdefault(_asked(chapter, seen), []).append(seen)
    return [
        replace(
            chapter,
            seen=tuple(_with_spread(seen, answers[_asked(chapter, seen)]) for seen in chapter.seen),
        )
        for chapter in chapters
    ]


def _asked(chapter: Chapter, seen: Seen) -> object:
    """All that was done to the erased drive up to a step, and which rates of that are compared."""
    before = tuple(
        step if step is None or not step[0] else step[0] for step in chapter.steps[: seen.at + 1]
    )
    return before, seen.until, len(seen.rate)


def _with_spread(seen: Seen, repeats: Sequence[Seen]) -> Seen:
    """Rates whose noise has in it how much those of repeats differ."""
    if len(repeats) < 2:
        return seen
    spread = np.std([each.rate for each in repeats], axis=0, ddof=1)
    return replace(seen, noise=tuple(np.hypot(seen.noise, spread).tolist()))


def found_rest(findings: Findings) -> FoundRest | None:
    """The rest before folding, if a finding has it with an interval that has two ends."""
    finding = findings.get(REST_FINDING)
    if finding is None or not isinstance(finding.value, float) or finding.value <= 0:
        return None
    ends = finding.interval
    if ends is None or ends.means != "estimate" or not ends.low or not ends.high:
        return None
    noise = math.log(ends.high / ends.low) / (2 * DEVIATIONS)
    return FoundRest(seconds=finding.value, noise=noise) if noise > 0 else None


def _is_protected(findings: Findings) -> bool:
    """True if the battery sync gave capacitors against a power cut more than 50 %."""
    finding = findings.get(PROTECTED_FINDING)
    return finding is not None and isinstance(finding.value, float) and finding.value > 0.5


def _victims(findings: Findings) -> str | None:
    """The way to choose victims to which the battery wafmap gave more than 50 %."""
    for finding in findings.all(VICTIMS_FINDING):
        if isinstance(finding.value, float) and finding.value > 50:
            return finding.variant
    return None


def _is_plain(fio: Fio | None) -> bool:
    """True if a small drive can repeat the job: of fio's language it uses block sizes, flushes and
    a time alone."""
    if fio is None:
        return True
    rest = replace(fio, time_based=False, random_map=True, syncs=Syncs(), blocks=None)
    return rest == Fio()


def _waits(job: Job) -> bool:
    """True if the job waits for the flash, by a flush or by FUA."""
    return job.sync or (job.fio is not None and job.fio.syncs != Syncs())


def _no_fill(run: Run, parts: list[list[StepRecord]], reader: _Reader) -> FlashtwinError:
    cut = [
        record.label
        for part in parts
        for record in part
        if record.cut and record.kind == "run" and reader.is_whole_write(record)
    ]
    why = (
        f"a budget ended {cut[0]}, so that no fill is whole"
        if cut
        else "it holds no whole sequential write of an erased drive"
    )
    return FlashtwinError(f"{run.path} cannot be fitted: {why}", hint=HINT, exit_code=USAGE)


def _unchained(run: Run) -> Iterator[tuple[StepRecord, Series | None]]:
    """A run's steps; a chain is replaced by its parts, each with its series."""
    for record in run.steps:
        details: Sequence[Mapping[str, Any]] = record.detail.get("parts") or ()
        if record.kind != "chain" or record.not_possible is not None or record.cut or not details:
            yield record, None
            continue
        answer = run.result(record.step)
        assert isinstance(answer, Result), "a chain that was carried out has a result"
        for detail, part in zip(details, answer.parts, strict=True):
            kind = "run" if detail.get("jobs") else "rest"
            yield (
                replace(
                    record,
                    label=part.label,
                    kind=kind,
                    duration_ns=part.duration_ns,
                    jobs=part.jobs,
                    detail=detail,
                ),
                part.series,
            )


def _parts(steps: Sequence[StepRecord]) -> list[list[StepRecord]]:
    """Steps grouped from one erase of the drive to the next; a failed purge begins no group."""
    parts: list[list[StepRecord]] = []
    for record in steps:
        if record.kind in ("mark", "ask"):
            continue
        if record.kind == "purge" and record.not_possible is None:
            parts.append([])
        elif parts:
            parts[-1].append(record)
        elif record.kind in ("run", "fill"):
            # A drive that was never erased counts as fresh at the run's beginning.
            parts.append([record])
    return [part for part in parts if part]


@dataclass(kw_only=True)
class _Played:
    """The steps of a part that were taken over so far.

    `most_requests`: the most requests that the small drive may be asked; `wrote`: whether a step
    has written, and `written` how many bytes; `shortened`: whether the last load was cut; `ended`:
    whether the chapter ends with it; `settled`: whether every write has reached the flash;
    `at_random`: whether the last write since the drive was erased was at random.
    """

    most_requests: float
    steps: list[SmallStep] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    requests: float = 0.0
    written: float = 0.0
    collects: bool = False
    longest_rest_s: float = 0.0
    has_requests: bool = False
    has_syncs: bool = False
    reads: bool = False
    wrote: bool = False
    shortened: bool = False
    ended: bool = False
    settled: bool = True
    at_random: bool = False

    def rest(self, seconds: float, scale: float) -> None:
        """Add a rest, scaled for the small drive."""
        self.steps.append(("", max(int(seconds * 1e9 * scale), 1)))
        self.longest_rest_s = max(self.longest_rest_s, seconds if self.wrote else 0.0)
        self.settled = True

    @property
    def chapter(self) -> Chapter:
        """As a chapter."""
        return Chapter(
            steps=tuple(self.steps),
            seen=tuple(self.seen),
            requests=self.requests,
            longest_rest_s=self.longest_rest_s,
            collects=self.collects,
            has_requests=self.has_requests,
            has_syncs=self.has_syncs,
            reads=self.reads,
        )


@dataclass(kw_only=True)
class _Reader:
    """Reads chapters of a run. `fastest`: the highest mean rate of a step, of a read, so far.

    `in_chains`: the series of the parts of chains, by the chain's number and the part's label.
    """

    run: Run
    capacity: int
    scale: float
    in_chains: Mapping[tuple[int, str], Series]
    fastest: float = 0.0
    fastest_read: float = 0.0

    def _series(self, record: StepRecord) -> Series:
        of_part = self.in_chains.get((record.step, record.label))
        return self.run.series(record.step) if of_part is None else of_part

    def is_whole_write(self, record: StepRecord) -> bool:
        """Whether a step was to write the whole drive in order."""
        jobs: Sequence[Mapping[str, Any]] = record.detail.get("jobs") or ()
        return (
            len(jobs) == 1
            and jobs[0].get("rw") == "write"
            and (jobs[0].get("size") or self.capacity) >= WHOLE_SHARE * self.capacity
            and (record.cut or not jobs[0].get("runtime_s"))
        )

    def fill_of(self, part: list[StepRecord]) -> Curve | None:
        """The fill with which a part begins."""
        first = part[0]
        if first.kind != "run" or first.cut or not self.is_whole_write(first):
            return None
        curve = _curve(self._series(first).only(WRITE))
        is_whole = (
            curve.total_bytes >= WHOLE_SHARE * self.capacity and len(curve) >= 2 * SAMPLES // 20
        )
        return curve if is_whole else None

    def chapter(self, part: list[StepRecord], most_requests: float) -> Chapter | None:
        """The beginning of a part, up to what a small drive cannot do or the requests allow."""
        played = _Played(most_requests=most_requests)
        for number, record in enumerate(part):
            if played.ended or not self._is_played(played, record, part[number + 1 :]):
                break
        return played.chapter if played.steps else None

    def _is_played(self, played: _Played, record: StepRecord, later: Sequence[StepRecord]) -> bool:
        """Add a step to `played`; false where the chapter has to end before it."""
        if record.not_possible is not None or record.cut:
            return False
        if record.kind == "rest":
            played.rest(float(record.detail.get("seconds") or 0.0), self.scale)
        elif record.kind == "trim" and record.detail.get("size") is None:
            played.steps.append(None)
            played.at_random = False
        elif record.kind in ("run", "fill"):
            return self._load(played, record, later)
        else:
            return record.kind == "flush"
        return True

    def _load(self, played: _Played, record: StepRecord, later: Sequence[StepRecord]) -> bool:
        """Add a step that reads or writes; false where the chapter has to end before it."""
        whole_jobs = self._jobs(record)
        if whole_jobs is None:
            return False
        jobs, share, is_last = self._shortened(record, whole_jobs, later)
        rest = None if share == 1 or is_last else self._rest_of(whole_jobs[0], jobs[0])
        requests = sum((job.io_bytes or 0) / job.block_bytes for job in (*jobs, *(rest or ())))
        if played.steps and played.requests + requests > played.most_requests:
            return False
        reads = all(job.rw in ("read", "randread") for job in jobs)
        few = sum(total.ios for total in record.jobs) < LEAST_REQUESTS
        total = sum(total.bytes for total in record.jobs)
        short = total < LEAST_IN_ORDER * self.capacity
        collecting = played.at_random and short and all(job.rw == "write" for job in jobs)
        # A few reads directly after a write only wait for the rest of that write.
        waiting = reads and few and not played.settled
        if not (played.shortened or collecting or waiting or self._is_rewritten(jobs)):
            played.seen += self._seen(record, jobs, len(played.steps), share)
            is_full = played.written >= WHOLE_SHARE * self.capacity * self.scale
            played.collects |= is_full and not reads
        played.requests += requests
        played.written += sum(job.io_bytes or 0 for job in jobs if job.rw.endswith("write"))
        played.wrote |= not reads
        played.has_requests |= any(job.rw == "randread" for job in jobs) and not few
        played.reads |= reads and bool(played.seen) and played.seen[-1].at == len(played.steps)
        played.has_syncs |= any(_waits(job) for job in jobs)
        played.shortened, played.settled = share < 1, reads
        if not reads:
            played.at_random = any(job.rw == "randwrite" for job in jobs)
        played.steps.append((jobs_json(jobs), self._sample_ns(record)))
        if rest is not None:
            played.steps.append((jobs_json(rest), self._sample_ns(record)))
        played.ended = is_last
        return True

    def _is_rewritten(self, jobs: Sequence[Job]) -> bool:
        """Whether a small file is written in order more than once."""
        least = LEAST_IN_ORDER * self.capacity * self.scale
        return any(
            job.rw == "write" and (job.size or 0) < min(job.io_bytes or 0, least) for job in jobs
        )

    def _shortened(
        self, record: StepRecord, jobs: list[Job], later: Sequence[StepRecord]
    ) -> tuple[list[Job], float, bool]:
        """The jobs, the share of them that is repeated, and whether the chapter ends with them:
        random writes are cut where the whole drive is written after them, and where they show one
        rate, however many they are."""
        total, block = jobs[0].io_bytes or 0, jobs[0].block_bytes
        if len(jobs) != 1 or jobs[0].rw != "randwrite":
            return jobs, 1.0, False
        following = next((record for record in later if record.kind in ("run", "fill")), None)
        is_last = following is None or not self._writes_all(following)
        most = MOST_BEFORE_FILL * block
        if is_last:
            rows: Sequence[Mapping[str, Any]] = record.detail.get("jobs") or ({},)
            is_rate = total < RANDOM_CURVE_SHARE * self.capacity * self.scale
            on_all = float(rows[0].get("size") or self.capacity) >= WHOLE_SHARE * self.capacity
            of_rate = MOST_OF_A_RATE * block * (ON_ALL if on_all else 1)
            most = of_rate if is_rate and rows[0].get("runtime_s") else total
        if total <= most:
            return jobs, 1.0, False
        return [replace(jobs[0], io_bytes=most)], most / total, is_last

    def _rest_of(self, job: Job, done: Job) -> list[Job]:
        """A random write of the bytes that are not repeated block by block."""
        least = min(MOST_OF_REST * self.capacity * self.scale, float(job.io_bytes or 0))
        blocks = int(least - (done.io_bytes or 0)) // BLOCK_OF_REST
        return [replace(done, block_bytes=BLOCK_OF_REST, io_bytes=max(blocks, 1) * BLOCK_OF_REST)]

    def _writes_all(self, record: StepRecord) -> bool:
        if record.kind == "run":
            return self.is_whole_write(record)
        size = record.detail.get("size") or self.capacity
        return float(size) >= (1 - CURVE_SHARE) * self.capacity

    def _sample_ns(self, record: StepRecord) -> int:
        samples = FILL_SAMPLES if self.is_whole_write(record) else SAMPLES
        return max(int(record.duration_ns * self.scale / samples), LEAST_SAMPLE_NS)

    def _jobs(self, record: StepRecord) -> list[Job] | None:
        """The step's jobs for the small drive; none where it cannot carry them out."""
        if record.kind == "fill":
            fields = dict(record.detail)
            job = Job(
                name="fill",
                rw="write",
                block_bytes=int(fields.get("block_bytes") or 1 << 20),
                depth=int(fields.get("depth") or 8),
                offset=int(fields.get("offset") or 0),
                size=fields.get("size") or self.capacity - int(fields.get("offset") or 0),
            )
            return [self._small(job, float(job.size or 0))]
        rows: Sequence[Mapping[str, Any]] = record.detail.get("jobs") or ()
        if not rows or any(row.get("handles") for row in rows):
            return None
        totals = [float(total.bytes) for total in record.jobs]
        if len(totals) != len(rows) or min(totals) <= 0:
            return None
        jobs = [job_of(row) for row in rows]
        if any(job.rw in ("trim", "randtrim") or not _is_plain(job.fio) for job in jobs):
            return None
        return [self._small(job, total) for job, total in zip(jobs, totals, strict=True)]

    def _small(self, job: Job, moved: float) -> Job:
        """A job with its range and its bytes scaled."""
        block = job.block_bytes
        small_capacity = int(self.capacity * self.scale) // block * block

        def scaled(value: float, least: int = 0) -> int:
            return max(round(value * self.scale / block), least) * block

        size = min(scaled(job.size or self.capacity, 8), small_capacity)
        offset = min(scaled(job.offset), small_capacity - size)
        least = LEAST_REQUESTS if job.rw.startswith("rand") else 8
        if job.rw == "randread":
            least = int(np.clip(moved / block, 1, LEAST_REQUESTS))
        if job.rw in ("read", "randread"):
            moved = min(moved, MOST_READS * block / self.scale)
        one_pass = job.rw == "write" and job.runtime_s is None and job.io_bytes is None
        return replace(
            job,
            offset=offset,
            size=size,
            io_bytes=size if one_pass else scaled(moved, least),
            runtime_s=None,
            ramp_s=0.0,
            fio=None if job.fio is None else replace(job.fio, time_based=False),
        )

    def _seen(self, record: StepRecord, jobs: list[Job], at: int, share: float) -> list[Seen]:
        """The rates of the first `share` of a step's bytes, the part that is repeated."""
        seconds = record.duration_ns / 1e9
        if seconds <= 0:
            return []
        if record.kind == "fill":
            moved = float(sum(job.io_bytes or 0 for job in jobs)) / self.scale
            return [_rate_seen(record.label, at, moved / seconds)]
        curve = without_silence(_curve(self._series(record)))
        if curve.total_bytes <= 0:
            return []
        mean = curve.total_bytes / curve.total_s
        self.fastest = max(self.fastest, mean)
        if all(job.rw == "read" for job in jobs):
            self.fastest_read = max(self.fastest_read, mean)
        return _curve_seen(record.label, at, curve, jobs, self.capacity, share)


def _curve_seen(
    label: str, at: int, curve: Curve, jobs: Sequence[Job], capacity: int, share: float
) -> list[Seen]:
    random = any(job.rw == "randwrite" for job in jobs)
    least = (RANDOM_CURVE_SHARE if random else CURVE_SHARE) * capacity
    writes = any(job.rw in ("write", "randwrite") for job in jobs)
    (seconds,) = curve.seconds_to(np.array([share * curve.total_bytes]))
    begins = BEGINS_OFF * min(1.0, BEGINNING_S / float(seconds))
    # A write that waits for the flash meets no buffer of the host's.
    waits = any(_waits(job) for job in jobs)
    common = begins if writes and not waits else 0.0
    if not writes or curve.total_bytes < least:
        rate = curve.mean_between(0.0, share * curve.total_bytes)
        return [_rate_seen(label, at, rate, _noise_of_few(jobs, curve), common)]

    def parts(bins: int, noise: float, counts: float, until: float = 1.0) -> Seen:
        rates = binned(curve, bins, share * until)
        return Seen(
            label=label,
            at=at,
            rate=tuple(float(rate) for rate in rates),
            noise=(distance.with_swings(noise, rates),) * len(rates),
            counts=counts,
            until=until,
            common=common,
        )

    if random:
        return [parts(BINS_RANDOM, distance.RANDOM_NOISE, RANDOM_COUNTS)]
    if at > 0 or curve.total_bytes < WHOLE_SHARE * capacity:
        bins = int(np.clip(curve.total_bytes / (LEAST_BIN * capacity), 2, BINS_CURVE))
        return [parts(bins, distance.CURVE_NOISE, CURVE_COUNTS * bins / BINS_CURVE)]
    fill = [parts(BINS_FILL, distance.FILL_NOISE, FILL_COUNTS)]
    samples = int((np.cumsum(curve.size) < BEGINNING * curve.total_bytes).sum())
    if samples >= BINS_BEGINNING:
        fill.append(parts(BINS_BEGINNING, distance.FILL_NOISE, BEGINNING_COUNTS, BEGINNING))
    return fill


def _noise_of_few(jobs: Sequence[Job], curve: Curve) -> float:
    """The standard deviation of the mean of a few reads, in its logarithm."""
    if any(job.rw != "randread" for job in jobs):
        return 0.0
    return READS_DIFFER / math.sqrt(max(curve.total_bytes / jobs[0].block_bytes, 1.0))


def _rate_seen(
    label: str, at: int, rate: float, by_chance: float = 0.0, common: float = 0.0
) -> Seen:
    return Seen(
        label=label,
        at=at,
        rate=(float(np.log(rate)),),
        noise=(math.hypot(distance.CURVE_NOISE, by_chance),),
        counts=RATE_COUNTS,
        common=common,
    )


def binned(curve: Curve, bins: int, until: float = 1.0) -> Floats:
    """Logarithms of the rate in `bins` bins of equal bytes over the first `until` of the curve."""
    end = until * curve.total_bytes
    if bins == 1:
        rate = np.array([curve.mean_between(0.0, end)])
    else:
        rate = in_equal_bytes(curve, 0.0, end, bins).rate
    result: Floats = np.log(np.maximum(rate, 1.0))
    return result


def _curve(series: Series) -> Curve:
    """Bytes of all directions over time."""
    return curve_of_columns(vars(series))


def curve_of_columns(series: Mapping[str, Any]) -> Curve:
    """The curve of a series' columns: rows of one interval in several directions are added up."""
    keep = np.asarray(series["direction"]) != TRIM
    start, length, size = (np.asarray(series[name])[keep] for name in ("t_ns", "dt_ns", "bytes"))
    if start.size == 0:
        return Curve(dt=np.zeros(0), size=np.zeros(0))
    at, row = np.unique(start, return_inverse=True)
    lengths = np.zeros(at.size, dtype=np.int64)
    np.maximum.at(lengths, row, length)
    return curve_of(at, lengths, np.bincount(row, weights=size.astype(np.float64)))
