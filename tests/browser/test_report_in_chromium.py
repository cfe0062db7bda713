"""The report as a reader has it: opened from a file, without a network, on desk and phone."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_runs import Paper, make_run
from opened import DESK, PHONE, Opened, box, ground, hover, labels, overflow, saved, settled
from thinning import thinned

from flashtwin import report
from flashtwin.outputs import csv_cell


@pytest.fixture(scope="module")
def shown(browser: Any, page_file: Path) -> Iterator[Opened]:
    """One page for all tests: each leaves it as it found it."""
    opened = Opened(browser, viewport=DESK, color_scheme="light").open(page_file)
    yield opened
    opened.context.close()
    assert opened.wrong == []


@pytest.fixture(scope="module")
def phone(browser: Any, page_file: Path) -> Iterator[Opened]:
    """A phone's page, which its tests leave as they found it too."""
    opened = Opened(browser, viewport=PHONE, has_touch=True, color_scheme="light").open(page_file)
    yield opened
    opened.context.close()
    assert opened.wrong == []


def test_every_chart_is_drawn(shown: Opened) -> None:
    places = shown.page.locator("[data-panel]")
    assert places.count() == 1 + 2 + 5 + 3 + 3 + 1
    assert (
        shown.page.locator("[data-panel] > svg, [data-panel] > * > svg").count() == places.count()
    )
    assert shown.page.locator("#plot-throughput .mark-line path").count() == 2
    assert shown.page.locator("#plot-areas-0 .mark-area path").count() >= 5
    assert shown.page.locator("#plot-crystaldiskmark-latency-write .mark-text text").count() > 0
    assert shown.page.locator("#plot-latency .mark-line path").count() == 2


def test_places_of_findings_are_marked(shown: Opened) -> None:
    words = shown.page.locator("#plot-throughput").inner_text().replace("\u00a0", " ")
    for text in (
        "SLC cache ends 24.0 GB",
        "folding begins at 192 GB",
        "SLC cache ends 90.0 GB",
    ):
        assert text in words


@pytest.mark.full
def test_every_plateau_has_its_speed_and_no_label_lies_on_another(shown: Opened) -> None:
    words = shown.page.locator("#plot-throughput .mark-text text")
    there = {word.text_content(): word.bounding_box() for word in words.all()}
    speeds = {text: at for text, at in there.items() if text and text.endswith(" MB/s")}
    assert {"461 MB/s", "111 MB/s", "81.0 MB/s", "240 MB/s", "97.0 MB/s"} <= set(speeds)
    for text, at in speeds.items():
        for other, its in speeds.items():
            apart = at["x"] + at["width"] <= its["x"] or its["x"] + its["width"] <= at["x"]
            above = at["y"] + at["height"] <= its["y"] or its["y"] + its["height"] <= at["y"]
            assert text == other or apart or above, (text, other)


@pytest.mark.full
def test_the_curve_lies_over_data_or_over_time(shown: Opened) -> None:
    page = shown.page
    over_data = labels(page, "throughput")
    page.locator("#throughput [data-xaxis='s']").click()
    settled(page)
    over_time = labels(page, "throughput")
    assert over_time != over_data
    assert "10:00" in over_time
    assert "time (min:s)" in page.locator("#plot-throughput").inner_text()
    assert page.locator("#xray [data-xaxis='s']").get_attribute("aria-pressed") == "true"
    page.locator("#throughput [data-xaxis='gb']").click()
    settled(page)
    assert labels(page, "throughput") == over_data


def test_hover_tells_the_values_of_all_drives(shown: Opened) -> None:
    assert not shown.page.locator("#tip").is_visible()
    hover(shown.page, "#plot-throughput", 0.5)
    tip = shown.page.locator("#tip")
    assert tip.is_visible()
    said = tip.inner_text()
    assert "paper-a" in said
    assert "paper-b" in said
    assert "111.0 MB/s" in said
    assert "105.9 MiB/s" in said
    hover(shown.page, "#plot-areas-0", 0.5)
    assert "host data direct to native cells" in tip.inner_text()
    shown.page.mouse.move(5, 5)
    assert not tip.is_visible()


