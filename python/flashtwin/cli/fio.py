"""`flashtwin fio`: jobs of fio on a simulated drive, or through fio itself on a file."""

from __future__ import annotations

import re
from pathlib import Path

import click

from flashtwin.cli import numbers, options, terminal
from flashtwin.errors import DONE, USAGE, FlashtwinError


class Words(click.Command):
    """click's command, with fio's words left to us: one dash does for a long option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, each word of one dash made one of two."""
        longer = [f"-{word}" if re.match(r"-[a-zA-Z][a-z]", word) else word for word in args]
        return super().parse_args(ctx, longer)


@click.command(
    "fio",
    cls=Words,
    short_help="Run fio job files on a simulated drive, as fio would.",
    context_settings={"ignore_unknown_options": True},
    epilog=options.examples(
        "flashtwin fio job.fio --on bx500-240",
        "flashtwin fio --name=a --rw=randread --size=1g --iodepth=32 --ioengine=libaio"
        " --on bx500-240",
        "flashtwin fio job.fio --on bx500-240 --output-format=json --output=result.json",
        "flashtwin fio job.fio --on ./probe.bin",
        "flashtwin fio --trace trace.csv --speed 2x --iodepth=64 --on bx500-240",
        "flashtwin fio --convert flashtwin-runs/RUN --out jobs",
    ),
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="JOBFILE|--OPTION=VALUE...")
@click.option("--on", "on", metavar="TARGET", help="A drive of the catalogue, a spec, or a path.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the result to a file.")
@click.option(
    "--output-format",
    "formats",
    multiple=True,
    help="normal, terse, json or json+, several with commas.",
)
@click.option("--minimal", is_flag=True, help="The same as --output-format=terse.")
@click.option(
    "--terse-version",
    type=click.Choice(["3", "4", "5"]),
    default="3",
    help="Fields of a terse line; 5 has trims.",
)
@click.option(
    "--status-interval",
    "status",
    metavar="TIME",
    help="What is counted so far, each time that so long has passed; e.g. 1s. Simulated drives.",
)
@click.option("--section", "sections", multiple=True, metavar="NAME", help="Only this section.")
@click.option("--parse-only", is_flag=True, help="Only read the jobs.")
@click.option("--readonly", is_flag=True, help="Refuse jobs that write or trim.")
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Replay a trace: an iolog of fio, the text of blkparse, or an MSR Cambridge CSV.",
)
@click.option(
    "--trace-format",
    type=click.Choice(["iolog", "blkparse", "msr"]),
    help="What traces are, where their first line does not tell.",
)
@click.option(
    "--trace-event",
    metavar="LETTER",
    default="D",
    show_default=True,
    help="Of blkparse: the action that counts as the request; Q is what the programs asked for.",
)
@click.option("--trace-disk", type=numbers.Whole(0), metavar="N", help="Of MSR: this disk alone.")
@click.option(
    "--trace-fit",
    type=click.Choice(["refuse", "wrap"]),
    default="refuse",
    show_default=True,
    help="Requests beyond the drive: refused, or begun anew at the beginning.",
)
@click.option(
    "--speed",
    metavar="N|max",
    help="With --trace: 1 as recorded (by default), 2x twice as fast, max without any pause.",
)
@click.option(
    "--convert",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Write the steps of a run as the job files that fio would run.",
)
@options.out("With --convert: the directory for the job files; by default one file on stdout.")
@options.seed
@options.sets
@options.firmware
@options.scale
@options.quiet
def command(
    words: tuple[str, ...],
    on: str | None,
    output: Path | None,
    formats: tuple[str, ...],
    minimal: bool,
    terse_version: str,
    status: str | None,
    sections: tuple[str, ...],
    parse_only: bool,
    readonly: bool,
    trace: Path | None,
    trace_format: str | None,
    trace_event: str,
    trace_disk: int | None,
    trace_fit: str,
    speed: str | None,
    convert: Path | None,
    out: Path | None,
    seed: int,
    sets: tuple[str, ...],
    firmware: tuple[str, ...],
    scale: str | None,
    quiet: bool,
) -> int:
    """Run fio job files, or jobs in fio's words, on TARGET.

    On a drive of the catalogue or a spec file the jobs run in simulated time; on a path fio itself
    runs them, on files that are made there and removed. Every option of fio's is listed in
    docs/reference/fio-options.md with what it does here. With --trace FILE, words are options
    of the job that replays it, for example --iodepth=64 or --replay_skip=trim.
    """
    from flashtwin.cli import (
        fio_convert,
        fio_outputs,
        fio_path,
        fio_readonly,
        fio_shape,
        fio_trace,
        fio_twin,
    )
    from flashtwin.fio.language.script import script
    from flashtwin.runner.target import Variant, is_spec

    if convert is not None:
        return fio_convert.convert(convert, out, words, quiet)
    replaying = fio_trace.replaying_of(trace_format, trace_event, trace_disk, trace_fit)
    read = script(fio_trace.job_words(trace, speed, words), only=sections)
    if readonly:
        fio_readonly.check_jobs(read)
    if parse_only and on is None:
        terminal.notes(read.notes, quiet)
        return DONE
    if on is None:
        raise FlashtwinError(
            "there is no target",
            hint="add --on TARGET, for example --on bx500-240",
            exit_code=USAGE,
        )
    variant = Variant(drive=on, firmware=firmware, sets=sets, scale=scale, seed=seed)
    asked = fio_shape.Asked(
        shape=fio_shape.shape_of(formats, minimal, terse_version, status),
        output=fio_outputs.output_of(output, read, on),
        parse_only=parse_only,
        readonly=readonly,
    )
    if not is_spec(on):
        # Jobs that replay are refused there: fio would write to the files that a trace names.
        return fio_path.run(read, variant, asked, quiet)
    return fio_twin.run(read, variant, asked, replaying, quiet)
