"""`flashtwin runs`: stored runs listed, shown and removed; without a command it lists."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashtwin.cli import completions, findings, options, terminal
from flashtwin.errors import USAGE, FlashtwinError, shortened
from flashtwin.model import units
from flashtwin.model.document import Document
from flashtwin.model.finding import FindingRow
from flashtwin.model.lazy import named
from flashtwin.runs import listing
from flashtwin.runs.condition import SORTS
from flashtwin.runs.folders import REPORT
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.listing import (
    Stored,
    chosen,
    files_of_others,
    left_files,
    remove,
    size_of,
    total_bytes,
)
from flashtwin.runs.listing import adopt as adopted
from flashtwin.runs.query import search
from flashtwin.runs.rundir import Run

if TYPE_CHECKING:
    from rich.console import RenderableType


# Rows of the steps that are shown without --all.
STEPS_SHOWN = 40
# Characters of a parameter that are shown: one may be a whole job file, which --json has.
PARAMETER_SHOWN = 200
# As many rows take rich a third of a second; of more the table has no colours.
RICH_ROWS = 500
# The least characters of a line that has room for everything about a run.
WIDE = 120
_UNTOLD = {"values", "toml", "name", "model"}
# As many characters of a hash as tell specs apart.
HASH_SHOWN = 12
STYLES = {"finished": "", "under way": "cyan", "no run": "dim", "unreadable": "red"}


class ListedRun(Document, frozen=True):
    """A stored run in a line."""

    path: str
    state: str
    why: str | None
    target: str
    label: str | None
    kind: str
    batteries: list[str]
    started: str | None
    wall_s: float | None
    seed: int | None
    spec: str | None
    capacity_bytes: int | None
    flashtwin: str
    steps: int
    bytes: int
    findings: list[FindingRow]


class Runs(Document, frozen=True):
    """flashtwin runs --json"""

    runs: list[ListedRun]
    total: int


class ShownStep(Document, frozen=True):
    """A step of a run that is shown."""

    step: int
    battery: str
    label: str
    kind: str
    start_s: float
    duration_s: float
    ios: int
    bytes: int
    note: str | None
    not_possible: str | None


class ShownRun(Document, frozen=True):
    """A run as it is listed, with its own target, batteries and steps."""

    path: str
    state: str
    why: str | None
    target: dict[str, Any]
    label: str | None
    kind: str
    batteries: list[dict[str, Any]]
    started: str | None
    wall_s: float | None
    seed: int | None
    spec: str | None
    capacity_bytes: int | None
    flashtwin: str
    steps: list[ShownStep]
    bytes: int
    findings: list[FindingRow]
    command: list[str]
    host: dict[str, Any]
    left_out: list[str]
    files: dict[str, int]


class ShownRuns(Document, frozen=True):
    """flashtwin runs show --json"""

    runs: list[ShownRun]


class RemovedRun(Document, frozen=True):
    """A run that prune removes."""

    path: str
    bytes: int
    state: str


class Pruned(Document, frozen=True):
    """flashtwin runs prune --json"""

    dry_run: bool
    bytes: int
    removed: list[RemovedRun]


class Adopted(Document, frozen=True):
    """flashtwin runs adopt --json"""

    run: str
    files: list[str]


class _Runs(click.Group):
    """A group whose first word may be left out: without one of its commands it lists."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def place(function: Any) -> Any:
    """[DIR...], the place of runs."""
    path = options.FilePath()
    return click.argument("places", nargs=-1, metavar="[DIR...]", type=path)(function)


@click.group(
    "runs",
    cls=_Runs,
    epilog=options.examples(
        "flashtwin runs",
        "flashtwin runs --where \"target like 'bx500%' and cache_size > 20\" --sort -cache_size",
        "flashtwin runs show 20260115-101500-bx500-240",
        "flashtwin runs prune --keep 10 --older-than 30d --dry-run",
    ),
)
def command() -> None:
    """List, show and prune stored runs; flashtwin runs alone lists those in ./flashtwin-runs.

    The options of the list are shown by flashtwin runs list --help.
    """


