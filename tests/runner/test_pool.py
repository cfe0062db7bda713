"""What a worker has of the process that began it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
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


def threads_of_algebra(send: Send) -> int:
    """How many threads a product of matrices starts."""
    before = len(os.listdir("/proc/self/task"))
    matrix = np.ones((400, 400))
    assert (matrix @ matrix)[0, 0] == 400
    return len(os.listdir("/proc/self/task")) - before


def test_a_worker_has_its_core_for_itself() -> None:
    """A program that has loaded OpenBLAS, with a thread a core, begins it."""
    program = """
import numpy, os
from flashtwin.runner.pool import Ended, Pool, Work
from flashtwin.runner.stop import Stop
from test_pool import threads_of_algebra
told = list(Pool(1).run([Work(call=threads_of_algebra)], Stop()))
print([one.value for one in told if isinstance(one, Ended)], "OPENBLAS_NUM_THREADS" in os.environ)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    environment.pop("OPENBLAS_NUM_THREADS", None)
    words = [sys.executable, "-c", program]
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == "[0] False\n"
