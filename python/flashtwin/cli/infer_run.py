"""`flashtwin infer`: what a fill that somebody else measured tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from flashtwin import outputs
from flashtwin.cli import findings, terminal
from flashtwin.errors import DONE, MISS, USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.units import parse_block, parse_seconds
from flashtwin.report.inferred import save
from flashtwin.study.infer.infer import Inferred, check_history, infer, of_summary
from flashtwin.study.infer.labelled import LabelledSeries
from flashtwin.study.infer.labelled import labelled as read_labelled
from flashtwin.study.infer.read import Choices, read, read_all
from flashtwin.study.infer.samples import Summary

# Seconds or bytes beyond which an interval or a request is a slip of the keyboard.
MOST_TYPED = 1e9


class LabelledDocument(Document, frozen=True):
    """flashtwin infer --labelled DIR --json"""

    series: list[LabelledSeries]
    misses: int


def run(
    *,
    files: tuple[Path, ...],
    labelled: Path | None,
    join: bool,
    doubled: bool,
    history: str | None,
    first: Path | None,
    pattern: str | None,
    out: Path | None,
    as_json: bool,
    **decided: str | None,
) -> int:
    if (labelled is None) == (not files):
        raise click.UsageError("hand over either files or --labelled DIR")
    if labelled is not None:
        if out is not None:
            raise click.UsageError("--labelled has no page; leave out --out")
        return MISS if _show_labelled(labelled, as_json) else DONE
    check_history(history, with_first=first is not None)
    if out is not None:
        outputs.check(out)
    choices = _choices(decided, doubled)
    content = read_all(files, choices, join=join)
    samples = None
    if isinstance(content, Summary):
        answer = of_summary(content)
    else:
        samples = content if pattern is None else replace(content, pattern=pattern)
        before = None if first is None else read(first, choices)
        answer = infer(samples, history, before)
    if out is not None:
        save(answer, samples, files, out)
    if as_json:
        terminal.print_json(answer.document(None if out is None else str(out)))
    else:
        _show(answer)
        if out is not None:
            terminal.say(f"Page: {out}")
    return DONE


def _choices(decided: dict[str, str | None], doubled: bool) -> Choices:
    """What the options decide of how a file is read."""
    interval_s = _above_0("--interval", decided["interval"], parse_seconds, "1s")
    block_bytes = _above_0("--block-size", decided["block_size"], parse_block, "128k")
    decimal = decided["decimal"]
    return Choices(
        doubled=doubled,
        time_column=decided["time_column"],
        rate_column=decided["rate_column"],
        device=decided["device"],
        interval_s=interval_s,
        block_bytes=None if block_bytes is None else int(block_bytes),
        decimal="comma" if decimal == "comma" else "point" if decimal == "point" else None,
    )


def _above_0(
    option: str, text: str | None, parse: Callable[[str], float], example: str
) -> float | None:
    """The value of an option, none where it was not typed."""
    if text is None:
        return None
    try:
        value = parse(text)
    except ValueError:
        value = 0.0
    if not 0 < value < MOST_TYPED:
        raise FlashtwinError(
            f"{option} {text} is not a value above 0",
            hint=f"write it with its unit, for example {option} {example}",
            exit_code=USAGE,
        )
    return value


def _show_labelled(directory: Path, as_json: bool) -> bool:
    """Answers on series with labels, and the misses by name; whether there is one."""
    rows = read_labelled(directory)
    misses = [row for row in rows if row.miss is not None]
    if as_json:
        series = [row.document() for row in rows]
        terminal.print_json(LabelledDocument(series, misses=len(misses)))
        return bool(misses)
    table = terminal.table(("file", "label", "infer", "miss"))
    for row in rows:
        words = (row.file, "a cache" if row.cache else "none", row.answer.sentence, row.miss or "")
        table.add_row(*(terminal.cell(word) for word in words))
    terminal.emit(table)
    terminal.say(f"{len(rows) - len(misses)} of {len(rows)} series as labelled")
    return bool(misses)


def _show(answer: Inferred) -> None:
    terminal.say(answer.sentence)
    if answer.figures:
        rows = [(figure.name, f"{figure.value:,.6g}", figure.unit) for figure in answer.figures]
        terminal.emit(terminal.table(("figure", "value", "unit"), rows, right=("value",)))
    if answer.findings:
        terminal.emit(*findings.tables({"file": answer.findings}))
    terminal.note(f"columns: {answer.columns}")
    if answer.stalls:
        terminal.note(f"{answer.stalls} stalls left out")
    terminal.notes(list(answer.notes), quiet=False)
