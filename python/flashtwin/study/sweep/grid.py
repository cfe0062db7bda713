"""The grid of a sweep: each `--vary KEY=VALUES` is an axis, and every combination is a point.

Values are a list, `0.07,0.14,0.28`, or a range with a count, `6GB..48GB/8` for eight values at
equal distances and `6GB..48GB*4` for four in equal ratios, both ends among them. A key is one of
the spec, `op` (see `catalogue.shorthand`), `firmware` (a profile, or `none`), or `seed`. The last
axis moves fastest. Invariant: the same text gives the same points in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from flashtwin.errors import USAGE, FlashtwinError, shortened
from flashtwin.model.document import Document

MOST_POINTS = 10_000
# Points that a message counts, and characters of a text that it repeats.
MOST_COUNTED, MOST_SHOWN = 10**18, 100
FIRMWARE, SEED = "firmware", "seed"
MOST_SEED = (1 << 63) - 1
# Places after the point: what is between two ends has as many as they, and at least three.
PLACES, MOST_PLACES, MOST_NUMBER = 3, 9, Decimal(10) ** 15
NO_PROFILE = "none"
_FORM = (
    "write --vary KEY=A,B,C or --vary KEY=FROM..TO/COUNT, for example slc_cache.size=6GB..48GB/8"
)
_RANGE = re.compile(r"(.+?)\.\.(.+)([/*])\s*(\d{1,9})\s*", re.A)
_QUANTITY = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z%/]*)\s*", re.A)


class Axis(Document, frozen=True):
    """A key and its values as text, in the order of the sweep."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Point:
    """One combination; `settings` has a value for every axis, in their order."""

    number: int
    settings: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """For people: `slc_cache.size=6 GB, op=0.07`."""
        return ", ".join(f"{key}={value}" for key, value in self.settings)

    @property
    def sets(self) -> tuple[str, ...]:
        """The settings of the spec at this point."""
        return tuple(f"{k}={v}" for k, v in self.settings if k not in (FIRMWARE, SEED))

    @property
    def firmware(self) -> tuple[str, ...]:
        """The profile that is switched on."""
        return tuple(v for k, v in self.settings if k == FIRMWARE and v != NO_PROFILE)

    def seed(self, default: int) -> int:
        """The seed of this point."""
        return next((int(v) for k, v in self.settings if k == SEED), default)


def axes(texts: Sequence[str]) -> list[Axis]:
    """The axes of a sweep; raises `FlashtwinError` where a text is not an axis."""
    if not texts:
        raise FlashtwinError("nothing is varied", hint=_FORM, exit_code=USAGE)
    parsed = [axis(text) for text in texts]
    keys: set[str] = set()
    for each_axis in parsed:
        if each_axis.key in keys:
            raise FlashtwinError(f"{each_axis.key} is varied twice", hint=_FORM, exit_code=USAGE)
        keys.add(each_axis.key)
    return parsed


def axis(text: str) -> Axis:
    """One axis from `KEY=VALUES`."""
    key, equals, rest = (part.strip() for part in text.partition("="))
    if not key or not equals or not rest:
        raise _wrong(text, "is not KEY=VALUES")
    between = _RANGE.fullmatch(rest)
    if between is None and ".." in rest:
        raise _wrong(text, "is not a range: it has two ends and a count")
    values = _spread(text, between) if between else [part.strip() for part in rest.split(",")]
    if not all(values):
        raise _wrong(text, "has an empty value")
    if len(set(values)) < len(values):
        raise _wrong(text, "names a value twice")
    if key == SEED and not all(_is_seed(value) for value in values):
        raise _wrong(text, f"has a seed that is not a whole number from 0 to {MOST_SEED}")
    return Axis(key=key, values=tuple(values))


def _is_seed(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= MOST_SEED


def points(axes: Sequence[Axis]) -> list[Point]:
    """Every combination; the last axis changes fastest."""
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_POINTS:
        amount = f"{count:,}" if count < MOST_COUNTED else f"more than {MOST_COUNTED:,}"
        raise FlashtwinError(
            f"the grid has {amount} points, more than {MOST_POINTS:,}",
            hint="take fewer values, or make several sweeps",
            exit_code=USAGE,
        )
    keys = [axis.key for axis in axes]
    return [
        Point(number=number, settings=tuple(zip(keys, values, strict=True)))
        for number, values in enumerate(product(*(axis.values for axis in axes)))
    ]


def _spread(text: str, match: re.Match[str]) -> list[str]:
    """Values from one end to the other, in the unit of the upper end."""
    count, ratio = int(match[4]), match[3] == "*"
    low, high = _QUANTITY.fullmatch(match[1]), _QUANTITY.fullmatch(match[2])
    if low is None or high is None:
        raise _wrong(text, "has an end that is not a number with a unit")
    first, last, unit = Decimal(low[1]), Decimal(high[1]), high[2]
    if low[2] not in ("", unit):
        raise _wrong(text, "has ends in two units")
    if ratio and min(first, last) <= 0:
        direction = "rise in ratios from" if first <= 0 else "fall in ratios to"
        raise _wrong(text, f"cannot {direction} 0 or less")
    places = max(PLACES, *(_places(end) for end in (first, last)))
    if places > MOST_PLACES or max(abs(first), abs(last)) >= MOST_NUMBER:
        raise _wrong(text, "has an end with more digits than a number has")
    if not 2 <= count <= MOST_POINTS:
        raise _wrong(text, f"asks for {count} values; 2 to {MOST_POINTS} are possible")
    integral = first == first.to_integral_value() and last == last.to_integral_value() and not unit
    values = [_between(first, last, Decimal(i) / (count - 1), ratio) for i in range(count)]
    texts = [_written(value, 0 if integral else places) for value in values]
    return [number + (f" {unit}" if unit not in ("", "%") else unit) for number in texts]


def _places(value: Decimal) -> int:
    """Places after the point."""
    exponent = value.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _between(first: Decimal, last: Decimal, share: Decimal, ratio: bool) -> Decimal:
    return first * (last / first) ** share if ratio else first + (last - first) * share


def _written(value: Decimal, places: int) -> str:
    """A value with at most these decimals; whole numbers get none."""
    rounded = value.quantize(Decimal(1).scaleb(-places))
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _wrong(text: str, why: str) -> FlashtwinError:
    return FlashtwinError(
        f"--vary {shortened(text, MOST_SHOWN)} {why}", hint=_FORM, exit_code=USAGE
    )
