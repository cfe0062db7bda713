"""How the runs and rests of a chain follow one another in one fio process.

A chain whose runs are all bound by time, but perhaps the last, is laid out with `startdelay`, which
fio counts from its own start: 6 ms between two parts. `stonewall` costs 0.2 to 0.3 s of silence
each and is for the others; their rests are jobs of the null engine, shorter by that. Delays cannot
be mixed with stonewalls: a job behind one does not wait for jobs that are still delayed. All of it
was measured with fio 3.33 on two cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.model.step import Rest, Run

# What the two stonewalls about a rest cost.
WALLS_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When a run of a chain begins: after so much time, or when all before it is over."""

    delay_s: float = 0.0
    wall: bool = False

    def lines(self, *, first: bool) -> list[str]:
        """The options of a section; `first` in its run: the others begin beside it."""
        if self.wall:
            return ["stonewall"] if first else []
        return [f"startdelay={round(self.delay_s * 1000)}ms"] if self.delay_s else []


def laid_out(
    parts: Sequence[Run | Rest], *, delays: bool = True
) -> tuple[list[Timing], list[list[str]]]:
    """For each run of a chain how it is held back, and the sections that fill rests before it.

    Without `delays` by stonewalls only, for a chain that does not begin with its job file.
    """
    runs = [part for part in parts if isinstance(part, Run)]
    timed = delays and all(_seconds(run) is not None for run in runs[:-1])
    timing: list[Timing] = []
    fillers: list[list[str]] = []
    begins_s = rest_s = 0.0
    for part in parts:
        if isinstance(part, Rest):
            rest_s += part.seconds
            continue
        begins_s += rest_s
        wall = not timed and (bool(timing) or rest_s > 0)
        timing.append(Timing(wall=wall, delay_s=begins_s))
        needed = wall and rest_s > WALLS_S
        fillers.append([_filler(len(timing), rest_s - WALLS_S)] if needed else [])
        begins_s, rest_s = begins_s + (_seconds(part) or 0.0), 0.0
    return timing, fillers


def _seconds(run: Run) -> float | None:
    """How long a run takes if time alone bounds it."""
    longest = 0.0
    for job in run.jobs:
        if job.runtime_s is None or job.io_bytes is not None:
            return None
        longest = max(longest, job.runtime_s + job.ramp_s)
    return longest


def _filler(number: int, seconds: float) -> str:
    """A section that asks nothing of the target for a while."""
    return "\n".join(
        [
            f"[rest{number}]",
            "stonewall",
            "ioengine=null",
            "filename=nothing",
            "rw=read",
            "bs=512",
            "size=1048576",
            "rate_iops=10",
            "time_based=1",
            f"runtime={max(round(seconds * 1000), 1)}ms",
        ]
    )
