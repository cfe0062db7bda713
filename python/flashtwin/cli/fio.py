"""`flashtwin fio`: jobs of fio on a simulated drive, or through fio itself on a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from flashtwin.cli import options, terminal
from flashtwin.errors import DONE, USAGE, FlashtwinError
from flashtwin.model.fio_job import TraceFormat

if TYPE_CHECKING:
    from collections.abc import Sequence


# How many requests of a trace are outstanding at once: as many as a SATA drive takes. Further ones
# would wait in the host, which a trace does not show.
TRACE_DEPTH = 32


class Words(click.Command):
    """click's command, which leaves fio's words alone: a long option may begin with one dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Like click's, after long options with one dash have been given their second one."""
        longer = [f"-{word}" if re.match(r"-[a-zA-Z][a-z]", word) else word for word in args]
        return super().parse_args(ctx, longer)


@click.command(
    "fio",
    cls=Words,
    context_settings={"ignore_unknown_options": True},
    epilog=options.examples(
        "flashtwin fio job.fio --on bx500-240",
        "flashtwin fio --name=a --rw=randread --size=1g --iodepth=32 --ioengine=libaio"
        " --on bx500-240",
        "flashtwin fio job.fio --on bx500-240 --output-format=json --output=result.json",
        "flashtwin fio job.fio --on ./probe.bin",
        "flashtwin fio job.fio --on ./probe.bin --out run --budget 10m",
        "flashtwin fio --resume run",
        "flashtwin fio --trace trace.csv --speed 2x --iodepth=64 --on bx500-240",
        "flashtwin fio --convert flashtwin-runs/RUN --out jobs",
    ),
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="JOBFILE|--OPTION=VALUE...")
@click.option("--on", "on", metavar="TARGET", help="A drive of the catalogue, a spec, or a path.")
@click.option("--output", type=options.FilePath(), help="Write the result to a file.")
@click.option(
    "--output-format",
    "formats",
    multiple=True,
    help="normal, terse, json or json+, several with commas.",
)
@click.option("--minimal", is_flag=True, help="The same as --output-format=terse.")
@click.option("--append-terse", is_flag=True, help="Terse lines beside the normal output.")
@click.option(
    "-v",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, option, wanted: _say_version(ctx, wanted),
    help="The version of fio whose language and formats these are.",
)
@click.option(
    "--terse-version",
    type=click.Choice(["3", "4", "5"]),
    default="3",
    help="Fields of a terse line; 5 has trims.",
)
@click.option(
    "--status-interval",
    "status_s",
    type=options.TIME,
    metavar="TIME",
    help="Print the counts so far every TIME, such as 1s; on simulated drives.",
)
@click.option(
    "--section",
    "sections",
    multiple=True,
    metavar="NAME",
    help="Only this section of the job file; may be repeated.",
)
@click.option("--parse-only", is_flag=True, help="Only read the jobs.")
@click.option("--readonly", is_flag=True, help="Refuse jobs that write or trim.")
@click.option(
    "--trace",
    type=options.FilePath(),
    metavar="FILE",
    help="Replay a trace: an iolog of fio, blkparse, biosnoop, MSR, SYSTOR, Alibaba, Tencent, ….",
)
@click.option(
    "--trace-format",
    type=click.Choice(get_args(TraceFormat)),
    metavar="NAME",
    help=f"The traces' format, if their lines do not show it: {', '.join(get_args(TraceFormat))}.",
)
@click.option(
    "--trace-event",
    metavar="LETTER",
    default="D",
    show_default=True,
    help="With blkparse and biosnoop: replay the requests of this action; Q is what programs asked"
    " for.",
)
@click.option("--trace-disk", metavar="NAME", help="Replay only this disk or volume of the traces.")
@click.option(
    "--trace-fit",
    type=click.Choice(["refuse", "wrap"]),
    default="refuse",
    show_default=True,
    help="Requests beyond the end of the drive: refuse them, or wrap them to its beginning.",
)
@click.option(
    "--speed",
    metavar="N|max",
    help="With --trace: 1 as recorded (by default), 2x twice as fast, max without any pause.",
)
@click.option(
    "--convert",
    type=options.FilePath(),
    metavar="RUN",
    help="Write the steps of a run as the job files that fio would run.",
)
@options.budget("Keep a run, and end its jobs when the drive's clock has gone so far; e.g. 10m.")
@click.option(
    "--resume",
    type=options.FilePath(),
    metavar="RUN",
    help="Go on with the groups of a run that are not done.",
)
@options.out(
    "Keep a run of the jobs in this directory. With --convert: where the job files go; by default"
    " one file on stdout."
)
@options.changes
@options.quiet
def command(
    words: tuple[str, ...],
    on: str | None,
    output: Path | None,
    formats: tuple[str, ...],
    minimal: bool,
    append_terse: bool,
    terse_version: str,
    status_s: float | None,
    sections: tuple[str, ...],
    parse_only: bool,
    readonly: bool,
    trace: Path | None,
    trace_format: str | None,
    trace_event: str,
    trace_disk: str | None,
    trace_fit: str,
    speed: str | None,
    convert: Path | None,
    budget: str | None,
    resume: Path | None,
    out: Path | None,
    changes: options.Changes,
    quiet: bool,
) -> int:
    """Run fio job files, or jobs in fio's words, on TARGET.

    On a drive of the catalogue or a spec file the jobs run in simulated time; on a path fio itself
    runs them, on files that are made there and removed. flashtwin help fio-options lists every
    option of fio's with what it does here. With --trace FILE, words are options of the job that
    replays it, for example --iodepth=64 or --replay_skip=trim.

    With --out or --budget the jobs are a run like those of flashtwin test: each group that a
    stonewall ends is a step, and what was finished is kept. --resume RUN runs the groups that are
    left, and prints fio's answer to all of them; it writes no logs of those that were over.
    """
    from flashtwin.cli import fio_run
    from flashtwin.fio.answer import inputs_of, output_file
    from flashtwin.fio.language.script import script
    from flashtwin.fio.plan.plan import refuse_writes
    from flashtwin.runner.target import Variant, is_spec

    if append_terse:
        formats = (*(formats or ("normal",)), "terse")
    if convert is not None:
        return fio_run.convert(convert, out, words, quiet)
    if resume is not None:
        if on is not None or budget is not None or out is not None:
            raise FlashtwinError(
                "--resume goes on with what the run was asked for",
                hint="leave out --on, --budget and --out",
                exit_code=USAGE,
            )
        return fio_run.resume(
            fio_run.Resumed(
                run=resume,
                words=words,
                shape=fio_run.shape(formats, minimal, terse_version, status_s),
                formats=fio_run.formats_of(formats) if formats else ("terse",) if minimal else None,
                output=output_file(output),
                quiet=quiet,
            )
        )
    _refuse_drives(words)
    replaying = fio_run.replaying(trace_format, trace_event, trace_disk, trace_fit)
    read = script(_trace_words(trace, speed, words), only=sections)
    if readonly:
        refuse_writes(read.jobs)
    if parse_only and on is None:
        terminal.notes(read.notes, quiet)
        return DONE
    if on is None:
        raise FlashtwinError(
            "there is no target",
            hint="add --on TARGET, for example --on bx500-240",
            exit_code=USAGE,
        )
    fio_command = fio_run.FioCommand(
        read=read,
        variant=Variant(drive=on, **changes),
        shape=fio_run.shape(formats, minimal, terse_version, status_s),
        output=output_file(output, inputs_of(read, on)),
        parse_only=parse_only,
        readonly=readonly,
        quiet=quiet,
    )
    keeping = fio_run.Keeping(out=out, budget=budget, words=words)
    if keeping.wanted:
        if trace is not None:
            raise FlashtwinError(
                "--trace is not possible with --out or --budget: a run does not keep the trace",
                hint="leave them out, and the answer alone is printed",
                exit_code=USAGE,
            )
        return fio_run.run(fio_command, keeping)
    # Jobs that replay are refused on a path: fio would write to the files that a trace names.
    return fio_run.on_twin(fio_command, replaying) if is_spec(on) else fio_run.on_path(fio_command)


