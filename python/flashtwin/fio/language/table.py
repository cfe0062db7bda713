"""The table of all options: by name or alias, and what was probably meant by a name in none.

The rows of the options that do nothing on a simulated drive stand here, and of those that are
refused: an option is noted where a reader could expect something of it; it is refused where leaving
it out would give another stream of requests than the one that was asked for. Engines that reach a
drive or a file are all the same here: the twin answers. Those that do something else (network,
processor, file tables) are refused, as their requests reach no drive.

Invariant: every option that fio 3.33 tells of (`--cmdhelp=all`) has exactly one row, and a name
stands in one row only; `tests/fio` asks fio.
"""

from __future__ import annotations

import difflib
from functools import cache

from flashtwin.fio.language.kinds import Choice, Directions, Flag, Real, Reals, Size, Text, Whole
from flashtwin.fio.language.options import OUTPUT, STREAM, Option, Role, row

_UINT = 2**32 - 1
_BARE = Flag(bare=True)

# One request a thread, whatever iodepth says.
SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"})

ASYNCHRONOUS = frozenset(
    {
        "libaio",
        "io_uring",
        "io_uring_cmd",
        "posixaio",
        "solarisaio",
        "windowsaio",
        "rbd",
        "rados",
        "sg",
        "null",
        "nbd",
        "gfapi",
        "gfapi_async",
        "pmemblk",
        "dev-dax",
        "libpmem",
        "libpmem2",
        "libblkio",
        "libiscsi",
        "libzbc",
        "mtd",
        "nfs",
        "http",
        "libhdfs",
        "xnvme",
        "ime_psync",
        "ime_psyncv",
        "ime_aio",
        "dfs",
    }
)

# Engines that are loaded from elsewhere, whose source has job files of its own.
PLUGINS = frozenset({"external", "spdk", "spdk_bdev"})

ELSEWHERE = {
    "net": "a network connection",
    "netsplice": "a network connection",
    "rdma": "a network connection",
    "librpma_apm_client": "a network connection",
    "librpma_apm_server": "a network connection",
    "librpma_gpspm_client": "a network connection",
    "librpma_gpspm_server": "a network connection",
    "libcufile": "a graphics processor",
    "cpuio": "the processor",
    "exec": "a program",
    "e4defrag": "a file system's tables",
    "falloc": "a file system's tables",
    "ftruncate": "a file system's tables",
    "filecreate": "a file system's tables",
    "filestat": "a file system's tables",
    "filedelete": "a file system's tables",
    "fileoperation": "a file system's tables",
    "dircreate": "a file system's tables",
    "dirstat": "a file system's tables",
    "dirdelete": "a file system's tables",
}


def engine_of(written: str) -> str:
    """The engine's name; a path to a plug-in is `external`."""
    name = written.partition(":")[0]
    return "external" if "/" in name or name.endswith(".so") else name


_URING = ("io_uring", "io_uring_cmd")
_CMDPRIO = ("libaio", *_URING)
_HOST = "how the host hands requests over is not simulated"
_PLACE = "where the engine finds its storage: here it is the twin"
_STORE = "how the engine stores objects is not simulated"
_SPDK = ("spdk", "spdk_bdev")
_XNVME = ("be", "async", "sync", "admin")


_HTTP = (
    "host",
    "user",
    "pass",
    "s3_key",
    "s3_keyid",
    "s3_region",
    "s3_sse_customer_key",
    "s3_sse_customer_algorithm",
    "s3_storage_class",
    "swift_auth_token",
    "mode",
    "verbose",
)
# Of SPDK's two plug-ins, whose job files are many.
_SPDK_OPTIONS = (
    "conf_file",
    "digest_enable",
    "disable_pcie_sgl_merge",
    "enable_sgl",
    "enable_vmd",
    "env_context",
    "hostnqn",
    "json_conf",
    "log_flags",
    "mem_size_mb",
    "print_qid_mappings",
    "sge_size",
    "shm_id",
    "spdk_conf",
    "spdk_env_context",
    "spdk_json_conf",
    "spdk_log_flags",
    "spdk_mem",
    "spdk_rpc_listen_addr",
    "spdk_single_seg",
)


def _silent(
    name: str, kind: object, says: str, aliases: str = "", *, engines: tuple[str, ...] = ()
) -> Option:
    return row(Role.SILENT, name, kind, says, None, *aliases.split(), engines=engines)


def _of_engine(name: str, kind: object, says: str, *engines: str) -> Option:
    return _silent(name, kind, says, engines=engines)


def _noted(name: str, kind: object, says: str, *inert: object, aliases: str = "") -> Option:
    return row(Role.NOTED, name, kind, says, None, *aliases.split(), inert=inert)


def _refused(name: str, kind: object, says: str, *inert: object, aliases: str = "") -> Option:
    return row(Role.REFUSED, name, kind, says, None, *aliases.split(), inert=inert)


