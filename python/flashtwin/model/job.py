"""A job: one stream of requests that a battery, or one of fio's processes, asks a drive for.

A `Job` says what every drive can be asked for. With a `Fio` it says the rest of fio's language too,
and keeps to the semantics of fio 3.33: it is one process (a clone of `numjobs` is a job of its
own), with fio's way to draw directions, sizes and offsets, to submit, reap, sleep, end and count.
Its `threads` is 1. What the job itself says keeps its name: `rw`, `depth` (iodepth), `io_bytes`
(io_size), `runtime_s`, `ramp_s`, `read_percent` (rwmixread), `host_ns`, `compress_percent`,
`handles` (fdp_pli), `sync`, `seed`.

Triples are for reads, writes and trims, in this order. Sizes are bytes, times whole nanoseconds;
zero or none leaves a mechanism out, and so do all defaults.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

Triple = tuple[int, int, int]
NONE: Triple = (0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class Span:
    """A file: where its first byte lies on the target, and how long it is.

    The job works on `size` bytes of it from `offset` on; without a size up to its end. From the
    second pass on it begins at `again`. Where the file is `endless`, `bytes` is the room that it
    has, and nothing turns back at its end.
    """

    start: int
    bytes: int
    offset: int = 0
    size: int | None = None
    again: int | None = None
    endless: bool = False


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The sizes of one direction's requests: `least` to `most` (bsrange; equal for bs).

    `split` (bssplit) has the sizes with their percentages, which add up to 100; `least` and `most`
    are then the smallest and the largest of them. `align` (blockalign) is the grain of random
    offsets, `least` where it is none.
    """

    least: int
    most: int
    split: tuple[tuple[int, int], ...] = ()
    align: int | None = None


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """random_distribution: `value` is theta (zipf), h (pareto) or the deviation in % (normal).

    `center` is 0 to 1. Zones are (percent of the requests, percent of the span) for `zoned`,
    (percent of the requests, bytes) for `zoned_abs`, and one such list for each direction.
    """

    kind: Literal["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"] = "random"
    value: float = 0.0
    center: float | None = None
    zones: tuple[tuple[tuple[int, int], ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Sequence:
    """The number behind the colon of rw: a new random offset each `every` requests
    (0: none is drawn).

    For sequential jobs `add_bytes` is the gap between two requests, negative for backwards.
    `identical` (rw_sequencer): between two random offsets the same one again.
    """

    every: int = 1
    add_bytes: int = 0
    identical: bool = False


@dataclass(frozen=True, kw_only=True)
class Pace:
    """rate, rate_iops, rate_process, rate_ignore_thinktime; and the minima that end a job.

    A direction has a rate in bytes or in requests, not both.
    """

    bytes_s: Triple = NONE
    iops: Triple = NONE
    poisson: bool = False
    ignore_think: bool = False
    min_bytes_s: Triple = NONE
    min_iops: Triple = NONE
    cycle_ns: int = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class Think:
    """thinktime, thinktime_spin (a part of it), thinktime_blocks and what they count.

    `blocks` is none where only `iotime_ns` (thinktime_iotime) says when to think.
    """

    ns: int
    spin_ns: int = 0
    blocks: int | None = 1
    count: Literal["complete", "issue"] = "complete"
    iotime_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class Batch:
    """iodepth_batch, iodepth_batch_complete_min and _max, iodepth_low, serialize_overlap.

    `submit` and `complete_max` none: as fio has them, 1 and `complete_min`. `low` none: the depth.
    """

    submit: int = 1
    complete_min: int = 1
    complete_max: int | None = None
    low: int | None = None
    serialize_overlap: bool = False


@dataclass(frozen=True, kw_only=True)
class Flow:
    """flow (the weight), flow_id, flow_sleep."""

    weight: int
    id: int = 0
    sleep_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class Syncs:
    """fsync and fdatasync after a number of writes, end_fsync, fsync_on_close."""

    fsync_every: int = 0
    fdatasync_every: int = 0
    at_end: bool = False
    on_close: bool = False


@dataclass(frozen=True, kw_only=True)
class LatencyTarget:
    """latency_target, latency_window, latency_percentile, latency_run."""

    ns: int
    window_ns: int
    percentile: float = 100.0
    run: bool = False


@dataclass(frozen=True, kw_only=True)
class Steady:
    """steadystate: `limit` of what `metric` may deviate, or of its slope; in % or absolute.

    Jobs of one `group` (group_reporting) are looked at together and end together.
    """

    metric: Literal["iops", "bw"]
    slope: bool = False
    limit: float
    percent: bool = True
    duration_s: int
    ramp_ns: int = 0
    group: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ends:
    """exitall, exitall_on_error, continue_on_error, and whom an end takes along.

    `group` is the reporting group, for exit_what=group; `stonewall` and `all` are all jobs that run
    together, and of what comes after a caller has to think by itself (`ended_all` of the outcome).
    """

    all: bool = False
    on_error: bool = False
    what: Literal["group", "stonewall", "all"] = "group"
    group: int = 0
    continue_reads: bool = False
    continue_writes: bool = False


@dataclass(frozen=True, kw_only=True)
class Logs:
    """What is kept beside the statistics: each request (`requests`), or means (`average_ns`).

    `bw_window_ns` and `iops_window_ns` are bwavgtime and iopsavgtime. `maxima`: the averaged logs
    of latencies hold the greatest of each window (log_max_value). `status_ns` (--status-interval):
    what is counted so far is told again and again, for all jobs that run together.
    """

    requests: bool = False
    average_ns: int = 0
    maxima: bool = False
    bw_window_ns: int = 500_000_000
    iops_window_ns: int = 500_000_000
    status_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class Strides:
    """zonemode=strided: zones of `range` bytes with gaps of `skip` between them.

    In each, `size` bytes are asked for: a shorter zone is gone through again. Behind the end of the
    file it goes on where the job began.
    """

    size: int
    range: int
    skip: int = 0


@dataclass(frozen=True, kw_only=True)
class Gate:
    """stonewall and wait_for among jobs that run together: when one may begin, beside `start_ns`.

    `waits_for` are places of jobs before it, that have to have ended. With `stonewall` nothing may
    run, and no job behind it begins before; a job whose `start_ns` has not come is passed over.
    """

    stonewall: bool = False
    waits_for: tuple[int, ...] = ()


TraceFormat = Literal[
    "iolog",
    "blkparse",
    "blktrace",
    "biosnoop",
    "strace",
    "msr",
    "systor",
    "alibaba",
    "tencent",
    "fiu",
    "spc",
    "disksim",
    "mqsim",
    "vscsi",
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a trace is read. Without a format the first lines tell it.

    `event` is the action of blkparse, or biosnoop's time, that counts as the request: `D` is what
    the drive saw, `Q` what the programs asked for. `disk`: this disk alone, by its name in the
    trace.
    """

    format: TraceFormat | None = None
    event: str = "D"
    disk: str | None = None


@dataclass(frozen=True, kw_only=True)
class Skip:
    """Requests of a trace that are left out (replay_skip)."""

    read: bool = False
    write: bool = False
    trim: bool = False
    sync: bool = False


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What is made of a trace's offsets: divided by `scale`, then put on a grain of `align`."""

    scale: int = 1
    align: int = 0
    skip: Skip = Skip()


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A trace that a process replays (read_iolog); its files are the job's spans, in their order.

    `speed_percent` is that of the recorded speed, none for as fast as possible. `fit`: what happens
    to a request beyond the end of its file. `uses`: which of reads, writes and trims it has.
    """

    path: str
    reading: Reading = Reading()
    shape: Shape = Shape()
    speed_percent: int | None = 100
    fit: Literal["refuse", "wrap"] = "refuse"
    uses: tuple[bool, bool, bool] = (True, True, True)


@dataclass(frozen=True, kw_only=True)
class Fio:
    """All that makes a job fio's; see the module. Without spans the job's own span is a file.

    `size` is fio's option where it is not the sum of the spans' sizes. `synchronous`: an engine
    that waits for each request (sync, psync): depth 1, no submission latencies, and a pass ends
    where its files end, however much that is.
    `blocks_by_order` (bs_is_seq_rand): the sizes of reads for sequential requests, those of writes
    for random ones. `file_law` spreads requests over the files where their service is `law`
    (file_service_type=zipf, pareto, normal). With `random_starts` (random_generator=lfsr) the map
    holds where requests begin, and not what they cover. With `draws_repeat` each pass draws the
    same again (not so with randrepeat=0 or a randseed). No more than `open_files` files are open at
    once: another one begins when one of them has come to its end. `verify`: nothing is compared,
    but a pass ends as if it were (`reads_back`: what fio reads back counts as asked for). With
    `files_end_once` a later pass asks for nothing of a file whose end was reached.

    Sizes and offsets may be any number of bytes: the drive gets the whole sectors that a request
    touches; trims have to be whole sectors.
    """

    spans: tuple[Span, ...] = ()
    size: int | None = None
    file_service: Literal["roundrobin", "sequential", "random", "law"] = "roundrobin"
    file_service_count: int = 1
    open_files: int | None = None
    file_law: Distribution = Distribution()
    strides: Strides | None = None
    gate: Gate = Gate()
    synchronous: bool = False
    blocks: tuple[Blocks, Blocks, Blocks] | None = None
    blocks_unaligned: bool = False
    blocks_by_order: bool = False
    random_percent: Triple = (100, 100, 100)
    distribution: Distribution = Distribution()
    random_map: bool = True
    random_starts: bool = False
    draws_repeat: bool = True
    sequence: Sequence = Sequence()
    verify: Literal["no", "later", "reads_back"] = "no"
    files_end_once: bool = False
    number_ios: int = 0
    loops: int = 1
    time_based: bool = False
    start_ns: int = 0
    pace: Pace = Pace()
    think: Think | None = None
    batch: Batch = Batch()
    flow: Flow | None = None
    syncs: Syncs = Syncs()
    latency_target: LatencyTarget | None = None
    max_latency_ns: Triple = NONE
    steady: Steady | None = None
    ends: Ends = Ends()
    logs: Logs = Logs()
    trace: Trace | None = None


ReadWrite = Literal[
    "read",
    "write",
    "randread",
    "randwrite",
    "rw",
    "randrw",
    "trim",
    "randtrim",
    "trimwrite",
    "randtrimwrite",
]


# The directions of a `rw` without its "rand", where they are more than its name says.
_MIXED = {"rw": ("read", "write"), "readwrite": ("read", "write"), "trimwrite": ("trim", "write")}


def directions_of(rw: str) -> tuple[str, ...]:
    """The directions of a `rw`, by their names."""
    plain = rw.removeprefix("rand")
    return _MIXED.get(plain, (plain,))


@dataclass(frozen=True, kw_only=True)
class Job:
    """One stream of requests, closed loop: `threads` times `depth` requests are always outstanding.

    `io_bytes` ends the job after that many bytes, `runtime_s` after that time; a job with neither
    ends after one pass over `size`, and one with `runtime_s` wraps around `size` until the time is
    up.
    `host_ns` is what the host's software takes for one command, serial in a thread.
    `shared_stream`: the threads of a sequential job share one position, instead of one each.
    `sync`: each write counts as done only when it is on flash (force unit access).
    `handles`: the placement handles of its writes (NVMe's flexible data placement), taken in turn.
    `fio`: the job is one of fio's processes and keeps to its semantics. Only such a job may be
    `trimwrite` or `randtrimwrite`, and a run has either such jobs or none.
    """

    name: str
    rw: ReadWrite
    block_bytes: int
    depth: int = 1
    threads: int = 1
    offset: int = 0
    size: int | None = None
    io_bytes: int | None = None
    runtime_s: float | None = None
    ramp_s: float = 0.0
    read_percent: int = 50
    host_ns: int = 0
    think_ns: int = 0
    rate_bytes_s: int | None = None
    shared_stream: bool = False
    compress_percent: int = 0
    handles: tuple[int, ...] = ()
    sync: bool = False
    seed: int = 1
    fio: Fio | None = None


def job_of(fields: Mapping[str, Any]) -> Job:
    """A job as a journal has it, also an older one's, which has fewer fields."""
    job: Job = _read(Job, fields)
    return job


def _read(kind: Any, value: Any) -> Any:
    """JSON as a value of a type of this module."""
    if value is None:
        return None
    if get_origin(kind) is UnionType:
        return _read(get_args(kind)[0], value)
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        if kinds[-1] is Ellipsis:
            return tuple(_read(kinds[0], part) for part in value)
        return tuple(_read(part_kind, part) for part_kind, part in zip(kinds, value, strict=True))
    if hasattr(kind, "__dataclass_fields__"):
        hints = _hints(kind)
        return kind(**{name: _read(hints[name], value[name]) for name in hints if name in value})
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def jobs_json(jobs: Iterable[Job]) -> str:
    """Jobs as the core reads them: the same fields, times in integer nanoseconds."""
    # The encoder asks for the fields of a part as it comes to it; a copy of all, as `asdict` makes
    # it, takes seconds for thousands of fio's jobs.
    return json.dumps([_job(job) for job in jobs], default=vars)


def _job(job: Job) -> dict[str, Any]:
    fields = dict(vars(job))
    runtime_s, ramp_s = fields.pop("runtime_s"), fields.pop("ramp_s")
    fields["runtime_ns"] = None if runtime_s is None else round(runtime_s * 1e9)
    fields["ramp_ns"] = round(ramp_s * 1e9)
    if job.fio is None:
        del fields["fio"]
    return fields
