"""The figure of this project: one spec reproduces every published outcome whose battery exists.

Measured at full size, so only in `./dev test --full`; in each run crates/drive/tests/bx500.rs fills
the same drive at full size, and test_validation_measure judges both drives' facts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flashtwin import _core

PROGRAM = (sys.executable, "-m", "flashtwin.cli")
assert _core.load_spec, "these tests need the compiled part"


@pytest.mark.full
def test_the_bx500_with_its_cache_on_and_off(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "validate", "bx500-240", "bx500-240-nocache", "--json", "--quiet"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        timeout=600,
        check=False,
    )
    assert done.stderr == ""
    told = json.loads(done.stdout)
    missed = [row for row in told["rows"] if row["verdict"] == "miss"]
    assert missed == []
    assert (done.returncode, told["missed"]) == (0, 0)
    assert all(row["found"] is not None for row in told["rows"])
    drives = ("bx500-240", "bx500-240-nocache")
    assert {row["drive"] for row in told["rows"]} == {*drives, " vs ".join(drives)}
    assert list(tmp_path.iterdir()) == [], "a validation leaves nothing behind"
