"""Knock-outs: which published rows need a mechanism.

A row needs a mechanism if it passes on the drive as it is and not without it. Invariant: what is
told comes of two records, of the drives as they are and as they were changed, by today's rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flashtwin.catalogue.facts import UNCOUNTED, Fact
from flashtwin.model.document import Document
from flashtwin.runner.request import Show
from flashtwin_lab.validation.changes import Change, KnockOut, knock_outs, tried
from flashtwin_lab.validation.records import (
    Found,
    Record,
    facts_by_row,
    families,
    family_name,
    record_of,
    stored,
)
from flashtwin_lab.validation.rows import Published, judge, published_value, within
from flashtwin_lab.validation.validate import facts_about, validate


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A row that passes with the mechanism, and what is found without it."""

    fact: Fact
    found: float | None


class BrokenRow(Document, frozen=True):
    """A row that breaks without a mechanism."""

    drive: str
    test: str
    metric: str
    published: Published
    found: float | None


class KnockedOutDocument(Document, frozen=True):
    """A `KnockedOut` as it is printed."""

    name: str
    without: str
    sets: tuple[str, ...]
    drives: tuple[str, ...]
    tried: int
    broken: list[BrokenRow]


class KnockOuts(Document, frozen=True):
    """flashtwin validate --knock-out --json"""

    knock_outs: list[KnockedOutDocument]


@dataclass(frozen=True, kw_only=True)
class KnockedOut:
    """What switching a mechanism off on some drives of a family came to; `tried` rows were run."""

    mechanism: KnockOut
    drives: tuple[str, ...]
    tried: int
    broken: tuple[Broken, ...]

    def document(self) -> KnockedOutDocument:
        """As `flashtwin validate --knock-out --json` prints it."""
        return KnockedOutDocument(
            name=self.mechanism.name,
            without=self.mechanism.without,
            sets=self.mechanism.sets,
            drives=self.drives,
            tried=self.tried,
            broken=[
                BrokenRow(
                    drive=row.fact.drive,
                    test=row.fact.test,
                    metric=row.fact.metric,
                    published=published_value(row.fact),
                    found=row.found,
                )
                for row in self.broken
            ],
        )


def record_name(family: Iterable[str], mechanism: str) -> str:
    """What the record of a knock-out is called."""
    return f"{' '.join(family)}; without {mechanism}"


def changes_of(family_list: Iterable[tuple[str, ...]]) -> dict[str, Change]:
    """The knock-outs of families, by the names of their records."""
    return {
        record_name(family, mechanism.name): Change(family=family, sets=sets, also=mechanism.also)
        for family in family_list
        for mechanism in knock_outs()
        if (sets := mechanism.changes(family))
    }


def knock_out(chosen: Sequence[str], show: Show, *, seed: int = 1) -> list[KnockedOut]:
    """Switch off every mechanism that the families of some drives have, one at a time."""
    facts_about(chosen)
    chosen_families = [family for family in families() if set(family) & set(chosen)]
    shipped = stored()
    base = {
        name: record
        for family in chosen_families
        if (record := shipped.get(name := family_name(family))) and record.is_current
    }
    lacking = [family for family in chosen_families if family_name(family) not in base]
    if lacking or seed != 1:
        again = chosen_families if seed != 1 else lacking
        done = validate([drive for family in again for drive in family], show, seed=seed)
        for family in again:
            pairs = [pair for pair in done.found if set(pair[0].asked_of) <= set(family)]
            base[family_name(family)] = record_of(pairs)
    return list(knocked_out({**base, **tried(changes_of(chosen_families), base, show, seed=seed)}))


def knocked_out(records: Mapping[str, Record]) -> Iterator[KnockedOut]:
    """What the records say of every mechanism; those of another spec are left out."""
    for mechanism in knock_outs():
        for family in families():
            base = records.get(family_name(family))
            changed = records.get(record_name(family, mechanism.name))
            if base is not None and changed is not None and changed.is_of_todays_specs:
                yield KnockedOut(
                    mechanism=mechanism,
                    drives=tuple(changed.sets or ()),
                    tried=len(changed.found),
                    broken=tuple(_broken(base, changed)),
                )


def untried(records: Mapping[str, Record]) -> dict[tuple[str, ...], list[str]]:
    """The mechanisms of each family for which there is no record of today's spec."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for family in families():
        for mechanism in knock_outs():
            record = records.get(record_name(family, mechanism.name))
            if mechanism.changes(family) and (record is None or not record.is_of_todays_specs):
                lacking.setdefault(family, []).append(mechanism.name)
    return lacking


def _broken(base: Record, changed: Record) -> Iterator[Broken]:
    facts = facts_by_row()
    plain = base.rows()
    for after in changed.found:
        fact, before = facts.get(after.row), plain.get(after.row)
        if fact is None or before is None or fact.kind in UNCOUNTED:
            continue
        if not _holds(fact, before):
            continue
        if not _holds(fact, after):
            yield Broken(fact=fact, found=judge(fact, after.values).measured)


def _holds(fact: Fact, of_row: Found) -> bool:
    value = judge(fact, of_row.values).measured
    return value is not None and within(fact, value)
