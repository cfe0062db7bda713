"""Numbers as fio writes them: sizes with suffixes, times with units, both with arithmetic.

`kb_base=1024`, the default, reads `k`, `kb` and `ki` as 1024 and `kib` as 1000, the inverse of what
the letters say; `kb_base=1000` reads `kib` as 1024 and the others as 1000. fio reads a value up to
the first character that it does not understand and drops the rest in silence (`1.5m` becomes 1,
`1min` a microsecond, `0x10k` 16): such values are refused here, with what to write instead.
All of it was tried with fio 3.33 (`--debug=parse`).

A value that opens with a parenthesis is reckoned: `(3*4k)`, `(1g-8m)/2`. fio built with its
arithmetic takes such values; where it was built without, it refuses them. The operators are those
of fio's grammar: + - * / % ^, unary minus and parentheses; a number may carry the suffix that its
option takes. Fractions are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from flashtwin.fio.language.errors import BadValueError

_POWER = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
# ASCII: the digits of other scripts are letters to fio.
_SIZE = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|[0-9]+)([kmgtp]?)(ib|b|i)?", re.I | re.A)
_HEXADECIMAL = re.compile(r"[-+]?0[xX]([0-9a-fA-F]+)")
_TIME = re.compile(r"([0-9]+)(d|h|m|s|ms|msec|us|usec)?", re.I | re.A)
_REAL = re.compile(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.A)

# In microseconds.
UNITS = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000} | {
    "ms": 1000,
    "msec": 1000,
    "us": 1,
    "usec": 1,
}

# What 64 bits hold; fio's own numbers wrap beyond.
MOST = 2**63 - 1
# Of microseconds: the clock of a run counts nanoseconds in 64 bits, and several times add up.
MOST_US = 100 * 365 * UNITS["d"]
# Digits beyond those of any number of 64 bits, also in base 2.
_DIGITS_MOST = 80


@dataclass(kw_only=True)
class Reading:
    """How values are read: with which of fio's `kb_base`, and notes on what a reader should
    know."""

    kb_base: int = 1024
    notes: list[str] = field(default_factory=list)


def without_rest(text: str, reading: Reading) -> str:
    """A value up to the first blank: fio ignores what follows, and a note says so."""
    match = re.fullmatch(r"(\s*[^\s(]\S*)\s+(.*)", text)
    if not match:
        return text
    reading.notes.append(f"fio drops {match[2]!r} behind {match[1].strip()}")
    return match[1]


def _reckoned(text: str, number: Callable[[str], int]) -> Fraction:
    """The value of an expression in parentheses."""
    return evaluate(text, lambda word: Fraction(number(word)))


def size(text: str, reading: Reading) -> int:
    """A number with an optional suffix, whole, also negative; `(…)` is reckoned."""
    if text.lstrip().startswith("("):
        value = _reckoned(text, lambda word: _plain_size(word, reading))
        if value.denominator != 1:
            reading.notes.append(f"{text} is not a whole number: cut to {int(value)}")
        return _bounded(int(value), text)
    return _bounded(_plain_size(text, reading), text)


def _plain_size(text: str, reading: Reading) -> int:
    plain = text.strip()
    hexadecimal = _HEXADECIMAL.fullmatch(plain)
    if hexadecimal:
        # Its digits end in the letter b at times, which is no suffix.
        return integer(hexadecimal[1], 16) * (-1 if plain.startswith("-") else 1)
    match = _SIZE.fullmatch(plain)
    if re.fullmatch(r"[0-9]+z", plain, re.IGNORECASE | re.ASCII):
        raise BadValueError(
            f"{plain} counts zones, and drives with zones are not simulated",
            hint="write bytes, for example 256m",
        )
    if not match or (match[2][:2] in ("0x", "0X")):
        raise BadValueError(f"{_or_empty(text)} is not a number", hint=_size_hint(plain))
    if not match[3] and match[4] and match[4].lower() != "b":
        raise BadValueError(f"{_or_empty(text)} is not a number", hint=_size_hint(plain))
    if match[3] and text != text.lstrip():
        raise BadValueError(
            f"a blank stands before {plain}: fio then reads it as {match[2]}",
            hint="write the value right after the =",
        )
    factor = _factor(match[3].lower(), (match[4] or "").lower(), reading)
    if match[4] and match[4].lower() == "ib" and reading.kb_base == 1024:
        reading.notes.append(
            f"{plain} is {integer(match[2]) * factor} bytes: with kb_base=1024 fio reads kib, mib,"
            " … as powers of 1000"
        )
    return (-1 if match[1] == "-" else 1) * integer(match[2]) * factor


def _factor(letter: str, rest: str, reading: Reading) -> int:
    if not letter:
        return 1
    binary = (reading.kb_base == 1000) == (rest == "ib")
    return int((1024 if binary else 1000) ** _POWER[letter])


def _size_hint(text: str) -> str:
    if re.fullmatch(r"[0-9]+\.[0-9]+[kmgtpKMGTP]?[iIbB]*", text):
        return "fio drops what follows the point: write a whole number of a smaller unit"
    if text.endswith("%"):
        return "this option takes no percentage"
    return "write a whole number with an optional suffix k, m, g, t or p, for example 4k"


def microseconds(text: str, unit: str) -> int:
    """A time; a bare number is of `unit`. `(…)` is reckoned."""
    if text.lstrip().startswith("("):
        value = int(_reckoned(text, lambda word: _plain_time(word, unit)))
    else:
        value = _plain_time(text, unit)
    if abs(value) > MOST_US:
        raise BadValueError(
            f"{_or_empty(text)} is more than 100 years", hint="write a shorter time"
        )
    return value


def _plain_time(text: str, unit: str) -> int:
    match = _TIME.fullmatch(re.sub(r"\s+", "", text))
    if not match:
        raise BadValueError(
            f"{_or_empty(text)} is not a time",
            hint="write a whole number with d, h, m, s, ms or us, for example 90s or 1500ms",
        )
    return integer(match[1]) * UNITS[(match[2] or unit).lower()]


def integer(digits: str, base: int = 10) -> int:
    """The number that ASCII digits make, however many they are."""
    plain = digits.lstrip("0") or "0"
    if len(plain) > _DIGITS_MOST:
        raise BadValueError(f"a number of {len(plain)} digits is more than 64 bits hold")
    return int(plain, base)


def real(text: str) -> float:
    """A number with a point."""
    if not _REAL.fullmatch(text):
        raise BadValueError(f"{_or_empty(text)} is not a number")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise BadValueError(f"{_or_empty(text)} is not a finite number")
    return value


def _bounded(value: int, text: str) -> int:
    if abs(value) > MOST:
        raise BadValueError(f"{_or_empty(text)} is more than 64 bits hold")
    return value


def _or_empty(text: str) -> str:
    return text if text.strip() else "an empty value"


_TOKEN = re.compile(
    r"\s*(?:((?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?)[A-Za-z]*)|([-+*/%^()]))", re.A
)
_HINT = "write numbers with + - * / % ^ and parentheses, for example (3*4k)"

# Larger powers are a mistake, and would take long to compute.
_POWER_MOST = 64
# fio reckons with 64 bits and with doubles, which end at 2^1024: what goes beyond on the way is a
# mistake, and takes long. The same bound holds for both sides of a fraction.
_BITS_MOST = 1024
# A depth of parentheses far above any job file's and far below the limit of Python's stack.
_DEPTH_MOST = 100
_CHARACTERS_MOST = 8191


def evaluate(text: str, number: Callable[[str], Fraction]) -> Fraction:
    """The value of an expression; `number` reads one number with its suffix."""
    if len(text) > _CHARACTERS_MOST:
        raise BadValueError(
            f"arithmetic of {len(text)} characters, and {_CHARACTERS_MOST} are possible", hint=_HINT
        )
    return _Parser(_tokens(text), number, text).result()


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if not match:
            raise BadValueError(f"{text} has {stripped[at]!r} in its arithmetic", hint=_HINT)
        tokens.append(match[1] or match[2])
        at = match.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[str], number: Callable[[str], Fraction], text: str):
        self._tokens = tokens
        self._number = number
        self._text = text
        self._at = 0
        self._depth = 0

    def result(self) -> Fraction:
        value = self._sum()
        if self._at != len(self._tokens):
            raise self._wrong(f"a surplus {self._tokens[self._at]!r}")
        return value

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _sum(self) -> Fraction:
        value = self._product()
        while self._peek() in ("+", "-"):
            sign = 1 if self._take() == "+" else -1
            value = self._within_bounds(value + sign * self._product())
        return value

    def _product(self) -> Fraction:
        value = self._power()
        while self._peek() in ("*", "/", "%"):
            operator, right = self._take(), self._power()
            if operator == "*":
                value *= right
            elif right == 0:
                raise self._wrong("a division by zero")
            else:
                value = value / right if operator == "/" else value % right
            value = self._within_bounds(value)
        return value

    def _power(self) -> Fraction:
        value = self._operand()
        if self._peek() == "^":
            self._take()
            exponent = self._deeper(self._power)
            if exponent.denominator != 1 or not 0 <= exponent <= _POWER_MOST:
                raise self._wrong(f"a power beyond 0 to {_POWER_MOST}")
            value = self._within_bounds(value ** int(exponent))
        return value

    def _operand(self) -> Fraction:
        token = self._take()
        if token == "-":
            return -self._deeper(self._operand)
        if token == "(":
            value = self._deeper(self._sum)
            if self._take() != ")":
                raise self._wrong("no closing parenthesis")
            return value
        if not token or token in "+*/%^)":
            raise self._wrong(
                f"{token!r} where a number is expected" if token else "no last number"
            )
        return self._number(token)

    def _deeper(self, part: Callable[[], Fraction]) -> Fraction:
        self._depth += 1
        if self._depth > _DEPTH_MOST:
            raise self._wrong(f"more than {_DEPTH_MOST} parts within one another")
        value = part()
        self._depth -= 1
        return value

    def _within_bounds(self, value: Fraction) -> Fraction:
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS_MOST:
            raise self._wrong("a step beyond what fio's numbers hold")
        return value

    def _wrong(self, problem: str) -> BadValueError:
        return BadValueError(f"{self._text} has {problem}", hint=_HINT)
