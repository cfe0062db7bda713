"""The options that several commands share, spelled and explained once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from flashtwin.cli import numbers
from flashtwin.errors import USAGE, FlashtwinError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

firmware: Decorator = click.option(
    "--firmware",
    multiple=True,
    metavar="NAME",
    help="Switch on a firmware profile of the spec; may be given several times.",
)
sets: Decorator = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a value of the spec, with its unit; may be given several times.",
)
scale: Decorator = click.option(
    "--scale",
    metavar="1/N",
    help="A smaller drive with the same dies, planes and ratios, for a quick look.",
)
as_json: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else."
)
quiet: Decorator = click.option(
    "--quiet", "-q", is_flag=True, help="No progress and no notes on stderr."
)
seed: Decorator = click.option(
    "--seed",
    type=numbers.Whole(0, (1 << 63) - 1),
    default=1,
    show_default=True,
    help="The same seed gives the same bytes.",
)


def out(text: str) -> Decorator:
    """--out, with what goes there."""
    return click.option("--out", type=click.Path(path_type=Path), metavar="PATH", help=text)


def examples(*lines: str) -> str:
    """The end of a help page."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def age_seconds(option: str, text: str | None) -> float:
    """How old at least, in seconds; 0 where the option was not given."""
    from flashtwin.model.units import MOST_AGE_S, parse_age

    if text is None:
        return 0.0
    try:
        seconds = parse_age(text)
    except ValueError as error:
        message = f"{option} {text} is no time"
        raise FlashtwinError(message, hint=str(error), exit_code=USAGE) from None
    if seconds > MOST_AGE_S:
        message = f"{option} {text} is before there was anything"
        raise FlashtwinError(message, hint="write less", exit_code=USAGE)
    return seconds
