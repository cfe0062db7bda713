"""The page to play with in Firefox, from file://: with the core, and without WebAssembly."""

from __future__ import annotations

from pathlib import Path

import pytest
from marionette import FIREFOX, MISSING, Firefox, firefox
from test_play_page import MODE, SIZE

from flashtwin.charts import assets
from flashtwin.report import play as page_of
from flashtwin.study import play

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(FIREFOX is None, reason=MISSING),
]
MOVE = """const [selector, value] = arguments, knob = document.querySelector(selector);
knob.value = value; knob.dispatchEvent(new Event("input", { bubbles: true }));"""
CURVE = "return document.querySelector('#seen').innerHTML"


def text_of(browser: Firefox, selector: str) -> str:
    return str(browser.run("return document.querySelector(arguments[0]).innerText", selector))


@pytest.mark.skipif(not assets.CORE.exists(), reason="no core of pages: ./dev page builds it")
def test_a_moved_value_is_simulated_and_drawn(game: play.Game, tmp_path: Path) -> None:
    page = page_of.build(game, tmp_path / "play.html")
    with firefox(tmp_path / "profile") as browser:
        browser.open(page)
        browser.wait("return document.documentElement.dataset.core === 'running'")
        browser.wait("return document.querySelector('#status').innerText.includes('Simulated')")
        before = browser.run(CURVE)
        browser.run(MOVE, MODE, "0")
        browser.wait("return Number(document.documentElement.dataset.drawn) >= 2")
        assert browser.run(CURVE) != before
        assert "Not analysed" in text_of(browser, "#findings")


def test_without_webassembly_prepared_curves_are_shown_and_it_says_so(
    game: play.Game, tmp_path: Path
) -> None:
    page = page_of.build(game, tmp_path / "play.html", core=assets.CORE.exists())
    with firefox(tmp_path / "profile", javascript__options__wasm=False) as browser:
        browser.open(page)
        assert browser.run("return typeof WebAssembly") == "undefined"
        assert "no WebAssembly" in text_of(browser, "#status")
        before = browser.run(CURVE)
        browser.run(MOVE, SIZE, "0")
        assert browser.run(CURVE) != before
        assert "GB" in text_of(browser, "#findings")
