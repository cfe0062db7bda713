"""Records: what twins were found to do, shipped, so that a page and a list need not run them again.

`records.json` has a record for each family of drives (those that are compared with each other) as
they are, and one for each change of their specs that was tried. It holds what was found and not the
verdicts: those are today's, of `published.toml` and `known.toml` as they are now. Invariant: a
record is of the core's model and of specs by their hashes; `Record.is_current` says whether the
same would be found today. A record of a changed spec holds on under later models, as long as the
spec is what it was (`Record.is_of_todays_specs`): an hour would be needed to make all of them, and
the page says of which models they are. Made by `flashtwin_lab.make.validation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import UNSET, Struct, UnsetType

from flashtwin import _core
from flashtwin.catalogue import validated
from flashtwin.catalogue.facts import (
    UNCOUNTED,
    Fact,
    KnownMiss,
    drives,
    known_misses,
    published,
)
from flashtwin.catalogue.loader import drive_ids
from flashtwin.catalogue.validated import Counts, Family, spec_hash
from flashtwin_lab.validation.metrics import measure_of
from flashtwin_lab.validation.rows import Row, TwinValues, judge_all

RECORDS = Path(__file__).with_name("records.json")
# Digits of a found value that are kept: far more than any tolerance asks for.
DIGITS = 6

Values = dict[str, float | None]


class Found(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was found for one published row."""

    drive: str
    test: str
    metric: str
    cells: Values
    variants: Values = {}
    also: Values = {}

    @property
    def row(self) -> tuple[str, str, str]:
        """The row that it is of."""
        return self.drive, self.test, self.metric

    @property
    def values(self) -> TwinValues:
        return TwinValues(cells=self.cells, variants=self.variants, also=self.also)


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was found of a family of drives; `sets` by drive, where a spec was changed."""

    model: int
    specs: dict[str, str]
    found: tuple[Found, ...] = ()
    sets: dict[str, tuple[str, ...]] | UnsetType = UNSET
    scale: str = ""

    @property
    def is_current(self) -> bool:
        """Whether the core and the catalogue would give the same result today."""
        return validated.is_current(self.model, self.specs)

    @property
    def is_of_todays_specs(self) -> bool:
        """Whether the catalogue's drives are those that it is of, whatever the core was."""
        return validated.is_current(_core.MODEL, self.specs)

    def rows(self) -> dict[tuple[str, str, str], Found]:
        return {of_row.row: of_row for of_row in self.found}


def stored(path: Path = RECORDS) -> dict[str, Record]:
    """The shipped records by name."""
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Record])


def encoded(records: Mapping[str, Record]) -> bytes:
    """The records as they are shipped: in the order of their names, a row a line."""
    parts = []
    for name, record in sorted(records.items()):
        rows = ",\n".join(_line(of_row) for of_row in record.found)
        head = _line(msgspec.structs.replace(record, found=()))
        assert head.endswith("}"), "a record is an object"
        parts.append(f'{_line(name)}:{head[:-1]},"found":[\n{rows}\n]}}')
    return ("{" + ",\n".join(parts) + "}\n").encode()


def _line(value: object) -> str:
    return msgspec.json.encode(value).decode()


def family_name(family: Sequence[str]) -> str:
    """The name of a family's record."""
    return " ".join(family)


@cache
def families() -> list[tuple[str, ...]]:
    """The drives of the catalogue that something was published about, those that rows compare
    together, in the order of the files."""
    order = [drive for drive in drives() if drive in drive_ids()]
    groups = {drive: {drive} for drive in order}
    for fact in published():
        named = [drive for drive in fact.asked_of if drive in groups]
        if measure_of(fact) is None or not named:
            continue
        together = set().union(*(groups[drive] for drive in named))
        groups.update(dict.fromkeys(together, together))
    return list(dict.fromkeys(tuple(d for d in order if d in groups[drive]) for drive in order))


def record_of(
    values_found: Iterable[tuple[Fact, TwinValues]],
    *,
    sets: Mapping[str, Sequence[str]] | None = None,
    scale: str = "",
) -> Record:
    """A record of what was found for some rows."""
    pairs = list(values_found)
    measured = dict.fromkeys(drive for fact, _ in pairs for drive in fact.measured_on)
    return Record(
        model=_core.MODEL,
        specs={drive: spec_hash(drive) for drive in measured},
        found=tuple(
            Found(
                drive=fact.drive,
                test=fact.test,
                metric=fact.metric,
                cells=_rounded(values.cells),
                variants=_rounded(values.variants),
                also=_rounded(values.also),
            )
            for fact, values in pairs
        ),
        sets={drive: tuple(words) for drive, words in sets.items()} if sets else UNSET,
        scale=scale,
    )


def judged_rows(record: Record) -> list[Row]:
    """A record's rows against what is published and known today; one that is no longer published is
    left out."""
    facts = facts_by_row()
    return [
        row
        for of_row in record.found
        if of_row.row in facts
        for row in judge_all(facts[of_row.row], of_row.values, _known())
    ]


def counted(record: Record) -> Family:
    """What `flashtwin drives` tells of a record: its rows that count, by drive."""
    rows = [
        row for row in judged_rows(record) if not row.variant and row.fact.kind not in UNCOUNTED
    ]
    of_drives = {
        drive: [row for row in rows if drive in row.fact.measured_on]
        for drive in dict.fromkeys(drive for row in rows for drive in row.fact.measured_on)
    }
    return Family(
        model=record.model,
        specs=record.specs,
        counts={
            drive: Counts(
                rows=len(judged),
                passed=sum(row.verdict == "pass" for row in judged),
                validating=sum(
                    row.verdict == "pass" and not row.fact.calibration for row in judged
                ),
            )
            for drive, judged in of_drives.items()
        },
    )


@cache
def facts_by_row() -> Mapping[tuple[str, str, str], Fact]:
    """The published rows by drive, test and metric."""
    return {(fact.drive, fact.test, fact.metric): fact for fact in published()}


@cache
def _known() -> tuple[KnownMiss, ...]:
    return known_misses()


def _rounded(values: Mapping[str, float | None]) -> Values:
    return {
        name: None if value is None else float(f"{value:.{DIGITS}g}")
        for name, value in values.items()
    }
