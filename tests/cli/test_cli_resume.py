"""`flashtwin test --resume` as a user has it: after kill -9, of one run, of several, of a file."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from processes import reached
from program import begun, flashtwin

from flashtwin import _core
from flashtwin.errors import FlashtwinError
from flashtwin.runs import folders, lock
from flashtwin.runs.rundir import SCHEMA
from flashtwin.runs.writer import Writer

assert _core.load_spec, "these tests need the compiled part"

BATTERY = "crystaldiskmark:profile=real,mix=off,loops=1,size=64MiB,fill:patterns=1m-q1,passes=1"
PAIR = ["bx500-240", "bx500-240-nocache"]


def contents(run: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name not in ("host.json", "report.html")
    }


def killed_after(seconds: float, *words: str, cwd: Path) -> bool:
    """Run it and kill it with all its processes after so long; false if it was done before."""
    process = begun(*words, cwd=cwd)
    try:
        _, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    assert process.returncode == 0, err
    return False


@pytest.mark.full
@pytest.mark.parametrize("targets", [pytest.param(PAIR[:1], marks=pytest.mark.full), PAIR])
def test_killed_at_random_moments_it_ends_the_same(tmp_path: Path, targets: list[str]) -> None:
    """Moments from a fixed seed; on a slow machine they fall into other steps, which is as good."""
    words = ["test", *targets, "--scale", "1/64", "--battery", BATTERY, "--seed", "5"]
    began = time.monotonic()
    whole = flashtwin(*words, "--out", "whole", cwd=tmp_path)
    took = time.monotonic() - began
    assert whole.returncode == 0, whole.stderr
    moments = random.Random(len(targets))
    killed = 0
    share = moments.uniform(0.4, 0.8)
    while not killed_after(took * share, *words, "--out", "run", cwd=tmp_path):
        # The machine was busy while the whole run was timed, and is quicker now.
        shutil.rmtree(tmp_path / "run")
        share /= 2
    killed += 1
    for _ in range(2):
        if not (tmp_path / "run").exists():
            continue
        share = took * moments.uniform(0.5, 0.9)
        killed += killed_after(share, "test", "--resume", "run", "--quiet", cwd=tmp_path)
    if not (tmp_path / "run").exists() or not list((tmp_path / "run").rglob("manifest.json")):
        pytest.skip("killed before anything was written, each time")
    done = flashtwin("test", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert killed and done.stdout == whole.stdout.replace("whole/report", "run/report").replace(
        "show whole", "show run"
    )
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    assert (tmp_path / "run" / "report.html").exists()
    again = flashtwin("test", "--resume", "run", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert again.stderr.splitlines() == ["run is finished: nothing was left to do"]


def test_killed_after_its_manifest_a_run_is_finished_by_resuming(tmp_path: Path) -> None:
    """A writer that was killed between its manifest and its summary leaves the tables that only a
    resumption reads, and no summary."""
    words = ["test", PAIR[0], "--scale", "1/64", "--battery", "fill:patterns=1m-q1,passes=1"]
    assert flashtwin(*words, "--out", "run", cwd=tmp_path).returncode == 0
    whole = contents(tmp_path / "run")
    (tmp_path / "run" / "summary.json").unlink()
    (tmp_path / "run" / "steps.tables").touch()
    assert contents(tmp_path / "run") != whole
    again = flashtwin("test", "--resume", "run", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert contents(tmp_path / "run") == whole


@pytest.mark.full
def test_several_of_which_some_never_began(tmp_path: Path) -> None:
    """As one processor leaves them: the first under way, the second not begun."""
    words = ["test", *PAIR, "--scale", "1/64", "--battery", BATTERY]
    whole = flashtwin(*words, "--out", "whole", cwd=tmp_path)
    assert whole.returncode == 0 and not (tmp_path / "whole" / "plan.json").exists()
    process = begun(*words, "--out", "run", cwd=tmp_path)
    journals = [tmp_path / "run" / name / "steps.jsonl" for name in PAIR]
    reached(process, lambda: all(path.exists() for path in journals))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "flashtwin test --resume run goes on" in err
    plan = json.loads((tmp_path / "run" / "plan.json").read_text())
    assert [row["place"] for row in plan["tasks"]] == PAIR
    shutil.rmtree(tmp_path / "run" / PAIR[1])
    done = flashtwin("test", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_the_drive_may_be_gone_from_the_catalogue(tmp_path: Path) -> None:
    """What was resolved is in the manifest: the user's own spec is removed on the way."""
    spec = tmp_path / "mine.toml"
    head = ["schema = 1", 'id = "mine"', 'name = "Mine"', 'extends = "bx500-240"']
    head += ['origin = "user"', 'source = "a test"', "[slc_cache]", 'size = "12 GB"', ""]
    spec.write_text("\n".join(head))
    words = ["test", "mine.toml", "--scale", "1/64", "--battery", BATTERY]
    assert flashtwin(*words, "--out", "whole", cwd=tmp_path).returncode == 0
    _interrupt(tmp_path, "cdm/prepare", *words, "--out", "run")
    spec.unlink()
    done = flashtwin("test", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def _interrupt(cwd: Path, label: str, *words: str, number: signal.Signals = signal.SIGINT) -> str:
    """Run it until the journal of `run` has a step, then stop it; what it said."""
    process = begun(*words, cwd=cwd)
    journal = cwd / "run" / "steps.jsonl"
    reached(process, lambda: journal.exists() and f'"{label}' in journal.read_text())
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    return err


FILE = "fill:patterns=1m-q1,passes=2,idle_s=3s"
fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@fio
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.full), signal.SIGKILL]
)
def test_a_file_is_made_again_or_used_again(tmp_path: Path, number: signal.Signals) -> None:
    words = ["test", "./probe.bin", "--size", "32MiB", "--battery", FILE, "--out", "run"]
    _interrupt(tmp_path, "fill/1m-q1/pass-1/found", *words, number=number)
    left = (tmp_path / "probe.bin").exists()
    assert left == (number == signal.SIGKILL)
    steps = (tmp_path / "run" / "steps.jsonl").read_text().splitlines()
    done = flashtwin("test", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "probe.bin").exists()
    after = (tmp_path / "run" / "steps.jsonl").read_text().splitlines()
    assert after[: len(steps)] == steps
    rows = [json.loads(line) for line in after]
    first = next(row for row in rows[len(steps) :] if row["kind"] != "mark")
    how = "on the file that the interrupted run left" if left else "on a file that was made again"
    assert f"taken up {how}" in first["note"]
    starts = [row["start_ns"] for row in rows if not row["not_possible"]]
    assert starts == sorted(starts)
    host = json.loads((tmp_path / "run" / "host.json").read_text())
    assert len(host["sessions"]) == 2 and host["wall_s"] > 0
    assert "fill.second_pass.mean[1m-q1]" in (tmp_path / "run" / "findings.json").read_text()


