"""What runs come to in a few plain lines, for a terminal: each drive by its name, how sure that is,
what to do next, and where the page is.

A line is words that the batteries have for the page's head (`Contents.alone`, `Claim.alone`): no
battery is named here. Invariant: every number is that of a finding, and what lies within ± is an
estimate's 95 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flashtwin.model.text import Shown, listed
from flashtwin.report import article
from flashtwin.report.drives import Contents, Drive
from flashtwin.runs.rundir import Run

# Values that the line on how sure they are has room for.
MOST_VALUES = 3


def lines(runs: Sequence[Run], *, then: str, page: Path | None) -> list[str]:
    """A line a drive, one on how sure they are where there are intervals, what to do `then`, and
    the page, if there is one."""
    contents = Contents.of(runs)
    by_drive = [_of_drive(contents, drive) for drive in contents.drives]
    sure = _how_sure(contents, contents.drives[0])
    return [*by_drive, *sure, f"Next: {then}", *([] if page is None else [f"Page: {page}"])]


def _of_drive(contents: Contents, drive: Drive) -> str:
    """What the drive is called, and its batteries' words on it."""
    name = drive.long_name or drive.name
    kind = " (simulated)" if drive.run.is_simulated else ""
    first, clauses = contents.alone(drive).rstrip("."), article.clauses(contents, drive)
    words = [*([_begun(first)] if first else []), *([f"it {listed(clauses)}"] if clauses else [])]
    text = f"{name}{kind}: {'; '.join(words) or 'nothing was concluded'}"
    # A page keeps a number and its unit together; in a terminal's line that is a strange character.
    return text.replace("\u00a0", " ")


def _how_sure(contents: Contents, drive: Drive) -> list[str]:
    """The first values of a drive that are estimates, each with its interval."""
    columns = (column[drive.index] for column in contents.columns() if drive.index in column)
    estimates = [
        f"{_begun(column.title)} {Shown.of(finding).text}"
        for column in columns
        if (finding := column.finding) is not None
        and finding.interval is not None
        and finding.interval.means == "estimate"
    ]
    shown = ", ".join(estimates[:MOST_VALUES])
    return [f"How sure: {shown}, each with 95 %"] if shown else []


def _begun(text: str) -> str:
    """A text that begins within a sentence: its capital goes, that of an abbreviation stays."""
    return text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"