ENGINES = (
    _of_engine("hipri", _BARE, _HOST, *_URING, "pvsync2", "xnvme"),
    _of_engine("hipri_percentage", Whole(most=100), _HOST, "pvsync2"),
    _of_engine("uncached", Whole(most=_UINT), _HOST, *_URING, "pvsync2"),
    _of_engine("nowait", Flag(), _HOST, *_CMDPRIO, "pvsync2"),
    _of_engine("userspace_reap", _BARE, _HOST, "libaio"),
    _of_engine("cmdprio_percentage", Directions(each=Whole(most=100)), _HOST, *_CMDPRIO),
    _of_engine("cmdprio_class", Directions(each=Whole(least=1, most=3)), _HOST, *_CMDPRIO),
    _of_engine("cmdprio", Directions(each=Whole(most=7)), _HOST, *_CMDPRIO),
    _of_engine("cmdprio_bssplit", Text(), _HOST, *_CMDPRIO),
    _of_engine("fixedbufs", _BARE, _HOST, *_URING),
    _of_engine("registerfiles", _BARE, _HOST, *_URING),
    _of_engine("sqthread_poll", _BARE, _HOST, *_URING, "xnvme"),
    _of_engine("sqthread_poll_cpu", Whole(most=_UINT), _HOST, *_URING),
    _of_engine("nonvectored", Whole(most=_UINT), _HOST, *_URING),
    _of_engine("force_async", Whole(most=_UINT), _HOST, *_URING),
    _of_engine("cmd_type", Choice(words=("nvme",)), _HOST, *_URING),
    _of_engine("uri", Text(), _PLACE, "nbd"),
    _of_engine("readfua", Flag(), _HOST, "sg"),
    row(
        Role.STREAM,
        "writefua",
        Flag(),
        "each write counts when it is on flash, as sync",
        False,
        engines=("sg",),
    ),
    row(
        Role.REFUSED,
        "sg_write_mode",
        Choice(
            words=(
                "write",
                "write_and_verify",
                "verify",
                "write_same",
                "write_same_ndob",
                "write_stream",
                "verify_bytchk_00",
                "verify_bytchk_01",
                "verify_bytchk_11",
            ),
            others=(("same", "write_same"),),
        ),
        "a twin knows plain writes only",
        inert=("write",),
        engines=("sg",),
    ),
    _of_engine("stream_id", Whole(), _HOST, "sg"),
    _of_engine("skip_bad", Flag(), _PLACE, "mtd"),
    _of_engine("initiator", Text(), _PLACE, "libiscsi"),
    _of_engine("thp", Whole(), _HOST, "mmap"),
    _of_engine("no_completion_thread", _BARE, _HOST, "windowsaio"),
    _of_engine("nfs_url", Text(), _PLACE, "nfs"),
    _of_engine("cont", Text(), _PLACE, "dfs"),
    _of_engine("svcl", Text(), _PLACE, "dfs"),
    _of_engine("object_class", Text(), _STORE, "dfs"),
    _silent("chunk_size", Whole(), _STORE, "chunck_size", engines=("dfs", "libhdfs")),
    _of_engine("namenode", Text(), _PLACE, "libhdfs"),
    _of_engine("hostname", Text(), _PLACE, "libhdfs"),
    _of_engine("port", Whole(), _PLACE, "libhdfs"),
    _of_engine("hdfsdirectory", Text(), _PLACE, "libhdfs"),
    _of_engine("single_instance", Flag(), _PLACE, "libhdfs"),
    _of_engine("hdfs_use_direct", Flag(), _HOST, "libhdfs"),
    _of_engine("https", Choice(words=("off", "on", "insecure")), _PLACE, "http"),
    *(_of_engine(f"http_{name}", Text(), _PLACE, "http") for name in _HTTP),
    *(
        _of_engine(f"xnvme_{name}", Text(), _HOST, "xnvme")
        for name in ("be", "async", "sync", "admin")
    ),
    _of_engine("xnvme_dev_nsid", Whole(), _PLACE, "xnvme"),
    _of_engine("xnvme_iovec", _BARE, _HOST, "xnvme"),
    *(_of_engine(name, Text(), _HOST, *_SPDK) for name in _SPDK_OPTIONS),
    _of_engine("pool", Text(), _PLACE, "rbd", "rados", "dfs"),
    _of_engine("rbdname", Text(), _PLACE, "rbd"),
    _of_engine("clustername", Text(), _PLACE, "rbd", "rados"),
    _of_engine("clientname", Text(), _PLACE, "rbd", "rados"),
    _of_engine("conf", Text(), _PLACE, "rados"),
    _of_engine("busy_poll", Flag(), _HOST, "rbd", "rados"),
    _of_engine("touch_objects", Flag(), _HOST, "rados"),
    _of_engine("volume", Text(), _PLACE, "gfapi", "gfapi_async"),
    _of_engine("brick", Text(), _PLACE, "gfapi", "gfapi_async"),
    _of_engine("single-instance", Flag(), _PLACE, "gfapi", "gfapi_async"),
)


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

ROWS: tuple[Option, ...] = (*STREAM, *OUTPUT, *SILENT, *NOTED, *REFUSED, *ENGINES)


@cache
def by_name() -> dict[str, Option]:
    """Rows by name and by alias."""
    found: dict[str, Option] = {}
    for option in ROWS:
        for name in (option.name, *option.aliases):
            assert name not in found, f"{name} stands in two rows"
            found[name] = option
    return found


def find(name: str) -> Option | None:
    """The row of an option, also by its alias."""
    return by_name().get(name)


def meant(name: str) -> str | None:
    """A hint for a name that fio does not know."""
    if name.lower() in by_name():
        return f"fio's options are in small letters: {name.lower()}"
    plain = name.replace("-", "_").lower()
    near = difflib.get_close_matches(plain, list(by_name()), n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else "fio 3.33 has no such option: fio --cmdhelp=all"
