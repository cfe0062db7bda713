"""`flashtwin batteries` and `flashtwin explain`: the tests that there are, and their findings."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from flashtwin.cli import completions, options, terminal
from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from flashtwin.batteries.base.meaning import Meaning
    from flashtwin.model.finding import Finding

# Where a battery's original is known from.
TRUST = {"S": "its source", "P": "public descriptions", "M": "general knowledge"}


@click.command(
    "batteries",
    epilog=options.examples("flashtwin batteries", "flashtwin batteries fill"),
)
@click.argument("name", required=False, shell_complete=completions.batteries)
@options.as_json
def batteries(name: str | None, as_json: bool) -> None:
    """List the batteries, or the parameters of one."""
    if name is None:
        _all(as_json)
    else:
        _one_battery(name, as_json)


def _all(as_json: bool) -> None:
    from flashtwin.batteries.base import registry

    batteries, wrong = registry.available()
    for error in wrong:
        terminal.note(error.message, head="note:", colour="yellow")
        terminal.note(str(error.hint), head="hint:", colour="cyan")
    standard = registry.standard()
    if as_json:
        rows = [
            {
                "name": battery.name,
                "title": battery.title,
                "trust": battery.trust,
                "standard": battery.name in standard,
            }
            for battery in batteries
        ]
        terminal.print_json({"batteries": rows})
        return
    texts = [
        (
            f"{battery.name} *" if battery.name in standard else battery.name,
            battery.title,
            TRUST[battery.trust],
        )
        for battery in batteries
    ]
    terminal.emit(
        terminal.table(["name", "what it does", "original known from"], texts),
        terminal.cell("* standard: runs where no battery is named"),
    )


def _one_battery(name: str, as_json: bool) -> None:
    from dataclasses import asdict

    from flashtwin.batteries.base import registry

    battery = registry.get(name)
    rows = [asdict(row) for row in battery.rows()]
    if as_json:
        head = {"name": battery.name, "title": battery.title, "trust": battery.trust}
        terminal.print_json({**head, "parameters": rows})
        return
    texts = [(row["name"], row["default"], row["type"], row["meaning"]) for row in rows]
    table = terminal.table(["parameter", "default", "type", "meaning"], texts)
    use = f"--battery {battery.name}:{rows[0]['name']}={rows[0]['default']}" if rows else ""
    terminal.emit(
        terminal.cell(f"{battery.name}: {battery.title}", "bold"),
        terminal.cell(f"the original is known from {TRUST[battery.trust]}"),
        table,
        terminal.cell(f"set with {use}" if use else "nothing can be set"),
    )


@click.command(
    "explain",
    epilog=options.examples(
        "flashtwin explain fill.cache_size",
        "flashtwin explain crystaldiskmark.write",
        "flashtwin explain fill.cache_size --run 20260115-101500-bx500-240",
        "flashtwin explain",
    ),
)
@click.argument("finding", required=False, shell_complete=completions.findings)
@options.run("Also what this run says of it: values, intervals, notes.")
@options.as_json
@click.pass_context
def explain(context: click.Context, finding: str | None, run: str | None, as_json: bool) -> None:
    """Say what FINDING means and how it is found; without one, list them."""
    from flashtwin.batteries.base import registry

    if finding is None:
        if run is not None:
            raise click.UsageError("--run asks for a FINDING", context)
        _meanings(as_json)
        return
    meaning = registry.explain(finding)
    values = [] if run is None else _values(run, finding, meaning)
    if as_json:
        rows = [{"target": target, "finding": value.to_json()} for target, value in values]
        terminal.print_json({**meaning.to_json(), "values": rows})
        return
    sections = (("", meaning.means), ("How it is found", meaning.found), ("Mind", meaning.mind))
    terminal.emit(terminal.cell(f"{meaning.title} ({meaning.id})", "bold"))
    for title, text in sections:
        if text:
            body = " ".join(text.split())
            terminal.emit(terminal.cell(f"\n{title + ': ' if title else ''}{body}"))
    for target, value in values:
        terminal.emit(*_value(target, value))


def _meanings(as_json: bool) -> None:
    from flashtwin.batteries.base import registry

    rows = registry.meanings()
    if as_json:
        terminal.print_json({"findings": [row.to_json() for row in rows]})
        return
    texts = [(row.id, row.title) for row in rows]
    terminal.emit(terminal.table(["finding", "what it is"], texts))


def _values(word: str, finding_id: str, meaning: Meaning) -> list[tuple[str, Finding]]:
    """What the runs have of such findings; of a variant, if one is asked for."""
    from flashtwin.runs.listing import named

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
    from flashtwin.cli import findings

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
