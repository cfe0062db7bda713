"""Drives batteries over one target and leaves a run directory, whatever happens on the way.

A step's answer is on disk before the battery hears it, so the journal alone can play a battery up
to where it was, and a run that is gone on with is one whose journal is not empty. Invariants: the
estimate is made, and everything refused that can be, before the first byte; the drive is closed on
every way out; a run that is interrupted keeps all that was finished, and one that is gone on with
ends as if it had not been interrupted.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from flashtwin import __version__
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.record import LEFT_OUT
from flashtwin.batteries.base.registry import Request
from flashtwin.drives import memory
from flashtwin.errors import FlashtwinError
from flashtwin.model.drive import BelongsToRun, Drive, Remarks, TellsHost, TellsSmart
from flashtwin.model.step import Mark, NotPossible, Result, Step
from flashtwin.model.target import DriveInfo, Interrupted, Progress
from flashtwin.runner.budget import BoundStep, Budget, unbound, within
from flashtwin.runner.conclude import Teller, findings_of, info_of
from flashtwin.runner.estimate import Estimate, expected
from flashtwin.runner.events import Meter, Observer
from flashtwin.runner.host import Clock, describe
from flashtwin.runner.replay import CannotGoOnError, Replay, States, check_target, detail_of
from flashtwin.runner.stop import Stop, listening
from flashtwin.runner.target import Target
from flashtwin.runs.rundir import Moment, Run, State
from flashtwin.runs.writer import Writer

# Refusals in a row after which a battery is stopped: it waits for a result that will not come.
MOST_EMPTY = 100_000
BatteryRequest = Request | tuple[str, Mapping[str, object] | object]


@dataclass(frozen=True, kw_only=True)
class Task:
    """A run that is asked for: its target and batteries, its directory, and who watches it.

    `batteries` are requests or (name, parameters), the latter text to parse, values, or the
    battery's own parameters; without any the run in `place`, which is not finished, is gone on
    with: then batteries, seed, command and budget are those of its manifest. `command` goes into
    the manifest, so it must not name the host. `budget_s` is the time on the drive's clock, see
    `runner.budget`. `label` is what the run is called.
    """

    target: Target
    place: Path
    batteries: Sequence[BatteryRequest] | None = None
    observer: Observer = field(default_factory=Observer)
    budget_s: float | None = None
    seed: int = 1
    command: Sequence[str] = ()
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What is to be done, decided before the first byte."""

    requests: list[Request]
    departs: dict[str, list[str]]
    expected: Estimate
    budget: Budget | None


@dataclass
class _Going:
    """A run that is under way: what its steps need in order to be carried out and reported."""

    observer: Observer
    plan: _Plan
    drive: Drive
    writer: Writer
    meter: Meter
    stop: Stop
    states: States
    replay: Replay
    teller: Teller
    clock_s: float = 0.0
    note: str | None = None

    def watch(self, progress: Progress) -> bool:
        self.meter.moved(progress)
        return not self.stop.asked


def run_batteries(
    drive: Drive,
    batteries: Sequence[BatteryRequest] | None,
    out: Path,
    *,
    host: Mapping[str, object] | None = None,
    **how: Any,
) -> Run:
    """Run batteries one after another on a drive that is there, write `out`, and close the drive:
    `host` goes into host.json, and `how` are the other fields of `Task`."""
    target = Target(name=out.name, make=lambda: drive, host=host or {})
    return carry_out(Task(target=target, batteries=batteries, place=out, **how))


def carry_out(task: Task) -> Run:
    """Carry out a task. The drive is opened once nobody else writes the run, and closed.

    Raises `FlashtwinError` where the run cannot be gone on with, for the drive is another or the
    batteries are, and `Interrupted` once the run is closed if somebody asked it to stop.
    """
    drive, watcher = task.target.make(), task.observer
    with listening() as stop, closing(drive), ExitStack() as leaving:
        before = None
        if task.batteries is None:
            before = _Before(task.place, leaving)
            task = replace(task, batteries=before.batteries, budget_s=before.budget_s)
        info = drive.open().info
        if before:
            before.check(info, watcher)
        plan = _plan(task, drive, info)
        watcher.estimated(info, plan.expected, plan.departs)
        if plan.budget is not None:
            watcher.noted(plan.budget.text(plan.expected))
        there = before.tell(watcher) if before else {}
        clock = Clock(there)
        needs = {"memory_needed_bytes": plan.expected.memory_bytes}
        facts = drive.host() if isinstance(drive, TellsHost) else {}
        machine = {**there, **describe(task.place, task.target.host), **facts, **needs}
        if before:
            writer = before.writer
            writer.host({**machine, **clock.begin()})
        else:
            writer = Writer(
                task.place,
                _manifest(task, info, plan),
                {**machine, **clock.begin()},
                durable=not info.can.repeatable,
            )
        if isinstance(drive, BelongsToRun):
            drive.claim(task.place)
        states = States(drive, writer.path)
        going = _Going(
            observer=watcher,
            plan=plan,
            drive=drive,
            writer=writer,
            meter=Meter(info, plan.expected, watcher),
            stop=stop,
            states=states,
            replay=Replay(writer, drive, states),
            teller=Teller(info, watcher, writer.answer),
        )
        return _go(going, machine, clock)


