"""What happens in a run, told to whoever watches: the estimate, steps, progress, findings.

The runner calls an observer from its own thread, `progress` at most ten times a second. An observer
only shows; it cannot change the run. Times here are the host's and go into no file but host.json.
How far a run is follows from the estimate, which gives each step its share; within a step the bytes
done say it, or the drive's clock where the step is timed. The time left follows from the wall time
that the finished share took, so a wrong estimate corrects itself as the run goes on.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.model.target import Progress
from flashtwin.model.units import rough_seconds

if TYPE_CHECKING:
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Step
    from flashtwin.model.target import DriveInfo
    from flashtwin.runner.estimate import Estimate, StepEstimate
    from flashtwin.runs.journal import StepRecord
    from flashtwin.runs.rundir import Run

SHOWN_EVERY_S = 0.1
# The rate looks back over so many calls; nothing is said of the end before so much is done.
RATE_WINDOW = 20
TELLS_ABOVE = 0.01
# What goes on before the first step of a run that is gone on with: its file is made again.
PREPARED = "making the file again"
# What an observer is told, by the names of its methods.
EVENTS = ("estimated", "noted", "began", "progress", "ended", "found", "closed")

# Seconds after which the parts done say what all take, and those from which on that is told. Later
# parts may be longer, as those of a fit are near its end.
FIRST_S, WORTH_TELLING_S, MOST = 2.0, 10.0, 2.5


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


def counted(name: str, count: float, total: int, label: str, began_s: float) -> Status:
    """How far work is that has `total` parts of about equal length, `count` of which are done.
    `began_s` is when it began, by `time.monotonic`."""
    elapsed_s = time.monotonic() - began_s
    return Status(
        target=name,
        battery="",
        label=label,
        kind="part",
        step=int(count),
        steps=total,
        bytes=0,
        drive_s=0.0,
        rate_bytes_s=0.0,
        fraction=count / total,
        elapsed_s=elapsed_s,
        eta_s=elapsed_s * (total - count) / count if count else None,
    )


def foretold(count: float, total: int, elapsed_s: float) -> str | None:
    """What all parts will take, once the first of them say it; none of what is over in seconds."""
    if not count or elapsed_s < FIRST_S:
        return None
    return expected(elapsed_s * total / count)


def expected(all_s: float) -> str | None:
    """The time that work is expected to take, in words; none of what is over in seconds."""
    if all_s < WORTH_TELLING_S:
        return None
    return f"about {rough_seconds(all_s)} (at most {rough_seconds(MOST * all_s)})"


class Observer:
    """Shows a run. A class below it overrides the calls that it shows; the others do nothing."""

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


@contextmanager
def unseen() -> Iterator[Callable[[str], Observer]]:
    """For runs that nobody watches; see `runner.request.Show`."""
    yield lambda name: Observer()


class Meter:
    """Follows one run on one target and tells its observer how far it is."""

    def __init__(self, info: DriveInfo, estimate: Estimate, observer: Observer) -> None:
        self._info, self._observer = info, observer
        self._expected = {(step.battery, step.label): step for step in estimate.steps}
        self._whole_s = max(estimate.wall_s, 1e-9)
        # How long each battery is expected to take, and what its steps so far have taken of that.
        self._battery_s: defaultdict[str, float] = defaultdict(float)
        for step in estimate.steps:
            self._battery_s[step.battery] += step.wall_s
        self._taken_s: defaultdict[str, float] = defaultdict(float)
        # The file is made when the drive is first asked for something.
        self._making_s = estimate.making_s
        self._made_s = self._skipped_s = 0.0
        self._began = time.monotonic()
        # None while a step is repeated, which brings the run no further.
        self._step_began: float | None = None
        self._shown = 0.0
        self._recent: deque[Progress] = deque(maxlen=RATE_WINDOW)
        self._battery, self._label, self._kind, self._number = "", "", "", -1

    @property
    def elapsed_s(self) -> float:
        """Wall time since the run began."""
        return time.monotonic() - self._began

    def began(self, battery: str, step: Step) -> None:
        """A step begins."""
        if self._battery and battery != self._battery:
            self._taken_s[self._battery] = self._battery_s[self._battery]
        self._step_began = time.monotonic()
        self._battery, self._label = battery, step.label
        self._kind = type(step).__name__.lower()
        self._number += 1
        self._recent.clear()
        self._recent.append(Progress(bytes=0, drive_s=0.0))
        self._shown = time.monotonic()
        self._observer.began(self._status(Progress(bytes=0, drive_s=0.0)))

    def repeats(self, battery: str, step: Step) -> None:
        """A step that was done before is simulated again; the run is no further after it."""
        self._step_began = None
        self._battery, self._label = battery, f"{step.label} (again)"
        self._kind = type(step).__name__.lower()
        self._recent.clear()
        self._recent.append(Progress(bytes=0, drive_s=0.0))
        self._observer.began(self._status(Progress(bytes=0, drive_s=0.0)))

    def moved(self, progress: Progress) -> None:
        """A step goes on; the observer hears of it if it is time."""
        now = time.monotonic()
        if now - self._shown >= SHOWN_EVERY_S:
            self._shown = now
            self._recent.append(progress)
            self._observer.progress(self._status(progress))

    def ended(self) -> None:
        """A step is over. One that was not expected, as batteries decide on the way, stands for as
        much of what was expected of its battery as it lasted."""
        expected = self._now()
        self._count(self._battery, expected.wall_s if expected else self._lasted_s())

    def _lasted_s(self) -> float:
        return 0.0 if self._step_began is None else time.monotonic() - self._step_began

    def _count(self, battery: str, seconds: float) -> float:
        """Adds a step to what was done, which is never more than what was expected of its battery;
        how much that was."""
        before_s = self._done_s
        self._made_s += self._making_s
        self._making_s = 0.0
        whole_s = self._battery_s[battery]
        self._taken_s[battery] = min(self._taken_s[battery] + seconds, whole_s)
        return self._done_s - before_s

    @property
    def _done_s(self) -> float:
        return self._made_s + sum(self._taken_s.values())

    def skipped(self, battery: str, label: str) -> None:
        """A step was done before this process began."""
        self._number += 1
        expected = self._expected.get((battery, label))
        self._skipped_s += self._count(battery, expected.wall_s if expected else 0.0)

    def _now(self) -> StepEstimate | None:
        return self._expected.get((self._battery, self._label))

    def _status(self, progress: Progress) -> Status:
        fraction = self._fraction(progress)
        elapsed = self.elapsed_s
        return Status(
            target=self._info.name,
            battery=self._battery,
            label=self._label or PREPARED,
            kind=self._kind,
            step=max(self._number, 0),
            steps=max(len(self._expected), self._number + 1),
            bytes=progress.bytes,
            drive_s=progress.drive_s,
            rate_bytes_s=self._rate(progress),
            fraction=fraction,
            elapsed_s=elapsed,
            eta_s=self._left_s(fraction),
        )

    def _left_s(self, fraction: float) -> float | None:
        """The time left, judged by what this process has done so far."""
        this_session = fraction - self._skipped_s / self._whole_s
        return (
            self.elapsed_s * (1 - fraction) / this_session if this_session > TELLS_ABOVE else None
        )

    def _fraction(self, progress: Progress) -> float:
        expected = self._now()
        if expected is None:
            left_s = self._battery_s[self._battery] - self._taken_s[self._battery]
            within = min(self._lasted_s(), left_s)
            return self._share(within)
        progressed: float = progress.drive_s if expected.timed else progress.bytes
        expected_amount = expected.drive_s if expected.timed else expected.bytes
        within = (
            min(progressed / expected_amount, 1.0) * expected.wall_s if expected_amount else 0.0
        )
        return self._share(within)

    def _share(self, within_s: float) -> float:
        """Of all that is expected, with these seconds of the step; rounded, so that sums in
        another order never go back."""
        return min(round((self._done_s + within_s) / self._whole_s, 9), 1.0)

    def _rate(self, progress: Progress) -> float:
        first = self._recent[0]
        seconds = progress.drive_s - first.drive_s
        return (progress.bytes - first.bytes) / seconds if seconds > 0 else 0.0
