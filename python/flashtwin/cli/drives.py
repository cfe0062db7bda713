"""The commands about drives: the catalogue, and specs to show, check, hold together and write.

What nobody wrote down has the default of the format, two values in three of a usual drive; `show`
counts the others and lists them when asked for. JSON has all.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashtwin import outputs
from flashtwin.catalogue import loader
from flashtwin.catalogue.endurance import tbw_warning
from flashtwin.catalogue.folders import ID, ID_RULE
from flashtwin.catalogue.label import Label, spec_text
from flashtwin.catalogue.loader import BadSpecError, SpecIssue, load
from flashtwin.catalogue.prediction import CACHE, RATE, TELLS, predictions
from flashtwin.catalogue.summary import (
    Difference,
    describe,
    differences,
    grouped,
    summary,
    written,
)
from flashtwin.cli import completions, options, terminal
from flashtwin.errors import DONE, MISS, USAGE
from flashtwin.model import units
from flashtwin.model.document import Document
from flashtwin.runs.submission.check import check as check_folder
from flashtwin.study.listing import Line, listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from flashtwin._core import Spec


INTERFACES = click.Choice(["sata", "pcie3", "pcie4", "pcie5"])
CELLS = click.Choice(["slc", "mlc", "tlc", "qlc"])
DRAM = click.Choice(["yes", "none", "hmb"])


class Drives(Document, frozen=True):
    """flashtwin drives --json"""

    drives: list[Line]


class Check(Document, frozen=True):
    """flashtwin check --json"""

    spec: str
    ok: bool
    errors: tuple[SpecIssue, ...]
    warnings: list[str]


class NamedSpec(Document, frozen=True):
    """A spec as it was named."""

    spec: str
    hash: str


class Diff(Document, frozen=True):
    """flashtwin diff --json"""

    first: NamedSpec
    second: NamedSpec
    differences: list[Difference]


@click.command(
    "drives",
    epilog=options.examples(
        "flashtwin drives",
        "flashtwin drives --where \"cell = 'qlc'\" --sort -cache_mb_s",
        "flashtwin drives --where \"interface <> 'sata' and validating > 0\"",
        "flashtwin drives --json",
    ),
)
@click.option("--where", metavar="SQL", help="Only drives for which this holds.")
@click.option("--sort", metavar="COLUMN", help="By a column; with - in front the other way round.")
@options.as_json
def drives(where: str | None, sort: str | None, as_json: bool) -> None:
    """List the drives of the catalogue: cache, rates, and how well each is validated.

    Rates are of the twins: writing in the cache, over a whole fill, reading 4 KiB one at a time, in
    MB/s. `passed` counts published rows that the twin meets, of those that were run; `validating`
    those of them that rest on no assumed condition, `fitted` values of its spec that a row set.
    Drives of the folders in FLASHTWIN_CATALOGUE are listed too.

    A condition may name id, name, capacity_bytes, interface, cell, dram, cache (none, static,
    dynamic, hybrid, whole-drive), cache_bytes, cache_mb_s, fill_mb_s, read_mb_s, small_read_mb_s,
    small_write_mb_s, rows, passed, validating and fitted.
    """
    lines = listing(where=where, sort=sort)
    if as_json:
        terminal.print_json(Drives(drives=lines))
        return
    columns = {
        "id": [line.id for line in lines],
        "name": [line.name for line in lines],
        "capacity": [units.readable_size(line.capacity_bytes) for line in lines],
        "cell": [line.cell for line in lines],
        "cache": [line.cache for line in lines],
        "MB/s in it": [units.readable_number(line.cache_mb_s) for line in lines],
        "fill MB/s": [units.readable_number(line.fill_mb_s) for line in lines],
        "4K MB/s": [units.readable_number(line.small_read_mb_s) for line in lines],
        "passed": [f"{line.passed} of {line.rows}" if line.rows else "-" for line in lines],
        "validating": [str(line.validating) for line in lines],
        "fitted": [str(line.fitted) for line in lines],
    }
    # The id is what other commands take, so it is not wrapped.
    least = ("name", "fitted", "validating", "4K MB/s", "fill MB/s", "MB/s in it")
    for count in range(len(least) + 1):
        left_out = least[:count]
        shown = {title: texts for title, texts in columns.items() if title not in left_out}
        rows = list(zip(*shown.values(), strict=True))
        numbers = [title for title in shown if title not in ("id", "name", "cell", "cache")]
        listing_table = terminal.table(list(shown), rows, right=numbers)
        if terminal.fits(listing_table):
            break
    listing_table.columns[0].no_wrap = True
    terminal.emit(listing_table)
    if where is not None and not lines:
        terminal.note("note: no drive is one of these; words are in small letters: cell = 'qlc'")


@click.command(
    "show",
    epilog=options.examples(
        "flashtwin show bx500-240",
        "flashtwin show bx500-240 -v",
        "flashtwin show bx500-240 --firmware slc-off",
        "flashtwin show ./mine.toml --json",
    ),
)
@click.argument("drive", shell_complete=completions.drives)
@options.firmware
@options.sets
@options.scale
@options.verbose_tables
@click.option("--all", "every", is_flag=True, help="As -v, with the values at their defaults.")
@options.as_json
def show(
    drive: str,
    firmware: tuple[str, ...],
    sets: tuple[str, ...],
    scale: str | None,
    verbose: bool,
    every: bool,
    as_json: bool,
) -> None:
    """Show what DRIVE is, and with -v every value with its origin and source.

    DRIVE is an id of the catalogue or a spec file that ends in .toml.
    """
    spec = load(drive, firmware=firmware, sets=sets, scale=scale)
    if as_json:
        terminal.print_json(describe(spec))
        return
    terminal.emit(*(_all_values(spec, every) if verbose or every else _in_short(spec, drive)))


def _in_short(spec: Spec, word: str) -> list[RenderableType]:
    """What a drive is in a few lines: name, flash and cache, where its values come from."""
    line = summary(spec.id, spec)
    capacity = units.readable_size(line.capacity_bytes)
    values = {row["key"]: row["value"] for row in spec.values()}
    sata = values.get("link.kind", "sata") == "sata"
    interface = "SATA" if sata else f"PCIe {values['link.pcie_generation']}"
    rows = written(spec.values())
    origins = Counter(row["origin"] for row in rows)
    by_origin = ", ".join(f"{number} {origin}" for origin, number in origins.most_common())
    texts = [
        f"{capacity} of {line.cell}, SLC cache: {line.cache}, {interface}",
        *(f"note: {note}" for note in spec.notes),
        *(f"warning: {warning}" for warning in spec.warnings),
        f"{len(rows)} values of its own: {by_origin}",
        *([f"firmware: {', '.join(spec.firmware_profiles)}"] if spec.firmware_profiles else []),
        terminal.typed(
            f"Next: flashtwin show {shlex.quote(word)} -v has each value with its source,"
            f" flashtwin test {shlex.quote(word)} --battery fill measures it"
        ),
    ]
    return [terminal.cell(_heading(spec), "bold"), *map(terminal.cell, texts)]


def _heading(spec: Spec) -> str:
    capacity = units.readable_size(spec.capacity_bytes)
    return f"{spec.name} ({spec.id}), {capacity}, spec {spec.hash[:12]}"


def _all_values(spec: Spec, every: bool) -> list[RenderableType]:
    """Every value that somebody wrote down, or all, with its origin and source."""
    takes = f"takes {units.readable_size(spec.memory_bytes, 3)} of memory to simulate"
    parts: list[RenderableType] = [terminal.cell(_heading(spec), "bold"), terminal.cell(takes)]
    if spec.firmware_profiles:
        parts.append(terminal.cell(f"firmware profiles: {', '.join(spec.firmware_profiles)}"))
    parts += [terminal.cell(f"note: {note}") for note in spec.notes]
    parts += [terminal.cell(f"warning: {warning}") for warning in spec.warnings]
    values = spec.values()
    rows_shown = values if every else written(values)
    for title, rows in grouped(rows_shown).items():
        texts = [
            (key, *units.readable_sizes([value["value"]]), value["origin"], value["source"])
            for key, value in rows
        ]
        columns = ["key", "value", "origin", "source"]
        parts.append(terminal.table(columns, texts, title=f"\n[{title}]"))
    if hidden := len(values) - len(rows_shown):
        text = f"{hidden} of {len(values)} values are at the format's default: --all shows them"
        parts.append(terminal.cell(f"\n{text}"))
    return parts


@click.command(
    "check",
    epilog=options.examples(
        "flashtwin check ./mine.toml",
        "flashtwin check bx500-240 --set op=14%",
        "flashtwin check --catalogue ./catalogue",
    ),
)
@click.argument("spec", required=False, shell_complete=completions.drives)
@options.firmware
@options.sets
@options.scale
@click.option(
    "--catalogue",
    type=options.FilePath(),
    metavar="DIR",
    help="Check all of a folder instead: drives, published outcomes, submissions.",
)
@options.as_json
@click.pass_context
def check(
    context: click.Context,
    spec: str | None,
    firmware: tuple[str, ...],
    sets: tuple[str, ...],
    scale: str | None,
    catalogue: Path | None,
    as_json: bool,
) -> None:
    """Check SPEC, a file that ends in .toml or an id of the catalogue, and its firmware profiles.

    It prints all errors at once, each as file:line: key: message and a hint; exit code 2 if any.

    --catalogue checks a folder: specs parse, build and bear the name of their file, published
    outcomes have conditions, submissions are as flashtwin submit wrote them, and nothing holds a
    serial number or a path of a machine. It prints a line a fault; exit code 1 if any.
    """
    if (spec is None) == (catalogue is None):
        raise click.UsageError("give a SPEC, or --catalogue with a folder")
    if catalogue is not None:
        typed = click.core.ParameterSource.COMMANDLINE
        if any(context.get_parameter_source(n) is typed for n in ("firmware", "sets", "scale")):
            raise click.UsageError("--firmware, --set and --scale belong to a SPEC")
        context.exit(_check_catalogue(catalogue, as_json))
    assert spec is not None
    if not as_json:
        good = loader.check(spec, firmware=firmware, sets=sets, scale=scale)
        size = units.readable_size(good.capacity_bytes)
        text = f"{spec}: a drive, {good.name}, {size}, spec {good.hash[:12]}"
        terminal.emit(terminal.cell(text))
        for warning in _warnings(good):
            terminal.note(warning, head="warning:", colour="yellow")
        return
    issues: tuple[SpecIssue, ...] = ()
    warnings: list[str] = []
    try:
        warnings = _warnings(loader.check(spec, firmware=firmware, sets=sets, scale=scale))
    except loader.BadSpecError as error:
        issues = error.issues
    terminal.print_json(Check(spec, ok=not issues, errors=issues, warnings=warnings))
    context.exit(USAGE if issues else DONE)


def _warnings(spec: Spec) -> list[str]:
    """What is allowed and may surprise; of the label's TBW `check` alone tells."""
    of_label = tbw_warning(spec)
    return [*spec.warnings, *([of_label] if of_label else [])]


