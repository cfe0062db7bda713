"""Runs that cases begin from, made once by the program itself, and copied where they are needed.

The drive is the catalogue's at 1/64 with the fewest steps that make a whole run: seconds of a
simulation, and twenty steps to be stopped at.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

TWIN = ("bx500-240", "--scale", "1/64")
BATTERY = "crystaldiskmark:profile=real,loops=1,size=64MiB,mix=off"
# A run on a file, through fio: as short as they are, and without rests, which a real drive takes in
# real time.
FILE = (
    "test",
    "./probe.bin",
    "--size",
    "32MiB",
    "--battery",
    "fill:patterns=1m-q1,passes=2,idle_s=0",
)
# A sweep of three quick points.
SWEEP = ("sweep", *TWIN, "--vary", "seed=1,2,3", "--battery", BATTERY, "--jobs", "1", "--quiet")
# What another run of the same may differ in.
OF_THE_HOST = ("host.json", "report.html")


def test_words(out: str) -> tuple[str, ...]:
    """The command that makes the run."""
    return ("test", *TWIN, "--battery", BATTERY, "--out", out, "--quiet")


def program(*arguments: str, cwd: Path) -> None:
    """The program to its end, which has to be a good one."""
    words = [sys.executable, "-m", "flashtwin.cli", *arguments]
    subprocess.run(words, cwd=cwd, check=True, capture_output=True, env={**os.environ})


def finished(folder: Path) -> None:
    """`run`: a finished run."""
    program(*test_words("run"), cwd=folder)


def swept(folder: Path) -> None:
    """`sweep`: a finished sweep."""
    program(*SWEEP, "--out", "sweep", cwd=folder)


def finished_and_file(folder: Path) -> None:
    """`run`, and `file`: a finished run on a file."""
    finished(folder)
    if shutil.which("fio"):
        program(*FILE, "--out", "file", "--quiet", cwd=folder)


def place(folder: Path) -> None:
    """`flashtwin-runs`: several runs beside one another."""
    finished(folder)
    runs = folder / "flashtwin-runs"
    runs.mkdir()
    for name in ("a", "b", "c"):
        shutil.copytree(folder / "run", runs / name)
    manifest = runs / "c" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"seed": 1', '"seed": 7'))


def contents(run: Path) -> dict[str, bytes]:
    """What a run has to have byte for byte, however often it was stopped on the way."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name not in OF_THE_HOST
    }


def differences(run: Path, undisturbed: Path) -> str:
    """Names of files in which two runs differ."""
    mine, theirs = contents(run), contents(undisturbed)
    return ", ".join(
        name for name in sorted(mine.keys() | theirs.keys()) if mine.get(name) != theirs.get(name)
    )


def stopped(folder: Path) -> None:
    """`run` whole, `early` and `late`: the same, killed on the way, and `file`: one on a file."""
    finished(folder)
    steps = len((folder / "run" / "steps.jsonl").read_text().splitlines())
    for name, share in (("early", 0.3), ("late", 0.8)):
        _stopped(folder, name, test_words(name), int(share * steps), signal.SIGKILL)
    if shutil.which("fio"):
        # One that is killed leaves its file, which bears its mark and is in no copy of the run.
        _stopped(folder, "file", (*FILE, "--out", "file", "--quiet"), 2, signal.SIGINT)


def _stopped(folder: Path, name: str, words: Sequence[str], steps: int, number: int) -> None:
    """A run that gets a signal after so many steps."""
    command = [sys.executable, "-m", "flashtwin.cli", *words]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    journal = folder / name / "steps.jsonl"
    while process.poll() is None:
        if journal.exists() and len(journal.read_bytes().splitlines()) >= steps:
            process.send_signal(number)
            break
        time.sleep(0.002)
    process.wait()
    if json.loads((folder / name / "manifest.json").read_text()).get("state") == "finished":
        raise RuntimeError(f"{name} was over before it was stopped")
