"""Spans of time as `--older` and `--older-than` take them, and as lists show them."""

from __future__ import annotations

import re

from flashtwin.errors import USAGE, FlashtwinError

# A hundred years: dates do not go back for ever.
_MOST_S = 100 * 365.25 * 86_400
_SPAN = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def seconds(option: str, text: str | None) -> float:
    """Seconds of 12h, 30d or 4w; 0 where the option was not given."""
    if text is None:
        return 0.0
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([mhdw])", text.strip().lower())
    if not match:
        raise FlashtwinError(
            f"{option} {text} is no time", hint="write 12h, 30d or 4w", exit_code=USAGE
        )
    span = float(match[1]) * _SPAN[match[2]]
    if span > _MOST_S:
        raise FlashtwinError(
            f"{option} {text} is before there was anything", hint="write less", exit_code=USAGE
        )
    return span


def ago(seconds: float) -> str:
    """How long something was ago, in its largest unit."""
    for unit in ("w", "d", "h", "m"):
        if seconds >= _SPAN[unit]:
            return f"{seconds / _SPAN[unit]:.0f}{unit} ago"
    return "just now"
