"""A fault of flashtwin's own is told as one: with a code of its own, and how to report it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

from flashtwin.cli import drives
from flashtwin.errors import MISS, OUR_FAULT

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
