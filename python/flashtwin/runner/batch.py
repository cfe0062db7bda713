"""Runs of one target or several: a directory each, in a folder where there are several.

What is measured in real time is measured first and alone; twins run side by side, a process each,
which changes nothing of what they measure. Several targets have a plan beside their run directories
(`plan.json`) as long as not all of them are finished, so that a later process knows those that
never began. Invariants: the first error stops the others; a stop closes every run directory, and
only then is `Interrupted` raised; the runs come back in the order of the tasks.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

from flashtwin.drives.consent import Consent
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner import target as targets
from flashtwin.runner.events import EVENTS, Observer
from flashtwin.runner.pool import Ended, Message, Pool, Send, Work
from flashtwin.runner.run import Task, carry_out, requests_of, stopped
from flashtwin.runner.stop import listening
from flashtwin.runner.target import Say, Target
from flashtwin.runs import lock, schema
from flashtwin.runs.folders import PLAN, read_plan, write_plan
from flashtwin.runs.listing import DEFAULT_PARENT
from flashtwin.runs.rundir import Run, find_runs
from flashtwin.runs.schema import SchemaError
from flashtwin.runs.storage import damaged
from flashtwin.runs.writer import abandoned, end_again


def run_tasks(tasks: Sequence[Task], *, at_once: int | None = None) -> list[Run]:
    """Carry out the tasks; `at_once` is the number of processes, by default one a processor.

    A single task that may run apart needs no process of its own.
    """
    apart = [task for task in tasks if task.target.apart]
    for task in tasks:
        for note in task.target.notes:
            task.observer.noted(note)
        if not task.target.apart or len(apart) == 1:
            carry_out(task)
    if len(apart) > 1:
        _side_by_side(apart, at_once)
    return [Run(task.place) for task in tasks]


def _side_by_side(tasks: Sequence[Task], at_once: int | None) -> None:
    pool = Pool(at_once)
    works = [_work(task) for task in tasks]
    error: BaseException | None = None
    with listening() as stop:
        for happened in pool.run(works, stop):
            task = tasks[happened.number]
            if not isinstance(happened, Ended):
                _hand_on(task, happened)
            elif happened.failed:
                error = error or _error(task, happened)
                stop.asked = True
    if error is not None:
        raise error
    if stop.asked:
        common = os.path.commonpath([task.place.absolute() for task in tasks])
        raise Interrupted(stopped(os.path.relpath(common)))


def _work(task: Task) -> Work:
    target = Target(name=task.target.name, make=task.target.make, host=task.target.host)
    sent = replace(task, target=target, observer=Observer())
    return Work(call=partial(_in_worker, sent), memory_bytes=task.target.memory_bytes)


def _in_worker(task: Task, send: Send) -> None:
    carry_out(replace(task, observer=cast(Observer, _Sender(send))))


class _Sender:
    """An observer in a worker that tells the process that asked for the run."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def __getattr__(self, event: str) -> Callable[..., None]:
        if event not in EVENTS:
            raise AttributeError(event)
        # A run is not sent between processes: whoever wants it reads its directory.
        return lambda *arguments: self._send(event, () if event == "closed" else arguments)


def _hand_on(task: Task, message: Message) -> None:
    if message.event == "closed":
        task.observer.closed(Run(task.place))
    else:
        getattr(task.observer, message.event)(*message.arguments)


def _error(task: Task, ended: Ended) -> BaseException:
    if ended.error is not None:
        return ended.error
    if ended.mistake is not None:
        return RuntimeError(f"{task.target.name}: {ended.mistake}")
    return FlashtwinError(
        f"{task.target.name}: the process ended with code {ended.exit_code} before the run was"
        " complete",
        hint="is there enough memory? what was finished is in its run directory",
        exit_code=ENVIRONMENT,
    )


def directories(names: Sequence[str], out: Path) -> list[Path]:
    """Where each target's run goes: `out` itself for one, a directory each under it for several."""
    if len(names) == 1:
        return [out]
    chosen_names: list[str] = []
    for name in map(plain_name, names):
        same = sum(1 for other in chosen_names if other == name or other.startswith(f"{name}~"))
        chosen_names.append(name if not same else f"{name}~{same + 1}")
    return [out / name for name in chosen_names]


def default_out(names: Sequence[str], now: datetime) -> Path:
    """`flashtwin-runs/<time>-<target>+<target>`; a second run begun within the same second gets
    a number."""
    name = f"{now:%Y%m%d-%H%M%S}-{'+'.join(map(plain_name, names))[:120]}"
    numbered = (name, *(f"{name}~{number}" for number in range(2, 100)))
    return next(
        (place for text in numbered if not (place := DEFAULT_PARENT / text).exists()),
        DEFAULT_PARENT / name,
    )


def plain_name(name: str) -> str:
    """A name that a directory can have: the last part of a path, with letters, digits and ._-
    only."""
    last = Path(name).name or name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip(".-") or "target"


@contextmanager
def planned(out: Path, tasks: Sequence[Task]) -> Iterator[None]:
    """Keep the plan of several tasks in `out` while they are carried out. It stays where they
    were stopped, so that a later process can begin the rest; it goes once all are done, and
    where no task has begun."""
    if len(tasks) > 1:
        _write_plan(out, tasks)
    try:
        with plan_held(out):
            yield
    except BaseException:
        if not any((task.place / "manifest.json").exists() for task in tasks):
            _drop_plan(out)
            with contextlib.suppress(OSError):
                out.rmdir()
        raise
    _drop_plan(out)


