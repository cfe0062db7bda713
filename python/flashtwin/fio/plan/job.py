"""One process of fio's as a job of the core: the options of the table to the fields of `Fio`.

Nothing is decided here that fio does not decide: what contradicts itself is refused with its line,
what fio changes by itself (a depth that a synchronous engine cannot keep, `time_based` without a
runtime) is changed, and the reader told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.kinds import Percent
from flashtwin.fio.language.script import Note
from flashtwin.fio.language.table import SYNCHRONOUS
from flashtwin.fio.plan.files import Layout, Part
from flashtwin.fio.plan.processes import Clone, blocks
from flashtwin.model.fio_job import (
    Batch,
    Distribution,
    Ends,
    Fio,
    Flow,
    LatencyTarget,
    Logs,
    Pace,
    Span,
    Steady,
    Strides,
    Syncs,
    Think,
    Triple,
)
from flashtwin.model.fio_job import Sequence as Order
from flashtwin.model.job import Job

# Options that make a log's times those of the wall clock.
EPOCHS = ("log_unix_epoch", "log_alternate_epoch")
_LOGS = ("write_bw_log", "write_lat_log", "write_iops_log")


def core_job(clone: Clone, parts: Sequence[Part], layout: Layout, *, replays: bool = False) -> Job:
    """The core's job of a process; one that replays a trace has no size of its own."""
    job = clone.job
    sizes = blocks(job)
    if replays:
        total = sum(part.size for part in parts)
    else:
        total = _size(job, parts, min(block.least for block in sizes))
    synchronous = _is_synchronous(job)
    direction = {"write": 1, "trim": 2}.get(job["rw"].rw.removeprefix("rand"), 0)
    runtime_us = job["runtime"]
    return Job(
        name=job.name,
        rw=job["rw"].rw,
        block_bytes=sizes[direction].least,
        depth=1 if synchronous else job["iodepth"],
        io_bytes=_io_bytes(job),
        runtime_s=runtime_us / 1e6 if runtime_us else None,
        ramp_s=job["ramp_time"] / 1e6,
        read_percent=_reads(job),
        compress_percent=_compress(job),
        handles=_handles(job),
        sync=job["sync"] != "none" or bool(job["writefua"]),
        seed=_seed(clone),
        fio=_fio(clone, parts, layout, total, synchronous),
    )


def _fio(clone: Clone, parts: Sequence[Part], layout: Layout, total: int, synchronous: bool) -> Fio:
    job = clone.job
    pattern = job["rw"]
    service = job["file_service_type"]
    check_law(job, len(parts))
    check_generator(job)
    spans = tuple(_span(part, layout) for part in parts)
    uniform = job["random_distribution"].name == "random"
    return Fio(
        spans=spans,
        size=total if total != sum(part.size for part in parts) else None,
        file_service="law" if service.value is not None else service.name,
        file_service_count=service.every,
        open_files=job["openfiles"] or None,
        file_law=Distribution(
            kind=service.name if service.value is not None else "random",
            value=service.value or 0.0,
            center=service.center,
        ),
        strides=strides(job, parts),
        synchronous=synchronous,
        blocks=blocks(job),
        blocks_unaligned=job["bs_unaligned"],
        blocks_by_order=job["bs_is_seq_rand"],
        random_percent=job.by_direction("percentage_random"),
        distribution=_distribution(job),
        random_map=not job["norandommap"] and uniform and not _aligned(job),
        random_starts=job["random_generator"] == "lfsr",
        draws_repeat=job["randrepeat"] and not job.has("randseed"),
        sequence=Order(
            every=pattern.every,
            add_bytes=pattern.skip,
            identical=job["rw_sequencer"] == "identical",
        ),
        verify=_verify(job),
        files_end_once=not (job["do_verify"] or job["loops"] > 1 or job["time_based"]),
        number_ios=job["number_ios"],
        loops=max(job["loops"], 1),
        time_based=bool(job["time_based"] and job["runtime"]),
        start_ns=_start_us(clone) * 1000,
        pace=_pace(job),
        think=_think(job),
        batch=_batch(job, synchronous),
        flow=_flow(job),
        syncs=Syncs(
            fsync_every=job["fsync"],
            fdatasync_every=job["fdatasync"],
            at_end=job["end_fsync"],
            on_close=job["fsync_on_close"],
        ),
        latency_target=_latency_target(job),
        max_latency_ns=_triple(job["max_latency"], 1000),
        steady=_steady(clone),
        ends=_ends(clone),
        logs=_logs(job),
    )


