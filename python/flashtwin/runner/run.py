"""Drives batteries over one target and leaves a run directory, whatever happens on the way.

A step's answer is on disk before the battery hears it, so the journal alone can play a battery up
to where it was. Invariants: the estimate is made, and everything refused that can be, before the
first byte; the drive is closed on every way out; an interrupted run is closed with all that was
finished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flashtwin import __version__
from flashtwin.battery import registry
from flashtwin.battery.registry import Request
from flashtwin.battery.step import Mark, Step
from flashtwin.drives.protocol import Drive, DriveInfo, Interrupted, Progress, TellsSmart
from flashtwin.errors import FlashtwinError
from flashtwin.results.finding import Finding
from flashtwin.results.rundir import Moment, Run, State, Writer
from flashtwin.runner.estimate import estimate
from flashtwin.runner.host import Clock, describe
from flashtwin.runner.observer import Observer, Silent
from flashtwin.runner.pace import Pace
from flashtwin.runner.stop import Stop, listening

Asked = Request | tuple[str, Mapping[str, object] | object]


@dataclass
class _Going:
    """One run on its way: what the steps need to be carried out and told of."""

    drive: Drive
    writer: Writer
    pace: Pace
    observer: Observer
    stop: Stop
    found: list[Finding] = field(default_factory=list)

    def watch(self, progress: Progress) -> bool:
        self.pace.moved(progress)
        return not self.stop.asked


def run_batteries(
    drive: Drive,
    batteries: Sequence[Asked],
    out: Path,
    *,
    seed: int = 1,
    command: Sequence[str] = (),
    observer: Observer | None = None,
    host: Mapping[str, object] | None = None,
) -> Run:
    """Run batteries one after another on a drive, write `out`, and close the drive.

    `batteries` are requests or (name, parameters), the latter text to parse, values, or the
    battery's own parameters. `command` goes into the manifest, so it must not name the host; `host`
    goes into host.json. Raises `Interrupted` once the run is closed if somebody asked it to stop.
    """
    watcher: Observer = observer or Silent()
    try:
        with listening() as stop:
            return _run(drive, _requests(batteries), out, seed, command, watcher, host or {}, stop)
    finally:
        drive.close()


def _run(
    drive: Drive,
    requests: list[Request],
    out: Path,
    seed: int,
    command: Sequence[str],
    observer: Observer,
    host: Mapping[str, object],
    stop: Stop,
) -> Run:
    info = drive.info
    expected = estimate(requests, info)
    departs = {one.name: one.battery.departs(one.parameters, info) for one in requests}
    observer.estimated(info, expected, departs)
    clock = Clock()
    machine = describe(out, host)
    writer = Writer(out, _manifest(info, requests, departs, seed, command), machine)
    pace = Pace(info, expected, observer)
    going = _Going(drive=drive, writer=writer, pace=pace, observer=observer, stop=stop)
    state: State = "failed"
    try:
        _smart(going, "before")
        for request in requests:
            _battery(going, request)
        state = "finished"
    except (Interrupted, KeyboardInterrupt) as error:
        state = "interrupted"
        raise Interrupted(f"stopped; what was finished is in {out}") from error
    finally:
        _close(going, state, {**machine, **clock.read()})
    return Run(out)


def _battery(going: _Going, request: Request) -> None:
    """Play one battery to its end; its findings join those of the run."""
    steps = request.battery.steps(request.parameters, going.drive.info)
    before = len(going.found)
    try:
        step = next(steps)
        while True:
            answer = _step(going, request.name, step)
            if isinstance(step, Mark):
                _tell(going, request.name, step.found)
            step = steps.send(answer)
    except StopIteration as end:
        told = {finding.id for finding in going.found[before:]}
        last: list[Finding] = end.value
        going.observer.found(request.name, [one for one in last if one.id not in told])
        going.found[before:] = last


def _step(going: _Going, battery: str, step: Step) -> Any:
    """Carry out one step and put it into the journal."""
    if going.stop.asked:
        raise Interrupted(step.label)
    work = not isinstance(step, Mark)
    if work:
        going.pace.began(battery, step)
    answer = going.drive.do(step, going.watch)
    record = going.writer.step(
        battery=battery,
        label=step.label,
        kind=type(step).__name__.lower(),
        answer=answer,
        detail=detail_of(step),
    )
    if work:
        going.pace.ended()
        going.observer.ended(record)
    return answer


def _smart(going: _Going, when: Moment) -> None:
    """Keep the drive's SMART data, of a drive that tells them."""
    if isinstance(going.drive, TellsSmart):
        going.writer.smart(when, going.drive.smart())


def _tell(going: _Going, battery: str, found: tuple[Finding, ...]) -> None:
    going.found += found
    if found:
        going.observer.found(battery, found)


def _close(going: _Going, state: State, host: Mapping[str, object]) -> None:
    """Leave the directory readable; on a failed run the first error is the one that is told."""
    try:
        _smart(going, "after")
        run = going.writer.close(going.found, state=state)
        going.writer.host(host)
        going.observer.closed(run)
    except FlashtwinError:
        if state == "finished":
            raise


def detail_of(step: Step) -> dict[str, Any]:
    """A step's own fields as JSON values: enough to know the same step again."""
    fields = asdict(step)
    for name in ("label", "found"):
        fields.pop(name, None)
    for part in (fields, *fields.get("parts", ())):
        for job in part.get("jobs", ()):
            if job["fio"] is None:
                del job["fio"]
    return fields


def _requests(batteries: Sequence[Asked]) -> list[Request]:
    return [
        one if isinstance(one, Request) else registry.request(one[0], one[1]) for one in batteries
    ]


def _manifest(
    info: DriveInfo,
    requests: Sequence[Request],
    departs: Mapping[str, list[str]],
    seed: int,
    command: Sequence[str],
) -> dict[str, Any]:
    return {
        "flashtwin": __version__,
        "target": {
            "name": info.name,
            "kind": info.kind,
            "capacity_bytes": info.capacity_bytes,
            "virtual_time": info.virtual_time,
            "identity": info.identity,
        },
        "seed": seed,
        "batteries": [
            {"name": one.name, "parameters": one.plain(), "departs": departs[one.name]}
            for one in requests
        ],
        "command": list(command),
    }
