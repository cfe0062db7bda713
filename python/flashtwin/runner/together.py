"""Several targets at once where that disturbs nothing: twins, a process each.

A twin's clock is virtual, so twins side by side measure the same as one after another; a real drive
is measured alone, before them. Each process runs `run_batteries` and sends what its observer hears;
the observers here show it. Invariants: a stop that reaches this process reaches all of them, each
closes its run directory, and only then is `Interrupted` raised; the first error stops the others;
the runs come back in the order of the tasks; what runs side by side has room in memory together.
Processes are spawned, not forked: a program that calls this may have threads.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from flashtwin.drives import memory
from flashtwin.drives.protocol import Drive
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.outputs import disk
from flashtwin.runner.observer import Observer, Silent
from flashtwin.runner.run import Asked, resume_batteries, run_batteries, stopped
from flashtwin.runner.stop import Stop, listening
from flashtwin.runner.targets import Target, directories
from flashtwin.runs.rundir import Run

# How long a stop may stay unseen.
POLL_S = 0.2
EVENTS = ("estimated", "noted", "began", "progress", "ended", "found")
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One target with its batteries and its run directory.

    `apart`: in a process of its own, for targets in virtual time; `target.make` and the parameters
    have to be picklable then. `observer` shows it. `budget_s`: see `runner.budget`. `resume`: the
    run in `place` is taken up, with its own batteries and budget.
    """

    target: Target
    batteries: Sequence[Asked]
    place: Path
    apart: bool
    observer: Observer = field(default_factory=Silent)
    budget_s: float | None = None
    resume: bool = False


def places(names: Sequence[str], out: Path) -> list[Path]:
    """The run directories of targets under `out`; refuses one with something in it."""
    with disk(out, "read"):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise FlashtwinError(
                f"{out} is not empty" if out.is_dir() else f"{out} is not a directory",
                hint="choose another directory with --out, remove this one, or --resume its run",
                exit_code=USAGE,
            )
    return directories(names, out)


def twin_target(
    spec: str,
    *,
    firmware: Sequence[str] = (),
    sets: Sequence[str] = (),
    scale: str | None = None,
    seed: int = 1,
    name: str | None = None,
) -> Target:
    """A twin to be, of a catalogue drive or a spec file; picklable. Refused where it cannot be."""
    from flashtwin.catalogue.loader import load

    found = load(spec, firmware=firmware, sets=sets, scale=scale)
    memory.check(found)
    make = partial(_make_twin, spec, tuple(firmware), tuple(sets), scale, seed)
    return Target(name=name or spec, make=make, memory_bytes=found.memory_bytes)


def _make_twin(
    spec: str, firmware: Sequence[str], sets: Sequence[str], scale: str | None, seed: int
) -> Drive:
    from flashtwin.catalogue.loader import load
    from flashtwin.drives.snapshots import Store
    from flashtwin.drives.twin import Twin

    found = load(spec, firmware=firmware, sets=sets, scale=scale)
    return Twin(found, seed=seed, store=Store.from_environment())


def run_tasks(
    tasks: Sequence[Task],
    *,
    seed: int = 1,
    command: Sequence[str] = (),
    at_once: int | None = None,
    knows_main: bool = True,
) -> list[Run]:
    """Carry out the tasks, those that are measured in real time first and alone.

    A single task in virtual time needs no process of its own. `at_once` is the number of processes,
    by default one a processor. `knows_main`: the processes load the main module of this one, as
    tasks whose parts stand in it need.
    """
    apart = [task for task in tasks if task.apart]
    for task in tasks:
        if not task.apart or len(apart) == 1:
            _here(task, seed, command)
    if len(apart) > 1:
        limit = at_once or len(os.sched_getaffinity(0))
        with listening() as stop:
            _Crowd(apart, seed, command, limit, stop, knows_main).run()
    return [Run(task.place) for task in tasks]


def _here(task: Task, seed: int, command: Sequence[str]) -> None:
    """Carry out one task in this process."""
    if task.resume:
        make, host = task.target.make, task.target.host
        resume_batteries(make, task.place, observer=task.observer, host=host)
        return
    run_batteries(
        task.target.make(),
        task.batteries,
        task.place,
        seed=seed,
        command=command,
        observer=task.observer,
        host=task.target.host,
        budget_s=task.budget_s,
    )


