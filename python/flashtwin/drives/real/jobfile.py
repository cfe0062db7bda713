"""A step as the text of a fio job file.

One section a job, named `job0`, `job1`, …: fio's own names and paths stay out of it, the target is
the name `target` in fio's working directory. Choices that change what is measured:

- `io_bytes` is shared out among a job's threads, for `io_size` counts for each of fio's. A job
  without any limit does one pass in each of its threads, as fio has it.
- The threads of a `shared_stream` become one thread of all their depths: fio's threads share no
  position, and that is the stream that a drive would see of them.
- Random jobs draw with replacement (`norandommap`), as a simulated host does.
- Data: fio scrambles one random buffer for each write, which costs no time; no two blocks of 4 KiB
  are alike, and zlib saves 6 %. `fresh_data` makes new random data for each write (0.6 %), at some
  0.6 ms a MiB that would be measured too: it is for preparation.
- Each request is logged where a bound on their number allows it, so that series are exact; beyond
  that fio averages over the sample interval (see `series`).
- Where each request is logged, the ramp is cut off by us, so that the series has it; else by fio.
- A chain whose runs are all bound by time, but perhaps the last, is laid out with `startdelay`,
  which fio counts from its own start: 6 ms between two parts. `stonewall` costs 0.2 to 0.3 s of
  silence each and is for the others; their rests are jobs of the null engine, shorter by that.
  Delays cannot be mixed with stonewalls: a job behind one does not wait for jobs that are still
  delayed. All of it was measured with fio 3.33 on two cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.drives.real.real_fio import PREFERRED, Engine
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import Chain, Job, Rest, Run

# fio 3.33 holds 32 bytes a logged request: so many take 0.26 GB.
REQUESTS_LOGGED_MOST = 8_000_000

# No host completes requests faster than this, or one after the other faster than that; they bound
# how many a job of a given time can log.
IOPS_MOST = 1_500_000
BYTES_S_MOST = 16_000_000_000
IOPS_OF_ONE_MOST = 100_000

# `log_entries`: room that fio takes beforehand, as it drains the queue when it has to take more.
LOG_ENTRIES = (1024, 1_048_576)

# fio's averaged logs are written by a helper that wakes about each 10 ms.
AVERAGE_MS_LEAST = 10

TARGET = "target"


@dataclass(frozen=True, kw_only=True)
class Section:
    """One job as fio runs it: in which run of the step, with how many threads of which depth."""

    name: str
    part: int
    job: Job
    threads: int
    depth: int


@dataclass(frozen=True, kw_only=True)
class JobFile:
    """The text, and what is needed to read what comes out of it.

    `samples_ns` has one interval a run. `exact`: every request is logged. `notes` says where fio
    departs from what the step asks for.
    """

    text: str
    sections: tuple[Section, ...]
    samples_ns: tuple[int, ...]
    exact: bool
    notes: tuple[str, ...]


def job_file(
    step: Run | Chain, *, capacity_bytes: int, engine: Engine, fresh_data: bool = False
) -> JobFile:
    """The job file of a step; jobs that do not fit into the target are the caller's mistake."""
    parts = step.parts if isinstance(step, Chain) else (step,)
    runs = [part for part in parts if isinstance(part, Run)]
    sections = _sections(runs, capacity_bytes, engine)
    exact = sum(requests_most(section.job) for section in sections) <= REQUESTS_LOGGED_MOST
    samples_ms = [_sample_ms(run, exact) for run in runs]
    timing, fillers = laid_out(parts)
    blocks = [_global(engine) + ("\nrefill_buffers=1" if fresh_data else "")]
    for index, filler in enumerate(fillers):
        blocks += filler
        for place, section in enumerate(s for s in sections if s.part == index):
            lines = _section(section, exact, samples_ms[index])
            blocks.append("\n".join([*lines, *timing[index].lines(first=place == 0)]))
    return JobFile(
        text="\n\n".join(blocks) + "\n",
        sections=tuple(sections),
        samples_ns=tuple(ms * 1_000_000 for ms in samples_ms),
        exact=exact,
        notes=tuple(_notes(runs, samples_ms, engine, exact)),
    )


def plain_job_file(step: Run | Chain, *, capacity_bytes: int, delays: bool = True) -> str:
    """The job file of a step for a reader to keep: fio's best engine, and no logs.

    `delays` as in `timing.laid_out`.
    """
    parts = step.parts if isinstance(step, Chain) else (step,)
    runs = [part for part in parts if isinstance(part, Run)]
    timing, fillers = laid_out(parts, delays=delays)
    sections = _sections(runs, capacity_bytes, PREFERRED[0])
    blocks = [_plain_global(PREFERRED[0])]
    for index, filler in enumerate(fillers):
        blocks += filler
        for place, section in enumerate(s for s in sections if s.part == index):
            lines = _stream(section, exact=False)
            blocks.append("\n".join([*lines, *timing[index].lines(first=place == 0)]))
    return "\n\n".join(blocks) + "\n"


