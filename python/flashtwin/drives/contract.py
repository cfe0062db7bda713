"""The checks that any drive has to pass: `check_drive(make)`.

They hold for a twin in virtual time, for a file on a real drive, and for whatever else is put
behind the drive protocol. Each failure is an AssertionError that says what was asked, what came
back and what was expected. Nothing here depends on how fast a drive is. The target is written to
and closed.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from flashtwin.model.drive import Drive
from flashtwin.model.histogram import BUCKETS, mean_ns
from flashtwin.model.job import directions_of
from flashtwin.model.series import COLUMNS, READ, TRIM, WRITE, Series
from flashtwin.model.step import (
    Ask,
    Chain,
    Fill,
    Flush,
    Job,
    JobTotals,
    Mark,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Step,
    Trim,
)
from flashtwin.model.target import Interrupted, Progress

MIB = 1 << 20
KIB = 1 << 10

# The smallest target that the checks have room on.
LEAST_BYTES = 32 * MIB

# A real target's clock counts milliseconds; one of them is this share of the shortest run here.
GRAIN_NS = 1_000_000
LITTLE = 0.03
# A closed loop keeps nearly all of its depth outstanding; what it loses is the host's own time.
DEPTH_LEAST = 0.5
# Half of a bucket of 1/64, and what rounding adds to it.
BUCKET = 0.01

# Steps that a drive may refuse; it says before whether it will.
OPTIONAL = (Trim, Purge, Ask)

_CODES = {"read": READ, "write": WRITE, "trim": TRIM}


def check_drive(make: Callable[[], Drive]) -> None:
    """Put the drive that `make` builds through all checks and close it."""
    drive = check_building(make)
    try:
        assert drive.open() is drive, "open gives the drive back"
        assert drive.open() is drive, "a drive that is opened twice is the same"
        check_info(drive)
        check = DriveCheck(drive=drive)
        for step in plain_steps():
            check.do(step)
        for run in runs():
            check.run(run)
        check_rest(check)
        check_stall(check)
        check_ramp(check)
        check_chain(check)
        check_interrupted(check)
    finally:
        drive.close()
        drive.close()


def check_building(make: Callable[[], Drive]) -> Drive:
    """Check that building a drive opens no file and starts no program."""
    with _watching() as seen:
        drive = make()
    assert not seen, f"building the drive did more than that: {', '.join(seen)}"
    return drive


class _Watching:
    """What a piece of the program opened and started. An audit hook of Python cannot be removed
    again, so there is one for all, which reports to whoever watches at the time."""

    def __init__(self) -> None:
        self._seen: list[str] | None = None
        self._added = False

    @contextmanager
    def __call__(self) -> Iterator[list[str]]:
        if not self._added:
            self._added = True
            sys.addaudithook(self._hear)
        seen: list[str] = []
        self._seen = seen
        try:
            yield seen
        finally:
            self._seen = None

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._seen is None or event not in _DOING:
            return
        name = str(arguments[0])
        if not (event == "open" and name.endswith(_MODULES)):
            self._seen.append(f"{event} {name}")


_DOING = ("open", "subprocess.Popen", "os.mkdir", "os.truncate", "socket.connect")
# A module that is imported when it is first needed is no file of the drive's.
_MODULES = (".py", ".pyc", ".so")
_watching = _Watching()


def check_info(drive: Drive) -> None:
    """Check what a drive says of itself before its first step."""
    info = drive.info
    assert info.name, "a drive has a name"
    assert info.kind, "a drive has a word for what it is"
    assert info.capacity_bytes >= LEAST_BYTES, (
        f"the checks need {LEAST_BYTES} bytes, the target has {info.capacity_bytes}"
    )
    assert info.capacity_bytes % 512 == 0, f"{info.capacity_bytes} bytes are no whole sectors"
    text = json.dumps(info.identity, sort_keys=True)
    host = platform.node()
    named = len(host) > 3 and re.search(rf"\b{re.escape(host)}\b", text)
    assert not named, f"the identity names the host: {text}"
    assert drive.info == info, "asking twice gave two answers"


def plain_steps() -> tuple[Step, ...]:
    """One step of each kind that carries no job of its own."""
    return (
        Mark(label="contract/mark"),
        Ask(label="contract/power", of="power"),
        Ask(label="contract/temperature", of="temperature"),
        Ask(label="contract/smart", of="smart"),
        Fill(label="contract/prepare", size=16 * MIB),
        Flush(label="contract/flush"),
        Trim(label="contract/trim", offset=MIB, size=MIB),
        Purge(label="contract/purge"),
        Fill(label="contract/prepare-again", size=24 * MIB, block_bytes=128 * KIB, depth=4),
    )


def runs() -> tuple[Run, ...]:
    """Closed loops of every shape: bounded by a pass, by bytes, by time; alone and together."""

    def run(name: str, *jobs: Job, sample_s: float = 0.05) -> Run:
        return Run(label=f"contract/{name}", jobs=jobs, sample_s=sample_s)

    def job(name: str, rw: str, **fields: object) -> Job:
        known: dict[str, object] = {"block_bytes": 4 * KIB, "size": 16 * MIB, **fields}
        return Job(name=name, rw=rw, **known)  # type: ignore[arg-type]

    return (
        run("pass", job("write", "write", block_bytes=128 * KIB, depth=8)),
        run("bytes", job("read", "randread", depth=2, threads=2, io_bytes=8 * MIB)),
        run("time", job("write", "randwrite", depth=4, runtime_s=0.3)),
        run("wrap", job("read", "read", block_bytes=64 * KIB, io_bytes=32 * MIB)),
        run("mix", job("mix", "randrw", depth=4, runtime_s=0.3, read_percent=70)),
        run(
            "shared",
            job(
                "read",
                "read",
                block_bytes=64 * KIB,
                depth=2,
                threads=4,
                runtime_s=0.2,
                shared_stream=True,
            ),
        ),
        run(
            "two",
            job("reads", "randread", depth=2, runtime_s=0.3),
            job("writes", "write", block_bytes=64 * KIB, offset=16 * MIB, size=8 * MIB),
        ),
    )


@dataclass
class DriveCheck:
    """A drive, and where its clock stood when it last answered."""

    drive: Drive
    ended_ns: int = 0
    reports: list[Progress] = field(default_factory=list)

    def do(self, step: Step) -> Result | NotPossible:
        """One step and the checks on any answer."""
        self.reports = []
        can = self.drive.info.can
        answer = self.drive.do(step, self._watch)
        if isinstance(answer, NotPossible):
            assert not isinstance(step, Mark | Rest), f"{step.label}: any drive can do this"
            reason = answer.reason
            assert reason and not reason.endswith("."), f"{step.label}: reason is {reason!r}"
            assert not (isinstance(step, OPTIONAL) and can.allow(step)), (
                f"{step.label}: the drive says that it can do this, and answered: {answer.reason}"
            )
            return answer
        assert isinstance(answer, Result), f"{step.label}: answered with {answer!r}"
        assert can.allow(step), f"{step.label}: the drive says that it cannot do this, and did it"
        assert can.xray or not answer.xray, f"{step.label}: an X-ray of a drive that has none"
        assert answer.label == step.label, f"asked {step.label}, answered {answer.label}"
        assert answer.duration_ns >= 0, f"{step.label}: took {answer.duration_ns} ns"
        assert answer.start_ns >= self.ended_ns, (
            f"{step.label} began at {answer.start_ns} ns, the step before ended at {self.ended_ns}"
        )
        self.ended_ns = answer.start_ns + answer.duration_ns
        if not isinstance(step, Run | Chain):
            assert not int(answer.series.ios.sum()), f"{step.label}: requests in a series"
        if isinstance(step, Mark | Ask):
            assert answer.duration_ns == 0, f"{step.label} took {answer.duration_ns} ns"
        if isinstance(step, Ask) and step.of == "smart":
            assert answer.smart, f"{step.label}: possible, and nothing was told"
        check_meter(step.label, answer)
        return answer

    def run(self, step: Run) -> Result:
        """A run and every check on its result."""
        answer = self.do(step)
        assert isinstance(answer, Result), f"{step.label}: any drive reads and writes: {answer}"
        check_run(step, answer, holds_depth=self.drive.info.can.holds_depth)
        return answer

    def _watch(self, progress: Progress) -> bool:
        if self.reports:
            before = self.reports[-1]
            assert progress.bytes >= before.bytes, f"bytes ran backwards: {before}, {progress}"
            assert progress.drive_s >= before.drive_s, f"time ran backwards: {before}, {progress}"
        self.reports.append(progress)
        return True


def check_meter(label: str, result: Result) -> None:
    """What a meter read: samples one after another within the step, of what is physical."""
    if not result.meter:
        return
    ends, took, drawn = (result.meter[name] for name in ("t_ns", "dt_ns", "power_uw"))
    assert len(ends) == len(took) == len(drawn) == len(result.meter["temperature_mc"]), (
        f"{label}: columns of the meter of different lengths"
    )
    assert (took > 0).all() and (ends - took >= np.append(0, ends[:-1])).all(), (
        f"{label}: samples of the meter that overlap"
    )
    assert not len(ends) or ends[-1] <= result.duration_ns + GRAIN_NS, (
        f"{label}: the meter read on to {ends[-1]} ns, the step took {result.duration_ns}"
    )
    assert (drawn >= 0).all(), f"{label}: a drive that gives power back"


def check_run(step: Run, result: Result, *, holds_depth: bool = True) -> None:
    """Check a run's result by the rules that hold for every drive."""
    used = used_by(step.jobs)
    check_series(step.label, result.series, result.duration_ns, step.sample_s, used)
    names = [job.name for job in result.jobs]
    assert names == [job.name for job in step.jobs], f"{step.label}: jobs are {names}"
    for job, totals in zip(step.jobs, result.jobs, strict=True):
        check_totals(f"{step.label}, job {job.name}", job, totals, holds_depth=holds_depth)
        assert totals.duration_ns <= result.duration_ns + GRAIN_NS, (
            f"{step.label}: job {job.name} took {totals.duration_ns} ns of {result.duration_ns}"
        )
    ramped = any(job.ramp_s for job in step.jobs)
    check_sums(step.label, result, ramped=ramped)
    check_hist(step.label, result.hist, result.jobs, used)


