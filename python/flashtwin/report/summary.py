"""What runs come to in a few plain lines, for a terminal: each drive by its name, how sure that is,
what to do next, and where the page is.

A line is words that the batteries have for the page's head (`Contents.alone`, `Claim.alone`): no
battery is named here. Invariant: every number is that of a finding, and what lies within ± is an
estimate's 95 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flashtwin.model import text
from flashtwin.model.text import Shown, listed
from flashtwin.report import article, masthead
from flashtwin.report.drives import Contents, Drive
from flashtwin.runs.rundir import Run

# Values that the line on how sure they are has room for, and statements about a drive.
MOST_VALUES, MOST_CLAUSES = 3, 3


def lines(runs: Sequence[Run], *, then: str, page: Path | None) -> list[str]:
    """A line a drive, one on how sure they are where there are intervals, what to do `then`, and
    the page, if there is one."""
    contents = Contents.of(runs)
    names = masthead.full_names(contents.drives)
    by_drive = [
        _of_drive(contents, drive, name) for drive, name in zip(contents.drives, names, strict=True)
    ]
    sure = _how_sure(contents, contents.drives[0])
    return [*by_drive, *sure, f"Next: {then}", *([] if page is None else [f"Page: {page}"])]


def _of_drive(contents: Contents, drive: Drive, name: str) -> str:
    """What the drive is called, and its batteries' words on it."""
    kind = " (simulated)" if drive.run.is_simulated else ""
    first = contents.alone(drive).rstrip(".")
    clauses = article.clauses(contents, drive)[:MOST_CLAUSES]
    if not first and not clauses:
        first = _headlines(drive)
    words = [*([_begun(first)] if first else []), *([f"it {listed(clauses)}"] if clauses else [])]
    line = f"{name}{kind}: {'; '.join(words) or 'nothing was concluded'}"
    # A page keeps a number and its unit together; in a terminal's line that is a strange character.
    return line.replace("\u00a0", " ")


def _headlines(drive: Drive) -> str:
    """The findings that say most about a drive of whose batteries none has words of its own."""
    valued = [finding for finding in drive.findings if finding.value is not None]
    chosen = [finding for finding in valued if finding.headline] or valued
    return "; ".join(f"{_begun(row.title)} {text.plain(row)}" for row in chosen[:MOST_VALUES])


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


def _begun(words: str) -> str:
    """A text that begins within a sentence: its capital goes, that of an abbreviation stays."""
    return words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"
