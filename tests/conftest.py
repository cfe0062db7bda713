"""Puts this directory on the path, so that every test may import `fakes`; no test meets the
drives that its user keeps, or how wide and colourful a terminal is where the tests run."""

import os

import pytest

os.environ["FLASHTWIN_CACHE"] = "off"


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of pytest have a width of their own in their environment."""
    for name in ("COLUMNS", "LINES", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