def _say_version(ctx: click.Context, wanted: bool) -> None:
    from flashtwin.fio.report.formats import PROGRAM

    if wanted:
        terminal.say(PROGRAM)
        ctx.exit(DONE)


def _refuse_drives(words: Sequence[str]) -> None:
    """Refuse the name of a drive among the job files: flashtwin test takes drives there, fio's
    command line does not."""
    from flashtwin.runner.target import is_spec

    drive = next((word for word in words if is_spec(word) and not word.startswith("-")), None)
    if drive is not None and (drive.endswith(".toml") or not Path(drive).exists()):
        raise FlashtwinError(
            f"{drive} is a drive and no job file",
            hint=f"write flashtwin fio JOBFILE --on {drive}",
            exit_code=USAGE,
        )


def _trace_words(trace: Path | None, speed: str | None, words: Sequence[str]) -> tuple[str, ...]:
    """fio's words for replaying a trace; raises where they are given without a trace."""
    if trace is None:
        if speed is not None:
            raise FlashtwinError(
                "--speed says how fast a trace is replayed, and there is no trace",
                hint="add --trace FILE; a job file has replay_time_scale",
                exit_code=USAGE,
            )
        return tuple(words)
    _check_words(words)
    path = str(trace).replace(":", "\\:")
    replay_words = (
        "--name=trace",
        f"--read_iolog={path}",
        "--ioengine=libaio",
        f"--iodepth={TRACE_DEPTH}",
    )
    return (*replay_words, *_speed(speed), *words)


def _check_words(words: Sequence[str]) -> None:
    from flashtwin.fio.language.script import parse

    read = parse(("--name=trace", *words))
    if read.files or len(read.sections) > 1:
        other = read.files[0] if read.files else "--name"
        raise FlashtwinError(
            f"--trace is a job by itself, and {other} is another one",
            hint="leave out one of the two; a job file replays a trace with read_iolog=FILE",
            exit_code=USAGE,
        )


def _speed(speed: str | None) -> tuple[str, ...]:
    if speed is None:
        return ()
    if speed == "max":
        return ("--replay_no_stall=1",)
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)x?", speed)
    percent = round(100 * float(match[1])) if match else 0
    if not 1 <= percent <= 100_000_000:
        raise click.BadParameter(
            f"{speed} is not a speed: write 1, 0.5, 2x or max", param_hint="--speed"
        )
    return (f"--replay_time_scale={percent}",)