@contextmanager
def plan_held(out: Path) -> Iterator[None]:
    """Lock the plan in `out`, where there is one; refused where another process has it."""
    with lock.holding(out, PLAN) if (out / PLAN).exists() else contextlib.nullcontext():
        yield


def _write_plan(out: Path, tasks: Sequence[Task]) -> None:
    """Write the plan of the tasks that a later process can begin."""
    rows = [
        {
            "place": task.place.name,
            "target": dict(task.target.form),
            "batteries": [
                {"name": battery.name, "parameters": battery.plain()}
                for battery in requests_of(task.batteries or ())
            ],
            "budget_s": task.budget_s,
        }
        for task in tasks
        if task.target.form
    ]
    first = tasks[0]
    write_plan(out, {"seed": first.seed, "command": list(first.command), "tasks": rows})


def _drop_plan(out: Path) -> None:
    """Remove the plan: all of its tasks are done."""
    (out / PLAN).unlink(missing_ok=True)


def _whole_plan(out: Path) -> dict[str, Any]:
    """The plan of a folder, with all that it takes to make its targets."""
    plan = read_plan(out)
    try:
        schema.check(plan, schema.WholePlan)
    except SchemaError as error:
        raise damaged(out / PLAN, f"a task is malformed ({error})") from error
    return plan


class Unfinished:
    """The unfinished runs of a run directory, or of a folder of several."""

    def __init__(
        self, out: Path, *, consent: Consent | None = None, say: Say | None = None
    ) -> None:
        self._out, self._consent, self._say = out, consent, say
        none: dict[str, Any] = {"seed": 1, "command": [], "tasks": []}
        plan = _whole_plan(out) if (out / PLAN).exists() else none
        self._seed, self._command = int(plan["seed"]), list(plan["command"])
        self._rows: list[dict[str, Any]] = plan["tasks"]
        self._runs = {run.path.name: run for run in self._begun_runs()}

    @property
    def places(self) -> list[Path]:
        """Every run directory that there is or is to be, in the order of the targets."""
        if (self._out / "manifest.json").exists():
            return [self._out]
        names = dict.fromkeys([*(row["place"] for row in self._rows), *self._runs])
        return [self._out / name for name in names]

    def check_targets(self, words: Sequence[str]) -> None:
        """Refuse targets that are not those of the run; without any there is nothing to refuse."""
        waiting = [row["target"] for row in self._rows if row["place"] not in self._runs]
        known = [_of_run(run) for run in self._runs.values()] + [_of_form(form) for form in waiting]
        named = [targets.named(word) for word in words]
        foreign = [
            word
            for word, target in zip(words, named, strict=True)
            if not any(_are_same(target, other) for other in known)
        ]
        missed = [name for name, _ in known if name not in {asked_name for asked_name, _ in named}]
        if words and (foreign or missed):
            wrong = f"not of {', '.join(foreign)}" if foreign else "not of one of them alone"
            raise FlashtwinError(
                f"{self._out} is a run of {', '.join(name for name, _ in known)}, and {wrong}",
                hint=f"flashtwin test --resume {self._out} goes on with it",
                exit_code=USAGE,
            )

    def finish(self, observer: Callable[[str], Observer]) -> bool:
        """Finish what is unfinished; false where nothing was. `observer` gets a target's name."""
        for run in self._runs.values():
            if run.finished:
                end_again(run)
        going = [run for run in self._runs.values() if not run.finished]
        waiting = [row for row in self._rows if row["place"] not in self._runs]
        tasks = [
            *(self._to_go_on(run, observer) for run in going),
            *(self._to_begin(row, observer) for row in waiting),
        ]
        run_tasks(tasks)
        _drop_plan(self._out)
        return bool(tasks)

    def _to_go_on(self, run: Run, observer: Callable[[str], Observer]) -> Task:
        target = targets.of_run(run, consent=self._consent, say=self._say)
        if target.confirm is not None:
            target.confirm(0)
        return Task(target=target, place=run.path, observer=observer(target.name))

    def _to_begin(self, row: Mapping[str, Any], observer: Callable[[str], Observer]) -> Task:
        place = self._out / row["place"]
        if abandoned(place):
            shutil.rmtree(place)
        target = targets.from_form(row["target"], say=self._say)
        return Task(
            target=target,
            place=place,
            batteries=[(battery["name"], battery["parameters"]) for battery in row["batteries"]],
            observer=observer(target.name),
            budget_s=row["budget_s"],
            seed=self._seed,
            command=self._command,
        )

    def _begun_runs(self) -> list[Run]:
        places = [self._out / row["place"] for row in self._rows]
        if places and not any((place / "manifest.json").exists() for place in places):
            return []
        return find_runs(self._out)


# A target's name and the path of its file; a run that came from another machine has no path.
Named = tuple[str, Path | None]


def _of_form(form: Mapping[str, Any]) -> Named:
    if "path" not in form:
        return form["name"], None
    path = Path(form["path"])
    return path.name or "file", path


def _of_run(run: Run) -> Named:
    path = None if run.is_simulated else run.host.get("path")
    return str(run.target["name"]), None if path is None else Path(path)


def _are_same(typed: Named, stored: Named) -> bool:
    return typed[0] == stored[0] and (stored[1] is None or typed[1] in (None, stored[1]))
