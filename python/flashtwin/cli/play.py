"""`flashtwin play` as it is typed. `play_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.model.lazy import named


@click.command(
    "play",
    epilog=options.examples(
        "flashtwin play bx500-240 --open",
        "flashtwin play samsung-980-1tb --out 980.html",
        "flashtwin play ./mine.toml --set slc_cache.size=8GB",
    ),
)
@click.argument("drive", shell_complete=completions.drives)
@options.firmware
@options.sets
@options.out("The page to write; by default ./play-DRIVE.html.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@options.as_json
@options.quiet
def command(**chosen: Any) -> Any:
    """Make a page on which a reader changes DRIVE and sees it filled anew at once: its cache and
    what it does when that is full, over-provisioning, dies, a pause.

    The page is one file and needs no network: the simulator is in it and runs in the browser. The
    findings are computed now, with one value changed at a time. The whole drive is filled once, to
    show how far the small one in the page differs from it. DRIVE is an id of the catalogue or a
    spec file that ends in .toml.
    """
    return named("flashtwin.cli.play_run:run")(**chosen)
