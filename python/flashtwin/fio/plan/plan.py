"""What a twin runs for a set of fio jobs: phases of core jobs, with what a reader should know.

Phases follow one another without a gap; in each, all processes start together, but for their
`startdelay`, and for those that wait for others of the phase (`clones`). Invariant: the plan
depends on the jobs and the target alone; the twin's seed comes in with the core.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.script import Note
from flashtwin.fio.plan.files import Layout, Part, Target, layout
from flashtwin.fio.plan.job import core_job, notes_on_changes
from flashtwin.fio.plan.processes import Clone, clones, odd_sizes
from flashtwin.fio.plan.setup import Setup
from flashtwin.fio.plan.traces import Replay, Replaying, Traces, notes_on_trace, replayed
from flashtwin.model.fio_job import Gate
from flashtwin.model.job import Job

if TYPE_CHECKING:
    from flashtwin._core import FioRow


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process of fio's: where it comes from, and the core's job for it."""

    clone: Clone
    job: Job
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class PhaseResult:
    """The result of a phase: its processes in order, and a row for each. `begun_ns`: when it
    began, since the first phase did. A phase that did not run has no rows. `stopped`: the watch
    ended it."""

    processes: tuple[Process, ...]
    begun_ns: int
    rows: Sequence[FioRow] = ()
    stopped: bool = False

    @property
    def ran(self) -> list[tuple[Process, FioRow]]:
        """Each process that ran, with its row."""
        return list(zip(self.processes, self.rows, strict=False))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Phases in their order, and notes. `laid`: what holds data before the first phase, by its
    first byte and its length, whole units of the map."""

    phases: tuple[tuple[Process, ...], ...]
    notes: tuple[Note, ...]
    laid: tuple[tuple[int, int], ...] = ()

    @property
    def processes(self) -> tuple[Process, ...]:
        return tuple(process for phase in self.phases for process in phase)


def plan(jobs: Sequence[FioJob], target: Target, *, replaying: Replaying | None = None) -> Plan:
    """The plan of some jobs on a target; `replaying` is how their traces are read."""
    started = clones(jobs)
    notes: list[Note] = []
    for job in jobs:
        notes += notes_on_changes(job)
        if job["create_only"]:
            notes.append(
                Note(where=job.line("create_only"), text=f"job {job.name} asks for nothing")
            )
    working, setup = _set_up(started, target, replaying or Replaying(), notes)
    places = layout([(clone, pieces) for clone, pieces, _ in working], target)
    processes = [
        Process(clone=clone, job=_core_job(clone, pieces, places, replay), parts=tuple(pieces))
        for clone, pieces, replay in working
        if not clone.job["create_only"]
    ]
    phases: dict[int, list[Process]] = {}
    for process in processes:
        phases.setdefault(process.clone.phase, []).append(process)
    return Plan(
        phases=tuple(_gated(phase) for _, phase in sorted(phases.items())),
        notes=tuple(dict.fromkeys([*notes, *setup.notes])),
        laid=_whole_units(setup.laid, places, target),
    )


def _set_up(
    started: Sequence[Clone], target: Target, replaying: Replaying, notes: list[Note]
) -> tuple[list[tuple[Clone, Sequence[Part], Replay | None]], Setup]:
    """The files of each process, and its trace where it replays one."""
    traces, setup = Traces(target=target, replaying=replaying), Setup(target, started)
    working: list[tuple[Clone, Sequence[Part], Replay | None]] = []
    for clone in started:
        if clone.job["create_only"] and clone.job["read_iolog"]:
            continue
        replay = traces.of(clone)
        pieces = replay.parts if replay else setup.parts(clone)
        working.append((clone, pieces, replay))
        offsets = [at for part in pieces for at in (part.offset, part.later_offset)]
        notes += notes_on_trace(clone.job, replay) if replay else odd_sizes(clone.job, offsets)
    return working, setup


def _whole_units(
    laid: Mapping[str, int], places: Layout, target: Target
) -> tuple[tuple[int, int], ...]:
    """The units of the map that files with data touch, those beside one another as one part."""
    unit, spans = target.unit_bytes, list[tuple[int, int]]()
    for begin, length in sorted((places.places[name], length) for name, length in laid.items()):
        first = begin // unit * unit
        end = min(-(-(begin + length) // unit) * unit, target.bytes // unit * unit)
        if spans and first <= sum(spans[-1]):
            first, _ = spans.pop()
        spans.append((first, end - first))
    return tuple(spans)


def _gated(phase: Sequence[Process]) -> tuple[Process, ...]:
    """The processes of a phase, each with what it waits for among them."""
    gated = []
    places: dict[str, list[int]] = {}
    for place, process in enumerate(phase):
        places.setdefault(process.clone.job.name, []).append(place)
    for process in phase:
        clone, fio = process.clone, process.job.fio
        assert fio is not None, "a plan has fio's jobs only"
        named = places.get(clone.waits_for, []) if clone.waits_for else []
        gate = Gate(stonewall=clone.stonewall, waits_for=tuple(named))
        gated.append(replace(process, job=replace(process.job, fio=replace(fio, gate=gate))))
    return tuple(gated)


def _core_job(clone: Clone, pieces: Sequence[Part], places: Layout, replay: Replay | None) -> Job:
    if replay is None:
        return core_job(clone, pieces, places)
    return replayed(core_job(clone, pieces, places, replays=True), replay.trace)


def refuse_writes(jobs: Sequence[FioJob]) -> None:
    """`--readonly`: refuse a job that says that it writes or trims."""
    for job in jobs:
        if job["rw"].rw not in ("read", "randread"):
            raise _refused(job, "rw", f"job {job.name}", "change rw")


def refuse_traced_writes(plan: Plan) -> None:
    """`--readonly`: refuse a trace that holds writes or trims."""
    for process in plan.processes:
        trace = process.job.fio.trace if process.job.fio else None
        if trace is not None and any(trace.uses[1:]):
            name, change = f"the trace {trace.path}", "add replay_skip=write,trim"
            raise _refused(process.clone.job, "read_iolog", name, change)


def _refused(job: FioJob, option: str, name: str, change: str) -> JobFileError:
    return JobFileError(
        job.line(option),
        f"{name} writes or trims, which --readonly does not allow",
        hint=f"leave out --readonly, or {change}",
    )


@contextmanager
def left_alone() -> Iterator[None]:
    """Keep Python's collector away from objects that are there already: with thousands of
    processes it would go through all of them again and again."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
