"""What makes a job fio's, made by `flashtwin_lab.make.fio_job` of crates/workload.

Sizes are bytes, times whole nanoseconds; a Triple is for reads, writes and trims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Triple = tuple[int, int, int]
NONE: Triple = (0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class Span:
    """A file: where it begins on the target, how long it is, and which part the job works on.

    `start`: where its first byte lies on the target.
    `bytes`: its length.
    `offset`: where in it the job begins.
    `size`: how much of it the job uses from there; up to its end where it is none.
    `again`: where in it the job begins from the second pass on; `offset` where it is none.
    `endless`: nothing ends or turns back at its end; `bytes` is the room that it has.
    """

    start: int
    bytes: int
    offset: int = 0
    size: int | None = None
    again: int | None = None
    endless: bool = False


FileService = Literal["roundrobin", "sequential", "random", "law"]


Kinds = Literal["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"]


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """random_distribution: how random offsets are drawn.

    `kind`: which.
    `value`: theta (zipf), h (pareto), or the deviation in percent (normal).
    `center`: the place of the most frequent block, 0 to 1 of the span.
    `zones`: for each direction (percent of the requests, percent of the span or, with `zoned_abs`,
    bytes).
    """

    kind: Kinds = "random"
    value: float = 0.0
    center: float | None = None
    zones: tuple[tuple[tuple[int, int], ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Strides:
    """zonemode=strided: zones that a job goes through with gaps between them, in bytes. Behind the
    end of the file it goes on where the job began.

    `size`: asked for in a zone before the next one.
    `range`: how long a zone is: with less than `size` it is gone through again.
    `skip`: the gap behind a zone.
    """

    size: int
    range: int
    skip: int = 0


@dataclass(frozen=True, kw_only=True)
class Gate:
    """stonewall and wait_for among jobs that run together: when one may begin, beside its
    `start_ns`.

    `stonewall`: not while anything runs; nor does any process behind it begin before.
    `waits_for`: not before these have ended, which are places of jobs before it.
    """

    stonewall: bool = False
    waits_for: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The sizes of one direction's requests: a range (bsrange; equal for bs), or some (bssplit).

    `least`: the smallest, in bytes, of a split too.
    `most`: the largest.
    `split`: sizes and their percentages, which add up to 100; none for a range.
    `align`: the grain of random offsets (blockalign); `least` where it is none.
    """

    least: int
    most: int
    split: tuple[tuple[int, int], ...] = ()
    align: int | None = None


@dataclass(frozen=True, kw_only=True)
class Sequence:
    """The number behind the colon of rw.

    `every`: requests to a new random offset; 0 where none is drawn.
    `add_bytes`: the gap in bytes between two requests of a sequential job, negative for backwards.
    `identical`: between two random offsets the same one again (rw_sequencer).
    """

    every: int = 1
    add_bytes: int = 0
    identical: bool = False


Verify = Literal["no", "later", "reads_back"]


@dataclass(frozen=True, kw_only=True)
class Pace:
    """rate, rate_iops, rate_process, rate_ignore_thinktime, and the minima that end a job. A
    direction has a rate in bytes or in requests, not both.

    `bytes_s`: bytes a second; 0 for none.
    `iops`: requests a second; 0 for none.
    `poisson`: arrivals by Poisson's law instead of a steady rate.
    `ignore_think`: thinking does not slow the rate.
    `min_bytes_s`: bytes a second below which the job fails; 0 for none.
    `min_iops`: requests a second below which the job fails; 0 for none.
    `cycle_ns`: the time over which the minima are means.
    """

    bytes_s: Triple = NONE
    iops: Triple = NONE
    poisson: bool = False
    ignore_think: bool = False
    min_bytes_s: Triple = NONE
    min_iops: Triple = NONE
    cycle_ns: int = 1_000_000_000


Counted = Literal["complete", "issue"]


