"""What a page shows of synthetic traces: a row a part, and the score that ranks drives."""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.batteries.base.present import Claim, Column, Present, Section, Subject
from flashtwin.batteries.base.traces import Traces
from flashtwin.charts import tables
from flashtwin.model.finding import Finding


class TracesPresent(Present):
    """Parts, and what they come to."""

    def __init__(self, traces: Traces, *, title: str) -> None:
        self.traces, self.title = traces, title

    def section(self, subjects: Sequence[Subject]) -> Section:
        """The whole first, then every part."""
        totals = {subject.index: _of(subject, part=False) for subject in subjects}
        parts = {subject.index: _of(subject, part=True) for subject in subjects}
        named = [(self.title, totals), (f"{self.title}, parts", parts)]
        return Section(
            tables=tuple(
                tables.table(title, "", columns)
                for title, columns in named
                if any(columns.values())
            )
        )

    def columns(self, subject: Subject) -> list[Column]:
        """The score; of those without one the time of the first part."""
        if self.traces.scoring != "time":
            score = subject.finding("score", "")
            claim = Claim(
                than=f"scores {{}} higher in {self.title} traces",
                most=f"scores highest in {self.title} traces",
                alone=f"scores {{}} in {self.title} traces",
                what=f"the score in {self.title} traces",
            )
            title = f"{self.title} score"
            return [Column(title=title, finding=score, better="higher", claim=claim)]
        first = self.traces.mixes[0]
        return [
            Column(
                title=first.title,
                finding=subject.finding("part.time", first.name),
                better="lower",
            )
        ]


def _of(subject: Subject, *, part: bool) -> tuple[Finding, ...]:
    return tuple(
        finding for finding in subject.findings if finding.name.startswith("part.") is part
    )
