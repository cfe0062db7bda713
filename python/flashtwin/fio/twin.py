"""A simulated drive under fio's jobs: what fio would have counted, and nothing else.

Beside `Twin`, which measures for batteries: here is no series, no X-ray and no array, so that a
short job does not wait for what it does not use. A watch that says stop ends the jobs as a signal
ends fio's: what is under way is finished, and what was counted is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin import _core
from flashtwin.drives.handed import jobs_json
from flashtwin.drives.memory import check, made
from flashtwin.model.job import Job
from flashtwin.model.target import Progress, Watch

if TYPE_CHECKING:
    from flashtwin._core import FioRow


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What jobs that ran side by side came to: a row a job, in their order.

    `stopped`: the watch ended them.
    """

    start_ns: int
    duration_ns: int
    rows: tuple[FioRow, ...]
    stopped: bool = False


Told = Callable[[Sequence["FioRow"]], object]


def _unheard(rows: Sequence[FioRow]) -> None:
    """Nobody asked for a status."""


class FioTwin:
    """A drive in virtual time. One seed, one answer."""

    def __init__(self, spec: _core.Spec, *, seed: int = 1) -> None:
        check(spec)
        self.name = spec.id
        self._drive = made(lambda: _core.Twin(spec, seed))

    def run(self, jobs: Sequence[Job], watch: Watch, told: Told = _unheard) -> Counts:
        """Run jobs of fio's side by side; a `ValueError` says what is wrong with one of them.

        `told` hears the rows so far, without logs, each time that a status is due.
        """
        answer = self._drive.fio(
            jobs_json(jobs), lambda done, ns: watch(Progress(bytes=done, drive_s=ns / 1e9)), told
        )
        return Counts(
            start_ns=answer["start_ns"],
            duration_ns=answer["duration_ns"],
            rows=tuple(answer["rows"]),
            stopped=answer["stopped"],
        )
