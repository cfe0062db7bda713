"""A job in fio's options: the one place that writes them, for drives, job files and exports.

Invariant: each field of a `Job` and of its `Fio` becomes an option here, or `unsaid` names it, and
whoever was to run the job refuses it by that name. The job works on one file, which is the whole
target; `drives/real/jobfile` says which file that is, and what else a job file needs.

Sizes are bare numbers of bytes, times whole microseconds or milliseconds, so that they are read the
same under any `kb_base`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from flashtwin.model.fio_job import Blocks, Distribution, Ends, Fio, Gate, Logs, Pace, Think
from flashtwin.model.job import Job
from flashtwin.model.units import show_number

# By name, in the order of their lines; an option without a value is a name alone.
Options = dict[str, str]

_MIXED = ("rw", "randrw")


def section_text(name: str, options: Mapping[str, str | None]) -> str:
    """A section of a job file."""
    lines = [key if value is None else f"{key}={value}" for key, value in options.items()]
    return "\n".join([f"[{name}]", *lines])


def by_direction(texts: Sequence[str]) -> str:
    """The values for reads, writes and trims, in as few parts as mean the same. An empty part
    stays as it was: `8k,` leaves writes and trims alone, `8k,4k` sets both."""
    reads, writes, trims = texts
    if writes != trims:
        return f"{reads},{writes},{trims}"
    return reads if reads == writes else f"{reads},{writes}"


def options_of(
    job: Job, *, threads: int | None = None, depth: int | None = None, logs_ramp: bool = False
) -> Options:
    """The options of a job; `threads` and `depth` where fio needs others than the job's own.

    With `logs_ramp` the ramp is a part of the runtime, so that logs have it too.
    """
    threads, depth = threads or job.threads, depth or job.depth
    options = {"rw": _pattern(job), **_sizes(job), "iodepth": str(depth), "numjobs": str(threads)}
    options |= _place(job)
    if job.fio is None or not job.fio.draws_repeat:
        options["randseed"] = str(job.seed)
    if job.rw in _MIXED:
        options["rwmixread"] = str(job.read_percent)
    if job.rw.startswith("rand") if job.fio is None else not job.fio.random_map:
        options["norandommap"] = "1"
    options |= _limits(job, threads, logs_ramp)
    if job.rate_bytes_s is not None:
        options["rate"] = _rate(job, threads)
    if job.think_ns:
        options["thinktime"] = _microseconds(job.think_ns)
    if job.compress_percent:
        options["buffer_compress_percentage"] = str(job.compress_percent)
        options["refill_buffers"] = "1"
    if job.sync:
        options["sync"] = "1"
    if job.fio is not None:
        for part in _PARTS:
            options |= part(job.fio)
    return options


def unsaid(job: Job, capacity_bytes: int | None = None) -> str | None:
    """The first field of a job that no option can say on one file of `capacity_bytes`, and why.
    Without a capacity the file may be a part of the target."""
    if job.handles:
        return "handles: a file has no placement handles"
    return next(_unsaid(job, capacity_bytes), None) if job.fio is not None else None


def smallest_bytes(job: Job) -> int:
    """The smallest of a job's requests."""
    blocks = job.fio.blocks if job.fio else None
    return min(sizes.least for sizes in blocks) if blocks else job.block_bytes


def passes(job: Job) -> int:
    """How many times a job without a limit goes over its span."""
    loops = job.fio.loops if job.fio else 1
    return loops * (1 if job.shared_stream else job.threads)


def _pattern(job: Job) -> str:
    order = job.fio.sequence if job.fio else None
    if order is None:
        return job.rw
    if job.rw.startswith("rand"):
        return job.rw if order.every == 1 else f"{job.rw}:{order.every}"
    return f"{job.rw}:{order.add_bytes}" if order.add_bytes else job.rw


