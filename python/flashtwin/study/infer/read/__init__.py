"""Series out of files of other programs: logs, reports, progress and tables.

`formats` lists the formats, each with how it is recognised and its reader; `source` hands the text
of a file over a piece at a time; `series` makes intervals of times and rates. `read` is one file,
`read_all` the files of one fill.

Invariants: nothing is guessed where two readings are open: a unit, a column, a device or a time
that is not said is refused with the option that says it. What was left out, summed or thinned is a
note. Memory has a bound, whatever the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.study.infer.read.choices import NONE, Choices
from flashtwin.study.infer.read.combined import joined, summed
from flashtwin.study.infer.read.formats import format_of
from flashtwin.study.infer.read.source import Source
from flashtwin.study.infer.samples import (
    FEWEST,
    NoWritesError,
    Samples,
    Summary,
    UnreadableError,
)

# fio's word of a plain write, and those of a name that say that there was none.
SEQUENTIAL = "write"
_PATTERN = re.compile(r"(?<![a-z])rand(?:write|rw)(?![a-z])", re.IGNORECASE)

__all__ = ["Choices", "joined", "read", "read_all", "read_any", "summed"]


def read_any(path: Path, choices: Choices = NONE) -> Samples | Summary:
    """The writes of a file, or the figures of one that has no series."""
    try:
        return _read(path, choices)
    except UnreadableError as error:
        raise _refused(path, error) from error


def read(path: Path, choices: Choices = NONE) -> Samples:
    """The writes of a file."""
    result = read_any(path, choices)
    if isinstance(result, Summary):
        raise FlashtwinError(
            f"{path.name}: is of {result.program}: {result.why}",
            hint=result.test,
            exit_code=USAGE,
        )
    return result


def read_all(
    paths: Sequence[Path], choices: Choices = NONE, *, join: bool = False
) -> Samples | Summary:
    """Files of one fill: jobs that ran at once, or with `join` runs one after another.

    Of several logs those of jobs that only read are left out, with a note: fio names the logs of
    all jobs alike.
    """
    if len(paths) == 1:
        return read_any(paths[0], choices)
    parts: list[Samples] = []
    without: list[tuple[Path, NoWritesError]] = []
    for path in paths:
        try:
            part = _read(path, choices)
        except NoWritesError as error:
            without.append((path, error))
            continue
        except UnreadableError as error:
            raise _refused(path, error) from error
        if isinstance(part, Summary):
            raise FlashtwinError(
                f"{path.name}: is of {part.program}: {part.why}",
                hint="hand it over alone",
                exit_code=USAGE,
            )
        parts.append(part)
    if not parts:
        raise _refused(*without[0])
    samples = joined(parts) if join else summed(parts)
    patterns = [part.pattern for part in parts if part.pattern is not None]
    other = next((word for word in patterns if word != SEQUENTIAL), None)
    samples = replace(samples, pattern=other or next(iter(patterns), None))
    if not without:
        return samples
    names = ", ".join(path.name for path, _ in without)
    note = f"{names}: no writes, left out"
    return replace(samples, reads=samples.reads or not join, notes=(*samples.notes, note))


def _read(path: Path, choices: Choices) -> Samples | Summary:
    source = Source(path)
    result = format_of(source).read(source, choices)
    if isinstance(result, Samples) and result.size.size < 2:
        raise UnreadableError(
            f"has {result.size.size} samples of writes", f"at least {FEWEST} are needed"
        )
    if not isinstance(result, Samples) or result.pattern is not None:
        return result
    in_name = _PATTERN.search(source.name)
    return replace(result, pattern=in_name[0].lower()) if in_name else result


def _refused(path: Path, error: UnreadableError) -> FlashtwinError:
    return FlashtwinError(f"{path.name}: {error}", hint=error.hint, exit_code=USAGE)
