"""`flashtwin fio`: jobs of fio on a simulated drive, or through fio itself on a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashtwin.cli import options, terminal
from flashtwin.errors import DONE, ENVIRONMENT, MISS, USAGE, FlashtwinError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtwin.drives.protocol import Progress
    from flashtwin.fiojob.language.sections import Script
    from flashtwin.fiojob.plan.traces import Replaying
    from flashtwin.fiojob.report.formats import Shape
    from flashtwin.runner.resolve import Wishes

LEAST_STATUS_S = 0.001
FORMATS = ("normal", "terse", "json", "json+")


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
@click.option(
    "--trace-disk", type=click.IntRange(min=0), metavar="N", help="Of MSR: this disk alone."
)
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
    from flashtwin.cli.replay import job_words, replaying_of
    from flashtwin.fiojob.language.words import script
    from flashtwin.fiojob.report.formats import Shape
    from flashtwin.runner.resolve import Wishes, is_spec

    if convert is not None:
        return _convert(convert, out, words, quiet)
    replaying = replaying_of(trace_format, trace_event, trace_disk, trace_fit)
    read = script(job_words(trace, speed, words), only=sections)
    if readonly:
        _only_reads(read)
    if parse_only and on is None:
        _tell(read.notes, quiet)
        return DONE
    if on is None:
        raise FlashtwinError(
            "there is no target",
            hint="add --on TARGET, for example --on bx500-240",
            exit_code=USAGE,
        )
    wishes = Wishes(firmware=firmware, sets=sets, scale=scale, seed=seed, quiet=quiet)
    chosen = Shape(
        formats=tuple(["terse"] if minimal else _formats(formats)),
        terse=int(terse_version),
        status_ns=_status(status),
    )
    if not is_spec(on):
        # Jobs that replay are refused there: fio would write to the files that a trace names.
        return _on_path(read, on, wishes, chosen, output, parse_only)
    return _on_twin(read, on, wishes, chosen, output, parse_only, replaying, readonly)


def _status(text: str | None) -> int:
    """Nanoseconds between two statuses; 0 for none."""
    from flashtwin.battery.quantity import parse_seconds

    try:
        seconds = parse_seconds(text) if text is not None else 0.0
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--status-interval") from error
    if text is not None and seconds < LEAST_STATUS_S:
        raise click.BadParameter(
            f"the least is {LEAST_STATUS_S:g} s", param_hint="--status-interval"
        )
    return round(seconds * 1e9)


def _on_twin(
    read: Script,
    on: str,
    wishes: Wishes,
    shape: Shape,
    output: Path | None,
    dry: bool,
    replaying: Replaying,
    readonly: bool,
) -> int:
    from flashtwin.catalogue.loader import load
    from flashtwin.cli import fio_progress
    from flashtwin.cli.replay import check_only_reads
    from flashtwin.drives.twin import Twin
    from flashtwin.fiojob.plan.files import Target
    from flashtwin.fiojob.plan.plan import plan
    from flashtwin.fiojob.report.files import files_of
    from flashtwin.fiojob.report.formats import PROGRAM, shown
    from flashtwin.fiojob.report.ran import all_of, preamble, statuses
    from flashtwin.runner.fio_jobs import run_plan
    from flashtwin.runner.stop import listening

    spec = load(on, firmware=wishes.firmware, sets=wishes.sets, scale=wishes.scale)
    made = plan(read.jobs, Target(name=on, bytes=spec.capacity_bytes), replaying=replaying)
    if readonly:
        check_only_reads(made)
    _tell((*read.notes, *made.notes), wishes.quiet)
    if dry:
        return DONE
    with listening() as stop, fio_progress.shown(spec.id, made, wishes.quiet) as progress:

        def watch(at: Progress) -> bool:
            progress.moved(at)
            return not stop.asked

        twin = Twin(spec, seed=wishes.seed)
        found = run_plan(twin, made, watch, status_ns=shape.status_ns, done=progress.over)
    rows = [pair for one in found for pair in zip(one.processes, one.result.fio, strict=True)]
    phases = [(one.processes, one.result.fio, one.begun_ns) for one in found]
    moments = [one.result.fio_status for one in found]
    told = [*statuses(zip(phases, moments, strict=True)), all_of(phases)]
    begin = preamble(made.processes, PROGRAM)
    _write("".join(shown(one, shape, "" if n else begin) for n, one in enumerate(told)), output)
    for log in files_of(rows):
        _save(Path(log.name), log.text)
    for process, row in rows:
        if row["failure"] and not wishes.quiet:
            terminal.note(f"job {process.job.name} ended early: {row['failure'][1]}")
    return MISS if any(row["failure"] for _, row in rows) else DONE


def _on_path(
    read: Script, on: str, wishes: Wishes, shape: Shape, output: Path | None, dry: bool
) -> int:
    from flashtwin.drives import real_jobs
    from flashtwin.runner.resolve import path_of

    path = path_of(on, wishes)
    _tell(read.notes, wishes.quiet)
    prepared = real_jobs.prepare(read.jobs, on)
    if dry:
        return DONE
    arguments = [f"--output-format={','.join(shape.formats)}", f"--terse-version={shape.terse}"]
    if shape.status_ns:
        arguments += [f"--status-interval={max(shape.status_ns // 1_000_000, 1)}ms"]
    arguments += [f"--output={output.absolute()}"] if output else []

    def say(text: str) -> None:
        if not wishes.quiet:
            terminal.note(text)

    return real_jobs.run(prepared, path, arguments, say)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
    else:
        _save(output, text)


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise FlashtwinError(
            f"{path} cannot be written: {error.strerror}",
            hint="the jobs ran; make room or give another name, and run them again",
            exit_code=ENVIRONMENT,
        ) from error


def _convert(run: Path, out: Path | None, words: tuple[str, ...], quiet: bool) -> int:
    from flashtwin.results.rundir import Run
    from flashtwin.runner import fio_convert

    if words:
        raise FlashtwinError(
            f"--convert takes a run and no jobs, and {words[0]} is one",
            hint="leave out one of the two",
            exit_code=USAGE,
        )
    converted = fio_convert.convert(Run(run))
    if not converted:
        raise FlashtwinError(f"no step of {run} asks a drive for anything", exit_code=USAGE)
    if out is None:
        click.echo(fio_convert.one_file(converted), nl=False)
        return DONE
    paths = fio_convert.write(converted, out)
    if not quiet:
        terminal.note(f"{len(paths)} job files in {out}")
    return DONE


def _formats(words: Sequence[str]) -> list[str]:
    asked = [one for word in words for one in word.split(",")]
    for one in asked:
        if one not in FORMATS:
            raise click.BadParameter(
                f"{one} is none of {', '.join(FORMATS)}", param_hint="--output-format"
            )
    return asked or ["normal"]


def _only_reads(read: Script) -> None:
    from flashtwin.fiojob.language.where import JobFileError

    for job in read.jobs:
        if job["rw"].rw not in ("read", "randread"):
            raise JobFileError(
                job.line("rw"),
                f"job {job.name} writes or trims, which --readonly does not allow",
                hint="leave out --readonly, or change rw",
            )


def _tell(notes: Sequence[Any], quiet: bool) -> None:
    if not quiet:
        for note in notes:
            terminal.note(f"{terminal.coloured('note:', 'yellow')} {note}")
