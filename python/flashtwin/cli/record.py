"""`flashtwin record`: the requests of a real host as a trace."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import options
from flashtwin.errors import USAGE, FlashtwinError, wrong_value
from flashtwin.model import units

WAYS = ("blktrace", "tracepoints", "diskstats")


@click.command(
    "record",
    epilog=options.examples(
        "flashtwin record /dev/nvme0n1 --for 1h --out host.trace",
        "flashtwin record --pid 4711 --for 10m --out postgres.strace",
        "flashtwin record --command 'make -j8' --out build.strace",
    ),
)
# The counters of a disk are everybody's to read, the disk itself is not.
@click.argument("target", type=options.FilePath(readable=False), metavar="[TARGET]", required=False)
@click.option("--pid", type=options.Integer(1, 1 << 22), metavar="PID", help="Record this process.")
@click.option(
    "--command", "words", metavar="'CMD'", help="Record a command of the shell until it ends."
)
@click.option("--out", type=options.FilePath(), metavar="FILE", required=True, help="The trace.")
@click.option(
    "--for",
    "time",
    metavar="TIME",
    help="How long, such as 10m; an hour if nothing is said, and a command until it ends.",
)
@click.option(
    "--way",
    type=click.Choice(WAYS),
    metavar="WAY",
    help=f"How a disk is recorded, the finest way if nothing is said: {', '.join(WAYS)}.",
)
@options.as_json
@options.quiet
def command(
    target: Path | None,
    pid: int | None,
    words: str | None,
    out: Path,
    time: str | None,
    way: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Record what a host asks of a disk, or a process of its files, as a trace for ask and cost.

    TARGET is a disk, or a file or folder on it. It is recorded by blktrace, else by the tracepoints
    of the kernel (both need root), else by the counters of /proc/diskstats, which tell how much and
    not where. A process or a command is recorded by strace. A note names what the recording
    lacks. Ctrl-C ends it and keeps it (exit code 130).
    """
    if sum(value is not None for value in (target, pid, words)) != 1:
        raise FlashtwinError(
            "one thing is recorded at a time",
            hint="name a disk, or --pid PID, or --command 'CMD'",
            exit_code=USAGE,
        )
    if way is not None and target is None:
        raise FlashtwinError(
            "--way says how a disk is recorded, and processes are recorded by strace",
            hint="leave it out",
            exit_code=USAGE,
        )
    seconds = None if time is None else _seconds(time)

    from flashtwin.cli import record_run

    return record_run.record(
        target, pid, words, out=out, seconds=seconds, way=way, as_json=as_json, quiet=quiet
    )


def _seconds(text: str) -> float:
    try:
        seconds = units.parse_seconds(text)
    except ValueError as error:
        raise wrong_value("--for", text, "time", str(error)) from None
    if not seconds:
        raise wrong_value("--for", text, "time", "write one above 0 seconds")
    return seconds
