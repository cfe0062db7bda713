"""What a worker has of the process that began it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from processes import lives, wait_for

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


def deaf(send: Send) -> None:
    """Work that never looks whether somebody asked it to stop."""
    send("begun", (os.getpid(),))
    while True:
        threading.Event().wait(0.05)


@pytest.mark.full
def test_work_that_does_not_listen_ends_with_its_beginner() -> None:
    program = """
from flashtwin.runner.pool import Pool, Work
from flashtwin.runner.stop import Stop
from test_pool import deaf
for told in Pool(1).run([Work(call=deaf)], Stop()):
    print(*told.arguments, flush=True)
"""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as beginner:
        assert beginner.stdout is not None
        worker = int(beginner.stdout.readline())
        assert lives(worker)
        beginner.kill()
        assert wait_for(lambda: not lives(worker), 30)


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
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    environment.pop("OPENBLAS_NUM_THREADS", None)
    words = [sys.executable, "-c", program]
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == "[0] False\n"
