"""`flashtwin infer`: what a fill that somebody else measured tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from flashtwin.cli import findings, options, terminal
from flashtwin.errors import DONE, MISS, USAGE, FlashtwinError
from flashtwin.model.units import parse_block, parse_seconds
from flashtwin.study.infer.infer import Inferred, checked_history, infer, of_summary
from flashtwin.study.infer.labelled import labelled as read_labelled
from flashtwin.study.infer.read import Choices, read, read_all
from flashtwin.study.infer.samples import Summary

FILE = options.FilePath(dir_okay=False)
# Seconds or bytes beyond which an interval or a request is a slip of the keyboard.
MOST_TYPED = 1e9


@click.command(
    "infer",
    epilog=options.examples(
        "flashtwin infer fill_bw.1.log",
        "flashtwin infer job_bw.1.log job_bw.2.log",
        "flashtwin infer monday.csv tuesday.csv --join --history used:200GB",
        "flashtwin infer again.csv --history preconditioned --first erased.csv",
        "flashtwin infer --labelled series",
    ),
)
@click.argument("files", nargs=-1, type=FILE, metavar="FILE...")
@click.option(
    "--join", is_flag=True, help="The files are runs one after another, not jobs at once."
)
@click.option(
    "--doubled", is_flag=True, help="Sum rows of one time stamp instead of refusing them."
)
@click.option(
    "--history",
    metavar="STATE",
    help="The drive before: fresh, preconditioned, or used:SIZE; taken for fresh by default.",
)
@click.option(
    "--first",
    type=FILE,
    metavar="FILE",
    help="With --history preconditioned: a fill of the erased drive before.",
)
@click.option(
    "--time-column",
    metavar="NAME[=UNIT]",
    help="The column of the time, by name or number, with its unit if it names none.",
)
@click.option(
    "--rate-column",
    metavar="NAME[=UNIT]",
    help="The column of the rate, such as speed=MB/s.",
)
@click.option("--device", metavar="NAME", help="Of several drives in a report, the one to read.")
@click.option(
    "--interval",
    metavar="TIME",
    help="Time between rows that bear none, such as 1s.",
)
@click.option(
    "--block-size",
    metavar="SIZE",
    help="Size of a request where the file counts requests, such as 128k.",
)
@click.option(
    "--decimal",
    type=click.Choice(("point", "comma")),
    help="The sign before a fraction, where a comma may group thousands.",
)
@click.option(
    "--labelled",
    type=options.FilePath(),
    metavar="DIR",
    help="Instead of FILE: series with labels in DIR/labels.toml; exit code 1 at a miss.",
)
@options.as_json
@click.pass_context
def command(
    context: click.Context,
    /,
    files: tuple[Path, ...],
    labelled: Path | None,
    join: bool,
    doubled: bool,
    history: str | None,
    first: Path | None,
    as_json: bool,
    **decided: str | None,
) -> None:
    """Read a sequential fill from FILE: is there a cache, how large, how fast is each plateau.

    FILE is a bandwidth log of fio or its JSON with --status-interval=1, what iostat, dstat, dd, pv
    or DiskSpd print, a table of HWiNFO or perfmon, or CSV whose header names units: time or bytes,
    and a rate; temperature_C where there is one. Logs of several files are jobs that ran at once
    and are summed. Figures of CrystalDiskMark and its kind are shown.
    """
    if (labelled is None) == (not files):
        raise click.UsageError("hand over either files or --labelled DIR")
    if labelled is not None:
        context.exit(MISS if _show_labelled(labelled, as_json) else DONE)
    _check(history, first)
    choices = _choices(decided, doubled)
    samples = read_all(files, choices, join=join)
    if isinstance(samples, Summary):
        answer = of_summary(samples)
    else:
        before = None if first is None else read(first, choices)
        answer = infer(samples, history, before)
    if as_json:
        terminal.print_json(answer.to_json())
        return
    _show(answer)


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


def _check(history: str | None, first: Path | None) -> None:
    if first is not None and history != "preconditioned":
        raise FlashtwinError(
            "--first says what ended a plateau of a full drive, not of one that was "
            f"{history or 'fresh'}",
            hint="add --history preconditioned",
            exit_code=USAGE,
        )
    if history is None:
        return
    try:
        checked_history(history)
    except ValueError as error:
        raise FlashtwinError(
            f"--history {history} is not known",
            hint="write fresh, preconditioned, or used:SIZE, for example used:200GB",
            exit_code=USAGE,
        ) from error


def _show_labelled(directory: Path, as_json: bool) -> bool:
    """Answers on series with labels, and the misses by name; whether there is one."""
    rows = read_labelled(directory)
    misses = [row for row in rows if row.miss is not None]
    if as_json:
        terminal.print_json({"series": [row.to_json() for row in rows], "misses": len(misses)})
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
