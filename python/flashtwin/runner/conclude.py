"""What the batteries of a run conclude, from the steps in its journal: live, stopped or stored.

Invariant: the findings follow from the manifest, the journal and its tables alone, so that a run
that is read back says what it said when it ended, as long as the analysis is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from flashtwin.batteries.base import registry, watched
from flashtwin.batteries.base.record import Answered, Record
from flashtwin.batteries.base.registry import Request
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings
from flashtwin.model.step import NotPossible, Result
from flashtwin.model.target import Capabilities, DriveInfo
from flashtwin.runner.budget import left_out
from flashtwin.runner.events import Observer
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.rundir import Run
from flashtwin.runs.writer import store_findings

# The share of a run's time that may be spent on findings before its end.
SHARE = 0.05

Read = Callable[[int], Result | NotPossible]


def record_of(request: Request, info: DriveInfo, steps: Sequence[StepRecord], read: Read) -> Record:
    """A battery's part of a journal; `read` gives a step's answer by its number."""
    of_battery = [
        Answered(
            label=step.label,
            kind=step.kind,
            detail=step.detail,
            jobs=step.jobs,
            duration_ns=step.duration_ns,
            not_possible=step.not_possible,
            cut=step.cut,
            read=partial(read, step.step),
        )
        for step in steps
        if step.battery == request.name
    ]
    return Record(parameters=request.parameters, info=info, steps=of_battery)


def findings_of(
    requests: Sequence[Request],
    info: DriveInfo,
    steps: Sequence[StepRecord],
    read: Read,
    *,
    finished: bool,
    budget: Mapping[str, Any] | None = None,
) -> list[Finding]:
    """The findings of all batteries that were begun, what was read beside their steps, and what a
    budget left out of them."""
    findings: list[Finding] = []
    for request in _requests_begun(requests, steps, finished):
        record = record_of(request, info, steps, read)
        findings += request.battery.findings(record)
        findings += [finding.rounded() for finding in watched.findings(request.name, record)]
    return findings + (left_out(budget, requests, info, steps) if budget else [])


def _requests_begun(
    requests: Sequence[Request], steps: Sequence[StepRecord], finished: bool
) -> Sequence[Request]:
    """All batteries of a finished run; of one that is not finished, those up to the last that
    has a step in the journal."""
    there = {step.battery for step in steps}
    last = max((n for n, request in enumerate(requests) if request.name in there), default=-1)
    return requests if finished else requests[: last + 1]


def conclude(run: Run) -> list[Finding]:
    """What today's analysis concludes from a stored run."""
    manifest = run.manifest
    batteries = [
        (row["name"], row.get("parameters") or {}) for row in manifest.get("batteries") or ()
    ]
    return findings_of(
        [registry.request(name, parameters) for name, parameters in batteries],
        info_of(run),
        run.steps,
        run.result,
        finished=run.finished,
        budget=manifest.get("budget"),
    )


def info_of(run: Run) -> DriveInfo:
    """What the manifest says of the target."""
    target = run.target
    can = target.get("can", {})
    known = {field.name for field in fields(Capabilities)}
    return DriveInfo(
        name=str(target["name"]),
        kind=str(target.get("kind", "")),
        capacity_bytes=int(target.get("capacity_bytes") or 0),
        can=Capabilities(**{name: can[name] for name in can if name in known}),
        identity=dict(target.get("identity") or {}),
    )


class Teller:
    """Tells findings while a run goes on, as long as that takes a small share of its time."""

    def __init__(self, info: DriveInfo, observer: Observer, read: Read) -> None:
        self._info, self._observer, self._read = info, observer, read
        self._began, self._spent_s, self._last_s = time.monotonic(), 0.0, 0.0
        self._told: set[str] = set()

    def look(self, request: Request, steps: Sequence[StepRecord]) -> None:
        """Conclude what a battery has so far, unless concluding has taken too long already."""
        now = time.monotonic()
        if self._spent_s + self._last_s > SHARE * (now - self._began):
            return
        self.tell(request.battery.findings(record_of(request, self._info, steps, self._read)))
        self._last_s = time.monotonic() - now
        self._spent_s += self._last_s

    def tell(self, findings: Sequence[Finding]) -> None:
        """Hand new findings to the observer, battery by battery."""
        new = [finding for finding in findings if finding.id not in self._told]
        self._told |= {finding.id for finding in new}
        for battery in dict.fromkeys(finding.battery for finding in new):
            self._observer.found(
                battery, [finding for finding in new if finding.battery == battery]
            )


@dataclass(frozen=True, kw_only=True)
class Change:
    """A finding that changed. `before` is none where it is new, `now` where it is gone. Another
    title alone is no change: what a finding is called may be newer."""

    id: str
    before: Finding | None
    now: Finding | None


@dataclass(frozen=True, kw_only=True)
class Reconclusion:
    """A stored run's findings with today's analysis, and what changed against those it had.

    `unreadable`: why those that it had cannot be read; all findings count as new then.
    """

    path: Path
    findings: Findings
    changes: Sequence[Change]
    written: bool
    unreadable: str | None = None


def reconclude(run: Run, *, write: bool = False) -> Reconclusion:
    """Conclude again from a stored run; `write` puts the findings into it."""
    findings = Findings(conclude(run))
    before, unreadable = Findings(), None
    try:
        before = run.findings
    except FlashtwinError as error:
        unreadable = error.message
    if write:
        store_findings(run, findings)
    return Reconclusion(
        path=run.path,
        findings=findings,
        changes=_changes(before, findings),
        written=write,
        unreadable=unreadable,
    )


def _changes(before: Findings, now: Findings) -> list[Change]:
    """The changes in the order of today's findings; those that are gone come last."""
    old, new = dict(before.items()), dict(now.items())
    pairs = ((name, old.get(name), new.get(name)) for name in dict.fromkeys([*new, *old]))
    return [
        Change(id=name, before=was, now=other)
        for name, was, other in pairs
        if _untitled(was) != _untitled(other)
    ]


def _untitled(finding: Finding | None) -> Finding | None:
    return None if finding is None else replace(finding, title="")
