"""Runs on their way, on stderr: a live block on a terminal, a line now and then elsewhere.

Invariants: nothing is said twice (targets share most notes); without a terminal a line at most
every `EVERY_S` seconds, and less often the longer a run takes; nothing at all when asked to be
quiet.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from flashtwin.cli import terminal
from flashtwin.model import units
from flashtwin.model.units import percent
from flashtwin.runner.events import Observer, Status, expected, foretold
from flashtwin.runner.events import counted as parts_status

if TYPE_CHECKING:
    from flashtwin.cli.live import Line
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo
    from flashtwin.runner.estimate import Estimate
    from flashtwin.runs.journal import StepRecord
    from flashtwin.runs.rundir import Run

EVERY_S = 5.0
# A run of an hour gets a line every three minutes, and so does a longer one.
EVERY_SHARE, EVERY_MOST_S = 0.05, 180.0

# Where a run may take so much longer than expected, the longest time is shown too.
WORTH_SAYING = 1.5


class Display(Protocol):
    """Makes an observer for each run that is shown."""

    def observer(self, name: str) -> Observer: ...


@contextmanager
def display(quiet: bool) -> Iterator[Display]:
    """The display that suits stderr: a live block on a terminal, lines elsewhere, nothing with
    --quiet."""
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty():
        live = _Live()
        with live.block.live:
            yield live
    else:
        yield _Lines()


@contextmanager
def counted(
    name: str, total: int, quiet: bool, *, each: bool = False, even: bool = True
) -> Iterator[Callable[..., None]]:
    """Progress of parts; called with how many are done and the last one's label.

    `each`: every part takes minutes and says something, so that none of them is passed over.
    `even`: the parts have about the same length, and the first of them say what all take; else who
    calls says it, with `all_s`. It is told once.
    """
    began_s = time.monotonic()

    with display(quiet) as block:
        observer = block.observer(name)
        observer.began(parts_status(name, 0, total, "begins", began_s))
        is_foretold = False

        def told(count: float, label: str, all_s: float | None = None) -> None:
            if each:
                observer.noted(label)
                label = f"{count} of {total}"
            nonlocal is_foretold
            if all_s is None:
                takes = foretold(count, total, time.monotonic() - began_s) if even else None
            else:
                takes = expected(all_s)
            if takes is not None and not is_foretold:
                observer.noted(takes)
                is_foretold = True
            observer.progress(parts_status(name, count, total, label, began_s))

        yield told


class _Silent:
    def observer(self, name: str) -> Observer:
        return Observer()


class _Notes:
    """Lines that are printed once each. `foretold`: the kinds of steps of which it was said before
    that a target cannot do them."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self.foretold: set[tuple[str, str]] = set()

    def say(self, text: str) -> None:
        terminal.note(text)

    def once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self.say(text)


@contextmanager
def observers(quiet: bool) -> Iterator[Callable[[str], Observer]]:
    """What makes the observer of each run; see `runner.request.Show`."""
    with display(quiet) as block:
        yield block.observer


class _Lines(_Notes):
    def observer(self, name: str) -> Observer:
        return _LineObserver(self, name)


class _Noting(Observer):
    """The notes that every kind of display prints."""

    def __init__(self, notes: _Notes, name: str) -> None:
        self._notes, self._name = notes, name

    def estimated(self, info: DriveInfo, estimate: Estimate, departs: dict[str, list[str]]) -> None:
        takes = f"about {units.rough_seconds(estimate.wall_s)}"
        if estimate.most_wall_s > WORTH_SAYING * estimate.wall_s:
            takes += f" (at most {units.rough_seconds(estimate.most_wall_s)})"
        if info.can.virtual_time:
            takes += f" for {units.rough_seconds(estimate.drive_s)} of the drive's time"
        self._notes.say(f"{self._name}: {moved(estimate)}, {takes}, {memory(estimate)}")
        kinds = list(dict.fromkeys(kind for row in estimate.cannot.values() for kind in row))
        self._notes.foretold |= {(self._name, kind) for kind in kinds}
        count = sum(map(len, departs.values()))
        texts = [
            f"{self._name} {cannot(kinds)}" if kinds else "",
            f"{_departures(count)} (flashtwin runs show -v RUN)" if count else "",
        ]
        if any(texts):
            self._notes.once(terminal.typed(f"note: {'; '.join(filter(None, texts))}"))

    def noted(self, text: str) -> None:
        self._notes.say(f"{self._name}: {text}")

    def ended(self, record: StepRecord) -> None:
        if record.not_possible and (self._name, record.kind) not in self._notes.foretold:
            self._notes.once(
                f"note: {self._name}: {record.label} not possible: {record.not_possible}"
            )


