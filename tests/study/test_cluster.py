"""A sweep on Dask: a scheduler and two worker processes of our own, and what may be wrong."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from flashtwin.drives import memory
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.runner import cluster as clusters
from flashtwin.runner.stop import Stop
from flashtwin.study.sweep.executors import Cluster, Local
from flashtwin.study.sweep.plan import Failure, Plan
from flashtwin.study.sweep.run import Silent, sweep


@pytest.fixture(scope="module")
def distributed() -> ModuleType:
    """Dask, which only the worker that runs these tests imports."""
    module: ModuleType = pytest.importorskip("distributed")
    return module


@pytest.fixture(scope="module")
def address(distributed: ModuleType) -> Iterator[str]:
    """Two worker processes on this machine."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    yield cluster.scheduler_address
    cluster.close()


@pytest.mark.full
def test_a_cluster_gives_the_same_bytes_as_this_machine(
    address: str, make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    here = sweep(make_plan(), tmp_path / "here", executor=Local(1))
    there = sweep(make_plan(), tmp_path / "there", executor=Cluster(address))
    assert there.failures == () and len(there.runs) == 4
    for file in sorted((tmp_path / "here").rglob("*")):
        other = tmp_path / "there" / file.relative_to(tmp_path / "here")
        if file.is_file() and file.name != "host.json":
            assert other.read_bytes() == file.read_bytes(), file.name
    assert here.out != there.out


def test_workers_of_one_machine_count_together() -> None:
    """Two busy workers of three have room; the first always works, and says itself what fails."""
    gib, workers = 1 << 30, [("a", 1), ("b", 1), ("c", 1)]
    needs = gib - memory.PROCESS_BYTES
    assert clusters.workers_with_room(workers, 2 * gib, needs) == ["a", "b"]
    assert clusters.workers_with_room(workers, gib // 2, needs) == ["a"]
    assert clusters.workers_with_room(workers, None, needs) == ["a", "b", "c"]
    assert clusters.workers_with_room([("a", 1), ("b", 8), ("c", 1)], 2 * gib, needs) == ["a", "c"]


@pytest.mark.full
def test_a_cluster_without_room_for_two_runs_one_after_the_other(
    address: str,
    make_plan: Callable[..., Plan],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clusters, "workers_with_room", lambda workers, free, needs: [workers[0][0]])
    done = sweep(make_plan(), tmp_path / "there", executor=Cluster(address))
    assert done.failures == () and len(done.runs) == 4


@pytest.mark.full
def test_a_worker_that_is_killed_loses_no_point(
    distributed: ModuleType, make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    """kill -9 in the middle of its points: they go to the other worker, and to its successor."""
    plan = make_plan("seed=1..6/6")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        killed: list[int] = []

        class Kills(Silent):
            def ended(self, done: int, total: int, name: str, failure: Failure | None) -> None:
                if not killed:
                    with distributed.Client(cluster.scheduler_address) as client:
                        killed.append(min(client.run(os.getpid).values()))
                    os.kill(killed[0], signal.SIGKILL)

        executor = Cluster(cluster.scheduler_address)
        there = sweep(plan, tmp_path / "there", executor=executor, watcher=Kills())
    assert killed and there.failures == () and len(there.runs) == 6
    here = sweep(plan, tmp_path / "here", executor=Local(2))
    assert (there.out / "table.csv").read_bytes() == (here.out / "table.csv").read_bytes()
    assert not list(there.out.rglob("*.new"))


class _Lost:
    """A client whose cluster has lost something."""

    def __init__(self, status: str, *, reachable: bool = True) -> None:
        self.status, self._reachable = status, reachable

    def nthreads(self) -> dict[str, int]:
        if not self._reachable:
            raise OSError("closed")
        return {}


@pytest.mark.parametrize(
    ("client", "since_s", "text"),
    [
        (_Lost("connecting"), 0.0, "does not answer any more"),
        (_Lost("running", reachable=False), 0.0, "does not answer any more"),
        (_Lost("running"), clusters.ALONE_S + 1, "has had no worker"),
    ],
)
def test_a_cluster_that_is_lost_is_told(client: _Lost, since_s: float, text: str) -> None:
    with pytest.raises(FlashtwinError, match=text) as raised:
        clusters._alone_since(client, "tcp://here:1", time.monotonic() - since_s)
    assert raised.value.exit_code == ENVIRONMENT
    assert "give the same command again" in (raised.value.hint or "")


def test_a_cluster_whose_worker_restarts_is_waited_for() -> None:
    began = time.monotonic()
    assert clusters._alone_since(_Lost("running"), "tcp://here:1", began) == began


class _Future:
    """A future that is seen as done, with the states that follow on one another when its result is
    asked for; the worker of "lost" died after it had ended, that of "gone" while it answered."""

    def __init__(self, *states: str) -> None:
        self._states = list(states)

    def done(self) -> bool:
        return True

    @property
    def status(self) -> str:
        state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        self._is_gone = state == "gone"
        return "finished" if self._is_gone else state

    def result(self, timeout: float) -> dict[str, str]:
        if self._is_gone:
            raise TimeoutError
        return {"value": "answer"}


def test_a_result_that_is_lost_with_its_worker_is_awaited_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    futures = [
        _Future("finished"),
        _Future("lost", "pending", "finished"),
        _Future("gone", "finished"),
    ]
    client = SimpleNamespace(cancel=lambda *_, **__: None, close=lambda timeout: None)
    monkeypatch.setattr(clusters, "_client", lambda address: client)
    monkeypatch.setattr(clusters, "_same_version", lambda client: None)
    monkeypatch.setattr(
        clusters, "_submitted", lambda client, works: (None, {f: n for n, f in enumerate(futures)})
    )
    monkeypatch.setattr(clusters, "_alone_since", lambda client, address, since: since)
    ended = list(clusters.Cluster("a")._run([], Stop()))
    assert [(one.number, one.value) for one in ended] == [(n, "answer") for n in (0, 2, 1)]


@pytest.mark.full
def test_nobody_at_the_address(
    distributed: ModuleType, make_plan: Callable[..., Plan], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(clusters, "CONNECT_S", 0.5)
    with pytest.raises(FlashtwinError, match="no scheduler answers") as raised:
        sweep(make_plan(), tmp_path / "a", executor=Cluster("tcp://127.0.0.1:9"))
    assert raised.value.exit_code == ENVIRONMENT and "dask scheduler" in (raised.value.hint or "")
    # One that is collected while the next is made stops both for ever.
    assert not [one for one in gc.get_objects() if isinstance(one, distributed.Client)]
    with pytest.raises(FlashtwinError, match="not the address of a scheduler") as raised:
        sweep(make_plan(), tmp_path / "b", executor=Cluster("nowhere://x"))
    assert raised.value.exit_code == USAGE


@pytest.mark.full
def test_a_worker_of_another_version_is_refused(
    address: str, make_plan: Callable[..., Plan], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(clusters, "__version__", "999.0")
    with pytest.raises(FlashtwinError, match="has flashtwin") as raised:
        sweep(make_plan(), tmp_path, executor=Cluster(address))
    assert raised.value.exit_code == ENVIRONMENT and "999.0" in (raised.value.hint or "")


@pytest.mark.full
def test_without_dask_the_extra_is_named(monkeypatch) -> None:
    def missing(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(clusters.importlib, "import_module", missing)
    with pytest.raises(FlashtwinError, match="needs Dask") as raised:
        clusters._distributed()
    assert raised.value.hint == "pip install 'flashtwin[cluster]'"
