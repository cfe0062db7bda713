"""`flashtwin runs show`: one run, from what was asked for to the files that hold it.

What the commands of `flashtwin runs` share is here too: which runs are meant, and their words.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from flashtwin.cli import options, terminal
from flashtwin.model import units
from flashtwin.model.finding import LEFT_OUT

if TYPE_CHECKING:
    from rich.console import RenderableType

    from flashtwin.runs.journal import StepRecord
    from flashtwin.runs.listing import Stored
    from flashtwin.runs.rundir import Run

# Rows of the steps that are shown without --all.
STEPS_SHOWN = 40
MOST_SHOWN = 200
_UNTOLD = {"values", "toml", "name"}


@click.command(
    "show",
    short_help="What stands in a run.",
    epilog=options.examples(
        "flashtwin runs show flashtwin-runs/20260115-101500-bx500-240",
        "flashtwin runs show 20260115-101500-bx500-240 --all",
    ),
)
@click.argument("run", metavar="RUN")
@click.option("--all", "every", is_flag=True, help="Every step, also those without work.")
@options.as_json
def show(run: str, every: bool, as_json: bool) -> None:
    """Show the set-up, the steps, the findings and the files of RUN, and what it left out.

    RUN is a run directory, or the name of one in ./flashtwin-runs.
    """
    from flashtwin.runs import listing
    from flashtwin.runs.rundir import find_runs

    found = [(one, listing.one(one.path)) for one in find_runs(listing.find(run))]
    if as_json:
        terminal.print_json({"runs": [_json(one, about) for one, about in found]})
        return
    for one, about in found:
        terminal.emit(*_page(one, about, every))


def _json(run: Run, about: Stored) -> dict[str, Any]:
    return {
        **about.to_json(),
        "target": run.target,
        "batteries": run.manifest.get("batteries", []),
        "command": run.manifest.get("command", []),
        "host": run.host,
        "steps": [_step_json(step) for step in run.steps],
        "left_out": left_out(run),
        "files": dict(_files(run)),
    }


def _step_json(step: StepRecord) -> dict[str, Any]:
    return {
        **step.heading(),
        "start_s": step.start_ns / 1e9,
        "duration_s": step.duration_ns / 1e9,
        "ios": sum(job.ios for job in step.jobs),
        "bytes": sum(job.bytes for job in step.jobs),
        "note": step.note,
        "not_possible": step.not_possible,
    }


def left_out(run: Run) -> list[str]:
    """What the run does not hold though its batteries have it, and why; each reason once."""
    told = [
        f"{one.battery}: {one.note or one.title}" for one in run.findings if one.name == LEFT_OUT
    ]
    told += [
        f"{step.label}: not possible, {step.not_possible}"
        for step in run.steps
        if step.not_possible
    ]
    if not run.finished:
        told.append(f"the run is not finished: {len(run.steps)} steps are there")
    return list(dict.fromkeys(told))


def _page(run: Run, about: Stored, every: bool) -> list[RenderableType]:
    from flashtwin.cli import findings

    took = "" if about.wall_s is None else f", took {about.wall_s:.0f} s"
    head = f"{run.path}: {about.target}, {about.state}, {started(about)}{took}"
    parts: list[RenderableType] = [terminal.cell(head, "bold")]
    if about.why:
        parts.append(terminal.cell(f"note: {about.why}", "yellow"))
    parts += [_rows("set-up", _setup(run)), *_steps(run, every)]
    if run.findings:
        parts += findings.tables({str(run.target["name"]): run.findings})
    if left := left_out(run):
        parts.append(terminal.cell("\nleft out", "bold"))
        parts += [terminal.cell(text) for text in left]
    files = [(name, units.readable_size(size)) for name, size in _files(run)]
    parts.append(_rows("files", files, right=True))
    return parts


def _setup(run: Run) -> list[tuple[str, str]]:
    target = run.target
    identity = target.get("identity") or {}
    rows = [("target", f"{target['name']} ({target.get('kind', 'drive')})")]
    if identity.get("name"):
        rows.append(("name", str(identity["name"])))
    if target.get("capacity_bytes"):
        rows.append(("capacity", units.readable_size(int(target["capacity_bytes"]))))
    rows += [(key, _text(value)) for key, value in identity.items() if key not in _UNTOLD]
    for row in identity.get("values") or ():
        if row.get("origin") == "user":
            rows.append((f"set: {row['key']}", str(row["value"])))
    rows.append(("seed", _text(run.manifest.get("seed"))))
    for one in run.manifest.get("batteries") or ():
        parameters = (one.get("parameters") or {}).items()
        given = ", ".join(f"{name}={_shortened(_text(value))}" for name, value in parameters)
        rows.append((f"battery {one['name']}", given))
        rows += [("  departs", str(text)) for text in one.get("departs") or ()]
    if run.manifest.get("command"):
        rows.append(("command", shlex.join(str(word) for word in run.manifest["command"])))
    rows.append(("flashtwin", _text(run.manifest.get("flashtwin"))))
    for key in ("processor", "kernel", "path"):
        if run.host.get(key):
            rows.append((key, str(run.host[key])))
    return rows


def _text(value: object) -> str:
    if isinstance(value, list):
        return "+".join(map(_text, value))
    return "auto" if value is None else str(value)


def _shortened(text: str) -> str:
    """A parameter that is a whole job file is told by its beginning; --json has all of it."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _rows(title: str, rows: Sequence[tuple[str, str]], *, right: bool = False) -> RenderableType:
    table = terminal.table([title, ""], title="", right=[""] if right else [])
    for row in rows:
        table.add_row(*(terminal.cell(text) for text in row))
    return table


def _steps(run: Run, every: bool) -> list[RenderableType]:
    steps = [step for step in run.steps if every or step.kind != "mark"]
    shown = steps if every else steps[:STEPS_SHOWN]
    numbers = ["starts", "took", "moved", "MB/s"]
    table = terminal.table(["step", "kind", *numbers, "note"], title="", right=numbers)
    for step in shown:
        table.add_row(*(terminal.cell(text) for text in _step(step)))
    hidden = len(run.steps) - len(shown)
    said = f"{hidden} of {len(run.steps)} steps are not shown: --all shows them"
    return [table, *([terminal.cell(said)] if hidden else [])]


def _step(step: StepRecord) -> tuple[str, ...]:
    moved, seconds = sum(job.bytes for job in step.jobs), step.duration_ns / 1e9
    note = f"not possible: {step.not_possible}" if step.not_possible else (step.note or "")
    return (
        step.label,
        step.kind,
        f"{units.readable_number(step.start_ns / 1e9)} s",
        f"{units.readable_number(seconds)} s",
        units.readable_size(moved) if moved else "",
        units.readable_number(moved / seconds / 1e6) if moved and seconds else "",
        note,
    )


def _files(run: Run) -> list[tuple[str, int]]:
    from flashtwin.runs.listing import size_of

    found = []
    for at in sorted(run.path.iterdir()):
        # A link counts itself: what it leads to does not belong to the run.
        folder = at.is_dir() and not at.is_symlink()
        found.append(
            (f"{at.name}/" if folder else at.name, size_of(at) if folder else at.lstat().st_size)
        )
    return found


def add_to(group: click.Group) -> None:
    """The group is the one of `flashtwin runs`."""
    group.add_command(show)


def started(run: Stored) -> str:
    """In the reader's own time."""
    return "" if run.started is None else f"{run.started.astimezone():%Y-%m-%d %H:%M}"


def counted(runs: int) -> str:
    """So many runs, in words."""
    return "1 run" if runs == 1 else f"{runs} runs"
