"""What a run will take, told before the first byte: the batteries are played against a sketch.

The sketch answers every step at once with a result in which nothing happened, so a battery goes its
whole way and refuses what does not suit the target before anything is touched. Invariant: nothing
here asks a drive for anything. Rates are priors for the estimate alone: 400 MB/s for streams, 8,000
requests a second and outstanding request for small random ones, at most 80,000 (a SATA drive). For
the wall clock of a twin it is the pace of its design on this machine (`model.pace`), and what the
batteries compute between steps. What samples
take of memory was measured: series, X-ray and meter of a step as they are held until the run ends,
and on top of the largest step its tables as they are written.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtwin import system
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.drive import Paces
from flashtwin.model.pace import USUAL, Pace, busy, small_writes
from flashtwin.model.series import Series
from flashtwin.model.step import (
    Chain,
    Fill,
    Job,
    Mark,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Step,
    Trim,
)

if TYPE_CHECKING:
    from flashtwin.batteries.base.registry import Request, Steps
    from flashtwin.model.drive import Drive
    from flashtwin.model.fio_job import Blocks
    from flashtwin.model.target import DriveInfo

# Bytes read, bytes written, requests, seconds of the drive's clock.
_Work = tuple[float, float, float, float]
STREAM_BYTES_S = 400e6
RANDOM_IOPS = 8_000
RANDOM_IOPS_MOST = 80_000
# Seconds of a run from which on it looks at what it gets of the processors, for a tenth of one.
LOOKS_S = 2.0
# By how much a twin's run may exceed what is expected: "at most" is a promise.
AT_MOST = 2.5
# Bytes of a sample that are held, those of each direction in it, and those for writing it.
SAMPLE_BYTES, DIRECTION_BYTES, WRITING_BYTES = 400, 64, 130
# The inside of a twin is sampled so often while it is filled.
FILL_SAMPLE_S = 0.5
# The wall time of a step beside its work: it is judged, journalled and drawn. More than 0, so that
# progress moves over a purge or a flush too.
STEP_S = 0.0025
# A small request in order costs this share of one at random (ATTO's sizes on two drives).
IN_ORDER = 0.6
# A battery that asks for more never ends where nothing happens.
MOST_STEPS = 100_000


# Kinds of steps in which a drive is asked for nothing.
_IDLE = ("rest", "flush", "mark")


@dataclass(frozen=True, kw_only=True)
class StepEstimate:
    """One step: bytes moved, seconds on the drive's clock and on the wall's.

    `possible`: false where the target says that it cannot do such a step.
    `timed`: it ends with the drive's clock and not with its bytes, so time says how far it is.
    `cuts`: a budget can end it early. `samples` are kept of it, `directions` in each.
    """

    battery: str
    label: str
    kind: str
    read_bytes: int
    write_bytes: int
    drive_s: float
    wall_s: float
    timed: bool = False
    cuts: bool = True
    samples: int = 0
    directions: int = 1
    possible: bool = True

    @property
    def bytes(self) -> int:
        """Moved in all."""
        return self.read_bytes + self.write_bytes

    @property
    def memory_bytes(self) -> int:
        """What its samples take until the run is over."""
        return self.samples * (SAMPLE_BYTES + DIRECTION_BYTES * self.directions)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The whole run, without its marks: they are no work.

    `target_bytes` are written in `making_s` before the first step, to make a file that is more
    than a hole. `drive_memory_bytes` is what the target itself takes. `most_wall_s`: as long as it
    takes where batteries that decide on the way go on as long as they may.
    """

    steps: tuple[StepEstimate, ...]
    target_bytes: int = 0
    making_s: float = 0.0
    drive_memory_bytes: int = 0
    most_wall_s: float = 0.0

    @property
    def read_bytes(self) -> int:
        """Read in all."""
        return sum(step.read_bytes for step in self.steps)

    @property
    def write_bytes(self) -> int:
        """Written in all: what a real drive pays in endurance."""
        return self.target_bytes + sum(step.write_bytes for step in self.steps)

    @property
    def drive_s(self) -> float:
        """On the drive's clock."""
        return sum(step.drive_s for step in self.steps)

    @property
    def wall_s(self) -> float:
        """On the wall's clock."""
        return self.making_s + sum(step.wall_s for step in self.steps)

    @property
    def cannot(self) -> dict[str, list[str]]:
        """What the target cannot do of what will be asked: the kinds of steps, by battery."""
        kinds: dict[str, list[str]] = {}
        for step in self.steps:
            if not step.possible and step.kind not in kinds.setdefault(step.battery, []):
                kinds[step.battery].append(step.kind)
        return kinds

    @property
    def samples_memory_bytes(self) -> int:
        """What the samples take: all of them are held, those of one step at a time are written."""
        largest = max((step.samples for step in self.steps), default=0)
        return sum(step.memory_bytes for step in self.steps) + largest * WRITING_BYTES

    @property
    def memory_bytes(self) -> int:
        """Of this machine's memory, in all."""
        return self.drive_memory_bytes + self.samples_memory_bytes


