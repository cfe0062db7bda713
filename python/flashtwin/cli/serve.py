"""`flashtwin serve` as it is typed. `serve_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.model.lazy import named


@click.command(
    "serve",
    epilog=options.examples(
        "flashtwin serve bx500-240 --scale 1/64",
        "flashtwin serve bx500-240 --state cache-full --run 'nbdinfo $uri'",
        "flashtwin serve bx500-240 --data ./drive --no-timing",
        "flashtwin ctl ./drive cut",
    ),
)
@click.argument("drive", shell_complete=completions.drives)
@click.option(
    "--state",
    metavar="STATE",
    default="fresh",
    show_default=True,
    help="fresh, cache-full, half-full, full, worn, or a file that a twin was saved into.",
)
@click.option(
    "--speed",
    type=options.Share(),
    default=1.0,
    show_default=True,
    metavar="N",
    help="Seconds of the drive in a second of the clock.",
)
@click.option("--no-timing", is_flag=True, help="Answer as soon as it is simulated.")
@click.option(
    "--data",
    type=options.FilePath(),
    metavar="DIR",
    help="Keep the drive there; the same command goes on with it.",
)
@click.option("--compress", is_flag=True, help="Keep data compressed, in memory.")
@click.option(
    "--socket",
    type=options.FilePath(),
    metavar="PATH",
    help="The unix socket, with PATH.ctl beside it for flashtwin ctl; by default nbd.sock in a "
    "directory of its own, or in that of --data.",
)
@click.option(
    "--tcp",
    metavar="[ADDRESS:]PORT",
    help="Listen there too; on this machine alone unless an address is given.",
)
@click.option("--metrics", metavar="PORT", help="OpenMetrics by HTTP on this machine.")
@click.option(
    "--run",
    "command",
    metavar="COMMAND",
    help="Serve while a command of the shell runs, in which $uri, $socket and $ctl are"
    " where the drive is; leave with its exit code.",
)
@click.option("--print-uri", is_flag=True, help="Print the address on stdout.")
@click.option("--watch", is_flag=True, help="Show on stderr what goes on, once a second.")
@click.option(
    "--cut-at", type=options.Integer(1), metavar="N", help="Cut the power with the N-th request."
)
@click.option(
    "--cut-chance",
    type=options.Share(),
    default=0.0,
    metavar="P",
    help="Cut the power at each request with this probability.",
)
@click.option(
    "--cut-seed", type=options.Integer(0), default=1, metavar="N", help="The seed of --cut-chance."
)
@click.option(
    "--worse",
    "worse",
    multiple=True,
    metavar="WAY",
    help="A drive that does not keep its word: flush-ignored, fua-ignored, never-back,"
    " lost-superblocks=N, shorn-writes=N.",
)
@click.option(
    "--log",
    type=options.FilePath(),
    metavar="FILE",
    help="Write down all that the drive is asked, for flashtwin replay.",
)
@click.option("--log-data", is_flag=True, help="With --log: what is written too, in FILE.bytes.")
@options.changes
@options.as_json
@options.quiet
def command(**chosen: Any) -> Any:
    """Serve DRIVE as a block device (NBD), with real data, in the time that the drive would take.

    It ends with Ctrl-C, or with the command of --run. flashtwin ctl cuts its power and breaks it.
    """
    return named("flashtwin.cli.serve_run:run")(**chosen)
