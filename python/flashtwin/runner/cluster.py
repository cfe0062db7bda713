"""Work on the workers of a Dask cluster, as `pool` has it in processes of this machine.

Workers need this flashtwin and share no disk with us; what they give back is what a piece of work
gives. Of the workers of one machine as many are busy at once as have room there together.
Invariants: a piece whose worker is lost goes to another one, three times at most, even if it had
ended and its result was lost; a stop drops what is under way; a scheduler or all workers that are
lost are told by what went wrong; Dask is imported when a cluster is asked for, and prints nothing
of its own.
"""

from __future__ import annotations

import gc
import importlib
import logging
import platform
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from flashtwin import __version__, _core
from flashtwin.drives import memory
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner.pool import Ended, Send, Work
from flashtwin.runner.stop import Stop

# How long a stop may stay unseen, and how long a scheduler has to answer.
POLL_S = 0.2
CONNECT_S = 10.0
# A worker that was lost may have a successor, which takes seconds to start.
ALONE_S = 30.0


class Cluster:
    """The workers of the cluster whose scheduler has an address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def run(self, works: Sequence[Work], stop: Stop) -> Iterator[Ended]:
        """Carry out all work and yield each piece's end; see `pool.Pool.run`.

        Raises where the scheduler is lost, or all workers without a successor.
        """
        with _quiet():
            yield from self._run(works, stop)

    def _run(self, works: Sequence[Work], stop: Stop) -> Iterator[Ended]:
        client = _client(self._address)
        try:
            _same_version(client)
            workers, waiting = _submitted(client, dict(enumerate(works)))
            alone_since = time.monotonic()
            while waiting and not stop.asked:
                if workers is not None and not {*workers} & {*client.nthreads()}:
                    # All workers are lost: workers that started since take over.
                    client.cancel(list(waiting), force=True)
                    left = {number: works[number] for number in waiting.values()}
                    workers, waiting = _submitted(client, left)
                ready = [future for future in waiting if future.done()]
                if not ready:
                    time.sleep(POLL_S)
                # A scheduler that is gone takes all pieces with it: that is no failure of theirs.
                alone_since = _alone_since(client, self._address, alone_since)
                for future in ready:
                    ended = _ended(waiting[future], future)
                    if ended is not None:
                        del waiting[future]
                        yield ended
            client.cancel(list(waiting), force=True)
        finally:
            client.close(timeout=CONNECT_S)


def carried_out(call: Callable[[Send], Any]) -> Mapping[str, Any]:
    """What a worker answers: a value, or an error for whoever asked."""
    try:
        return {"value": call(lambda event, arguments: None)}
    except FlashtwinError as error:
        return {"error": error}
    except Interrupted:
        return {"mistake": "its worker was told to stop"}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from printing tracebacks of its own: what goes wrong is told here."""
    # Its loggers get their levels when it is imported, some of them one of their own.
    _distributed()
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _alone_since(client: Any, address: str, alone_since: float) -> float:
    """When the cluster last had a worker. Raises where its scheduler is gone, and where it has
    had no worker for too long."""
    again = "give the same command again; a sweep goes on with the points that are left"
    try:
        workers = client.nthreads() if client.status == "running" else None
    except OSError:
        workers = None
    if workers is None:
        raise _no_worker(f"the scheduler at {address} does not answer any more", again)
    if workers:
        return time.monotonic()
    if time.monotonic() - alone_since > ALONE_S:
        raise _no_worker(
            f"the cluster has had no worker for {ALONE_S:.0f} s",
            f"start some with dask worker ADDRESS; {again}",
        )
    return alone_since


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
            f"{address} is not the address of a scheduler: {error}",
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
    """Refuse workers with another version of flashtwin: their results would differ."""
    try:
        answers = client.run(version)
    except ModuleNotFoundError as error:
        raise _no_worker("a worker has no flashtwin", "install this version there") from error
    if not answers:
        raise _no_worker("the cluster has no workers", "start some with dask worker ADDRESS")
    others = {worker: other for worker, other in answers.items() if other != version()}
    if others:
        worker, other = sorted(others.items())[0]
        raise _no_worker(f"worker {worker} has flashtwin {other}", f"this one is {version()}")


def _submitted(client: Any, works: Mapping[int, Work]) -> tuple[list[str] | None, dict[Any, int]]:
    """The pieces under way, and the workers that may take them, where not all may."""
    chosen = _with_room(client, max(work.memory_bytes for work in works.values()))
    workers = None if {*chosen} == {*client.nthreads()} else chosen
    sent = {
        client.submit(carried_out, work.call, pure=False, workers=workers): number
        for number, work in works.items()
    }
    return workers, sent


def _ended(number: int, future: Any) -> Ended | None:
    """How a piece ended; none where its worker was lost with what it gave, so that it is carried
    out again."""
    match future.status:
        case "error":
            mistake = "".join(traceback.format_exception(future.exception()))
            return Ended(number=number, mistake=mistake)
        case "cancelled":
            return Ended(number=number, mistake="the cluster gave it up")
        case "finished":
            with suppress(TimeoutError):
                return Ended(number=number, **future.result(timeout=CONNECT_S))
    return None


def _with_room(client: Any, drive_bytes: int) -> list[str]:
    """The workers that may be busy at once: on each machine as many as fit into its memory, and
    at least one, which refuses a drive that does not fit by itself."""
    machines: dict[str, list[tuple[str, int]]] = {}
    answers = client.run(machine)
    for address, threads in sorted(client.nthreads().items()):
        if address in answers:
            machines.setdefault(answers[address][0], []).append((address, threads))
    free = {name: free_bytes for name, free_bytes in answers.values()}
    return [
        address
        for name, workers in machines.items()
        for address in workers_with_room(workers, free[name], drive_bytes)
    ]


def workers_with_room(
    workers: Sequence[tuple[str, int]], free_bytes: int | None, drive_bytes: int
) -> list[str]:
    """The workers of one machine whose drives fit into its memory together."""
    chosen, busy = [workers[0][0]], workers[0][1]
    for address, threads in workers[1:]:
        needed = (busy + threads) * (drive_bytes + memory.PROCESS_BYTES)
        if free_bytes is None or needed <= free_bytes:
            chosen.append(address)
            busy += threads
    return chosen


def machine() -> tuple[str, int | None]:
    """The machine on which this process runs, and its free memory."""
    try:
        name = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        name = platform.node()
    return name, memory.shared_bytes()


def version() -> str:
    """The versions in this process that a run's results depend on."""
    return f"{__version__} (model {_core.MODEL})"


def _no_worker(message: str, hint: str) -> FlashtwinError:
    return FlashtwinError(message, hint=hint, exit_code=ENVIRONMENT)