def _check_catalogue(folder: Path, as_json: bool) -> int:
    checked = check_folder(folder)
    if as_json:
        terminal.print_json(checked)
    for fault in () if as_json else checked.faults:
        terminal.say(fault.text)
    if not as_json:
        counts = {
            "drive": checked.drives,
            "outcome": checked.outcomes,
            "submission": checked.submissions,
            "fault": len(checked.faults),
        }
        texts = [f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items()]
        terminal.say(f"{folder}: {', '.join(texts)}")
    return MISS if checked.faults else DONE


@click.command(
    "diff",
    epilog=options.examples(
        "flashtwin diff bx500-240 bx500-240-nocache",
        "flashtwin diff bx500-240 ./mine.toml --json",
    ),
)
@click.argument("first", metavar="SPEC", shell_complete=completions.drives)
@click.argument("second", metavar="SPEC", shell_complete=completions.drives)
@options.as_json
def diff(first: str, second: str, as_json: bool) -> None:
    """Show every value in which two drives differ, and where each comes from.

    A SPEC is an id of the catalogue or a spec file that ends in .toml. Exit code 0 either way.
    """
    first_spec, second_spec = load(first), load(second)
    differing = differences(first_spec, second_spec)
    if as_json:
        terminal.print_json(
            Diff(
                first=NamedSpec(first, first_spec.hash),
                second=NamedSpec(second, second_spec.hash),
                differences=differing,
            )
        )
        return
    if not differing:
        terminal.say(f"{first} and {second} are the same drive, spec {first_spec.hash[:12]}")
        return
    rows = []
    for row in differing:
        origins = dict.fromkeys((row.first_origin, row.second_origin))
        rows.append((row.key, row.first, row.second, ", ".join(origins)))
    terminal.emit(terminal.table(["key", first, second, "origins"], rows))


