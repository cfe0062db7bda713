"""Typed jobs back to the text of a job file: what fio accepts, and what means the same.

Every option stands in its job's section, so that no [global] is needed; values are written in their
plainest form (bytes, microseconds). Reading the text gives jobs equal to those that were written.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.table import find


def text_of(jobs: Sequence[FioJob]) -> str:
    """The job file of some jobs."""
    return "\n".join(_section(job) for job in jobs)


def _section(job: FioJob) -> str:
    lines = [f"[{job.section}]"]
    # The engine first: the options that belong to it are known from then on.
    for name in sorted(job.settings, key=lambda name: (name != "ioengine", name)):
        lines.append(written(name, job.settings[name].value))
    return "\n".join(lines) + "\n"


def written(name: str, value: object) -> str:
    """One option as a line."""
    option = find(name)
    assert option is not None, f"{name} is no option of the table"
    shown = option.kind.show(value)
    return name if shown is None else f"{name}={shown}"
