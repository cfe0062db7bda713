"""The jobs of a job file as a run that is kept: asked for by `flashtwin fio --out`.

As `runner.request` for batteries: the request in, events to an observer, the run at the end. What
fio would have said of the groups stays with the drive, for whoever prints it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flashtwin.batteries.fio import NAME, Parameters
from flashtwin.runner.batch import Task, run_tasks
from flashtwin.runner.request import Show, budget_seconds
from flashtwin.runner.target import Target
from flashtwin.runs.rundir import Run


@dataclass(frozen=True, kw_only=True)
class JobsRequest:
    """Jobs on one target; `out` is the run directory to be made.

    `budget` bounds the time on the drive's clock: the group that is under way then is cut.
    """

    target: Target
    jobs: Parameters
    out: Path
    budget: str | float | None = None
    seed: int = 1
    command: Sequence[str] = ()


def run_jobs(request: JobsRequest, show: Show) -> Run:
    """Run the groups, one after another.

    Raises `Interrupted` where it was stopped, once what was finished is kept.
    """
    with show() as observer:
        task = Task(
            target=request.target,
            place=request.out,
            batteries=[(NAME, request.jobs)],
            observer=observer(request.target.name),
            budget_s=budget_seconds(request.budget),
        )
        (run,) = run_tasks([task], seed=request.seed, command=request.command)
    return run
