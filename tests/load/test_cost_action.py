"""The script of action/cost, run as GitHub's runner does: bash -e, inputs in the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from traces import database, iolog

ROOT = Path(__file__).resolve().parents[2]


def script() -> str:
    """The last step, without its indentation."""
    text = (ROOT / "action" / "cost" / "action.yml").read_text()
    lines = text.rpartition("run: |\n")[2].splitlines()
    return "\n".join(line[8:] for line in lines)


@pytest.mark.parametrize(("syncs", "code"), [(1, 0), (2, 1)])
def test_the_action_fails_where_a_figure_grew(tmp_path: Path, syncs: int, code: int) -> None:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TRACE": str(iolog(tmp_path / "pr.iolog", database(1, syncs=syncs))),
        "AGAINST": str(iolog(tmp_path / "main.iolog", database(1))),
        "DRIVE": "crucial-p1-1tb",
        "FAIL_ON": "2%",
        "COMMENT": str(tmp_path / "comment.md"),
        "OPTIONS": "--scale 1/64 --state fresh",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    command = ["bash", "-e", "-o", "pipefail", "-c", script()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert (tmp_path / "summary.md").read_text().startswith("| drive | measure |")
