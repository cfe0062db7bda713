"""A chart of a notebook, saved as a page of its own: drawn without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opened import DESK, Opened
from stored_runs import store

import flashtwin as ft


def test_a_chart_draws_itself(browser: Any, tmp_path: Path) -> None:
    run = ft.Run(stored=store(tmp_path / "run", rates=(460.0,) * 30 + (110.0,) * 30))
    chart = run.chart().properties(title="One fill")
    opened = Opened(browser, viewport=DESK)
    page = opened.page
    page.goto(chart.save(tmp_path / "chart.html").as_uri())
    page.wait_for_selector("svg .mark-line path", state="attached")
    assert opened.wrong == []
    assert page.locator("svg .mark-line path").count() == 1
    assert "One fill" in page.locator("svg text").all_text_contents()


def test_a_chart_is_saved_in_the_form_of_its_name(tmp_path: Path) -> None:
    run = ft.Run(stored=store(tmp_path / "run", rates=(460.0,) * 30))
    chart = run.chart()
    assert chart.save(tmp_path / "chart.json").read_text().startswith("{")
    assert chart.save(tmp_path / "chart.svg").read_text().startswith("<svg")
    assert chart.save(tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ft.UsageError, match=r"cannot be saved as \.gif"):
        chart.save(tmp_path / "chart.gif")
