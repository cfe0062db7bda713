"""Typed parameters of a battery: a frozen dataclass whose fields know how to be typed in and shown.

A battery writes `passes: int = parameter(2, COUNT, "how often the drive is filled")`. Everything a
user sees of a parameter (its type, its default, its meaning, the error for a bad value) comes from
there, so a battery needs no parsing of its own.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from flashtwin.errors import USAGE, FlashtwinError, shortened
from flashtwin.model import units
from flashtwin.model.document import Document

if TYPE_CHECKING:
    from flashtwin.model.target import DriveInfo

P = TypeVar("P")
# A number above every parameter's bound, and how many characters of a value a message shows.
MOST_WHOLE, MOST_SHOWN = 10**40, 100


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How a value is written: `parse` raises `ValueError` with what to write instead.

    `plain` is the value for JSON; `accepts` tells a value that needs no parsing.
    """

    name: str
    parse: Callable[[str], Any]
    show: Callable[[Any], str] = str
    plain: Callable[[Any], Any] = lambda value: value
    accepts: Callable[[Any], bool] = lambda value: not isinstance(value, str)


class Row(Document, frozen=True):
    """One line of `flashtwin batteries NAME`."""

    name: str
    type: str
    default: str
    meaning: str


def parameter(default: Any, kind: Kind, meaning: str, of_drive: Collection[Any] = ()) -> Any:
    """A field of a battery's parameters. `of_drive`: its values that `here` divides by the scale of
    a copy."""
    if of_drive:
        usual = "the usual" if default is None or isinstance(default, tuple) else kind.show(default)
        meaning = f"{meaning}; on a scaled copy {usual} is divided by the scale"
    return field(default=default, metadata={"kind": kind, "meaning": meaning, "of_drive": of_drive})


def rows(of: type) -> list[Row]:
    """Every parameter of a class, in order."""
    return [
        Row(
            name=field.name,
            type=field.metadata["kind"].name,
            default=field.metadata["kind"].show(field.default),
            meaning=field.metadata["meaning"],
        )
        for field in fields(of)
        if field.default is not MISSING
    ]


def build(of: type[P], battery: str, values: Mapping[str, object]) -> P:
    """Parameters from what the user set: text is parsed, other values are taken if they fit."""
    known = {field.name: field.metadata["kind"] for field in fields(of)}  # type: ignore[arg-type]
    parsed = {}
    for name, value in values.items():
        if name not in known:
            raise _unknown(battery, name, list(known))
        parsed[name] = _value(battery, name, known[name], value)
    return of(**parsed)


def plain(parameters: object) -> dict[str, Any]:
    """The parameters as JSON values, in order."""
    return {
        field.name: field.metadata["kind"].plain(getattr(parameters, field.name))
        for field in fields(parameters)  # type: ignore[arg-type]
    }


def words_for_none(of: type) -> dict[str, str]:
    """The word for "no value" of each parameter that may have none, by the parameter's name."""
    kinds = {field.name: field.metadata["kind"] for field in fields(of)}
    return {name: kind.show(None) for name, kind in kinds.items() if kind.accepts(None)}


