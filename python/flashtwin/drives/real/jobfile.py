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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flashtwin.drives.real.engines import LINUX, Engine
from flashtwin.drives.real.options import (
    Options,
    options_of,
    passes,
    section_text,
    smallest_bytes,
    unsaid,
)
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.fio_job import Syncs
from flashtwin.model.step import Chain, Job, Rest, Run

# fio 3.33 holds 32 bytes a logged request: this number takes 0.26 GB.
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
    """One job as fio runs it: its run within the step, its number of threads, and their depth."""

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
    step: Run | Chain,
    *,
    capacity_bytes: int,
    engine: Engine,
    filename: str = TARGET,
    fresh_data: bool = False,
) -> JobFile:
    """The job file of a step. The caller has checked that its jobs fit into the target, which fio
    knows as `filename`."""
    parts = step.parts if isinstance(step, Chain) else (step,)
    runs = [part for part in parts if isinstance(part, Run)]
    sections = _sections(runs, capacity_bytes, engine)
    exact = sum(requests_most(section.job) for section in sections) <= REQUESTS_LOGGED_MOST
    samples_ms = [_sample_ms(run, exact) for run in runs]
    settings = _global(engine, filename) | ({"refill_buffers": "1"} if fresh_data else {})
    if any(section.job.fio and section.job.fio.syncs != Syncs() for section in sections):
        # fio keeps no latencies of flushes without those of completions.
        del settings["disable_clat"]

    def logs(section: Section) -> Options:
        return _logs(section, exact, samples_ms[section.part])

    return JobFile(
        text=_text(parts, sections, settings, laid_out(parts), logs, logs_ramp=exact),
        sections=tuple(sections),
        samples_ns=tuple(ms * 1_000_000 for ms in samples_ms),
        exact=exact,
        notes=tuple(_notes(runs, samples_ms, engine, exact)),
    )


def plain_job_file(step: Run | Chain, *, capacity_bytes: int, delays: bool = True) -> str:
    """The job file of a step for a reader to keep: the best engine of Linux, and no logs.

    `delays` as in `laid_out`. A job that fio's options do not say is refused by the field.
    """
    if reason := impossible(step, capacity_bytes):
        raise FlashtwinError(
            f"{step.label} has no job file: {reason}",
            hint="a run on a file or a device can do the other steps",
            exit_code=USAGE,
        )
    parts = step.parts if isinstance(step, Chain) else (step,)
    runs = [part for part in parts if isinstance(part, Run)]
    sections = _sections(runs, capacity_bytes, LINUX[0])
    settings = {name: value for name, value in _global(LINUX[0], TARGET).items() if name in _PLAIN}
    return _text(parts, sections, settings, laid_out(parts, delays=delays), lambda section: {})


def impossible(step: Run | Chain, capacity_bytes: int) -> str | None:
    """Why fio cannot run a step on one file of that size: the job, and its first such field."""
    parts = step.parts if isinstance(step, Chain) else (step,)
    for job in [job for part in parts if isinstance(part, Run) for job in part.jobs]:
        reason = unsaid(job, capacity_bytes)
        if isinstance(step, Chain) and job.fio is not None and job.fio.start_ns:
            reason = "fio.start_ns: the steps of a chain say when a job begins"
        if reason:
            return f"job {job.name}, {reason}"
    return None


def _text(
    parts: Sequence[Run | Rest],
    sections: Sequence[Section],
    settings: Options,
    layout: tuple[list[Timing], list[list[str]]],
    logs: Callable[[Section], Options],
    *,
    logs_ramp: bool = False,
) -> str:
    timing, fillers = layout
    blocks = [section_text("global", settings)]
    for index, filler in enumerate(fillers):
        blocks += filler
        for place, section in enumerate(s for s in sections if s.part == index):
            stream = options_of(
                section.job, threads=section.threads, depth=section.depth, logs_ramp=logs_ramp
            )
            sequence = timing[index].options(first=place == 0)
            blocks.append(
                section_text(
                    section.name, {"new_group": "1", **stream, **logs(section), **sequence}
                )
            )
    return "\n\n".join(blocks) + "\n"


def fitted(job: Job, capacity_bytes: int) -> Job:
    """The job with its size filled in, in whole blocks."""
    if job.fio is not None and job.fio.spans:
        return job
    room = capacity_bytes - job.offset
    grain = job.block_bytes if job.fio is None else 1
    size = (room if job.size is None else job.size) // grain * grain
    if job.offset < 0 or size <= 0 or size > room:
        range_text = f"offset {job.offset}, size {job.size}, blocks of {job.block_bytes} bytes"
        raise FlashtwinError(
            f"job {job.name} does not fit into a target of {capacity_bytes} bytes: {range_text}",
            hint="give a larger --size, or the battery a smaller size",
        )
    return replace(job, size=size)


