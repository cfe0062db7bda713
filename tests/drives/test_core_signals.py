"""Ctrl-C while the core saves, loads or trims: it is heard on the way, and nothing is left half."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from flashtwin import _core
from flashtwin.catalogue.loader import load


@pytest.fixture
def drive() -> _core.Twin:
    """A drive whose snapshot has some megabytes."""
    twin = _core.Twin(load("bx500-240", scale="1/16"), 1)
    job = """[{"name": "w", "rw": "randwrite", "block_bytes": 4096, "depth": 32,
     "io_bytes": 4294967296}]"""
    twin.run(job, 10**18, lambda done, ns: True)
    return twin


def interrupt() -> None:
    """Ctrl-C, as the process gets it."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@contextmanager
def beside(work: Callable[[], None]) -> Iterator[None]:
    """Work in a thread while the block runs, whose signal ends the block."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=work)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            yield
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


def when(is_so: Callable[[], bool]) -> None:
    """Return as soon as it is so."""
    ends = time.monotonic() + 60
    while not is_so() and time.monotonic() < ends:
        pass


def test_a_signal_while_a_snapshot_is_saved_leaves_nothing_of_it(
    drive: _core.Twin, tmp_path: Path
) -> None:
    def work() -> None:
        when(lambda: any(tmp_path.iterdir()))
        interrupt()

    with beside(work):
        drive.save(tmp_path / "state")
    assert not any(tmp_path.iterdir())
    drive.save(tmp_path / "state")
    assert _core.Twin.load(load("bx500-240", scale="1/16"), tmp_path / "state").seed == 1


@pytest.mark.full
def test_a_signal_while_a_snapshot_is_loaded_ends_the_loading(
    drive: _core.Twin, tmp_path: Path
) -> None:
    """The file is a pipe: the signal comes when some of it was read, and the rest is never read."""
    drive.save(tmp_path / "state")
    data = (tmp_path / "state").read_bytes()
    os.mkfifo(tmp_path / "slow")

    def work() -> None:
        with suppress(BrokenPipeError), (tmp_path / "slow").open("wb", buffering=0) as file:
            file.write(data[: 1 << 20])
            interrupt()
            # A pipe that is closed in the middle of a write has taken a part of it.
            read.append(file.write(data[1 << 20 :]) or 0)

    read: list[int] = []
    with beside(work):
        _core.Twin.load(load("bx500-240", scale="1/16"), tmp_path / "slow")
    assert sum(read) < len(data) - (1 << 20)


@pytest.mark.full
def test_a_signal_while_a_drive_is_trimmed_leaves_a_drive_that_goes_on(drive: _core.Twin) -> None:
    def is_busy() -> bool:
        try:
            drive.now_ns()
        except RuntimeError:
            return True
        return False

    def work() -> None:
        when(is_busy)
        interrupt()

    with beside(work):
        for _ in range(1000):
            drive.trim(0, drive.capacity_bytes, lambda *_: True)
    before = drive.now_ns()
    drive.flush(lambda *_: True)
    assert drive.now_ns() >= before


def test_a_signal_ends_drives_of_other_threads() -> None:
    """The caller's own drive is done early; that of the other thread would go on for years."""

    def writes(count: int) -> str:
        fields = {"rw": "randwrite", "block_bytes": 4096, "depth": 32, "io_bytes": count * 4096}
        return json.dumps([{"name": "w", **fields}])

    spec = load("bx500-240", scale="1/16")
    begun_s = time.process_time()

    def work() -> None:
        when(lambda: time.process_time() - begun_s > 1.0)
        interrupt()

    with beside(work):
        _core.simulate([(spec, 1, [(writes(count), 10**9)]) for count in (10_000, 10**13)], 2)