def nearest(word: str, known: list[str]) -> str:
    """ " (did you mean X?)" where a known word is near; otherwise nothing."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""


def _value(battery: str, name: str, kind: Kind, value: object) -> Any:
    try:
        if isinstance(value, str):
            return kind.parse(value)
        if not kind.accepts(value) or _endless(value):
            raise ValueError(f"it should be {kind.name}")
        return kind.parse(kind.show(value))
    except ValueError as error:
        text = "a number without end" if _endless(value) else str(value)
        raise FlashtwinError(
            f"{battery}: {name}={shortened(text, MOST_SHOWN)} is not {kind.name}",
            hint=str(error),
            exit_code=USAGE,
        ) from None


def _endless(value: object) -> bool:
    """Whether a number has more digits than Python writes."""
    return isinstance(value, int) and abs(value) >= MOST_WHOLE


def _unknown(battery: str, name: str, known: list[str]) -> FlashtwinError:
    return FlashtwinError(
        f"{battery} has no parameter {name}{nearest(name, known)}",
        hint=f"{battery} takes {', '.join(known)}; see flashtwin batteries {battery}",
        exit_code=USAGE,
    )


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def integer(low: int, high: int) -> Kind:
    """A whole number within limits."""
    return _within(f"a whole number from {low} to {high}", units.parse_whole, low, high)


def decimal(low: float, high: float) -> Kind:
    """A number within limits."""
    name = f"a number from {low:g} to {high:g}"
    return _within(name, lambda text: float(units.parse_number(text)), low, high)


def _within(name: str, read: Callable[[str], float], low: float, high: float) -> Kind:
    def parse(text: str) -> float:
        try:
            number = read(text)
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            raise ValueError(f"write {name}")
        return number

    return Kind(name=name, parse=parse, show=units.show_number, accepts=_number)


def choice(*words: str) -> Kind:
    """One of a few words."""

    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"write one of {', '.join(words)}{nearest(text, list(words))}")
        return text

    return Kind(name=f"one of {', '.join(words)}", parse=parse)


def or_word(word: str, kind: Kind) -> Kind:
    """A value, or a word that stands for none."""
    return Kind(
        name=f"{kind.name}, or {word}",
        parse=lambda text: None if text == word else kind.parse(text),
        show=lambda value: word if value is None else kind.show(value),
        plain=lambda value: None if value is None else kind.plain(value),
        accepts=lambda value: value is None or kind.accepts(value),
    )


def several(kind: Kind, plural: str) -> Kind:
    """Values joined with `+`; each may stand there once."""

    def parse(text: str) -> tuple[Any, ...]:
        values = tuple(kind.parse(part) for part in text.split("+"))
        if len(set(values)) != len(values):
            raise ValueError("write each of them once")
        return values

    return Kind(
        name=plural,
        parse=parse,
        show=lambda values: "+".join(kind.show(value) for value in values),
        plain=lambda values: [kind.plain(value) for value in values],
        accepts=lambda values: isinstance(values, tuple | list),
    )


SIZE = Kind(name="a size", parse=units.parse_size, show=units.show_size, accepts=_number)
SECONDS = Kind(name="a time", parse=units.parse_seconds, show=units.show_seconds, accepts=_number)


@dataclass(frozen=True, kw_only=True)
class UsualTime:
    """A time that a parameter leaves to the battery: shorter where a test takes real time."""

    simulated_s: float
    real_s: float

    def parameter(self, meaning: str) -> Any:
        """The parameter; none, which is typed as auto, takes the usual time."""
        usual = f"auto: {self.simulated_s:g} s, in real time {self.real_s:g} s"
        kind, meaning = or_word("auto", SECONDS), f"{meaning}; {usual}"
        return field(default=None, metadata={"kind": kind, "meaning": meaning, "usual": self})

    def chosen(self, seconds: float | None, info: DriveInfo) -> float:
        """The parameter's seconds, or the usual ones on a target."""
        if seconds is not None:
            return seconds
        return self.simulated_s if info.can.virtual_time else self.real_s


def seconds_of(parameters: Any, name: str, info: DriveInfo) -> float:
    """The seconds of a parameter that may be left to the battery, on a target."""
    (metadata,) = (field.metadata for field in fields(parameters) if field.name == name)
    seconds: float = metadata["usual"].chosen(getattr(parameters, name), info)
    return seconds


def here(parameters: Any, name: str, info: DriveInfo) -> Any:
    """The bytes or seconds of a parameter on a target. The usual ones and those of presets are the
    whole drive's. On a scaled copy they are divided by its scale, so that a file overflows the
    copy's cache exactly where it would overflow the drive's. Any other value is taken as it is."""
    (of_drive,) = (field.metadata["of_drive"] for field in fields(parameters) if field.name == name)
    amount = getattr(parameters, name)
    if amount is None or amount not in of_drive:
        return amount
    return tuple(map(info.share_of, amount)) if isinstance(amount, tuple) else info.share_of(amount)


def shrinks(of: type) -> bool:
    """True if `here` divides a parameter of the battery by the scale: a size or a time."""
    return any(field.metadata.get("of_drive") for field in fields(of))


def host_time(default_us: float) -> Any:
    """How long the host takes with a command, for twins; a real host takes its own time. The
    field is called `host_us`, by which `registry.host_ns` reads it."""
    meaning = "the host's own time a command, in us (twins only)"
    return parameter(default_us, decimal(0, 10_000), meaning)


def _sample(text: str) -> float:
    seconds = units.parse_seconds(text)
    if not SAMPLE_LEAST_S <= seconds <= SAMPLE_MOST_S:
        raise ValueError("write a time from 1ms to 1h")
    return seconds


# A sample is a row of a table: with shorter ones a run would not fit into memory.
SAMPLE_LEAST_S, SAMPLE_MOST_S = 0.001, 3600.0
SAMPLE = Kind(name="a time from 1ms to 1h", parse=_sample, show=units.show_seconds, accepts=_number)


def _block(text: str) -> int:
    size = units.parse_block(text)
    if not BLOCK_LEAST <= size <= BLOCK_MOST or size % BLOCK_LEAST:
        raise ValueError("a block is a multiple of 512, from 512 to 64m")
    return size


BLOCK_LEAST, BLOCK_MOST = 512, 64 << 20
BLOCK = Kind(
    name="a block size",
    parse=_block,
    show=units.show_block,
    accepts=lambda value: isinstance(value, int) and not isinstance(value, bool),
)
