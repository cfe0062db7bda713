"""Where `flashtwin fio` writes: refused before the jobs run, so that no answer is lost for it.

The answer goes to stdout or to a file that somebody named; logs of a job file stay below the
directory that the command runs in. Neither is a file that the command reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin import outputs
from flashtwin.cli import terminal

if TYPE_CHECKING:
    from flashtwin.cli.fio_shape import Asked
    from flashtwin.fio.language.script import Script
    from flashtwin.fio.plan.plan import Plan

# What people write for stdout where a program wants the name of a file.
STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def output_of(output: Path | None, read: Script, on: str) -> Path | None:
    """The file of the answer; none for stdout."""
    if output is None or str(output) in STDOUT:
        return None
    outputs.check(output, inputs=inputs_of(read, on))
    return output


def check_logs(read: Script, made: Plan, on: str, asked: Asked, quiet: bool) -> None:
    """Refuse logs that cannot be written; tell of those that are not called as fio calls them."""
    from flashtwin.fio.report import log_files

    traces = [process.job.fio.trace for process in made.processes if process.job.fio]
    inputs = {*inputs_of(read, on), *(Path(trace.path) for trace in traces if trace)}
    log_files.check(made.processes, inputs=inputs, output=asked.output)
    terminal.notes(log_files.renamed([process.clone.job for process in made.processes]), quiet)


def inputs_of(read: Script, on: str) -> set[Path]:
    """The job files with what they include, and the drive's own file."""
    lines = [setting.where for job in read.jobs for setting in job.settings.values()]
    lines += [job.where for job in read.jobs]
    outer = [where for line in lines for where in line.chain]
    named = {Path(where.file) for where in (*lines, *outer) if where.line}
    return {*named, Path(on)} if on.endswith(".toml") else named