def _verify(job: FioJob) -> Literal["no", "later", "reads_back"]:
    """What fio does with the data that a job writes. A twin leaves out what fio reads back for
    it."""
    if job["verify"] in (None, "0"):
        return "no"
    if job["verify_state_load"] and job["rw"].rw in ("read", "randread"):
        raise JobFileError(
            job.line("verify_state_load"),
            f"job {job.name} ends where an earlier job's verify_state file says, and a twin writes"
            " no such file",
            hint="leave verify_state_load out, and say with number_ios how many reads there are",
        )
    writes = "write" in job["rw"].rw or job["rw"].rw.endswith("rw")
    if not (job["do_verify"] and writes):
        return "later"
    if 0 < (job["verify_backlog"] or 0) <= (job["number_ios"] or 0):
        raise JobFileError(
            job.line("verify_backlog"),
            f"job {job.name} ends after number_ios requests, and fio counts among them what"
            " verify_backlog reads back; a twin reads nothing back",
            hint="leave verify_backlog out, or say with io_size how much is written",
        )
    return "reads_back"


def _is_synchronous(job: FioJob) -> bool:
    """Whether an engine waits for each request; the null engine does at a depth of 1."""
    return job["ioengine"] in SYNCHRONOUS or (job["ioengine"] == "null" and job["iodepth"] == 1)


def _span(part: Part, layout: Layout) -> Span:
    start, length = layout.place(part)
    return Span(
        start=start,
        bytes=length,
        offset=part.offset,
        size=part.size,
        again=part.later_offset if part.later_offset != part.offset else None,
        endless=part.endless,
    )


def _size(job: FioJob, parts: Sequence[Part], least: int) -> int:
    """fio's `size`: what one pass asks for, over all files; `io_size` in percent is of these."""
    share = job["io_size"].percent if isinstance(job["io_size"], Percent) else 100
    reach = sum(part.size * share // 100 for part in parts)
    size = job["size"]
    total = reach if size is None or isinstance(size, Percent) else min(int(size) or reach, reach)
    if total < least:
        raise JobFileError(
            job.line("size"),
            f"job {job.name} has {total} bytes to work on, and its blocks are {least}",
            hint="raise size, or lower bs",
        )
    return total


def _io_bytes(job: FioJob) -> int | None:
    size = job["io_size"]
    return None if isinstance(size, Percent) or not size else int(size)


def _reads(job: FioJob) -> int:
    """rwmixread and rwmixwrite say the same; the one that was written last holds."""
    written = [name for name in job.settings if name in ("rwmixread", "rwmixwrite")]
    if not written:
        return 50
    value = int(job[written[-1]])
    return value if written[-1] == "rwmixread" else 100 - value


def _compress(job: FioJob) -> int:
    """How compressible the data is. A pattern fills the compressible part, or everything where
    no part is given."""
    if job["buffer_compress_percentage"]:
        return int(job["buffer_compress_percentage"])
    return 100 if job["zero_buffers"] or job["buffer_pattern"] else 0


def _handles(job: FioJob) -> tuple[int, ...]:
    """The placement handles of a job with `fdp=1`: numbers and ranges of them, taken in turn."""
    text = str(job["fdp_pli"] or "")
    if not job["fdp"] or not text:
        return ()
    handles: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and max(len(first), len(last)) < 4):
            raise JobFileError(
                job.line("fdp_pli"),
                f"job {job.name} has fdp_pli={text}, which is not a list of placement handles",
                hint="write numbers below 1000 and ranges of them, as in 0,2-4",
            )
        handles.extend(range(int(first), int(last) + 1))
    return tuple(handles)


def _seed(clone: Clone) -> int:
    """The random seed of a process; the core adds the twin's seed."""
    text = f"{clone.job['randseed']}/{clone.thread}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def _start_us(clone: Clone) -> int:
    low, high = clone.job["startdelay"]
    if low == high:
        return int(low)
    text = f"startdelay/{clone.job['randseed']}/{clone.thread}"
    share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
    return int(low + share * (high - low))


def _distribution(job: FioJob) -> Distribution:
    option = job["random_distribution"]
    return Distribution(
        kind=option.name,
        value=option.value or 0.0,
        center=option.center,
        zones=(option.zones,) * 3 if option.zones else (),
    )


def _aligned(job: FioJob) -> bool:
    """Whether a grain is not the block's own, which leaves fio without a random map."""
    return any(block.align not in (None, block.least) for block in blocks(job))


def _triple(value: Any, factor: int = 1) -> Triple:
    numbers = [(number or 0) * factor for number in (value or (0, 0, 0))]
    return (numbers[0], numbers[1], numbers[2])


