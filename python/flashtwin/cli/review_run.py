"""`flashtwin review`: an article about drives with one command, a section a battery."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import options, test_run
from flashtwin.runner.request import Request


def run(
    context: click.Context,
    targets: tuple[str, ...],
    quick: bool,
    group: str | None,
    size: str | None,
    budget: str | None,
    out: Path | None,
    changes: options.Changes,
    verbose: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    if quick and group is not None:
        raise click.UsageError("--quick is a group itself; leave out --group", context)
    asked_for = Request(
        targets=targets,
        size=size,
        budget=budget,
        **changes,
        out=out,
        say=test_run.silent if quiet else None,
    )
    name = "quick" if quick else group or "review"
    asked_for = test_run.of_group(asked_for, name, quiet)
    how = test_run.How(quiet=quiet, as_json=as_json, verbose=verbose, ranks=True)
    test_run.carry_out(asked_for, how)
