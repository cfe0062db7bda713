"""Rounds: a grid of loads, gone through again and again until one value of it is steady (SNIA).

The tracked load's value decides, round by round, and nothing else, so a resumed run decides the
same. The result of a cell is its mean over the window, the last five rounds (`analysis.steady`).
A step has one sample: thousands of steps stay small, and the totals say what is needed.
Invariant: `steps` and `rounds_of` see the same values, one from answers and one from the record.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtwin.analysis.steady import MOST_ROUNDS, WINDOW, is_steady
from flashtwin.batteries.base.loads import Load, totals_of
from flashtwin.batteries.base.registry import Forecast
from flashtwin.model.step import Mark, Result, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer
    from flashtwin.model.step import Job, JobTotals, Step


# Rounds until it is steady, by which an estimate goes: of random requests, of a stream, and of
# saturation in tenths of the capacity. Geometric means of 31, 12 and 6 runs of six twins at 1/8 to
# 1/64, none of which is one on which estimates are judged (`./dev bench --estimates`). Single runs
# took from 5 to all that there may be, and what a round writes does not tell how many.
USUAL, USUAL_STREAM, USUAL_SATURATION = 13, 6, 19


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """The loads of a round in order, the one that is tracked, and the value that is taken of it.

    Rounds also end when the tracked load has moved `most_bytes`, or run for `most_s` seconds, in
    all of them together. A step has one sample, or one each `sample_s`. An estimate expects `usual`
    rounds.
    """

    battery: str
    loads: Sequence[Load]
    tracked: Load
    value: Callable[[JobTotals], float]
    most: int = MOST_ROUNDS
    usual: int = USUAL
    most_bytes: int | None = None
    most_s: float | None = None
    sample_s: float | None = None

    def label(self, number: int, load: Load) -> str:
        """The step of a load in a round."""
        return f"{self.battery}/round-{number}/{way_of(load)}-{load.name}"

    def steps(self, job_of: Callable[[Load], Job]) -> Generator[Step, Answer, None]:
        """Round after round, until the tracked value is steady or the last round is over. It
        also ends where the tracked load fails."""
        values: list[float] = []
        moved, seconds = 0, 0.0
        for number in range(1, self.most + 1):
            tracked: JobTotals | None = None
            for step, load in zip(self.round(number, job_of), self.loads, strict=True):
                answer = yield step
                if load == self.tracked and isinstance(answer, Result) and answer.jobs[0].ios:
                    tracked = answer.jobs[0]
            if tracked is None:
                return
            values.append(self.value(tracked))
            moved += tracked.bytes
            seconds += tracked.duration_ns / 1e9
            if is_steady(values) or self._enough(moved, seconds):
                break
        yield Mark(label=f"{self.battery}/found")

    def _enough(self, moved: int, seconds: float) -> bool:
        written = self.most_bytes is not None and moved >= self.most_bytes
        return written or (self.most_s is not None and seconds >= self.most_s)

    def round(self, number: int, job_of: Callable[[Load], Job]) -> list[Run]:
        """The steps of one round."""
        # The same addresses again in the same order would be an overwrite in order for the flash.
        jobs = [replace(job_of(load), seed=number) for load in self.loads]
        return [
            Run(
                label=self.label(number, load),
                jobs=(job,),
                sample_s=self.sample_s or job.runtime_s or 1.0,
            )
            for load, job in zip(self.loads, jobs, strict=True)
        ]

    def expected(self, job_of: Callable[[Load], Job], rounds: int) -> list[Run]:
        """The steps of so many rounds, or of the most that there may be."""
        numbers = range(1, min(rounds, self.most) + 1)
        return [step for number in numbers for step in self.round(number, job_of)]

    def forecast(
        self, job_of: Callable[[Load], Job], before: Sequence[Step], after: Sequence[Step] = ()
    ) -> Forecast:
        """The steps before and after, and between them the usual number of rounds or as many as
        there may be."""
        expected, most = (
            [*before, *self.expected(job_of, number), *after] for number in (self.usual, self.most)
        )
        return Forecast(expected=expected, most=most)

    def values_of(self, record: Record) -> list[float]:
        """The tracked value of each round that has one."""
        values: list[float] = []
        while totals := totals_of(record, self.label(len(values) + 1, self.tracked)):
            values.append(self.value(totals))
        return values

    def window(self, record: Record, load: Load) -> list[JobTotals]:
        """The totals of a load in the last five rounds, for those in which it ran."""
        last = len(self.values_of(record))
        numbers = range(max(last - WINDOW, 0) + 1, last + 1)
        cells = (totals_of(record, self.label(number, load)) for number in numbers)
        return [totals for totals in cells if totals is not None]


def way_of(load: Load) -> str:
    """What findings of a load are called: read, write, mix65."""
    return load.way_name
