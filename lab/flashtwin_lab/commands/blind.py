"""`flashtwin blind`: what the analysis gets right on drives whose inside is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashtwin.cli import options, terminal
from flashtwin.errors import DONE, MISS

if TYPE_CHECKING:
    from flashtwin_lab.blind.heated import Heated
    from flashtwin_lab.blind.run import Campaign
    from flashtwin_lab.blind.structure import Structures
    from flashtwin_lab.proof import Proof

MOST_DRIVES = 100_000
DRIVES, DISCOVERED, FITTED = 200, 60, 20
FILE = options.FilePath(dir_okay=False)


@click.command(
    "blind",
    epilog=options.examples(
        "flashtwin blind --count 20",
        "flashtwin blind --count 200 --seed 7 --json",
        "flashtwin blind --count 50 --generator prior.toml --detector mine.py",
        "flashtwin blind --with heat --count 50",
        "flashtwin blind --with discover --count 10",
        "flashtwin blind --fit --count 5",
        "flashtwin blind --with discover --each-kind --count 114 --seed 3 --append kinds.json",
    ),
)
@click.option(
    "--count",
    type=options.Integer(1, MOST_DRIVES),
    help="Drives; 200 by default, with discover 60, with --fit 20.",
)
@options.seed
@click.option("--generator", type=FILE, help="Another prior (.toml), or a program (.py).")
@click.option("--detector", type=FILE, help="A program (.py) whose detect() is tried instead.")
@click.option(
    "--with",
    "battery",
    type=click.Choice(["fill", "heat", "discover"]),
    default="fill",
    show_default=True,
    help="What each drive is measured with; heat: a fill beside its temperature.",
)
@click.option(
    "--fit", is_flag=True, help="Fit twins to the drives, and try what these predict instead."
)
@click.option("--each-kind", is_flag=True, help="With discover: the kinds of cache come in turn.")
@click.option(
    "--append",
    type=FILE,
    help="With discover or --fit: the drives of all seeds in FILE count, and new ones are added.",
    metavar="FILE",
)
@options.as_json
@options.quiet
@click.pass_context
def command(
    context: click.Context,
    count: int | None,
    seed: int,
    generator: Path | None,
    detector: Path | None,
    battery: str,
    fit: bool,
    each_kind: bool,
    append: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw drives at random, fill them, and hold what the analysis says against the truth.

    The analysis gets the series as a host records it, with noise, stalls, heat and more, and the
    capacity; nothing else. With heat half of the drives are slowed by a temperature, which stands
    beside the series, and it is held against the truth where heat is named. With discover each
    drive is measured by that battery, which chooses its tests, and the kind of cache, the way past
    it and the rests are held against the truth; a drive takes some 15 s of a core, and --each-kind
    draws as many of each kind of cache, rare ones too. With --fit each drive is measured as a run
    is, a twin is fitted to that, and what the twin predicts of other tests is held against the
    drive; a drive takes minutes. With --append such a campaign is made in pieces: drives of the
    seed that the file has are not drawn again, and the table is that of all drives in it. Exit code
    1 if a target was missed.
    """
    from flashtwin.cli import progress
    from flashtwin_lab.blind.run import campaign
    from flashtwin_lab.blind.shards import lacking

    if append is not None and not fit and battery != "discover":
        raise click.UsageError("--append goes with --with discover or --fit")
    if each_kind and (fit or battery != "discover"):
        raise click.UsageError("--each-kind goes with --with discover; --fit draws so anyway")
    done: Campaign | Heated | Proof | Structures
    if fit:
        if generator is not None or detector is not None or battery != "fill":
            raise click.UsageError("--fit takes no --generator, no --detector and no --with")
        from flashtwin_lab.proof import KIND, proof

        number = count or FITTED
        left = len(lacking(append, KIND, seed, number))
        with progress.counted("blind --fit", max(left, 1), quiet, each=True) as report:
            done = proof(number, seed, on_end=report, append=append)
    elif battery == "heat":
        from flashtwin_lab.blind import heated

        if generator is not None or detector is not None:
            raise click.UsageError("--with heat takes no --generator and no --detector")
        number = count or DRIVES
        with progress.counted("blind --with heat", number, quiet) as report:
            done = heated.campaign(number, seed, on_end=report)
    elif battery == "discover":
        from flashtwin_lab.blind import structure

        if detector is not None or (generator is not None and generator.suffix == ".py"):
            raise click.UsageError("--with discover takes no --detector, and a --generator of TOML")
        number = count or DISCOVERED
        left = len(lacking(append, structure.kind_of(each_kind), seed, number))
        with progress.counted("blind --with discover", max(left, 1), quiet) as report:
            done = structure.campaign(
                number,
                seed,
                generator=generator,
                on_end=report,
                append=append,
                each_kind=each_kind,
            )
    else:
        number = count or DRIVES
        with progress.counted("blind", 2 * number, quiet) as report:
            done = campaign(number, seed, generator=generator, detector=detector, on_end=report)
    if as_json:
        terminal.print_json(done.document())
    else:
        _show(done)
    context.exit(MISS if done.missed else DONE)


def _show(done: Campaign | Heated | Proof | Structures) -> None:
    table = terminal.table(["finding", "has to reach", "found", "n", "verdict"], right=["n"])
    for row in done.rows:
        verdict = ("pass", "green") if row.passes else ("miss", "bold red")
        texts = (row.finding, row.target, row.found, str(row.n))
        table.add_row(*(terminal.cell(text) for text in texts), terminal.cell(*verdict))
    terminal.emit(table, terminal.cell(f"\n{done.missed} of {len(done.rows)} targets missed"))
    for line in done.worst_lines():
        terminal.emit(terminal.cell(line, "dim"))