def _pace(job: FioJob) -> Pace:
    pace = Pace(
        bytes_s=_triple(job["rate"]),
        iops=_triple(job["rate_iops"]),
        poisson=job["rate_process"] == "poisson",
        ignore_think=job["rate_ignore_thinktime"],
        min_bytes_s=_triple(job["rate_min"]),
        min_iops=_triple(job["rate_iops_min"]),
        cycle_ns=max(job["rate_cycle"], 1) * 1_000_000,
    )
    for byte, count, name in (
        (pace.bytes_s, pace.iops, "rate_iops"),
        (pace.min_bytes_s, pace.min_iops, "rate_iops_min"),
    ):
        if any(byte) and any(count):
            raise JobFileError(
                job.line(name),
                f"rate and rate_iops exclude one another, and job {job.name} has both",
                hint="leave one of them out",
            )
    for most, least, name in (
        (pace.bytes_s, pace.min_bytes_s, "rate_min"),
        (pace.iops, pace.min_iops, "rate_iops_min"),
    ):
        if any(top and top < low for top, low in zip(most, least, strict=True)):
            raise JobFileError(
                job.line(name), f"{name} is above the rate itself", hint=f"lower {name}"
            )
    return pace


def _think(job: FioJob) -> Think | None:
    if not job["thinktime"]:
        return None
    by_time = bool(job["thinktime_iotime"])
    return Think(
        ns=job["thinktime"] * 1000,
        spin_ns=min(job["thinktime_spin"], job["thinktime"]) * 1000,
        blocks=None
        if by_time and not job.has("thinktime_blocks")
        else job["thinktime_blocks"] or 1,
        count=job["thinktime_blocks_type"],
        iotime_ns=job["thinktime_iotime"] * 1000,
    )


def _batch(job: FioJob, synchronous: bool) -> Batch:
    """fio bounds what goes beyond the depth; zero stands for the depth, but for completions."""
    depth = 1 if synchronous else job["iodepth"]
    least = min(job["iodepth_batch_complete_min"], depth)
    most = min(job["iodepth_batch_complete_max"], depth)
    low = job["iodepth_low"]
    writes = job["rw"].rw not in ("read", "randread")
    return Batch(
        submit=min(job["iodepth_batch"], depth) or depth,
        complete_min=least,
        complete_max=most if most > least else None,
        low=low if 0 < low <= depth else None,
        serialize_overlap=bool(job["serialize_overlap"] and writes and depth > 1),
    )


def _flow(job: FioJob) -> Flow | None:
    if not job["flow"]:
        return None
    return Flow(weight=job["flow"], id=job["flow_id"], sleep_ns=job["flow_sleep"] * 1000)


def _latency_target(job: FioJob) -> LatencyTarget | None:
    if not job["latency_target"]:
        return None
    return LatencyTarget(
        ns=job["latency_target"] * 1000,
        window_ns=job["latency_window"] * 1000,
        percentile=job["latency_percentile"],
        run=job["latency_run"],
    )


def _steady(clone: Clone) -> Steady | None:
    job, criterion = clone.job, clone.job["steadystate"]
    seconds = job["steadystate_duration"] // 1_000_000
    if criterion is None or not seconds:
        return None
    return Steady(
        metric="iops" if criterion.watched.startswith("iops") else "bw",
        slope=criterion.watched.endswith("slope"),
        limit=criterion.limit,
        percent=criterion.percent,
        duration_s=seconds,
        ramp_ns=job["steadystate_ramp_time"] * 1000,
        group=clone.group if job["group_reporting"] else None,
    )


def _ends(clone: Clone) -> Ends:
    job = clone.job
    goes_on = job["continue_on_error"] or "none"
    return Ends(
        all=job["exitall"],
        on_error=job["exitall_on_error"],
        what=job["exit_what"],
        group=clone.group,
        continue_reads=goes_on in ("read", "io", "all"),
        continue_writes=goes_on in ("write", "io", "all"),
    )


def _logs(job: FioJob) -> Logs:
    average_ms = job["log_avg_msec"]
    each = any(job.has(name) for name in _LOGS) and not average_ms
    by_request = each or job.has("write_iolog") or job.has("write_hist_log")
    return Logs(
        requests=by_request,
        average_ns=average_ms * 1_000_000 if any(job.has(name) for name in _LOGS) else 0,
        maxima=job["log_max_value"],
        bw_window_ns=_window(job, "bwavgtime", "write_bw_log") * 1_000_000,
        iops_window_ns=_window(job, "iopsavgtime", "write_iops_log") * 1_000_000,
    )