def used_by(jobs: Sequence[Job]) -> set[int]:
    """The directions that jobs ask for."""
    return {_CODES[name] for job in jobs for name in directions_of(job.rw)}


def check_series(
    label: str, series: Series, duration_ns: int, sample_s: float | None, used: set[int]
) -> None:
    """Intervals without a gap from the first request to the end, in each direction."""
    lengths = {name: len(getattr(series, name)) for name in COLUMNS}
    assert len(set(lengths.values())) == 1, f"{label}: columns of several lengths: {lengths}"
    for name in COLUMNS:
        kind = getattr(series, name).dtype
        assert kind == np.int64, f"{label}: column {name} is {kind}, expected int64"
    directions = set(np.unique(series.direction).tolist())
    assert directions == used, f"{label}: directions {directions}, expected {used}"
    for direction in used:
        rows = series.only(direction)
        if sample_s is not None:
            _check_intervals(f"{label}, direction {direction}", rows, duration_ns, sample_s)
        _check_rows(f"{label}, direction {direction}", rows)


def _check_intervals(label: str, rows: Series, duration_ns: int, sample_s: float) -> None:
    sample_ns = round(sample_s * 1e9)
    ends = rows.t_ns + rows.dt_ns
    assert rows.t_ns[0] == 0, f"{label}: begins at {rows.t_ns[0]} ns, expected 0"
    gaps = np.flatnonzero(rows.t_ns[1:] != ends[:-1])
    assert not len(gaps), f"{label}: no row follows the one at {rows.t_ns[gaps[:1]]} ns: a gap"
    assert (rows.dt_ns > 0).all(), f"{label}: an interval without length"
    odd = np.flatnonzero(rows.dt_ns[:-1] != sample_ns)
    assert not len(odd), f"{label}: interval of {rows.dt_ns[odd[:1]]} ns, expected {sample_ns}"
    assert rows.dt_ns[-1] <= sample_ns, f"{label}: the last interval is too long"
    last = int(ends[-1])
    assert abs(last - duration_ns) <= GRAIN_NS, (
        f"{label}: the series ends at {last} ns, the step took {duration_ns}"
    )