@command.command(
    "list",
    short_help="List runs; the same as flashtwin runs.",
    epilog=options.examples(
        "flashtwin runs /data/runs --sort -size --limit 20",
        "flashtwin runs --where \"state = 'finished' and started > '2026-01-01'\"",
        "flashtwin runs --where '\"fill.cache_size[1m-q1]\".low > 23'",
    ),
)
@place
@click.option(
    "--where",
    metavar="SQL",
    help="Only runs for which this holds (DuckDB); a wrong name lists the columns.",
)
@click.option(
    "--sort",
    default="-time",
    show_default=True,
    metavar="[-]KEY",
    help=f"By {', '.join(SORTS)} or a finding (cache_size); - for the other way round.",
)
@click.option("--limit", type=options.Integer(1), metavar="N", help="At most so many.")
@options.as_json
def listed(
    places: tuple[Path, ...], where: str | None, sort: str, limit: int | None, as_json: bool
) -> None:
    """List the runs in each DIR, by default ./flashtwin-runs, the newest first.

    What cannot be read as a run is listed too, with the reason.
    """
    stored = search(places, where=where, sort=sort)
    chosen = stored[:limit]
    if as_json:
        rows = [ListedRun(**_listed(run)) for run in chosen]
        terminal.print_json(Runs(runs=rows, total=len(stored)))
        return
    if chosen:
        _emit_table(chosen)
    terminal.emit(terminal.cell(_sum(stored, chosen)))
    for run in chosen:
        if run.why:
            terminal.note(f"note: {run.name}: {run.why}")


def _emit_table(runs: Sequence[Stored]) -> None:
    columns, cells = _cells(runs)
    if len(runs) > RICH_ROWS:
        texts = [[str(text) for text in row] for row in cells]
        if text := terminal.plain_table(columns, texts, right=["size"]):
            terminal.say(text)
            return
    terminal.emit(terminal.table(columns, cells, right=["size"]))


def _cells(runs: Sequence[Stored]) -> tuple[list[str], list[list[Any]]]:
    """The columns for which a line has room. A narrow terminal shows name, date and findings,
    which say more than the target and the size."""
    rows = [
        {
            "run": run.name,
            "started": run.began,
            "target": run.titled,
            "battery": ", ".join(run.batteries),
            "state": terminal.cell(run.state, STYLES.get(run.state, "yellow")),
            "findings": run.key_text,
            "size": units.readable_size(run.bytes),
        }
        for run in runs
    ]
    columns = list(rows[0])
    if terminal.width() < WIDE:
        columns = ["run", "started", "state", "findings"]
        for run, row in zip(runs, rows, strict=True):
            row["run"] = "\n".join(filter(None, (run.name, run.label)))
            row["findings"] = str(row["findings"]).replace(", ", "\n")
        if all(run.state == "finished" for run in runs):
            columns.remove("state")
    return columns, [[row[column] for column in columns] for row in rows]


def _sum(stored: Sequence[Stored], chosen: Sequence[Stored]) -> str:
    runs = sum(run.is_run for run in stored)
    text = f"{_counted(runs)}, {units.readable_size(total_bytes(stored))}"
    if other := len(stored) - runs:
        text += f"; {other} {'folder' if other == 1 else 'folders'} that cannot be read as a run"
    return text + (f"; {len(chosen)} shown" if len(chosen) < len(stored) else "")


@command.command(
    "show",
    short_help="What stands in a run.",
    epilog=options.examples(
        "flashtwin runs show 20260115-101500-bx500-240",
        "flashtwin runs show 20260115-101500-bx500-240 -v",
    ),
)
@click.argument("run", metavar="RUN", shell_complete=completions.runs)
@options.verbose_tables
@click.option("--all", "every", is_flag=True, help="As -v, with the steps that did no work.")
@options.as_json
def show(run: str, verbose: bool, every: bool, as_json: bool) -> None:
    """Show what RUN came to, and with -v its set-up, steps, findings and files.

    RUN is a run directory, or the name of one in ./flashtwin-runs.
    """
    stored = [(each, listing.stored_in(each.path)) for each in listing.named([run])]
    if as_json:
        rows = [_shown(each, about) for each, about in stored]
        terminal.print_json(ShownRuns(runs=rows))
        return
    for each, about in stored:
        short = not (verbose or every)
        terminal.emit(*(_brief(each, about) if short else _run_page(each, about, every)))


# Members of a listed run that are in JSON what they are here.
_AS_THEY_ARE = (
    *("state", "why", "target", "kind", "wall_s", "seed", "spec", "capacity_bytes"),
    *("flashtwin", "steps", "bytes"),
)


def _listed(run: Stored) -> dict[str, Any]:
    """The members of a run that a listing and the view of it have in common."""
    return {
        **{name: getattr(run, name) for name in _AS_THEY_ARE},
        "path": str(run.path),
        "label": run.label or None,
        "batteries": list(run.batteries),
        "started": None if run.started is None else run.started.isoformat(),
        "findings": [finding.row() for finding in run.findings],
    }


def _shown(run: Run, about: Stored) -> ShownRun:
    its_own = {
        "target": run.target,
        "batteries": run.manifest.get("batteries", []),
        "steps": [_shown_step(step) for step in run.steps],
    }
    return ShownRun(
        **{**_listed(about), **its_own},
        command=run.manifest.get("command", []),
        host=run.host,
        left_out=run.left_out,
        files=dict(_files(run)),
    )


