"""How `flashtwin fio` is asked to answer: formats, fields, how often, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashtwin.fio.report.formats import Shape

LEAST_STATUS_S = 0.001
FORMATS = ("normal", "terse", "json", "json+")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is done with jobs, whoever runs them. `output`: a file in place of stdout."""

    shape: Shape
    output: Path | None = None
    parse_only: bool = False
    readonly: bool = False


def shape_of(formats: Sequence[str], minimal: bool, terse: str, status: str | None) -> Shape:
    """The answer's shape out of the command's options."""
    from flashtwin.fio.report.formats import Shape

    return Shape(
        formats=("terse",) if minimal else _formats(formats),
        terse=int(terse),
        status_ns=_status(status),
    )


def _formats(words: Sequence[str]) -> tuple[str, ...]:
    asked = [one for word in words for one in word.split(",")]
    for one in asked:
        if one not in FORMATS:
            raise click.BadParameter(
                f"{one} is none of {', '.join(FORMATS)}", param_hint="--output-format"
            )
    return tuple(asked) or ("normal",)


def _status(text: str | None) -> int:
    """Nanoseconds between two statuses; 0 for none."""
    if text is None:
        return 0
    from flashtwin.model.units import parse_seconds

    try:
        seconds = parse_seconds(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--status-interval") from error
    if seconds < LEAST_STATUS_S:
        raise click.BadParameter(
            f"the least is {LEAST_STATUS_S:g} s", param_hint="--status-interval"
        )
    return round(seconds * 1e9)
