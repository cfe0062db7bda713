"""Tables of findings: a row a finding, a column a drive, rows of a kind under a heading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flashtwin.model.finding import Finding


@dataclass(frozen=True, kw_only=True)
class Row:
    """A finding of all drives that have it, by their numbers on the page."""

    title: str
    findings: Mapping[int, Finding]


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows under a heading of their own, "" for none."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table; `pattern` names the way of testing that its findings belong to."""

    title: str
    pattern: str
    parts: tuple[Part, ...]


def row_title(finding: Finding) -> str:
    """A finding's title as a row begins with it."""
    return finding.title[:1].upper() + finding.title[1:]


def table(
    title: str,
    pattern: str,
    findings: Mapping[int, Sequence[Finding]],
    *,
    heading: Callable[[Finding], str] = lambda _: "",
    naming: Callable[[Finding], str] = row_title,
) -> Table:
    """The findings of each drive side by side; `heading` names the part that a finding is of."""
    parts: dict[str, dict[str, dict[int, Finding]]] = {}
    titles: dict[str, str] = {}
    for drive, column in findings.items():
        for finding in column:
            part = parts.setdefault(heading(finding), {})
            part.setdefault(finding.id, {})[drive] = finding
            titles.setdefault(finding.id, naming(finding))
    return Table(
        title=title,
        pattern=pattern,
        parts=tuple(
            Part(
                title=name,
                rows=tuple(Row(title=titles[id_], findings=row) for id_, row in rows.items()),
            )
            for name, rows in parts.items()
        ),
    )


def by_variant(
    title: str,
    findings: Mapping[int, Sequence[Finding]],
    *,
    pattern: Callable[[str], str] = str,
    heading: Callable[[Finding], str] = lambda _: "",
    naming: Callable[[Finding], str] = row_title,
) -> list[Table]:
    """A table for each variant, in order of appearance; `pattern` is the reader's name for a
    variant."""
    variants = dict.fromkeys(finding.variant for column in findings.values() for finding in column)
    tables = []
    for variant in variants:
        of_variant = {
            drive: [finding for finding in column if finding.variant == variant]
            for drive, column in findings.items()
        }
        name = pattern(variant) if variant else ""
        tables.append(table(title, name, of_variant, heading=heading, naming=naming))
    return tables