def _shown_step(step: StepRecord) -> ShownStep:
    return ShownStep(
        **step.heading(),
        start_s=step.start_ns / 1e9,
        duration_s=step.duration_ns / 1e9,
        ios=sum(job.ios for job in step.jobs),
        bytes=sum(job.bytes for job in step.jobs),
        note=step.note,
        not_possible=step.not_possible,
    )


def _brief(run: Run, about: Stored) -> list[RenderableType]:
    """The five lines of the run's end, what was left out, and where the rest stands."""
    counts = f"all {len(run.findings)} findings and {len(run.steps)} steps"
    then = terminal.typed(f"flashtwin runs show {shlex.quote(about.name)} -v has {counts}")
    page = run.path / REPORT
    lines = named("flashtwin.report.summary:lines")(
        [run], then=then, page=page if page.is_file() else None
    )
    missing = [f"left out: {text}" for text in run.left_out]
    return [*_head(run, about), *map(terminal.cell, [*missing, *lines])]


def _head(run: Run, about: Stored) -> list[RenderableType]:
    took = "" if about.wall_s is None else f", took {about.wall_s:.0f} s"
    head = f"{run.path}: {about.titled}, {about.state}, {about.began}{took}"
    parts: list[RenderableType] = [terminal.cell(head, "bold")]
    if about.why:
        parts.append(terminal.cell(f"note: {about.why}", "yellow"))
    return parts


def _run_page(run: Run, about: Stored, every: bool) -> list[RenderableType]:
    parts = _head(run, about)
    parts += [_rows("set-up", _setup(run)), *_steps(run, every)]
    if run.findings:
        parts += findings.tables({str(run.target["name"]): run.findings})
    if missing := run.left_out:
        parts.append(terminal.cell("\nleft out", "bold"))
        parts += [terminal.cell(text) for text in missing]
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
    rows += [
        _identity(key, value)
        for key, value in identity.items()
        if key not in _UNTOLD and value not in (None, "", [])
    ]
    for row in identity.get("values") or ():
        if row.get("origin") == "user":
            rows.append((f"set: {row['key']}", units.readable_sizes([str(row["value"])])[0]))
    rows.append(("seed", _text(run.manifest.get("seed"))))
    for battery in run.manifest.get("batteries") or ():
        parameters = (battery.get("parameters") or {}).items()
        parameters_text = ", ".join(
            f"{name}={shortened(_text(value), PARAMETER_SHOWN)}" for name, value in parameters
        )
        rows.append((f"battery {battery['name']}", parameters_text))
        rows += [("  departs", str(text)) for text in battery.get("departs") or ()]
    if run.manifest.get("command"):
        rows.append(("command", shlex.join(str(word) for word in run.manifest["command"])))
    rows.append(("flashtwin", _text(run.manifest.get("flashtwin"))))
    under = [key for key in run.host if key.startswith(("device", "file_system"))]
    for key in ("processor", "kernel", "path", *under):
        if run.host.get(key):
            rows.append((key.replace("_", " "), str(run.host[key])))
    return rows


def _identity(key: str, value: object) -> tuple[str, str]:
    """What a target says of itself: sizes in GB, and the beginning of a hash."""
    if key.endswith("_bytes") and isinstance(value, int):
        return key.removesuffix("_bytes").replace("_", " "), units.readable_size(value)
    return key.replace("_", " "), _text(value)[:HASH_SHOWN] if key == "hash" else _text(value)


def _text(value: object) -> str:
    if isinstance(value, list):
        return "+".join(map(_text, value))
    if isinstance(value, dict) and "label" in value:
        return str(value["label"])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "auto" if value is None else str(value)


def _rows(title: str, rows: Sequence[tuple[str, str]], *, right: bool = False) -> RenderableType:
    return terminal.table([title, ""], rows, title="", right=[""] if right else [])


def _steps(run: Run, every: bool) -> list[RenderableType]:
    steps = [step for step in run.steps if every or step.kind != "mark"]
    chosen = steps if every else steps[:STEPS_SHOWN]
    numbers = ["starts", "took", "moved", "MB/s"]
    columns, rows = terminal.with_content(["step", "kind", *numbers, "note"], map(_step, chosen))
    parts: list[RenderableType] = [terminal.table(columns, rows, title="", right=numbers)]
    if hidden := len(run.steps) - len(chosen):
        text = f"{hidden} of {len(run.steps)} steps are not shown: --all shows them"
        parts.append(terminal.cell(text))
    return parts


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
    sizes = []
    for at in sorted(run.path.iterdir()):
        # A link has its own size: what it leads to does not belong to the run.
        folder = at.is_dir() and not at.is_symlink()
        sizes.append(
            (f"{at.name}/" if folder else at.name, size_of(at) if folder else at.lstat().st_size)
        )
    return sizes


