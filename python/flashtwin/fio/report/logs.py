"""fio's log files: bandwidth, latencies, requests a second, histograms; and its iologs.

A line of a log is `ms, value, direction, block size, [offset,] priority`. By request the bandwidth
is that request's own in kB/s, its rate is 1, and latencies are nanoseconds; by window
(`log_avg_msec`) bandwidth is KiB/s and the block size 0. Times count from the start of the
process's measured time, or from that of the run (`Wish.epoch_ms`); directions are 0 read, 1 write,
2 trim. Seen in the logs of fio 3.33.

An iolog has version 3: a time in microseconds before each line. fio reads such a file back with
`read_iolog`, and so do we. A process's requests stand in the order in which they were issued, under
the names of its files; a name is one word there, so that blanks become underscores. Processes that
log into one file, as copies do, stand one behind the other, each with the first line of an iolog,
as fio writes them. Times count from 1: fio takes 0 for no time, and loses the pause behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from flashtwin.model.histogram import BITS, BUCKETS, bucket_of

KINDS = {
    "write_bw_log": ("bw",),
    "write_iops_log": ("iops",),
    "write_lat_log": ("slat", "clat", "lat"),
}
HIST = "write_hist_log"


# The text of a log, made anew each time that it is asked for.
Pieces = Callable[[], Iterable[str]]
# Rows of a log that are text at once.
PIECE_ROWS = 1 << 16


def pieces_of(rows: int) -> Iterator[slice]:
    """The rows of a table, some at a time."""
    return (slice(begin, begin + PIECE_ROWS) for begin in range(0, rows, PIECE_ROWS))


@dataclass(frozen=True, kw_only=True)
class Log:
    """A file to write: its name, its text in pieces that are made as they are asked for, and
    whether somebody typed the name.

    A log of single requests is many times larger than what it is made of.
    """

    name: str
    pieces: Pieces
    typed: bool = False

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces())


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a process wants logged.

    `logs` has the file-name prefix of each option that was written, `typed` those options whose
    prefix stands on the command line; `number` goes into names where each process has logs of its
    own. `hist_ns` is the interval of histograms, `coarse` halves their
    bins so many times. `epoch_ms` is added to all times.
    """

    logs: Mapping[str, str]
    number: int | None
    typed: frozenset[str] = frozenset()
    offsets: bool = False
    hist_ns: int = 0
    coarse: int = 0
    slat: bool = True
    clat: bool = True
    lat: bool = True
    bw: bool = True
    iops: bool = True
    epoch_ms: int = 0


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
                pieces: Pieces = partial(_lines, row, kind, wish) if measured else _none
                made.append(_log(wish, option, kind, pieces))
    if HIST in wish.logs and wish.hist_ns:
        made.append(_log(wish, HIST, "clat_hist", partial(_histograms, row, wish)))
    return made


def joined(logs: Sequence[Log]) -> list[Log]:
    """Logs of one name put together, as fio does where jobs share a file."""
    parts: dict[str, list[Log]] = {}
    for log in logs:
        parts.setdefault(log.name, []).append(log)
    return [
        Log(
            name=name,
            pieces=partial(_all, same),
            typed=all(one.typed for one in same),
        )
        for name, same in parts.items()
    ]


def _all(logs: Sequence[Log]) -> Iterator[str]:
    return (piece for log in logs for piece in log.pieces())


def _none() -> Iterator[str]:
    return iter(())


def _log(wish: Wish, option: str, kind: str, pieces: Pieces) -> Log:
    return Log(name=name_of(wish, option, kind), pieces=pieces, typed=option in wish.typed)


def name_of(wish: Wish, option: str, kind: str) -> str:
    """What fio calls the log of a kind that an option asks for."""
    number = "" if wish.number is None else f".{wish.number}"
    return f"{wish.logs[option]}_{kind}{number}.log"


