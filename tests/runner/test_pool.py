"""What a worker has of the process that began it."""

from __future__ import annotations

import os
from functools import partial

import pytest

from flashtwin.runner.pool import Ended, Pool, Send, Work
from flashtwin.runner.stop import Stop

NAME = "FLASHTWIN_TESTS_OF_POOL"


def surroundings(send: Send, *, name: str) -> tuple[str | None, str]:
    return os.environ.get(name), os.getcwd()


def seen() -> object:
    work = Work(call=partial(surroundings, name=NAME))
    (ended,) = (told for told in Pool(1).run([work], Stop()) if isinstance(told, Ended))
    assert not ended.failed
    return ended.value


def test_a_worker_has_the_environment_and_the_directory_of_its_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    """The server that workers are forked from is older than both."""
    assert seen() == (None, os.getcwd())
    monkeypatch.setenv(NAME, "set")
    monkeypatch.chdir(tmp_path)
    assert seen() == ("set", os.getcwd())
    monkeypatch.delenv(NAME)
    assert seen() == (None, os.getcwd())