class _Crowd:
    """The processes on their way."""

    def __init__(
        self,
        tasks: Sequence[Task],
        seed: int,
        command: Sequence[str],
        limit: int,
        stop: Stop,
        knows_main: bool,
    ) -> None:
        self._waiting = list(tasks)
        self._seed, self._command, self._limit, self._stop = seed, command, limit, stop
        self._knows_main = knows_main
        self._there = memory.shared_bytes()
        self._going: dict[Connection, tuple[Task, BaseProcess]] = {}
        self._places = [task.place for task in tasks]
        self._error: BaseException | None = None

    def run(self) -> None:
        """Until all are done; raises the first error, or `Interrupted`."""
        try:
            while self._waiting or self._going:
                self._start()
                for ready in wait(list(self._going), timeout=POLL_S):
                    assert isinstance(ready, Connection)
                    self._hear(ready)
                if self._stop.asked or self._error:
                    self._end()
        finally:
            for _, process in self._going.values():
                process.kill()
        if self._error:
            raise self._error
        if self._stop.asked:
            kept = os.path.commonpath([place.absolute() for place in self._places])
            raise Interrupted(stopped(os.path.relpath(kept)))

    def _start(self) -> None:
        while self._waiting and len(self._going) < self._limit and self._has_room():
            task = self._waiting.pop(0)
            context = get_context("spawn")
            ours, theirs = context.Pipe(duplex=False)
            work = (replace(task, observer=Silent()), self._seed, self._command, theirs)
            process = context.Process(target=_child, args=work, daemon=True)
            # Until the child listens, a Ctrl-C waits for it instead of ending it with a traceback.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
            try:
                with nullcontext() if self._knows_main else _without_main():
                    process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()
            self._going[ours] = (task, process)

    def _has_room(self) -> bool:
        """Whether memory allows the next task beside those under way; alone it is always begun."""
        if self._there is None or not self._going:
            return True
        tasks = [self._waiting[0], *(task for task, _ in self._going.values())]
        needs = sum(task.target.memory_bytes + memory.PROCESS_BYTES for task in tasks)
        return needs <= self._there

    def _end(self) -> None:
        """Tell all to stop; said again each time, for a child may not have listened yet."""
        self._waiting = []
        for _, process in self._going.values():
            process.terminate()

    def _hear(self, connection: Connection) -> None:
        task, process = self._going[connection]
        try:
            event, arguments = connection.recv()
        except (EOFError, OSError):
            # The latter in the middle of a message.
            self._gone(connection, task, process)
            return
        if event == "closed":
            task.observer.closed(Run(task.place))
        elif event == "error":
            message, hint, exit_code = arguments
            self._failed(FlashtwinError(message, hint=hint, exit_code=exit_code))
        elif event == "mistake":
            self._failed(RuntimeError(f"{task.target.name}: {arguments[0]}"))
        elif event == "interrupted":
            # Of a stop that reached the child alone we hear here first.
            self._stop.asked = self._stop.asked or not self._error
        elif event in EVENTS:
            getattr(task.observer, event)(*arguments)

    def _gone(self, connection: Connection, task: Task, process: BaseProcess) -> None:
        """The process is over; one that said nothing of its end was killed."""
        del self._going[connection]
        connection.close()
        process.join()
        if process.exitcode and not self._stop.asked:
            why = f"process ended with code {process.exitcode}"
            self._failed(
                FlashtwinError(
                    f"{task.target.name}: the {why} before the run was complete",
                    hint="is there enough memory? what was finished is in its run directory",
                    exit_code=ENVIRONMENT,
                )
            )

    def _failed(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error


@contextmanager
def _without_main() -> Iterator[None]:
    """A process that begins in here does not run the program of its parent again.

    A spawned process runs the main module first, and a script that calls us without asking for its
    name would begin everything anew in each.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _Sender:
    """An observer in the child that tells the parent."""

    def __init__(self, send: Callable[[str, tuple[Any, ...]], None]) -> None:
        self._send = send

    def __getattr__(self, event: str) -> Callable[..., None]:
        return lambda *arguments: self._send(event, () if event == "closed" else arguments)


def _child(task: Task, seed: int, command: Sequence[str], connection: Connection) -> None:
    """Run one task and say how it ended."""

    def send(event: str, arguments: tuple[Any, ...]) -> None:
        try:
            connection.send((event, arguments))
        except OSError as error:
            # Nobody waits for the run any more: it is closed as one that was stopped.
            raise Interrupted("the process that asked for the run is gone") from error

    try:
        with listening():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            _here(replace(task, observer=cast(Observer, _Sender(send))), seed, command)
    except (Interrupted, KeyboardInterrupt):
        last: tuple[str, tuple[Any, ...]] = ("interrupted", ())
    except FlashtwinError as error:
        last = ("error", (error.message, error.hint, error.exit_code))
    except Exception:
        last = ("mistake", (traceback.format_exc(),))
    else:
        connection.close()
        return
    with suppress(Interrupted):
        send(*last)
    connection.close()
