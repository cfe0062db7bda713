"""Everything published about the chosen drives, against their twins.

Each battery that a published row needs runs on a fresh twin, in a process of its own, made as
`flashtwin test` makes it. The run directories are scratch; what stays of them is findings by id
and write amplification between steps. Invariant: a row is listed if and only
if `measures.toml` has an entry for it and all drives that it names are chosen (one that it only
describes has a twin that is measured with them); every listed row gets a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flashtwin.catalogue.facts import Fact, KnownMiss, drives, facts_for, known_misses, published
from flashtwin.catalogue.loader import drive_ids, unknown_drive
from flashtwin.drives.real.scratch import Scratch
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.target import Interrupted
from flashtwin.runner.request import Request, Show, test_all
from flashtwin.runs.frames import HOST_BYTES, programmed_bytes
from flashtwin.runs.rundir import Run
from flashtwin_lab.validation.metrics import (
    Measure,
    Measured,
    measure_of,
    run_of,
    written_of,
)
from flashtwin_lab.validation.rows import (
    Row,
    RowDocument,
    TwinValues,
    count,
    judge_all,
    missed,
    outlived,
)


@dataclass(frozen=True, kw_only=True)
class Need:
    """A plan of `measures.toml` that a drive has to run, its spec changed by `sets`.

    `spec` is the text of a spec that stands in for that of the catalogue.
    """

    drive: str
    plan: str
    sets: tuple[str, ...] = ()
    scale: str | None = None
    spec: str = ""

    @property
    def called(self) -> str:
        """The name under which its run is shown."""
        stand_in = ["another spec"] if self.spec else []
        scaled = [f"scale {self.scale}"] if self.scale else []
        return ", ".join([self.drive, self.plan, *self.sets, *stand_in, *scaled])


def measure(needs: Iterable[Need], show: Show, *, seed: int = 1) -> dict[str, Measured]:
    """Run the plans; the answer is what they measured, by drive."""
    return measured_by_drive(run_all(needs, show, seed=seed))


# What a run leaves of itself: findings by id, and write amplification between steps.
Results = tuple[Mapping[str, float | None], Mapping[tuple[str, str], float | None]]


def run_all(needs: Iterable[Need], show: Show, *, seed: int = 1) -> dict[Need, Results]:
    """Run each plan once, side by side."""
    distinct = list(dict.fromkeys(needs))
    with Scratch("validation") as scratch:
        requests = {
            need.called: Request(
                targets=(need.spec or need.drive,),
                batteries=run_of(need.plan)[0],
                sets=(*run_of(need.plan)[1], *need.sets),
                scale=need.scale,
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
        return {need: _kept(need, run) for need, run in zip(distinct, runs, strict=True)}


def _kept(need: Need, run: Run) -> Results:
    findings = {finding.id: finding.number for finding in run.findings}
    waf = {steps: amplification(run, *steps) for steps in written_of(need.plan)}
    return findings, waf


def measured_by_drive(results: Mapping[Need, Results]) -> dict[str, Measured]:
    """What was measured on each drive, from runs that have one spec for each drive."""
    findings: dict[str, dict[str, Mapping[str, float | None]]] = {}
    waf: dict[str, dict[tuple[str, tuple[str, str]], float | None]] = {}
    for need, (values, written) in results.items():
        findings.setdefault(need.drive, {})[need.plan] = values
        for steps, value in written.items():
            waf.setdefault(need.drive, {})[need.plan, steps] = value
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


class ValidationDocument(Document, frozen=True):
    """flashtwin validate --json"""

    rows: list[RowDocument]
    missed: int


@dataclass(frozen=True, kw_only=True)
class Validation:
    """The rows, and how many facts about these drives wait for a battery.

    `found` is what the rows were judged by; `outlived` are entries of the list of known misses
    whose rows pass.
    """

    rows: tuple[Row, ...]
    waiting: int
    outlived: tuple[KnownMiss, ...]
    found: tuple[tuple[Fact, TwinValues], ...] = ()

    @property
    def missed(self) -> int:
        """Misses that nobody has explained."""
        return missed(self.rows)

    def counts(self) -> dict[str, dict[str, int]]:
        """How many of each verdict, calibration apart."""
        return count(self.rows)

    def document(self) -> ValidationDocument:
        """As `flashtwin validate --json` prints it."""
        return ValidationDocument([row.document() for row in self.rows], missed=self.missed)


def validate(
    chosen: Sequence[str], show: Show, *, seed: int = 1, sets: Sequence[str] = ()
) -> Validation:
    """Run the batteries that the facts about the chosen drives need, and judge the facts."""
    facts = facts_about(chosen)
    pairs = measurable(facts)
    measured = measure(needs_of(pairs, sets=tuple(sets)), show, seed=seed)
    return judged(pairs, measured, waiting=len(facts) - len(pairs), known=known_misses())


def measurable(facts: Iterable[Fact]) -> list[tuple[Fact, Measure]]:
    """The facts whose battery exists, and how their values are found."""
    return [(fact, how) for fact in facts if (how := measure_of(fact)) is not None]


def needs_of(
    pairs: Iterable[tuple[Fact, Measure]], *, sets: tuple[str, ...] = ()
) -> tuple[Need, ...]:
    """What has to be run for some facts, each once."""
    needs = [
        Need(drive=drive, plan=plan, sets=sets, scale=fact.scale)
        for fact, how in pairs
        for drive in fact.measured_on
        for plan in how.plans
    ]
    return tuple(dict.fromkeys(needs))


def judged(
    pairs: Sequence[tuple[Fact, Measure]],
    measured: Mapping[str, Measured],
    *,
    waiting: int = 0,
    known: Sequence[KnownMiss] = (),
) -> Validation:
    """Rows made of facts and of what was measured."""
    values_found = found_in(pairs, measured)
    rows = tuple(row for fact, values in values_found for row in judge_all(fact, values, known))
    return Validation(
        rows=rows, waiting=waiting, outlived=tuple(outlived(rows, known)), found=values_found
    )


def found_in(
    pairs: Iterable[tuple[Fact, Measure]], measured: Mapping[str, Measured]
) -> tuple[tuple[Fact, TwinValues], ...]:
    """The values of facts."""
    return tuple(
        (fact, how.find(tuple(measured[drive] for drive in fact.measured_on)))
        for fact, how in pairs
    )


def facts_about(chosen: Sequence[str]) -> tuple[Fact, ...]:
    """The facts about the chosen drives; a drive without any is refused."""
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
