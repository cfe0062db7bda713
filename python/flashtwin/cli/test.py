"""`flashtwin test` as it is typed. `test_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.drives.consent import NO_PURGE
from flashtwin.model.lazy import named


@click.command(
    "test",
    epilog=options.examples(
        "flashtwin test bx500-240 bx500-240-nocache",
        "flashtwin test bx500-240 --battery fill:patterns=1m-q1 --seed 7",
        "flashtwin test bx500-240 --scale 1/16",
        "flashtwin test bx500-240 --group review",
        'flashtwin test bx500-240 --set slc_cache.size=8GB --label "8 GB of cache"',
        "flashtwin test ./probe.bin --size 4GB --battery fill,crystaldiskmark",
        "flashtwin test ./probe.bin --size 4GB --budget 30m",
        "flashtwin test /dev/nvme0n1",
        "flashtwin test /dev/nvme0n1 --destroy-data --battery fill",
        "flashtwin test /dev/nvme0n1 --power meter.csv",
        "flashtwin test bx500-240 --resume 20260115-101500-bx500-240",
        "flashtwin test --resume 20260115-101500-probe.bin",
    ),
)
@click.argument("targets", nargs=-1, metavar="TARGET...", shell_complete=completions.drives)
@click.option(
    "--battery",
    "batteries",
    multiple=True,
    metavar="NAME[:KEY=VALUE,...],...",
    shell_complete=completions.batteries,
    help="What to run; by default the standard ones, which flashtwin batteries marks.",
)
@click.option(
    "--group",
    metavar="NAME",
    shell_complete=completions.groups,
    help="Run the batteries of this group that suit the targets; flashtwin batteries lists groups.",
)
@click.option("--size", metavar="SIZE", help="Size of the file to make, for a path; e.g. 4GB.")
@options.budget("Run what fits into this time on each drive's clock; e.g. 30m.")
@click.option(
    "--resume",
    type=options.FilePath(),
    metavar="RUN",
    shell_complete=completions.runs,
    help="Go on with a run that was interrupted, as it was asked for.",
)
@options.out("The run directory; by default ./flashtwin-runs/<time>-<target>.")
@click.option(
    "--no-report", is_flag=True, help="Make no report.html; flashtwin report makes it later."
)
@options.changes
@options.preparation
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="TEXT",
    help="What the run is called on pages and in comparisons; once for each target.",
)
@options.destroying
@click.option(
    NO_PURGE,
    "no_purge",
    is_flag=True,
    help="Erase no device: what it held before stays in it, and shows in what is found.",
)
@options.metered
@options.verbose
@options.as_json
@options.quiet
@click.pass_context
def command(context: click.Context, /, **chosen: Any) -> Any:
    """Run batteries on each TARGET and report what they found.

    A TARGET is an id of the catalogue, a spec file that ends in .toml, or a path: then a file of
    --size is made there, measured with fio, and removed. The address of a drive that flashtwin
    serve serves (nbd+unix:///?socket=PATH) is measured with fio too, in real time.

    A TARGET may be a block device, such as /dev/nvme0n1. It is only read, unless --destroy-data
    says that all data on it may be lost: then model, serial number and labels are shown and have to
    be typed back. One that is mounted, in use or part of a set is never written to. The same holds
    of an NBD export that flashtwin does not serve, whose name and size are typed back.

    --resume RUN repeats no finished step: it brings a simulated drive to where it was, and uses the
    file of the run again or makes and fills a new one. Name no TARGET, or those of the run.
    """
    return named("flashtwin.cli.test_run:run")(context, **chosen)