def test_a_tile_has_the_speeds_of_crystaldiskmark_and_explains_them(shown: Opened) -> None:
    tile = shown.page.locator("#grid-crystaldiskmark .tile-of-cells").first
    heads = tile.locator("thead tr").first.locator("th").all_inner_texts()
    assert [head.split()[0].lower() for head in heads[1:]] == ["read", "write", "mixed"]
    rows = {
        row.locator("th").inner_text().replace("-", " "): row.locator("td").all_inner_texts()
        for row in tile.locator("tbody tr").all()
    }
    assert rows["SEQ1M Q8T1"] == 6 * ["540.0"], "a column a way and drive"
    tile.locator("button").first.click()
    assert "540" in shown.page.get_by_role("dialog").inner_text()
    shown.page.keyboard.press("Escape")


def test_rate_is_drawn_over_depth(shown: Opened) -> None:
    lines = shown.page.locator("#plot-crystaldiskmark-iops-read .mark-line path")
    assert lines.count() == 2
    assert labels(shown.page, "crystaldiskmark-iops-read") >= {"1", "2", "4", "8", "16"}


def test_dots_tell_their_values(shown: Opened) -> None:
    dots = shown.page.locator("#plot-crystaldiskmark-latency-read .mark-symbol path").first
    dots.scroll_into_view_if_needed()
    dots.hover()
    assert "ms" in shown.page.locator("#tip").inner_text()
    shown.page.mouse.move(5, 5)


def test_latencies_of_a_step_are_chosen(shown: Opened, tmp_path: Path) -> None:
    page = shown.page
    line = page.locator("#plot-latency .mark-line path").first
    assert line.get_attribute("d")
    page.locator("[data-latency]").select_option("fill/1m-q1/pass-1/write")
    assert page.locator("#plot-latency .mark-line path").count() == 2
    row = page.locator("#latency tbody tr").first.inner_text()
    assert "1.00 ms" in row and "10.0 ms" in row
    with saved(page, "latency", "csv", tmp_path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["step"] for row in rows} >= {"fill/128k-q32/pass-1/write"}
    tail = max(rows, key=lambda row: float(row["share_percent"]))
    assert float(tail["latency_us"]) == pytest.approx(10_000, rel=0.01)
    page.locator("[data-latency]").select_option(index=0)


def test_dragging_zooms_and_a_double_click_shows_all(shown: Opened) -> None:
    page = shown.page
    page.locator("#plot-throughput").scroll_into_view_if_needed()
    before, linked = labels(page, "throughput"), labels(page, "gauge-heat")
    at = box(page, "#plot-throughput")
    y = at["y"] + at["height"] / 2
    page.mouse.move(at["x"] + at["width"] * 0.3, y)
    page.mouse.down()
    page.mouse.move(at["x"] + at["width"] * 0.4, y, steps=4)
    page.mouse.up()
    settled(page)
    assert labels(page, "throughput") != before
    assert labels(page, "gauge-heat") != linked, "the X-ray follows the zoom of its axis"
    page.mouse.dblclick(at["x"] + at["width"] * 0.5, y)
    settled(page)
    assert labels(page, "throughput") == before
    page.locator("#plot-throughput").focus()
    page.keyboard.press("+")
    settled(page)
    assert labels(page, "throughput") != before
    page.keyboard.press("0")
    settled(page)
    assert labels(page, "throughput") == before


def test_the_legend_takes_drives_and_passes_away(shown: Opened) -> None:
    page = shown.page
    lines = page.locator("#plot-throughput .mark-line path")
    assert lines.count() == 2
    page.get_by_role("button", name="pass 2", exact=True).first.click()
    assert lines.count() == 4
    page.get_by_role("button", name="pass 2", exact=True).first.click()
    page.locator("[data-toggle-drive='1']").click()
    assert lines.count() == 1
    assert page.locator("[data-toggle-drive='1']").get_attribute("aria-pressed") == "false"
    assert "SLC cache ends 90.0 GB" not in page.locator("#plot-throughput").inner_text()
    page.locator("[data-toggle-drive='1']").click()
    assert lines.count() == 2


def test_patterns_and_phases_are_chosen(shown: Opened) -> None:
    page = shown.page
    page.locator("#throughput [data-group='fill/1m-q1']").click()
    assert page.locator("#xray [data-group='fill/1m-q1']").get_attribute("aria-pressed") == "true"
    page.locator("[data-phase='rest-1']").click()
    settled(page)
    assert page.locator("#xray [data-xaxis='gb']").is_disabled()
    assert "time (min:s)" in page.locator("#plot-areas-0").inner_text()
    hover(page, "#plot-areas-0", 0.2)
    assert "folding" in page.locator("#tip").inner_text()
    page.locator("[data-phase='pass-1']").click()
    page.locator("#throughput [data-group='fill/128k-q32']").click()
    settled(page)
    page.mouse.move(5, 5)


