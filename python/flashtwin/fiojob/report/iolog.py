"""The requests of processes as fio's iolog, version 3: a time in microseconds before each line.

fio reads such a file back with `read_iolog`, and so do we. A process's requests stand in the order
in which they were issued, under the names of its files; a name
is one word there, so that blanks become underscores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from flashtwin.fiojob.report.wish import pieces_of

ACTIONS = ("read", "write", "trim", "sync", "datasync")
MICROSECOND = 1_000


def iolog(rows: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> Iterator[str]:
    """One file for processes that log into it, each with the names of its spans, in pieces."""
    yield "fio version 3 iolog\n"
    for one in rows:
        yield from _process(*one)


def _process(row: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    requests = row["requests"]
    names = ["_".join(name.split()) for name in names]
    order = np.lexsort((requests["number"], requests["start_ns"]))
    begun = int(row["started_ns"]) // MICROSECOND
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
            last = at // MICROSECOND
            place = f" {offset} {size}" if direction < 3 else " 0 0"
            lines.append(f"{last} {names[file]} {ACTIONS[direction]}{place}\n")
        yield "".join(lines)
    for name in names:
        yield f"{max(last, int(row['ended_ns']) // MICROSECOND)} {name} close\n"
