"""A job file as sections of lines: comments gone, includes followed, nothing read into values yet.

As fio has it: `;` and `#` begin a comment anywhere in a line, also between quotes, which mean
nothing; there is no continuation of lines; a section whose name begins with `global` changes the
defaults of all sections after it; an include stands within a section and holds options only. Its
path is tried as it stands, then beside the file that names it.

`expand` replaces in an option what fio replaces first: `${NAME}`, `$pagesize`, `$mb_memory`,
`$ncpus`. An environment variable that is not set is replaced by nothing, as fio does it; the reader
is told, and where nothing is left of a value, it is refused, as by fio. Where one of the three
words was replaced, arithmetic without parentheses is reckoned too (`8*$mb_memory`), as fio does it
through bc.

Invariants: nothing is ever executed; what is read is bounded, whatever a file says: in bytes,
lines, the length of a line, includes and jobs; only regular files are opened, and the text is UTF-8
without control characters.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from flashtwin import system
from flashtwin.errors import USAGE
from flashtwin.fio.language.errors import BadValueError, JobFileError, Where
from flashtwin.fio.language.numbers import evaluate, integer
from flashtwin.inputs import InputError, encoding_title, read_regular, wide_encoding

_INCLUDE = re.compile(r"include(?:\s+|\s*=\s*)(\S.*)")
# A job file is smaller than this; a disk that was named by mistake is not.
_BYTES_MOST = 4 << 20
# fio's buffer of a line; it reads the rest of a longer one as a line of its own.
_LINE_MOST = 8191
# The jobs that fio takes; what stands in one job is read again for each that inherits it.
JOBS_MOST = 4096
# Lines of options in a file and all that it includes, and how often and how deep it includes:
# files that each include the next one twice would have no end.
_LINES_MOST = 50_000
_INCLUDES_MOST, _DEPTH_MOST = 256, 16
_CONTROL = re.compile("[\0-\x08\x0a-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Line:
    """One option as it is written: `name=value`, or the name alone."""

    text: str
    where: Where


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section with its lines. `first`: it is the first of a job file that follows another one,
    and waits for the jobs of that one. `anew`: what was said for all jobs before it, on the command
    line or in another file, does not hold any more."""

    name: str
    where: Where
    lines: tuple[Line, ...]
    first: bool = False
    anew: bool = False

    @property
    def is_global(self) -> bool:
        return self.name.startswith("global")


def read(path: str, *, after: bool = False) -> list[Section]:
    """The sections of a job file; `-` is the standard input. `after`: files before it had jobs."""
    file = "standard input" if path == "-" else path
    sections = _Reader(path).sections(_text(path, ()), file, after)
    return [replace(section, anew=after and not place) for place, section in enumerate(sections)]


def read_text(text: str, *, file: str = "text") -> list[Section]:
    """The sections of a text; its includes are looked for in the working directory."""
    return _Reader("").sections(text, file, False)


def check_characters(text: str, where: Where) -> None:
    """Refuse what no option holds: control characters, and bytes that are no UTF-8."""
    odd = _CONTROL.search(text)
    if odd is None:
        return
    if odd[0] >= "\ud800":
        hint = "save the file as UTF-8" if where.line else "type it in UTF-8"
        raise JobFileError(where, "this is not text in UTF-8", hint=hint)
    raise JobFileError(
        where, f"the control character {odd[0]!a} is not part of a job", hint="take it out"
    )


class _Reader:
    """One file with all that it includes; counts what it has read."""

    def __init__(self, path: str):
        self._path = path
        self._lines = self._includes = 0

    def sections(self, text: str, file: str, waiting: bool) -> list[Section]:
        sections: list[Section] = []
        name: str | None = None
        began = Where(file=file, line=1)
        lines: list[Line] = []
        for line in _lines(text, file, ()):
            if not line.text.startswith("["):
                if name is None:
                    raise JobFileError(
                        line.where,
                        f"{line.text} stands before any section",
                        hint="write [global] above it, or the [name] of a job",
                    )
                lines += self._followed(line, self._path)
                continue
            if name is not None:
                sections.append(_section(name, began, lines, waiting))
                waiting = waiting and name.startswith("global")
            name, began, lines = _named(line), line.where, []
            if len(sections) >= JOBS_MOST:
                raise JobFileError(line.where, f"more than {JOBS_MOST} sections, fio's own bound")
        return [*sections, _section(name, began, lines, waiting)] if name is not None else sections

    def _followed(self, line: Line, path: str) -> Iterator[Line]:
        """The line itself, or the lines of the file that it includes."""
        match = _INCLUDE.fullmatch(line.text)
        if not match:
            self._lines += 1
            if self._lines > _LINES_MOST:
                raise JobFileError(line.where, f"more than {_LINES_MOST} lines of options")
            yield line
            return
        included = _include(match[1], path)
        chain = (*line.where.chain, line.where)
        self._check_include(line, included, chain)
        for inner in _lines(_text(included, chain), included, chain):
            if inner.text.startswith("["):
                raise JobFileError(
                    inner.where,
                    f"{inner.text} begins a section in an included file, which fio refuses",
                    hint="an included file holds options only",
                )
            yield from self._followed(inner, included)

    def _check_include(self, line: Line, included: str, chain: tuple[Where, ...]) -> None:
        if any(_same(included, Path(place.file)) for place in chain):
            circle = " -> ".join([*(place.alone for place in chain), included])
            raise JobFileError(
                line.where,
                f"the includes go round in a circle: {circle}",
                hint="leave one of them out",
            )
        self._includes += 1
        if self._includes > _INCLUDES_MOST or len(chain) > _DEPTH_MOST:
            raise JobFileError(
                line.where,
                f"more than {_INCLUDES_MOST} includes, or {_DEPTH_MOST} within one another",
                hint="write what they hold into one file",
            )


