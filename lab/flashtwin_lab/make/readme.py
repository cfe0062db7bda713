"""Makes the figures and the picture of README.md: `.venv/bin/python -m flashtwin_lab.make.readme`.

The figures are the lines of `./dev demo`; the picture is the first screen of its report, drawn by
Chromium, and docs/images/report.txt has the words on it. tests/cli/test_readme.py says where they
are no longer what the twins do and the page shows.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import flashtwin as ft
from flashtwin import _core
from flashtwin.cli.demo_run import BATTERIES, DRIVES, THEN
from flashtwin.report import summary
from flashtwin.runs import listing
from flashtwin_lab.make import DOCS, ROOT

README, PICTURE = ROOT / "README.md", DOCS / "images" / "report.png"
WORDS = PICTURE.with_suffix(".txt")
# The page of the demo lies where it was run.
PAGE = Path("flashtwin-runs/…/report.html")
# The texts that lie on the first screen, in the order of the page.
ON_SCREEN = """() => [...document.querySelectorAll("main *")].filter((part) => {
  const { top, bottom, width } = part.getBoundingClientRect();
  return width > 1 && top >= 0 && bottom <= innerHeight;
}).map((part) => [...part.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
  .map((node) => node.textContent.trim()).filter((text) => text).join(" "))
  .filter((text) => text)"""
BLOCK = re.compile(r"<!-- figures of model \d+ -->\n```text\n.*?```\n", re.S)


def figures(runs: ft.Runs) -> str:
    """The block of README.md: the demo's lines."""
    stored = listing.named([Path(run.path) for run in runs])
    lines = summary.lines(stored, then=f"./dev {THEN}", page=PAGE)
    return "\n".join([f"<!-- figures of model {_core.MODEL} -->", "```text", *lines, "```", ""])


def draw(page: Path, picture: Path) -> str:
    """The first screen of a page as a picture; the answer is the words on it, a line each."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1280, "height": 960}, color_scheme="light")
        view.goto(page.as_uri())
        view.wait_for_selector("#plot-throughput canvas, #plot-throughput svg")
        view.screenshot(path=picture)
        words: list[str] = view.evaluate(ON_SCREEN)
        browser.close()
    return "".join(f"{text}\n" for text in words)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        runs = ft.test(list(DRIVES), battery=BATTERIES, out=Path(place) / "runs")
        text = README.read_text()
        assert BLOCK.search(text), "README.md has no figures"
        README.write_text(BLOCK.sub(lambda _: figures(runs), text))
        WORDS.write_text(draw(runs.path / "report.html", PICTURE))


if __name__ == "__main__":
    main()