@fio
def test_of_a_killed_run_and_its_copy_one_goes_on(tmp_path: Path) -> None:
    words = ["test", "./probe.bin", "--size", "32MiB", "--battery", FILE, "--out", "run"]
    _interrupt(tmp_path, "fill/1m-q1/pass-1/found", *words, number=signal.SIGKILL)
    probe = tmp_path / "probe.bin"
    if "user.flashtwin" not in os.listxattr(probe):
        pytest.skip("the file system has no extended attributes")
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    shutil.copytree(tmp_path / "run", tmp_path / "other")
    before = contents(tmp_path / "copy")
    done = flashtwin("test", "--resume", "copy", cwd=tmp_path)
    assert done.returncode == 4 and "belongs to another directory than copy" in done.stderr
    assert "flashtwin runs adopt copy" in done.stderr and contents(tmp_path / "copy") == before
    done = flashtwin("runs", "prune", "copy", "--keep", "0", "--yes", cwd=tmp_path)
    assert done.returncode == 0 and probe.exists() and not (tmp_path / "copy").exists()
    assert "is left: it belongs to another directory" in done.stderr
    done = flashtwin("runs", "adopt", "other", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and "belongs to other" in done.stdout
    done = flashtwin("test", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 4 and "belongs to another directory than run" in done.stderr
    done = flashtwin("test", "--resume", "other", cwd=tmp_path)
    assert done.returncode == 0 and not probe.exists(), done.stderr


@pytest.mark.full
@fio
def test_another_file_in_its_place_is_not_touched(tmp_path: Path) -> None:
    words = ["test", "./probe.bin", "--size", "32MiB", "--battery", FILE, "--out", "run"]
    _interrupt(tmp_path, "fill/1m-q1/pass-1/found", *words, number=signal.SIGKILL)
    # A new file of the same size: on many file systems it gets the inode of the old one.
    (tmp_path / "probe.bin").unlink()
    mine = b"mine" * (8 << 20)
    (tmp_path / "probe.bin").write_bytes(mine)
    before = contents(tmp_path / "run")
    done = flashtwin("test", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "is a file that is there already" in done.stderr
    assert (tmp_path / "probe.bin").read_bytes() == mine
    assert contents(tmp_path / "run") == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--battery", "fill"], "leave out --battery"),
        (["--seed", "3", "--budget", "5m"], "leave out --budget, --seed"),
    ],
)
def test_nothing_can_be_asked_of_a_run_that_was_asked_for(
    run: Callable[..., Result], words: list[str], said: str
) -> None:
    done = run("test", "--resume", "r", *words)
    assert done.exit_code == 2 and said in done.stderr


def test_two_processes_on_the_folder_of_several(run: Callable[..., Result], tmp_path: Path) -> None:
    task = {"target": {"kind": "twin"}, "batteries": [], "budget_s": None}
    folders.write_plan(
        tmp_path / "r", {"seed": 1, "command": [], "tasks": [{"place": "a", **task}]}
    )
    with lock.holding(tmp_path / "r", folders.PLAN):
        done = run("test", "--resume", "r")
    assert done.exit_code == 2 and "error: another process is writing r" in done.stderr


GOLDEN = Path(__file__).parents[1] / "golden" / "runs"


@pytest.mark.parametrize("words", [["bx500-240"], ["./bx500-240.toml"], []])
def test_a_run_s_own_target_may_stand_beside_resume(
    run: Callable[..., Result], tmp_path: Path, words: list[str]
) -> None:
    shutil.copytree(GOLDEN / "finished", tmp_path / "r")
    done = run("test", *words, "--resume", "r")
    assert done.exit_code == 0 and "nothing was left to do" in done.stderr, done.output


@pytest.mark.parametrize(
    "words", [["paper"], ["bx500-240", "bx500-240-nocache"], ["/elsewhere/file"]]
)
def test_another_target_than_the_run_s_is_refused(
    run: Callable[..., Result], tmp_path: Path, words: list[str]
) -> None:
    shutil.copytree(GOLDEN / "finished", tmp_path / "r")
    before = contents(tmp_path / "r")
    done = run("test", *words, "--resume", "r")
    assert done.exit_code == 2 and f"r is a run of bx500-240, and not of {words[-1]}" in done.stderr
    assert "hint: flashtwin test --resume r goes on with it" in done.stderr
    assert contents(tmp_path / "r") == before


def test_one_of_several_targets_does_not_stand_for_all(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        shutil.copytree(GOLDEN / "finished", tmp_path / "r" / name)
    tasks = [
        {"place": name, "target": target, "batteries": [], "budget_s": None}
        for name, target in (
            ("c", {"kind": "twin", "name": "c", "toml": "", "seed": 1}),
            ("d", {"kind": "file", "path": "/mnt/d", "size_bytes": 1}),
        )
    ]
    folders.write_plan(tmp_path / "r", {"seed": 1, "command": [], "tasks": tasks})
    done = run("test", "c", "--resume", "r")
    assert done.exit_code == 2 and "r is a run of c, d, and not of one of them" in done.stderr
    done = run("test", "c", "/srv/d", "--resume", "r")
    assert done.exit_code == 2 and "r is a run of c, d, and not of /srv/d" in done.stderr


@pytest.mark.parametrize("name", ["steps.tables", "smart"])
def test_a_run_does_not_go_on_through_a_link(tmp_path: Path, name: str) -> None:
    """What lies where the link leads is somebody's: it was swept as a run's own files are."""
    shutil.copytree(GOLDEN / "interrupted", tmp_path / "r")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "letter.txt").write_text("mine")
    if name == "smart":
        shutil.rmtree(tmp_path / "r" / name, ignore_errors=True)
    else:
        (tmp_path / "r" / name).unlink()
    (tmp_path / "r" / name).symlink_to(tmp_path / "others")
    with pytest.raises(FlashtwinError, match=f"{name} is a symbolic link") as refused:
        Writer.resume(tmp_path / "r")
    assert refused.value.exit_code == 2
    assert [path.name for path in (tmp_path / "others").iterdir()] == ["letter.txt"]


def test_a_target_or_a_run_is_needed(run: Callable[..., Result]) -> None:
    done = run("test")
    assert done.exit_code == 2 and "Missing argument 'TARGET...'" in done.stderr
    done = run("test", "--resume", "nowhere")
    assert done.exit_code == 2 and "error: no run in nowhere" in done.stderr


@pytest.mark.parametrize("budget", ["0", "soon", "-5m"])
def test_a_budget_is_a_time(run: Callable[..., Result], budget: str) -> None:
    done = run("test", "bx500-240", "--budget", budget)
    assert done.exit_code == 2 and "--budget" in done.stderr
    assert not Path("flashtwin-runs").exists()


def test_a_budget_is_told_before_anything_and_kept_in_the_command(
    run: Callable[..., Result],
) -> None:
    done = run("test", "bx500-240", "--budget", "90m", "--out", "r", "--verbose")
    assert done.exit_code == 0, done.output
    lines = done.stderr.splitlines()
    assert any(
        "of a budget of 1.5 h; left out: fill 128k-q32 pass 2, fill 1m" in line for line in lines
    )
    manifest = json.loads(Path("r/manifest.json").read_text())
    words = manifest["command"]
    assert words[words.index("--budget") + 1] == "90m"
    assert "Left out for the budget" in done.stdout


def test_a_plan_of_which_nothing_began_is_not_left_lying(run: Callable[..., Result]) -> None:
    battery = "crystaldiskmark:size=300GB"
    done = run("test", *PAIR, "--battery", battery, "--out", "r")
    assert done.exit_code == 2 and "does not fit" in done.stderr
    assert not Path("r").exists()


def test_a_newer_or_damaged_plan_is_one_sentence(run: Callable[..., Result]) -> None:
    Path("r").mkdir()
    Path("r/plan.json").write_text('{"schema": 99}')
    done = run("test", "--resume", "r")
    assert done.exit_code == 3 and "plan.json has schema 99" in done.stderr
    Path("r/plan.json").write_text(f'{{"schema": {SCHEMA}}}')
    done = run("test", "--resume", "r")
    assert done.exit_code == 2 and "its contents are not what flashtwin wrote" in done.stderr
    folders.write_plan(Path("r"), {"seed": 1, "command": [], "tasks": [{}]})
    done = run("test", "--resume", "r")
    assert done.exit_code == 2 and "a task is malformed" in done.stderr
