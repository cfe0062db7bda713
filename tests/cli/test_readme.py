"""README's figures are those of the twins: flashtwin_lab.make.readme makes them."""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import flashtwin as ft
from flashtwin import _core
from flashtwin_lab.make import readme as maker

AGAIN = "make them again: .venv/bin/python -m flashtwin_lab.make.readme"


def test_the_figures_are_of_this_model_and_have_today_s_words() -> None:
    (block,) = maker.BLOCK.findall(maker.README.read_text())
    head, _, *lines, _ = block.splitlines()
    assert head == f"<!-- figures of model {_core.MODEL} -->", AGAIN
    assert [
        line.partition(":")[0] for line in lines if re.match("How sure:|Next:|Page:", line)
    ] == [
        "How sure",
        "Next",
        "Page",
    ]
    assert maker.PICTURE.stat().st_size > 50_000


def test_the_figures_of_trust_are_those_of_their_pages() -> None:
    readme = " ".join(maker.README.read_text().split())
    blind = (maker.DOCS / "reference" / "blind.md").read_text()
    rows = (maker.DOCS / "reference" / "validation.md").read_text()
    right, drives = re.findall(r"cache there or not \| 99% right \| (\d+) of (\d+)", blind)[0]
    assert f"on {drives} drives that were drawn at random" in readme and f"On {right} " in readme
    (total,) = re.findall(r"\n\| all \| (.*)", rows)
    _, _, validation, calibration, *_, hardware = total.split(" | ")
    assert validation in readme and f"{calibration} others" in readme
    assert ("not yet measured any of these" in readme) == (hardware.strip(" |") == "none")


@pytest.mark.full
def test_figures_and_picture_are_what_the_twins_do(tmp_path: Path) -> None:
    runs = ft.test(
        list(maker.DRIVES), battery=maker.BATTERIES, out=tmp_path / "runs", progress=False
    )
    assert maker.figures(runs) in maker.README.read_text(), AGAIN
    if not (shutil.which("chromium-headless-shell") or shutil.which("chromium")):
        pytest.skip("no Chromium")
    # Playwright takes a thread for itself, and tests of pages hold it in this one.
    with ThreadPoolExecutor(1) as thread:
        drawn = thread.submit(maker.draw, runs.path / "report.html", tmp_path / "report.png")
    words = drawn.result()
    assert words == maker.WORDS.read_text(), AGAIN
