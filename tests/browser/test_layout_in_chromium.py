"""How a page lies on a screen, a phone and paper: boxes are measured, no pixel is compared.

With FLASHTWIN_SHOTS=FOLDER the pictures of what was measured are kept there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from opened import WIDE, Opened, box, ground, overflow, settled, until_interactive
from thinning import thinned

from flashtwin.charts import figures
from flashtwin.report.answer import Answer, Figure, Table, write

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
# Numbers of notes that are not on the last line of their values.
LOOSE_NOTES = """() => [...document.querySelectorAll(".findings .ref")].filter((note) => {
  const value = note.parentElement.querySelector(".value");
  if (!note.offsetParent || !value) return false;
  const [mark, text] = [note, value].map((part) => part.getBoundingClientRect());
  return mark.top > text.bottom || mark.left < text.left;
}).map((note) => note.parentElement.innerText)"""
UNDRAWN = """() => [...document.querySelectorAll("[data-panel]")]
  .filter((plot) => !plot.querySelector("svg path[d], svg line")).map((plot) => plot.id)"""
# What is not drawn yet when a click at the mark `interactive` would have its turn.
AT_A_CLICK = f"""
const mark = performance.mark.bind(performance);
performance.mark = (name) => {{
  setTimeout(() => {{ window.undrawn ??= ({UNDRAWN})(); }});
  return mark(name);
}};"""


@pytest.fixture(scope="module")
def shown(browser: Any, page_file: Path) -> Iterator[Callable[[str], Any]]:
    """The page of two drives in a theme; its width is each test's own."""
    pages: dict[str, Opened] = {}

    def show(theme: str) -> Any:
        if theme not in pages:
            size = {"width": WIDTHS[0], "height": 900}
            pages[theme] = Opened(browser, viewport=size, color_scheme=theme).open(page_file)
            pages[theme].page.theme = theme
        return pages[theme].page

    yield show
    for opened in pages.values():
        opened.context.close()
        assert opened.wrong == []


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.full)])
def page(request: pytest.FixtureRequest, shown: Callable[[str], Any]) -> Any:
    """For what lies where: a theme has other colours."""
    return shown(request.param)


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.full)])
def themed(request: pytest.FixtureRequest, shown: Callable[[str], Any]) -> Any:
    """For what colours are part of."""
    return shown(request.param)


def sized(page: Any, width: int) -> None:
    """In a window of this width; charts follow it half a second later."""
    size = {"width": width, "height": 900}
    if page.viewport_size != size:
        page.set_viewport_size(size)
        settled(page)


def kept(page: Any, name: str) -> None:
    if folder := os.environ.get("FLASHTWIN_SHOTS"):
        where = Path(folder) / f"{name}-{page.theme}.png"
        page.screenshot(path=where, full_page=True)


@pytest.mark.full
def test_values_of_a_phone_end_below_each_other(page: Any) -> None:
    """Also where the number of a note follows."""
    sized(page, 390)
    assert page.evaluate(LOOSE_NOTES) == []
    ends = page.evaluate("""() => [...document.querySelectorAll(".stacked .value b")]
      .filter((text) => text.offsetParent && !text.nextElementSibling)
      .map((text) => Math.round(text.closest(".value").getBoundingClientRect().right))""")
    assert len(set(ends)) == 1


@pytest.mark.parametrize("width", thinned(WIDTHS, every=2))
def test_nothing_sticks_out_and_no_words_meet(page: Any, width: int) -> None:
    sized(page, width)
    kept(page, str(width))
    assert overflow(page) == 0
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(MEETING) == []


@pytest.mark.full
@pytest.mark.parametrize("width", WIDTHS)
def test_long_names_of_an_answer_do_not_meet(browser: Any, tmp_path: Path, width: int) -> None:
    """Seven drives, and four ways of one that are told by two words each, in the same card."""
    drives = [f"a-drive-with-a-long-name-{number}tb" for number in range(7)]
    ends = ("", "out")
    ways = [f"with{trim} TRIM, with{handles} handles" for trim in ends for handles in ends]
    charts = [
        figures.lying(
            [{"name": name, "value": 1, "low": 0.5, "high": 2, "shown": "1"} for name in names],
            "years",
        )
        for names in (drives, ways)
    ]
    drawn = [Figure(title="Years", lines=("years",), chart=chart) for chart in charts]
    head, rows = ("drive", "years"), [(name, "1") for name in (*drives, *ways)]
    answer = Answer(
        kind="Will it last",
        title="A load on a drive",
        sentences=("It lasts.", "Its writes wait."),
        figures=drawn,
        tables=[Table(title="Drives", head=head, rows=rows)],
    )
    write(answer, tmp_path / "answer.html")
    size = {"width": width, "height": 900}
    opened = Opened(browser, viewport=size, color_scheme="light").open(tmp_path / "answer.html")
    assert overflow(opened.page) == 0
    assert opened.page.evaluate(OUTSIDE) == [] and opened.page.evaluate(MEETING) == []
    assert opened.page.locator("svg text").count() > 20
    opened.context.close()


