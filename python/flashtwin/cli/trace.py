"""`flashtwin trace`: what is in a recorded trace."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import options
from flashtwin.model.fio_job import Reading


@click.command(
    "trace",
    epilog=options.examples(
        "flashtwin trace sda.blkparse.txt",
        "flashtwin trace volumes.csv --disk 3 --out volumes.html",
        "zstdcat big.csv.zst | flashtwin trace /dev/stdin --format alibaba --json",
    ),
)
@click.argument("file", type=options.FilePath(dir_okay=False), metavar="FILE")
@options.reading
@options.out("A page that draws it.")
@options.as_json
@options.quiet
def command(file: Path, reading: Reading, out: Path | None, as_json: bool, quiet: bool) -> None:
    """Say which requests FILE has: mix, sizes, order, what they touch and how often, syncs.

    FILE is what flashtwin fio --trace replays: an iolog of fio, the text of blkparse, biosnoop's
    table, or a trace with fixed columns such as MSR's. It is read once, also from a pipe, and may
    be larger than memory.
    """
    from flashtwin.cli import load_run

    load_run.trace(file, reading, out, as_json, quiet)
