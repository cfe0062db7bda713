"""fio's log files: bandwidth, latencies, requests a second, histograms, by request or by window.

A line is `ms, value, direction, block size, [offset,] priority`. By request the bandwidth is that
request's own in kB/s, its rate is 1, and latencies are nanoseconds; by window (`log_avg_msec`)
bandwidth is KiB/s and the block size 0. Times count from the start of the process's measured time,
or from that of the run (`Wish.epoch_ms`); directions are 0 read, 1 write, 2 trim. Seen in the logs
of fio 3.33.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from flashtwin.fiojob.report.wish import HIST, KINDS, Log, Wish
from flashtwin.results.buckets import BITS, BUCKETS, bucket_of

MS = 1_000_000
MOVES = 3
# fio makes the file of a rate also where nothing is measured for it.
EMPTY = ("bw", "iops")


def logs_of(row: Mapping[str, Any], wish: Wish) -> list[Log]:
    """All logs of a process."""
    made = []
    for option, kinds in KINDS.items():
        if option not in wish.logs:
            continue
        for kind in kinds:
            measured = getattr(wish, kind)
            if measured or kind in EMPTY:
                text = "".join(_lines(row, kind, wish)) if measured else ""
                made.append(_log(wish, option, kind, text))
    if HIST in wish.logs and wish.hist_ns:
        text = "".join(_histograms(row, wish))
        made.append(_log(wish, HIST, "clat_hist", text))
    return made


def joined(logs: Sequence[Log]) -> list[Log]:
    """Logs of one name put together, as fio does where jobs share a file."""
    parts: dict[str, list[Log]] = {}
    for log in logs:
        parts.setdefault(log.name, []).append(log)
    return [
        Log(name=name, text="".join(one.text for one in same), typed=all(one.typed for one in same))
        for name, same in parts.items()
    ]


def _log(wish: Wish, option: str, kind: str, text: str) -> Log:
    return Log(name=name_of(wish, option, kind), text=text, typed=option in wish.typed)


def name_of(wish: Wish, option: str, kind: str) -> str:
    """What fio calls the log of a kind that an option asks for."""
    number = "" if wish.number is None else f".{wish.number}"
    return f"{wish.logs[option]}_{kind}{number}.log"


def _lines(row: Mapping[str, Any], kind: str, wish: Wish) -> Iterator[str]:
    averages = row["averages"]
    table = _by_window(averages, kind) if averages is not None else _by_request(row, kind)
    offset = "0, " if wish.offsets else ""
    for at, value, direction, block, place in zip(*(one.tolist() for one in table), strict=True):
        if wish.offsets and averages is None:
            offset = f"{place}, "
        yield f"{at + wish.epoch_ms}, {value}, {direction}, {block}, {offset}0\n"


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


def samples_of(row: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """The log's values by direction, as the core gives moments."""
    _, values, direction, _, _ = _by_request(row, kind)
    for way in range(MOVES):
        mine = values[direction == way]
        some = len(mine)
        yield {
            "count": some,
            "min": int(mine.min()) if some else 0,
            "max": int(mine.max()) if some else 0,
            "mean": float(mine.mean()) if some else 0.0,
            "stddev": float(mine.std(ddof=1)) if some > 1 else 0.0,
        }


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
                ms = int(at) * wish.hist_ns // MS + wish.epoch_ms
                block = int(rows["bytes"][here].max())
                bins = ", ".join(map(str, coarsened(counts, wish.coarse).tolist()))
                yield f"{ms}, {direction}, {block}, {bins}\n"


def coarsened(counts: Any, times: int) -> Any:
    """Neighbouring bins added up, so that 2^times become one."""
    assert 0 <= times <= BITS, f"{times} halvings of {1 << BITS} bins"
    return counts.reshape(-1, 1 << times).sum(axis=1)