class _Before:
    """What a run that is resumed has done so far. The process has locked it: nobody else writes
    it from here on."""

    def __init__(self, out: Path, leaving: ExitStack) -> None:
        self._run = Run(out)
        # A simulated run can be repeated, so its journal need not wait for the disk.
        self._simulated = info_of(self._run).can.repeatable
        self.writer = Writer.resume(out, durable=not self._simulated)
        leaving.callback(self.writer.leave)
        manifest = self.writer.manifest
        self.batteries: list[BatteryRequest] = [
            (row["name"], row["parameters"]) for row in manifest["batteries"]
        ]
        self.budget_s: float | None = manifest.get("budget", {}).get("seconds")

    def check(self, info: DriveInfo, watcher: Observer) -> None:
        """Refuse another drive; what may differ is told."""
        for note in check_target(self._run.path, self.writer.manifest["target"], info):
            watcher.noted(note)

    def tell(self, watcher: Observer) -> dict[str, Any]:
        """Report what was done before; the answer is what host.json says of the sessions so far."""
        steps = sum(1 for record in self.writer.records if record.kind != "mark")
        finished = "1 step that was" if steps == 1 else f"{steps} steps that were"
        watcher.noted(f"goes on after {finished} done")
        for text in self.writer.redone:
            watcher.noted(text)
        host = dict(self._host(watcher))
        redone = [*host.get("redone", []), *self.writer.redone]
        return {**host, "redone": redone} if redone else host

    def _host(self, watcher: Observer) -> Mapping[str, Any]:
        """The host.json of the run; that of a twin may be missing."""
        try:
            return self._run.host
        except FlashtwinError as error:
            if not self._simulated:
                raise
            watcher.noted(f"{error.message}; it is written anew")
            return {}


def _plan(task: Task, drive: Drive, info: DriveInfo) -> _Plan:
    requests = requests_of(task.batteries or ())
    estimated = expected(requests, drive, info)
    departs = {
        request.name: request.battery.departures(request.parameters, info) for request in requests
    }
    seconds = task.budget_s
    budget = None if seconds is None else Budget(seconds, requests, info, estimated)
    within = budget.without_left_out(estimated) if budget else estimated
    memory.require(
        within.samples_memory_bytes,
        "the samples of the steps take about",
        "make samples longer (sample_s= of a battery), or ask for less in one run",
    )
    return _Plan(requests=requests, departs=departs, expected=within, budget=budget)


def _go(going: _Going, machine: Mapping[str, object], clock: Clock) -> Run:
    """Carry out the plan; what the journal has is answered from there."""
    requests, writer = going.plan.requests, going.writer
    state: State | None = "failed"
    try:
        if not len(going.replay):
            _smart(going, "before")
        for request in requests:
            _battery(going, request)
        _catch_up(going)
        state = "finished"
    except CannotGoOnError:
        state = None
        raise
    except (Interrupted, KeyboardInterrupt) as error:
        state = "interrupted"
        raise Interrupted(stopped(writer.path, requests)) from error
    finally:
        if state and going.replay.over:
            _close(going, state, {**machine, **clock.read()})
        else:
            # Some of the journal was not answered again: the manifest keeps its old state, since
            # the steps in the journal say more than what the batteries heard.
            writer.leave()
    return Run(writer.path)


def stopped(out: Path | str, requests: Sequence[Request] = ()) -> str:
    """The message for a run of `requests`, or for the runs in a folder, that somebody stopped."""
    return f"stopped; {_way_on(out, requests)}"


def _way_on(out: Path | str, requests: Sequence[Request]) -> str:
    program = next((request.battery.program for request in requests), registry.PROGRAM)
    command = f"{program} --resume {shlex.quote(str(out))}"
    return f"what was finished is in {out}, and {command} goes on"


