"""A trace in place of a job file: the words of `flashtwin fio --trace` as a job of fio's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtwin.fio.plan.traces import Replaying

# What a SATA drive takes at once: more would wait in the host, where no trace shows it.
DEPTH = 32


def replaying_of(trace_format: Any, event: str, disk: int | None, fit: Any) -> Replaying:
    """How traces are read, out of the options."""
    from flashtwin.fio.plan.traces import Replaying
    from flashtwin.model.job import Reading

    if len(event) != 1 or not event.isascii() or not event.isalpha():
        raise click.BadParameter(
            f"{event} is no letter of an action, as D or Q are", param_hint="--trace-event"
        )
    return Replaying(reading=Reading(format=trace_format, event=event, disk=disk), fit=fit)


def job_words(trace: Path | None, speed: str | None, words: Sequence[str]) -> tuple[str, ...]:
    """The words of fio's that replay a trace; those that were given, where none is replayed."""
    if trace is None:
        if speed is not None:
            raise FlashtwinError(
                "--speed is that of a trace, and there is none",
                hint="add --trace FILE; a job file has replay_time_scale",
                exit_code=USAGE,
            )
        return tuple(words)
    _check_words(words)
    path = str(trace).replace(":", "\\:")
    given = ("--name=trace", f"--read_iolog={path}", "--ioengine=libaio", f"--iodepth={DEPTH}")
    return (*given, *_speed(speed), *words)


def _check_words(words: Sequence[str]) -> None:
    from flashtwin.fio.language.script import parse

    read = parse(("--name=trace", *words))
    if read.files or len(read.sections) > 1:
        other = read.files[0] if read.files else "--name"
        raise FlashtwinError(
            f"--trace is a job by itself, and {other} is another one",
            hint="leave out one of the two; a job file replays a trace with read_iolog=FILE",
            exit_code=USAGE,
        )


def _speed(speed: str | None) -> tuple[str, ...]:
    if speed is None:
        return ()
    if speed == "max":
        return ("--replay_no_stall=1",)
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)x?", speed)
    percent = round(100 * float(found[1])) if found else 0
    if not 1 <= percent <= 100_000_000:
        raise click.BadParameter(
            f"{speed} is no speed: write 1, 0.5, 2x or max", param_hint="--speed"
        )
    return (f"--replay_time_scale={percent}",)