def estimate(
    requests: Sequence[Request],
    info: DriveInfo,
    *,
    stream_bytes_s: float = STREAM_BYTES_S,
    pace: Pace = USUAL,
    slower: float = 1.0,
) -> Estimate:
    """Play the batteries; raises their `FlashtwinError` where one does not suit the target.

    `pace`: how fast a twin of this design is simulated. `slower`: how many times longer than its
    processor's time the work takes, as others work on this machine too.
    """
    estimates: list[StepEstimate] = []
    most_wall_s = 0.0
    for request in requests:
        request.battery.check(info)
        wall = _Wall(info, pace, slower)
        expected, most = (
            [
                _of_step(request.name, step, info, stream_bytes_s, wall)
                for step in steps
                if not isinstance(step, Mark)
            ]
            for steps in _forecast(request, info)
        )
        # Beside the steps of a real drive the computing between them hardly counts.
        thinks_s = request.battery.thinks_s * slower if info.can.virtual_time else 0.0
        # Its computing lies between its steps: the same after each.
        each_s = thinks_s / max(len(expected), 1)
        estimates += [replace(step, wall_s=step.wall_s + each_s) for step in expected]
        most_wall_s += thinks_s + sum(step.wall_s for step in most)
    tasks = [step for step in estimates if step.kind not in _IDLE]
    if tasks and not any(step.possible for step in tasks):
        names = " and ".join(request.name for request in requests)
        writes = "" if info.can.writes else ", and what is only read is not written to"
        raise FlashtwinError(
            f"{info.name} can do nothing that {names} asks for{writes}",
            hint="--group reads needs to write nothing; flashtwin batteries lists all",
            exit_code=USAGE,
        )
    if info.can.virtual_time:
        most_wall_s *= AT_MOST
    target_bytes = info.capacity_bytes if info.can.filled_first and estimates else 0
    return Estimate(
        steps=tuple(estimates),
        target_bytes=target_bytes,
        making_s=target_bytes / stream_bytes_s,
        drive_memory_bytes=info.memory_bytes,
        most_wall_s=most_wall_s + target_bytes / stream_bytes_s,
    )


def _forecast(request: Request, info: DriveInfo) -> tuple[list[Step], list[Step]]:
    """The steps that a battery will ask for, as far as can be told before, and those at most."""
    going = request.battery.measure(request.parameters, info)
    step = _next(going, None)
    if request.battery.estimate is not None:
        # The first step was asked for, so an unsuitable target has been refused by now.
        forecast = request.battery.estimate(request.parameters, info)
        return list(forecast.expected), list(forecast.most or forecast.expected)
    steps: list[Step] = []
    while step is not None:
        steps.append(step)
        if len(steps) > MOST_STEPS:
            raise FlashtwinError(
                f"{request.name} asks for more than {MOST_STEPS:,} steps without an end",
                hint="a battery whose steps depend on results needs a function `estimate`",
                exit_code=USAGE,
            )
        step = _next(going, _empty_answer(step, info))
    return steps, steps


def _next(going: Steps, answer: Result | NotPossible | None) -> Step | None:
    """The next step of a generator, or none at its end."""
    try:
        return next(going) if answer is None else going.send(answer)
    except StopIteration:
        return None


def _empty_answer(step: Step, info: DriveInfo) -> Result | NotPossible:
    if not info.can.allow(step):
        return NotPossible(reason="the target cannot do that")
    return Result(label=step.label, start_ns=0, duration_ns=0, series=Series.empty())


def expected(
    requests: Sequence[Request],
    drive: Drive,
    info: DriveInfo,
    at_once: int = 1,
    slower: float | None = None,
) -> Estimate:
    """The estimate on this machine as it is now: at the pace of the drive's design, which is
    measured once where the run is worth it, and beside whatever else runs here.

    `at_once`: how many such runs are begun together. `slower`: as of `estimate`, by default what
    a run gets of the processors just now, where it is long enough to be asked.
    """
    roughly = estimate(requests, info)
    if not isinstance(drive, Paces):
        return roughly
    # A battery that goes on until something is steady may take far more than is expected.
    about_s = roughly.most_wall_s / AT_MOST
    if slower is None:
        processors = system.processors()
        share = system.share_of_processors(min(at_once, processors)) if about_s > LOOKS_S else 1.0
        slower = busy(share, at_once, processors)
    pace = drive.pace(about_s)
    return estimate(requests, info, pace=pace, slower=slower)


