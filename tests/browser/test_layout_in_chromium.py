"""How a page lies on a screen, a phone and paper: boxes are measured, no pixel is compared.

With FLASHTWIN_SHOTS=FOLDER the pictures of what was measured are kept there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from opened import Opened, box, overflow

WIDTHS = (1400, 820, 390)
LARGEST = 1_500_000
# What sticks out of its card on either side. What scrolls within a card, or is cut by it, may.
OUTSIDE = """() => {
  const seen = (one) => one.getClientRects().length > 0;
  const free = (one, card) => {
    for (let up = one; up !== card; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (up !== one && style.overflowX !== "visible") return false;
      if (up.classList.contains("hidden") || style.position === "fixed") return false;
    }
    return true;
  };
  const wrong = [];
  for (const card of document.querySelectorAll(".card, .drive")) {
    if (getComputedStyle(card).overflowX !== "visible") continue;
    const at = card.getBoundingClientRect();
    for (const one of card.querySelectorAll("*")) {
      if (one.closest("svg") && one.tagName !== "svg") continue;
      const its = one.getBoundingClientRect();
      if (!seen(one) || !its.width || !free(one, card)) continue;
      if (its.left < at.left - 1 || its.right > at.right + 1) {
        wrong.push(`${one.tagName} ${one.getAttribute("class")}: ${one.textContent.slice(0, 40)}`);
      }
    }
  }
  return wrong;
}"""
# Words of one chart that lie over one another; the rim of a word has its place and its text.
MEETING = """() => {
  const wrong = [];
  for (const plot of document.querySelectorAll("[data-panel]")) {
    const words = [...plot.querySelectorAll("svg text")]
      .filter((one) => one.textContent.trim() && getComputedStyle(one).opacity !== "0")
      .map((one) => ({ text: one.textContent, at: one.getBoundingClientRect() }));
    words.forEach((one, n) => words.slice(n + 1).forEach((other) => {
      const wide = Math.min(one.at.right, other.at.right) - Math.max(one.at.left, other.at.left);
      const high = Math.min(one.at.bottom, other.at.bottom) - Math.max(one.at.top, other.at.top);
      if (wide > 1.5 && high > 3 && one.text !== other.text) {
        wrong.push(`${plot.id}: ${one.text} | ${other.text}`);
      }
    }));
  }
  return wrong;
}"""
UNDRAWN = """() => [...document.querySelectorAll("[data-panel]")]
  .filter((plot) => !plot.querySelector("svg path[d], svg line")).map((plot) => plot.id)"""


@pytest.fixture(scope="module", params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Any, page_file: Path) -> Iterator[Any]:
    """The page of two drives in a theme; its width is each test's own."""
    size = {"width": WIDTHS[0], "height": 900}
    opened = Opened(browser, viewport=size, color_scheme=request.param).open(page_file)
    opened.page.theme = request.param
    yield opened.page
    opened.context.close()
    assert opened.wrong == []


def sized(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(700)


def kept(page: Any, name: str) -> None:
    if folder := os.environ.get("FLASHTWIN_SHOTS"):
        where = Path(folder) / f"{name}-{page.theme}.png"
        page.screenshot(path=where, full_page=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out_and_no_words_meet(page: Any, width: int) -> None:
    sized(page, width)
    kept(page, str(width))
    assert overflow(page) == 0
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(MEETING) == []


def test_the_chart_is_on_the_first_screen(page: Any) -> None:
    sized(page, 1400)
    page.evaluate("scrollTo(0, 0)")
    plot = box(page, "#plot-throughput")
    assert plot["y"] + plot["height"] <= 900


def test_paper_has_every_chart(page: Any) -> None:
    sized(page, 820)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    kept(page, "print")
    assert page.evaluate(UNDRAWN) == []
    assert page.evaluate(OUTSIDE) == []
    assert page.locator("#specs table").first.is_visible(), "what is folded away is opened"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")


@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_no_serious_fault(page: Any, width: int) -> None:
    sized(page, width)
    script = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()
    page.evaluate(script)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = {
        (fault["id"], node["html"][:120])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    }
    assert serious == set()


def test_a_page_of_two_drives_is_small(page_file: Path) -> None:
    assert page_file.stat().st_size <= LARGEST
