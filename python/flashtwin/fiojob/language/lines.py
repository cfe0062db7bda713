"""A job file as sections of lines: comments gone, includes followed, nothing read into values yet.

As fio has it: `;` and `#` begin a comment anywhere in a line, also between quotes, which mean
nothing; there is no continuation of lines; a section whose name begins with `global` changes the
defaults of all sections after it; an include stands within a section and holds options only. Its
path is tried as it stands, then beside the file that names it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flashtwin.errors import ENVIRONMENT
from flashtwin.fiojob.language.where import JobFileError, Where

_INCLUDE = re.compile(r"include(?:\s+|\s*=\s*)(\S.*)")
# No job file of anybody's is larger; a disk given by mistake is.
_BYTES_MOST = 16 << 20


@dataclass(frozen=True, kw_only=True)
class Line:
    """One option as it is written: `name=value`, or the name alone."""

    text: str
    where: Where


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section with its lines; `first` in a job file after another one: it waits for those."""

    name: str
    where: Where
    lines: tuple[Line, ...]
    first: bool = False

    @property
    def is_global(self) -> bool:
        return self.name.startswith("global")


def read(path: str, *, after: bool = False) -> list[Section]:
    """The sections of a job file; `-` is the standard input. `after`: files before it had jobs."""
    file = "standard input" if path == "-" else path
    return list(_sections(_text(path, ()), file, path, after))


def read_text(text: str, *, file: str = "text") -> list[Section]:
    """The sections of a text; its includes are looked for in the working directory."""
    return list(_sections(text, file, "", False))


def _sections(text: str, file: str, path: str, after: bool) -> Iterator[Section]:
    name: str | None = None
    began = Where(file=file, line=1)
    lines: list[Line] = []
    waiting = after
    for line in _lines(text, file, ()):
        if not line.text.startswith("["):
            if name is None:
                raise JobFileError(
                    line.where,
                    f"{line.text} stands before any section",
                    hint="write [global] above it, or the [name] of a job",
                )
            lines += _followed(line, path)
            continue
        if name is not None:
            yield _made(name, began, lines, waiting)
            waiting = waiting and name.startswith("global")
        name, began, lines = _named(line), line.where, []
    if name is not None:
        yield _made(name, began, lines, waiting)


def _made(name: str, where: Where, lines: list[Line], waiting: bool) -> Section:
    first = waiting and not name.startswith("global")
    return Section(name=name, where=where, lines=tuple(lines), first=first)


def _named(line: Line) -> str:
    # As fio has it, a bracket too many belongs to the name.
    match = re.fullmatch(r"\[(.*)\]", line.text)
    if not match or "[" in match[1]:
        raise JobFileError(
            line.where, f"{line.text} is no section", hint="write [name] alone on its line"
        )
    return match[1]


def _lines(text: str, file: str, chain: tuple[Where, ...]) -> Iterator[Line]:
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        line = re.split("[;#]", raw, maxsplit=1)[0].strip(" \t\v\f\0")
        if line:
            yield Line(text=line, where=Where(file=file, line=number, chain=chain))


def _followed(line: Line, path: str) -> Iterator[Line]:
    """The line itself, or those of the file that it includes."""
    match = _INCLUDE.fullmatch(line.text)
    if not match:
        yield line
        return
    found = _include(match[1], path)
    chain = (*line.where.chain, line.where)
    before = [Path(one.file) for one in chain]
    if any(_same(found, one) for one in before):
        circle = " -> ".join([*(one.alone for one in chain), found])
        raise JobFileError(
            line.where, f"the includes go round in a circle: {circle}", hint="leave one of them out"
        )
    for inner in _lines(_text(found, chain), found, chain):
        if inner.text.startswith("["):
            raise JobFileError(
                inner.where,
                f"{inner.text} begins a section in an included file, which fio refuses",
                hint="an included file holds options only",
            )
        yield from _followed(inner, found)


def _include(name: str, path: str) -> str:
    if os.path.exists(name) or "/" not in path:
        return name
    return os.path.join(os.path.dirname(path), name)


def _same(one: str, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _text(path: str, chain: tuple[Where, ...]) -> str:
    here = chain[-1] if chain else Where(file=path, line=0)
    try:
        if path == "-":
            data = sys.stdin.buffer.read(_BYTES_MOST + 1)
        else:
            if not Path(path).exists():
                raise JobFileError(
                    here,
                    "there is no such file" if not chain else f"{path} is not there to include",
                    hint="give the path of a job file",
                )
            if Path(path).is_dir():
                raise JobFileError(here, f"{path} is a directory and no job file")
            with open(path, "rb") as file:
                data = file.read(_BYTES_MOST + 1)
    except OSError as error:
        failure = JobFileError(here, f"{path} cannot be read: {error.strerror}")
        failure.exit_code = ENVIRONMENT
        raise failure from error
    if len(data) > _BYTES_MOST:
        raise JobFileError(here, f"{path} is larger than {_BYTES_MOST >> 20} MiB: no job file")
    return data.decode("utf-8", errors="replace")
