"""Arithmetic in a value that opens with a parenthesis: `(3*4k)`, `(1g-8m)/2`.

fio built with its arithmetic takes such values; where it was built without, it refuses them. The
operators are those of fio's grammar: + - * / % ^, unary minus and parentheses; a number may carry
the suffix that its option takes. Reckoned exactly, as fractions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from flashtwin.fio.language.where import BadValueError

_TOKEN = re.compile(
    r"\s*(?:((?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?)[A-Za-z]*)|([-+*/%^()]))", re.A
)
_HINT = "write numbers with + - * / % ^ and parentheses, for example (3*4k)"

# Larger powers are a mistake, and take long to reckon.
_POWER_MOST = 64
# fio reckons with 64 bits and with doubles, which end at 2^1024: what goes beyond on the way is a
# mistake, and takes long. The same bound holds for both sides of a fraction.
_BITS_MOST = 1024
# Far more than anyone writes, and far less than Python's stack.
_DEPTH_MOST = 100
_CHARACTERS_MOST = 8191


def evaluate(text: str, number: Callable[[str], Fraction]) -> Fraction:
    """The value of an expression; `number` reads one number with its suffix."""
    if len(text) > _CHARACTERS_MOST:
        raise BadValueError(
            f"arithmetic of {len(text)} characters, and {_CHARACTERS_MOST} are possible", hint=_HINT
        )
    return _Parser(_tokens(text), number, text).whole()


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if not match:
            raise BadValueError(f"{text} has {stripped[at]!r} in its arithmetic", hint=_HINT)
        found.append(match[1] or match[2])
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[str], number: Callable[[str], Fraction], text: str):
        self._tokens = tokens
        self._number = number
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> Fraction:
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
            value = self._held(value + sign * self._product())
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
            value = self._held(value)
        return value

    def _power(self) -> Fraction:
        value = self._one()
        if self._peek() == "^":
            self._take()
            exponent = self._deeper(self._power)
            if exponent.denominator != 1 or not 0 <= exponent <= _POWER_MOST:
                raise self._wrong(f"a power beyond 0 to {_POWER_MOST}")
            value = self._held(value ** int(exponent))
        return value

    def _one(self) -> Fraction:
        token = self._take()
        if token == "-":
            return -self._deeper(self._one)
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

    def _held(self, value: Fraction) -> Fraction:
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS_MOST:
            raise self._wrong("a step beyond what fio's numbers hold")
        return value

    def _wrong(self, what: str) -> BadValueError:
        return BadValueError(f"{self._text} has {what}", hint=_HINT)
