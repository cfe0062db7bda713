"""Values with a grammar of their own: patterns, mixes of block sizes, distributions, thresholds.

Each is a frozen value and a kind that reads and writes it; bounds are those of fio 3.33.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from flashtwin.fio.language import numbers
from flashtwin.fio.language.errors import BadValueError
from flashtwin.fio.language.kinds import (
    ByDirection,
    Choice,
    Integer,
    _Plain,
    directions,
    over_directions,
    required,
    show_directions,
)
from flashtwin.fio.language.numbers import Reading
from flashtwin.model.units import show_number

PATTERNS = (
    "read",
    "write",
    "trim",
    "randread",
    "randwrite",
    "randtrim",
    "rw",
    "randrw",
    "trimwrite",
    "randtrimwrite",
)
SERVICES = ("roundrobin", "random", "sequential", "zipf", "pareto", "normal")


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """`rw=`: the pattern, and after a colon how many requests share a random offset (`every`; 0:
    none is random), or how many bytes are skipped after each sequential one (`skip`, also
    backwards)."""

    rw: str
    every: int = 1
    skip: int = 0

    @property
    def random(self) -> bool:
        return self.rw.startswith("rand")


@dataclass(frozen=True, kw_only=True)
class PatternKind(_Plain):
    """`randread:8`, `read:4k`."""

    name: str = "pattern[:number]"

    def parse(self, text: str | None, reading: Reading) -> Pattern:
        word, colon, rest = required(text).partition(":")
        rw = Choice(words=PATTERNS, others=(("readwrite", "rw"),)).parse(word, reading)
        if not colon:
            return Pattern(rw=rw)
        if rw.startswith("rand"):
            return Pattern(rw=rw, every=_requests(rw, rest))
        return Pattern(rw=rw, skip=numbers.size(rest, reading))

    def show(self, value: Pattern) -> str:
        if value.random:
            return value.rw if value.every == 1 else f"{value.rw}:{value.every}"
        return f"{value.rw}:{value.skip}" if value.skip else value.rw


def _requests(rw: str, text: str) -> int:
    """How many requests share a random offset, as fio reads it: the number that the text begins
    with, whatever follows (8k are 8), and its last 32 bits."""
    match = re.match(r"[ \t]*([+-]?)([0-9]+)", text)
    count = numbers.integer(match[2]) if match else numbers.MOST + 1
    if not match or count > numbers.MOST:
        raise BadValueError(
            f"{text or 'nothing'} after the colon is not a number of requests",
            hint=f"write for example {rw}:8, a new random offset every 8 requests",
        )
    return (-count if match[1] == "-" else count) % (1 << 32)


@dataclass(frozen=True, kw_only=True)
class RangeKind:
    """`4k-64k`, by direction: the least and the greatest."""

    name: str = "range of sizes, by direction"

    def parse(self, text: str | None, reading: Reading) -> ByDirection:
        return directions(required(text), lambda part: self._part(part, reading))

    def _part(self, text: str, reading: Reading) -> tuple[int, int]:
        parts = re.split("[-:]", text)
        if len(parts) != 2:
            raise BadValueError(f"{text} is not a range", hint="write for example 4k-64k")
        low, high = sorted(Integer(least=1).parse(part, reading) for part in parts)
        return (low, high)

    def show(self, value: ByDirection) -> str:
        return show_directions(value, lambda ends: f"{ends[0]}-{ends[1]}")

    def over(self, before: Any, value: ByDirection) -> ByDirection:
        return over_directions(before, value)


Split = tuple[tuple[int, int], ...]
# Entries of a list that fio 3.33 keeps; it drops the others.
SPLITS_MOST, ZONES_MOST = 64, 256


def _parts(text: str, most: int) -> list[str]:
    """The entries of a list with colons between them."""
    parts = text.split(":")
    if len(parts) > most:
        raise BadValueError(f"a list of {len(parts)} entries, and fio takes {most}")
    return parts


@dataclass(frozen=True, kw_only=True)
class SplitKind:
    """`4k/60:64k/40`, by direction: sizes and their shares of the requests, in percent.

    Shares that are left out divide what is missing to 100 among them; where none is left out, the
    last size takes what is missing, which is what fio's draw comes to.
    """

    name: str = "sizes/percent with :, by direction"

    def parse(self, text: str | None, reading: Reading) -> ByDirection:
        parts = required(text).split(",")
        if len(parts) > 3:
            raise BadValueError(
                f"{text} has more than three parts",
                hint="write for example bssplit=4k/60:64k/40,8k/100 (reads, then writes)",
            )
        splits = [self._part(part, reading) for part in parts]
        filled = [*splits, splits[-1], splits[-1]][:3]
        return (filled[0], filled[1], filled[2])

    def _part(self, text: str, reading: Reading) -> Split | None:
        """The entries up to the first empty one, where fio stops reading; without entries there
        is no split."""
        entries: list[tuple[int, int | None]] = []
        for entry in _parts(text, SPLITS_MOST):
            if not entry.strip():
                break
            block, slash, share = entry.partition("/")
            percent = None
            if slash and share.strip():
                percent = _share_of(share, entry, reading)
            entries.append((_block_of(block, reading), percent))
        return _completed(entries, text) if entries else None

    def show(self, value: ByDirection) -> str:
        return show_directions(value, lambda shares: ":".join(f"{b}/{p}" for b, p in shares or ()))

    def over(self, before: Any, value: ByDirection) -> ByDirection:
        return value


def _share_of(text: str, entry: str, reading: Reading) -> int | None:
    """A share in percent, as fio reads it: what follows a whole number is dropped, more than 100
    are 100, and 0 is none that was given."""
    match = re.fullmatch(r"\s*([0-9]+)(\.[0-9]*)?\s*", text)
    if not match:
        raise BadValueError(
            f"{text} in {entry} is not a percentage",
            hint="shares are whole numbers from 0 to 100, for example 4k/60:64k/40",
        )
    percent = min(numbers.integer(match[1]), 100)
    if (match[2] or "").strip(".0") or percent != numbers.integer(match[1]):
        reading.notes.append(f"fio reads {text.strip()} in {entry} as {percent} percent")
    return percent or None


def _block_of(text: str, reading: Reading) -> int:
    """A block size; of a range fio takes the first."""
    match = re.fullmatch(r"([^-]+)-([^-]+)", text.strip())
    if match is None:
        return Integer(least=1).parse(text, reading)
    first, last = (Integer(least=1).parse(part, reading) for part in match.groups())
    reading.notes.append(
        f"fio reads {text.strip()} as {match[1]}: a split takes no ranges (bsrange={match[0]} is"
        f" one, {first} to {last} bytes)"
    )
    return first


def _completed(entries: list[tuple[int, int | None]], text: str) -> Split:
    missing = 100 - sum(percent for _, percent in entries if percent is not None)
    open_ = [place for place, (_, percent) in enumerate(entries) if percent is None]
    if missing < 0:
        raise BadValueError(f"the shares of {text} add up to {100 - missing}", hint="make them 100")
    if not open_:
        open_, entries = [len(entries) - 1], [*entries[:-1], (entries[-1][0], None)]
        missing = 100 - sum(percent or 0 for _, percent in entries)
    shares = [percent or 0 for _, percent in entries]
    for place in open_:
        shares[place] = missing // len(open_)
    if open_:
        shares[open_[-1]] += missing - missing // len(open_) * len(open_)
    return tuple((block, share) for (block, _), share in zip(entries, shares, strict=True))


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """`random_distribution`: `value` is zipf's theta, pareto's h or normal's deviation in percent;
    `center` the hottest place, 0 to 1; `zones` are shares of the requests in percent and sizes, in
    percent of the span (`zoned`) or bytes (`zoned_abs`)."""

    name: str
    value: float | None = None
    center: float | None = None
    zones: tuple[tuple[int, int], ...] = ()


# What each takes after the colon: its least and greatest value, and fio's own where none is given.
_BOUNDS = {
    "zipf": (1e-9, 1e6, 1.1),
    "pareto": (1e-9, 1.0 - 1e-9, 0.2),
    "normal": (0.0, 100.0, 0.0),
}


@dataclass(frozen=True, kw_only=True)
class DistributionKind(_Plain):
    """`zipf:1.2:0.5`, `zoned:60/10:40/90`."""

    name: str = "distribution[:parameters]"

    def parse(self, text: str | None, reading: Reading) -> Distribution:
        word, colon, rest = required(text).partition(":")
        name = Choice(words=("random", *_BOUNDS, "zoned", "zoned_abs")).parse(word, reading)
        if "," in rest:
            hint = "write the centre after a second colon, for example zipf:1.2:0.5"
            if name.startswith("zoned"):
                hint = "fio 3.33 takes one list of zones for all directions"
            raise BadValueError(f"a comma in {text}, which fio refuses", hint=hint)
        if name == "random":
            return Distribution(name=name)
        if name.startswith("zoned"):
            return Distribution(name=name, zones=self._zones(name, rest, reading))
        parts = rest.split(":") if colon else []
        if len(parts) > 2:
            raise BadValueError(f"{text} has more than a value and a centre")
        least, most, usual = _BOUNDS[name]
        value = numbers.real(parts[0]) if parts else usual
        if not least <= value <= most or (name == "zipf" and value == 1.0):
            allowed = {
                "zipf": "theta is above 0 and not 1",
                "pareto": "h lies between 0 and 1",
                "normal": "the deviation lies between 0 and 100",
            }
            raise BadValueError(f"{value:g} is out of range for {name}", hint=allowed[name])
        center = numbers.real(parts[1]) if len(parts) == 2 else None
        if center is not None and not 0 <= center <= 1:
            raise BadValueError(f"{center:g} is not a centre", hint="write 0 to 1")
        return Distribution(name=name, value=value, center=center)

    def _zones(self, name: str, text: str, reading: Reading) -> tuple[tuple[int, int], ...]:
        entries: list[tuple[int, int | None]] = []
        for entry in _parts(text, ZONES_MOST):
            access, slash, size = entry.partition("/")
            if not re.fullmatch("[0-9]+", access) or not slash:
                raise BadValueError(
                    f"{entry or 'nothing'} is not a zone",
                    hint="write percent of requests/size, for example zoned:60/10:40/90",
                )
            entries.append(
                (numbers.integer(access), Integer().parse(size, reading) if size else None)
            )
        if sum(access for access, _ in entries) != 100:
            total = sum(access for access, _ in entries)
            raise BadValueError(f"the shares of the requests add up to {total}", hint="make it 100")
        return self._sized(name, entries)

    def _sized(
        self, name: str, entries: list[tuple[int, int | None]]
    ) -> tuple[tuple[int, int], ...]:
        open_ = sum(size is None for _, size in entries)
        if name == "zoned_abs":
            if open_:
                raise BadValueError("a zone of zoned_abs has no size", hint="write it in bytes")
            return tuple((access, size or 0) for access, size in entries)
        missing = 100 - sum(size or 0 for _, size in entries)
        if missing < 0:
            raise BadValueError(
                f"the zones cover {100 - missing} % of the span", hint="make it 100"
            )
        each = missing // open_ if open_ else 0
        return tuple((access, each if size is None else size) for access, size in entries)

    def show(self, value: Distribution) -> str:
        if value.zones:
            return ":".join([value.name, *(f"{access}/{size}" for access, size in value.zones)])
        parts = [value.name]
        parts += [show_number(value.value)] if value.value is not None else []
        parts += [show_number(value.center)] if value.center is not None else []
        return ":".join(parts)


@dataclass(frozen=True, kw_only=True)
class Service:
    """`file_service_type`: how the next file is chosen, and how many requests it then gets."""

    name: str
    every: int = 1
    value: float | None = None
    center: float | None = None


@dataclass(frozen=True, kw_only=True)
class ServiceKind(_Plain):
    """`roundrobin:4`, `zipf:1.2`."""

    name: str = "word[:number]"

    def parse(self, text: str | None, reading: Reading) -> Service:
        word, colon, rest = required(text).partition(":")
        name = Choice(words=SERVICES, others=(("gauss", "normal"),)).parse(word, reading)
        if name in _BOUNDS:
            law = DistributionKind().parse(f"{name}{colon}{rest}", reading)
            return Service(name=name, value=law.value, center=law.center)
        if not colon:
            return Service(name=name)
        return Service(name=name, every=Integer(least=1).parse(rest, reading))

    def show(self, value: Service) -> str:
        if value.value is not None:
            law = Distribution(name=value.name, value=value.value, center=value.center)
            return DistributionKind().show(law)
        return f"{value.name}:{value.every}" if value.every != 1 else value.name


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """`steadystate`: what is watched (iops, bw, iops_slope, bw_slope) and the bound, in percent of
    the mean or, where `percent` is false, in its own unit."""

    watched: str
    limit: float
    percent: bool


@dataclass(frozen=True, kw_only=True)
class ThresholdKind(_Plain):
    """`iops_slope:0.3%`."""

    name: str = "criterion:limit[%]"

    def parse(self, text: str | None, reading: Reading) -> Threshold:
        word, colon, rest = required(text).partition(":")
        watched = Choice(words=("iops", "iops_slope", "bw", "bw_slope")).parse(word, reading)
        if not colon:
            raise BadValueError("a limit is missing", hint=f"write for example {watched}:1%")
        percent = rest.endswith("%")
        if not percent and watched.startswith("bw"):
            return Threshold(
                watched=watched, limit=float(Integer().parse(rest, reading)), percent=False
            )
        limit = numbers.real(rest.removesuffix("%"))
        if limit < 0:
            raise BadValueError(f"{rest} is negative")
        return Threshold(watched=watched, limit=limit, percent=percent)

    def show(self, value: Threshold) -> str:
        if not value.percent and value.watched.startswith("bw"):
            return f"{value.watched}:{int(value.limit)}"
        limit = show_number(value.limit)
        return f"{value.watched}:{limit}{'%' if value.percent else ''}"


@dataclass(frozen=True, kw_only=True)
class FileSizeKind(_Plain):
    """`filesize`: one size for every file, or the two between which each is drawn."""

    name: str = "size or range of sizes"

    def parse(self, text: str | None, reading: Reading) -> tuple[int, int]:
        value = required(text)
        parts = [value] if value.lstrip().startswith("(") else re.split("[-:]", value)
        if len(parts) > 2:
            raise BadValueError(f"{value} is not a range", hint="write for example 4k-1m")
        low, high = sorted(Integer(least=1).parse(part, reading) for part in (parts[0], parts[-1]))
        return (low, high)

    def show(self, value: tuple[int, int]) -> str:
        return str(value[0]) if value[0] == value[1] else f"{value[0]}-{value[1]}"
