"""Rows of twins whose specs were changed: a mechanism switched off, a fitted value set otherwise.

`knockouts.toml` says as data what is switched off and which plans are left out for their length or
run on smaller drives. Invariants: a change of a drive runs the rows of that drive alone, and the
other drive of a comparison as it is; what a smaller drive gave is taken over as a ratio to the same
smaller drive unchanged, so that a record has values of the whole drive.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct

from flashtwin.catalogue.facts import Fact
from flashtwin.catalogue.loader import BadSpecError, load
from flashtwin.catalogue.validated import spec_hash
from flashtwin.runner.request import Show
from flashtwin_lab.validation.metrics import Measure
from flashtwin_lab.validation.records import (
    Found,
    Record,
    Values,
    family_name,
    record_of,
)
from flashtwin_lab.validation.rows import TwinValues
from flashtwin_lab.validation.validate import (
    Need,
    Results,
    facts_about,
    found_in,
    measurable,
    measured_by_drive,
    run_all,
)

KNOCKOUTS = Path(__file__).with_name("knockouts.toml")
Pairs = Sequence[tuple[Fact, Measure]]


class KnockOut(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mechanism, a sentence about the drive without it, and the values that switch it off."""

    name: str
    without: str
    sets: tuple[str, ...]
    drives: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def changes(self, family: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The drives that have the mechanism, each with what switches it off."""
        return {
            drive: self.sets
            for drive in family
            if (not self.drives or drive in self.drives) and _changes(drive, self.sets)
        }


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    long: tuple[str, ...]
    scaled: dict[str, str]
    full_size: tuple[str, ...]
    only: dict[str, tuple[str, ...]]
    also: dict[str, tuple[str, ...]]
    knock_out: tuple[KnockOut, ...]


@cache
def _file() -> _File:
    return msgspec.convert(tomllib.loads(KNOCKOUTS.read_text(encoding="utf-8")), _File)


def knock_outs() -> tuple[KnockOut, ...]:
    """The mechanisms that are switched off."""
    return _file().knock_out


def scale_of(plan: str) -> str | None:
    """How many times smaller a drive may be for a plan that a small drive runs as well."""
    return _file().scaled.get(plan)


def long_plans_of(key: str) -> tuple[str, ...]:
    """The long plans that a fitted value is refitted with."""
    return _file().also.get(key, ())


def only_plans_of(key: str) -> tuple[str, ...]:
    """The plans that a fitted value can move, where it cannot move all."""
    return _file().only.get(key.partition(".")[0], ())


@dataclass(frozen=True, kw_only=True)
class Change:
    """Values that are set differently on the drives of a family; `rows` and `plans` restrict it
    to these."""

    family: tuple[str, ...]
    sets: Mapping[str, tuple[str, ...]]
    also: tuple[str, ...] = ()
    rows: frozenset[tuple[str, str, str]] = field(default_factory=frozenset)
    plans: tuple[str, ...] = ()

    def pairs(self) -> Pairs:
        """The rows that are tried."""
        left_out = set(_file().long) - set(self.also)
        return [
            (fact, _judged_cells(how))
            for fact, how in measurable(facts_about(self.family))
            if self.sets.keys() & set(fact.measured_on)
            and not left_out & set(_judged_cells(how).plans)
            and (not self.plans or set(_judged_cells(how).plans) <= set(self.plans))
            and (not self.rows or (fact.drive, fact.test, fact.metric) in self.rows)
        ]


def tried(
    changes: Mapping[str, Change], base: Mapping[str, Record], show: Show, *, seed: int = 1
) -> dict[str, Record]:
    """Run every change; `base` has the records of the unchanged families, by their names. What
    several changes need is run once; a change that gives no valid drive is left out."""
    runs = {
        name: _Runs(change.pairs(), change.sets)
        for name, change in changes.items()
        if all(_changes(drive, sets) for drive, sets in change.sets.items())
    }
    needs = [need for of in runs.values() for need in of.needs]
    results = run_all(needs, show, seed=seed) if needs else {}
    return {
        name: record_of(
            of.found(results, base[family_name(changes[name].family)].rows()),
            sets=changes[name].sets,
            scale=of.scale,
        )
        for name, of in runs.items()
        if of.needs
    }


def lacking_of(changes: Mapping[str, Change], held: Mapping[str, Record]) -> dict[str, Change]:
    """The changes of which there is no record of today's core and specs, with the same values."""
    return {
        name: change
        for name, change in changes.items()
        if (record := held.get(name)) is None or not record.is_current or record.sets != change.sets
    }


def batched(
    items: Iterable[tuple[str, Change]], most: int
) -> Iterator[tuple[tuple[str, Change], ...]]:
    """Items in turn, at most a number of them at once."""
    left = iter(items)
    while some := tuple(islice(left, most)):
        yield some


class _Runs:
    """What a change needs: its drives as they are changed, and, scaled, also as they are."""

    def __init__(self, pairs: Pairs, sets: Mapping[str, tuple[str, ...]]):
        self.pairs = pairs
        self.changed = self._needs(sets)
        self.plain = tuple(need for need in self._needs({}) if need.scale)
        self.needs = (*self.changed, *self.plain)
        self.scale = next((need.scale for need in self.plain if need.scale), "")

    def _needs(self, sets: Mapping[str, tuple[str, ...]]) -> tuple[Need, ...]:
        needs = [
            Need(drive=drive, plan=plan, sets=sets.get(drive, ()), scale=_scale(drive, plan))
            for fact, how in self.pairs
            for drive in fact.measured_on
            for plan in how.plans
        ]
        return tuple(dict.fromkeys(needs))

    def found(
        self, results: Mapping[Need, Results], unchanged: Mapping[tuple[str, str, str], Found]
    ) -> list[tuple[Fact, TwinValues]]:
        """The rows of the changed drives, as values of whole drives; a row that the small drive
        does not show as it is cannot be tried on it."""
        changed = found_in(self.pairs, measured_by_drive(_of(results, self.changed)))
        if not self.plain:
            return list(changed)
        plain = dict(_by_row(found_in(self.pairs, measured_by_drive(_of(results, self.plain)))))
        return [
            (fact, _scaled_up(values, plain[row], unchanged[row].values))
            for fact, values in changed
            for row in [(fact.drive, fact.test, fact.metric)]
            if None not in plain[row].cells.values()
        ]


def _of(results: Mapping[Need, Results], needs: Iterable[Need]) -> dict[Need, Results]:
    return {need: results[need] for need in needs}


def _by_row(
    pairs: Iterable[tuple[Fact, TwinValues]],
) -> list[tuple[tuple[str, str, str], TwinValues]]:
    return [((fact.drive, fact.test, fact.metric), values) for fact, values in pairs]


def _scaled_up(changed: TwinValues, plain: TwinValues, full_size: TwinValues) -> TwinValues:
    """What a change makes of a small drive, as a share of what the whole drive does."""
    return replace(changed, cells=_ratios(changed.cells, plain.cells, full_size.cells))


def _ratios(
    changed: Mapping[str, float | None],
    plain: Mapping[str, float | None],
    full_size: Mapping[str, float | None],
) -> Values:
    values: Values = {}
    for name, value in changed.items():
        small, large = plain.get(name), full_size.get(name)
        known = value is not None and small and large is not None
        values[name] = value / small * large if known else None  # type: ignore[operator]
    return values


def _judged_cells(how: Measure) -> Measure:
    """A measure without what is shown beside it, and without its variants."""
    return msgspec.structs.replace(how, variants=(), also=())


def _scale(drive: str, plan: str) -> str | None:
    return None if drive in _file().full_size else scale_of(plan)


@cache
def _changes(drive: str, sets: tuple[str, ...]) -> bool:
    """Whether these values make another drive; a value that gives no valid drive is left as it
    is."""
    try:
        return load(drive, sets=sets).hash != spec_hash(drive)
    except BadSpecError:
        return False
