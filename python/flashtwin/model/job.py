"""A job: one stream of requests that a battery, or one of fio's processes, asks a drive for.

A `Job` says what every drive can be asked for. With a `Fio` (`model.fio_job`) it says the rest of
fio's language too, and keeps to the semantics of fio 3.33: it is one process (a clone of `numjobs`
is a job of its own), with fio's way to draw directions, sizes and offsets, to submit, reap, sleep,
end and count. Its `threads` is 1. What the job itself says keeps its name: `rw`, `depth` (iodepth),
`io_bytes` (io_size), `runtime_s`, `ramp_s`, `read_percent` (rwmixread), `host_ns`,
`compress_percent`, `handles` (fdp_pli), `sync`, `seed`. Defaults leave mechanisms out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

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
