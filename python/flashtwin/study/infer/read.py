"""Series out of files of other programs: fio's logs and JSON, and CSV of time or bytes and a rate.

A fio log has no header: milliseconds at the end of an interval, KiB/s, direction (0 read, 1 write),
block size. A CSV has one, and its names say what a column is and its unit: second, time_ms,
write_MiB_s, "MB/s", GB. A rate is that of the interval before its time or bytes. A column whose
name says temperature and °C (temperature_C) has the drive's at that moment.

Invariants: nothing is guessed where two readings are open: a header without a unit, a time stamp
that comes twice, a value that is no number is refused with what to write instead. What happened in
an interval that the file leaves out is not made up either.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import read_regular
from flashtwin.study.infer import status
from flashtwin.study.infer.samples import FEWEST, Floats, Samples, UnreadableError

MOST_BYTES = 256 << 20
# Bytes a second that no drive reaches; an interval that is no stall, in seconds and usual ones.
FASTEST = 1e12
GAP_S, GAP_USUAL = 600.0, 100.0
READ, WRITE = "0", "1"
RATES = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 1e3, "mb": 1e6, "gb": 1e9, "b": 1.0}
TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0}
_RATE = re.compile(r"(?:^|[^a-z])(b|[kmg]i?b)(?:ytes)?(?:/s|_s|ps| per second)(?:ec)?(?:[^a-z]|$)")
_SIZE = re.compile(r"(?:^|[^a-z])(b|bytes|[kmg]i?b)(?:[^a-z]|$)")
_DEGREES = re.compile(r"temp.*(?:[^a-z]c|celsius)(?:[^a-z]|$)")
_TIME = re.compile(r"(?:^|[^a-z])(ns|us|ms|s|sec|seconds?)(?:[^a-z]|$)")


def read(path: Path, *, doubled: bool = False) -> Samples:
    """The writes of a file. `doubled`: rows of one time stamp are summed and not refused."""
    text = read_regular(path, most_bytes=MOST_BYTES).decode("utf-8", errors="replace")
    if text.lstrip().startswith("{"):
        try:
            return status.samples_of(text)
        except UnreadableError as error:
            raise _refused(path, str(error), error.hint) from error
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if row]
    if len(rows) < FEWEST:
        have = f"has {len(rows)} row{'' if len(rows) == 1 else 's'}"
        raise _refused(path, have, f"at least {FEWEST} samples are needed")
    if _is_number(rows[0][0]):
        return _fio(path, rows, doubled)
    return _csv(path, rows, doubled)


def summed(parts: Sequence[Samples]) -> Samples:
    """Logs of jobs that ran side by side, on the intervals of the first, whose temperatures count:
    it is one drive."""
    first = parts[0]
    edges = np.concatenate(([0.0], first.end_s))
    size = np.zeros(first.end_s.size)
    for part in parts:
        done = np.concatenate(([0.0], np.cumsum(part.size)))
        size += np.diff(np.interp(edges, np.concatenate(([0.0], part.end_s)), done))
    return Samples(
        end_s=first.end_s,
        dt_s=first.dt_s,
        size=size,
        columns=first.columns,
        reads=any(part.reads for part in parts),
        degrees=first.degrees,
    )


def joined(parts: Sequence[Samples]) -> Samples:
    """Runs one after another, without the time between them."""
    ends, begin = [], 0.0
    for part in parts:
        ends.append(part.end_s + begin)
        begin += float(part.end_s[-1])
    return Samples(
        end_s=np.concatenate(ends),
        dt_s=np.concatenate([part.dt_s for part in parts]),
        size=np.concatenate([part.size for part in parts]),
        columns=parts[0].columns,
        reads=any(part.reads for part in parts),
        degrees=_joined_degrees(parts),
    )


def _joined_degrees(parts: Sequence[Samples]) -> Floats | None:
    """The temperatures of all runs; none where one of them has none."""
    degrees = [part.degrees for part in parts if part.degrees is not None]
    return np.concatenate(degrees) if len(degrees) == len(parts) else None


def _fio(path: Path, rows: list[list[str]], doubled: bool) -> Samples:
    if len(rows[0]) < 4:
        raise _refused(
            path,
            f"has no header and {len(rows[0])} columns",
            "a fio log has 4 or more; a CSV needs a header, such as second,write_MB_s",
        )
    writes = [row for row in rows if len(row) >= 3 and row[2] == WRITE]
    if len(writes) < FEWEST:
        raise _refused(path, f"has {len(writes)} samples of writes", "infer reads what was written")
    end = _numbers(path, writes, 0) * 1e-3
    rate = _rates(path, writes, 1, 1024.0)
    columns = "time in ms, bandwidth in KiB/s (fio), writes only"
    read = _samples(path, end, rate, doubled, columns)
    return replace(read, reads=any(len(row) >= 3 and row[2] == READ for row in rows))


def _csv(path: Path, rows: list[list[str]], doubled: bool) -> Samples:
    header, body = rows[0], rows[1:]
    names = [name.lower() for name in header]
    rates = [i for i, name in enumerate(names) if _RATE.search(name)]
    writes = [i for i in rates if "write" in names[i]]
    if not rates:
        raise _refused(
            path,
            f"has no column with a rate: {', '.join(header)}",
            "name its unit in the header, for example write_MB_s or MiB/s",
        )
    if len(writes or rates) > 1:
        several = ", ".join(header[i] for i in writes or rates)
        raise _refused(path, f"has several rates: {several}", "keep the one to read")
    (at,) = writes or rates
    factor = float(RATES[_unit(_RATE, names[at])])
    rate = _rates(path, body, at, factor)
    warm = next((i for i, name in enumerate(names) if _DEGREES.search(name)), None)
    others = [i for i in range(len(names)) if i not in (at, warm)]
    series = _timed_or_sized(path, header, body, rate, (at, others), doubled)
    if warm is None:
        return series
    degrees = _degrees(body, warm)
    if degrees is None:
        return replace(series, columns=f"{series.columns} ({header[warm]} has gaps: left out)")
    if degrees.size != series.size.size:
        why = "has temperatures in rows that are no samples of their own"
        raise _refused(path, why, "write a row for each sample, or remove the column")
    return replace(series, degrees=degrees, columns=f"{series.columns}, {header[warm]}")


def _degrees(body: list[list[str]], column: int) -> Floats | None:
    """A column of temperatures; none where a row has none, as of a meter that was asked seldom."""
    try:
        degrees = np.array([float(row[column]) for row in body])
    except (ValueError, IndexError):
        return None
    return degrees if np.isfinite(degrees).all() else None


def _timed_or_sized(
    path: Path,
    header: list[str],
    body: list[list[str]],
    rate: Floats,
    which: tuple[int, list[int]],
    doubled: bool,
) -> Samples:
    """`which`: the column of the rate, and those that may have times or bytes."""
    (at, others), names = which, [name.lower() for name in header]
    timed = next((i for i in others if _TIME.search(names[i])), None)
    if timed is not None:
        end = _numbers(path, body, timed) * TIMES[_unit(_TIME, names[timed])]
        return _samples(path, end, rate, doubled, f"{header[timed]} and {header[at]}")
    sized = next((i for i in others if _SIZE.search(names[i])), None)
    if sized is None:
        raise _refused(
            path,
            f"has no column with a time or with bytes: {', '.join(header)}",
            "name its unit in the header, for example second, time_ms or GB",
        )
    unit = _unit(_SIZE, names[sized])
    done = _numbers(path, body, sized) * float(RATES["b" if unit == "bytes" else unit])
    size = np.diff(np.concatenate(([0.0], done)))
    if np.any(size < 0) or np.any(rate <= 0):
        raise _refused(
            path, "has bytes that become fewer, or rates of 0", "bytes are those since the start"
        )
    dt = size / rate
    moving = size > 0
    columns = f"{header[sized]} and {header[at]}"
    return Samples(end_s=np.cumsum(dt)[moving], dt_s=dt[moving], size=size[moving], columns=columns)


def _samples(path: Path, end: Floats, rate: Floats, doubled: bool, columns: str) -> Samples:
    """Intervals from their ends; each lasts from the end of the one before."""
    stamps, index = np.unique(end, return_inverse=True)
    if stamps.size < end.size and not doubled:
        twice = end.size - stamps.size
        raise _refused(
            path,
            f"has {twice} time stamps that come twice"
            if twice > 1
            else "has 1 time stamp that comes twice",
            "several jobs in one log are summed with --doubled",
        )
    if np.any(np.diff(end) < 0) and not doubled:
        raise _refused(path, "has times that go back", "hand over one file a run, with --join")
    rate = np.bincount(index, weights=rate).astype(np.float64)
    usual = float(np.median(np.diff(stamps))) if stamps.size > 1 else 1.0
    # A log may begin at 0 with the end of nothing: its first interval is a usual one.
    begin = stamps[0] - usual if stamps[0] < 0.5 * usual else max(stamps[0] - usual, 0.0)
    dt = np.diff(np.concatenate(([begin], stamps)))
    longest = int(np.argmax(dt))
    if dt[longest] > max(GAP_S, GAP_USUAL * usual):
        raise _refused(
            path,
            f"has nothing for {dt[longest]:.6g} s before {stamps[longest]:.6g} s",
            "hand over the parts as files of their own, with --join",
        )
    return Samples(end_s=stamps - begin, dt_s=dt, size=rate * dt, columns=columns)


def _unit(pattern: re.Pattern[str], name: str) -> str:
    match = pattern.search(name)
    assert match is not None, "the column was found by it"
    return match[1]


def _numbers(path: Path, rows: list[list[str]], column: int) -> Floats:
    values = np.empty(len(rows))
    for number, row in enumerate(rows):
        try:
            values[number] = float(row[column])
        except (ValueError, IndexError):
            values[number] = np.nan
        if not np.isfinite(values[number]) or values[number] < 0:
            text = row[column] if column < len(row) else ""
            has_unit = _is_number(text.strip().partition(" ")[0]) and not _is_number(text)
            raise _refused(
                path,
                f"{text!r} in row {number + 1} of the samples is not a number from 0 on",
                "write the number alone, in one unit, and that in the header"
                if has_unit
                else "remove the row, or write what was measured",
            )
    return values


def _rates(path: Path, rows: list[list[str]], column: int, factor: float) -> Floats:
    """A column in bytes a second."""
    rate = _numbers(path, rows, column)
    fastest = float(rate.max())
    if fastest * factor > FASTEST:
        raise _refused(
            path,
            f"has a rate of {fastest:.6g} in units of {factor:.6g} B/s, more than any drive's",
            "check the unit of the column",
        )
    return rate * factor


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refused(path: Path, why: str, hint: str) -> FlashtwinError:
    return FlashtwinError(f"{path.name}: {why}", hint=hint, exit_code=USAGE)
