"""From what fio leaves behind to what a step measured: one `Measured` for each of its runs."""

from __future__ import annotations

from pathlib import Path

from flashtwin.drives.real import averaged, exact
from flashtwin.drives.real.jobfile import JobFile
from flashtwin.drives.real.measured import Measured
from flashtwin.drives.real.output import parse_output
from flashtwin.errors import ENVIRONMENT, FlashtwinError


def collect(file: JobFile, text: str, directory: Path) -> list[Measured]:
    """Read fio's JSON and the logs in `directory`."""
    output = parse_output(text)
    missing = [section.name for section in file.sections if section.name not in output.jobs]
    if missing:
        raise FlashtwinError(f"fio gave no result for {', '.join(missing)}", exit_code=ENVIRONMENT)
    measured = exact.measured if file.exact else averaged.measured
    return [
        measured(
            [section for section in file.sections if section.part == part],
            output,
            directory,
            sample_ns,
        )
        for part, sample_ns in enumerate(file.samples_ns)
    ]
