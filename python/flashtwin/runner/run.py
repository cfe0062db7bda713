"""Drives batteries over one target and leaves a run directory, whatever happens on the way.

A step's answer is on disk before the battery hears it, so the journal alone can play a battery up
to where it was: `resume_batteries` does so and goes on. Invariants: the estimate is made, and
everything refused that can be, before the first byte; the drive is closed on every way out; a run
that is interrupted keeps all that was finished, and one that is taken up ends as if it had not been
interrupted.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from flashtwin import __version__
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.record import LEFT_OUT
from flashtwin.batteries.base.registry import Request
from flashtwin.drives import memory
from flashtwin.drives.protocol import Drive, TellsHost, TellsSmart
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import Mark, NotPossible, Result, Step
from flashtwin.model.target import DriveInfo, Interrupted, Progress
from flashtwin.runner import cut
from flashtwin.runner.budget import Budget
from flashtwin.runner.conclude import Teller, findings_of
from flashtwin.runner.cut import Given
from flashtwin.runner.estimate import Estimate, estimate
from flashtwin.runner.host import Clock, describe
from flashtwin.runner.keep import Keeper
from flashtwin.runner.observer import Observer, Silent
from flashtwin.runner.pace import Pace
from flashtwin.runner.past import CannotGoOnError, Past, check_target, detail_of
from flashtwin.runner.stop import Stop, listening
from flashtwin.runs.rundir import Moment, Run, State
from flashtwin.runs.writer import Writer

# A part of a battery has fewer steps; a loop that waits for a result asks for more.
MOST_EMPTY = 100_000
Asked = Request | tuple[str, Mapping[str, object] | object]


@dataclass
class _Going:
    """One run on its way: what the steps need to be carried out and told of."""

    drive: Drive
    writer: Writer
    pace: Pace
    observer: Observer
    stop: Stop
    budget: Budget | None
    keeper: Keeper
    past: Past
    teller: Teller
    requests: Sequence[Request]
    clock_s: float = 0.0
    note: str | None = None

    def watch(self, progress: Progress) -> bool:
        self.pace.moved(progress)
        return not self.stop.asked


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What is to be done, decided before the first byte."""

    requests: list[Request]
    departs: dict[str, list[str]]
    expected: Estimate
    budget: Budget | None


def run_batteries(
    drive: Drive,
    batteries: Sequence[Asked],
    out: Path,
    *,
    seed: int = 1,
    command: Sequence[str] = (),
    observer: Observer | None = None,
    host: Mapping[str, object] | None = None,
    budget_s: float | None = None,
) -> Run:
    """Run batteries one after another on a drive, write `out`, and close the drive.

    `batteries` are requests or (name, parameters), the latter text to parse, values, or the
    battery's own parameters. `command` goes into the manifest, so it must not name the host; `host`
    goes into host.json. `budget_s` is the time on the drive's clock, see `runner.budget`. Raises
    `Interrupted` once the run is closed if somebody asked it to stop.
    """
    watcher: Observer = observer or Silent()
    try:
        with listening() as stop:
            info = drive.open().info
            plan = _plan(requests(batteries), info, budget_s)
            watcher.estimated(info, plan.expected, plan.departs)
            _tell_budget(plan, watcher)
            clock = Clock()
            needs = {"memory_needed_bytes": plan.expected.memory_bytes}
            machine = {**describe(out, host or {}), **_told(drive), **needs}
            manifest = _manifest(info, plan, seed, command)
            writer = Writer(
                out, manifest, {**machine, **clock.begin()}, durable=not info.can.repeatable
            )
            return _go(drive, plan, writer, machine, clock, watcher, stop)
    finally:
        drive.close()


