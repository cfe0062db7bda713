"""What whoever called sees of a run on its way: the command line's block, a cell's, or a call.

On a terminal it is the block of the command line, in a notebook a table with a bar a run that is
drawn anew in its place, elsewhere nothing unless it is asked for, then a line now and then. A
callback hears a `Status` as each step begins and at most ten times a second after that. Invariant:
what is shown changes nothing of the run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import Any, Protocol

from flashtwin.cli.progress import display
from flashtwin.model import units
from flashtwin.runner.events import Observer, Status
from flashtwin.runs.rundir import Run

# None: where somebody watches; True: anywhere; False: nowhere; or what is called.
Progress = bool | Callable[[Status], None] | None
EVERY_S = 0.2


class Shows(Protocol):
    """Makes an observer for each run."""

    def observer(self, name: str) -> Observer: ...


@contextmanager
def progress_shown(
    progress: Progress, observer: Observer | None
) -> Iterator[Callable[[str], Observer]]:
    """The observers of the runs, by the name of each; `observer` is one for all."""
    if observer is not None:
        yield lambda name: observer
    elif callable(progress):
        calls = _Calls(progress)
        yield lambda name: calls
    elif progress is not False and _in_notebook():
        yield _Cell().observer
    elif progress or (progress is None and sys.stderr.isatty()):
        with display(quiet=False) as block:
            yield block.observer
    else:
        yield lambda name: Observer()


def _in_notebook() -> bool:
    """Whether this program runs in a notebook's kernel, which shows what is displayed in the
    cell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


class _Calls(Observer):
    """Hands each status to a function."""

    def __init__(self, call: Callable[[Status], None]) -> None:
        self._call = call

    def began(self, status: Status) -> None:
        self._call(status)

    def progress(self, status: Status) -> None:
        self._call(status)


@dataclass
class _Row:
    name: str
    status: Status | None = None
    over: bool = False
    findings: int = 0
    notes: list[str] = field(default_factory=list)


class _Cell:
    """One table for all runs, drawn into the cell and then over itself."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._handle: Any = None
        self._drawn = 0.0

    def observer(self, name: str) -> Observer:
        row = _Row(name=name)
        self._rows.append(row)
        return _CellObserver(row, self.draw)

    def draw(self, now: bool = False) -> None:
        """At most so often, but for what ends."""
        if not now and time.monotonic() - self._drawn < EVERY_S:
            return
        self._drawn = time.monotonic()
        notebook = import_module("IPython.display")
        progress_shown = notebook.HTML(table(self._rows))
        if self._handle is None:
            self._handle = notebook.display(progress_shown, display_id=True)
        else:
            self._handle.update(progress_shown)


class _CellObserver(Observer):
    def __init__(self, row: _Row, draw: Callable[..., None]) -> None:
        self._row, self._draw = row, draw

    def noted(self, text: str) -> None:
        self._row.notes.append(text)
        self._draw(now=True)

    def began(self, status: Status) -> None:
        self._row.status = status
        self._draw()

    def progress(self, status: Status) -> None:
        self._row.status = status
        self._draw()

    def found(self, battery: str, findings: Any) -> None:
        self._row.findings += len(findings)

    def closed(self, run: Run) -> None:
        self._row.over = run.finished
        self._draw(now=True)


def table(rows: list[_Row]) -> str:
    """A row a run: its name, what it does, how far it is."""
    cells = []
    for row in rows:
        share = 1.0 if row.over else row.status.fraction if row.status else 0.0
        label = "done" if row.over else row.status.label if row.status else "waits"
        eta_s = None if row.over or not row.status else row.status.eta_s
        remaining = "" if eta_s is None else f"{units.rough_seconds(eta_s)} left"
        findings = f"{row.findings} findings" if row.findings else ""
        notes = "".join(f"<br><small>{escape(note)}</small>" for note in row.notes)
        cells.append(
            f"<tr><td>{escape(row.name)}</td><td>{escape(label)}{notes}</td>"
            f"<td><progress value='{share:.3f}'></progress> {share:.0%}</td>"
            f"<td>{remaining}</td><td>{findings}</td></tr>"
        )
    return f"<table><tbody>{''.join(cells)}</tbody></table>"
