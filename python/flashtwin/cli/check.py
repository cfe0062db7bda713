"""`flashtwin check`: is a spec right, and if not, everything that is wrong with it."""

from __future__ import annotations

import click

from flashtwin.cli import options, terminal
from flashtwin.errors import DONE, USAGE
from flashtwin.model import units


@click.command(
    "check",
    short_help="Check a spec; all errors at once.",
    epilog=options.examples(
        "flashtwin check ./mine.toml", "flashtwin check bx500-240 --set op=14%"
    ),
)
@click.argument("spec")
@options.firmware
@options.sets
@options.scale
@options.as_json
@click.pass_context
def command(
    context: click.Context,
    spec: str,
    firmware: tuple[str, ...],
    sets: tuple[str, ...],
    scale: str | None,
    as_json: bool,
) -> None:
    """Check SPEC, a file that ends in .toml or an id of the catalogue, and its firmware profiles.

    All errors are told at once, each as file:line: key: message and a hint; exit code 2 if any.
    """
    from flashtwin.catalogue.loader import BadSpecError, check

    if not as_json:
        good = check(spec, firmware=firmware, sets=sets, scale=scale)
        size = units.readable_size(good.capacity_bytes)
        terminal.say(f"{spec}: a drive, {good.name}, {size}, spec {good.hash[:12]}")
        return
    try:
        check(spec, firmware=firmware, sets=sets, scale=scale)
        issues = []
    except BadSpecError as error:
        issues = [issue.to_json() for issue in error.issues]
    terminal.print_json({"spec": spec, "ok": not issues, "errors": issues})
    context.exit(USAGE if issues else DONE)
