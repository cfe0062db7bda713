"""Work in worker processes: runs side by side, the points of a sweep, what validation measures.

A program that calls this may have threads, so it is never forked: a server is started that has
imported what workers need, and each worker is a fork of it. A worker takes one piece of work after
another, and sends what the work tells on its way. Invariants: a worker has the environment of the
process that began it, as it was then; a stop reaches
every worker, what is under way closes its run directory first, and no worker outlives the process
that began it; a worker that is killed ends its own piece of work alone; pieces begin in the order
in which they were given, each as soon as it has room in memory beside those under way.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from flashtwin import system
from flashtwin.drives import memory
from flashtwin.errors import FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner.stop import Stop, listening

# How long a stop may stay unseen.
POLL_S = 0.2
# How long a run has to close its directory before its worker is killed.
PATIENCE_S = 60.0
# How long work whose beginner is gone has to hear that it is told to stop.
GRACE_S = 3.0
# What the server of workers has imported, which most work needs; named, since some of it imports
# this module.
_IMPORTED = [
    "flashtwin.runner.batch",
    "flashtwin.analysis.shape",
    "flashtwin.drives.snapshots",
    "flashtwin.drives.twin",
]

# What a piece of work calls to tell something on its way: a name and values that can be pickled.
Send = Callable[[str, tuple[Any, ...]], None]


@dataclass(frozen=True, kw_only=True)
class Work:
    """A piece of work. `call` is carried out in a worker and has to be picklable.

    `memory_bytes` is what it takes there, beside what any process takes.
    """

    call: Callable[[Send], Any]
    memory_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Message:
    """A piece of work, by its number, tells something."""

    number: int
    event: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A piece of work is over: with a value, or with what went wrong.

    `mistake` is the traceback of an error that is no `FlashtwinError`; `exit_code` that of a worker
    that was killed before the work was complete.
    """

    number: int
    value: Any = None
    error: FlashtwinError | None = None
    mistake: str | None = None
    exit_code: int | None = None

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return bool(self.error or self.mistake or self.exit_code is not None)


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    number: int | None = None


