"""Signals at any moment: an answer that was begun is told whole, and no traceback is seen."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from processes import wait_for
from program import PROGRAM, environment
from thinning import thinned

from flashtwin.cli.app import App, app

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A job of about half a second, with statuses and a log of every request.
JOB = """--name=a --rw=randrw --bs=4k --size=1g --io_size=160m --ioengine=libaio --iodepth=8
 --write_lat_log=a --write_iolog=a.iolog --status-interval=200ms --output-format=json
 --output=out.json --on bx500-240 --scale 1/16 --quiet""".split()  # noqa: SIM905


def sent(words: list[str], number: int, after_s: float, where: Path) -> tuple[int, str, str]:
    """The code of a program that gets a signal so long after its begin, and what it said.

    Before its begin there is Python alone, whose start is not ours.
    """
    process = subprocess.Popen(
        [*PROGRAM, *words], cwd=where, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        status, waits = Path(f"/proc/{process.pid}/status"), time.monotonic() + 60
        while not caught(status) >> (signal.SIGTERM - 1) & 1 and time.monotonic() < waits:
            time.sleep(0.002)
        time.sleep(after_s)
        process.send_signal(number)
        out, said = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    return process.returncode, out, said


def caught(status: Path) -> int:
    """The signals that a process has handlers for, as bits; all of one that has ended."""
    rows = (line.split(":") for line in status.read_text().splitlines())
    return next((int(value, 16) for name, value in rows if name == "SigCgt"), -1)


@pytest.mark.parametrize("seed", thinned(range(6), every=6))
def test_jobs_answer_whenever_the_signal_comes(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    number = chance.choice(SIGNALS)
    code, _, said = sent(["fio", *JOB], number, chance.uniform(0, 2.5), tmp_path)
    assert "Traceback" not in said
    if code in (0, 128):
        text = (tmp_path / "out.json").read_text()
        answers = text.replace("\n}\n{", "\n}\0{").split("\0")
        job = json.loads(answers[-1])["jobs"][0]
        ios = job["read"]["total_ios"] + job["write"]["total_ios"]
        if not ios and not (tmp_path / "a_lat.1.log").exists():
            return  # The signal came before the first phase, which has no logs then.
        assert len((tmp_path / "a_lat.1.log").read_text().splitlines()) == ios
        assert sum(" read " in one or " write " in one for one in
                   (tmp_path / "a.iolog").read_text().splitlines()) == ios  # fmt: skip
    else:
        # Before the jobs there is nothing to tell.
        assert (code, said.strip()) == (130, "error: interrupted")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seed", thinned(range(4), every=4))
def test_other_commands_end_with_a_sentence(seed: int, tmp_path: Path) -> None:
    chance = random.Random(100 + seed)
    number = chance.choice(SIGNALS)
    words = chance.choice((["show", "bx500-240"], ["validate", "bx500-240"], ["drives", "--json"]))
    code, _, said = sent(words, number, chance.uniform(0, 0.8), tmp_path)
    assert "Traceback" not in said
    assert code == 0 or (code == 130 and "interrupted" in said)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("bx500-240 bx500-240-nocache", signal.SIGTERM),
        ("--theory", signal.SIGINT),
        pytest.param("bx500-240 bx500-240-nocache", signal.SIGINT, marks=pytest.mark.full),
        pytest.param("--theory", signal.SIGTERM, marks=pytest.mark.full),
    ],
)
def test_a_validation_under_way_ends_with_a_sentence(
    words: str, number: int, tmp_path: Path
) -> None:
    """Drives, and closed forms: both take several seconds, in other processes too."""
    code, out, said = sent(["validate", *words.split(), "--json"], number, 1.0, tmp_path)
    assert code == 130 and said.strip().splitlines()[-1].startswith("error: interrupted"), said
    assert "Traceback" not in said and not out and not list(tmp_path.iterdir())


IN_A_CALLBACK = """
import signal, time, weakref
from flashtwin import cli

class Held:
    pass

def main():
    held = Held()
    callback = weakref.ref(held, lambda _: signal.raise_signal(signal.SIGINT))
    del held
    time.sleep(20)
    print("never heard")

cli.main = main
cli.program()
"""


def test_a_signal_within_a_callback_of_the_interpreter_is_not_lost(tmp_path: Path) -> None:
    """Python tells an exception in one as a fault, and forgets it."""
    done = subprocess.run(
        [sys.executable, "-c", IN_A_CALLBACK],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")


def test_a_signal_within_exec_has_the_same_exit_code(tmp_path: Path) -> None:
    """Dataclasses are made by exec; Python would end by the signal for one that comes there."""
    (tmp_path / "flashtwin_stopped.py").write_text(
        "from flashtwin import cli\n"
        "cli.main = lambda: exec('raise KeyboardInterrupt')\n"
        "cli.program()\n"
    )
    code = [sys.executable, "-m", "flashtwin_stopped"]
    done = subprocess.run(
        code, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


def test_many_processes_hear_a_signal(tmp_path: Path) -> None:
    words = """fio --name=a --rw=randread --bs=4k --numjobs=1024 --time_based --runtime=3600
     --size=1m --group_reporting --output-format=json --output=out.json --on bx500-240
     --scale 1/16 --quiet""".split()  # noqa: SIM905
    process = subprocess.Popen([*PROGRAM, *words], cwd=tmp_path, env=environment())
    try:
        wait_for(lambda: any(tmp_path.glob("*out.json*")))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 128
    finally:
        process.kill()
        process.wait()
    (job,) = json.loads((tmp_path / "out.json").read_text())["jobs"]
    assert job["jobname"] == "a"


def test_a_signal_while_a_class_is_made_is_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Struck:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def invoke(self: App, context: click.Context) -> None:
        type("Row", (), {"column": Struck()})

    monkeypatch.setattr(App, "invoke", invoke)
    with pytest.raises(SystemExit) as ended:
        app.main(["drives"])
    assert ended.value.code == 130
    assert "interrupted" in capsys.readouterr().err
