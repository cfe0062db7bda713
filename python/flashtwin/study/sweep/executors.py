"""Where the points of a sweep run: processes on this machine, or the workers of a Dask cluster.

Both give points back in the order in which they end, as what failed or nothing. An order holds the
whole spec, so a worker needs neither the user's files nor the catalogue. The answer of a worker
that shares no disk is the run directory as a tar archive, its entries in order and without owner or
time, so that it says nothing of the worker. Invariants: a point that fails ends nothing but itself;
a stop reaches every worker, and what was under way counts as not done; the run directory is the
same byte for byte wherever a point ran.
"""

from __future__ import annotations

import gc
import importlib
import io
import logging
import os
import platform
import shutil
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from flashtwin import __version__, _core
from flashtwin._core import Spec
from flashtwin.catalogue.loader import load
from flashtwin.drives import memory
from flashtwin.drives.real.scratch import Scratch
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.outputs import disk
from flashtwin.runner import pool
from flashtwin.runner.events import unseen
from flashtwin.runner.pool import Pool, Send, Work
from flashtwin.runner.request import Request, test
from flashtwin.runner.stop import Stop
from flashtwin.runs import lock
from flashtwin.runs.folders import POINTS
from flashtwin.runs.storage import is_there, remove_tree
from flashtwin.runs.writer import holds_a_run_only
from flashtwin.study.sweep.plan import (
    Failure,
    Order,
    is_half_written,
    lying_at,
)

# How long a stop may stay unseen, and how long a scheduler has to answer.
POLL_S = 0.2
CONNECT_S = 10.0
# A worker that was lost may have a successor, which takes seconds to start.
ALONE_S = 30.0
# The beginning of the name of a folder in which a worker's answer is unpacked.
_HALF_UNPACKED = ".point-"

Ended = tuple[Order, Failure | None]


class Executor(Protocol):
    """Runs points and gives each back as it ends, until all are done or a stop is asked for.

    `at_once`: how many at a time, none where nobody knows before.
    """

    @property
    def at_once(self) -> int | None: ...

    def run(
        self, orders: Sequence[Order], place: Callable[[Order], Path], stop: Stop
    ) -> Iterator[Ended]: ...


def executor_of(jobs: int | None = None, cluster: str | None = None) -> Executor:
    """An executor with `jobs` processes here, or with the workers of a Dask scheduler."""
    if cluster is None:
        return Local(jobs)
    if jobs is not None:
        raise FlashtwinError(
            "--jobs is for this machine; a cluster decides by itself how many workers it has",
            hint="give --jobs or --cluster",
            exit_code=USAGE,
        )
    return Cluster(cluster)


class Local:
    """Processes on this machine, by default one a processor."""

    def __init__(self, at_once: int | None = None) -> None:
        self._most = at_once or len(os.sched_getaffinity(0))

    @property
    def at_once(self) -> int | None:
        """The number of processes."""
        return self._most

    def run(
        self, orders: Sequence[Order], place: Callable[[Order], Path], stop: Stop
    ) -> Iterator[Ended]:
        """See `Executor`. As many side by side as have room in memory.

        A worker that is killed in spite of that ends the sweep with an error.
        """
        memory.check(spec_of(max(orders, key=lambda order: order.memory_bytes)))
        works = [
            Work(call=partial(_run, order, place(order)), memory_bytes=order.memory_bytes)
            for order in orders
        ]
        for happened in Pool(self._most).run(works, stop):
            assert isinstance(happened, pool.Ended), "a point tells nothing on its way"
            order = orders[happened.number]
            if happened.exit_code is not None:
                raise FlashtwinError(
                    "a worker process was killed before its point was complete",
                    hint="is there enough memory? take --jobs 1; the same command goes on",
                    exit_code=ENVIRONMENT,
                )
            yield order, _mistake(order, happened.mistake) if happened.mistake else happened.value


def _run(order: Order, place: Path, report: Send) -> Failure | None:
    return run_point(order, place)


