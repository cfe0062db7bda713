"""Several targets at once: true processes, with drives in closed form."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from fakes import FakeDrive, Law
from processes import group_lives, wait_for

from flashtwin.drives import memory
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.outputs import check_empty
from flashtwin.runner import target as targets
from flashtwin.runner.batch import Task, directories, run_tasks
from flashtwin.runner.events import Observer, Status
from flashtwin.runner.target import Target, Variant, twin_target

GB = 10**9
FILL = [("fill", {"patterns": "1m-q1"})]


class Heard(Observer):
    """What one observer was told."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.targets: set[str] = set()
        self.found_ids: list[str] = []
        self.closed_at: list[Path] = []

    def began(self, status: Status) -> None:
        self.labels.append(status.label)
        self.targets.add(status.target)

    def found(self, battery: str, findings: object) -> None:
        self.found_ids += [one.id for one in findings]  # type: ignore[attr-defined]

    def closed(self, run: object) -> None:
        self.closed_at.append(run.path)  # type: ignore[attr-defined]


def task(name: str, place: Path, *, apart: bool = True, seed: int = 1, **drive: object) -> Task:
    law = Law(capacity_bytes=240 * GB)
    make = partial(FakeDrive, law=law, name=name, **drive)  # type: ignore[arg-type]
    target = Target(name=name, make=make, apart=apart)
    return Task(target=target, batteries=FILL, place=place, observer=Heard(), seed=seed)


def test_runs_come_back_in_order_and_each_observer_hears_its_own(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    spots = directories(names, tmp_path)
    tasks = [task(name, place, seed=3) for name, place in zip(names, spots, strict=True)]
    runs = run_tasks(tasks, at_once=2)
    assert [run.target["name"] for run in runs] == names
    for one, run in zip(tasks, runs, strict=True):
        heard = one.observer
        assert isinstance(heard, Heard)
        assert heard.targets == {one.target.name}
        assert "fill/1m-q1/pass-1" in heard.labels
        assert "fill.cache_size[1m-q1]" in heard.found_ids
        assert heard.closed_at == [run.path]
        assert run.finished and run.manifest["seed"] == 3


def test_side_by_side_gives_the_same_bytes_as_alone(tmp_path: Path) -> None:
    run_tasks([task("a", tmp_path / "alone")])
    run_tasks([task("a", tmp_path / "two" / "a"), task("b", tmp_path / "two" / "b")])
    names = sorted(path.name for path in (tmp_path / "alone").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "two" / "a").iterdir())
    for name in names:
        if name != "host.json":
            assert (tmp_path / "alone" / name).read_bytes() == (
                tmp_path / "two" / "a" / name
            ).read_bytes(), name


def test_a_real_target_is_measured_alone_and_here(tmp_path: Path) -> None:
    tasks = [
        task("a", tmp_path / "a"),
        task("real", tmp_path / "real", apart=False),
        task("b", tmp_path / "b"),
    ]
    runs = run_tasks(tasks)
    ended = [run.host["ended"] for run in runs]
    assert [run.target["name"] for run in runs] == ["a", "real", "b"]
    assert ended[1] <= min(ended[0], ended[2])


def test_the_first_error_stops_the_others_and_says_which_drive(tmp_path: Path) -> None:
    good = task("good", tmp_path / "good")
    broken = task("bad", tmp_path / "bad", fails_at="fill/1m-q1/pass-1")
    with pytest.raises(RuntimeError, match=r"(?s)bad: .*broke at fill/1m-q1/pass-1"):
        run_tasks([good, broken])
    assert json.loads((tmp_path / "bad" / "manifest.json").read_text())["state"] == "failed"


def test_an_error_of_the_user_keeps_its_hint_and_code(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "something").write_text("")
    with pytest.raises(FlashtwinError, match="is not empty") as raised:
        run_tasks([task("a", tmp_path / "a"), task("b", tmp_path / "b")])
    assert raised.value.exit_code == 2
    assert "--out" in str(raised.value.hint)


def test_a_run_goes_nowhere_where_somebody_else_has_something(tmp_path: Path) -> None:
    check_empty(tmp_path / "new", "")
    check_empty(tmp_path, "")
    assert directories(["x"], tmp_path / "new") == [tmp_path / "new"]
    assert directories(["x", "y"], tmp_path) == [tmp_path / "x", tmp_path / "y"]
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FlashtwinError, match="is not empty"):
        check_empty(tmp_path, "")
    with pytest.raises(FlashtwinError, match="is not a directory"):
        check_empty(tmp_path / "notes.txt", "")


