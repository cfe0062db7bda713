"""`flashtwin ask`: what years of a load do to drives."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import options
from flashtwin.errors import USAGE, FlashtwinError, wrong_value
from flashtwin.model import units
from flashtwin.model.fio_job import Reading
from flashtwin.runner.target import Variant

MOST_DRAWS = 64
MOST_YEARS = 1000
MOST_DRIVES = 1_000_000


@click.command(
    "ask",
    epilog=options.examples(
        "flashtwin ask samsung-980-1tb --workload proxmox-zfs",
        "flashtwin ask crucial-p1-1tb wd-sn580-1tb --workload desktop --per-day 60GB --for 5y",
        "flashtwin ask crucial-p1-1tb --workload app.csv --vary full=50%,80%,95%",
        'flashtwin ask crucial-p1-1tb --workload desktop --vary "slc_cache.mode=as is,none"',
        "flashtwin ask samsung-980-1tb --workload desktop --vary trim=on,off",
        "flashtwin ask samsung-980-1tb --workload desktop --rests 1s,1m,10m,1h",
        "flashtwin ask crucial-p1-1tb --workload etcd --fleet 10000 --cluster tcp://10.0.0.1:8786",
    ),
)
@click.argument("drives", nargs=-1, required=True, metavar="DRIVE...")
@click.option(
    "--workload", required=True, metavar="NAME|JOB.fio|TRACE", help="What is asked of them."
)
@click.option(
    "--per-day", metavar="BYTES", help='What the host writes in a day, or drives: "0.5 drives".'
)
@click.option(
    "--full",
    default="80%",
    show_default=True,
    metavar="SHARE|BYTES",
    help="How full the drive is: a share of it, or the data that it holds.",
)
@click.option(
    "--for",
    "years",
    default="5y",
    show_default=True,
    metavar="YEARS",
    help="How long it has to last; the drive is shown after them.",
)
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY=V1,V2,...",
    help="Ask once for each value of KEY: full, trim (on, off), handles (on, off) or a key of the"
    " spec; `as is` keeps the drive's own.",
)
@click.option(
    "--rests",
    metavar="T1,T2,...",
    help="Ask which of these rests between bursts of the load is long enough.",
)
@click.option(
    "--fleet",
    type=options.Integer(2, MOST_DRIVES),
    metavar="N",
    help="Ask how many of N drives last.",
)
@click.option(
    "--spread",
    default=2.0,
    show_default=True,
    type=click.FloatRange(1.0, 1000.0),
    metavar="FACTOR",
    help="With --fleet: 90 % of the hosts write within this factor of the load.",
)
@click.option(
    "--draws",
    type=options.Integer(0, MOST_DRAWS),
    default=4,
    show_default=True,
    help="Copies of each drive whose unknown values are drawn at random.",
)
@click.option(
    "--jobs", "at_once", type=options.Integer(1, 1024), metavar="N", help="Copies at a time."
)
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask scheduler at this address.")
@options.reading
@options.out("A page that draws the answer.")
@options.changes
@options.as_json
@options.quiet
def command(
    drives: tuple[str, ...],
    workload: str,
    per_day: str | None,
    full: str,
    years: str,
    vary: tuple[str, ...],
    rests: str | None,
    fleet: int | None,
    spread: float,
    draws: int,
    at_once: int | None,
    cluster: str | None,
    reading: Reading,
    out: Path | None,
    changes: options.Changes,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say how long drives last under a load, what it costs them, and how long a host waits.

    A small copy of each drive is given the load until its write amplification is steady. The
    interval comes from copies whose unprinted values are drawn at random. Loads by name: desktop,
    proxmox-zfs, home-assistant, etcd, postgres-oltp, surveillance, kv-cache, build-server,
    ceph-osd, data-centre. With a job file or a trace, --per-day says how much is written a day.

    --vary asks in several ways and ranks them. --rests asks how long a drive has to rest between
    bursts, --fleet how many of N drives last; each takes one DRIVE.
    """
    lasting, varied = _years(years), dict(map(_varied, vary))
    ladder = None if rests is None else _ladder(rests)
    _check_single(rests, fleet, len(drives) + len(vary))
    if draws == 1:
        raise FlashtwinError(
            "one drawn drive does not show how far drives differ",
            hint="draw two at least, or none: --draws 0",
            exit_code=USAGE,
        )
    if cluster is not None and at_once is not None:
        raise FlashtwinError(
            "--jobs is for this machine; a cluster decides by itself how many workers it has",
            hint="give --jobs or --cluster",
            exit_code=USAGE,
        )
    variants = [Variant(drive=drive, **changes) for drive in drives]

    from flashtwin.cli import load_run

    load_run.ask(
        load_run.ways_of(variants, workload, per_day, full, lasting, varied, reading),
        draws=draws,
        where=(at_once, cluster),
        years=lasting,
        rests=ladder,
        fleet=None if fleet is None else (fleet, spread),
        shown=load_run.Printed(out=out, as_json=as_json, quiet=quiet),
    )


def _years(text: str) -> float:
    number = text.strip().removesuffix("y").strip()
    try:
        years = float(units.parse_number(number))
    except ValueError:
        raise wrong_value("--for", text, "number of years", "write it as 5y") from None
    if not 0 < years <= MOST_YEARS:
        raise FlashtwinError(
            f"--for {text} is not between 0 and {MOST_YEARS:,} years",
            hint="write a number above 0, such as 5y",
            exit_code=USAGE,
        )
    return years


def _ladder(text: str) -> list[float]:
    """--rests as seconds, the shortest first."""
    try:
        seconds = sorted({units.parse_seconds(word) for word in text.split(",") if word.strip()})
    except ValueError as error:
        raise wrong_value("--rests", text, "list of times", str(error)) from None
    if len(seconds) < 2:
        raise wrong_value("--rests", text, "list of times", "write two at least: 1s,1m,1h")
    return seconds


def _check_single(rests: str | None, fleet: int | None, count: int) -> None:
    """One drive in one way is asked about its rests, or as a fleet."""
    named = [name for name, value in (("--rests", rests), ("--fleet", fleet)) if value is not None]
    if len(named) > 1 or (named and count > 1):
        raise FlashtwinError(
            f"{named[0]} asks of one drive in one way",
            hint="leave out the other drives, --vary and the other question",
            exit_code=USAGE,
        )


def _varied(text: str) -> tuple[str, list[str]]:
    key, _, words = text.partition("=")
    values = [value.strip() for value in words.split(",") if value.strip()]
    if not key or not values:
        raise FlashtwinError(
            f"--vary {text} does not say what is varied",
            hint="write a key and its values: --vary full=50%,80%",
            exit_code=USAGE,
        )
    return key, values