def requests_most(job: Job) -> int:
    """An upper bound on the number of requests that the job makes."""
    block_bytes = smallest_bytes(job)
    bounds = []
    if job.io_bytes is not None:
        bounds.append(job.io_bytes // block_bytes + job.threads)
    if job.runtime_s is not None:
        iops_by_depth = job.depth * job.threads * IOPS_OF_ONE_MOST
        bytes_s = BYTES_S_MOST if job.rate_bytes_s is None else job.rate_bytes_s
        rate = min(iops_by_depth, IOPS_MOST, bytes_s / block_bytes)
        bounds.append(int(rate * (job.runtime_s + job.ramp_s)) + job.threads)
    if job.fio is not None and job.fio.number_ios:
        bounds.append(job.fio.number_ios)
    if not bounds:
        bounds.append(_span_bytes(job) // block_bytes * passes(job))
    return min(bounds)


def _span_bytes(job: Job) -> int:
    if job.fio is not None and job.fio.spans:
        return sum(span.bytes for span in job.fio.spans)
    assert job.size is not None, "a fitted job has a size"
    return job.size


# The global options that stay in a job file written for a reader.
_PLAIN = ("filename", "ioengine", "direct", "kb_base", "thread", "group_reporting", "uri")


def _global(engine: Engine, filename: str) -> Options:
    file = {"filename": filename, "ioengine": engine.name, "direct": str(int(engine.direct))}
    return {
        **(file if engine.uri is None else {"ioengine": engine.name, "uri": engine.uri}),
        "kb_base": "1024",
        "thread": "1",
        "group_reporting": "1",
        "allow_file_create": "0",
        "fallocate": "none",
        "randrepeat": "1",
        "disable_slat": "1",
        "disable_clat": "1",
        "lat_percentiles": "1",
        "clat_percentiles": "0",
        "slat_percentiles": "0",
        "per_job_logs": "1",
        "log_unix_epoch": "1",
    }


def _sections(runs: Sequence[Run], capacity_bytes: int, engine: Engine) -> list[Section]:
    sections: list[Section] = []
    for part, run in enumerate(runs):
        for job in run.jobs:
            threads, depth = _threads_and_depth(job, engine)
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


def _threads_and_depth(job: Job, engine: Engine) -> tuple[int, int]:
    """The numbers of threads and the depth that fio needs to keep the job's queue depth."""
    if not engine.asynchronous:
        if job.rw.startswith("rand"):
            return job.threads * job.depth, 1
        return (1, 1) if job.shared_stream else (job.threads, 1)
    if job.shared_stream:
        return 1, job.threads * job.depth
    return job.threads, job.depth


def _logs(section: Section, exact: bool, sample_ms: int) -> Options:
    if exact:
        room = requests_most(section.job) // section.threads + 1
        entries = min(max(room, LOG_ENTRIES[0]), LOG_ENTRIES[1])
        return {"write_lat_log": section.name, "log_entries": str(entries)}
    return {
        "write_lat_log": section.name,
        "write_bw_log": section.name,
        "log_avg_msec": str(sample_ms),
    }


def _sample_ms(run: Run, exact: bool) -> int:
    """The length of a sample in whole milliseconds, as fio's logs count them; never shorter than
    fio's helper can do."""
    return max(round(run.sample_s * 1000), 1 if exact else AVERAGE_MS_LEAST)


def _notes(
    runs: Sequence[Run], samples_ms: Sequence[int], engine: Engine, exact: bool
) -> list[str]:
    jobs = [job for run in runs for job in run.jobs]
    notes = []
    if any(job.host_ns for job in jobs):
        notes.append("how long the host takes for a command is up to this machine")
    if any(job.fio is not None and job.fio.draws_repeat for job in jobs):
        notes.append("jobs that go to the same random places in each pass use fio's own seed")
    if any(job.shared_stream and job.threads > 1 for job in jobs) and engine.asynchronous:
        notes.append("threads that share a stream run as one thread of their whole depth")
    if any(job.depth > 1 for job in jobs) and not engine.asynchronous:
        notes.append(f"{engine.name} keeps one request outstanding for each thread")
    if any(abs(ms / 1000 - run.sample_s) > 1e-9 for run, ms in zip(runs, samples_ms, strict=True)):
        notes.append("fio's logs count whole milliseconds: the sample interval was rounded")
    if not exact:
        notes.append(
            "too many requests to log each: the series is made of fio's averages, where the lowest"
            " and the highest latency of an interval are its mean"
        )
        if any(job.ramp_s for job in jobs):
            notes.append("the series leaves out the ramp")
    return notes


# The time that the two stonewalls around a rest take.
WALLS_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When a run of a chain begins: after a time, or when all before it is over."""

    delay_s: float = 0.0
    wall: bool = False

    def options(self, *, first: bool) -> dict[str, str | None]:
        """The options of a section; `first`: it is the first of its run, beside which the others
        begin."""
        if self.wall:
            return {"stonewall": None} if first else {}
        return {"startdelay": f"{round(self.delay_s * 1000)}ms"} if self.delay_s else {}


def laid_out(
    parts: Sequence[Run | Rest], *, delays: bool = True
) -> tuple[list[Timing], list[list[str]]]:
    """For each run of a chain: the options that hold it back, and the sections that fill the
    rests before it. Without `delays` only stonewalls are used, for a chain that does not begin
    with its job file."""
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
    """How long a run takes, if only time ends it."""
    longest = 0.0
    for job in run.jobs:
        if job.runtime_s is None or job.io_bytes is not None:
            return None
        if job.fio is not None and (job.fio.number_ios or not job.fio.time_based):
            return None
        longest = max(longest, job.runtime_s + job.ramp_s)
    return longest


def _filler(number: int, seconds: float) -> str:
    """A section in which the target gets no request for a time."""
    return section_text(
        f"rest{number}",
        {
            "stonewall": None,
            "ioengine": "null",
            "filename": "nothing",
            "rw": "read",
            "bs": "512",
            "size": "1048576",
            "rate_iops": "10",
            "time_based": "1",
            "runtime": f"{max(round(seconds * 1000), 1)}ms",
        },
    )
