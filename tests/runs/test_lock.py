"""Whether somebody writes a run: while the writer lives, and not a moment longer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from flashtwin.errors import FlashtwinError
from flashtwin.runs import lock
from flashtwin.runs.rundir import Run
from flashtwin.runs.writer import Writer

MANIFEST = {"target": {"name": "paper", "kind": "twin", "capacity_bytes": 1, "identity": {}}}


def test_a_run_is_under_way_until_it_is_closed(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", MANIFEST, {})
    assert Run(tmp_path / "run").under_way
    writer.close([])
    assert not Run(tmp_path / "run").under_way


def test_a_second_writer_of_one_journal_is_refused(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", MANIFEST, {})
    descriptor = os.open(tmp_path / "run" / lock.JOURNAL, os.O_RDWR)
    try:
        with pytest.raises(FlashtwinError, match="another process is writing") as refused:
            lock.hold(descriptor, tmp_path / "run")
        assert refused.value.exit_code == 2
        writer.close([])
        lock.hold(descriptor, tmp_path / "run")
        assert lock.is_held(tmp_path / "run")
    finally:
        os.close(descriptor)


def test_a_killed_writer_holds_nothing(tmp_path: Path) -> None:
    code = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from flashtwin.runs.writer import Writer
        writer = Writer(Path({str(tmp_path / "run")!r}), {MANIFEST!r}, {{}})
        print("open", flush=True)
        sys.stdin.read()
    """)
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "open\n"
    assert lock.is_held(tmp_path / "run")
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not lock.is_held(tmp_path / "run")
    child.communicate()


def test_what_is_no_run_is_not_under_way(tmp_path: Path) -> None:
    assert not lock.is_held(tmp_path) and not lock.is_held(tmp_path / "nothing")
