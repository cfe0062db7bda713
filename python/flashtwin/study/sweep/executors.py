"""Where the points of a sweep run: processes on this machine, or the workers of a Dask cluster.

Both give points back in the order in which they end, as what failed or nothing. An order holds the
whole spec, so a worker needs neither the user's files nor the catalogue. The answer of a worker
that shares no disk is the run directory as a tar archive, its entries in order and without owner or
time, so that it says nothing of the worker. Invariants: a point that fails ends nothing but itself;
a stop reaches every worker, and what was under way counts as not done; the run directory is the
same byte for byte wherever a point ran.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from flashtwin import system
from flashtwin._core import Spec
from flashtwin.catalogue.loader import load
from flashtwin.drives import memory
from flashtwin.drives.real.scratch import Scratch
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.outputs import disk
from flashtwin.runner import cluster as clusters
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
        self._most = at_once or system.processors()

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
    """The workers of a Dask cluster; see `runner.cluster`."""

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
        works = [
            Work(call=partial(run_apart, order), memory_bytes=order.memory_bytes)
            for order in orders
        ]
        for happened in clusters.Cluster(self._address).run(works, stop):
            order = orders[happened.number]
            yield _unpacked(order, happened, place(order))


def _mistake(order: Order, text: str) -> Failure:
    """The failure of a point by a bug of ours, with the whole traceback."""
    return failed(order, text.rstrip(), "this is a mistake in flashtwin; please report it")


def _unpacked(order: Order, happened: pool.Ended, place: Path) -> Ended:
    if happened.mistake is not None:
        return order, _mistake(order, happened.mistake)
    assert happened.value is not None, "a point tells of its failures itself"
    failure, archive = happened.value
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


def run_apart(order: Order, _report: Send) -> tuple[Failure | None, bytes]:
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
            # Names that would lead out of the folder are cut as they are unpacked; archives of tar
            # have that from Python 3.11.4 on.
            with zipfile.ZipFile(io.BytesIO(archive)) as packed:
                packed.extractall(unfinished)
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
    with zipfile.ZipFile(sink, "w") as packed:
        for path in sorted(place.rglob("*")):
            name = path.relative_to(place).as_posix()
            # Of 1980 unless told otherwise: the same run is the same bytes.
            if path.is_file():
                packed.writestr(zipfile.ZipInfo(name), path.read_bytes())
            else:
                packed.writestr(zipfile.ZipInfo(f"{name}/"), b"")
    return sink.getvalue()
