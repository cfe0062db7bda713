"""What whoever watches a run is told: the estimate, each step, progress, findings as they come.

The runner calls an observer from its own thread, `progress` at most ten times a second. An observer
only shows; it cannot change the run. Times here are the host's and go into no file but host.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo
    from flashtwin.runner.estimate import Estimate
    from flashtwin.runs.journal import StepRecord
    from flashtwin.runs.rundir import Run


@dataclass(frozen=True, kw_only=True)
class Status:
    """Where a run stands. Marks are no steps here.

    `step` counts from 0 of `steps` expected; `bytes` and `drive_s` since the step began (the
    drive's clock), `rate_bytes_s` over the last moments on the drive's clock; `fraction` of the
    whole run; `elapsed_s` and `eta_s` of the wall clock, the latter none until it can be told.
    """

    target: str
    battery: str
    label: str
    kind: str
    step: int
    steps: int
    bytes: int
    drive_s: float
    rate_bytes_s: float
    fraction: float
    elapsed_s: float
    eta_s: float | None


class Observer(Protocol):
    """Shows a run. `Silent` has all of it doing nothing, to inherit from."""

    def estimated(self, info: DriveInfo, estimate: Estimate, departs: dict[str, list[str]]) -> None:
        """Before the first byte: what it will take, and where each battery leaves its original."""

    def noted(self, text: str) -> None:
        """Something about the run that is worth a line: what a budget leaves out, a resumption."""

    def began(self, status: Status) -> None:
        """A step begins."""

    def progress(self, status: Status) -> None:
        """A step goes on."""

    def ended(self, record: StepRecord) -> None:
        """A step is over and in the journal."""

    def found(self, battery: str, findings: Sequence[Finding]) -> None:
        """New findings; each is told once."""

    def closed(self, run: Run) -> None:
        """The run directory is complete (or as complete as the end of the run allowed)."""


class Silent:
    """An observer that shows nothing."""

    def estimated(self, info: DriveInfo, estimate: Estimate, departs: dict[str, list[str]]) -> None:
        """Nothing."""

    def noted(self, text: str) -> None:
        """Nothing."""

    def began(self, status: Status) -> None:
        """Nothing."""

    def progress(self, status: Status) -> None:
        """Nothing."""

    def ended(self, record: StepRecord) -> None:
        """Nothing."""

    def found(self, battery: str, findings: Sequence[Finding]) -> None:
        """Nothing."""

    def closed(self, run: Run) -> None:
        """Nothing."""