def _counted(runs: int) -> str:
    """A count of runs, in words."""
    return "1 run" if runs == 1 else f"{runs} runs"


@command.command(
    "prune",
    short_help="Remove old runs.",
    epilog=options.examples(
        "flashtwin runs prune --keep 10 --dry-run",
        "flashtwin runs prune /data/runs --older-than 30d --where \"state <> 'finished'\" --yes",
    ),
)
@place
@click.option("--keep", type=options.Integer(0), metavar="N", help="Keep the N newest of them.")
@options.older_than("Only runs begun so long ago: 12h, 30d, 4w.")
@click.option("--where", metavar="SQL", help="Only runs for which this holds; see runs list.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@click.option("--yes", "-y", is_flag=True, help="Remove without asking.")
@options.as_json
def prune(
    places: tuple[Path, ...],
    keep: int | None,
    older_than: float | None,
    where: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove the runs in each DIR, by default ./flashtwin-runs, that --keep, --older-than and
    --where leave over.

    A run under way stays, and so does every folder that is not a run.
    """
    if keep is None and older_than is None and where is None:
        raise FlashtwinError(
            "prune without a choice would remove every run",
            hint="say --keep N, --older-than 30d or --where SQL; --keep 0 removes all",
            exit_code=USAGE,
        )
    going = chosen(
        search(places, where=where),
        keep=keep or 0,
        older=timedelta(seconds=older_than) if older_than is not None else None,
        now=datetime.now(UTC),
    )
    if not dry_run and going:
        _agreed(going, yes, as_json)
        _remove(going)
    if as_json:
        rows = [RemovedRun(str(run.path), run.bytes, run.state) for run in going]
        terminal.print_json(Pruned(dry_run=dry_run, bytes=total_bytes(going), removed=rows))
        return
    if dry_run or yes:
        _show(going)
    verb = "would remove" if dry_run else "removed"
    terminal.emit(terminal.cell(f"{verb} {_runs_and_size(going)}"))


def _agreed(going: list[Stored], yes: bool, as_json: bool) -> None:
    """Ask for agreement, where somebody can answer."""
    if yes:
        return
    if as_json or not _somebody_there():
        raise FlashtwinError(
            f"{_runs_and_size(going)} would be removed, and there is no terminal to ask on",
            hint="--dry-run lists them, --yes removes them",
            exit_code=USAGE,
        )
    _show(going)
    if not click.confirm(f"remove {_runs_and_size(going)}?", err=True):
        raise click.Abort


def _somebody_there() -> bool:
    return sys.stdin.isatty()


def _remove(going: list[Stored]) -> None:
    for run in going:
        others = files_of_others(run)
        remove(run)
        if run.path.exists():
            terminal.note(f"note: {run.path} is left: it holds what is no part of a run")
        for path in others:
            terminal.note(
                f"note: {path} is left: it belongs to another directory, of which {run.name} was"
                " a copy"
            )


@command.command(
    "adopt",
    short_help="Give a run's file to a copy of it, or to one that was moved.",
    epilog=options.examples("flashtwin runs adopt /backup/20260115-101500-probe"),
)
@click.argument("run", type=options.FilePath(), shell_complete=completions.runs)
@options.as_json
def adopt(run: Path, as_json: bool) -> None:
    """Make the file that a killed RUN left on its target that of this directory.

    The file says which directory may use it: a run and its copy cannot both go on with it. After
    this command RUN may, and the other directory may not. Refused while somebody measures there.
    """
    paths = adopted(run)
    if as_json:
        files = [str(path) for path in paths]
        terminal.print_json(Adopted(run=str(run), files=files))
        return
    for path in paths:
        terminal.emit(terminal.cell(f"{path} belongs to {run}"))


def _show(going: list[Stored]) -> None:
    if not going:
        return
    rows = [
        (run.name, run.began, run.titled, run.state, units.readable_size(run.bytes))
        for run in going
    ]
    columns = ["run", "started", "target", "state", "size"]
    terminal.emit(terminal.table(columns, rows, right=["size"]))
    for run in going:
        for path in left_files(run):
            terminal.emit(
                terminal.cell(f"{run.name} was killed and left {path}, which goes with it")
            )


def _runs_and_size(going: list[Stored]) -> str:
    return f"{_counted(len(going))}, {units.readable_size(total_bytes(going))}"