def _check_rows(label: str, rows: Series) -> None:
    for name in COLUMNS:
        assert (getattr(rows, name) >= 0).all(), f"{label}: negative {name}"
    empty = rows.ios == 0
    for name in ("bytes", "lat_sum_ns", "lat_min_ns", "lat_max_ns"):
        assert not getattr(rows, name)[empty].any(), f"{label}: {name} without a request"
    busy = ~empty
    mean = rows.lat_sum_ns[busy] / rows.ios[busy]
    # A rounded mean may stand for the least and the greatest: 1 ns is no contradiction.
    ordered = (rows.lat_min_ns[busy] <= mean + 1) & (mean <= rows.lat_max_ns[busy] + 1)
    assert ordered.all(), f"{label}: a mean latency outside of its least and greatest"


def check_totals(label: str, job: Job, totals: JobTotals, *, holds_depth: bool = True) -> None:
    """Check that a job did what it was asked for, and that Little's law holds for it."""
    assert totals.errors == 0, f"{label}: {totals.errors} errors"
    assert totals.ios > 0, f"{label}: no request completed"
    assert totals.bytes == totals.ios * job.block_bytes, (
        f"{label}: {totals.bytes} bytes in {totals.ios} requests of {job.block_bytes}"
    )
    assert totals.latency_min_ns <= totals.latency_mean_ns <= totals.latency_max_ns, (
        f"{label}: latencies out of order: {totals}"
    )
    _check_amount(label, job, totals)
    _check_little(label, job, totals, holds_depth=holds_depth)


