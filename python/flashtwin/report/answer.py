"""A page of one answer: sentences first, then figures, then the numbers that they show.

Invariants: one file that loads nothing; what a figure shows is in a table too; the same answer
gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashtwin import outputs
from flashtwin.model.shares import Share
from flashtwin.report import template

SCRIPTS = ("dom.js", "unpack.js", "library.js", "theme.js", "sweep.js")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart, and the lines in it that a reader has to tell apart."""

    title: str
    lines: Sequence[str]
    chart: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of text; the first cell of each names it."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """All of a page. `bars`: how probable the answers of a question are, by its title. `rankings`:
    by their titles the rows of drives, the best on top: name, value, and share of the highest."""

    kind: str
    title: str
    sentences: Sequence[str]
    figures: Sequence[Figure]
    tables: Sequence[Table]
    bars: Sequence[tuple[str, Sequence[Share]]] = ()
    rankings: Sequence[tuple[str, Sequence[tuple[str, str, float]]]] = ()
    notes: Sequence[str] = ()


def write(answer: Answer, where: Path) -> None:
    """Write the page, whole or not at all."""
    panels = {str(number): figure.chart for number, figure in enumerate(answer.figures)}
    outputs.write(where, template.page("answer.html.j2", SCRIPTS, {"panels": panels}, of=answer))