def resume_batteries(
    make: Callable[[], Drive],
    out: Path,
    *,
    observer: Observer | None = None,
    host: Mapping[str, object] | None = None,
) -> Run:
    """Go on with the run in `out`, which is not finished, on the drive that `make` gives.

    The batteries, the seed and the budget are those of the run. `make` is called once nobody else
    writes the run. Raises `FlashtwinError` where the run cannot be gone on with, for the drive is
    another or the batteries are, and `Interrupted` as `run_batteries` does.
    """
    watcher: Observer = observer or Silent()
    with listening() as stop:
        before = Run(out)
        writer = Writer.resume(out, durable=not before.target.get("virtual_time", True))
        drive: Drive | None = None
        try:
            drive = make()
            drive.open()
            manifest = writer.manifest
            for note in check_target(out, manifest["target"], drive.info):
                watcher.noted(note)
            asked = [(one["name"], one["parameters"]) for one in manifest["batteries"]]
            budget_s = manifest.get("budget", {}).get("seconds")
            plan = _plan(requests(asked), drive.info, budget_s)
            watcher.estimated(drive.info, plan.expected, plan.departs)
            _tell_budget(plan, watcher)
            steps = sum(1 for one in writer.records if one.kind != "mark")
            done = "1 step that was" if steps == 1 else f"{steps} steps that were"
            watcher.noted(f"goes on after {done} done")
            for text in writer.redone:
                watcher.noted(text)
            there = _host_before(before, watcher)
            redone = [*there.get("redone", []), *writer.redone]
            clock = Clock(there)
            needs = {"memory_needed_bytes": plan.expected.memory_bytes}
            machine = {**there, **describe(out, host or {}), **_told(drive), **needs}
            machine |= {"redone": redone} if redone else {}
            writer.host({**machine, **clock.begin()})
            return _go(drive, plan, writer, machine, clock, watcher, stop)
        finally:
            writer.leave()
            if drive is not None:
                drive.close()


def _host_before(run: Run, observer: Observer) -> Mapping[str, Any]:
    """What host.json says of the sessions so far; a twin's run can do without."""
    try:
        return run.host
    except FlashtwinError as error:
        if not run.target.get("virtual_time", True):
            raise
        observer.noted(f"{error.message}; it is written anew")
        return {}


def _plan(requests: list[Request], info: DriveInfo, budget_s: float | None) -> _Plan:
    whole = estimate(requests, info)
    departs = {one.name: one.battery.departures(one.parameters, info) for one in requests}
    budget = None if budget_s is None else Budget(budget_s, requests, info, whole)
    expected = budget.kept(whole) if budget else whole
    memory.require(
        expected.samples_memory_bytes,
        "the samples of the steps take about",
        "make samples longer (sample_s= of a battery), or ask for less in one run",
    )
    return _Plan(requests=requests, departs=departs, expected=expected, budget=budget)


def _tell_budget(plan: _Plan, observer: Observer) -> None:
    if plan.budget is not None:
        observer.noted(plan.budget.text(plan.expected))


def _go(
    drive: Drive,
    plan: _Plan,
    writer: Writer,
    machine: Mapping[str, object],
    clock: Clock,
    observer: Observer,
    stop: Stop,
) -> Run:
    """Carry out the plan; what the journal has is answered from there."""
    keeper = Keeper(drive, writer.path)
    going = _Going(
        drive=drive,
        writer=writer,
        pace=Pace(drive.info, plan.expected, observer),
        observer=observer,
        stop=stop,
        budget=plan.budget,
        keeper=keeper,
        past=Past(writer, drive, keeper),
        teller=Teller(drive.info, observer, writer.answer),
        requests=plan.requests,
    )
    state: State | None = "failed"
    try:
        if not len(going.past):
            _smart(going, "before")
        for request in plan.requests:
            _battery(going, request)
        _catch_up(going)
        state = "finished"
    except CannotGoOnError:
        state = None
        raise
    except (Interrupted, KeyboardInterrupt) as error:
        state = "interrupted"
        raise Interrupted(stopped(writer.path)) from error
    finally:
        if state and going.past.over:
            _close(going, state, {**machine, **clock.read()})
        else:
            # What the batteries know is not all that was measured: what is there says more.
            writer.leave()
    return Run(writer.path)


def stopped(out: Path | str) -> str:
    """What to say of a run, or of runs in a folder, that were stopped."""
    again = f"flashtwin test --resume {shlex.quote(str(out))}"
    return f"stopped; what was finished is in {out}, and {again} goes on"


def _battery(going: _Going, request: Request) -> None:
    """Play one battery to its end; where a mark says so, look what can be concluded."""
    steps = request.battery.measure(request.parameters, going.drive.info)
    empty = 0
    try:
        step = next(steps)
        while True:
            answer = _step(going, request.name, step)
            if isinstance(step, Mark) and going.past.over:
                going.teller.look(request, going.writer.records)
            # Nothing that is left out or not possible changes what a loop waits for.
            empty = empty + 1 if isinstance(answer, NotPossible) else 0
            if empty > MOST_EMPTY:
                steps.close()
                going.observer.noted(f"{request.name} ends: {MOST_EMPTY:,} steps told it nothing")
                return
            step = steps.send(answer)
    except StopIteration:
        return


