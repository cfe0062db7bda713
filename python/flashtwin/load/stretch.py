"""The host of a copy: it gives the copy its load, a stretch of writing and rest at a time.

Each stretch is told in the drive's counters before and after it, and in the work that it is to
simulate. Work is counted and not timed, so that what it bounds is the same on every machine. Its
unit is 4 KiB that the flash programs, about 0.1 us of a processor; a written request costs as much
as 16 of them beside its data and a read one as 12 (measured on three drives under five loads).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flashtwin import _core
from flashtwin._core import Spec
from flashtwin.drives.twin import Twin
from flashtwin.load.loads import DAY_S, Load
from flashtwin.model.fio_job import NONE, Fio, Span
from flashtwin.model.job import Job, ReadWrite, directions_of
from flashtwin.model.step import Rest, Result, Run
from flashtwin.model.target import Progress

# A batch of the end renews a copy (`Counts.renewed`) by a quarter of its capacity.
BATCH = 0.25
# Stretches of writing that a capacity is written in, at most.
MOST_STRETCHES = 64
# A stretch of the load with its reads asks for no more of them than this: one that would is cut
# into parts.
MOST_READS = 1_000_000
# Spans of files lie on whole MiB.
GRAIN = 1 << 20
# Flash bytes that renew a drive as much as a byte of the host's that costs no more: where each
# small sync fills a page, what is programmed turns all superblocks over long before the host has
# written a capacity.
TURNED = 4
# The unit of work, and what requests cost in it beside their data.
WORK_BYTES = 4096
READ_WORK, WRITE_WORK = 12, 16
# Requests of which a mixed job leaves the reads out.
_WRITES_OF: Mapping[str, ReadWrite] = {"rw": "write", "randrw": "randwrite"}


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The drive's counters, the share of its rated life that is gone, and the mark from which the
    core can tell what was done since."""

    host: int
    programmed: int
    used: float
    by_cause: Mapping[str, int]
    energy_j: float
    now_ns: int
    mark: _core.Mark

    @classmethod
    def of(cls, twin: Twin) -> Counts:
        """The counts of now."""
        inside = twin.smart()["flashtwin"]
        waf = inside["waf"]
        host = int(waf["host_bytes"])
        return cls(
            host=host,
            programmed=int(waf["programmed_bytes"]),
            used=inside["endurance"]["percent_used"] / 100,
            by_cause={name: round((share or 0) * host) for name, share in waf["by_cause"].items()},
            energy_j=inside["energy"]["energy_uj"] / 1e6,
            now_ns=twin.simulation.now_ns(),
            mark=twin.simulation.mark(),
        )

    def renewed(self, before: Counts) -> float:
        """Bytes by which the drive was renewed: the host's, or what turned its flash over."""
        return max(self.host - before.host, (self.programmed - before.programmed) / TURNED)


def writes(job: Job) -> bool:
    """True where a job writes anything."""
    return "write" in directions_of(job.rw)


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A time of writing and the rest after it."""

    jobs: tuple[Job, ...]
    factor: float
    active_s: float
    rest_s: float
    write_bytes: float

    @classmethod
    def of(
        cls, load: Load, scale: int, spec: Spec, full_size: Spec, jobs: Sequence[Job]
    ) -> Stretch:
        """As many bytes as the load has in its period, and enough for a capacity to take a
        bounded number of stretches; without rests a stretch is no more than a batch."""
        rate = load.bytes_a_day(full_size.capacity_bytes) / DAY_S
        in_period = rate * load.period_s / scale
        if load.active >= 1:
            in_period = min(in_period, BATCH * spec.capacity_bytes)
        write_bytes = max(in_period, spec.capacity_bytes / MOST_STRETCHES)
        period_s = write_bytes / rate
        nominal_rate = sum(nominal(job, 1) for job in jobs)
        return cls(
            jobs=tuple(jobs),
            factor=rate / load.active / nominal_rate,
            active_s=period_s * load.active,
            rest_s=period_s * (1 - load.active),
            write_bytes=write_bytes,
        )

    def with_reads(self) -> Stretch:
        """The stretch, or a part of it that asks for a bounded number of reads, of 4 KiB each."""
        read_bytes = sum(nominal(job, 0) for job in self.jobs) * self.factor * self.active_s
        parts = max(-(-int(read_bytes) // (MOST_READS * WORK_BYTES)), 1)
        return replace(
            self,
            active_s=self.active_s / parts,
            rest_s=self.rest_s / parts,
            write_bytes=self.write_bytes / parts,
        )

    def paced(self, number: int, done: Sequence[int], *, reads: bool) -> Iterator[tuple[int, Job]]:
        """The jobs of the stretch with a number, by their places; `done` is how many bytes each has
        moved before. Without reads a job asks for the rest of its requests alone."""
        for index, job in enumerate(self.jobs):
            if reads or directions_of(job.rw) != ("read",):
                paced = self._paced(job, number, index, done[index])
                yield index, paced if reads else replace(paced, rw=_WRITES_OF.get(job.rw, job.rw))

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


class Host:
    """Gives a copy its load. `work`: what was simulated for it so far."""

    def __init__(self, twin: Twin, stretch: Stretch, watch: Callable[[Progress], bool]) -> None:
        self.twin, self._watch = twin, watch
        self._stretch, self._with_reads = stretch, stretch.with_reads()
        # The bytes that each job has moved.
        self._done = [0] * len(stretch.jobs)
        self._stretches = 0
        self.work = 0.0
        self.wanted_bytes = 0.0

    @property
    def reads(self) -> bool:
        """True where the load reads anything."""
        return any("read" in directions_of(job.rw) for job in self._stretch.jobs)

    def go_on(self, *, reads: bool) -> Result:
        """The next stretch with the rest after it; with the load's reads, or without them."""
        stretch = self._with_reads if reads else self._stretch
        before = Counts.of(self.twin).programmed
        jobs = dict(stretch.paced(self._stretches, self._done, reads=reads))
        run = Run(
            label=f"stretch {self._stretches}",
            jobs=tuple(jobs.values()),
            sample_s=max(stretch.active_s, 1e-3),
        )
        result = self.twin.do(run, self._watch)
        assert isinstance(result, Result), "a twin does everything"
        if stretch.rest_s:
            self.twin.do(Rest(seconds=stretch.rest_s), self._watch)
        for index, row in zip(jobs, result.fio, strict=True):
            self._done[index] += row["read"]["bytes"] + row["write"]["bytes"]
            self.work += READ_WORK * row["read"]["ios"]
            self.work += WRITE_WORK * (row["write"]["ios"] + row["trim"]["ios"])
        self.work += (Counts.of(self.twin).programmed - before) / WORK_BYTES
        self.wanted_bytes += stretch.write_bytes
        self._stretches += 1
        return result
