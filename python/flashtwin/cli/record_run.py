"""`flashtwin record` at work: what was recorded, on a terminal or as JSON."""

from __future__ import annotations

import math
from pathlib import Path

from flashtwin import outputs
from flashtwin.cli import terminal
from flashtwin.errors import DONE, INTERRUPTED
from flashtwin.load import record as recording
from flashtwin.load.words import Recorded
from flashtwin.model import units

HOUR_S = 3600.0


def record(
    target: Path | None,
    number: int | None,
    words: str | None,
    *,
    out: Path,
    seconds: float | None,
    way: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Answer `flashtwin record`; one of `target`, `number` and `words` is there."""
    outputs.check(out, inputs={target} if target is not None else ())
    if words is not None:
        recorded = recording.command(words, out, math.inf if seconds is None else seconds)
    elif number is not None:
        recorded = recording.process(number, out, HOUR_S if seconds is None else seconds)
    else:
        assert target is not None, "the command line has one of the three"
        recorded = recording.device(target, out, HOUR_S if seconds is None else seconds, way)
    if as_json:
        terminal.print_json(recorded)
    else:
        for line in _of_recorded(recorded):
            terminal.say(line)
    notes = [f"not recorded: {text}" for text in recorded.left_out]
    notes += [f"not by {text}" for text in recorded.instead_of]
    if recorded.code:
        notes.append(f"the command ended with code {recorded.code}")
    terminal.notes(notes, quiet)
    return INTERRUPTED if recorded.interrupted else DONE


def _of_recorded(of: Recorded) -> list[str]:
    """What a recording has, and what can be asked with it."""
    parts = [
        f"{count:,} {name} ({units.readable_size(moved)})"
        for name, count, moved in (
            ("reads", of.reads, of.read_bytes),
            ("writes", of.writes, of.write_bytes),
            ("TRIMs", of.trims, of.trim_bytes),
        )
        if count
    ]
    parts += [f"{of.flushes:,} flush{'es' if of.flushes > 1 else ''}"] if of.flushes else []
    ended = ", when it was interrupted" if of.interrupted else ""
    daily = units.readable_size(of.write_bytes_a_day, 3)
    lines = [
        f"{of.title} asked for {', '.join(parts) or 'nothing'} within"
        f" {units.readable_seconds(of.seconds)} ({of.way}{ended})."
    ]
    if not of.write_bytes:
        return [*lines, "Nothing was written: there is nothing to ask a drive about."]
    lines.append(f"A day at this pace has {daily} written.")
    daily = daily.replace(" ", "")
    if of.way == "diskstats":
        question = f"--workload NAME --per-day {daily}"
    else:
        question = f"--workload {of.file}"
    lines.append(f"Ask what it does to a drive: flashtwin ask DRIVE {question}")
    return lines
