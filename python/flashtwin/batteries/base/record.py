"""What a battery concludes from: its parameters, what is known of the target, the answered steps.

A record is the same whether a run is under way, stored, cut short or from an older flashtwin: it is
made of what is in the run's journal. A step that is not there was left out, or is yet to come.
Invariants: a step's measurements are read when they are asked for; the inside of a simulated drive
is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from flashtwin.model.finding import Finding
from flashtwin.model.step import JobTotals, NotPossible, Result
from flashtwin.model.target import DriveInfo
from flashtwin.model.units import readable_gb, readable_number

LEFT_OUT = "left out for the budget"


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A step that ended. `not_possible`: why the drive could not do it, else none.

    `detail` has the step's own fields as JSON values; `cut`: a budget ended it early.
    """

    label: str
    kind: str
    detail: Mapping[str, Any]
    jobs: tuple[JobTotals, ...] = ()
    duration_ns: int = 0
    not_possible: str | None = None
    cut: bool = False
    read: Callable[[], Result | NotPossible] = field(compare=False)

    @cached_property
    def answer(self) -> Result | NotPossible:
        """What the drive answered, without the X-ray."""
        if self.not_possible is not None:
            return NotPossible(reason=self.not_possible)
        answer = self.read()
        if not isinstance(answer, Result):
            return answer
        return replace(
            answer, xray={}, parts=tuple(replace(part, xray={}) for part in answer.parts)
        )

    @property
    def ending(self) -> str:
        """How far a step came before a budget ended it."""
        asked_bytes = [job.get("io_bytes") for job in self.detail.get("jobs", ())]
        if asked_bytes and all(asked_bytes):
            moved = readable_number(sum(job.bytes for job in self.jobs) / 1e9)
            return f"the budget ended the step after {moved} of {readable_gb(sum(asked_bytes), 4)}"
        return f"the budget ended the step after {readable_number(self.duration_ns / 1e9)} s"


@dataclass(frozen=True, kw_only=True)
class Record:
    """A battery's part of a run, its steps in order."""

    parameters: Any
    info: DriveInfo
    steps: Sequence[Answered]

    def step(self, label: str) -> Answered | None:
        """The step of that label, if it ended."""
        return self._by_label.get(label)

    def answer(self, label: str) -> Result | NotPossible:
        """The answer to a step; `NotPossible` with the reason "left out" where the step is not
        there."""
        step = self.step(label)
        return NotPossible(reason=LEFT_OUT) if step is None else step.answer

    def result(self, label: str) -> Result | None:
        """What a step measured; none where it did not take place."""
        answer = self.answer(label)
        return answer if isinstance(answer, Result) else None

    def seconds(self, label: str) -> float:
        """How long a step took; 0 where it is not there."""
        step = self.step(label)
        return 0.0 if step is None else step.duration_ns / 1e9

    @cached_property
    def _by_label(self) -> dict[str, Answered]:
        return {step.label: step for step in reversed(self.steps)}


def completed(record: Record, findings: Sequence[Finding]) -> list[Finding]:
    """Findings rounded, with notes on what happened to the steps that they rest on.

    A finding has a note where a budget ended its step, and where its step was the first work
    after an erase that was not possible.
    """
    unerased = _first_after_failed_purge(record)
    complete = []
    for finding in findings:
        label = finding.evidence.label if finding.evidence else None
        step = None if label is None else record.step(label)
        if step is not None and step.cut:
            finding = finding.noted(step.ending)
        if label in unerased:
            finding = finding.noted("the target was not erased before")
        complete.append(finding.rounded())
    return complete


def _first_after_failed_purge(record: Record) -> set[str]:
    """The labels of the steps that did the first work after a purge that was not possible."""
    unerased: set[str] = set()
    waiting = False
    for step in record.steps:
        if step.kind == "purge":
            waiting = step.not_possible is not None
        elif step.kind in ("run", "fill", "chain") and waiting:
            unerased.add(step.label)
            waiting = False
    return unerased