@dataclass(frozen=True, kw_only=True)
class Think:
    """thinktime, thinktime_spin, thinktime_blocks and what they count, thinktime_iotime.

    `ns`: its length.
    `spin_ns`: the part of it with a busy CPU.
    `blocks`: requests to the next; none where only time decides.
    `count`: which requests count.
    `iotime_ns`: time to the next; 0 for never.
    """

    ns: int
    spin_ns: int = 0
    blocks: int | None = 1
    count: Counted = "complete"
    iotime_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class Batch:
    """iodepth_batch, iodepth_batch_complete_min and _max, iodepth_low, serialize_overlap.

    `submit`: requests that are submitted at once.
    `complete_min`: completions that are waited for; 0 asks without waiting.
    `complete_max`: completions that are taken at most; `complete_min` where it is none.
    `low`: a full queue drains to this; the depth where it is none.
    `serialize_overlap`: a request waits for those in flight that it overlaps.
    """

    submit: int = 1
    complete_min: int = 1
    complete_max: int | None = None
    low: int | None = None
    serialize_overlap: bool = False


@dataclass(frozen=True, kw_only=True)
class Flow:
    """flow, flow_id, flow_sleep: a share of what several jobs do together.

    `weight`: the share, beside those of the others.
    `id`: which jobs belong together.
    `sleep_ns`: how long a job sleeps that is ahead; 0 for as long as it is ahead.
    """

    weight: int
    id: int = 0
    sleep_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class Syncs:
    """fsync, fdatasync, end_fsync, fsync_on_close: when data has to be durable.

    `fsync_every`: writes to the next fsync; 0 for never.
    `fdatasync_every`: writes to the next fdatasync; 0 for never.
    `at_end`: once all is written.
    `on_close`: when a file is closed.
    """

    fsync_every: int = 0
    fdatasync_every: int = 0
    at_end: bool = False
    on_close: bool = False


@dataclass(frozen=True, kw_only=True)
class LatencyTarget:
    """latency_target, latency_window, latency_percentile, latency_run: the search for the deepest
    queue that keeps a latency.

    `ns`: the latency.
    `window_ns`: how long each depth is looked at.
    `percentile`: the requests in a hundred that have to keep it.
    `run`: goes on once it is found.
    """

    ns: int
    window_ns: int
    percentile: float = 100.0
    run: bool = False


Metric = Literal["iops", "bw"]


@dataclass(frozen=True, kw_only=True)
class Steady:
    """steadystate: the end of a job once it is steady.

    `metric`: what is looked at, a value a second.
    `slope`: its slope instead of its largest deviation from the mean.
    `limit`: steady below.
    `percent`: the limit is in percent of the mean.
    `duration_s`: the window, in seconds.
    `ramp_ns`: not looked at before.
    `group`: jobs of one group (group_reporting) are looked at together and end together.
    """

    metric: Metric
    slope: bool = False
    limit: float
    percent: bool = True
    duration_s: int
    ramp_ns: int = 0
    group: int | None = None


Whom = Literal["group", "stonewall", "all"]


@dataclass(frozen=True, kw_only=True)
class Ends:
    """exitall, exitall_on_error, continue_on_error: what ends with a job, and what does not end it.

    `all`: its end is the others'.
    `on_error`: its failure is the others' end.
    `what`: which others.
    `group`: its reporting group, for exit_what=group.
    `continue_reads`: goes on after a failed read.
    `continue_writes`: goes on after a failed write or trim.
    """

    all: bool = False
    on_error: bool = False
    what: Whom = "group"
    group: int = 0
    continue_reads: bool = False
    continue_writes: bool = False


@dataclass(frozen=True, kw_only=True)
class Logs:
    """What is kept beside the statistics.

    `requests`: each request.
    `average_ns`: the time of a mean; 0 for none.
    `maxima`: the greatest latency of each window instead of the mean (log_max_value).
    `bw_window_ns`: the window of the bandwidth samples (bwavgtime).
    `iops_window_ns`: the window of the IOPS samples (iopsavgtime).
    `status_ns`: how often what is counted is told, for all jobs that run together
    (--status-interval); 0 for never.
    """

    requests: bool = False
    average_ns: int = 0
    maxima: bool = False
    bw_window_ns: int = 500_000_000
    iops_window_ns: int = 500_000_000
    status_ns: int = 0


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
    """How a trace is read.

    `format`: what the file is; told by its first line where this is none.
    `event`: of blkparse and biosnoop: the action that counts as the request. `D`, handed to the
    driver, is what the drive saw; `Q`, queued, is what the programs asked for.
    `disk`: this disk alone, by its name or, where a host stands before it, by what follows the dot.
    """

    format: TraceFormat | None = None
    event: str = "D"
    disk: str | None = None