def _step(going: _Going, battery: str, step: Step) -> Result | NotPossible:
    """Answer one step: from the journal, not at all, or by the drive and then into the journal."""
    work = not isinstance(step, Mark)
    given = cut.whole(step)
    if work and going.budget:
        if going.budget.leaves_out(battery, step, going.clock_s):
            return NotPossible(reason=LEFT_OUT)
        left_s = going.budget.left_s(going.clock_s)
        given = cut.within(step, left_s, going.drive.info.capacity_bytes)
    if going.past.over:
        answer = _do(going, battery, given)
    else:
        answer = going.past.answer(battery, given)
        if work:
            going.pace.skipped(battery, step.label)
    if isinstance(answer, Result):
        going.clock_s = max(going.clock_s, (answer.start_ns + answer.duration_ns) / 1e9)
        if going.budget:
            going.budget.ended(battery, step.label, answer)
    return answer


def _do(going: _Going, battery: str, given: Given) -> Result | NotPossible:
    """Carry out one step and put it into the journal."""
    step = given.step
    _catch_up(going)
    if going.stop.asked:
        raise Interrupted(step.label)
    work = not isinstance(step, Mark)
    if work:
        going.pace.began(battery, step)
    began = time.monotonic()
    answer = given.marked(going.drive.do(step, going.watch))
    took_s = time.monotonic() - began
    if work and going.note and isinstance(answer, Result):
        note = f"{answer.note}; {going.note}" if answer.note else going.note
        answer, going.note = replace(answer, note=note), None
    record = going.writer.step(
        battery=battery,
        label=step.label,
        kind=type(step).__name__.lower(),
        answer=answer,
        detail=detail_of(step),
    )
    going.keeper.after(going.writer.checks, took_s)
    if work:
        going.pace.ended()
        going.observer.ended(record)
    return answer


def _catch_up(going: _Going) -> None:
    """Bring a drive after the steps that the journal answered."""

    def told(battery: str, step: Step, begins: bool) -> None:
        if begins and not isinstance(step, Mark):
            going.pace.again(battery, step)

    if going.past.caught_up:
        return
    note = going.past.catch_up(going.watch, told)
    for text in going.keeper.unusable:
        going.observer.noted(text)
    going.writer.go_on()
    if note:
        going.note = note
        going.observer.noted(note)


def _smart(going: _Going, when: Moment) -> None:
    """Keep the drive's SMART data, of a drive that tells them."""
    if isinstance(going.drive, TellsSmart):
        going.writer.smart(when, going.drive.smart())


def _told(drive: Drive) -> dict[str, Any]:
    return drive.host() if isinstance(drive, TellsHost) else {}


def _close(going: _Going, state: State, host: Mapping[str, object]) -> None:
    """Leave the directory readable; on a failed run the first error is the one that is told."""
    try:
        _smart(going, "after")
        more = {"budget": going.budget.to_json()} if going.budget else {}
        found = findings_of(
            going.requests,
            going.drive.info,
            going.writer.records,
            going.writer.answer,
            finished=state == "finished",
            budget=more.get("budget"),
        )
        going.teller.tell(found)
        going.writer.host(host)
        run = going.writer.close(found, state=state, more=more)
        going.observer.closed(run)
    except FlashtwinError:
        going.writer.leave()
        if state == "finished":
            raise


def requests(batteries: Sequence[Asked]) -> list[Request]:
    """Batteries as asked for, their parameters parsed; raises on a bad name, key or value."""
    return [
        one if isinstance(one, Request) else registry.request(one[0], one[1]) for one in batteries
    ]


def _manifest(info: DriveInfo, plan: _Plan, seed: int, command: Sequence[str]) -> dict[str, Any]:
    manifest = {
        "flashtwin": __version__,
        "target": {
            "name": info.name,
            "kind": info.kind,
            "capacity_bytes": info.capacity_bytes,
            "virtual_time": info.can.virtual_time,
            "can": asdict(info.can),
            "identity": info.identity,
        },
        "seed": seed,
        "batteries": [
            {"name": one.name, "parameters": one.plain(), "departs": plan.departs[one.name]}
            for one in plan.requests
        ],
        "command": list(command),
    }
    return {**manifest, "budget": plan.budget.to_json()} if plan.budget else manifest
