"""fio's log files as arrays: `ms, value, direction, block size, priority`, one file a thread.

Times are milliseconds since 1970 (`log_unix_epoch`), of a request's end or of an interval's end;
values are nanoseconds in latency logs and KiB/s in bandwidth logs. A thread that did nothing leaves
an empty file or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flashtwin.model.series import Ints

_COLUMNS = ("t_ms", "value", "direction", "bytes")


@dataclass(frozen=True, kw_only=True)
class Log:
    """The rows of one or several files; equally long."""

    t_ms: Ints
    value: Ints
    direction: Ints
    bytes: Ints


def read_threads(directory: Path, job: str, kind: str) -> list[Log]:
    """The logs of a job's threads, in the order of fio's thread numbers."""
    found = directory.glob(f"{job}_{kind}.*.log")
    paths = sorted(found, key=lambda path: int(path.name.split(".")[-2]))
    return [log for log in map(read, paths) if len(log.t_ms)]


def joined(logs: list[Log]) -> Log:
    """The rows of several logs as one, in no order."""
    none = np.zeros(0, dtype=np.int64)
    return Log(
        **{name: np.concatenate([none, *(getattr(log, name) for log in logs)]) for name in _COLUMNS}
    )


def read(path: Path) -> Log:
    """One log file."""
    if not path.stat().st_size:
        return joined([])
    columns = range(len(_COLUMNS))
    # Only these columns: later versions of fio add others, not all of them decimal.
    rows = np.loadtxt(path, delimiter=",", usecols=columns, dtype=np.int64, ndmin=2)
    return Log(**{name: rows[:, column] for name, column in zip(_COLUMNS, columns, strict=True)})
