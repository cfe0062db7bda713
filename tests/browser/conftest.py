"""A page of two drives on paper, and Chromium with no network to open it in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opened import CHROMIUM, MISSING, chromium

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """`./dev test` installs Chromium; without it there is nothing to look with."""
    if CHROMIUM is None:
        pytest.skip(MISSING)
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two twins."""
    from made_runs import two

    from flashtwin import report

    runs = tmp_path_factory.mktemp("runs")
    return report.build(two(runs), runs / "report.html")
