"""Numbers of the command line: digits from 0 to 9 alone, and as many as a number can have.

Python's own readers also take digits of other scripts, underscores between digits and blanks
around them. What is typed by mistake would be a number that nobody meant.
"""

from __future__ import annotations

from typing import Any

import click

from flashtwin.model.units import parse_number, parse_whole


class Whole(click.IntRange):
    """A whole number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if not isinstance(value, str):
            return int(super().convert(value, param, ctx))
        try:
            number = parse_whole(value)
        except ValueError as error:
            self.fail(f"{_shown(value)} is not a number: {error}", param, ctx)
        return int(super().convert(number, param, ctx))


class Decimal(click.types.FloatParamType):
    """A number with or without a point; never infinite."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if not isinstance(value, str):
            return float(super().convert(value, param, ctx))
        try:
            return float(parse_number(value))
        except ValueError as error:
            self.fail(f"{_shown(value)} is not a number: {error}", param, ctx)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