def test_a_finding_explains_itself_and_shows_its_stretch(shown: Opened) -> None:
    page = shown.page
    value = page.locator("[data-finding='fill.speed_past_cache[128k-q32]'][data-drive='0']")
    value.click()
    pop = page.get_by_role("dialog")
    assert pop.is_visible()
    said = pop.inner_text()
    assert "Speed past the SLC cache" in said
    assert "Rests on 24.00 GB to 192.0 GB" in said
    assert "Speed past the SLC cache" in said
    assert page.locator("#plot-throughput .mark-rect path").count() == 1
    page.keyboard.press("Escape")
    assert not pop.is_visible()
    assert page.locator("#plot-throughput .mark-rect path").count() == 0
    value.click()
    page.get_by_text("Show in the chart").click()
    # The page scrolls to the chart below a still pointer: a finding that comes to lie under it
    # would show its own stretch in place of the pinned one.
    page.mouse.move(5, 5)
    assert page.locator("#pinned").is_visible()
    band = page.locator("#plot-throughput .mark-rect path")
    band.wait_for(state="attached")
    settled(page)
    assert band.count() == 1
    plot, stretch = box(page, "#plot-throughput"), band.bounding_box()
    assert stretch["width"] / plot["width"] == pytest.approx((192 - 24) / 240, abs=0.06)
    page.locator("#pinned button").click()
    assert band.count() == 0


def test_tables_open_under_the_charts(shown: Opened) -> None:
    under = shown.page.locator("figure[data-card='throughput'] details.under")
    table = under.locator("table").first
    assert not table.is_visible()
    under.locator("summary").click()
    assert table.is_visible()
    assert "461.0" in table.inner_text()
    under.locator("summary").click()
    assert shown.page.locator("figure > details.under").count() == 5


def test_csv_holds_the_curve(shown: Opened, tmp_path: Path) -> None:
    with saved(shown.page, "throughput", "csv", tmp_path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["drive"] for row in rows} == {"paper-a", "paper-b"}
    first = [row for row in rows if row["drive"] == "paper-a" and row["phase"] == "pass-1"]
    moved = sum(
        float(row["MB_per_s"]) / 1000 * (float(row["seconds_to"]) - float(row["seconds_from"]))
        for row in first
    )
    assert moved == pytest.approx(240, rel=0.003)
    assert min(float(row["lowest_MB_per_s"]) for row in first) == 0
    with saved(shown.page, "crystaldiskmark-speed", "csv", tmp_path).open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 2 * 3 * 3


def test_no_cell_of_a_csv_is_a_formula(browser: Any, tmp_path: Path) -> None:
    """Of a drive with such a name; the rule is that of the files which the program writes."""
    papers = [Paper(name=name, patterns=()) for name in ("=paper-a", "paper-b")]
    runs = [make_run(tmp_path / f"run-{n}", paper) for n, paper in enumerate(papers)]
    named = report.build(runs, tmp_path / "named.html")
    opened = Opened(browser, viewport=DESK, color_scheme="light").open(named)
    with saved(opened.page, "crystaldiskmark-speed", "csv", tmp_path).open(newline="") as file:
        drives = {row["drive"] for row in csv.DictReader(file)}
    assert drives == {csv_cell("=paper-a"), "paper-b"} == {"'=paper-a", "paper-b"}
    opened.context.close()


def test_pictures_are_whole(shown: Opened, tmp_path: Path) -> None:
    drawn = ET.parse(saved(shown.page, "xray", "svg", tmp_path)).getroot()
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    text = ET.tostring(drawn, encoding="unicode")
    assert "var(--" not in text
    assert "X-ray: bytes programmed, by cause" in text
    assert "garbage collection" in text
    assert "simulated, spec 0123abcd" in text and "flashtwin 0." in text
    png = saved(shown.page, "crystaldiskmark-latency", "png", tmp_path).read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width = int.from_bytes(png[16:20])
    assert width > 1500


