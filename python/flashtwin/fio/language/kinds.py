"""The kinds of values that options take: each reads text into a typed value and writes it back.

What `show` writes is read as the same value under any `kb_base`, by us and by fio: sizes are bare
numbers of bytes, times whole microseconds. A value by direction is a tuple of reads, writes and
trims; `None` in it stands for what was there before (a section's over `[global]`'s, else the
default). fio splits single values at `,`, `:` and `-` too and keeps one of the parts; such values
are refused, as nobody means that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from flashtwin.drives.real.options import by_direction
from flashtwin.fio.language import numbers
from flashtwin.fio.language.errors import BadValueError
from flashtwin.fio.language.numbers import Reading
from flashtwin.model.units import show_number

ByDirection = tuple[Any, Any, Any]

# Characters of all the names that one option gathers from several lines.
NAMES_MOST = 65_536


class Kind(Protocol):
    """How an option's value is read and written."""

    @property
    def name(self) -> str:
        """What the documentation calls it."""
        ...

    def parse(self, text: str | None, reading: Reading) -> Any:
        """The value of what stands after `=`; `None` where no `=` was written."""
        ...

    def show(self, value: Any) -> str | None:
        """What to write after `=`."""
        ...

    def over(self, before: Any, value: Any) -> Any:
        """The value, where `before` was set already."""
        ...


class _Plain:
    """A value that has to be given, and that replaces an earlier one."""

    def over(self, before: Any, value: Any) -> Any:
        return value


@dataclass(frozen=True, kw_only=True)
class Text(_Plain):
    """Characters as they are. Blanks at the end and comments are gone before."""

    name: str = "text"

    def parse(self, text: str | None, reading: Reading) -> str:
        value = required(text)
        if not value.strip():
            raise BadValueError("an empty value, which fio refuses", hint="write it after the =")
        if has_control(value):
            raise BadValueError("a control character is not part of a value")
        return value

    def show(self, value: str) -> str:
        return value


@dataclass(frozen=True, kw_only=True)
class Names(Text):
    """Names separated by colons; fio adds those of a later line to those of an earlier one."""

    name: str = "text"

    def over(self, before: Any, value: str) -> str:
        names = value if before is None else f"{before}:{value}"
        if len(names) > NAMES_MOST:
            raise BadValueError(
                f"names of {len(names)} characters together, and {NAMES_MOST} are possible",
                hint="nrfiles=N makes many files without naming them",
            )
        return names


@dataclass(frozen=True, kw_only=True)
class Prefix(Text):
    """A log's name; without one, fio takes the job's."""

    name: str = "text or nothing"

    def parse(self, text: str | None, reading: Reading) -> str:
        return super().parse(text, reading) if text and text.strip() else ""

    def show(self, value: str) -> str | None:  # type: ignore[override]
        return value or None


@dataclass(frozen=True, kw_only=True)
class Flag(_Plain):
    """0 or 1; `bare`: also without a value, which is 1, and any other number."""

    bare: bool = False

    @property
    def name(self) -> str:
        return "flag" if self.bare else "0 or 1"

    def parse(self, text: str | None, reading: Reading) -> bool:
        if text is None and self.bare:
            return True
        match = re.fullmatch(r"\s*(?:0[xX]([0-9a-fA-F]+)|([0-9]+))", required(text))
        if not match:
            raise BadValueError(f"{text!r} is neither 0 nor 1", hint="write 0 or 1")
        value = numbers.integer(match[1], 16) if match[1] else numbers.integer(match[2])
        if value > 1 and not self.bare:
            raise BadValueError(f"{value} is neither 0 nor 1", hint="write 0 or 1")
        return bool(value)

    def show(self, value: bool) -> str:
        return str(int(value))


@dataclass(frozen=True, kw_only=True)
class Integer(_Plain):
    """A whole number, suffixes allowed, from `least` to `most`; `power`: a power of two."""

    least: int = 0
    most: int = numbers.MOST
    power: bool = False
    name: str = "whole number"

    def parse(self, text: str | None, reading: Reading) -> int:
        value = numbers.without_rest(required(text), reading)
        single(value)
        return self.checked(numbers.size(value, reading), value)

    def checked(self, value: int, text: str) -> int:
        """The value, if it lies within the bounds."""
        if not self.least <= value <= self.most:
            bounds = f"{self.least} or more"
            if self.most != numbers.MOST:
                bounds = f"between {self.least} and {self.most}"
            raise BadValueError(f"{text} is out of range", hint=f"write a number {bounds}")
        if self.power and value & (value - 1):
            raise BadValueError(f"{text} is not a power of two", hint="write for example 4k")
        return value

    def show(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True, kw_only=True)
class Percent:
    """A percentage of something that is known later."""

    percent: int


@dataclass(frozen=True, kw_only=True)
class Size(_Plain):
    """Bytes, or a percentage."""

    name: str = "size or percentage"

    def parse(self, text: str | None, reading: Reading) -> int | Percent:
        value = numbers.without_rest(required(text), reading)
        # Templates of Python's double the sign, and fio takes both.
        match = re.fullmatch(r"\s*([0-9]+)%%?", value)
        if match:
            percent = numbers.integer(match[1])
            if percent > 100:
                raise BadValueError(f"{value} is more than 100 %", hint="write 0% to 100%")
            return Percent(percent=percent)
        single(value)
        return Integer().checked(numbers.size(value, reading), value)

    def show(self, value: int | Percent) -> str:
        return f"{value.percent}%" if isinstance(value, Percent) else str(value)


