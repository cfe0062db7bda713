"""Runs on their way, on stderr: a live block on a terminal, a line now and then elsewhere.

Invariants: nothing is said twice (targets share most notes); a line at most every `EVERY_S` seconds
where there is no terminal; nothing at all when asked to be quiet.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from flashtwin.cli import terminal
from flashtwin.runner.observer import Observer, Silent, Status

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from flashtwin.drives.protocol import DriveInfo
    from flashtwin.results.journal import StepRecord
    from flashtwin.runner.estimate import Estimate

EVERY_S = 5.0


class Display(Protocol):
    """Gives out an observer for each run that is shown."""

    def observer(self, name: str) -> Observer: ...


@contextmanager
def display(quiet: bool) -> Iterator[Display]:
    """What suits stderr."""
    if quiet:
        yield _Nothing()
    elif sys.stderr.isatty():
        live = _Live()
        with live.progress:
            yield live
    else:
        yield _Lines()


@contextmanager
def counted(name: str, total: int, quiet: bool) -> Iterator[Callable[[int, str], None]]:
    """Progress of so many parts of about the same length; told how many are done, and the last."""
    begun = time.monotonic()

    def status(count: int, label: str) -> Status:
        spent = time.monotonic() - begun
        left = spent * (total - count) / count if count else None
        return Status(
            target=name,
            battery="",
            label=label,
            kind="part",
            step=count,
            steps=total,
            bytes=0,
            drive_s=0.0,
            rate_bytes_s=0.0,
            fraction=count / total,
            elapsed_s=spent,
            eta_s=left,
        )

    with display(quiet) as shown:
        observer = shown.observer(name)
        observer.began(status(0, "begins"))
        yield lambda count, label: observer.progress(status(count, label))


class _Nothing:
    def observer(self, name: str) -> Observer:
        return Silent()


class _Notes:
    """Lines that are worth saying once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def say(self, text: str) -> None:
        terminal.note(text)

    def once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self.say(text)


class _Lines(_Notes):
    def observer(self, name: str) -> Observer:
        return _LineObserver(self, name)


class _Noting(Silent):
    """The notes that every kind of display gives."""

    def __init__(self, notes: _Notes, name: str) -> None:
        self._notes, self._name = notes, name

    def estimated(self, info: DriveInfo, estimate: Estimate, departs: dict[str, list[str]]) -> None:
        moved = f"writes {terminal.size(estimate.write_bytes)}"
        if estimate.read_bytes:
            moved += f", reads {terminal.size(estimate.read_bytes)}"
        about = f", about {duration(estimate.wall_s)}"
        self._notes.say(f"{self._name}: {moved}{'' if info.virtual_time else about}")
        for battery, lines in departs.items():
            for line in lines:
                self._notes.once(f"note: {battery}: {line}")

    def noted(self, text: str) -> None:
        self._notes.say(f"{self._name}: {text}")

    def ended(self, record: StepRecord) -> None:
        if record.not_possible:
            self._notes.once(
                f"note: {self._name}: {record.label} not possible: {record.not_possible}"
            )


class _LineObserver(_Noting):
    def __init__(self, notes: _Notes, name: str) -> None:
        super().__init__(notes, name)
        self._last = time.monotonic()

    def began(self, status: Status) -> None:
        self.progress(status)

    def progress(self, status: Status) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY_S:
            self._last = now
            left = "" if status.eta_s is None else f", {duration(status.eta_s)} left"
            self._notes.say(
                f"{self._name}: {status.label}, {status.fraction:.0%}{_rate(status)}{left}"
            )


class _Live(_Notes):
    """One block with a bar a run."""

    def __init__(self) -> None:
        super().__init__()
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        def text(template: str, **column: object) -> TextColumn:
            made = Column(no_wrap=True, overflow="ellipsis", **column)  # type: ignore[arg-type]
            return TextColumn(template, markup=False, table_column=made)

        self.progress: Progress = Progress(
            text("{task.description}"),
            text("{task.fields[label]}", ratio=3),
            BarColumn(bar_width=None, table_column=Column(ratio=2)),
            text("{task.percentage:>3.0f} %"),
            text("{task.fields[rate]:>9}"),
            text("{task.fields[left]:>7}"),
            console=terminal.stderr_console(),
            expand=True,
        )

    def say(self, text: str) -> None:
        self.progress.console.print(text, markup=False, highlight=False)

    def observer(self, name: str) -> Observer:
        task = self.progress.add_task(name, total=1.0, label="waits", rate="", left="")
        return _LiveObserver(self, name, task)


class _LiveObserver(_Noting):
    def __init__(self, live: _Live, name: str, task: TaskID) -> None:
        super().__init__(live, name)
        self._progress, self._task = live.progress, task

    def began(self, status: Status) -> None:
        self.progress(status)

    def progress(self, status: Status) -> None:
        self._progress.update(
            self._task,
            completed=status.fraction,
            label=status.label,
            rate=_rate(status).removeprefix(", "),
            left="" if status.eta_s is None else duration(status.eta_s),
        )

    def closed(self, run: object) -> None:
        self._progress.update(self._task, completed=1.0, label="done", rate="", left="")


def duration(seconds: float) -> str:
    """A time to wait, as one says it."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _rate(status: Status) -> str:
    return f", {terminal.size(round(status.rate_bytes_s))}/s" if status.rate_bytes_s else ""
