"""The figure of this project: one spec reproduces every published outcome whose battery exists."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from flashtwin import _core

PROGRAM = (sys.executable, "-m", "flashtwin.cli")
assert _core.load_spec, "these tests need the compiled part"


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
    by_drive: dict[str, int] = {}
    for row in told["rows"]:
        by_drive[row["drive"]] = by_drive.get(row["drive"], 0) + 1
        assert row["found"] is not None
    assert by_drive == {
        "bx500-240": 6,
        "bx500-240-nocache": 3,
        "bx500-240 vs bx500-240-nocache": 10,
    }
    assert list(tmp_path.iterdir()) == [], "a validation leaves nothing behind"
