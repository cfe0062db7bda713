"""A job: one stream of requests that a battery, or one of fio's processes, asks a drive for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flashtwin.model.fio_job import Fio

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


@dataclass(frozen=True, kw_only=True)
class Job:
    """One stream of requests, closed loop: `threads` times `depth` requests are always outstanding.

    `io_bytes` ends the job after that many bytes, `runtime_s` after that time; a job with neither
    ends after one pass over `size`, and one with `runtime_s` wraps around `size` until the time is
    up.
    `host_ns` is what the host's software takes for one command, serial in a thread.
    `shared_stream`: the threads of a sequential job share one position, instead of one each.
    `sync`: each write counts as done only when it is on flash (force unit access).
    `fio`: the job is one of fio's processes and keeps to its semantics; see `battery.fio`. Only
    such a job may be `trimwrite` or `randtrimwrite`, and a run has either such jobs or none.
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
    sync: bool = False
    seed: int = 1
    fio: Fio | None = None
