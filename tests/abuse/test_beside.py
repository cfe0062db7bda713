"""Some of `./dev abuse --kind beside`, from seeds that stay: fio's null engine beside a twin."""

from __future__ import annotations

from pathlib import Path

import fio_beside
import pytest

pytestmark = pytest.mark.skipif(fio_beside.FIO is None, reason="fio is not installed")

SEEDS = range(1, 13)
JOBS = Path(__file__).parents[1] / "fio" / "jobs"
# Job files with copies: their requests stand in latency logs, one for each.
COPIES = ("offset-increment-percent", "clones-seq")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_job_file_from_a_seed_asks_for_what_fio_does(seed: int) -> None:
    fio_beside.compare(fio_beside.job_file(seed))


@pytest.mark.parametrize("name", COPIES)
def test_copies_ask_for_what_those_of_fio_do(name: str) -> None:
    assert fio_beside.outcome((JOBS / f"{name}.fio").read_text()) == "equal"
