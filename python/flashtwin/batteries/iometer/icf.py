"""Iometer's configuration files (.icf): the loads that one asks for, and a file for loads.

The grammar, as Iometer's own source writes and reads it (trust S): the first line is `Version X`;
a line with a quotation mark names what follows, indented values come below it, and a name that
begins with a blank only heads columns. Read are run time, queue depth cycling, test type, access
specifications, outstanding I/Os and the assigned specifications; what lies on managers and targets
is this machine's business and is not.

Invariants: what would change the requests and cannot be asked for here is refused with its line;
what a file from `text_of` asks for is read back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NoReturn

from flashtwin.batteries.iometer import ACCESS, Access, Parameters, parse_access
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.units import show_seconds, show_size

SUFFIX = ".icf"
# Versions whose files have this grammar: dates from 1998 on, then 1.1.0.
VERSION = re.compile(r"Version ((19|20)\d\d[.-]\d\d[.-]\d\d\S*|1\.[01](\.\d+)?\S*)")
COLUMNS = ("size", "% of size", "% reads", "% random", "delay", "burst", "align", "reply")
SECTOR = 512
# A file with more lines is no Iometer configuration.
MOST_LINES = 100_000
MOST_DEPTH = 1024


@dataclass
class Setup:
    """What a file asks for; `notes` say what of it is left to the battery."""

    name: str
    seconds: float | None = None
    depths: list[int] = field(default_factory=list)
    cycling: list[int] = field(default_factory=list)
    cycles: bool = False
    size: int | None = None
    specs: dict[str, Access] = field(default_factory=dict)
    assigned: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spec: str = ""

    @property
    def battery(self) -> str:
        """The same as it is typed after --battery."""
        chosen = [self.specs[name] for name in dict.fromkeys(self.assigned)] or [
            *self.specs.values()
        ]
        values = [f"access={'+'.join(str(access) for access in dict.fromkeys(chosen))}"]
        depths = self.cycling if self.cycles else self.depths
        if depths:
            values.append(f"depths={'+'.join(str(depth) for depth in dict.fromkeys(depths))}")
        if self.seconds:
            values.append(f"seconds={show_seconds(self.seconds)}")
        if self.size:
            values.append(f"size={show_size(self.size)}")
        return f"iometer:{','.join(values)}"


@dataclass(frozen=True, kw_only=True)
class _Line:
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


def parse(text: str, name: str) -> Setup:
    """What a file asks for; raises with the file's line and what to change."""
    lines = text.splitlines()
    first = _Line(file=name, number=1, text=lines[0].strip() if lines else "")
    if not VERSION.fullmatch(first.text):
        first.refuse(
            f"{first.text[:40]!r} is no version of an Iometer configuration that is known",
            "the first line has to be Version 1.1.0, or a date such as Version 2006.07.27",
        )
    if len(lines) > MOST_LINES:
        first.refuse(f"the file has more than {MOST_LINES} lines", "give an Iometer configuration")
    setup, key = Setup(name=name), ""
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith("'"):
            # Names that begin with a blank head the columns of the key before.
            key = key if line[1:2].isspace() else _key(line)
        elif line.strip() and key in _READERS:
            _READERS[key](setup, _Line(file=name, number=number, text=line.strip()))
    end = _Line(file=name, number=len(lines), text="")
    if not setup.specs:
        end.refuse("there is no access specification", "add one in Iometer and save the file anew")
    for unknown in set(setup.assigned) - setup.specs.keys():
        end.refuse(f"the assigned specification {unknown!r} is not there", "assign one that is")
    return setup


def _key(line: str) -> str:
    key = line[1:].strip().lower()
    # Later versions have more columns of it.
    for stem in ("number of outstanding ios", "disk maximum size"):
        if key.startswith(stem):
            return stem
    return key


def _run_time(setup: Setup, line: _Line) -> None:
    hours, minutes, seconds = line.numbers(3)
    setup.seconds = hours * 3600.0 + minutes * 60 + seconds
    if not setup.seconds:
        setup.notes.append("the run has no end there: each load runs for the battery's seconds")


def _ramp(setup: Setup, line: _Line) -> None:
    if line.numbers(1)[0]:
        setup.notes.append(f"the ramp of {line.text} s before each load is left out")


def _cycling(setup: Setup, line: _Line) -> None:
    start, end, step = line.numbers(3)
    exponential = line.text.upper().endswith("EXPONENTIAL")
    if not 1 <= start <= end <= MOST_DEPTH or step < (2 if exponential else 1):
        line.refuse(
            f"queue depths cannot go from {start} to {end} by {step}",
            f"depths rise from 1 or more to {MOST_DEPTH} at most",
        )
    setup.cycling = [start]
    while (depth := setup.cycling[-1] * step if exponential else setup.cycling[-1] + step) <= end:
        setup.cycling.append(depth)


