"""`flashtwin infer` as it is typed. `infer_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import options
from flashtwin.model.lazy import named

FILE = options.FilePath(dir_okay=False)


@click.command(
    "infer",
    epilog=options.examples(
        "flashtwin infer fill_bw.1.log --out fill.html",
        "flashtwin infer job_bw.1.log job_bw.2.log",
        "flashtwin infer monday.csv tuesday.csv --join --history used:200GB",
        "flashtwin infer again.csv --history preconditioned --first erased.csv",
        "flashtwin infer --labelled series",
    ),
)
@click.argument("files", nargs=-1, type=FILE, metavar="FILE...")
@click.option(
    "--join", is_flag=True, help="The files are runs one after another, not jobs at once."
)
@click.option(
    "--doubled", is_flag=True, help="Sum rows of one time stamp instead of refusing them."
)
@click.option(
    "--history",
    metavar="STATE",
    help="The drive before: fresh, preconditioned, or used:SIZE; taken for fresh by default.",
)
@click.option(
    "--first",
    type=FILE,
    metavar="FILE",
    help="With --history preconditioned: a fill of the erased drive before.",
)
@click.option(
    "--time-column",
    metavar="NAME[=UNIT]",
    help="The column of the time, by name or number, with its unit if it names none.",
)
@click.option(
    "--rate-column",
    metavar="NAME[=UNIT]",
    help="The column of the rate, such as speed=MB/s.",
)
@click.option("--device", metavar="NAME", help="The drive to read, in a report of several.")
@click.option(
    "--interval",
    metavar="TIME",
    help="Time between rows that have no time stamp, such as 1s.",
)
@click.option(
    "--block-size",
    metavar="SIZE",
    help="Size of a request where the file counts requests, such as 128k.",
)
@click.option(
    "--decimal",
    type=click.Choice(("point", "comma")),
    help="The sign before a fraction, where a comma may group thousands.",
)
@click.option(
    "--pattern",
    type=click.Choice(("write", "randwrite", "rw", "randrw")),
    help="How it was written, in fio's words; write is from one end to the other.",
)
@click.option(
    "--out",
    "-o",
    type=options.FilePath(dir_okay=False),
    metavar="PAGE",
    help="Write the answer and the curve as a page, such as fill.html.",
)
@click.option(
    "--labelled",
    type=options.FilePath(),
    metavar="DIR",
    help="Instead of FILE: series with labels in DIR/labels.toml; exit code 1 at a miss.",
)
@options.as_json
def command(**chosen: Any) -> Any:
    """Read a sequential fill from FILE: is there a cache, how large, how fast is each plateau.

    FILE is a bandwidth log of fio or its JSON with --status-interval=1, what iostat, dstat, dd, pv
    or DiskSpd print, a table of HWiNFO or perfmon, or CSV whose header names units: time or bytes,
    and a rate; temperature_C where there is one. Logs of several files are jobs that ran at once
    and are summed. Figures of CrystalDiskMark and similar programs are only listed.
    """
    return named("flashtwin.cli.infer_run:run")(**chosen)
