"""The grammar of Iometer's configuration files (.icf): what stands in one, with its lines.

It is as Iometer's own source writes and reads it (trust S): the first line is `Version X`;
a line with a quotation mark names what follows, indented values come below it, and a name that
begins with a blank only heads columns. Read are run time, ramp, queue depth cycling, test type,
access specifications, and of each worker its type, depth, disk size, specifications and targets.
Versions before 1998.05.21 have specifications without names, rows of six numbers.

`asked` says which loads follow. Invariant: a line is judged only if a load follows from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    from collections.abc import Callable

# Versions whose files have this grammar: dates from 1998 on, then 1.1.0.
VERSION = re.compile(r"Version ((19|20)\d\d[.-]\d\d[.-]\d\d\S*|1\.[01](\.\d+)?\S*)")
# The first version whose specifications have names.
NAMED = (1998, 5, 21)
COLUMNS = ("size", "% of size", "% reads", "% random", "delay", "burst", "align", "reply")
OLD_COLUMNS = COLUMNS[:6]
# A file with more lines is no Iometer configuration.
MOST_LINES = 100_000


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of values, and where it stands."""

    file: str
    number: int
    text: str

    def refuse(self, why: str, hint: str) -> NoReturn:
        raise FlashtwinError(f"{self.file}:{self.number}: {why}", hint=hint, exit_code=USAGE)

    def numbers(self, count: int) -> list[int]:
        """The first whole numbers of the line, separated by commas or blanks."""
        words = re.split(r"[,\s]+", self.text)[:count]
        if len(words) < count or not all(re.fullmatch(r"[0-9]{1,18}", word) for word in words):
            self.refuse(
                f"{self.text[:60]!r} should begin with {count} whole numbers",
                "save the file anew with Iometer",
            )
        return [int(word) for word in words]


@dataclass(kw_only=True)
class Spec:
    """An access specification: its rows, as they stand there."""

    name: str
    default: str
    line: Line
    rows: list[Line] = field(default_factory=list)


@dataclass(kw_only=True)
class Worker:
    """A worker of a manager; `assigned` is none where the file does not say what it runs."""

    manager: str
    name: str
    kind: str = "DISK"
    outstanding: Line | None = None
    disk: Line | None = None
    assigned: list[Line] | None = None
    targets: list[Line] = field(default_factory=list)


@dataclass(kw_only=True)
class File:
    """What stands in a configuration file."""

    end: Line
    run_time: Line | None = None
    ramp: Line | None = None
    cycling: Line | None = None
    test_type: Line | None = None
    has_names: bool = True
    specs: list[Spec] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    manager: str = ""

    @property
    def worker(self) -> Worker:
        """The worker that is described at the moment."""
        if not self.workers:
            self.workers.append(Worker(manager=self.manager, name="Worker"))
        return self.workers[-1]


def read(text: str, name: str) -> File:
    """What stands in a file; raises where it is none of Iometer's."""
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    first = Line(file=name, number=1, text=lines[0].strip())
    version = VERSION.fullmatch(first.text)
    if not version:
        first.refuse(
            f"{first.text[:40]!r} is no version of an Iometer configuration that is known",
            "the first line has to be Version 1.1.0, or a date such as Version 2006.07.27",
        )
    if len(lines) > MOST_LINES:
        first.refuse(f"the file has more than {MOST_LINES} lines", "give an Iometer configuration")
    file = File(end=Line(file=name, number=len(lines), text=""), has_names=_has_names(version[1]))
    key = ""
    for number, line in enumerate(lines[1:], start=2):
        stripped = line.strip()
        if stripped.startswith("'"):
            # Names that begin with a blank head the columns of the key before.
            if not stripped[1:2].isspace():
                key = _key(stripped)
                _BEGIN.get(key, _nothing)(file)
        elif stripped and key in _READERS:
            _READERS[key](file, Line(file=name, number=number, text=stripped))
    return file


def _has_names(version: str) -> bool:
    date = re.match(r"(\d{4})[.-](\d\d)[.-](\d\d)", version)
    return date is None or tuple(map(int, date.groups())) >= NAMED


def _key(line: str) -> str:
    key = line[1:].strip().lower()
    # Later versions have more columns of some; the name of a section ends with a line of signs.
    for stem in ("number of outstanding ios", "disk maximum size", "access specifications"):
        if key.startswith(stem):
            return stem
    return key


def _nothing(file: File) -> None:
    """Most names only say what the values below them are."""


def _begin_assigned(file: File) -> None:
    file.worker.assigned = file.worker.assigned or []


def _manager(file: File, line: Line) -> None:
    file.manager = line.text.partition(",")[2].strip() or line.text


def _worker(file: File, line: Line) -> None:
    file.workers.append(Worker(manager=file.manager, name=line.text))


def _kind(file: File, line: Line) -> None:
    file.worker.kind = re.sub(r"\s*,\s*", " ", line.text.upper())


def _assigned(file: File, line: Line) -> None:
    assert file.worker.assigned is not None, "the name of the section stands before its lines"
    file.worker.assigned.append(line)


def _spec_name(file: File, line: Line) -> None:
    name, _, default = line.text.rpartition(",")
    file.specs.append(Spec(name=name or line.text, default=default.strip().upper(), line=line))


def _row(file: File, line: Line) -> None:
    if not file.specs:
        line.refuse("a row of no specification", "save the file anew with Iometer")
    file.specs[-1].rows.append(line)


def _old_row(file: File, line: Line) -> None:
    """A row of a version without names: rows belong together until they make 100 %."""
    if file.has_names:
        return
    shares = [row.numbers(2)[1] for row in file.specs[-1].rows] if file.specs else []
    if not shares or sum(shares) >= 100:
        name = f"Untitled {len(file.specs) + 1}"
        file.specs.append(Spec(name=name, default="ALL", line=line))
    # These had neither an alignment nor replies.
    numbers = [*line.numbers(len(OLD_COLUMNS)), 0, 0]
    text = ",".join(map(str, numbers))
    file.specs[-1].rows.append(Line(file=line.file, number=line.number, text=text))


def _keep(name: str) -> Callable[[File, Line], None]:
    def keep(file: File, line: Line) -> None:
        setattr(file, name, line)

    return keep


def _keep_of_worker(name: str) -> Callable[[File, Line], None]:
    def keep(file: File, line: Line) -> None:
        setattr(file.worker, name, line)

    return keep


def _target(file: File, line: Line) -> None:
    file.worker.targets.append(line)


_BEGIN: dict[str, Callable[[File], None]] = {"assigned access specs": _begin_assigned}
_READERS: dict[str, Callable[[File, Line], None]] = {
    "run time": _keep("run_time"),
    "ramp up time (s)": _keep("ramp"),
    "queue depth cycling": _keep("cycling"),
    "test type": _keep("test_type"),
    "access specifications": _old_row,
    "access specification name,default assignment": _spec_name,
    ",".join(COLUMNS): _row,
    ",".join(OLD_COLUMNS): _old_row,
    "manager id, manager name": _manager,
    "worker": _worker,
    "worker type": _kind,
    "number of outstanding ios": _keep_of_worker("outstanding"),
    "disk maximum size": _keep_of_worker("disk"),
    "assigned access specs": _assigned,
    "target": _target,
}