class _LineObserver(_Noting):
    def __init__(self, notes: _Notes, name: str) -> None:
        super().__init__(notes, name)
        self._last = time.monotonic()
        self._found = 0

    def began(self, status: Status) -> None:
        self.progress(status)

    def found(self, battery: str, findings: Sequence[Finding]) -> None:
        self._found += len(findings)

    def progress(self, status: Status) -> None:
        now = time.monotonic()
        pause_s = min(max(EVERY_S, EVERY_SHARE * status.elapsed_s), EVERY_MOST_S)
        if now - self._last >= pause_s:
            self._last = now
            rest = "" if status.eta_s is None else f", {units.rough_seconds(status.eta_s)} left"
            count = f", {terminal.counted_findings(self._found)}" if self._found else ""
            self._notes.say(
                f"{self._name}: {status.label}, {percent(status.fraction)}{_rate(status)}"
                f"{count}{rest}"
            )


class _Live(_Notes):
    """One block for all runs."""

    def __init__(self) -> None:
        super().__init__()
        from flashtwin.cli.live import Block

        self.block = Block(terminal.stderr_console())

    def say(self, text: str) -> None:
        self.block.live.console.print(text, markup=False, highlight=False)

    def observer(self, name: str) -> Observer:
        from flashtwin.cli.live import Line

        line = Line(name=name)
        self.block.lines.append(line)
        return _LiveObserver(self, line)


class _LiveObserver(_Noting):
    def __init__(self, live: _Live, line: Line) -> None:
        super().__init__(live, line.name)
        self._line = line

    def began(self, status: Status) -> None:
        self._line.moved(status)

    def progress(self, status: Status) -> None:
        self._line.moved(status)

    def found(self, battery: str, findings: Sequence[Finding]) -> None:
        self._line.findings += findings

    def closed(self, run: Run) -> None:
        self._line.over = run.finished


def _rate(status: Status) -> str:
    return f", {units.readable_size(round(status.rate_bytes_s))}/s" if status.rate_bytes_s else ""


def _departures(count: int) -> str:
    return "1 departure from an original" if count == 1 else f"{count} departures from originals"


# What a target cannot do, by the kind of the step that asks for it.
_WRITTEN = "be written to without --destroy-data"
_DOING = {
    **{"purge": "be erased", "trim": "take TRIM", "ask": "be asked for its readings"},
    # Any drive does these but one that is only read.
    **{"run": _WRITTEN, "chain": _WRITTEN, "fill": _WRITTEN},
}


def cannot(kinds: Sequence[str]) -> str:
    """The kinds of steps that a target cannot do, in words."""
    doing = " or ".join(dict.fromkeys(_DOING.get(kind, kind) for kind in kinds))
    return f"cannot {doing}; those steps are left out"


def moved(estimate: Estimate) -> str:
    """What a run is expected to write and read, in words."""
    text = f"writes {units.readable_size(estimate.write_bytes)}"
    if estimate.read_bytes:
        text += f", reads {units.readable_size(estimate.read_bytes)}"
    return text


def memory(estimate: Estimate) -> str:
    """What a run is expected to take of the machine's memory, in words."""
    return f"{units.readable_size(estimate.memory_bytes, 3)} of memory"