def _test_type(setup: Setup, line: _Line) -> None:
    if line.text not in ("NORMAL", "CYCLE_OUTSTANDING_IOS"):
        line.refuse(
            f"the test type {line.text[:60]} cannot be asked for here",
            "set cycling to Normal or to # Outstanding I/Os",
        )
    setup.cycles = line.text != "NORMAL"


def _outstanding(setup: Setup, line: _Line) -> None:
    (depth,) = line.numbers(1)
    if not 1 <= depth <= MOST_DEPTH:
        line.refuse(
            f"{depth} outstanding I/Os cannot be asked for here", f"write 1 to {MOST_DEPTH}"
        )
    setup.depths.append(depth)
    if len(setup.depths) == 2:
        setup.notes.append("several workers become one: their depths are tested one by one")


def _disk(setup: Setup, line: _Line) -> None:
    sectors, start = line.numbers(2)
    if start:
        line.refuse(
            f"a test file that begins at sector {start} cannot be asked for here",
            "set the starting sector to 0",
        )
    setup.size = sectors * SECTOR or None


def _spec_name(setup: Setup, line: _Line) -> None:
    setup.spec = line.text.rpartition(",")[0] or line.text


def _spec(setup: Setup, line: _Line) -> None:
    """One row of a specification, in which everything but size, reads and order is as usual."""
    row = dict(zip(COLUMNS, line.numbers(len(COLUMNS)), strict=True))
    usual = {"% of size": (100,), "% random": (0, 100), "delay": (0,), "burst": (1,), "reply": (0,)}
    for column, values in {**usual, "align": (0, SECTOR, row["size"])}.items():
        if row[column] not in values:
            line.refuse(
                f"{column} of {row[column]} cannot be asked for here",
                f"{column} has to be {' or '.join(str(value) for value in dict.fromkeys(values))}",
            )
    if setup.spec in setup.specs:
        line.refuse(f"{setup.spec!r} has several rows", "make a specification of each row")
    size, reads, random = row["size"], row["% reads"], row["% random"]
    try:
        setup.specs[setup.spec] = parse_access(f"{size}-{reads}r-{random}x")
    except ValueError as error:
        line.refuse(f"{size} bytes with {reads} % of reads cannot be asked for here", str(error))


def _assigned(setup: Setup, line: _Line) -> None:
    if line.text.lower() != "idle":
        setup.assigned.append(line.text)


_READERS: dict[str, Callable[[Setup, _Line], None]] = {
    "run time": _run_time,
    "ramp up time (s)": _ramp,
    "queue depth cycling": _cycling,
    "test type": _test_type,
    "number of outstanding ios": _outstanding,
    "disk maximum size": _disk,
    "access specification name,default assignment": _spec_name,
    ",".join(COLUMNS): _spec,
    "assigned access specs": _assigned,
}


def text_of(parameters: Parameters) -> str:
    """A file that asks Iometer for the loads: test setup, specifications, no managers."""
    hours, rest = divmod(round(parameters.seconds), 3600)
    depths = parameters.depths
    return "\n".join(
        (
            "Version 1.1.0 ",
            f"'TEST SETUP {'=' * 68}",
            "'Run Time",
            "'\thours      minutes    seconds",
            f"\t{hours:<11}{rest // 60:<11}{rest % 60}",
            "'Queue Depth Cycling",
            "'\tstart      end        step       step type",
            f"\t{depths[0]:<11}{depths[-1]:<11}{_step(depths)}",
            "'Test Type",
            "\tCYCLE_OUTSTANDING_IOS",
            "'END test setup",
            f"'ACCESS SPECIFICATIONS {'=' * 57}",
            *(row for access in parameters.access for row in _rows(access)),
            "'END access specifications",
            "Version 1.1.0 ",
            "",
        )
    )


def _step(depths: Sequence[int]) -> str:
    """Step and type of the cycling through these depths."""
    pairs = list(pairwise(depths))
    if len({b - a for a, b in pairs}) <= 1:
        step = pairs[0][1] - pairs[0][0] if pairs else 1
        kind = "LINEAR"
    else:
        step, kind = pairs[0][1] // pairs[0][0], "EXPONENTIAL"
        if step < 2 or any(b != a * step for a, b in pairs):
            step = 0
    if step < 1:
        raise FlashtwinError(
            f"iometer: Iometer cannot cycle through the depths {'+'.join(map(str, depths))}",
            hint="set depths that rise by one step or by one factor, such as 1+2+4+8",
            exit_code=USAGE,
        )
    return f"{step:<11}{kind}"


def _rows(access: Access) -> tuple[str, ...]:
    random = 100 if access.random else 0
    values = (access.block_bytes, 100, access.read_percent, random, 0, 1, 0, 0)
    return (
        "'Access specification name,default assignment",
        f"\t{ACCESS.show(access)},NONE",
        f"'{','.join(COLUMNS)}",
        f"\t{','.join(map(str, values))}",
    )
