"""docs/reference/fio-options.md says what the table says."""

from __future__ import annotations

import os
from pathlib import Path

from flashtwin.fio.language.page import page
from flashtwin.fio.language.table import ROWS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "fio-options.md"


def test_the_page_is_that_of_the_table() -> None:
    if os.environ.get("FLASHTWIN_BLESS"):
        PAGE.write_text(page())
    assert PAGE.read_text() == page()


def test_every_option_is_on_it_once() -> None:
    text = page()
    assert all(text.count(f"| `{row.name}`") == 1 for row in ROWS)
