"""Everything published about the chosen drives, against their twins.

Invariant: a row is listed if and only if its battery exists (`metrics.REGISTRY`) and all of its
drives are chosen; every listed row gets a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashtwin.catalogue.facts import Fact, KnownMiss, drives, facts_for, known_misses, published
from flashtwin.catalogue.loader import drive_ids, unknown_drive
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.study.validation.measure import Need, ObserverFor, measure
from flashtwin.study.validation.metrics import Measure, Measured, measure_of
from flashtwin.study.validation.rows import Row, count, judge, missed, outlived


@dataclass(frozen=True, kw_only=True)
class Validation:
    """The rows, and how many facts about these drives wait for a battery.

    `outlived` are entries of the list of known misses whose rows pass.
    """

    rows: tuple[Row, ...]
    waiting: int
    outlived: tuple[KnownMiss, ...]

    @property
    def missed(self) -> int:
        """Misses that nobody has explained."""
        return missed(self.rows)

    def counts(self) -> dict[str, dict[str, int]]:
        """How many of each verdict, calibration apart."""
        return count(self.rows)

    def to_json(self) -> dict[str, Any]:
        return {"rows": [row.to_json() for row in self.rows], "missed": self.missed}


def validate(
    chosen: Sequence[str],
    *,
    seed: int = 1,
    sets: Sequence[str] = (),
    observer_for: ObserverFor | None = None,
) -> Validation:
    """Run the batteries that the facts about the chosen drives need, and judge the facts."""
    facts = _facts(chosen)
    pairs = [(fact, how) for fact in facts if (how := measure_of(fact)) is not None]
    needs = [
        Need(drive=drive, plan=plan)
        for fact, how in pairs
        for drive in fact.drives
        for plan in how.plans
    ]
    measured = measure(needs, seed=seed, sets=sets, observer_for=observer_for)
    return judged(pairs, measured, waiting=len(facts) - len(pairs), known=known_misses())


def judged(
    pairs: Sequence[tuple[Fact, Measure]],
    measured: Mapping[str, Measured],
    *,
    waiting: int = 0,
    known: Sequence[KnownMiss] = (),
) -> Validation:
    """Facts and what was measured, as rows."""
    rows = tuple(
        judge(fact, how.find(tuple(measured[drive] for drive in fact.drives)), known)
        for fact, how in pairs
    )
    return Validation(rows=rows, waiting=waiting, outlived=tuple(outlived(rows, known)))


def _facts(chosen: Sequence[str]) -> tuple[Fact, ...]:
    known = drives()
    for drive in chosen:
        if drive not in drive_ids():
            raise unknown_drive(drive)
        if drive not in known:
            raise FlashtwinError(
                f"nothing was published about {drive}",
                hint=f"outcomes are known of {', '.join(sorted(set(known) & set(drive_ids())))}",
                exit_code=USAGE,
            )
    return facts_for(chosen, published())