def _section(name: str, where: Where, lines: list[Line], waiting: bool) -> Section:
    first = waiting and not name.startswith("global")
    return Section(name=name, where=where, lines=tuple(lines), first=first)


def _named(line: Line) -> str:
    # As fio has it, a bracket too many belongs to the name.
    match = re.fullmatch(r"\[(.*)\]", line.text)
    if not match or "[" in match[1]:
        raise JobFileError(
            line.where, f"{line.text} is not a section", hint="write [name] alone on its line"
        )
    return match[1]


def _lines(text: str, file: str, chain: tuple[Where, ...]) -> Iterator[Line]:
    if text.startswith("\ufeff"):
        raise JobFileError(
            Where(file=file, line=1, chain=chain),
            "the file begins with a byte order mark, which fio refuses",
            hint="save it as UTF-8 without one",
        )
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        line = re.split("[;#]", raw, maxsplit=1)[0].strip(" \t\v\f\0")
        if not line:
            continue
        where = Where(file=file, line=number, chain=chain)
        check_characters(line, where)
        if len(raw) > _LINE_MOST:
            raise JobFileError(
                where,
                f"a line of {len(raw)} characters, and fio reads {_LINE_MOST} of it",
                hint="make several lines of it",
            )
        yield Line(text=line, where=where)


def _include(name: str, path: str) -> str:
    if os.path.exists(name) or "/" not in path:
        return name
    return os.path.join(os.path.dirname(path), name)


def _same(first: str, second: Path) -> bool:
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False


def _text(path: str, chain: tuple[Where, ...]) -> str:
    where = chain[-1] if chain else Where(file=path, line=0)
    if path == "-":
        data = sys.stdin.buffer.read(_BYTES_MOST + 1)
        if len(data) > _BYTES_MOST:
            raise JobFileError(where, f"more than {_BYTES_MOST >> 20} MiB are no job file")
    else:
        data = _read(path, chain, where)
    if encoding := wide_encoding(data[:4096]):
        raise JobFileError(
            Where(file=path, line=1, chain=chain),
            f"the file is text in {encoding_title(encoding)}, which fio does not read",
            hint="save it as UTF-8 without a byte order mark",
        )
    # What is no UTF-8 matters where it is not in a comment: `check_characters` tells the line.
    return data.decode("utf-8", errors="surrogateescape")


def _read(path: str, chain: tuple[Where, ...], where: Where) -> bytes:
    try:
        return read_regular(path, most_bytes=_BYTES_MOST)
    except InputError as error:
        reason, hint = f"cannot read {path}: {error.why}", None
        if error.missing:
            reason = "there is no such file" if not chain else f"there is no file {path} to include"
        if error.exit_code == USAGE:
            hint = "give the path of a job file"
        failure = JobFileError(where, reason, hint=hint)
        failure.exit_code = error.exit_code
        raise failure from error


# No variable's name is longer, and a text of many `${` is read once.
_VARIABLE = re.compile(r"\$\{([^}]{1,255})\}")
_WORD = re.compile(r"\$(pagesize|mb_memory|ncpus)")
_SUM = re.compile(r"[0-9\s.+\-*/%^()]*", re.A)
# Characters of an option with its variables replaced.
_MOST = 65_536


def expand(text: str, environment: Mapping[str, str], note: Callable[[str], None]) -> str:
    """The option with its variables and words replaced."""
    length = len(text)

    def variable(match: re.Match[str]) -> str:
        nonlocal length
        name = match[1]
        if name not in environment:
            note(f"the environment variable {name} is not set: fio reads nothing in its place")
        value = environment.get(name, "")
        length += len(value)
        if length > _MOST:
            raise BadValueError(f"with its variables replaced it has more than {_MOST} characters")
        return value

    def word(match: re.Match[str]) -> str:
        value = str(_MACHINE[match[1]]())
        note(f"${match[1]} is {value} on this machine")
        return value

    with_variables = _VARIABLE.sub(variable, text)
    _, equals, value = with_variables.partition("=")
    unset = [name for name in _VARIABLE.findall(text) if not environment.get(name)]
    if unset and equals and not value.strip():
        empty = "is empty" if unset[0] in environment else "is not set"
        raise BadValueError(
            f"${{{unset[0]}}} {empty}, and nothing is left of {text}",
            hint=f"set it, for example {unset[0]}=… flashtwin fio FILE, or write the value itself",
        )
    replaced, count = _WORD.subn(word, with_variables)
    return _reckoned(replaced) if count else replaced


def _reckoned(text: str) -> str:
    name, equals, value = text.partition("=")
    plain = _SUM.fullmatch(value) and re.search("[0-9]", value)
    if not equals or not plain or not re.search(r"[-+*/]", value):
        return text
    return f"{name}={int(evaluate(value, _decimal))}"


def _decimal(text: str) -> Fraction:
    before, _, behind = text.partition(".")
    return Fraction(integer(before + behind), 10 ** len(behind))


_MACHINE: dict[str, Callable[[], int]] = {
    "pagesize": system.page_bytes,
    "mb_memory": lambda: (system.memory_bytes() or 0) >> 20,
    "ncpus": lambda: os.cpu_count() or 1,
}