class _Wall:
    """The wall time of a twin's steps, in their order: what is written to an erased drive goes at
    another pace than what is written over data."""

    def __init__(self, info: DriveInfo, pace: Pace, slower: float) -> None:
        self._info, self._pace, self._slower = info, pace, slower
        self._written = 0.0

    def seconds(self, step: Step, work: _Work) -> float:
        """Of a step with this work; one that time ends is as much work as the drive does in it."""
        if isinstance(step, Purge | Trim):
            self._written = 0.0
            return self._pace.open_s * self._slower
        pace, free = self._pace, max(self._info.capacity_bytes - self._written, 0.0)
        if _timed(step):
            work = _in_its_time(step, pace, erased=free > 0) or work
        read, write, ios, _ = work
        reads = ios * read / max(read + write, 1.0)
        first = min(write, free) / max(write, 1.0)
        again = 1 - first
        moving_s = read / pace.read_bytes_s + write * (
            first / pace.first_bytes_s + again / pace.again_bytes_s
        )
        writes, is_random = ios - reads, _is_random(step)
        writes_again = again * (small_writes(writes, write) if is_random else writes)
        requests_s = (
            reads / pace.random_read_iops
            + first * writes / pace.first_random_write_iops
            + writes_again / pace.random_write_iops
        )
        # A large request costs what its data do.
        seconds = max(moving_s, requests_s if is_random else IN_ORDER * requests_s)
        self._written += write
        return seconds * self._slower


def _in_its_time(step: Step, pace: Pace, *, erased: bool) -> _Work | None:
    """What the drive does by its own clock in a step that time ends, where that is known."""
    parts: list[_Work | None] = []
    if isinstance(step, Chain):
        parts = [_in_its_time(part, pace, erased=erased) for part in step.parts]
    if isinstance(step, Run):
        parts = [_own(job, pace, len(step.jobs), erased=erased) for job in step.jobs]
    work = [part for part in parts if part is not None]
    return _sum(work) if len(work) == len(parts) else None


def _own(job: Job, pace: Pace, beside: int, *, erased: bool) -> _Work | None:
    """What a job that time ends does as one of some that run beside each other."""
    reads, block = _read_share(job), _mean_block(job)
    request_s = pace.own_request_s(
        reads, block, job.depth * job.threads, random="rand" in job.rw, erased=erased
    )
    if request_s is None:
        return None
    request_s *= beside
    if paced := _paced(job):
        request_s = max(request_s, block / paced)
    seconds = (job.runtime_s or 0.0) + job.ramp_s
    think = job.fio.think if job.fio else None
    if think is not None and think.iotime_ns:
        seconds *= think.iotime_ns / (think.iotime_ns + think.ns)
    requests = seconds / request_s
    size = requests * block
    return size * reads, size * (1 - reads), requests, seconds


def _is_random(step: Step) -> bool:
    if isinstance(step, Chain):
        return any(map(_is_random, step.parts))
    return isinstance(step, Run) and any("rand" in job.rw for job in step.jobs)


def _of_step(
    battery: str, step: Step, info: DriveInfo, stream_bytes_s: float, wall: _Wall
) -> StepEstimate:
    work = _work(step, info.capacity_bytes, stream_bytes_s)
    if not info.can.allow(step):
        work = (0.0, 0.0, 0.0, 0.0)
    read, write, _, drive_s = work
    if isinstance(step, Fill) and info.is_prepared_untimed:
        drive_s = 0.0
    wall_s = drive_s
    if info.can.virtual_time:
        wall_s = wall.seconds(step, work) + STEP_S
    return StepEstimate(
        battery=battery,
        label=step.label,
        kind=type(step).__name__.lower(),
        read_bytes=round(read),
        write_bytes=round(write),
        drive_s=drive_s,
        wall_s=max(wall_s, STEP_S),
        timed=_timed(step),
        cuts=can_be_cut(step),
        samples=_samples(step, info, stream_bytes_s),
        directions=_directions(step),
        possible=info.can.allow(step),
    )


def _samples(step: Step, info: DriveInfo, stream_bytes_s: float) -> int:
    if isinstance(step, Chain):
        return sum(_samples(part, info, stream_bytes_s) for part in step.parts)
    # The inside of a twin is sampled while it is filled too; a rest has few samples however long.
    fills_in_sight = isinstance(step, Fill) and info.can.xray and not info.is_prepared_untimed
    if not isinstance(step, Run) and not fills_in_sight:
        return 0
    every_s = step.sample_s if isinstance(step, Run) else FILL_SAMPLE_S
    return math.ceil(_work(step, info.capacity_bytes, stream_bytes_s)[3] / every_s)