def _check_amount(label: str, job: Job, totals: JobTotals) -> None:
    if job.runtime_s is not None and job.io_bytes is None:
        least = job.runtime_s * 1e9 * 0.99 - GRAIN_NS
        assert totals.duration_ns >= least, (
            f"{label}: took {totals.duration_ns} ns, asked for {job.runtime_s} s"
        )
    elif job.io_bytes is not None and job.runtime_s is None and not job.ramp_s:
        # Threads that share out the bytes each end with a whole block.
        most = job.io_bytes + job.threads * job.block_bytes
        assert job.io_bytes <= totals.bytes <= most, (
            f"{label}: did {totals.bytes} bytes, asked for {job.io_bytes}"
        )
    elif job.io_bytes is None and job.size is not None:
        passes = 1 if job.shared_stream else job.threads
        expected = job.size // job.block_bytes * job.block_bytes * passes
        assert totals.bytes == expected, f"{label}: did {totals.bytes} bytes, a pass has {expected}"


def _check_little(label: str, job: Job, totals: JobTotals, *, holds_depth: bool) -> None:
    requested_depth = job.depth * job.threads
    little = totals.ios * totals.latency_mean_ns / totals.duration_ns
    grain = GRAIN_NS / totals.duration_ns
    # Past a ramp, requests that began before it count with the whole of their latency.
    ramp = requested_depth * totals.latency_max_ns / totals.duration_ns if job.ramp_s else 0.0
    allowed = (LITTLE + 2 * grain) * totals.mean_depth + ramp
    assert abs(little - totals.mean_depth) <= allowed, (
        f"{label}: Little's law gives a depth of {little:.3f}, told are {totals.mean_depth:.3f}"
    )
    assert totals.mean_depth <= requested_depth * (1 + LITTLE + 2 * grain) + ramp, (
        f"{label}: a mean depth of {totals.mean_depth:.3f}, more than {requested_depth} asked for"
    )
    # Threads of a busy host do not begin together, nor end where bytes and not time bound them.
    together = job.threads == 1 or job.runtime_s is not None
    if together and holds_depth and not (job.think_ns or job.host_ns or job.rate_bytes_s):
        assert totals.mean_depth >= DEPTH_LEAST * requested_depth * (1 - 2 * grain), (
            f"{label}: a mean depth of {totals.mean_depth:.3f}, expected {requested_depth}"
        )


