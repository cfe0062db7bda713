"""The options that several commands share, spelled and explained once, and what options hold.

Numbers are digits from 0 to 9 alone, and as many as a number can have: Python's own readers also
take digits of other scripts, underscores between digits and blanks around them, and what is typed
by mistake would be a number that nobody meant. Sizes and times are those of `model.units`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypedDict, get_args

import click

from flashtwin.cli import completions, terminal
from flashtwin.drives.consent import DESTROY, YES, Consent
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.errors import USAGE, FlashtwinError, shortened, wrong_value
from flashtwin.model import units
from flashtwin.model.fio_job import Reading, TraceFormat

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class FilePath(click.Path):
    """A path of a file or a folder. An empty one, as an unset variable of a shell leaves it, is
    refused: to Python it is the current directory. `readable`: what is there has to be."""

    def __init__(self, *, dir_okay: bool = True, readable: bool = True) -> None:
        super().__init__(path_type=Path, dir_okay=dir_okay, readable=readable)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("the path is empty; name a file or a folder", param, ctx)
        return super().convert(value, param, ctx)


class Integer(click.IntRange):
    """A whole number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = _number(units.parse_whole, value, self, param, ctx)
        return int(super().convert(number, param, ctx))


class Seed(Integer):
    """A seed; one out of bounds has the same message as from a program (`drives.twin`)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = _number(units.parse_whole, value, self, param, ctx)
        try:
            return super().convert(number, param, ctx)
        except click.BadParameter:
            raise FlashtwinError(
                f"--seed {number} is not a whole number from 0 to {self.max}",
                hint="the same seed gives the same noise; 1 is the default",
                exit_code=USAGE,
            ) from None


class Share(click.types.FloatParamType):
    """A number with or without a point; never infinite."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        return float(_number(units.parse_number, value, self, param, ctx))


