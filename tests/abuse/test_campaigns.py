"""A few cases from seeds that stay: of the kinds that are quick in every run, of all of them with
`--full`; `./dev abuse` tries others as long as asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CASES = {
    "jobs": 30,
    "beside": 5,
    "runs": 4,
    "kills": 3,
    "specs": 30,
    "traces": 20,
    "infer": 30,
    "journals": 3,
    "disks": 3,
    "copies": 2,
    "points": 5,
    "sweeps": 2,
    "kept": 6,
    "catalogues": 20,
    "queries": 10,
    "outputs": 10,
    "batteries": 20,
    "fakes": 10,
    "reviews": 3,
    "blinds": 3,
    "discovers": 1,
    "validates": 1,
    "fits": 1,
}


# A case of these takes less than a second: no signals, and no disks that have to be made.
QUICK = {"jobs": 2, "specs": 2, "traces": 1, "infer": 2, "outputs": 1}


@pytest.mark.parametrize("kinds", [QUICK, pytest.param(CASES, marks=pytest.mark.full)])
def test_hostile_cases_do_no_harm(kinds: dict[str, int]) -> None:
    """In one process, which imports everything once and forks each case."""
    words = [sys.executable, "-B", str(HERE), "--seed", "1", "--jobs", "1"]
    for kind, cases in kinds.items():
        words += ["--kind", f"{kind}={cases}"]
    done = subprocess.run(
        words, capture_output=True, text=True, errors="replace", timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