def test_a_picture_names_what_is_in_it_and_nothing_else(shown: Opened, tmp_path: Path) -> None:
    """Of a latency the step, of a fill the pass that is drawn, no drive that is switched off."""
    page = shown.page
    step = page.locator("[data-latency] option").nth(1)
    page.locator("[data-latency]").select_option(step.get_attribute("value"))
    text = saved(page, "latency", "svg", tmp_path).read_text()
    assert step.inner_text() in text
    page.locator("[data-latency]").select_option(index=0)
    text = saved(page, "throughput", "svg", tmp_path).read_text()
    assert "pass 1 · paper-a, paper-b" in text and "pass 2" not in text
    page.locator("[data-toggle-phase='pass-2']").click()
    page.locator("[data-toggle-drive='1']").click()
    text = saved(page, "throughput", "svg", tmp_path).read_text()
    assert "pass 1" in text and "pass 2" in text and "paper-b" not in text
    page.locator("[data-toggle-phase='pass-2']").click()
    page.locator("[data-toggle-drive='1']").click()


def line_colour(page: Any) -> str:
    line = page.locator("#plot-throughput .mark-line path").first
    found: str = line.evaluate("(one) => getComputedStyle(one).stroke")
    return found


@pytest.mark.full
def test_the_theme_is_switched_and_remembered(shown: Opened, page_file: Path) -> None:
    light, light_line = ground(shown.page), line_colour(shown.page)
    shown.page.locator("#theme").click()
    assert sum(ground(shown.page)) < 150 < sum(light)
    assert line_colour(shown.page) != light_line
    shown.open(page_file)
    assert sum(ground(shown.page)) < 150
    assert shown.page.locator("#theme").get_attribute("aria-pressed") == "true"
    shown.page.locator("#theme").click()
    assert ground(shown.page) == light


def test_a_phone_never_scrolls_sideways(phone: Opened) -> None:
    page = phone.page
    folded = page.locator("details:not([open])")
    assert overflow(page) == 0
    page.evaluate("""for (const one of document.querySelectorAll("details:not([open])")) {
      one.open = true;
      one.classList.add("opened");
    }""")
    assert folded.count() == 0
    assert overflow(page) == 0
    sides = page.locator("[data-panel] svg.marks").evaluate_all("""(plots) => plots
      .map((plot) => plot.getBoundingClientRect()).map((at) => [at.left, at.right])""")
    assert len(sides) > 5
    for left, right in sides:
        assert left >= 0 and right <= PHONE["width"]
    page.evaluate("document.querySelectorAll('.opened').forEach((one) => { one.open = false; })")


def test_a_finding_opens_at_the_bottom_of_a_phone(phone: Opened) -> None:
    page = phone.page
    page.locator("[data-finding='fill.mean[128k-q32]'][data-drive='0']").tap()
    at = page.get_by_role("dialog").bounding_box()
    assert at["width"] == PHONE["width"]
    assert at["y"] + at["height"] == pytest.approx(PHONE["height"], abs=1)
    page.get_by_role("button", name="Close").tap()
    assert not page.get_by_role("dialog").is_visible()


def test_everything_has_a_name(shown: Opened) -> None:
    page = shown.page
    names = page.get_by_role("button").evaluate_all("""(buttons) => buttons
      .map((button) => button.getAttribute("aria-label") || button.innerText)""")
    assert len(names) > 20 and all(name.strip() for name in names)
    assert page.locator("h1").count() == 1
    labelled = "(plots) => plots.every((plot) => plot.getAttribute('aria-label'))"
    assert page.locator("[data-panel]").evaluate_all(labelled)
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("kind", thinned(["evil", "file", "cells", "nothing"], every=4))
def test_what_is_lacking_breaks_nothing(kind: str, browser: Any, tmp_path: Path) -> None:
    paper = {
        "file": Paper(kind="file", xray=False, capacity=2, cache=2, fold=2, cells=()),
        "cells": Paper(patterns=()),
        "nothing": Paper(patterns=(), cells=(), state="interrupted"),
        "evil": Paper(name="<img src=x onerror=alert(1)>\"'`${x}\\", patterns=("1m-q1",), passes=1),
    }[kind]
    out = report.build([make_run(tmp_path / "run", paper)], tmp_path / "report.html")
    opened = Opened(browser, viewport=PHONE).open(out)
    assert overflow(opened.page) == 0
    assert opened.page.locator("img").count() == 0
    if kind == "evil":
        hover(opened.page, "#plot-throughput")
        assert paper.name in opened.page.locator("#tip").inner_text()
    opened.context.close()
    assert opened.wrong == []