def test_the_words_under_a_bar_wrap(page: Any) -> None:
    """Beside a drive with a truth they pushed the other drive's values out of the card."""
    sized(page, 1400)
    over = page.evaluate("""() => {
      const cell = document.querySelector("#findings table.findings td.n");
      const beside = document.createElement("div");
      beside.className = "beside";
      beside.textContent = "nothing, the drive always does so 78 %, ".repeat(5);
      cell.append(beside);
      const box = cell.closest(".scroll"), over = box.scrollWidth - box.clientWidth;
      beside.remove();
      return over;
    }""")
    assert over <= 1


@pytest.mark.full
def test_a_picture_of_the_whole_page_leaves_charts_as_wide_as_they_are(page: Any) -> None:
    """Taking it makes the window a pixel wide for a moment: labels must not squeeze their plot."""
    sized(page, 390)
    page.screenshot(full_page=True)
    settled(page)
    plot, drawn = (
        box(page, f"#plot-throughput{part}") for part in ("", " svg .background >> nth=0")
    )
    assert plot["width"] - 70 < drawn["width"] <= plot["width"]


def test_the_point_is_made_on_the_first_screen(page: Any) -> None:
    """The sentence, the large numbers and the whole curve, without scrolling."""
    sized(page, 1400)
    page.evaluate("scrollTo(0, 0)")
    plot = box(page, "#plot-throughput")
    assert plot["y"] + plot["height"] <= 900
    tops = [box(page, place)["y"] for place in (".lead", ".tiles >> nth=0", ".tiles >> nth=1")]
    assert sorted(tops) == tops and tops[-1] < plot["y"]


@pytest.mark.full
def test_a_page_is_as_dark_as_the_system_and_paper_white(themed: Any) -> None:
    assert (sum(ground(themed)) < 150) == (themed.theme == "dark")
    themed.emulate_media(media="print")
    assert sum(ground(themed)) > 600
    themed.emulate_media(media="screen")


@pytest.mark.full
def test_further_numbers_that_are_folded_take_no_line(page: Any) -> None:
    """A review has more than five tiles a drive, and its chart is on the first screen too."""
    sized(page, 1400)
    before = box(page, "#plot-throughput")["y"]
    page.evaluate("""for (const drive of document.querySelectorAll(".rows .drive")) {
      const more = document.createElement("details");
      more.className = "more added";
      more.innerHTML = "<summary>7 more</summary><p>1 2 3</p>";
      drive.append(more);
    }""")
    assert box(page, "#plot-throughput")["y"] == before
    assert page.evaluate(OUTSIDE) == []
    last = page.locator(".rows .drive .tile").nth(4)
    tile, more = last.locator("dt").bounding_box(), box(page, ".rows .drive .added >> nth=0")
    text = "(one) => { const range = document.createRange(); range.selectNodeContents(one);"
    right = last.locator("dt").evaluate(f"{text} return range.getBoundingClientRect().right; }}")
    assert tile and right < more["x"]
    page.evaluate("document.querySelectorAll('.added').forEach((one) => one.remove())")


@pytest.mark.full
def test_paper_has_every_chart(page: Any) -> None:
    sized(page, 820)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    kept(page, "print")
    assert page.evaluate(UNDRAWN) == []
    other = page.locator("[data-paper]:visible svg path[d]")
    assert other.first.is_visible(), "the pattern that is not chosen has a chart too"
    findings = page.locator("#findings [data-of-group]")
    assert all(findings.nth(n).is_visible() for n in range(findings.count()))
    assert findings.count() > 1
    assert page.evaluate(OUTSIDE) == []
    assert page.locator("#specs table").first.is_visible(), "what is folded away is opened"
    assert page.locator(".key[aria-pressed='false']:visible").count() == 0, "not struck out: gone"
    assert page.evaluate(LOOSE_NOTES) == [], "a note's number stands where its value ends"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert not page.locator("[data-paper]").first.is_visible()


def test_axe_finds_no_serious_fault(themed: Any) -> None:
    """On a screen in light and on a phone in dark colours."""
    sized(themed, {"light": 1400, "dark": 390}[themed.theme])
    script = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()
    themed.evaluate(script)
    found = themed.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = {
        (fault["id"], node["html"][:120])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    }
    assert serious == set()


def test_a_page_of_two_drives_is_small(page_file: Path) -> None:
    assert page_file.stat().st_size <= LARGEST


def test_a_click_has_its_turn_before_all_is_drawn(browser: Any, page_file: Path) -> None:
    """As soon as the first screen is; a program that prints at the load event gets all charts. How
    long the first screen takes is what `./dev bench --page` measures.
    """
    opened = Opened(browser, viewport=WIDE)
    opened.page.add_init_script(AT_A_CLICK)
    opened.page.add_init_script(f"addEventListener('load', () => window.missing = ({UNDRAWN})())")
    until_interactive(opened.page, page_file)
    undrawn = opened.page.evaluate("window.undrawn")
    opened.page.wait_for_load_state("load")
    missing = opened.page.evaluate("window.missing")
    opened.context.close()
    assert "plot-throughput" not in undrawn
    assert undrawn, "the rest waits behind the reader's first click"
    assert missing == []
    assert opened.wrong == []
