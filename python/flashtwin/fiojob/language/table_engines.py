"""The engines, and the options that belong to one of them.

Engines that reach a drive or a file are all the same here: the twin answers. Those that do
something else (network, processor, file tables) are refused, as their requests reach no drive.
"""

from __future__ import annotations

from flashtwin.fiojob.language.kinds import Choice, Directions, Flag, Text, Whole
from flashtwin.fiojob.language.option import Option, Role

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
        "ime_aio",
        "dfs",
        "external",
    }
)

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

_URING = ("io_uring", "io_uring_cmd")
_CMDPRIO = ("libaio", *_URING)
_HOST = "how the host hands requests over is not simulated"
_PLACE = "where the engine finds its storage: here it is the twin"


def _row(name: str, kind: object, says: str, *engines: str) -> Option:
    return Option(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        role=Role.SILENT,
        says=says,
        engines=engines,
    )


ROWS = (
    _row("hipri", _BARE, _HOST, *_URING, "pvsync2"),
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
    _row("sqthread_poll", _BARE, _HOST, *_URING),
    _row("sqthread_poll_cpu", Whole(most=_UINT), _HOST, *_URING),
    _row("nonvectored", Whole(most=_UINT), _HOST, *_URING),
    _row("force_async", Whole(most=_UINT), _HOST, *_URING),
    _row("cmd_type", Choice(words=("nvme",)), _HOST, *_URING),
    _row("uri", Text(), _PLACE, "nbd"),
    _row("readfua", Flag(), _HOST, "sg"),
    _row("writefua", Flag(), _HOST, "sg"),
    _row("pool", Text(), _PLACE, "rbd", "rados"),
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
