"""Arithmetic in a value that opens with a parenthesis: `(3*4k)`, `(1g-8m)/2`.

fio built with its arithmetic takes such values; where it was built without, it refuses them. The
operators are those of fio's grammar: + - * / % ^, unary minus and parentheses; a number may carry
the suffix that its option takes. Reckoned exactly, as fractions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from flashtwin.fiojob.language.where import BadValueError

_TOKEN = re.compile(r"\s*(?:((?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)[A-Za-z]*)|([-+*/%^()]))")
_HINT = "write numbers with + - * / % ^ and parentheses, for example (3*4k)"

# Larger powers are a mistake, and take long to reckon.
_POWER_MOST = 64


def evaluate(text: str, number: Callable[[str], Fraction]) -> Fraction:
    """The value of an expression; `number` reads one number with its suffix."""
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
            value = value + self._product() if self._take() == "+" else value - self._product()
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
        return value

    def _power(self) -> Fraction:
        value = self._one()
        if self._peek() == "^":
            self._take()
            exponent = self._power()
            if exponent.denominator != 1 or not 0 <= exponent <= _POWER_MOST:
                raise self._wrong(f"a power beyond 0 to {_POWER_MOST}")
            value = value ** int(exponent)
        return value

    def _one(self) -> Fraction:
        token = self._take()
        if token == "-":
            return -self._one()
        if token == "(":
            value = self._sum()
            if self._take() != ")":
                raise self._wrong("no closing parenthesis")
            return value
        if not token or token in "+*/%^)":
            raise self._wrong(
                f"{token!r} where a number is expected" if token else "no last number"
            )
        return self._number(token)

    def _wrong(self, what: str) -> BadValueError:
        return BadValueError(f"{self._text} has {what}", hint=_HINT)
