"""A page of two drives on paper, and Chromium with no network to open it in."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))

PACKAGE = "chromium-headless-shell"
CHROMIUM = shutil.which(PACKAGE) or shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """`./dev test` installs Chromium; without it there is nothing to look with."""
    if CHROMIUM is None:
        pytest.skip(f"Chromium is not installed; type: apt-get install {PACKAGE}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two twins."""
    from made_runs import two

    from flashtwin import report

    runs = tmp_path_factory.mktemp("runs")
    return report.build(two(runs), runs / "report.html")