def _plain_global(engine: Engine) -> str:
    kept = ("filename=", "ioengine=", "direct=", "kb_base=", "thread=", "group_reporting=")
    lines = _global(engine).splitlines()
    return "\n".join(line for line in lines if line == "[global]" or line.startswith(kept))


def fitted(job: Job, capacity_bytes: int) -> Job:
    """The job with its size filled in and in whole blocks."""
    room = capacity_bytes - job.offset
    size = (room if job.size is None else job.size) // job.block_bytes * job.block_bytes
    if job.offset < 0 or size <= 0 or size > room:
        asked = f"offset {job.offset}, size {job.size}, blocks of {job.block_bytes} bytes"
        raise FlashtwinError(
            f"job {job.name} does not fit into a target of {capacity_bytes} bytes: {asked}",
            hint="give a larger --size, or the battery a smaller size",
        )
    fields = {name: getattr(job, name) for name in job.__dataclass_fields__}
    return Job(**{**fields, "size": size})


def requests_most(job: Job) -> int:
    """More requests than this the job will not make."""
    bounds = []
    if job.io_bytes is not None:
        bounds.append(job.io_bytes // job.block_bytes + job.threads)
    if job.runtime_s is not None:
        held = job.depth * job.threads * IOPS_OF_ONE_MOST
        bytes_s = BYTES_S_MOST if job.rate_bytes_s is None else job.rate_bytes_s
        rate = min(held, IOPS_MOST, bytes_s / job.block_bytes)
        bounds.append(int(rate * (job.runtime_s + job.ramp_s)) + job.threads)
    if not bounds:
        assert job.size is not None, "a fitted job has a size"
        bounds.append(job.size // job.block_bytes * passes(job))
    return min(bounds)


def passes(job: Job) -> int:
    """How often a job without a limit goes over its span."""
    return 1 if job.shared_stream else job.threads


def _global(engine: Engine) -> str:
    return "\n".join(
        [
            "[global]",
            f"filename={TARGET}",
            f"ioengine={engine.name}",
            f"direct={int(engine.direct)}",
            "kb_base=1024",
            "thread=1",
            "group_reporting=1",
            "allow_file_create=0",
            "fallocate=none",
            "randrepeat=1",
            "disable_slat=1",
            "disable_clat=1",
            "lat_percentiles=1",
            "clat_percentiles=0",
            "slat_percentiles=0",
            "per_job_logs=1",
            "log_unix_epoch=1",
        ]
    )


def _sections(runs: Sequence[Run], capacity_bytes: int, engine: Engine) -> list[Section]:
    sections: list[Section] = []
    for part, run in enumerate(runs):
        for job in run.jobs:
            threads, depth = _held(job, engine)
            sections.append(
                Section(
                    name=f"job{len(sections)}",
                    part=part,
                    job=fitted(job, capacity_bytes),
                    threads=threads,
                    depth=depth,
                )
            )
    return sections


def _held(job: Job, engine: Engine) -> tuple[int, int]:
    """fio's threads and depth for a job's."""
    if not engine.asynchronous:
        if job.rw.startswith("rand"):
            return job.threads * job.depth, 1
        return (1, 1) if job.shared_stream else (job.threads, 1)
    if job.shared_stream:
        return 1, job.threads * job.depth
    return job.threads, job.depth


def _section(section: Section, exact: bool, sample_ms: int) -> list[str]:
    return _stream(section, exact) + _logs(section, exact, sample_ms)


def _stream(section: Section, exact: bool) -> list[str]:
    job = section.job
    lines = [
        f"[{section.name}]",
        "new_group=1",
        f"rw={job.rw}",
        f"bs={job.block_bytes}",
        f"iodepth={section.depth}",
        f"numjobs={section.threads}",
        f"offset={job.offset}",
        f"size={job.size}",
        f"randseed={job.seed}",
    ]
    if job.rw in ("rw", "randrw"):
        lines.append(f"rwmixread={job.read_percent}")
    if job.rw.startswith("rand"):
        lines.append("norandommap=1")
    return lines + _limits(section, exact) + _pace(section)


def _limits(section: Section, exact: bool) -> list[str]:
    job, lines = section.job, []
    total = job.io_bytes
    if total is None and job.runtime_s is None and section.threads != passes(job):
        assert job.size is not None, "a fitted job has a size"
        total = job.size * passes(job)
    if total is not None:
        blocks = -(-total // (job.block_bytes * section.threads))
        lines.append(f"io_size={blocks * job.block_bytes}")
    if job.runtime_s is not None:
        seconds = job.runtime_s + (job.ramp_s if exact else 0.0)
        lines.append(f"runtime={max(round(seconds * 1000), 1)}ms")
        if total is None:
            lines.append("time_based=1")
    if job.ramp_s and not exact:
        lines.append(f"ramp_time={round(job.ramp_s * 1000)}ms")
    return lines


def _pace(section: Section) -> list[str]:
    job, lines = section.job, []
    if job.rate_bytes_s is not None:
        lines.append(f"rate={_rate(job, section.threads)}")
    if job.think_ns:
        lines.append(f"thinktime={-(-job.think_ns // 1000)}")
    if job.compress_percent:
        lines += [f"buffer_compress_percentage={job.compress_percent}", "refill_buffers=1"]
    if job.sync:
        lines.append("sync=1")
    return lines


def _rate(job: Job, threads: int) -> str:
    """fio's limit is a thread's and a direction's."""
    assert job.rate_bytes_s is not None, "only called for a job with a rate"
    if job.rw not in ("rw", "randrw"):
        return str(max(job.rate_bytes_s // threads, 1))
    shares = (job.read_percent, 100 - job.read_percent)
    return ",".join(str(max(job.rate_bytes_s * share // (100 * threads), 1)) for share in shares)


def _logs(section: Section, exact: bool, sample_ms: int) -> list[str]:
    if exact:
        room = requests_most(section.job) // section.threads + 1
        return [
            f"write_lat_log={section.name}",
            f"log_entries={min(max(room, LOG_ENTRIES[0]), LOG_ENTRIES[1])}",
        ]
    return [
        f"write_lat_log={section.name}",
        f"write_bw_log={section.name}",
        f"log_avg_msec={sample_ms}",
    ]


def _sample_ms(run: Run, exact: bool) -> int:
    """fio's logs count milliseconds: no interval is finer, or finer than fio's helper."""
    return max(round(run.sample_s * 1000), 1 if exact else AVERAGE_MS_LEAST)


def _notes(
    runs: Sequence[Run], samples_ms: Sequence[int], engine: Engine, exact: bool
) -> list[str]:
    jobs = [job for run in runs for job in run.jobs]
    said = []
    if any(job.host_ns for job in jobs):
        said.append("the host's time a command is this machine's own")
    if any(job.shared_stream and job.threads > 1 for job in jobs) and engine.asynchronous:
        said.append("threads that share a stream run as one thread of their whole depth")
    if any(job.depth > 1 for job in jobs) and not engine.asynchronous:
        said.append(f"{engine.name} keeps one request a thread outstanding")
    if any(abs(ms / 1000 - run.sample_s) > 1e-9 for run, ms in zip(runs, samples_ms, strict=True)):
        said.append("fio's logs count whole milliseconds: the sample interval was rounded")
    if not exact:
        said.append(
            "too many requests to log each: the series is from fio's averages, with an interval's"
            " mean latency for its least and greatest"
        )
        if any(job.ramp_s for job in jobs):
            said.append("the series leaves out the ramp")
    return said


# What the two stonewalls about a rest cost.
WALLS_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When a run of a chain begins: after so much time, or when all before it is over."""

    delay_s: float = 0.0
    wall: bool = False

    def lines(self, *, first: bool) -> list[str]:
        """The options of a section; `first` in its run: the others begin beside it."""
        if self.wall:
            return ["stonewall"] if first else []
        return [f"startdelay={round(self.delay_s * 1000)}ms"] if self.delay_s else []


def laid_out(
    parts: Sequence[Run | Rest], *, delays: bool = True
) -> tuple[list[Timing], list[list[str]]]:
    """For each run of a chain how it is held back, and the sections that fill rests before it.

    Without `delays` by stonewalls only, for a chain that does not begin with its job file.
    """
    runs = [part for part in parts if isinstance(part, Run)]
    timed = delays and all(_seconds(run) is not None for run in runs[:-1])
    timing: list[Timing] = []
    fillers: list[list[str]] = []
    begins_s = rest_s = 0.0
    for part in parts:
        if isinstance(part, Rest):
            rest_s += part.seconds
            continue
        begins_s += rest_s
        wall = not timed and (bool(timing) or rest_s > 0)
        timing.append(Timing(wall=wall, delay_s=begins_s))
        needed = wall and rest_s > WALLS_S
        fillers.append([_filler(len(timing), rest_s - WALLS_S)] if needed else [])
        begins_s, rest_s = begins_s + (_seconds(part) or 0.0), 0.0
    return timing, fillers


def _seconds(run: Run) -> float | None:
    """How long a run takes if time alone bounds it."""
    longest = 0.0
    for job in run.jobs:
        if job.runtime_s is None or job.io_bytes is not None:
            return None
        longest = max(longest, job.runtime_s + job.ramp_s)
    return longest


def _filler(number: int, seconds: float) -> str:
    """A section that asks nothing of the target for a while."""
    return "\n".join(
        [
            f"[rest{number}]",
            "stonewall",
            "ioengine=null",
            "filename=nothing",
            "rw=read",
            "bs=512",
            "size=1048576",
            "rate_iops=10",
            "time_based=1",
            f"runtime={max(round(seconds * 1000), 1)}ms",
        ]
    )
