"""Where the points of a sweep run: processes on this machine, or the workers of a Dask cluster.

Both give points back in the order in which they end, as what failed or nothing. Invariants: a point
that fails ends nothing but itself; a stop reaches every worker, and what was under way counts as
not done; the run directory is the same byte for byte wherever a point ran.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Protocol

from flashtwin import __version__
from flashtwin.drives import memory
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.runner.stop import Stop
from flashtwin.study.sweep.plan import Failure, Order
from flashtwin.study.sweep.point import failed, run_apart, run_point, spec_of, unpack

# How long a stop may stay unseen, and how long a scheduler has to answer.
POLL_S = 0.2
CONNECT_S = 10.0

Ended = tuple[Order, Failure | None]


class Executor(Protocol):
    """Runs points and gives each back as it ends, until all are done or a stop is asked for.

    `at_once`: so many at a time, none where nobody knows before.
    """

    @property
    def at_once(self) -> int | None: ...

    def run(
        self, orders: Sequence[Order], place: Callable[[Order], Path], stop: Stop
    ) -> Iterator[Ended]: ...


class Local:
    """Processes on this machine, by default one a processor."""

    def __init__(self, at_once: int | None = None) -> None:
        self._most = at_once or len(os.sched_getaffinity(0))

    @property
    def at_once(self) -> int | None:
        """Processes."""
        return self._most

    def run(
        self, orders: Sequence[Order], place: Callable[[Order], Path], stop: Stop
    ) -> Iterator[Ended]:
        """See `Executor`. As many side by side as have room in memory with the largest drive.

        A worker that is killed in spite of that ends the sweep with an error.
        """
        largest = max(orders, key=lambda order: order.memory_bytes)
        memory.check(spec_of(largest))
        at_once = memory.processes(min(self._most, len(orders)), largest.memory_bytes)
        context = get_context("spawn")
        leave = context.Event()
        pool = ProcessPoolExecutor(
            at_once,
            context,
            initializer=_listen,
            initargs=(leave, os.getpid()),
        )
        try:
            waiting = {pool.submit(_local, one, place(one)): one for one in orders}
            while waiting and not stop.asked:
                done, _ = wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED)
                for future in done:
                    yield _ended(waiting.pop(future), future)
        except BrokenProcessPool as error:
            leave.set()
            raise FlashtwinError(
                "a worker process was killed before its point was complete",
                hint="is there enough memory? take --jobs 1; the same command goes on",
                exit_code=ENVIRONMENT,
            ) from error
        except BaseException:
            leave.set()
            raise
        finally:
            if stop.asked:
                leave.set()
            pool.shutdown(wait=True, cancel_futures=True)


class Cluster:
    """The workers of a Dask cluster; they need this flashtwin, and share no disk with us."""

    def __init__(self, address: str) -> None:
        self._address = address

    @property
    def at_once(self) -> int | None:
        """The workers that the cluster will have."""
        return None

    def run(
        self, orders: Sequence[Order], place: Callable[[Order], Path], stop: Stop
    ) -> Iterator[Ended]:
        """See `Executor`. A point whose worker is lost goes to another one, three times at most."""
        client = _client(self._address)
        try:
            _same_version(client)
            waiting = {client.submit(run_apart, one, pure=False): one for one in orders}
            while waiting and not stop.asked:
                for future in _ready(waiting):
                    order = waiting.pop(future)
                    yield _unpacked(order, future, place(order))
            client.cancel(list(waiting), force=True)
        finally:
            client.close(timeout=CONNECT_S)


_busy = threading.Event()


def _local(order: Order, place: Path) -> Failure | None:
    _busy.set()
    try:
        return run_point(order, place)
    finally:
        _busy.clear()


def _listen(leave: Event, parent: int) -> None:
    """In a worker: Ctrl-C belongs to the parent, which says by an event that we are to go.

    A parent that was killed says nothing: then we have another one. The run under way is told by
    SIGTERM until it has closed its directory. Then the process ends by itself: what asks it to end
    from outside would be heard by the run as well and be used up.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait_to_leave() -> None:
        with suppress(EOFError, OSError):
            while os.getppid() == parent and not leave.wait(POLL_S):
                pass
        while _busy.is_set():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(POLL_S)
        os._exit(0)

    threading.Thread(target=wait_to_leave, daemon=True).start()


def _ended(order: Order, future: Future[Failure | None]) -> Ended:
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        raise error
    return (order, _mistake(order, error)) if error else (order, future.result())


def _mistake(order: Order, error: BaseException) -> Failure:
    """An error of ours in a worker: the point fails, and says all of it."""
    text = "".join(traceback.format_exception(error)).rstrip()
    return failed(order, text, "this is a mistake in flashtwin; please report it")


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        raise FlashtwinError(
            "--cluster needs Dask, which is not installed",
            hint="pip install 'flashtwin[cluster]'",
            exit_code=ENVIRONMENT,
        ) from error


def _client(address: str) -> Any:
    distributed = _distributed()
    try:
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except ValueError as error:
        refused = FlashtwinError(
            f"{address} is no address of a scheduler: {error}",
            hint="write tcp://HOST:8786, as dask scheduler prints it",
            exit_code=USAGE,
        )
    except OSError:
        refused = FlashtwinError(
            f"no scheduler answers at {address}",
            hint="start one with dask scheduler, and workers with dask worker ADDRESS",
            exit_code=ENVIRONMENT,
        )
    # A client that never came up closes itself when it is collected. It must be gone now: collected
    # while the next client is made, it would wait for a lock that the next one holds.
    gc.collect()
    raise refused


def _same_version(client: Any) -> None:
    """Another version would give other bytes."""
    try:
        answers = client.run(version)
    except ModuleNotFoundError as error:
        raise _no_worker("a worker has no flashtwin", "install this version there") from error
    if not answers:
        raise _no_worker("the cluster has no workers", "start some with dask worker ADDRESS")
    others = {worker: said for worker, said in answers.items() if said != version()}
    if others:
        worker, said = sorted(others.items())[0]
        raise _no_worker(f"worker {worker} has flashtwin {said}", f"this one is {version()}")


def version() -> str:
    """What decides the bytes of a run, of this process."""
    from flashtwin import _core

    return f"{__version__} (model {_core.MODEL})"


def _no_worker(message: str, hint: str) -> FlashtwinError:
    return FlashtwinError(message, hint=hint, exit_code=ENVIRONMENT)


def _ready(waiting: dict[Any, Order]) -> list[Any]:
    """Those that have ended; a moment's rest where none has."""
    done = [future for future in waiting if future.done()]
    if not done:
        time.sleep(POLL_S)
    return done


def _unpacked(order: Order, future: Any, place: Path) -> Ended:
    if future.status == "error":
        return order, _mistake(order, future.exception())
    if future.status != "finished":
        return order, failed(order, f"the cluster gave it up ({future.status})")
    failure, archive = future.result()
    if archive:
        unpack(archive, place)
    return order, failure
