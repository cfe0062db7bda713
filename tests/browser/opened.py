"""A page of ours in Chromium without a network, and what a hand does on it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
MISSING = f"Chromium is not installed; type: apt-get install {PACKAGE}"
WIDE = {"width": 1400, "height": 900}
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}
# After the next two frames: nothing of the page changes for longer than its own timers take.
QUIET = """() => new Promise((done) => {
  let timer;
  const watch = new MutationObserver(wait);
  function wait() { clearTimeout(timer); timer = setTimeout(end, 350); }
  function end() { watch.disconnect(); done(); }
  requestAnimationFrame(() => requestAnimationFrame(() => {
    watch.observe(document, { subtree: true, childList: true, attributes: true });
    wait();
  }));
})"""

MOVE = """([selector, value]) => { const knob = document.querySelector(selector);
  knob.value = value; knob.dispatchEvent(new Event("input", { bubbles: true })); }"""


_RUNNING: list[Any] = []


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser that has been started; one has to be installed.

    Playwright refuses a second start in a process: who asks within another's block has the same.
    """
    from playwright.sync_api import sync_playwright

    assert CHROMIUM is not None, MISSING
    if _RUNNING:
        yield _RUNNING[0]
        return
    with sync_playwright() as playwright:
        _RUNNING.append(playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS))
        yield _RUNNING[0]
        _RUNNING.pop().close()


class Opened:
    """A page and what went wrong on it."""

    def __init__(self, browser: Any, **context: Any) -> None:
        self.context = browser.new_context(accept_downloads=True, **context)
        self.context.set_offline(True)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda one: self.wrong.append(f"{one.type}: {one.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.route("**/*", self._route)

    def _route(self, route: Any) -> None:
        if not route.request.url.startswith(("file:", "data:", "blob:")):
            self.wrong.append(f"request: {route.request.url}")
            route.abort()
        else:
            route.continue_()

    def open(self, path: Path) -> Opened:
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready=true]", timeout=120_000)
        return self


def until_interactive(page: Any, path: Path) -> None:
    """Open a page up to where a click has its turn: the first screen is drawn."""
    page.goto(path.as_uri(), wait_until="commit")
    # The page's content policy keeps Playwright's own way of waiting out.
    while not page.evaluate("performance.getEntriesByName('interactive').length"):
        time.sleep(0.02)


def move(page: Any, knob: str, value: str) -> None:
    """What a hand does on the slider of a page to play with."""
    page.evaluate(MOVE, [knob, value])


def settled(page: Any) -> None:
    """Wait until the page has drawn what was asked of it, however busy the machine is."""
    page.evaluate(QUIET)


def box(page: Any, selector: str) -> dict[str, float]:
    found: dict[str, float] = page.locator(selector).bounding_box()
    return found


def hover(page: Any, selector: str, share: float = 0.5) -> None:
    page.locator(selector).scroll_into_view_if_needed()
    at = box(page, selector)
    page.mouse.move(at["x"] + at["width"] * share, at["y"] + at["height"] * 0.5)


def saved(page: Any, card: str, kind: str, to: Path) -> Path:
    with page.expect_download() as download:
        page.locator(f"[data-card='{card}'][data-export='{kind}']").click()
    target = to / str(download.value.suggested_filename)
    download.value.save_as(target)
    return target


def labels(page: Any, plot: str) -> set[str]:
    """What the axes say; Vega draws labels again in another order."""
    return set(page.locator(f"#plot-{plot} .role-axis-label text").all_text_contents())


def ground(page: Any) -> tuple[int, ...]:
    """The colour behind the page."""
    found = page.locator("body").evaluate("(one) => getComputedStyle(one).backgroundColor")
    return tuple(int(part) for part in found.strip("rgb()").split(",")[:3])


def overflow(page: Any) -> int:
    found: int = page.locator("html").evaluate("(one) => one.scrollWidth - one.clientWidth")
    return found


def clipped(page: Any) -> list[str]:
    """The tables that are wider than the place that they have, by their first words."""
    tables: list[str] = page.evaluate("""() => [...document.querySelectorAll(".scroll")]
      .filter((place) => place.checkVisibility() && place.scrollWidth > place.clientWidth + 1)
      .map((place) => place.innerText.slice(0, 60))""")
    return tables
