"""The frame of the campaigns: what it has to see, it sees, with stand-ins for flashtwin."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import mutate
import promises
import pytest
from sandbox import Sandbox, become_subreaper


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    """A case without a device; its commands are functions of the test."""
    return Sandbox(kind="test", seed=1, folder=tmp_path / "case", prepared=tmp_path)


def says(code: int, out: str = "", err: str = ""):
    """A command that prints and ends."""

    def work(arguments: Sequence[str]) -> None:
        print(out, end="")
        print(err, end="", file=sys.stderr)
        sys.exit(code)

    return work


@pytest.mark.parametrize(
    ("code", "out", "err"),
    [
        (0, "12 runs\n", ""),
        (2, "", "error: no such key\n"),
        (2, '{"valid": false}', ""),
        (130, "", ""),
    ],
)
def test_what_is_promised_is_no_failure(box: Sandbox, code: int, out: str, err: str) -> None:
    box.call(work=says(code, out, err))
    box.look_around()
    assert box.failures == []


def test_a_child_that_was_there_before_is_left_alone(box: Sandbox) -> None:
    earlier = subprocess.Popen(["sleep", "60"])
    try:
        box.call(work=says(0, "12 runs\n", ""))
        assert box.failures == [] and earlier.poll() is None
    finally:
        earlier.kill()
        earlier.wait()


@pytest.mark.parametrize(
    ("code", "out", "err", "why"),
    [
        (5, "", "error: x", "exit code 5"),
        (3, "", "", "without a word"),
        (0, "\x1b[2J", "", "control character"),
        (1, "", "Traceback (most recent call last):\n  x\nKeyError: 'a'", "KeyError"),
        (1, "", "thread panicked at src/lib.rs", "panicked"),
    ],
)
def test_what_is_not_promised_is_a_failure(
    box: Sandbox, code: int, out: str, err: str, why: str
) -> None:
    box.call("runs", work=says(code, out, err))
    assert len(box.failures) == 1 and why in box.failures[0]


def test_an_exception_that_nobody_caught_is_a_failure(box: Sandbox) -> None:
    def work(arguments: Sequence[str]) -> None:
        raise KeyError("target")

    box.call(work=work)
    assert "KeyError" in box.failures[0]


def test_a_signal_that_ends_a_command_is_a_failure_unless_it_was_sent(box: Sandbox) -> None:
    box.call(work=lambda arguments: os.abort())
    assert "SIGABRT" in box.failures.pop()
    box.call(work=lambda arguments: time.sleep(30), stop_after_s=0.1, number=9)
    assert box.failures == []


def test_a_command_that_sleeps_for_ever_is_ended(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.HANG_S", 0.2)
    box.call(work=lambda arguments: time.sleep(60))
    assert "did not end" in box.failures[0]


def test_too_much_memory_is_a_failure(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "MOST_BYTES", 1 << 20)
    box.call(work=says(0))
    assert "took" in box.failures[0]


def test_what_is_changed_outside_is_seen(box: Sandbox) -> None:
    victim = box.outside / "file"

    def work(arguments: Sequence[str]) -> None:
        victim.write_text("mine now")
        (box.outside / "fifo").unlink()

    box.call(work=work)
    box.look_around()
    assert [one.split()[0] for one in box.failures] == ["fifo", "file"]


@pytest.fixture
def subreaper() -> Iterator[None]:
    """For one test: what later tests of this process leave to init must not become ours."""
    become_subreaper()
    yield
    become_subreaper(on=False)


@pytest.mark.usefixtures("subreaper")
def test_a_process_that_is_left_is_told_and_ended(box: Sandbox) -> None:
    left = box.inside / "pid"

    def work(arguments: Sequence[str]) -> None:
        left.write_text(str(subprocess.Popen(["sleep", "60"]).pid))

    box.call(work=work)
    assert "left running: sleep" in box.failures[0]
    assert not Path(f"/proc/{left.read_text()}").exists()


def test_a_seed_is_a_case(tmp_path: Path) -> None:
    made = []
    for folder in ("a", "b"):
        box = Sandbox(kind="jobs", seed=7, folder=tmp_path / folder, prepared=tmp_path)
        made.append([mutate.job_file(box.rng), mutate.trace(box.rng), mutate.spec(box.rng)])
    assert made[0] == made[1]


def test_failures_of_one_cause_read_alike() -> None:
    told = [
        f"KeyError: 'key {n}' in /tmp/x{n}/run (Traceback)   flashtwin runs show {n}"
        for n in (1, 22)
    ]
    assert promises.signature(told[0]) == promises.signature(told[1])


@pytest.mark.full
def test_a_campaign_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-B", str(Path(__file__).parent), "--kind", "traces", "--seconds=100"]
    with subprocess.Popen(
        [*words, "--jobs=1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as campaign:
        assert campaign.stderr is not None
        assert b"cases" in campaign.stderr.readline()
        campaign.terminate()
        assert campaign.wait(60) == 130
    assert list(tmp_path.iterdir()) == []
    losetup = shutil.which("losetup")
    if losetup:
        listed = subprocess.run([losetup, "-a"], capture_output=True, text=True, check=False)
        assert str(tmp_path) not in listed.stdout
