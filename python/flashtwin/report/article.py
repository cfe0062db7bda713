"""The written verdict of a review: what the columns of its batteries come to, in sentences.

A column has its words from its battery (`batteries.base.present.Claim`). Invariants: every number
in a sentence is that of a finding; of two drives one is called better only where the sentence at
the page's head might (`masthead.lead_of`), and a column that both have stands in one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.model.finding import Finding
from flashtwin.model.text import listed, within_sentence
from flashtwin.report import masthead
from flashtwin.report.drives import Contents, Drive

# Statements that share a sentence.
TOGETHER = 2


def verdict(contents: Contents) -> list[str]:
    """The sentences in their order; none where no battery has words for what it found."""
    drives = contents.drives
    if len(drives) == 1:
        return _sentences(drives[0].name, clauses(contents, drives[0]))
    return _compared(contents) if len(drives) == masthead.FEW else _of_several(contents)


def clauses(contents: Contents, drive: Drive) -> list[str]:
    """What the columns say of a drive by itself, each without its subject."""
    cells = [column[drive.index] for column in contents.columns() if drive.index in column]
    return [
        cell.claim.alone.format(within_sentence(cell.finding))
        for cell in cells
        if cell.claim.alone and cell.finding is not None and cell.finding.number is not None
    ]


def _compared(contents: Contents) -> list[str]:
    drives = contents.drives
    of_drive: dict[int, list[str]] = {drive.index: [] for drive in drives}
    level: list[str] = []
    unclear: list[str] = []
    for column in contents.columns():
        first = next(iter(column.values()))
        ratio = masthead.ratio_of(column)
        if not first.claim.what or ratio is None:
            continue
        lead = masthead.lead_of(column, drives)
        if lead is not None:
            values = _against(lead.finding, lead.other)
            of_drive[lead.drive.index].append(f"{lead.than} ({values})")
        else:
            (level if ratio < masthead.WORTH_SAYING else unclear).append(first.claim.what)
    sentences = [
        sentence for drive in drives for sentence in _sentences(drive.name, of_drive[drive.index])
    ]
    if level:
        sentences.append(f"They are within 10\u00a0% of each other in {listed(level)}.")
    if unclear:
        sentences.append(f"Whether they differ in {listed(unclear)} these runs do not show.")
    return sentences


def _of_several(contents: Contents) -> list[str]:
    drives = contents.drives
    of_drive: dict[int, list[str]] = {drive.index: [] for drive in drives}
    for column in contents.columns():
        lead = masthead.lead_of(column, drives)
        if lead is not None and lead.column.claim.most:
            text = lead.column.claim.most
            of_drive[lead.drive.index].append(f"{text} ({within_sentence(lead.finding)})")
    return [
        sentence for drive in drives for sentence in _sentences(drive.name, of_drive[drive.index])
    ]


def _against(finding: Finding, other: Finding) -> str:
    """Two values with their unit once: 84.9 against 12.0 MB/s."""
    texts = [within_sentence(finding), within_sentence(other)]
    (number, _, unit), (_, _, other_unit) = (text.rpartition(" ") for text in texts)
    once = finding.unit != "s" and unit == other_unit and number
    return f"{number if once else texts[0]} against {texts[1]}"


def _sentences(name: str, statements: Sequence[str]) -> list[str]:
    """Sentences of a few statements each; the first begins with the drive's name."""
    groups = [statements[at : at + TOGETHER] for at in range(0, len(statements), TOGETHER)]
    heads = [name, "It also", *["It"] * len(groups)]
    return [f"{head} {listed(group)}." for head, group in zip(heads, groups, strict=False)]