def _number(
    parse: Callable[[str], Any],
    value: Any,
    kind: click.ParamType[Any],
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> Any:
    try:
        return parse(value) if isinstance(value, str) else value
    except ValueError as error:
        kind.fail(f"{shortened(value, 40)!r} is not a number: {error}", param, ctx)


class Quantity(click.ParamType[float]):
    """A size or a time, as one of the readers of `model.units` takes it."""

    def __init__(self, name: str, parse: Callable[[str], float]) -> None:
        self.name, self._parse = name, parse

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            option = param.opts[0] if param else ""
            raise wrong_value(option, value, self.name, str(error)) from None


SIZE = Quantity("size", lambda text: 0 if text.strip() == "0" else units.parse_size(text))
TIME = Quantity("time", units.parse_seconds)
AGE = Quantity("time", units.parse_age)


class Budget(click.ParamType[str]):
    """A time above 0. It stays as it was typed, because the run's command repeats it."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            seconds = units.parse_seconds(value)
        except ValueError as error:
            raise wrong_value("--budget", value, "time", str(error)) from None
        if not seconds:
            raise wrong_value("--budget", value, "time to spend", "write one above 0 seconds")
        return str(value)


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
verbose: Decorator = click.option(
    "--verbose", "-v", is_flag=True, help="All findings with their notes before the five lines."
)
verbose_tables: Decorator = click.option(
    "--verbose", "-v", is_flag=True, help="All tables instead of the short answer."
)
preparation: Decorator = click.option(
    "--preparation",
    type=click.Choice(("timed", "untimed", "auto")),
    default="timed",
    show_default=True,
    help="How simulated drives are filled before a test: timed, as a host writes; untimed, by the"
    " firmware alone, which is quicker; auto, untimed where the drive can.",
)
seed: Decorator = click.option(
    "--seed",
    type=Seed(0, (1 << 63) - 1),
    default=1,
    show_default=True,
    help="The same seed gives the same bytes.",
)


class Changes(TypedDict):
    """What makes one simulated drive of a spec, as requests and variants take it."""

    seed: int
    sets: tuple[str, ...]
    firmware: tuple[str, ...]
    scale: str | None


def changes(command: Callable[..., Any]) -> Callable[..., Any]:
    """--seed, --set, --firmware and --scale, which the command gets as one value, `changes`."""

    @wraps(command)
    def collecting(*words: Any, **values: Any) -> Any:
        collected = {name: values.pop(name) for name in Changes.__annotations__}
        return command(*words, changes=collected, **values)

    optional: Callable[..., Any] = collecting
    for option in (scale, firmware, sets, seed):
        optional = option(optional)
    return optional


def destroying(command: Callable[..., Any]) -> Callable[..., Any]:
    """--destroy-data and --yes-destroy, which the command gets as one value, `consent`."""

    @wraps(command)
    def collecting(*words: Any, **values: Any) -> Any:
        destroy, typed = values.pop("destroy_data"), values.pop("yes_destroy")
        ask = partial(click.prompt, default="", show_default=False, err=True)
        consent = Consent(
            destroy=destroy,
            words=typed,
            ask=ask if sys.stdin is not None and sys.stdin.isatty() else None,
            say=terminal.note,
        )
        return command(*words, consent=consent, **values)

    return _destroy_data(_yes_destroy(collecting))


_destroy_data: Decorator = click.option(
    DESTROY,
    is_flag=True,
    help="Write to a device, or to an NBD export that flashtwin does not serve: its data are lost."
    " What is lost is shown, and has to be typed back.",
)
_yes_destroy: Decorator = click.option(
    YES,
    multiple=True,
    metavar="SERIAL",
    help="As --destroy-data for scripts: the device's serial number and each label on it, or the"
    " export's name.",
)


def metered(command: Callable[..., Any]) -> Callable[..., Any]:
    """--power and --power-ahead, which the command gets as one value, `power`."""

    @wraps(command)
    def collecting(*words: Any, **values: Any) -> Any:
        path, ahead_s = values.pop("power"), values.pop("power_ahead")
        if path is None and ahead_s:
            raise click.UsageError("--power-ahead needs --power")
        power = None if path is None else PowerLog(path, ahead_s=ahead_s)
        return command(*words, power=power, **values)

    return _power(_power_ahead(collecting))


_power: Decorator = click.option(
    "--power",
    type=FilePath(dir_okay=False),
    metavar="CSV",
    help="What a watt meter's program writes meanwhile: a time and watts a line.",
)
_power_ahead: Decorator = click.option(
    "--power-ahead",
    type=Share(),
    default=0.0,
    metavar="SECONDS",
    help="By how much the meter's clock is ahead of this machine's; less than 0 where it is"
    " behind.",
)


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """--format, --event and --disk, which the command gets as one value, `reading`: how traces
    are read."""

    @wraps(command)
    def collecting(*words: Any, **values: Any) -> Any:
        read = Reading(
            format=values.pop("kind"), event=letter(values.pop("event")), disk=values.pop("disk")
        )
        return command(*words, reading=read, **values)

    optional: Callable[..., Any] = collecting
    for option in (
        click.option("--disk", metavar="NAME", help="This disk of a trace alone."),
        click.option(
            "--event",
            default="D",
            metavar="LETTER",
            help="The action of blkparse that counts: D as the drive got it, Q as programs asked.",
        ),
        click.option(
            "--format",
            "kind",
            type=click.Choice(get_args(TraceFormat)),
            metavar="NAME",
            help="What a trace is, where its first lines do not show it:"
            f" {', '.join(get_args(TraceFormat))}.",
        ),
    ):
        optional = option(optional)
    return optional


def letter(text: str, option: str = "--event") -> str:
    """One of blkparse's actions, as an option names it."""
    if len(text) != 1 or not text.isascii() or not text.isalpha():
        raise click.BadParameter(
            f"{shortened(text, 40)} is not one of blkparse's actions: write a letter such as D or"
            " Q",
            param_hint=option,
        )
    return text


def budget(text: str) -> Decorator:
    """--budget, with what it bounds."""
    return click.option("--budget", type=Budget(), metavar="TIME", help=text)


def older_than(text: str) -> Decorator:
    """--older-than, with what is old."""
    return click.option("--older-than", type=AGE, metavar="TIME", help=text)


def run(text: str) -> Decorator:
    """--run, with what is told of the run."""
    return click.option("--run", metavar="RUN", help=text)


def held(fail_on: str, every: str) -> Decorator:
    """Runs that are held against one another: which, how much worse one may be, how much of it is
    told, and the page."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option("--all", "every", is_flag=True, help=every),
            click.option("--fail-on", "limits", multiple=True, metavar="[NAME=]P%", help=fail_on),
            click.argument(
                "runs",
                nargs=-1,
                required=True,
                metavar="RUN...",
                shell_complete=completions.runs,
            ),
        ):
            command = option(command)
        return command

    return decorate


def out(text: str) -> Decorator:
    """--out, with what goes there."""
    return click.option("--out", type=FilePath(), metavar="PATH", help=text)


def check_new_spec(path: Path, force: bool) -> None:
    """Refuse a path where no spec is to be written: another ending, or a file without --force."""
    if path.suffix != ".toml":
        raise FlashtwinError(
            f"{path} does not end in .toml", hint="specs are TOML files", exit_code=USAGE
        )
    if path.exists() and not force:
        raise FlashtwinError(
            f"{path} is there already",
            hint="write to another file with --out, or over this one with --force",
            exit_code=USAGE,
        )


def examples(*lines: str) -> str:
    """The end of a help page."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