def _sizes(job: Job) -> Options:
    """The sizes of requests: bssplit where there is one, else bsrange, else bs, each by
    direction."""
    blocks = job.fio.blocks if job.fio else None
    if blocks is None:
        return {"bs": str(job.block_bytes)}
    options: Options = {}
    if any(side.split for side in blocks):
        # A direction of one size is a split too; one with a range has none.
        options["bssplit"] = by_direction([_split(side) for side in blocks])
    ranges = [not side.split and side.least != side.most for side in blocks]
    if any(ranges):
        options["bsrange"] = by_direction([f"{side.least}-{side.most}" for side in blocks])
    elif not options:
        options["bs"] = by_direction([str(side.least) for side in blocks])
    if any(side.align is not None for side in blocks):
        options["ba"] = by_direction([str(side.align or side.least) for side in blocks])
    return options


def _split(sizes: Blocks) -> str:
    if sizes.split:
        return ":".join(f"{size}/{percent}" for size, percent in sizes.split)
    return f"{sizes.least}/100" if sizes.least == sizes.most else ""


def _place(job: Job) -> Options:
    """The part of its file in which the job works."""
    offset, size = job.offset, job.size
    if job.fio is not None and job.fio.spans:
        (span,) = job.fio.spans
        offset = span.start + span.offset
        size = span.bytes - span.offset if span.size is None else span.size
    options = {"offset": str(offset)}
    if size is not None:
        options["size"] = str(size)
    return options