def check_sums(label: str, result: Result, *, ramped: bool = False) -> None:
    """Check that the series adds up to the jobs; with a ramp, which is in the series alone, to
    no less."""
    series, jobs = result.series, result.jobs
    latency = sum(job.ios * job.latency_mean_ns for job in jobs)
    pairs = {
        "requests": (int(series.ios.sum()), sum(job.ios for job in jobs)),
        "bytes": (int(series.bytes.sum()), sum(job.bytes for job in jobs)),
    }
    for quantity, (rows, totals) in pairs.items():
        assert rows >= totals if ramped else rows == totals, (
            f"{label}: the series has {rows} {quantity}, the jobs {totals}"
        )
    if not ramped:
        sum_ns = float(series.lat_sum_ns.sum())
        assert abs(sum_ns - latency) <= 1e-6 * latency + len(series.ios), (
            f"{label}: latencies in the series add up to {sum_ns}, in the jobs to {latency}"
        )


def check_hist(
    label: str, hist: Mapping[str, object], jobs: Sequence[JobTotals], used: set[int]
) -> None:
    """Histograms in fio's buckets that count the jobs' requests and have their mean."""
    hist = {name: values for name, values in hist.items() if name != "sync"}
    assert {_CODES[name] for name in hist} <= used, f"{label}: histograms of {sorted(hist)}"
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    for name, values in hist.items():
        array = np.asarray(values)
        assert array.shape == (BUCKETS,), f"{label}: {array.shape} counts of {name}"
        counts = counts + array.astype(np.uint64)
    ios = sum(job.ios for job in jobs)
    assert int(counts.sum()) == ios, f"{label}: {counts.sum()} counted, {ios} requests"
    mean = sum(job.ios * job.latency_mean_ns for job in jobs) / ios
    binned = mean_ns(counts)
    assert binned is not None and abs(binned - mean) <= BUCKET * mean + 1, (
        f"{label}: the histogram's mean is {binned} ns, the jobs' {mean:.0f}"
    )


def check_rest(check: DriveCheck) -> None:
    """A rest lasts as long as it was asked to; in virtual time neither more nor less."""
    seconds = 0.25
    answer = check.do(Rest(label="contract/rest", seconds=seconds))
    assert isinstance(answer, Result), "any drive can rest"
    least = round(seconds * 1e9)
    if check.drive.info.can.virtual_time:
        assert answer.duration_ns == least, f"a rest of {least} ns took {answer.duration_ns}"
    assert answer.duration_ns >= least, f"a rest of {least} ns took {answer.duration_ns}"


def check_stall(check: DriveCheck) -> None:
    """Check that intervals in which nothing completed have rows with zeros."""
    job = Job(
        name="thinks",
        rw="randread",
        block_bytes=4 * KIB,
        size=16 * MIB,
        io_bytes=16 * KIB,
        think_ns=200_000_000,
    )
    result = check.run(Run(label="contract/stall", jobs=(job,), sample_s=0.02))
    # Four requests have three pauses between them.
    assert result.duration_ns >= 3 * job.think_ns, (
        f"contract/stall: took {result.duration_ns} ns, and the host thinks 0.2 s three times"
    )
    silent = int((result.series.ios == 0).sum())
    assert silent >= len(result.series.ios) // 2, (
        f"contract/stall: {silent} of {len(result.series.ios)} intervals are empty, as the host"
        " thinks for 0.2 s after each request, and an interval is 0.02 s"
    )


