"""`flashtwin timeline` as it is typed. `timeline_run` carries it out, not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import options
from flashtwin.model.lazy import named


@click.command(
    "timeline",
    epilog=options.examples(
        "flashtwin timeline bx500-240 --from 55s --for 100ms",
        "flashtwin timeline bx500-240 --battery crystaldiskmark --step cdm/RND4K-Q1T1/read/1",
        "flashtwin timeline bx500-240 --scale 1/16 --out cliff.pftrace --json",
    ),
)
@click.argument("drive", metavar="DRIVE")
@click.option(
    "--battery",
    default="fill",
    show_default=True,
    metavar="NAME[:KEY=VALUE,...],...",
    help="What the drive is put through.",
)
@click.option("--step", metavar="LABEL", help="Count --from from the beginning of this step.")
@click.option(
    "--from",
    "from_s",
    type=options.TIME,
    default="0s",
    show_default=True,
    metavar="TIME",
    help="Where the recording begins, on the drive's clock.",
)
@click.option(
    "--for",
    "length_s",
    type=options.TIME,
    default="1s",
    show_default=True,
    metavar="TIME",
    help="How long it is.",
)
@options.out("The trace; by default ./<drive>.pftrace.")
@options.changes
@options.as_json
@options.quiet
def command(**chosen: Any) -> Any:
    """Record what the dies, the channels and the queue of DRIVE do, each operation for itself.

    DRIVE is an id of the catalogue or a spec file that ends in .toml. The trace opens in Perfetto
    (ui.perfetto.dev, which reads it without sending it anywhere) and in its trace processor.
    Nothing is simulated that comes after the recording. A second is 1 MB of trace where the drive
    is filled and 100 MB where a fast one is read at random.
    """
    return named("flashtwin.cli.timeline_run:run")(**chosen)
