"""The program on a real file, through fio: made, measured, removed; also after Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from processes import reached
from program import PROGRAM, begun, environment, flashtwin

FIO = shutil.which("fio")
pytestmark = pytest.mark.skipif(FIO is None, reason="fio is not installed")


def test_a_file_is_measured_and_removed(tmp_path: Path) -> None:
    battery = "fill:patterns=1m-q1,passes=2,idle_s=0"
    done = flashtwin(
        *["test", "./probe.bin", "--size", "64MiB", "--battery", battery, "--out", "r", "--json"],
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    found = {finding["id"]: finding for finding in run["findings"]}
    assert found["fill.mean[1m-q1]"]["value"] > 0
    assert "not erased before" in found["fill.mean[1m-q1]"]["note"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r"]
    manifest = (tmp_path / "r" / "manifest.json").read_text()
    assert str(tmp_path) not in manifest
    assert json.loads(manifest)["command"][2:5] == ["probe.bin", "--battery", battery]
    assert "those steps are left out" in done.stderr


def test_ctrl_c_removes_the_file_and_keeps_the_run(tmp_path: Path) -> None:
    battery = "fill:patterns=1m-q1,idle_s=5s"
    process = begun(
        "test", "./probe.bin", "--size", "64MiB", "--out", "r", "--battery", battery, cwd=tmp_path
    )
    _wait_for(tmp_path / "r" / "steps.jsonl", "pass-1", process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert "what was finished is in r" in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r"]
    state = json.loads((tmp_path / "r" / "manifest.json").read_text())["state"]
    assert state == "interrupted"


@pytest.mark.full
def test_a_signal_leaves_fio_s_answer_and_a_run_that_goes_on(tmp_path: Path) -> None:
    jobs = "[global]\nsize=1m\nrw=read\ntime_based\n[a]\nruntime=100ms\n[b]\nstonewall\nruntime=4\n"
    (tmp_path / "job.fio").write_text(jobs)
    process = begun("fio", "job.fio", "--on", "./probe.bin", "--out", "r", cwd=tmp_path)
    _wait_for(tmp_path / "r" / "steps.jsonl", "fio/1 a", process)
    time.sleep(1.0)
    os.kill(process.pid, signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 and "a: (groupid=0" in out, err
    assert "what was finished is in r" in err and "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.fio", "r"]
    done = flashtwin("fio", "--resume", "r", cwd=tmp_path)
    assert done.returncode == 0 and "b: (groupid=" in done.stdout, done.stderr
    steps = (tmp_path / "r" / "steps.jsonl").read_text().splitlines()
    assert [json.loads(line)["label"] for line in steps] == ["fio/1 a", "fio/2 b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.fio", "r"]


def _wait_for(path: Path, text: str, process: subprocess.Popen[str]) -> None:
    reached(process, lambda: path.exists() and text in path.read_text())


def test_a_directory_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        ["sh", "-c", 'cd gone && rmdir ../gone && exec "$0" "$@"', *PROGRAM, "test", "./x.bin"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert done.stderr.splitlines()[0] == "error: the working directory is gone"


def test_a_directory_is_tested_by_a_file_in_it_that_goes(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    fill = "fill:patterns=128k-q32,passes=1,idle_s=0"
    words = ["test", "disk", "--size", "16MiB", "--battery", fill, "--out", "r"]
    done = flashtwin(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cannot be erased" in done.stderr and "departure" in done.stderr
    assert json.loads((tmp_path / "r" / "manifest.json").read_text())["target"]["name"] == "disk"
    assert not list((tmp_path / "disk").iterdir())


def test_what_is_there_already_is_not_touched(tmp_path: Path) -> None:
    mine = tmp_path / "mine.img"
    mine.write_bytes(b"precious")
    done = flashtwin("test", "./mine.img", "--size", "64MiB", "--out", "r", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    assert "is a file that is there already" in done.stderr
    assert mine.read_bytes() == b"precious"
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("battery", "lacking"), [("power", "watt meter"), ("temperature", "sensor")]
)
def test_what_cannot_be_measured_is_refused_before_a_byte_is_written(
    battery: str, lacking: str, tmp_path: Path
) -> None:
    probe = tmp_path / "probe"
    done = flashtwin(
        "test", str(probe), "--size", "64MB", "--battery", f"fill,{battery}", cwd=tmp_path
    )
    assert done.returncode == 2
    assert f"{battery} cannot be measured on probe: it has no {lacking}" in done.stderr
    assert f"hint: leave {battery} out of --battery" in done.stderr
    assert not probe.exists() and not (tmp_path / "flashtwin-runs").exists()
    assert "filling it" not in done.stderr and not done.stdout


def test_without_fio_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    done = flashtwin(
        "test", "./probe.bin", "--size", "64MiB", "--out", "r", cwd=tmp_path, PATH=str(tmp_path)
    )
    assert (done.returncode, done.stdout) == (3, "")
    sentence, hint = done.stderr.splitlines()
    assert "fio is not installed" in sentence and "apt install fio" in hint