def check_ramp(check: DriveCheck) -> None:
    """Check that the time of a ramp is in the series and not in the totals."""
    job = Job(
        name="ramps",
        rw="randread",
        block_bytes=4 * KIB,
        size=16 * MIB,
        runtime_s=0.2,
        ramp_s=0.2,
    )
    result = check.run(Run(label="contract/ramp", jobs=(job,), sample_s=0.05))
    (totals,) = result.jobs
    seconds = totals.duration_ns / 1e9
    assert seconds < result.duration_ns / 1e9 - 0.1, (
        f"contract/ramp: the job counts {seconds} s of {result.duration_ns / 1e9}"
    )
    ios = int(result.series.ios.sum())
    assert ios > totals.ios, f"contract/ramp: {ios} requests, all of them after the ramp"


# The jobs of the parts of the chain that is asked for.
_OWN_JOBS: tuple[list[str], ...] = (["first"], [], ["last"])


def check_chain(check: DriveCheck) -> None:
    """Parts of a chain come in order, on one clock, with the rest between them."""
    rest_s = 0.8
    first = Job(name="first", rw="write", block_bytes=64 * KIB, size=16 * MIB, runtime_s=0.2)
    last = Job(name="last", rw="read", block_bytes=64 * KIB, size=16 * MIB)
    step = Chain(
        label="contract/chain",
        parts=(
            Run(label="contract/chain/first", jobs=(first,), sample_s=0.05),
            Rest(seconds=rest_s),
            Run(label="contract/chain/last", jobs=(last,), sample_s=0.05),
        ),
    )
    answer = check.do(step)
    if isinstance(answer, NotPossible):
        return
    names = [totals.name for totals in answer.jobs]
    assert names == ["first", "last"], f"{step.label}: jobs are {names}"
    parts = [(part.label, [totals.name for totals in part.jobs]) for part in answer.parts]
    expected_parts = [
        (part.label, names) for part, names in zip(step.parts, _OWN_JOBS, strict=True)
    ]
    assert parts == expected_parts, f"{step.label}: its parts are {parts}"
    moved = [int(part.series.bytes.sum()) for part in answer.parts]
    assert sum(moved) == int(answer.series.bytes.sum()) and not moved[1], (
        f"{step.label}: its parts moved {moved} bytes"
    )
    check_series(step.label, answer.series, answer.duration_ns, None, used_by((first, last)))
    check_sums(step.label, answer)
    check_hist(step.label, answer.hist, answer.jobs, used_by((first, last)))
    written, read = answer.series.only(WRITE), answer.series.only(READ)
    ended = int((written.t_ns + written.dt_ns)[written.ios > 0][-1])
    began = int(read.t_ns[read.ios > 0][0])
    # fio lays parts out by the clock: a host that is late with the first takes from the rest.
    assert began - ended >= 0.6 * rest_s * 1e9, (
        f"{step.label}: {(began - ended) / 1e9} s between the parts, a rest of {rest_s} s asked for"
    )


def check_interrupted(check: DriveCheck) -> None:
    """Check that a step ends when the watch says stop, and that the drive can do another after
    it."""
    job = Job(
        name="endless", rw="randread", block_bytes=4 * KIB, size=16 * MIB, depth=32, runtime_s=600.0
    )
    stopped: list[Step] = [Run(label="contract/endless", jobs=(job,), sample_s=1.0)]
    if not check.drive.info.can.virtual_time:
        stopped.append(Rest(label="contract/endless-rest", seconds=600.0))
    for step in stopped:
        _check_stops(check.drive.do, step)
    small = Job(name="after", rw="read", block_bytes=64 * KIB, size=16 * MIB, depth=2)
    check.run(Run(label="contract/after", jobs=(small,), sample_s=0.05))


def _check_stops(
    do: Callable[[Step, Callable[[Progress], bool]], Result | NotPossible], step: Step
) -> None:
    try:
        answer = do(step, lambda progress: False)
    except Interrupted:
        return
    raise AssertionError(f"{step.label}: the watch said stop, the answer was {answer!r}")
