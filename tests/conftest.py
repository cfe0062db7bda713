"""Puts this directory on the path, so that every test may import `fakes`; no test meets the
drives that its user keeps, or how wide and colourful a terminal is where the tests run; fio starts
in half of its time, nothing waits for the disk, and algebra keeps to one core."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

pytest_plugins = ["forked_workers", "proxies"]

os.environ["FLASHTWIN_CACHE"] = "off"
# As the command has it: threads of OpenBLAS wait for each other in a loop, and each worker of
# pytest would have one a core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A run waits for the disk some twenty times, and no test cuts the machine's power.
os.fsync = os.fdatasync = lambda handle: None


def put_quick_fio_on_path() -> None:
    """Put a `fio` first on the PATH that tells the real one which clock to use.

    Unless it is told, fio compares the processors' clocks at every start, for some 65 ms; the tests
    start it about 750 times. Workers of pytest inherit the PATH.
    """
    fio, mark = shutil.which("fio"), "FLASHTWIN_TESTS_QUICK_FIO"
    if fio is None or mark in os.environ:
        return
    folder = Path(tempfile.mkdtemp(prefix="flashtwin-tests-fio-"))
    maker = os.getpid()

    @atexit.register
    def remove() -> None:
        if os.getpid() == maker:  # and not a child that Python forked
            shutil.rmtree(folder, ignore_errors=True)

    script = folder / "fio"
    script.write_text(f'#!/bin/sh\nexec {fio} --clocksource=clock_gettime "$@"\n')
    script.chmod(0o755)
    os.environ[mark] = str(folder)
    os.environ["PATH"] = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])


put_quick_fio_on_path()


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of pytest have a width of their own in their environment."""
    for name in ("COLUMNS", "LINES", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
