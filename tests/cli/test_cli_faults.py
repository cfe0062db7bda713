"""A fault of flashtwin's own is told as one: with a code of its own, and how to report it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import flashtwin
from flashtwin.cli import drives
from flashtwin.errors import ENVIRONMENT, MISS, OUR_FAULT

Run = Callable[..., Result]


class PanicException(BaseException):
    """As the core's panics come."""


@pytest.mark.parametrize(
    "error",
    [
        ValueError("not this\x1b[2J"),
        AssertionError(),
        RecursionError("too deep"),
        KeyError("name"),
        OSError("of no file"),
        PanicException("index out of bounds"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_fault_has_a_code_of_its_own_and_says_how_to_report_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fails(*words: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(drives.drives, "callback", fails)
    done = run("drives")
    assert done.exit_code == OUR_FAULT == 70 != MISS and done.stdout == ""
    sentence, hint, traceback = done.stderr.split("\n", 2)
    assert sentence.startswith(f"error: flashtwin itself failed, {type(error).__name__}")
    assert hint.startswith("hint: this is a fault of flashtwin's: report it with the command")
    assert traceback.startswith("Traceback (most recent call last)") and "in fails" in traceback
    assert "\x1b" not in done.stderr


def test_a_core_that_this_system_cannot_load_is_no_fault_of_flashtwins(tmp_path: Path) -> None:
    """As on a glibc that is older than the one that the file was built for."""
    package = Path(flashtwin.__file__).parent
    (tmp_path / "flashtwin").mkdir()
    for path in package.iterdir():
        if not path.name.startswith("_core."):
            (tmp_path / "flashtwin" / path.name).symlink_to(path)
    (tmp_path / "flashtwin" / "_core.abi3.so").write_bytes(b"\x7fELF")
    done = subprocess.run(
        [sys.executable, "-B", "-m", "flashtwin.cli", "drives"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (ENVIRONMENT, "")
    sentence, hint = done.stderr.splitlines()
    assert sentence.startswith("error: this installation of flashtwin cannot be used: ")
    assert "_core.abi3.so" in sentence and "./dev wheel" in hint


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModuleNotFoundError("No module named 'numpy'", name="numpy"), ENVIRONMENT),
        (ModuleNotFoundError("No module named 'flashtwin.x'", name="flashtwin.x"), OUR_FAULT),
        (ImportError("cannot import name 'x'", name="flashtwin.y", path="y.py"), OUR_FAULT),
    ],
)
def test_a_package_that_is_not_there_is_the_machines(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: ImportError, code: int
) -> None:
    def fails(*words: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(drives.drives, "callback", fails)
    assert run("drives").exit_code == code
