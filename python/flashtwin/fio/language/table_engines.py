"""The engines, and the options that belong to one of them.

Engines that reach a drive or a file are all the same here: the twin answers. Those that do
something else (network, processor, file tables) are refused, as their requests reach no drive.
"""

from __future__ import annotations

from flashtwin.fio.language.kinds import Choice, Directions, Flag, Text, Whole
from flashtwin.fio.language.option import Option, Role

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


def _row(name: str, kind: object, says: str, *engines: str) -> Option:
    return Option(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        role=Role.SILENT,
        says=says,
        engines=engines,
    )


ROWS = (
    _row("hipri", _BARE, _HOST, *_URING, "pvsync2", "xnvme"),
    _row("hipri_percentage", Whole(most=100), _HOST, "pvsync2"),
    _row("uncached", Whole(most=_UINT), _HOST, *_URING, "pvsync2"),
    _row("nowait", Flag(), _HOST, *_CMDPRIO, "pvsync2"),
    _row("userspace_reap", _BARE, _HOST, "libaio"),
    _row("cmdprio_percentage", Directions(each=Whole(most=100)), _HOST, *_CMDPRIO),
    _row("cmdprio_class", Directions(each=Whole(least=1, most=3)), _HOST, *_CMDPRIO),
    _row("cmdprio", Directions(each=Whole(most=7)), _HOST, *_CMDPRIO),
    _row("cmdprio_bssplit", Text(), _HOST, *_CMDPRIO),
    _row("fixedbufs", _BARE, _HOST, *_URING),
    _row("registerfiles", _BARE, _HOST, *_URING),
    _row("sqthread_poll", _BARE, _HOST, *_URING, "xnvme"),
    _row("sqthread_poll_cpu", Whole(most=_UINT), _HOST, *_URING),
    _row("nonvectored", Whole(most=_UINT), _HOST, *_URING),
    _row("force_async", Whole(most=_UINT), _HOST, *_URING),
    _row("cmd_type", Choice(words=("nvme",)), _HOST, *_URING),
    _row("uri", Text(), _PLACE, "nbd"),
    _row("readfua", Flag(), _HOST, "sg"),
    Option(
        name="writefua",
        kind=Flag(),
        role=Role.STREAM,
        says="each write counts when it is on flash, as sync",
        engines=("sg",),
        default=False,
    ),
    Option(
        name="sg_write_mode",
        kind=Choice(
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
        role=Role.REFUSED,
        says="a twin knows plain writes only",
        inert=("write",),
        engines=("sg",),
    ),
    _row("stream_id", Whole(), _HOST, "sg"),
    _row("skip_bad", Flag(), _PLACE, "mtd"),
    _row("initiator", Text(), _PLACE, "libiscsi"),
    _row("thp", Whole(), _HOST, "mmap"),
    _row("no_completion_thread", _BARE, _HOST, "windowsaio"),
    _row("nfs_url", Text(), _PLACE, "nfs"),
    _row("cont", Text(), _PLACE, "dfs"),
    _row("svcl", Text(), _PLACE, "dfs"),
    _row("object_class", Text(), _STORE, "dfs"),
    Option(
        name="chunk_size",
        kind=Whole(),
        role=Role.SILENT,
        says=_STORE,
        aliases=("chunck_size",),
        engines=("dfs", "libhdfs"),
    ),
    _row("namenode", Text(), _PLACE, "libhdfs"),
    _row("hostname", Text(), _PLACE, "libhdfs"),
    _row("port", Whole(), _PLACE, "libhdfs"),
    _row("hdfsdirectory", Text(), _PLACE, "libhdfs"),
    _row("single_instance", Flag(), _PLACE, "libhdfs"),
    _row("hdfs_use_direct", Flag(), _HOST, "libhdfs"),
    _row("https", Choice(words=("off", "on", "insecure")), _PLACE, "http"),
    *(_row(f"http_{name}", Text(), _PLACE, "http") for name in _HTTP),
    *(_row(f"xnvme_{name}", Text(), _HOST, "xnvme") for name in ("be", "async", "sync", "admin")),
    _row("xnvme_dev_nsid", Whole(), _PLACE, "xnvme"),
    _row("xnvme_iovec", _BARE, _HOST, "xnvme"),
    *(_row(name, Text(), _HOST, *_SPDK) for name in _SPDK_OPTIONS),
    _row("pool", Text(), _PLACE, "rbd", "rados", "dfs"),
    _row("rbdname", Text(), _PLACE, "rbd"),
    _row("clustername", Text(), _PLACE, "rbd", "rados"),
    _row("clientname", Text(), _PLACE, "rbd", "rados"),
    _row("conf", Text(), _PLACE, "rados"),
    _row("busy_poll", Flag(), _HOST, "rbd", "rados"),
    _row("touch_objects", Flag(), _HOST, "rados"),
    _row("volume", Text(), _PLACE, "gfapi", "gfapi_async"),
    _row("brick", Text(), _PLACE, "gfapi", "gfapi_async"),
    _row("single-instance", Flag(), _PLACE, "gfapi", "gfapi_async"),
)