SLOW = """
import os, time
from fakes import FakeDrive
from flashtwin.model.target import Interrupted, Progress

class Slow(FakeDrive):
    def do(self, step, watch):
        if step.label.endswith("pass-2"):
            os.write(1, b"slow" + bytes([10]))  # in one piece: two processes share the pipe
            while watch(Progress(bytes=0, drive_s=0.0)):
                time.sleep(0.01)
            raise Interrupted(step.label)
        return super().do(step, watch)

# A worker runs no program of its parent's, and so the drive stands in a module of its own.
import sys
from functools import partial
from pathlib import Path
from slow_drive import Slow
from flashtwin.model.target import Interrupted
from flashtwin.runner.batch import Task, run_tasks
from flashtwin.runner.target import Target

if __name__ == "__main__":
    out = Path(sys.argv[1])
    tasks = [
        Task(target=Target(name=n, make=partial(Slow, name=n), apart=True), place=out / n,
             batteries=[("fill", {"patterns": "1m-q1"})])
        for n in "ab"
    ]
    try:
        run_tasks(tasks, at_once=2)
    except Interrupted as stop:
        print("stopped:", stop, flush=True)
        sys.exit(130)
"""


def _two_slow(folder: Path, text: str) -> subprocess.Popen[str]:
    """Two runs on drives that go on until they are stopped, once both have begun."""
    drive, program = text.split("# A worker", 1)
    (folder / "slow_drive.py").write_text(drive)
    (folder / "slow.py").write_text(f"# A worker{program}")
    paths = [str(Path(__file__).parent.parent), *sys.path]
    process = subprocess.Popen(
        [sys.executable, str(folder / "slow.py"), str(folder / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert process.stdout is not None
    assert [process.stdout.readline().strip() for _ in "ab"] == ["slow", "slow"]
    assert group_lives(process.pid)
    return process


@pytest.mark.parametrize("to_group", [True, False], ids=["Ctrl-C", "kill of the parent"])
def test_a_stop_reaches_every_process_and_keeps_what_is_done(
    tmp_path: Path, to_group: bool
) -> None:
    process = _two_slow(tmp_path, SLOW)
    if to_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "what was finished is in" in out
    assert "Traceback" not in err
    for name in "ab":
        manifest = json.loads((tmp_path / "out" / name / "manifest.json").read_text())
        assert manifest["state"] == "interrupted"
        assert "fill/1m-q1/pass-1" in [step["label"] for step in manifest["steps"]]
    assert wait_for(lambda: not group_lives(process.pid))


def test_a_parent_that_is_killed_takes_its_runs_with_it(tmp_path: Path) -> None:
    """kill -9: the children hear it as they tell, close what they write, and say nothing."""
    telling = SLOW.replace("bytes=0, drive_s=0.0", "bytes=1, drive_s=1.0")
    process = _two_slow(tmp_path, telling)
    process.kill()
    _, err = process.communicate(timeout=60)
    assert wait_for(lambda: not group_lives(process.pid))
    assert "Traceback" not in err, err
    for name in "ab":
        manifest = json.loads((tmp_path / "out" / name / "manifest.json").read_text())
        assert manifest["state"] == "interrupted"


class Ordered(Observer):
    """Tells when its run began and when it was over, into a list of all."""

    def __init__(self, name: str, events: list[tuple[str, str]]) -> None:
        self._name, self._events = name, events

    def estimated(self, info: object, estimate: object, departs: object) -> None:
        self._events.append(("begins", self._name))

    def closed(self, run: object) -> None:
        self._events.append(("ends", self._name))


@pytest.mark.parametrize("together", [1, 2])
def test_only_so_many_run_at_once_as_have_room_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    each = 10**9
    there = together * (each + memory.PROCESS_BYTES)
    monkeypatch.setattr(memory, "shared_bytes", lambda: there)
    events: list[tuple[str, str]] = []
    tasks = []
    for name in "abc":
        given = task(name, tmp_path / name)
        target = replace(given.target, memory_bytes=each)
        tasks.append(replace(given, target=target, observer=Ordered(name, events)))
    runs = run_tasks(tasks, at_once=3)
    assert all(run.finished for run in runs)
    under_way = most = 0
    for what, _ in events:
        under_way += 1 if what == "begins" else -1
        most = max(most, under_way)
    assert 1 <= most <= together


def test_a_target_that_does_not_fit_is_refused_before_any_of_them_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**8)
    with pytest.raises(FlashtwinError, match="of memory to simulate") as refused:
        twin_target(Variant(drive="bx500-240"))
    assert refused.value.exit_code == 3 and "--scale 1/" in str(refused.value.hint)
    assert twin_target(Variant(drive="bx500-240", scale="1/16")).memory_bytes < 10**8


def test_processes_have_room_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "shared_bytes", lambda: 5 * (10**9 + memory.PROCESS_BYTES))
    assert memory.processes(8, 10**9) == 5
    assert memory.processes(3, 10**9) == 3
    assert memory.processes(8, 10**12) == 1
    monkeypatch.setattr(memory, "shared_bytes", lambda: None)
    assert memory.processes(8, 10**9) == 8


def test_a_path_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    """A run would name another file, and could not be resumed."""
    with pytest.raises(FlashtwinError, match="not UTF-8") as refused:
        targets.free_path(f"{tmp_path}/pr\udcffobe.bin", sized=True)
    assert refused.value.exit_code == USAGE
