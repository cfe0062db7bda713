"""What `./dev bench --page` says and exits with; how fast a page is no test asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import page_speed
import pytest


@pytest.mark.parametrize(("seconds", "code"), [(0.99, 0), (1.0, 1)])
def test_a_page_that_takes_a_second_is_a_miss(
    seconds: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page_speed, "CHROMIUM", "chromium")
    monkeypatch.setattr(page_speed, "figures", lambda _folder: {"page_interactive_s": seconds})
    assert page_speed.main(as_json=False) == code
    assert bool(capsys.readouterr().err) == bool(code)


def test_without_chromium_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page_speed, "CHROMIUM", None)
    assert page_speed.main(as_json=False) == 3
    assert "apt-get install" in capsys.readouterr().err


def test_both_pages_come_to_where_they_answer(browser: Any, tmp_path: Path) -> None:
    """The page and the scripts alone."""
    for page_file in page_speed.pages(tmp_path):
        assert page_speed.processor_seconds(browser, page_file) > 0