class Cluster:
    """The workers of a Dask cluster; they need this flashtwin, and share no disk with us.

    Of the workers of one machine as many are busy at once as have room there together.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    @property
    def at_once(self) -> int | None:
        """The workers that the cluster will have."""
        return None

    def run(
        self, orders: Sequence[Order], place: Callable[[Order], Path], stop: Stop
    ) -> Iterator[Ended]:
        """See `Executor`. A point whose worker is lost goes to another one, three times at most.

        Raises where the scheduler is lost, or all workers without a successor.
        """
        with _quiet():
            yield from self._run(orders, place, stop)

    def _run(
        self, orders: Sequence[Order], place: Callable[[Order], Path], stop: Stop
    ) -> Iterator[Ended]:
        client = _client(self._address)
        try:
            _same_version(client)
            workers, waiting = _submitted(client, orders)
            alone_since = time.monotonic()
            while waiting and not stop.asked:
                if workers is not None and not {*workers} & {*client.nthreads()}:
                    # All workers are lost: workers that started since take over.
                    client.cancel(list(waiting), force=True)
                    workers, waiting = _submitted(client, list(waiting.values()))
                ready = _ready(waiting)
                # A scheduler that is gone takes all points with it: that is no failure of theirs.
                alone_since = _alone_since(client, self._address, alone_since)
                for future in ready:
                    order = waiting.pop(future)
                    yield _unpacked(order, future, place(order))
            client.cancel(list(waiting), force=True)
        finally:
            client.close(timeout=CONNECT_S)


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
    goes_on = "the same command goes on with the points that are left"
    try:
        workers = client.nthreads() if client.status == "running" else None
    except OSError:
        workers = None
    if workers is None:
        raise _no_worker(f"the scheduler at {address} does not answer any more", goes_on)
    if workers:
        return time.monotonic()
    if time.monotonic() - alone_since > ALONE_S:
        raise _no_worker(
            f"the cluster has had no worker for {ALONE_S:.0f} s",
            f"start some with dask worker ADDRESS; {goes_on}",
        )
    return alone_since


def _mistake(order: Order, text: str) -> Failure:
    """The failure of a point by a bug of ours, with the whole traceback."""
    return failed(order, text.rstrip(), "this is a mistake in flashtwin; please report it")


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


def _submitted(client: Any, orders: Sequence[Order]) -> tuple[list[str] | None, dict[Any, Order]]:
    """The points under way, and the workers that may take them, where not all may."""
    chosen = _with_room(client, max(order.memory_bytes for order in orders))
    workers = None if {*chosen} == {*client.nthreads()} else chosen
    sent = {client.submit(run_apart, order, pure=False, workers=workers): order for order in orders}
    return workers, sent


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


def _ready(waiting: dict[Any, Order]) -> list[Any]:
    """The futures that are done; where none is, sleep for a moment."""
    ended = [future for future in waiting if future.done()]
    if not ended:
        time.sleep(POLL_S)
    return ended


def _unpacked(order: Order, future: Any, place: Path) -> Ended:
    if future.status == "error":
        return order, _mistake(order, "".join(traceback.format_exception(future.exception())))
    if future.status != "finished":
        return order, failed(order, f"the cluster gave it up ({future.status})")
    failure, archive = future.result()
    if archive and lying_at(place, order) == "another":
        return order, failed(order, f"{place} is not the run of this point", "move it away")
    if archive:
        unpack(archive, place)
    return order, failure


def run_point(order: Order, place: Path) -> Failure | None:
    """Run a point into `place`; what an earlier attempt at it left there is removed."""
    if lock.is_held(place):
        # A worker of a sweep that was killed may still hold the directory while it ends.
        return failed(
            order, f"another process is writing {place}", "the same command tries it again"
        )
    if lying_at(place, order) == "another":
        return failed(order, f"{place} is not the run of this point", "move it away")
    try:
        with disk(place, "replace"):
            if is_there(place):
                shutil.rmtree(place)
            place.parent.mkdir(parents=True, exist_ok=True)
        test(_request(order, place), unseen)
    except FlashtwinError as error:
        # The next point would meet the same full disk, so the sweep ends.
        ends = error.exit_code == ENVIRONMENT
        return replace(failed(order, error.message, error.hint), ends=ends)
    return None


def _request(order: Order, place: Path) -> Request:
    """The request of a point. Its prepared drives are not kept: they are of use once, and would
    push others out of the store."""
    return Request(
        targets=(spec_of(order).to_toml(),),
        batteries=order.batteries,
        seed=order.seed,
        command=order.command,
        kept=False,
        out=place,
    )


def run_apart(order: Order) -> tuple[Failure | None, bytes]:
    """Run a point in a directory of the worker's own, and send the directory."""
    with Scratch("point") as scratch:
        place = scratch.path / "run"
        try:
            failure = run_point(order, place)
        except Interrupted:
            return failed(order, "its worker was told to stop"), b""
        if failure is not None:
            # Another machine may have the memory or the program that this one lacks.
            failure = replace(failure, ends=False)
        return failure, _packed(place) if place.exists() else b""


def tidy(out: Path) -> None:
    """Remove what a sweep that was killed left of files that it was writing and of an answer that
    it was unpacking; nobody else may be carrying it out. A folder in which anything but a run lies
    stays."""
    with disk(out, "remove"):
        for file in filter(is_half_written, out.iterdir()):
            file.unlink()
    for folder in (out / POINTS).glob(f"{_HALF_UNPACKED}????????"):
        names = {inside.name for inside in folder.iterdir()} if folder.is_dir() else {""}
        if names <= {"run"} and (not names or holds_a_run_only(folder / "run")):
            with disk(folder, "remove"):
                remove_tree(folder)


def unpack(archive: bytes, place: Path) -> None:
    """Put the run directory of a worker where it belongs, in the place of an earlier attempt."""
    with disk(place, "write"):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=_HALF_UNPACKED) as folder:
            unfinished = Path(folder) / "run"
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(unfinished, filter="data")
            if place.exists():
                shutil.rmtree(place)
            os.replace(unfinished, place)


def failed(order: Order, message: str, hint: str | None = None) -> Failure:
    """A point without a result."""
    return Failure(number=order.point.number, name=order.point.name, message=message, hint=hint)


def spec_of(order: Order) -> Spec:
    """The drive of a point, from the text in its order."""
    spec = load(order.toml)
    assert spec.hash == order.hash, f"point {order.point.number} is another drive here"
    return spec


def _packed(place: Path) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as tar:
        for path in sorted(place.rglob("*")):
            member = tar.gettarinfo(str(path), arcname=str(path.relative_to(place)))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = 0
            if path.is_file():
                with path.open("rb") as file:
                    tar.addfile(member, file)
            else:
                tar.addfile(member)
    return sink.getvalue()