def _window(job: FioJob, name: str, log: str) -> int:
    """The sampling interval: that of fio's log where there is one, unless another is given."""
    if job.has(log) and job["log_avg_msec"]:
        own = int(job[name]) if job.has(name) else int(job["log_avg_msec"])
        return max(min(own, int(job["log_avg_msec"])), 1)
    return max(int(job[name]), 1)


def notes_on_changes(job: FioJob) -> list[Note]:
    """Notes on what fio changes by itself in a job."""
    notes = []
    if job["ioengine"] in SYNCHRONOUS and job["iodepth"] > 1:
        notes.append(
            Note(
                where=job.line("iodepth"),
                text=f"ioengine={job['ioengine']} keeps one request outstanding, as in fio: iodepth"
                " counts with an asynchronous one, for example libaio",
            )
        )
    if job["time_based"] and not job["runtime"]:
        notes.append(
            Note(where=job.line("time_based"), text="time_based does nothing without a runtime")
        )
    if job["steadystate"] and job["steadystate_duration"] < 1_000_000:
        notes.append(
            Note(
                where=job.line("steadystate"),
                text="steadystate does nothing without steadystate_duration, as in fio",
            )
        )
    if job["write_iolog"] and job["numjobs"] > 1:
        notes.append(
            Note(
                where=job.line("write_iolog"),
                text=f"the {job['numjobs']} copies of job {job.name} are in {job['write_iolog']}"
                " one behind the other; those of fio mix there in pieces of 8 KiB",
            )
        )
    notes += [
        Note(
            where=job.line(name),
            text=f"{name}: a twin's clock begins with the run, so that it is the same each time:"
            " the times of logs count from there",
        )
        for name in EPOCHS
        if job[name]
    ]
    return notes


def check_law(job: FioJob, files: int) -> None:
    """fio keeps one number and one centre for both laws of a job."""
    service, spread = job["file_service_type"], job["random_distribution"]
    if service.value is None or files == 1 or service.name != spread.name:
        return
    if (service.value, service.center) != (spread.value, spread.center):
        raise JobFileError(
            job.line("file_service_type"),
            f"file_service_type and random_distribution have different numbers for {service.name},"
            " and fio keeps one of them for both",
            hint="write the same numbers in both",
        )


def check_generator(job: FioJob) -> None:
    """fio starts its shift register with its random map, which a grain of its own does away with:
    whether a process makes requests at all is then up to what lies in memory."""
    random = job["rw"].rw.startswith("rand")
    if random and job["random_generator"] == "lfsr" and _aligned(job):
        raise JobFileError(
            job.line("ba"),
            "with ba, fio does not start the generator of random_generator=lfsr, and the job may"
            " make no requests at all",
            hint="leave random_generator out, or write ba as the block size",
        )
    leasts = {block.least for block in blocks(job)}
    if random and job["random_generator"] == "lfsr" and job["norandommap"] and len(leasts) > 1:
        raise JobFileError(
            job.line("norandommap"),
            "without a map fio's random_generator=lfsr counts blocks of the smallest size of any"
            " direction, and the job ends at the first one past its file",
            hint="leave norandommap or random_generator out, or give all directions one least size",
        )


def strides(job: FioJob, parts: Sequence[Part]) -> Strides | None:
    """fio's zones with gaps, where they have an effect."""
    if job["zonemode"] != "strided":
        if job["zonesize"]:
            raise JobFileError(
                job.line("zonesize"),
                "zonesize without zones, which fio refuses",
                hint="add zonemode=strided, or leave zonesize out",
            )
        return None
    if not job["zonesize"]:
        raise JobFileError(
            job.line("zonemode"), "zonemode=strided needs a zonesize", hint="add zonesize=, e.g. 1m"
        )
    if (job["openfiles"] or 0) > 1:
        # fio has zones where it opens a file at a time, or is not told how many. It forgets the
        # zonemode then, but not the zonesize, before it makes the copies of a job.
        if job["numjobs"] > 1:
            raise JobFileError(
                job.line("zonemode"),
                f"openfiles={job['openfiles']} leaves no zones, which fio refuses with numjobs",
                hint="leave zonemode and zonesize out, or write openfiles=1",
            )
        return None
    if "trimwrite" in job["rw"].rw:
        raise JobFileError(
            job.line("zonemode"),
            f"zones are not possible on a simulated drive with rw={job['rw'].rw}",
            hint="write or trim them",
        )
    if any(part.endless for part in parts):
        raise JobFileError(
            job.line("zonemode"),
            "the zones never end: fio's null engine does not know how long the file is",
            hint="write size in bytes, or take another ioengine",
        )
    return Strides(
        size=job["zonesize"],
        range=job["zonerange"] or job["zonesize"],
        skip=job["zoneskip"],
    )
