"""A stretch of a battery, operation by operation: what dies, channels and commands of a twin do.

The battery's steps run as they do in `run`, but nothing is measured: no run directory, no findings,
and what comes after the stretch is not simulated. Invariant: the drive is new, so that the same
words give the same bytes.
"""

from __future__ import annotations

import difflib
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from flashtwin import outputs
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.registry import Request
from flashtwin.drives.twin import Twin
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.step import Mark, Step
from flashtwin.model.target import Interrupted, Progress
from flashtwin.runner.estimate import Estimate, expected
from flashtwin.runner.events import Meter, Observer
from flashtwin.runner.stop import Stop, listening
from flashtwin.runner.target import Variant

_NS = 1_000_000_000
# Steps that a message names where the one asked for is not there.
_LABELS_SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """What to record: `length_s` seconds from `from_s` on, which counts from the beginning of
    the step `step`, or without one from the drive's first moment."""

    step: str | None = None
    from_s: float = 0.0
    length_s: float = 1.0


class Recorded(Document, frozen=True):
    """flashtwin timeline --json: where a recording is, what it holds, and which stretch of the
    drive's clock it is."""

    path: str
    step: str
    from_ns: int
    to_ns: int
    slices: int
    bytes: int


@dataclass(kw_only=True)
class _Recording:
    """The stretch on the drive's clock, which is known once its step has begun."""

    drive: Twin
    stretch: Stretch
    part: Path
    meter: Meter
    stop: Stop
    window_ns: tuple[int, int] | None = None
    began_ns: int = 0
    step: str = ""

    def begins(self, step: Step) -> None:
        """A step begins; where the stretch counts from it, the recording begins too."""
        self.began_ns = self.drive.simulation.now_ns()
        chosen = self.stretch.step in (None, step.label)
        if self.window_ns is None and chosen:
            from_ns = self.began_ns + round(self.stretch.from_s * _NS)
            self.window_ns = from_ns, from_ns + round(self.stretch.length_s * _NS)
            self.drive.record(self.part, *self.window_ns)
        if not self.is_over():
            self.step = step.label

    def is_over(self, drive_s: float = 0.0) -> bool:
        """Whether the stretch has passed at this time after the beginning of the step."""
        now_ns = self.began_ns + round(drive_s * _NS)
        return self.window_ns is not None and now_ns >= self.window_ns[1]

    def watch(self, progress: Progress) -> bool:
        self.meter.moved(progress)
        return not self.stop.asked and not self.is_over(progress.drive_s)


def record(
    variant: Variant, batteries: str, out: Path, stretch: Stretch, observer: Observer
) -> Recorded:
    """Record a stretch of batteries on a new twin into `out`, which Perfetto opens.

    Raises `FlashtwinError` where the batteries have no such step or end before the stretch begins,
    and `Interrupted` where somebody stopped it: then there is no file.
    """
    requests = registry.parse(batteries)
    # Of a kept drive nothing could be recorded that it did before it was kept.
    drive = replace(variant, kept=False).twin()
    with listening() as stop, closing(drive), outputs.replacing(out) as part:
        info = drive.open().info
        takes = expected(requests, drive, info)
        _check(stretch, takes)
        observer.estimated(info, takes, {})
        meter = Meter(info, takes, observer)
        recording = _Recording(drive=drive, stretch=stretch, part=part, meter=meter, stop=stop)
        for request in requests:
            _play(recording, request)
        now_ns = drive.simulation.now_ns()
        slices, size = drive.end_recording() or (0, 0)
        if recording.window_ns is None or now_ns <= recording.window_ns[0]:
            raise _too_late(stretch, now_ns)
    from_ns, to_ns = recording.window_ns
    return Recorded(
        path=str(out),
        step=recording.step,
        from_ns=from_ns,
        to_ns=min(to_ns, now_ns),
        slices=slices,
        bytes=size,
    )


def _play(recording: _Recording, request: Request) -> None:
    """Play one battery until it or the stretch ends."""
    drive = recording.drive
    steps = request.battery.measure(request.parameters, drive.info)
    try:
        step = next(steps)
        while True:
            work = not isinstance(step, Mark)
            if work:
                recording.begins(step)
                recording.meter.began(request.name, step)
            if recording.is_over():
                steps.close()
                return
            answer = drive.do(step, recording.watch)
            if work:
                recording.meter.ended()
            step = steps.send(answer)
    except StopIteration:
        return
    except Interrupted:
        if recording.stop.asked:
            raise


def _check(stretch: Stretch, expected: Estimate) -> None:
    labels = list(dict.fromkeys(step.label for step in expected.steps))
    if stretch.step is None or stretch.step in labels:
        return
    listed = labels
    if len(labels) > _LABELS_SHOWN:
        listed = difflib.get_close_matches(stretch.step, labels, _LABELS_SHOWN, cutoff=0.0)
    head = "the steps are" if listed is labels else f"the nearest of {len(labels)} steps are"
    raise FlashtwinError(
        f"there is no step {stretch.step!r}",
        hint=f"{head} {', '.join(listed)}",
        exit_code=USAGE,
    )


def _too_late(stretch: Stretch, now_ns: int) -> FlashtwinError:
    return FlashtwinError(
        f"the battery was over after {now_ns / _NS:.6g} s on the drive's clock, before the stretch"
        " began",
        hint=f"begin earlier than {stretch.from_s:.6g} s, or name a later step",
        exit_code=USAGE,
    )
