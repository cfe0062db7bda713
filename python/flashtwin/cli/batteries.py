"""`flashtwin batteries` and `flashtwin explain`: the tests that there are, and their findings."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from flashtwin.batteries.base import groups, parameter, registry
from flashtwin.batteries.base.declared import Clause
from flashtwin.batteries.base.meaning import Meaning, MeaningRow
from flashtwin.batteries.base.registry import Battery
from flashtwin.batteries.base.words import word_of
from flashtwin.cli import completions, findings, options, progress, terminal
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.document import Document
from flashtwin.model.finding import Finding, FindingRow
from flashtwin.runner import forecast
from flashtwin.runner.forecast import Forecast
from flashtwin.runner.request import Request
from flashtwin.runs.listing import named

if TYPE_CHECKING:
    from rich.console import RenderableType


# How well a battery's original is known.
TRUST = {"S": "its source", "P": "public descriptions", "M": "general knowledge"}
Trust = Literal["S", "P", "M"]


class ListedBattery(Document, frozen=True):
    """A battery in the list of all."""

    name: str
    title: str
    trust: Trust
    standard: bool


class Batteries(Document, frozen=True):
    """flashtwin batteries --json"""

    batteries: list[ListedBattery]
    groups: list[groups.Group]


class BatteryOnTarget(Document, frozen=True):
    """What a battery takes on a target."""

    target: str
    write_bytes: int
    read_bytes: int
    drive_s: float
    wall_s: float
    memory_bytes: int
    cannot: list[str]
    departs: list[str]


class OneBattery(Document, frozen=True):
    """flashtwin batteries NAME --json"""

    name: str
    title: str
    trust: Trust
    follows: tuple[Clause, ...]
    presets: dict[str, dict[str, str]]
    parameters: list[parameter.Row]
    on: BatteryOnTarget | None


class OfATarget(Document, frozen=True):
    """A finding of the run of a target."""

    target: str
    finding: FindingRow


class Explained(MeaningRow, frozen=True):
    """flashtwin explain FINDING --json; `values` are those of --run"""

    values: list[OfATarget]


class Explain(Document, frozen=True):
    """flashtwin explain --json"""

    findings: list[MeaningRow]


@click.command(
    "batteries",
    epilog=options.examples(
        "flashtwin batteries",
        "flashtwin batteries fill",
        "flashtwin batteries fill:patterns=1m-q1 --on bx500-240",
        "flashtwin batteries fill --on ./probe.bin --size 4GB",
    ),
)
@click.argument("name", required=False, shell_complete=completions.batteries)
@click.option(
    "--on",
    "target",
    metavar="TARGET",
    shell_complete=completions.drives,
    help="Also how long it takes on this target and how many bytes it writes; nothing is run.",
)
@click.option("--size", metavar="SIZE", help="Size of the file, where TARGET is a path; e.g. 4GB.")
@options.sets
@options.firmware
@options.scale
@options.as_json
@click.pass_context
def batteries(
    context: click.Context,
    name: str | None,
    target: str | None,
    size: str | None,
    sets: tuple[str, ...],
    firmware: tuple[str, ...],
    scale: str | None,
    as_json: bool,
) -> None:
    """List the batteries and groups, or one battery: its parameters and whom it follows.

    NAME may set parameters, as after --battery of flashtwin test; --on then says what that takes.
    """
    typed = click.core.ParameterSource.COMMANDLINE
    of_target = ("size", "sets", "firmware", "scale")
    if target is None and any(context.get_parameter_source(key) is typed for key in of_target):
        raise click.UsageError("--size, --set, --firmware and --scale belong to --on", context)
    if name is None:
        if target is not None:
            raise click.UsageError("--on needs the NAME of a battery", context)
        _all(as_json)
        return
    taken = None
    if target is not None:
        request = Request(
            targets=(target,), batteries=name, size=size, sets=sets, firmware=firmware, scale=scale
        )
        (taken,) = forecast.forecast(request)
    _one_battery(name, taken, as_json)


def _all(as_json: bool) -> None:
    known_groups = groups.groups()
    batteries, wrong = registry.available()
    for error in wrong:
        terminal.note(error.message, head="note:", colour="yellow")
        terminal.note(str(error.hint), head="hint:", colour="cyan")
    standard = registry.standard()
    if as_json:
        rows = [
            ListedBattery(
                name=battery.name,
                title=battery.title,
                trust=battery.trust,
                standard=battery.name in standard,
            )
            for battery in batteries
        ]
        terminal.print_json(Batteries(batteries=rows, groups=known_groups))
        return
    texts = [
        (
            f"{battery.name} *" if battery.name in standard else battery.name,
            battery.title,
            TRUST[battery.trust],
        )
        for battery in batteries
    ]
    rows_of_groups = [(row.name, row.title, " ".join(row.batteries)) for row in known_groups]
    table_of_groups = terminal.table(["group", "what it shows", "batteries"], rows_of_groups)
    if not terminal.fits(table_of_groups):
        # What is typed after --battery is not broken.
        longest = max(len(word) for row in known_groups for word in row.batteries)
        table_of_groups.columns[2].width = longest
    terminal.emit(
        terminal.table(["name", "what it does", "original known from"], texts),
        terminal.cell("* standard: runs where no battery is named"),
        table_of_groups,
        terminal.cell("a group runs with: flashtwin test TARGET --group NAME"),
    )


def _one_battery(text: str, taken: Forecast | None, as_json: bool) -> None:
    requests = registry.parse(text)
    if len(requests) > 1:
        raise FlashtwinError(
            f"{text} names {len(requests)} batteries",
            hint="name one; flashtwin test runs several",
            exit_code=USAGE,
        )
    battery = requests[0].battery
    rows = battery.rows()
    presets = {name: dict(values) for name, values in battery.presets.items()}
    if as_json:
        terminal.print_json(
            OneBattery(
                name=battery.name,
                title=battery.title,
                trust=battery.trust,
                follows=tuple(battery.follows),
                presets=presets,
                parameters=rows,
                on=None if taken is None else _taken(battery.name, taken),
            )
        )
        return
    texts = [(row.name, row.default, row.type, row.meaning) for row in rows]
    table = terminal.table(["parameter", "default", "type", "meaning"], texts)
    use = f"--battery {battery.name}:{rows[0].name}={rows[0].default}" if rows else ""
    terminal.emit(
        terminal.cell(f"{battery.name}: {battery.title}", "bold"),
        terminal.cell(f"the original is known from {TRUST[battery.trust]}"),
        *_clauses(battery),
        table,
        terminal.cell(f"set with {use}" if use else "nothing can be set"),
        *(
            terminal.cell(
                f"{battery.name}:preset={name} sets "
                + ", ".join(f"{key}={value}" for key, value in values.items())
            )
            for name, values in presets.items()
        ),
        *([] if taken is None else _forecast(battery.name, taken)),
    )


def _clauses(battery: Battery) -> list[RenderableType]:
    """Whom the battery follows, if it says so."""
    if not battery.follows:
        return []
    rows = [(row.says, row.source, row.here or "the same") for row in battery.follows]
    return [terminal.table(["the original", "known from", "here"], rows)]


def _taken(name: str, taken: Forecast) -> BatteryOnTarget:
    """What a battery takes on a target."""
    estimate = taken.estimate
    return BatteryOnTarget(
        target=taken.info.name,
        write_bytes=estimate.write_bytes,
        read_bytes=estimate.read_bytes,
        drive_s=estimate.drive_s,
        wall_s=estimate.wall_s,
        memory_bytes=estimate.memory_bytes,
        cannot=list(estimate.cannot.get(name, [])),
        departs=list(taken.departs[name]),
    )


def _forecast(name: str, taken: Forecast) -> list[RenderableType]:
    """What a battery takes on a target, in words."""
    estimate = taken.estimate
    takes = f"about {units.rough_seconds(estimate.wall_s)}"
    if taken.info.can.virtual_time:
        takes += f" for {units.rough_seconds(estimate.drive_s)} of the drive's time"
    lines = [f"on {taken.info.name}: {progress.moved(estimate)}, {takes}"]
    if kinds := estimate.cannot.get(name):
        lines.append(f"{taken.info.name} {progress.cannot(kinds)}")
    return [terminal.cell(line) for line in [*lines, *taken.departs[name]]]


@click.command(
    "explain",
    epilog=options.examples(
        "flashtwin explain fill.cache_size",
        "flashtwin explain crystaldiskmark.write",
        "flashtwin explain WAF",
        "flashtwin explain fill.cache_size --run 20260115-101500-bx500-240",
        "flashtwin explain",
    ),
)
@click.argument("finding", required=False, shell_complete=completions.findings)
@options.run("Also what this run says of it: values, intervals, notes.")
@options.as_json
@click.pass_context
def explain(context: click.Context, finding: str | None, run: str | None, as_json: bool) -> None:
    """Say what FINDING means and how it is found, or a word such as TBW; without one, list them."""
    if finding is None:
        if run is not None:
            raise click.UsageError("--run needs a FINDING", context)
        _meanings(as_json)
        return
    meaning = registry.explain(finding)
    values = [] if run is None else _values(run, finding, meaning)
    if as_json:
        rows = [OfATarget(target=target, finding=value.row()) for target, value in values]
        of_all = msgspec.structs.asdict(meaning.row())
        terminal.print_json(Explained(**of_all, values=rows))
        return
    if word := word_of(finding):
        terminal.emit(terminal.cell(f"{word.word}: {word.means}\n"))
    sections = (("", meaning.means), ("How it is found", meaning.found), ("Mind", meaning.mind))
    terminal.emit(terminal.cell(f"{meaning.title} ({meaning.id})", "bold"))
    for title, text in sections:
        if text:
            body = " ".join(text.split())
            terminal.emit(terminal.cell(f"\n{title + ': ' if title else ''}{body}"))
    for target, value in values:
        terminal.emit(*_value(target, value))


def _meanings(as_json: bool) -> None:
    rows = registry.meanings()
    if as_json:
        terminal.print_json(Explain(findings=[row.row() for row in rows]))
        return
    texts = [(row.id, row.title) for row in rows]
    terminal.emit(terminal.table(["finding", "what it is"], texts))


def _values(word: str, finding_id: str, meaning: Meaning) -> list[tuple[str, Finding]]:
    """The findings of this kind that the runs have; of one variant, if it is named."""
    variant = finding_id.strip().partition("[")[2].removesuffix("]")
    values = [
        (str(run.target["name"]), finding)
        for run in named([word])
        for finding in run.findings
        if meaning.fits(finding.battery, finding.name) and variant in ("", finding.variant)
    ]
    if not values:
        raise FlashtwinError(
            f"{word} has no finding {finding_id.strip()}",
            hint=f"flashtwin runs show {shlex.quote(word)} shows those that it has",
            exit_code=USAGE,
        )
    return values


def _value(target: str, finding: Finding) -> list[RenderableType]:
    parts = [terminal.cell(f"\n{target}, {finding.id}: {findings.value(finding)}", "bold")]
    if finding.note:
        parts.append(terminal.cell(finding.note))
    evidence = finding.evidence
    if evidence and evidence.axis == "bytes":
        part = f"{evidence.start / 1e9:.4g} to {evidence.end / 1e9:.4g} GB"
        parts.append(terminal.cell(f"rests on {evidence.label}, {part}"))
    elif evidence:
        parts.append(terminal.cell(f"rests on {evidence.label}"))
    return list(parts)
