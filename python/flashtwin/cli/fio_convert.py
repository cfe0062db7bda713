"""`flashtwin fio --convert RUN`: the steps of a run as the job files that fio would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtwin.cli import terminal
from flashtwin.errors import DONE, USAGE, FlashtwinError

if TYPE_CHECKING:
    from pathlib import Path


def convert(run: Path, out: Path | None, words: tuple[str, ...], quiet: bool) -> int:
    """Write them; `words` are those of jobs, and there may be none."""
    from flashtwin.runs.export import job_files
    from flashtwin.runs.rundir import Run

    if words:
        raise FlashtwinError(
            f"--convert takes a run and no jobs, and {words[0]} is one",
            hint="leave out one of the two",
            exit_code=USAGE,
        )
    converted = job_files.convert(Run(run))
    if not converted:
        raise FlashtwinError(f"no step of {run} asks a drive for anything", exit_code=USAGE)
    if out is None:
        terminal.say(job_files.one_file(converted), nl=False)
        return DONE
    paths = job_files.write(converted, out)
    if not quiet:
        terminal.note(f"{len(paths)} job files in {out}")
    return DONE