def _limits(job: Job, threads: int, logs_ramp: bool) -> Options:
    options: Options = {}
    total, fio = job.io_bytes, job.fio
    if fio is not None:
        if total is not None:
            options["io_size"] = str(total)
    else:
        if total is None and job.runtime_s is None and threads != passes(job):
            assert job.size is not None, "a fitted job has a size"
            total = job.size * passes(job)
        if total is not None:
            blocks = -(-total // (job.block_bytes * threads))
            options["io_size"] = str(blocks * job.block_bytes)
    if job.runtime_s is not None:
        seconds = job.runtime_s + (job.ramp_s if logs_ramp else 0.0)
        options["runtime"] = f"{max(round(seconds * 1000), 1)}ms"
        if fio.time_based if fio is not None else total is None:
            options["time_based"] = "1"
    if job.ramp_s and not logs_ramp:
        options["ramp_time"] = f"{round(job.ramp_s * 1000)}ms"
    return options


def _rate(job: Job, threads: int) -> str:
    """The limits of speed. fio's are for one thread and one direction."""
    assert job.rate_bytes_s is not None, "only called for a job with a rate"
    if job.rw not in _MIXED:
        return str(max(job.rate_bytes_s // threads, 1))
    shares = (job.read_percent, 100 - job.read_percent)
    return ",".join(str(max(job.rate_bytes_s * share // (100 * threads), 1)) for share in shares)


def _microseconds(ns: int) -> str:
    """Whole microseconds, rounded up."""
    return str(-(-ns // 1000))


def _flags(**set_: bool) -> Options:
    return {name: "1" for name, value in set_.items() if value}


def _numbers(**values: int) -> Options:
    return {name: str(value) for name, value in values.items() if value}


def _times(**ns: int) -> Options:
    return {name: f"{_microseconds(value)}us" for name, value in ns.items() if value}


def _triples(**values: tuple[int, int, int]) -> Options:
    return {name: by_direction([*map(str, value)]) for name, value in values.items() if any(value)}


def _law(law: Distribution) -> str:
    if law.kind.startswith("zoned"):
        zones = law.zones[0] if law.zones else ()
        return ":".join([law.kind, *(f"{share}/{size}" for share, size in zones)])
    if law.kind == "random":
        return law.kind
    center = [] if law.center is None else [show_number(law.center)]
    return ":".join([law.kind, show_number(law.value), *center])


def _order(fio: Fio) -> Options:
    """The options for the order of the requests' offsets."""
    options = _flags(bs_unaligned=fio.blocks_unaligned, bs_is_seq_rand=fio.blocks_by_order)
    if fio.sequence.identical:
        options["rw_sequencer"] = "identical"
    if fio.random_percent != (100, 100, 100):
        options["percentage_random"] = by_direction([*map(str, fio.random_percent)])
    if fio.distribution.kind != "random":
        options["random_distribution"] = _law(fio.distribution)
    if fio.random_starts:
        options["random_generator"] = "lfsr"
    if fio.strides is not None:
        strides = fio.strides
        options |= {"zonemode": "strided", "zonesize": str(strides.size)}
        options |= {"zonerange": str(strides.range), **_numbers(zoneskip=strides.skip)}
    return options


def _files(fio: Fio) -> Options:
    options = _numbers(openfiles=fio.open_files or 0)
    count = "" if fio.file_service_count == 1 else f":{fio.file_service_count}"
    if fio.file_service == "law":
        options["file_service_type"] = _law(fio.file_law)
    elif fio.file_service != "roundrobin" or count:
        options["file_service_type"] = f"{fio.file_service}{count}"
    return options


def _passes(fio: Fio) -> Options:
    options = _numbers(number_ios=fio.number_ios, loops=fio.loops if fio.loops > 1 else 0)
    options |= {"do_verify": "0"} if fio.files_end_once else {}
    return options | _times(startdelay=fio.start_ns)


def _pace(fio: Fio) -> Options:
    pace = fio.pace
    options = _triples(
        rate=pace.bytes_s,
        rate_iops=pace.iops,
        rate_min=pace.min_bytes_s,
        rate_iops_min=pace.min_iops,
    )
    options |= {"rate_process": "poisson"} if pace.poisson else {}
    options |= _flags(rate_ignore_thinktime=pace.ignore_think)
    if pace.cycle_ns != Pace().cycle_ns:
        options["rate_cycle"] = str(max(pace.cycle_ns // 1_000_000, 1))
    return options | (_think(fio.think) if fio.think else {})


def _think(think: Think) -> Options:
    options = _times(thinktime=think.ns, thinktime_spin=think.spin_ns)
    if think.blocks is not None and (think.blocks != 1 or think.iotime_ns):
        options["thinktime_blocks"] = str(think.blocks)
    options |= {"thinktime_blocks_type": "issue"} if think.count == "issue" else {}
    return options | _times(thinktime_iotime=think.iotime_ns)


def _batch(fio: Fio) -> Options:
    """How many requests are submitted and reaped at once."""
    batch = fio.batch
    options = {"ioengine": "psync"} if fio.synchronous else {}
    options |= {"iodepth_batch": str(batch.submit)} if batch.submit != 1 else {}
    if batch.complete_min != 1:
        options["iodepth_batch_complete_min"] = str(batch.complete_min)
    options |= _numbers(
        iodepth_batch_complete_max=batch.complete_max or 0, iodepth_low=batch.low or 0
    )
    options |= _flags(serialize_overlap=batch.serialize_overlap)
    if fio.flow is not None:
        options |= {"flow": str(fio.flow.weight), **_numbers(flow_id=fio.flow.id)}
        options |= {"flow_sleep": _microseconds(fio.flow.sleep_ns)} if fio.flow.sleep_ns else {}
    return options


def _syncs(fio: Fio) -> Options:
    syncs = fio.syncs
    return _numbers(fsync=syncs.fsync_every, fdatasync=syncs.fdatasync_every) | _flags(
        end_fsync=syncs.at_end, fsync_on_close=syncs.on_close
    )


def _ends(fio: Fio) -> Options:
    """What ends a job besides its size and time, and which other jobs end with it."""
    options: Options = {}
    if any(fio.max_latency_ns):
        texts = [f"{_microseconds(ns)}us" for ns in fio.max_latency_ns]
        options["max_latency"] = by_direction(texts)
    if fio.latency_target is not None:
        target = fio.latency_target
        options |= _times(latency_target=target.ns, latency_window=target.window_ns)
        options["latency_percentile"] = show_number(target.percentile)
        options |= _flags(latency_run=target.run)
    if fio.steady is not None:
        steady = fio.steady
        slope, percent = "_slope" if steady.slope else "", "%" if steady.percent else ""
        options["steadystate"] = f"{steady.metric}{slope}:{show_number(steady.limit)}{percent}"
        options["steadystate_duration"] = f"{steady.duration_s}s"
        options |= _times(steadystate_ramp_time=steady.ramp_ns)
    ends = fio.ends
    options |= _flags(exitall=ends.all, exitall_on_error=ends.on_error)
    options |= {"exit_what": ends.what} if ends.what != Ends().what else {}
    goes_on = {(True, True): "io", (True, False): "read", (False, True): "write"}
    word = goes_on.get((ends.continue_reads, ends.continue_writes))
    return options | ({"continue_on_error": word} if word else {})


# The writers of options, each for a group of the fields of `Fio`.
_PARTS: tuple[Callable[[Fio], Options], ...] = (
    *(_order, _files, _passes, _pace, _batch, _syncs, _ends),
)


def _unsaid(job: Job, capacity_bytes: int | None) -> Iterator[str]:
    fio = job.fio
    assert fio is not None, "every option says what a plain job has"
    for name, usual in (("threads", 1), ("shared_stream", False)):
        if getattr(job, name) != usual:
            yield f"{name}: a process of fio's is one thread with a stream of its own"
    for name in ("rate_bytes_s", "think_ns"):
        if getattr(job, name):
            yield f"{name}: a job of fio's has it in fio.pace and fio.think"
    yield from _unsaid_place(job, fio, capacity_bytes)
    if fio.trace is not None:
        yield "fio.trace: a trace names files of its own, and fio would write to them"
    if fio.verify != "no":
        yield "fio.verify: what is read back would count as asked for"
    if fio.files_end_once and (fio.loops > 1 or fio.time_based):
        yield "fio.files_end_once: fio has it for jobs of one pass only"
    if fio.gate != Gate():
        yield "fio.gate: which job waits for which is decided by the steps"
    if fio.logs != Logs():
        yield "fio.logs: the logs of fio are those that the series is made of"
    if (fio.ends.all or fio.ends.on_error) and fio.ends.what != "all":
        yield "fio.ends.what: each job is a group of its own, and only all jobs end together"
    if fio.steady is not None and fio.steady.group is not None:
        yield "fio.steady.group: each job is a group of its own"


def _unsaid_place(job: Job, fio: Fio, capacity_bytes: int | None) -> Iterator[str]:
    if len(fio.spans) > 1:
        yield f"fio.spans: it has {len(fio.spans)} files, and here is one"
    elif fio.spans:
        span = fio.spans[0]
        if capacity_bytes is not None and (span.start, span.bytes) != (0, capacity_bytes):
            yield "fio.spans: its file is not the whole target"
        if span.endless or span.again is not None:
            yield "fio.spans: its file has an end, and each pass begins where the first did"
    if fio.size is not None:
        yield "fio.size: it is not the size of the job's file"
    random = job.rw.startswith("rand")
    if fio.sequence.add_bytes if random else fio.sequence.every != 1:
        yield f"fio.sequence: rw={job.rw} takes the other number"
    if fio.random_map and fio.distribution.kind != "random":
        yield "fio.random_map: fio keeps no map of what was drawn by a distribution"
    grains = any(side.align not in (None, side.least) for side in fio.blocks or ())
    if random and fio.random_starts and grains:
        yield "fio.blocks.align: fio leaves random_generator=lfsr without a start beside it"
    leasts = {side.least for side in fio.blocks or ()}
    if random and fio.random_starts and not fio.random_map and len(leasts) > 1:
        yield "fio.blocks: without a map fio's lfsr ends at the first block past the file"
    if len(set(fio.distribution.zones)) > 1:
        yield "fio.distribution.zones: fio takes one list of zones for all directions"
