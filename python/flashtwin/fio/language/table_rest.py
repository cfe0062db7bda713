"""The options that do nothing on a simulated drive, and those that are refused.

An option is noted where a reader could expect something of it; it is refused where leaving it out
would give another stream of requests than the one that was asked for.
"""

from __future__ import annotations

from flashtwin.fio.language.kinds import Choice, Flag, Real, Reals, Size, Text, Whole
from flashtwin.fio.language.option import Option, Role

_UINT = 2**32 - 1
_BARE = Flag(bare=True)
_TEXT = Text()
_FLAG = Flag()
_WHOLE = Whole(most=_UINT)

CHECKSUMS = (
    "0",
    "md5",
    "crc64",
    "crc32",
    "crc32c-intel",
    "crc32c",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "meta",
    "pattern",
    "null",
)


def _row(
    role: Role, name: str, kind: object, says: str, inert: tuple[object, ...], aliases: str
) -> Option:
    return Option(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        role=role,
        says=says,
        inert=inert,
        aliases=tuple(aliases.split()),
    )


def _silent(name: str, kind: object, says: str, aliases: str = "") -> Option:
    return _row(Role.SILENT, name, kind, says, (), aliases)


def _noted(name: str, kind: object, says: str, *inert: object, aliases: str = "") -> Option:
    return _row(Role.NOTED, name, kind, says, inert, aliases)


def _refused(name: str, kind: object, says: str, *inert: object, aliases: str = "") -> Option:
    return _row(Role.REFUSED, name, kind, says, inert, aliases)


_CACHE = "the host's page cache is not simulated: requests go to the drive"
_CPU = "the host's processors are not simulated"
_FILES = "no file is made: a file is a span of the drive"
_VERIFY = "belongs to verify"
_PROFILE = "belongs to a profile (tiobench, act): alone fio does nothing with it"
_MERGE = "traces are not merged: merge them with fio, then replay the result"

SILENT = (
    _silent("direct", _FLAG, _CACHE),
    _silent("buffered", _FLAG, _CACHE),
    _silent("invalidate", _FLAG, _CACHE),
    _silent("fadvise_hint", Choice(words=("0", "1", "random", "sequential")), _CACHE),
    _silent("thread", _BARE, _CPU),
    _silent("cpumask", _WHOLE, _CPU),
    _silent("cpus_allowed", _TEXT, _CPU),
    _silent("cpus_allowed_policy", Choice(words=("shared", "split")), _CPU),
    _silent("numa_cpu_nodes", _TEXT, _CPU),
    _silent("numa_mem_policy", _TEXT, _CPU),
    _silent("nice", Whole(least=-20, most=19), _CPU),
    _silent("prio", Whole(most=7), "priorities end in the host's queue"),
    _silent("prioclass", Whole(most=3), "priorities end in the host's queue"),
    _silent("ioscheduler", _TEXT, "the host's queue is not simulated"),
    _silent("cgroup", _TEXT, _CPU),
    _silent("cgroup_weight", Whole(least=100, most=1000), _CPU),
    _silent("cgroup_nodelete", _FLAG, _CPU),
    _silent("uid", _WHOLE, "no process is started"),
    _silent("gid", _WHOLE, "no process is started"),
    _silent("mem", _TEXT, "the host's memory is not simulated", "iomem"),
    _silent("iomem_align", Whole(least=1), "the host's memory is not simulated", "mem_align"),
    _silent("lockmem", Whole(), "the host's memory is not simulated"),
    _silent("hugepage-size", Whole(), "the host's memory is not simulated"),
    _silent(
        "clocksource",
        Choice(words=("gettimeofday", "clock_gettime", "cpu")),
        "the clock is the twin's",
    ),
    _silent("gtod_cpu", _WHOLE, "the clock is the twin's"),
    _silent("fallocate", _TEXT, _FILES),
    _silent("overwrite", _FLAG, _FILES),
    _silent("lockfile", Choice(words=("none", "exclusive", "readwrite")), _FILES),
    _silent("unique_filename", _FLAG, _FILES),
    _silent("create_serialize", _FLAG, _FILES),
    _silent("create_fsync", _FLAG, _FILES),
    _silent("create_on_open", _FLAG, _FILES),
    _silent("allow_file_create", _FLAG, _FILES),
    _silent("allow_mounted_write", _FLAG, _FILES),
    _silent("unlink", _FLAG, _FILES),
    _silent("unlink_each_loop", _FLAG, _FILES),
    _silent("disk_util", _FLAG, "the counters of the host's block layer do not exist"),
    _silent("scramble_buffers", _FLAG, "no two blocks of a twin are alike either way"),
    _silent("buffer_compress_chunk", Whole(), "a twin compresses by its own unit"),
    _silent("dedupe_mode", Choice(words=("repeat", "working_set")), "see dedupe_percentage"),
    _silent("dedupe_working_set_percentage", Whole(most=100), "see dedupe_percentage"),
    _silent("dedupe_global", _FLAG, "see dedupe_percentage"),
    _silent("error_dump", _FLAG, "no error carries data"),
    _silent("ignore_error", _TEXT, "no error of a host's occurs"),
    _silent(
        "continue_on_error",
        Choice(
            words=("none", "read", "write", "io", "verify", "all"),
            others=(("0", "none"), ("1", "all")),
        ),
        "a request that a worn drive answers with an error is counted, and the job goes on",
    ),
    _silent("log_entries", Whole(least=1024, most=1048576), "logs grow by themselves"),
    _silent("log_compression", Whole(least=1024, most=512 << 20), "logs are written as text"),
    _silent("log_compression_cpus", _TEXT, _CPU),
    _silent("read_iolog_chunked", _FLAG, "traces are always read in pieces"),
    _silent("verify_interval", Whole(least=80), _VERIFY),
    _silent("verify_offset", Whole(least=40), _VERIFY),
    _silent("verify_pattern", _TEXT, _VERIFY),
    _silent("verify_fatal", _FLAG, _VERIFY),
    _silent("verify_dump", _FLAG, _VERIFY),
    _silent("verify_async", _WHOLE, _VERIFY),
    _silent("verify_async_cpus", _TEXT, _VERIFY),
    _silent("verify_backlog_batch", _WHOLE, _VERIFY),
    _silent("verify_state_load", _FLAG, "refused where a job of reads verifies; else no effect"),
    _silent("verify_state_save", _FLAG, _VERIFY),
    _silent("verifysort", _FLAG, "fio dropped it"),
    _silent("verifysort_nr", _WHOLE, "fio dropped it"),
    _silent("flow_watermark", Whole(), "fio dropped it"),
    _silent("experimental_verify", _FLAG, _VERIFY),
    _silent("trim_verify_zero", _FLAG, "belongs to trim_backlog"),
    _silent("trim_backlog_batch", _WHOLE, "belongs to trim_backlog"),
    _silent("read_beyond_wp", _FLAG, "belongs to zonemode=zbd"),
    _silent("max_open_zones", Whole(most=4096), "belongs to zonemode=zbd"),
    _silent("job_max_open_zones", Whole(most=4096), "belongs to zonemode=zbd"),
    _silent("ignore_zone_limits", _FLAG, "belongs to zonemode=zbd"),
    _silent("zone_reset_threshold", Real(least=0, most=1), "belongs to zonemode=zbd"),
    _silent("zone_reset_frequency", Real(least=0, most=1), "belongs to zonemode=zbd"),
    _silent("zonecapacity", Size(), "belongs to zonemode=zbd"),
)