class Pool:
    """Workers at once, by default one a processor, and as memory allows."""

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once or system.processors()
        self._there = memory.shared_bytes()
        self._workers: list[_Worker] = []
        self._waiting: list[tuple[int, Work]] = []
        self._under_way: dict[int, Work] = {}

    def run(self, works: Sequence[Work], stop: Stop) -> Iterator[Message | Ended]:
        """Carry out all work, and yield what happens as it happens. Once `stop` is asked for,
        workers are told to stop and nothing else begins; what was under way then has no `Ended`."""
        self._waiting = list(enumerate(works))
        try:
            while (self._waiting and not stop.asked) or self._under_way:
                if not stop.asked:
                    self._begin()
                for ready in wait([worker.connection for worker in self._workers], POLL_S):
                    worker = next(
                        candidate for candidate in self._workers if candidate.connection is ready
                    )
                    yield from self._received(worker, stop)
                if stop.asked:
                    self._end()
            self._leave()
        except (GeneratorExit, Interrupted):
            self._put_down(stop)
            raise
        finally:
            for worker in self._workers:
                worker.process.kill()

    def _begin(self) -> None:
        """Hand out what may begin; a new worker only where none is idle."""
        while self._waiting and len(self._under_way) < self.at_once and self._has_room():
            idle = next(
                (candidate for candidate in self._workers if candidate.number is None), None
            )
            worker = idle or self._started()
            number, work = self._waiting[0]
            try:
                worker.connection.send(work.call)
            except OSError:
                # It was killed while it was idle: another one takes the work.
                self._forget(worker)
                continue
            del self._waiting[0]
            worker.number, self._under_way[number] = number, work

    def _has_room(self) -> bool:
        """Whether the next piece fits beside those under way; one alone always begins."""
        if self._there is None or not self._under_way:
            return True
        works = [self._waiting[0][1], *self._under_way.values()]
        needs = sum(work.memory_bytes + memory.PROCESS_BYTES for work in works)
        return needs <= self._there

    def _started(self) -> _Worker:
        # Windows has no fork: each worker there is a Python of its own.
        context: Any = get_context("spawn")
        if "forkserver" in get_all_start_methods():
            context = get_context("forkserver")
            context.set_forkserver_preload(_IMPORTED)
        near_end, far_end = context.Pipe()
        # The server is started once, and would give each worker the environment of that time.
        args = (far_end, dict(os.environ))
        process = context.Process(target=_worker, args=args, daemon=True)
        # Until the worker listens, a Ctrl-C waits for it instead of ending it with a traceback;
        # the server, which is started in here, never hears one.
        with system.stops_wait(), _without_main(), _one_thread_for_algebra():
            process.start()
        far_end.close()
        self._workers.append(_Worker(process=process, connection=near_end))
        return self._workers[-1]

    def _received(self, worker: _Worker, stop: Stop) -> Iterator[Message | Ended]:
        number = worker.number
        try:
            event, arguments = worker.connection.recv()
        except (EOFError, OSError):
            # `OSError` comes where the worker was killed while it sent a message.
            worker.process.join()
            self._forget(worker)
            if number is not None:
                del self._under_way[number]
                if not stop.asked:
                    yield Ended(number=number, exit_code=worker.process.exitcode or 0)
            return
        assert number is not None, "an idle worker tells nothing"
        if event == _MESSAGE:
            yield Message(number=number, event=arguments[0], arguments=arguments[1])
            return
        worker.number = None
        del self._under_way[number]
        if event == _INTERRUPTED:
            # A signal may have reached the worker alone: then this message is the first news of it.
            stop.asked = True
        else:
            yield _ended(number, **arguments)

    def _end(self) -> None:
        """Tell all workers to stop. It is said again each time, as a worker may not have
        listened before."""
        for worker in self._workers:
            if worker.number is not None:
                worker.process.terminate()

    def _put_down(self, stop: Stop) -> None:
        """Stop all workers and drop their results; each closes its run directory first."""
        until = time.monotonic() + PATIENCE_S
        while self._under_way and time.monotonic() < until:
            self._end()
            for ready in wait([worker.connection for worker in self._workers], POLL_S):
                worker = next(
                    candidate for candidate in self._workers if candidate.connection is ready
                )
                for _ in self._received(worker, stop):
                    pass

    def _leave(self) -> None:
        """All is done: with their pipes closed, the workers end."""
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            worker.process.join()
        self._workers = []

    def _forget(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.connection.close()


def _ended(
    number: int,
    *,
    value: Any = None,
    error: tuple[str, str | None, int] | None = None,
    mistake: str | None = None,
) -> Ended:
    """What a worker sent at the end. Errors come as their text: not every exception can be
    pickled."""
    if error is None:
        return Ended(number=number, value=value, mistake=mistake)
    message, hint, code = error
    return Ended(number=number, error=FlashtwinError(message, hint=hint, exit_code=code))


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep a process that begins in here from running its parent's program again. By default a
    worker runs the main module first; a script that calls us without asking for `__name__`
    would begin all of its work anew in each."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _one_thread_for_algebra() -> Iterator[None]:
    """Keep OpenBLAS from a thread a core in every worker: they wait for each other in a loop, so
    that as many workers as cores take several times as long. What the user has set stays."""
    if "OPENBLAS_NUM_THREADS" in os.environ:
        yield
        return
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        del os.environ["OPENBLAS_NUM_THREADS"]


_MESSAGE, _ENDED, _INTERRUPTED = "told", "ended", "interrupted"


def _worker(connection: Connection, environment: dict[str, str]) -> None:
    """Take work until there is none, or until it is told to stop."""
    os.environ.clear()
    os.environ.update(environment)
    busy = threading.Event()
    threading.Thread(target=_follow, args=(busy,), daemon=True).start()

    def send(event: str, arguments: tuple[Any, ...]) -> None:
        try:
            connection.send((_MESSAGE, (event, arguments)))
        except OSError as error:
            # Nobody waits for the work any more: its run is closed as one that was stopped.
            raise Interrupted("the process that asked for the run is gone") from error

    with listening() as stop:
        system.hear_stops()
        while not stop.asked:
            try:
                call = connection.recv()
            except (EOFError, OSError):
                return
            busy.set()
            answer = _carried_out(call, send)
            busy.clear()
            with suppress(OSError):
                connection.send(answer)
            if answer[0] == _INTERRUPTED:
                return


def _carried_out(call: Callable[[Send], Any], send: Send) -> tuple[str, Any]:
    """How a piece of work ended, as it is sent."""
    try:
        return _ENDED, {"value": call(send)}
    except (Interrupted, KeyboardInterrupt):
        return _INTERRUPTED, ()
    except FlashtwinError as error:
        return _ENDED, {"error": (error.message, error.hint, error.exit_code)}
    except Exception:
        return _ENDED, {"mistake": traceback.format_exc()}


def _follow(busy: threading.Event) -> None:
    """End this process when the one that began it is gone, once the run under way has closed its
    directory. Work that does not listen is interrupted, and ended where that does not help."""
    beginner = parent_process()
    assert beginner is not None, "a worker is begun by a process"
    beginner.join()
    since_s = time.monotonic()
    while busy.is_set() and (waited_s := time.monotonic() - since_s) < PATIENCE_S:
        system.signal_self(signal.SIGTERM if waited_s < GRACE_S else signal.SIGINT)
        time.sleep(POLL_S if waited_s < GRACE_S else GRACE_S)
    os._exit(0)