def _battery(going: _Going, request: Request) -> None:
    """Play one battery to its end; where a mark says so, look what can be concluded."""
    steps = request.battery.measure(request.parameters, going.drive.info)
    empty = 0
    try:
        step = next(steps)
        while True:
            answer = _step(going, request.name, step)
            if isinstance(step, Mark) and going.replay.over:
                going.teller.look(request, going.writer.records)
            # Nothing that is left out or not possible changes what a loop waits for.
            empty = empty + 1 if isinstance(answer, NotPossible) else 0
            if empty > MOST_EMPTY:
                steps.close()
                going.observer.noted(
                    f"{request.name} ends: {MOST_EMPTY:,} steps in a row were not possible here"
                )
                return
            step = steps.send(answer)
    except StopIteration:
        return


def _step(going: _Going, battery: str, step: Step) -> Result | NotPossible:
    """Answer one step: from the journal, not at all, or by the drive and then into the journal."""
    work = not isinstance(step, Mark)
    bound = unbound(step)
    if work and going.plan.budget:
        if going.plan.budget.leaves_out(battery, step, going.clock_s):
            return NotPossible(reason=LEFT_OUT)
        left_s = going.plan.budget.left_s(going.clock_s)
        bound = within(step, left_s, going.drive.info.capacity_bytes)
    if going.replay.over:
        answer = _do(going, battery, bound)
    else:
        answer = going.replay.answer(battery, bound)
        if work:
            going.meter.skipped(battery, step.label)
    if isinstance(answer, Result):
        going.clock_s = max(going.clock_s, (answer.start_ns + answer.duration_ns) / 1e9)
        if going.plan.budget:
            going.plan.budget.ended(battery, step.label, answer)
    return answer


def _do(going: _Going, battery: str, bound: BoundStep) -> Result | NotPossible:
    """Carry out one step and put it into the journal."""
    step = bound.step
    _catch_up(going)
    if going.stop.asked:
        raise Interrupted(step.label)
    work = not isinstance(step, Mark)
    if work:
        going.meter.began(battery, step)
    began = time.monotonic()
    try:
        answer = bound.marked(going.drive.do(step, going.watch))
    except FlashtwinError as error:
        error.add_hint(_way_on(going.writer.path, going.plan.requests))
        raise
    took_s = time.monotonic() - began
    if isinstance(going.drive, Remarks):
        for remark in going.drive.remarks():
            going.observer.noted(remark)
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
    going.states.after(going.writer.checks, took_s)
    if work:
        going.meter.ended()
        going.observer.ended(record)
    return answer


def _catch_up(going: _Going) -> None:
    """Bring the drive to where the journal's answers end."""

    def on_repeat(battery: str, step: Step, begins: bool) -> None:
        if begins and not isinstance(step, Mark):
            going.meter.repeats(battery, step)

    if going.replay.caught_up:
        return
    note = going.replay.catch_up(going.watch, on_repeat)
    for text in going.states.unusable:
        going.observer.noted(text)
    going.writer.go_on()
    if note:
        going.note = note
        going.observer.noted(note)


def _smart(going: _Going, when: Moment) -> None:
    """Store the SMART data of a drive that has them, or of the disk under a file."""
    if isinstance(going.drive, TellsSmart) and (data := going.drive.smart()):
        going.writer.smart(when, data)


def _close(going: _Going, state: State, host: Mapping[str, object]) -> None:
    """Leave the directory readable; on a failed run the first error is the one that is told."""
    try:
        _smart(going, "after")
        more = {"budget": going.plan.budget.to_json()} if going.plan.budget else {}
        findings = findings_of(
            going.plan.requests,
            going.drive.info,
            going.writer.records,
            going.writer.answer,
            finished=state == "finished",
            budget=more.get("budget"),
        )
        going.teller.tell(findings)
        going.writer.host(host)
        run = going.writer.close(findings, state=state, more=more)
        going.observer.closed(run)
    except FlashtwinError:
        going.writer.leave()
        if state == "finished":
            raise


def requests_of(batteries: Sequence[BatteryRequest]) -> list[Request]:
    """Batteries as asked for, their parameters parsed; raises on a bad name, key or value."""
    return [
        battery if isinstance(battery, Request) else registry.request(battery[0], battery[1])
        for battery in batteries
    ]


def _manifest(task: Task, info: DriveInfo, plan: _Plan) -> dict[str, Any]:
    manifest = {
        "flashtwin": __version__,
        "target": {
            "name": info.name,
            "kind": info.kind,
            "capacity_bytes": info.capacity_bytes,
            "can": asdict(info.can),
            "identity": info.identity,
        },
        "seed": task.seed,
        "batteries": [
            {
                "name": request.name,
                "parameters": request.plain(),
                "departs": plan.departs[request.name],
            }
            for request in plan.requests
        ],
        "command": list(task.command),
    }
    called = {"label": task.label} if task.label else {}
    budget = {"budget": plan.budget.to_json()} if plan.budget else {}
    return {**manifest, **called, **budget}