NOTED = (
    _noted(
        "verify",
        Choice(words=CHECKSUMS),
        "a twin holds no data: nothing is compared, and the pass in which fio reads back what a job"
        " wrote is left out (a job of rw=read behind it makes those reads)",
        "0",
    ),
    _noted(
        "verify_backlog",
        Whole(),
        "the reads with which fio verifies between the writes are left out",
        0,
    ),
    _noted("pre_read", _FLAG, _CACHE, False),
    _noted("exec_prerun", _TEXT, "commands of a job file are never executed"),
    _noted("exec_postrun", _TEXT, "commands of a job file are never executed"),
    _noted("atomic", _FLAG, "each request is whole on a twin", False),
    _noted(
        "io_submit_mode",
        Choice(words=("inline", "offload")),
        "the host's threads are not simulated: requests are handed over as they come",
        "inline",
    ),
    _noted("write_barrier", _WHOLE, "no engine of fio's does anything for it", 0),
    _noted("sync_file_range", _TEXT, _CACHE),
    _noted(
        "write_hint",
        Choice(words=("none", "short", "medium", "long", "extreme")),
        "hints are not passed to the drive",
        "none",
    ),
    _noted("dedupe_percentage", Whole(most=100), "no drive of the catalogue deduplicates", 0),
    _noted(
        "buffer_pattern",
        _TEXT,
        "a repeated pattern is taken as data that compresses away, as zero_buffers",
    ),
    _noted("trim_percentage", Whole(most=100), "does nothing without trim_backlog", 0),
    _noted(
        "log_store_compressed", _FLAG, "logs are written as text: compress them afterwards", False
    ),
    _noted("threads", _WHOLE, f"{_PROFILE}; thread and numjobs are others"),
    _noted("dir", _TEXT, f"{_PROFILE}; directory is another"),
    _noted("block", Whole(), f"{_PROFILE}; bs is another"),
    _noted("numruns", _WHOLE, f"{_PROFILE}; loops is another"),
    _noted("block_error_percentiles", _FLAG, "no block fails before the drive's end", False),
)

REFUSED = (
    _refused(
        "opendir", _TEXT, "files of this machine are no part of a twin: name them in filename"
    ),
    _refused("file_append", _FLAG, "a span of a drive has no end to append to", False),
    _refused("verify_only", _BARE, "a twin holds no data to verify", False),
    _refused("trim_backlog", Whole(), "trims of verified blocks need data to verify", 0),
    _refused("merge_blktrace_file", _TEXT, _MERGE),
    _refused("merge_blktrace_scalars", Reals(least=0, most=1e9), _MERGE),
    _refused("merge_blktrace_iters", Reals(least=0, most=1e9), _MERGE),
    _refused(
        "zonemode",
        Choice(words=("none", "strided", "zbd")),
        "drives with zones (zbd) are not simulated; strided goes through a file with gaps",
        "none",
        "strided",
    ),
    _refused("profile", Choice(words=("tiobench", "act")), "write its jobs out in a job file"),
    _refused("rwmixcycle", _WHOLE, "fio dropped it: leave it out"),
)

ROWS = (*SILENT, *NOTED, *REFUSED)
