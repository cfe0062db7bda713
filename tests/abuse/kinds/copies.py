"""Copies of runs, and sweeps in whose folder something else lies: nothing that is not ours goes."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

from sandbox import Sandbox

from kinds.prepared import FILE, SWEEP, contents


def copied(box: Sandbox) -> None:
    """A run on a file that was killed, and copies of it: of all of them one goes on."""
    box.call(*FILE, "--out", "run", stop_after_s=1 + box.rng.random() * 2, number=signal.SIGKILL)
    probe, run = box.inside / "probe.bin", box.inside / "run"
    if not probe.exists() or not (run / "manifest.json").exists():
        return
    shutil.copytree(run, box.inside / "copy")
    owner = "run"
    for _ in range(box.rng.randrange(1, 5)):
        name = box.rng.choice(("run", "copy"))
        draw = box.rng.random()
        if draw < 0.3:
            adopted = box.call("runs", "adopt", name)
            owner = name if adopted.code == 0 else owner
        elif draw < 0.7 and name != owner:
            box.call("runs", "prune", name, "--keep", "0", "--yes", codes=(0,))
            _is_left(box, probe)
            break
        elif name != owner:
            box.call("test", "--resume", name, "--quiet", codes=(4,))
            _is_left(box, probe)
    box.call("test", "--resume", owner, "--quiet", codes=(0,))
    if probe.exists():
        box.fail("a run that went on left its file")


def _is_left(box: Sandbox, probe: Path) -> None:
    if not probe.exists():
        box.fail("a copy of a run removed the run's file")


def sweep(box: Sandbox) -> None:
    """A finished sweep in which points were exchanged, taken away or replaced."""
    out = box.inside / "sweep"
    shutil.copytree(box.prepared / "sweep", out)
    points = sorted((out / "points").iterdir())
    first, second = box.rng.sample(points, 2)
    change = box.rng.choice((_exchanged, _of_another, _somebody_s, _findings, _gone))
    may_go_on = change(first, second)
    before = contents(out)
    ended = box.call(*SWEEP, "--out", "sweep")
    if ended.code == 0 and not may_go_on:
        box.fail("a sweep believed a point that is another's")
    if ended.code == 0 and _table(out) != _table(box.prepared / "sweep"):
        box.fail("a sweep wrote another table")
    if ended.code != 0 and contents(out) != before:
        box.fail("a sweep that was refused changed its folder")


def _table(out: Path) -> bytes:
    return (out / "table.csv").read_bytes()


def _exchanged(first: Path, second: Path) -> bool:
    aside = first.with_name("aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
    return False


def _of_another(first: Path, second: Path) -> bool:
    shutil.rmtree(first)
    shutil.copytree(second, first)
    return False


def _somebody_s(first: Path, second: Path) -> bool:
    shutil.rmtree(first)
    first.mkdir()
    (first / "thesis.txt").write_text("mine")
    return False


def _findings(first: Path, second: Path) -> bool:
    shutil.copy(second / "findings.json", first / "findings.json")
    return True


def _gone(first: Path, second: Path) -> bool:
    shutil.rmtree(first)
    return True


def killed(box: Sandbox) -> None:
    """A sweep that is killed up to three times ends with the bytes of one that was not."""
    for _ in range(box.rng.randrange(1, 4)):
        seconds = box.rng.random() * 2
        box.call(*SWEEP, "--out", "sweep", stop_after_s=seconds, number=signal.SIGKILL)
    box.call(*SWEEP, "--out", "sweep", codes=(0,))
    if contents(box.inside / "sweep") != contents(box.prepared / "sweep"):
        box.fail("a sweep that was killed differs from one that was not")
