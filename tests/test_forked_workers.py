"""Tests in forked workers: each is reported once, and none is lost with its process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FIRST = """
import os, warnings
import pytest

@pytest.fixture(scope="module")
def made():
    print("made by", os.getpid())

@pytest.mark.parametrize("number", range(3))
def test_together(number, made, tmp_path):
    assert tmp_path.parent.name.startswith("worker-")

def test_wrong(made):
    assert [1, 2] == [1, 3]

def test_warns():
    warnings.warn("look here")

@pytest.mark.skip
def test_skipped(): ...
"""
SECOND = """
import os

def test_before(): ...
def test_dies(): os._exit(3)
def test_behind(): ...
"""


def test_each_test_is_reported_once_and_none_is_lost_with_its_process(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text(FIRST)
    (tmp_path / "test_second.py").write_text(SECOND)
    for number in range(3):
        (tmp_path / f"test_third_{number}.py").write_text("def test_passes(): ...")
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "forked_workers", "--workers", "2"]
    command += ["-p", "no:cacheprovider"]
    paths = os.pathsep.join([str(Path(__file__).parent), str(tmp_path)])
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    ends = re.findall(r"^(PASSED|FAILED) (\S+)", done.stdout, re.M)
    assert sorted(ends) == sorted(
        [
            *(("PASSED", f"test_first.py::test_together[{number}]") for number in range(3)),
            ("FAILED", "test_first.py::test_wrong"),
            ("PASSED", "test_first.py::test_warns"),
            ("PASSED", "test_second.py::test_before"),
            ("FAILED", "test_second.py::test_dies"),
            ("FAILED", "test_second.py::test_behind"),
            *(("PASSED", f"test_third_{number}.py::test_passes") for number in range(3)),
        ]
    )
    assert "3 failed, 8 passed, 1 skipped, 1 warning" in done.stdout
    assert "At index 1 diff: 2 != 3" in done.stdout and "look here" in done.stdout
    assert len(re.findall(r"^made by \d+", done.stdout, re.M)) == 1, "once for all of a module"