@click.command(
    "new",
    epilog=options.examples(
        'flashtwin new mx500-1tb --capacity "1 TB" --interface sata --cell tlc --dram yes',
        'flashtwin new p3-2tb --capacity "2 TB" --interface pcie3 --cell qlc --dram hmb --dies 16',
        "flashtwin new mine",
    ),
)
@click.argument("drive_id", metavar="ID")
@click.option("--name", help="Name for people; by default the id.")
@click.option("--capacity", type=options.SIZE, metavar="SIZE", help='As sold: "240 GB", "1 TB".')
@click.option("--interface", type=INTERFACES)
@click.option("--cell", type=CELLS)
@click.option("--dram", type=DRAM, help="hmb: host memory buffer.")
@click.option(
    "--controller",
    metavar="MAKER",
    help="Who makes the controller, if known: phison, silicon-motion, samsung, …",
)
@click.option(
    "--controller-model",
    metavar="MODEL",
    help="Its model, if known: E18, SM2262EN, MAP1602, … It tells most of the cache.",
)
@click.option("--dies", type=options.Integer(0), help="Dies of flash, if known.")
@click.option(
    "--slc-cache", type=options.SIZE, metavar="SIZE", help='Its size, if known; "0" for none.'
)
@options.out("The file to write; by default ./ID.toml.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def new(
    drive_id: str,
    name: str | None,
    capacity: int | None,
    interface: str | None,
    cell: str | None,
    dram: str | None,
    controller: str | None,
    controller_model: str | None,
    dies: int | None,
    slc_cache: int | None,
    out: Path | None,
    force: bool,
) -> None:
    """Write a spec for the drive ID from what its label says; all other values are usual ones.

    On a terminal flashtwin asks for what is missing. Values of the label have the origin datasheet;
    all others are marked prior until you replace them.
    """
    if not ID.fullmatch(drive_id):
        raise click.BadParameter(ID_RULE, param_hint="ID")
    label = Label(
        id=drive_id,
        name=name or drive_id,
        capacity_bytes=_prompted("capacity", capacity, "240 GB", options.SIZE),
        interface=_prompted("interface", interface, "sata", INTERFACES),
        cell=_prompted("cell", cell, "tlc", CELLS),
        dram=_prompted("dram", dram, "yes", DRAM),
        dies=dies,
        cache_bytes=slc_cache,
        controller=controller,
        model=controller_model,
    )
    path = out or Path(f"{drive_id}.toml")
    text = spec_text(label)
    options.check_new_spec(path, force)
    outputs.write(path, text)
    try:
        spec = load(str(path))
    except BadSpecError:
        terminal.note(f"wrote {path}, which is not a drive yet:")
        raise
    terminal.say(
        f"{path}: {spec.name}, {units.readable_size(spec.capacity_bytes)}, spec {spec.hash[:12]}"
    )
    expected = predictions(label.kind)
    for item in expected:
        if item.title == CACHE and label.cache_bytes is not None:
            continue
        shown = units.readable_gb if item.unit == "B" else units.readable_mb_s
        terminal.say(
            f"expect: {item.title} {shown(item.middle)}, from {shown(item.low)} to "
            f"{shown(item.high)} ({item.note})"
        )
    if not expected:
        terminal.say(f"{CACHE}, {RATE}: not known from a label with {label.cell.upper()}; {TELLS}")
    terminal.note(f"next: flashtwin show {path}, flashtwin test {path} --battery fill")


def _prompted(option: str, value: Any, usual: str, kind: click.ParamType[Any]) -> Any:
    """The value of an option: asked for on a terminal, required elsewhere."""
    if value is not None:
        return value
    if not sys.stdin.isatty():
        raise click.UsageError(f"--{option} is missing, and there is no terminal to ask on")
    return click.prompt(option, default=usual, type=kind, err=True)
