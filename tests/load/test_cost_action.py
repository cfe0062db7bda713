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


def action(folder: Path, trace: Path) -> subprocess.CompletedProcess[str]:
    """Run the action on a trace beside that of main."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TRACE": str(trace),
        "AGAINST": str(iolog(folder / "main.iolog", database(1))),
        "DRIVE": "crucial-p1-1tb",
        "FAIL_ON": "2%",
        "COMMENT": str(folder / "comment.md"),
        "OPTIONS": "--scale 1/64 --state fresh",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    command = ["bash", "-e", "-o", "pipefail", "-c", script()]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("syncs", "code", "verdict"),
    [(1, 0, "It costs exactly what the base costs."), (2, 1, "More than 2 % above the base: ")],
)
def test_the_action_fails_where_a_figure_grew(
    tmp_path: Path, syncs: int, code: int, verdict: str
) -> None:
    done = action(tmp_path, iolog(tmp_path / "pr.iolog", database(1, syncs=syncs)))
    assert done.returncode == code, done.stderr
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith(verdict) and "| drive | measure |" in summary


def test_a_trace_that_is_not_there_is_no_growth(tmp_path: Path) -> None:
    done = action(tmp_path, tmp_path / "none.iolog")
    assert done.returncode == 2 and done.stderr.startswith("error: ")
    assert "hint:" in done.stderr and "cat:" not in done.stderr
