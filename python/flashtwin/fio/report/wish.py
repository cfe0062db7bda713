"""Which logs a process wants, under fio's names, and what a log is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

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