def _lines(row: Mapping[str, Any], kind: str, wish: Wish) -> Iterator[str]:
    averages = row["averages"]
    table = _by_window(averages, kind) if averages is not None else _by_request(row, kind)
    offset = "0, " if wish.offsets else ""
    for some in pieces_of(len(table[0])):
        lines = []
        columns = (column[some].tolist() for column in table)
        for at, value, direction, block, place in zip(*columns, strict=True):
            if wish.offsets and averages is None:
                offset = f"{place}, "
            lines.append(f"{at + wish.epoch_ms}, {value}, {direction}, {block}, {offset}0\n")
        yield "".join(lines)


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
    begins, ends = {
        "bw": ("issue_ns", "complete_ns"),
        "iops": ("issue_ns", "complete_ns"),
        "slat": ("start_ns", "issue_ns"),
        "clat": ("issue_ns", "complete_ns"),
        "lat": ("start_ns", "complete_ns"),
    }[kind]
    if kind == "iops":
        values = np.ones(len(rows["bytes"]), dtype=np.int64)
    else:
        values = (rows[ends] - rows[begins]).astype(np.int64)
    if kind == "bw":
        values = rows["bytes"].astype(np.int64) * 1_000_000 // np.maximum(values, 1)
    at = (rows["complete_ns"] - np.uint64(row["measured_ns"])) // np.uint64(MS)
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
    """Data requests since the ramp; columns as they are, where all of them count."""
    rows = row["requests"]
    counts = (rows["direction"] < MOVES) & (rows["complete_ns"] >= row["measured_ns"])
    return dict(rows) if counts.all() else {name: rows[name][counts] for name in rows}


def _histograms(row: Mapping[str, Any], wish: Wish) -> Iterator[str]:
    """`ms, direction, block size, bin, bin, …`: completion latencies of each interval."""
    rows = _measured(row)
    if not len(rows["bytes"]):
        return
    since = (rows["complete_ns"] - np.uint64(row["measured_ns"])).astype(np.int64)
    interval = np.maximum(-(-since // wish.hist_ns), 1)
    # Requests stand in the order of their completions, and so do the intervals.
    edges = [0, *(np.flatnonzero(np.diff(interval)) + 1).tolist(), len(interval)]
    for first, end in pairwise(edges):
        ms = int(interval[first]) * wish.hist_ns // MS + wish.epoch_ms
        here = {name: rows[name][first:end] for name in _TIMED}
        for direction in range(MOVES):
            counts, block = _histogram(here, direction)
            if block:
                bins = ", ".join(map(str, coarsened(counts, wish.coarse).tolist()))
                yield f"{ms}, {direction}, {block}, {bins}\n"


_TIMED = ("direction", "bytes", "issue_ns", "complete_ns")


def _histogram(rows: Mapping[str, Any], direction: int) -> tuple[Any, int]:
    """Counts of completion latencies in one direction, and the largest block; 0 without any."""
    counts, block = np.zeros(BUCKETS, dtype=np.int64), 0
    for some in pieces_of(len(rows["direction"])):
        mine = rows["direction"][some] == direction
        if mine.any():
            clat = (rows["complete_ns"][some] - rows["issue_ns"][some])[mine]
            buckets = [bucket_of(one) for one in clat.tolist()]
            counts += np.bincount(np.array(buckets, dtype=np.int64), minlength=BUCKETS)
            block = max(block, int(rows["bytes"][some][mine].max()))
    return counts, block


def coarsened(counts: Any, times: int) -> Any:
    """Neighbouring bins added up, so that 2^times become one."""
    assert 0 <= times <= BITS, f"{times} halvings of {1 << BITS} bins"
    return counts.reshape(-1, 1 << times).sum(axis=1)


# The last one is the sync of a file at the end of a pass.
ACTIONS = ("read", "write", "trim", "sync", "datasync", "sync")
MICROSECOND = 1_000
FIRST_US = 1


def iolog(rows: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> Iterator[str]:
    """One file for processes that log into it, each with the names of its spans, in pieces."""
    for one in rows:
        yield from _process(*one)


def _process(row: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    requests = row["requests"]
    names = ["_".join(name.split()) for name in names]
    order = np.lexsort((requests["number"], requests["start_ns"]))
    begun = _time(int(row["started_ns"]))
    yield "fio version 3 iolog\n"
    for name in names:
        yield f"{begun} {name} add\n"
    for name in names:
        yield f"{begun} {name} open\n"
    columns = ("start_ns", "file", "direction", "offset", "bytes")
    last = begun
    for some in pieces_of(len(order)):
        lines = []
        for at, file, direction, offset, size in zip(
            *(requests[name][order[some]].tolist() for name in columns), strict=True
        ):
            last = _time(at)
            place = f" {offset} {size}" if direction < 3 else " 0 0"
            lines.append(f"{last} {names[file]} {ACTIONS[direction]}{place}\n")
        yield "".join(lines)
    for name in names:
        yield f"{max(last, _time(int(row['ended_ns'])))} {name} close\n"


def _time(at_ns: int) -> int:
    return FIRST_US + at_ns // MICROSECOND