@dataclass(frozen=True, kw_only=True)
class Time(_Plain):
    """Microseconds; a bare number is of `unit`."""

    unit: str = "s"

    @property
    def name(self) -> str:
        return f"time, bare numbers {self.unit}"

    def parse(self, text: str | None, reading: Reading) -> int:
        value = required(text)
        single(value)
        return numbers.microseconds(value, self.unit)

    def show(self, value: int) -> str:
        return f"{value}us"


@dataclass(frozen=True, kw_only=True)
class TimeRange(_Plain):
    """One time, or the two between which one is drawn."""

    name: str = "time or range of times"

    def parse(self, text: str | None, reading: Reading) -> tuple[int, int]:
        value = required(text)
        parts = value.split("-") if not value.lstrip().startswith("(") else [value]
        if len(parts) > 2:
            raise BadValueError(
                f"{value} is not a range of times", hint="write 10s-20s, or one time"
            )
        low, high = (numbers.microseconds(part, "s") for part in (parts[0], parts[-1]))
        return (min(low, high), max(low, high))

    def show(self, value: tuple[int, int]) -> str:
        return f"{value[0]}us" if value[0] == value[1] else f"{value[0]}us-{value[1]}us"


@dataclass(frozen=True, kw_only=True)
class Real(_Plain):
    """A number with a point."""

    least: float
    most: float
    name: str = "number"

    def parse(self, text: str | None, reading: Reading) -> float:
        return self.checked(numbers.real(required(text)), required(text))

    def checked(self, value: float, text: str) -> float:
        """The value, if it lies within the bounds."""
        if not self.least <= value <= self.most:
            bounds = f"{self.least:g} to {self.most:g}"
            raise BadValueError(f"{text} is out of range", hint=f"write a number from {bounds}")
        return value

    def show(self, value: float) -> str:
        return show_number(value)


@dataclass(frozen=True, kw_only=True)
class Reals(_Plain):
    """Numbers with a point, separated by colons; at most 20, which is fio's bound."""

    least: float
    most: float
    name: str = "numbers with :"

    def parse(self, text: str | None, reading: Reading) -> tuple[float, ...]:
        value = required(text)
        parts = value.split(":")
        if len(parts) > 20:
            raise BadValueError(f"{value} has more than the 20 numbers that fio takes")
        kind = Real(least=self.least, most=self.most)
        return tuple(kind.checked(numbers.real(part), part) for part in parts)

    def show(self, value: Sequence[float]) -> str:
        return ":".join(show_number(number) for number in value)


@dataclass(frozen=True, kw_only=True)
class Choice(_Plain):
    """One of some words; `others` maps further spellings to them."""

    words: tuple[str, ...]
    others: tuple[tuple[str, str], ...] = ()
    name: str = "word"

    def parse(self, text: str | None, reading: Reading) -> str:
        value = required(text)
        return self.chosen(value, dict(self.others).get(value, value))

    def chosen(self, text: str, word: str) -> str:
        """The word, if it is one of them."""
        if word in self.words:
            return word
        if text != text.lstrip():
            raise BadValueError(
                f"a blank stands before {text.strip()}, which fio refuses",
                hint="write the value right after the =",
            )
        raise BadValueError(
            f"{text or 'an empty value'} is none of this option's values",
            hint=closest(text, (*self.words, *dict(self.others))),
        )

    def show(self, value: str) -> str:
        return value


@dataclass(frozen=True, kw_only=True)
class Directions:
    """One to three values for reads, writes and trims; the last one holds for those that are not
    given. An empty one keeps what was set before: `,8k` is for writes and trims, `8k,` for reads
    alone."""

    each: Integer | Size | Time

    @property
    def name(self) -> str:
        return f"{self.each.name}, by direction"

    def parse(self, text: str | None, reading: Reading) -> ByDirection:
        value = numbers.without_rest(required(text), reading)
        return directions(value, lambda part: self.each.parse(part, reading))

    def show(self, value: ByDirection) -> str:
        return show_directions(value, self.each.show)

    def over(self, before: Any, value: ByDirection) -> ByDirection:
        return over_directions(before, value)


def directions(text: str, parse: Any) -> ByDirection:
    """The values of up to three parts."""
    parts = text.split(",")
    if len(parts) > 3:
        raise BadValueError(
            f"{text} has {len(parts)} parts", hint="write at most three: reads,writes,trims"
        )
    values = [parse(part) if part.strip() else None for part in parts]
    if all(value is None for value in values):
        raise BadValueError("an empty value")
    last = values[-1]
    filled = [*values, last, last][:3]
    return (filled[0], filled[1], filled[2])


def show_directions(value: ByDirection, show: Any) -> str:
    """As few parts as mean the same."""
    return by_direction(["" if single is None else show(single) for single in value])


def over_directions(before: Any, value: ByDirection) -> ByDirection:
    """`value`, with what it leaves empty taken from before."""
    old = before if before is not None else (None, None, None)
    filled = [new if new is not None else earlier for new, earlier in zip(value, old, strict=True)]
    return (filled[0], filled[1], filled[2])


def required(text: str | None) -> str:
    """The text, which an option of this kind needs."""
    if text is None:
        raise BadValueError("a value is missing", hint="write it after a =")
    return text


def single(text: str) -> None:
    """Refuse text that fio would take for several values."""
    body = text.strip()
    if body.startswith("("):
        return
    parts = re.split(r"[,:]|(?<=[0-9A-Za-z%])-", body)
    if len(parts) > 1:
        raise BadValueError(f"{body} is more than one value", hint="this option takes one number")


def has_control(text: str) -> bool:
    """Whether a text has a character that could begin a new line, or move a terminal's cursor."""
    return re.search(r"[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]", text) is not None


def closest(text: str, words: Sequence[str]) -> str:
    """A hint: the word that was probably meant, or all of them."""
    import difflib

    near = difflib.get_close_matches(text.strip().lower(), words, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else f"write one of {', '.join(words)}"