def _directions(step: Step) -> int:
    """How many directions a step's series may have rows of."""
    if isinstance(step, Chain):
        return max((_directions(part) for part in step.parts), default=1)
    jobs = step.jobs if isinstance(step, Run) else ()
    mixed = any(job.rw.endswith("rw") for job in jobs)
    return 2 if mixed else max(len({job.rw for job in jobs}), 1)


def _timed(step: Step) -> bool:
    match step:
        case Run():
            return all(
                job.runtime_s is not None
                and job.io_bytes is None
                and (job.fio is None or job.fio.time_based)
                for job in step.jobs
            )
        case Chain():
            return all(_timed(part) for part in step.parts)
        case _:
            return isinstance(step, Rest)


def _work(step: Step, capacity: int, stream_bytes_s: float) -> _Work:
    match step:
        case Run():
            jobs = [_job(job, capacity, stream_bytes_s) for job in step.jobs]
            return (*_sum(jobs)[:3], max(job[3] for job in jobs))
        case Fill():
            size = step.size if step.size is not None else capacity - step.offset
            return 0.0, size, size / step.block_bytes, size / stream_bytes_s
        case Rest():
            return 0.0, 0.0, 0.0, step.seconds
        case Chain():
            return _sum([_work(part, capacity, stream_bytes_s) for part in step.parts])
        case _:
            return 0.0, 0.0, 0.0, 0.0


def _sum(parts: Sequence[_Work]) -> _Work:
    read, write, ios, seconds = (sum(part[at] for part in parts) for at in range(4))
    return read, write, ios, seconds


def _job(job: Job, capacity: int, stream_bytes_s: float) -> _Work:
    rate, block = stream_bytes_s, _mean_block(job)
    if job.rw.startswith("rand"):
        iops = min(RANDOM_IOPS * job.depth * job.threads, RANDOM_IOPS_MOST)
        rate = min(rate, iops * block)
    if paced := _paced(job):
        rate = min(rate, paced)
    size = float(_asked_bytes(job, capacity))
    if job.runtime_s is not None:
        timed = rate * (job.runtime_s + job.ramp_s)
        size = timed if job.io_bytes is None and job.fio is None else min(size, timed)
    if "trim" in job.rw:
        return 0.0, 0.0, size / block, size / rate
    share = _read_share(job)
    return size * share, size * (1 - share), size / block, size / rate


def _paced(job: Job) -> float:
    """The bytes a second to which a job is held, 0 of one that is not."""
    return sum(pace or 0 for pace in job.fio.pace.bytes_s) if job.fio else job.rate_bytes_s or 0


def _read_share(job: Job) -> float:
    alone = {"read": 1.0, "randread": 1.0, "write": 0.0, "randwrite": 0.0}
    return alone.get(job.rw, job.read_percent / 100)


def _mean_block(job: Job) -> float:
    """Bytes of a request, by the shares of its sizes where there are several."""
    if job.fio is None or job.fio.blocks is None:
        return job.block_bytes
    shares = (_read_share(job), 1 - _read_share(job))
    means = (_mean_size(blocks) for blocks in job.fio.blocks[:2])
    return sum(share * mean for share, mean in zip(shares, means, strict=True))


def _mean_size(blocks: Blocks) -> float:
    if not blocks.split:
        return (blocks.least + blocks.most) / 2
    return sum(size * percent for size, percent in blocks.split) / 100


def _asked_bytes(job: Job, capacity: int) -> int:
    """The bytes after which a job ends that has no time limit."""
    if job.fio is None:
        return job.io_bytes or job.size or capacity - job.offset
    if job.fio.number_ios:
        return job.fio.number_ios * job.block_bytes
    if job.fio.time_based and job.runtime_s is not None:
        return sys.maxsize
    spans = sum(span.bytes if span.size is None else span.size for span in job.fio.spans)
    return job.io_bytes or (job.fio.size or spans) * job.fio.loops


def can_be_cut(step: Step) -> bool:
    """Whether a step ends early where it is told to."""
    if isinstance(step, Rest):
        return True
    return isinstance(step, Run) and all(map(_can, step.jobs))


def _can(job: Job) -> bool:
    """Whether a job can be given an end in bytes or in time. One pass of several threads, or in
    random order, does not end after a fixed number of bytes."""
    if job.fio is not None:
        # A job that waits for others ends late: a limit on its own time is none on the step's.
        return not (job.fio.gate.waits_for or job.fio.gate.stonewall or job.fio.start_ns)
    if job.io_bytes is not None or job.runtime_s is not None:
        return True
    return (job.threads == 1 or job.shared_stream) and not job.rw.startswith("rand")
