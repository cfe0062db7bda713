"""fio's log files: bandwidth, latencies, requests a second, histograms, by request or by window.

A line is `ms, value, direction, block size, [offset,] priority`. By request the bandwidth is that
request's own in kB/s, its rate is 1, and latencies are nanoseconds; by window (`log_avg_msec`)
bandwidth is KiB/s and the block size 0. Times count from the start of the process's measured time;
directions are 0 read, 1 write, 2 trim. Seen in the logs of fio 3.33.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flashtwin.results.hist import BITS, BUCKETS, bucket_of

MS = 1_000_000
KINDS = {
    "write_bw_log": ("bw",),
    "write_iops_log": ("iops",),
    "write_lat_log": ("slat", "clat", "lat"),
}
HIST = "write_hist_log"
MOVES = 3


@dataclass(frozen=True, kw_only=True)
class Log:
    """A file to write: its name, and its lines."""

    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a process wants logged.

    `logs` has the file-name prefix of each option that was written; `number` goes into names where
    each process has logs of its own. `hist_ns` is the interval of histograms, `coarse` halves their
    bins so many times.
    """

    logs: Mapping[str, str]
    number: int | None
    offsets: bool = False
    hist_ns: int = 0
    coarse: int = 0
    slat: bool = True
    clat: bool = True
    lat: bool = True


def logs_of(row: Mapping[str, Any], wish: Wish) -> list[Log]:
    """All logs of a process."""
    made = []
    for option, kinds in KINDS.items():
        if option not in wish.logs:
            continue
        for kind in kinds:
            if getattr(wish, kind, True):
                text = "".join(_lines(row, kind, wish))
                made.append(Log(name=_name(wish, option, kind), text=text))
    if HIST in wish.logs and wish.hist_ns:
        text = "".join(_histograms(row, wish))
        made.append(Log(name=_name(wish, HIST, "clat_hist"), text=text))
    return made


def joined(logs: Sequence[Log]) -> list[Log]:
    """Logs of one name put together, as fio does where jobs share a file."""
    parts: dict[str, list[str]] = {}
    for log in logs:
        parts.setdefault(log.name, []).append(log.text)
    return [Log(name=name, text="".join(texts)) for name, texts in parts.items()]


def _name(wish: Wish, option: str, kind: str) -> str:
    number = "" if wish.number is None else f".{wish.number}"
    return f"{wish.logs[option]}_{kind}{number}.log"


def _lines(row: Mapping[str, Any], kind: str, wish: Wish) -> Iterator[str]:
    averages = row["averages"]
    table = _by_window(averages, kind) if averages is not None else _by_request(row, kind)
    offset = "0, " if wish.offsets else ""
    for at, value, direction, block, place in zip(*(one.tolist() for one in table), strict=True):
        if wish.offsets and averages is None:
            offset = f"{place}, "
        yield f"{at}, {value}, {direction}, {block}, {offset}0\n"


def _by_window(rows: Mapping[str, Any], kind: str) -> tuple[Any, ...]:
    """Means over windows as columns of a log."""
    none = np.zeros(len(rows["end_ns"]), dtype=np.int64)
    seconds = np.maximum(rows["dt_ns"].astype(np.float64) / 1e9, 1e-9)
    if kind == "bw":
        values = (rows["bytes"] / seconds / 1024).astype(np.int64)
    elif kind == "iops":
        values = (rows["ios"] / seconds).astype(np.int64)
    else:
        values = rows[f"{kind}_ns"].astype(np.int64)
    return rows["end_ns"] // MS, values, rows["direction"], none, none


def _by_request(row: Mapping[str, Any], kind: str) -> tuple[Any, ...]:
    """Each data request that counts as a line, in the order of completion."""
    rows = _measured(row)
    slat = rows["issue_ns"] - rows["start_ns"]
    clat = rows["complete_ns"] - rows["issue_ns"]
    lat = slat + clat
    values = {
        "bw": rows["bytes"] * 1_000_000 // np.maximum(clat, 1),
        "iops": np.ones(len(lat), dtype=np.int64),
        "slat": slat,
        "clat": clat,
        "lat": lat,
    }[kind]
    at = (rows["complete_ns"] - row["measured_ns"]) // MS
    return at, values, rows["direction"], rows["bytes"], rows["offset"]


def _measured(row: Mapping[str, Any]) -> dict[str, Any]:
    """Data requests since the ramp, as signed numbers."""
    rows = row["requests"]
    counts = (rows["direction"] < MOVES) & (rows["complete_ns"] >= row["measured_ns"])
    return {name: column[counts].astype(np.int64) for name, column in rows.items()}


def _histograms(row: Mapping[str, Any], wish: Wish) -> Iterator[str]:
    """`ms, direction, block size, bin, bin, …`: completion latencies of each interval."""
    rows = _measured(row)
    if not len(rows["bytes"]):
        return
    since = rows["complete_ns"] - row["measured_ns"]
    interval = np.maximum(-(-since // wish.hist_ns), 1)
    clat = rows["complete_ns"] - rows["issue_ns"]
    buckets = np.array([bucket_of(int(one)) for one in clat], dtype=np.int64)
    for at in np.unique(interval):
        for direction in range(MOVES):
            here = (interval == at) & (rows["direction"] == direction)
            if here.any():
                counts = np.bincount(buckets[here], minlength=BUCKETS)
                ms = int(at) * wish.hist_ns // MS
                block = int(rows["bytes"][here].max())
                bins = ", ".join(map(str, coarsened(counts, wish.coarse).tolist()))
                yield f"{ms}, {direction}, {block}, {bins}\n"


def coarsened(counts: Any, times: int) -> Any:
    """Neighbouring bins added up, so that 2^times become one."""
    assert 0 <= times <= BITS, f"{times} halvings of {1 << BITS} bins"
    return counts.reshape(-1, 1 << times).sum(axis=1)
