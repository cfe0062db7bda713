"""The requests of processes as fio's iolog, version 3: a time in microseconds before each line.

fio reads such a file back with `read_iolog`, and so do we. A process's requests stand in the order
in which they were issued, under the names of its files; a name is one word there, so that blanks
become underscores. Processes that log into one file, as copies do, stand one behind the other, each
with the first line of an iolog, as fio writes them. Times count from 1: fio takes 0 for no time,
and loses the pause behind such a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from flashtwin.fio.report.wish import pieces_of

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
