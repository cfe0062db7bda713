"""`flashtwin fio --trace`: traces without a job file, their speeds, messages and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from flashtwin.cli.app import app

Run = Callable[..., Result]
TWIN = ("--on", "bx500-240", "--scale", "1/16")
JSON = (*TWIN, "-q", "--output-format=json")
TRACE = "".join(
    f"{128166372003061629 + 10_000_000 * number},hm,0,{way},{8192 * number},4096,100\n"
    for number, way in enumerate(["Read", "Write", "Write", "Read", "Write"])
)


@pytest.fixture
def run() -> Run:
    return lambda *words: CliRunner().invoke(app, list(words), prog_name="flashtwin")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TRACE)
    (tmp_path / "job.fio").write_text("[a]\nread_iolog=t.csv\n")
    return tmp_path


@pytest.mark.parametrize(
    ("speed", "seconds"),
    [((), 4), (("--speed", "1"), 4), (("--speed=2x",), 2), (("--speed=0.5",), 8)],
)
def test_a_trace_is_replayed_at_a_speed(
    run: Run, folder: Path, speed: tuple[str, ...], seconds: int
) -> None:
    done = run("fio", "--trace", "t.csv", *speed, *JSON)
    assert done.exit_code == 0, done.output
    (job,) = json.loads(done.stdout)["jobs"]
    assert (job["read"]["total_ios"], job["write"]["total_ios"]) == (2, 3)
    assert job["write"]["io_bytes"] == 3 * 4096
    assert 1000 * seconds <= job["job_runtime"] < 1000 * seconds + 50


def test_as_fast_as_possible_and_with_options_of_fio(run: Run, folder: Path) -> None:
    words = ("--speed=max", "--iodepth=2", "--replay_skip", "read")
    done = run("fio", "--trace=t.csv", *words, *JSON)
    (job,) = json.loads(done.stdout)["jobs"]
    assert job["job_runtime"] < 50 and job["read"]["total_ios"] == 0
    assert job["job options"]["iodepth"] == "2" and job["write"]["total_ios"] == 3


def test_notes_say_what_is_replayed(run: Run, folder: Path) -> None:
    done = run("fio", "--trace=t.csv", *TWIN, "--output=out.txt")
    assert "t.csv (msr): 5 requests, 0 flushes, 1 file, 4 s" in done.stderr and not done.stdout
    assert "trace: (g=0)" in (folder / "out.txt").read_text()


USAGE = 2
# What could write to the files of others is refused for safety.
UNSAFE = 4
BAD = [
    (("--trace=t.csv", "job.fio", *TWIN), "job.fio is another one", "read_iolog=FILE", USAGE),
    (("--trace=t.csv", "--name=b", *TWIN), "--name is another one", "read_iolog=FILE", USAGE),
    (("--trace=t.csv", "--speed=fast", *TWIN), "fast is not a speed", "--help", USAGE),
    (("--trace=t.csv", "--speed=0", *TWIN), "0 is not a speed", "--help", USAGE),
    (
        ("--trace=t.csv", "--trace-event=DD", *TWIN),
        "not one of blkparse's actions",
        "--help",
        USAGE,
    ),
    (("--speed=2", "job.fio", *TWIN), "there is no trace", "replay_time_scale", USAGE),
    (("--trace=none", *TWIN), "the trace none cannot be read", "exists", USAGE),
    (
        ("--trace=t.csv", "--trace-format=iolog", *TWIN),
        "t.csv:1: this is not an iolog",
        "iolog",
        USAGE,
    ),
    (("--trace=t.csv", "--trace-disk=3", *TWIN), "t.csv: the trace is empty", "disk", USAGE),
    (("--trace=t.csv", "--readonly", *TWIN), "t.csv writes or trims", "replay_skip=write", USAGE),
    (("job.fio", "--readonly", *TWIN), "job.fio:2: the trace", "replay_skip=write", USAGE),
    (("job.fio", "--on", "./probe.bin"), "a trace names files of its own", "simulated", UNSAFE),
    (("--trace=t.csv", "--on", "./probe.bin"), "a trace names files", "simulated", UNSAFE),
]


@pytest.mark.parametrize(("words", "message", "hint", "code"), BAD)
def test_mistakes(
    run: Run, folder: Path, words: tuple[str, ...], message: str, hint: str, code: int
) -> None:
    done = run("fio", *words)
    assert done.exit_code == code and not done.stdout
    assert message in done.stderr and hint in done.stderr.partition("hint: ")[2]
    assert not (folder / "probe.bin").exists()


def test_a_trace_beyond_the_drive_wraps_where_it_is_told_to(run: Run, folder: Path) -> None:
    with (folder / "t.csv").open("a") as file:
        file.write("128166372053061629,hm,0,Write,383496192000,4096,100\n")
    done = run("fio", "--trace=t.csv", *TWIN)
    assert done.exit_code == 2
    assert "error: t.csv:6: a request reaches to byte 383496196096" in done.stderr
    assert "replay_scale=" in done.stderr and "--trace-fit wrap" in done.stderr
    done = run("fio", "--trace=t.csv", "--trace-fit=wrap", *JSON)
    (job,) = json.loads(done.stdout)["jobs"]
    assert done.exit_code == 0 and job["write"]["total_ios"] == 4