@dataclass(frozen=True, kw_only=True)
class Skip:
    """Requests that are left out (replay_skip), by what they do; time goes on without them.

    `read`: reads.
    `write`: writes.
    `trim`: trims.
    `sync`: flushes.
    """

    read: bool = False
    write: bool = False
    trim: bool = False
    sync: bool = False


@dataclass(frozen=True, kw_only=True)
class Shape:
    """fio's `replay_scale`, `replay_align` and `replay_skip`.

    `scale`: offsets are divided by this; at least 1.
    `align`: offsets are rounded down to multiples of this power of two; 0 for none.
    `skip`: what is left out.
    """

    scale: int = 1
    align: int = 0
    skip: Skip = Skip()


Fit = Literal["refuse", "wrap"]


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A trace that a job replays (read_iolog); its files are the job's spans, in the order of first
    mention.

    `path`: the file.
    `reading`: how it is read.
    `shape`: what is made of its requests.
    `speed_percent`: percent of the recorded speed; none for as fast as possible.
    `fit`: requests beyond the end.
    `uses`: which directions it has, as its survey says.
    """

    path: str
    reading: Reading = Reading()
    shape: Shape = Shape()
    speed_percent: int | None = 100
    fit: Fit = "refuse"
    uses: tuple[bool, bool, bool] = (True, True, True)


@dataclass(frozen=True, kw_only=True)
class Fio:
    """All that makes a job fio's. Without spans the job's own span is a file.

    Sizes and offsets may be any number of bytes: the drive gets the whole sectors that a request
    touches; trims have to be whole sectors. Once checked, spans, sizes and blocks are complete.

    `spans`: its files.
    `size`: fio's option where it is not the sum of the spans' sizes.
    `file_service`: which file comes next.
    `file_service_count`: requests to a file before the next one comes.
    `open_files`: files that are open at once, at most: another one begins when one has come to its
    end.
    `file_law`: how requests are spread over the files (file_service_type=zipf, pareto, normal),
    with `law`.
    `strides`: zones with gaps between them.
    `gate`: when it may begin.
    `synchronous`: the engine waits for each request (sync, psync): depth 1, no submission
    latencies, and a pass ends where its files end, however much that is.
    `blocks`: the sizes of requests; those of the job where it is none.
    `blocks_unaligned`: sizes are any number of bytes (bs_unaligned).
    `blocks_by_order`: the sizes of reads are for sequential requests, those of writes for random
    ones (bs_is_seq_rand).
    `random_percent`: requests in a hundred that go to random offsets (percentage_random).
    `distribution`: how random offsets are drawn.
    `random_map`: each block is asked for once a pass (not norandommap).
    `random_starts`: the map holds where requests begin, and not what they cover
    (random_generator=lfsr).
    `draws_repeat`: each pass draws the same again (not so with randrepeat=0 or a randseed).
    `sequence`: the order of addresses.
    `verify`: how data are verified. None are compared, but a pass ends as if they were.
    `files_end_once`: a later pass asks for nothing of a file whose end was reached.
    `number_ios`: requests after which the job ends; 0 for none.
    `loops`: passes.
    `time_based`: it goes on until its time is up.
    `start_ns`: when it begins (startdelay).
    `pace`: rates.
    `think`: pauses.
    `batch`: how requests are handed over and taken back.
    `flow`: its share of what several jobs do.
    `syncs`: when data has to be durable.
    `latency_target`: the latency whose depth is searched.
    `max_latency_ns`: latencies beyond which the job fails (max_latency); 0 for none.
    `steady`: its end once it is steady.
    `ends`: what ends with it.
    `logs`: what is kept beside the statistics.
    `trace`: the trace that it replays.
    """

    spans: tuple[Span, ...] = ()
    size: int | None = None
    file_service: FileService = "roundrobin"
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
    verify: Verify = "no"
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
