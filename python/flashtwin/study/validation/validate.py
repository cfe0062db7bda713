"""Everything published about the chosen drives, against their twins.

Each battery that a published row needs runs on a fresh twin, in a process of its own, made as
`flashtwin test` makes it. The run directories are scratch; what stays of them is findings by id
and write amplification between steps. Invariant: a row is listed if and only
if `measures.toml` has an entry for it and all of its drives are chosen; every listed row gets a
verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashtwin.catalogue.facts import Fact, KnownMiss, drives, facts_for, known_misses, published
from flashtwin.catalogue.loader import drive_ids, unknown_drive
from flashtwin.drives.real.scratch import Scratch
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner.request import Request, Show, test_all
from flashtwin.runs.frames import HOST_BYTES, programmed_bytes
from flashtwin.runs.rundir import Run
from flashtwin.study.validation.metrics import (
    Measure,
    Measured,
    measure_of,
    plans,
    written_of,
)
from flashtwin.study.validation.rows import Row, count, judge_all, missed, outlived


@dataclass(frozen=True, kw_only=True)
class Need:
    """A plan of `measures.toml` that a drive has to run."""

    drive: str
    plan: str


def measure(
    needs: Iterable[Need], show: Show, *, seed: int = 1, sets: Sequence[str] = ()
) -> dict[str, Measured]:
    """Run the plans; the answer is what they measured, by drive."""
    distinct = list(dict.fromkeys(needs))
    with Scratch("validation") as scratch:
        requests = {
            f"{need.drive}, {need.plan}": Request(
                targets=(need.drive,),
                batteries=((plans()[need.plan].battery, plans()[need.plan].parameters),),
                sets=tuple(sets),
                seed=seed,
                command=(),
                out=scratch.path / str(number),
            )
            for number, need in enumerate(distinct)
        }
        try:
            runs = test_all(requests, show)
        except Interrupted as stop:
            raise Interrupted("stopped; nothing is kept of a validation") from stop
        return _by_drive(zip(distinct, runs, strict=True))


def _by_drive(pairs: Iterable[tuple[Need, Run]]) -> dict[str, Measured]:
    findings: dict[str, dict[str, Mapping[str, float | None]]] = {}
    waf: dict[str, dict[tuple[str, tuple[str, str]], float | None]] = {}
    for need, run in pairs:
        values = {finding.id: finding.number for finding in run.findings}
        findings.setdefault(need.drive, {})[need.plan] = values
        for steps in written_of(need.plan):
            waf.setdefault(need.drive, {})[need.plan, steps] = amplification(run, *steps)
    return {
        drive: Measured(findings=by_plan, waf=waf.get(drive, {}))
        for drive, by_plan in findings.items()
    }


def amplification(run: Run, first_label: str, last_label: str) -> float | None:
    """Bytes programmed over bytes from the host, from before one step to after another: what lies
    between the two is part of it."""
    first, last = run.step(first_label), run.step(last_label)
    if first is None or last is None:
        return None
    before = _counters(run, range(first.step - 1, -1, -1))
    after = _counters(run, [last.step])
    host = after.host - before.host
    return (after.programmed - before.programmed) / host if host > 0 else None


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Bytes since the drive was built."""

    host: int = 0
    programmed: int = 0


def _counters(run: Run, steps: Iterable[int]) -> Counts:
    """The last counts of the first of these steps that has any; they begin at 0."""
    for step in steps:
        columns = run.xray(step)
        if columns and len(columns["t_ns"]):
            host = columns.get(HOST_BYTES)
            return Counts(
                host=0 if host is None else int(host[-1]),
                programmed=int(programmed_bytes(columns)[-1]),
            )
    return Counts()


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
    chosen: Sequence[str], show: Show, *, seed: int = 1, sets: Sequence[str] = ()
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
    measured = measure(needs, show, seed=seed, sets=sets)
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
        row
        for fact, how in pairs
        for row in judge_all(fact, how.find(tuple(measured[drive] for drive in fact.drives)), known)
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
