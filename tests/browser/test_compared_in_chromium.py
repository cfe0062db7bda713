"""The page of a comparison: both runs' curves, their difference, the intervals and the set-ups."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opened import DESK, PHONE, Opened, box, clipped, hover, labels, overflow, saved, settled

from flashtwin import report
from flashtwin.runs.compare.compare import compare
from flashtwin.runs.compare.limits import Limits


@pytest.fixture(scope="module")
def compared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three drives on paper, the second beyond its limits, the third the same as the first."""
    from made_runs import make_run, two

    place = tmp_path_factory.mktemp("compared")
    runs = [*two(place), make_run(place / "again")]
    found = compare(runs, Limits(every=5.0))
    return report.build(runs, place / "page.html", comparison=found)


@pytest.fixture(scope="module")
def desk(browser: Any, compared_file: Path) -> Iterator[Opened]:
    """One page for all tests, each of which leaves it as it found it."""
    opened = Opened(browser, viewport=DESK, color_scheme="light").open(compared_file)
    yield opened
    opened.context.close()
    assert opened.wrong == []


def dragged(page: Any, plot: str, start: float, end: float) -> None:
    page.locator(plot).scroll_into_view_if_needed()
    at = box(page, plot)
    y = at["y"] + at["height"] / 2
    page.mouse.move(at["x"] + at["width"] * start, y)
    page.mouse.down()
    page.mouse.move(at["x"] + at["width"] * end, y, steps=4)
    page.mouse.up()
    settled(page)


def test_both_curves_lie_over_one_another_with_their_difference(desk: Opened) -> None:
    page = desk.page
    for pair in (1, 2):
        assert page.locator(f"#plot-both-{pair} .mark-line path").count() == 4
        assert page.locator(f"#plot-delta-{pair} .mark-line path").count() == 2
        even = page.locator(f"#plot-delta-{pair} .mark-rule line[stroke='var(--quiet)']")
        assert even.count() == 1
    # The charts of all runs have three drives, those of a pair its two.
    assert page.locator("#plot-throughput .mark-line path").count() == 6
    words = page.locator("#plot-both-1").inner_text().replace("\u00a0", " ")
    assert "SLC cache ends 24.0 GB" in words and "SLC cache ends 90.0 GB" in words
    colours = [
        {
            line.get_attribute("stroke")
            for line in page.locator(f"#plot-both-{n} .mark-line path").all()
        }
        for n in (1, 2)
    ]
    assert colours == [{"var(--drive-0)", "var(--drive-1)"}, {"var(--drive-0)", "var(--drive-2)"}]


def test_the_same_run_differs_nowhere_and_the_other_where_its_cache_lasts_longer(
    desk: Opened,
) -> None:
    page = desk.page
    tip = page.locator("#tip")
    hover(page, "#plot-delta-2", 0.3)
    assert "against paper-a" in tip.inner_text() and "0 %" in tip.inner_text()
    # At half of the first drive's 111 MB/s the other writes 97: 12.6 % less.
    hover(page, "#plot-delta-1", 0.6)
    assert "paper-b, pass 1" in tip.inner_text() and "\u221212.6 %" in tip.inner_text()
    # From 24 to 90 GB it is still in its cache: 240 MB/s against 111.
    hover(page, "#plot-delta-1", 0.3)
    assert "+116 %" in tip.inner_text()


@pytest.mark.full
def test_they_zoom_like_the_charts_of_the_report_and_with_them(desk: Opened) -> None:
    page = desk.page
    linked = ("both-1", "delta-1", "both-2", "delta-2", "throughput", "gauge-heat")
    before = {plot: labels(page, plot) for plot in linked}
    dragged(page, "#plot-delta-1", 0.3, 0.4)
    after = {plot: labels(page, plot) for plot in before}
    assert [plot for plot in before if after[plot] != before[plot]] == list(linked)
    at = box(page, "#plot-both-1")
    page.mouse.dblclick(at["x"] + at["width"] * 0.5, at["y"] + at["height"] * 0.5)
    settled(page)
    assert {plot: labels(page, plot) for plot in before} == before
    page.locator("#differences [data-zoom='in']").first.click()
    settled(page)
    assert labels(page, "both-1") != before["both-1"]
    page.locator("#plot-both-1").focus()
    page.keyboard.press("0")
    settled(page)
    assert labels(page, "delta-1") == before["delta-1"]


@pytest.mark.full
def test_the_pattern_is_chosen_here_and_there(desk: Opened) -> None:
    page = desk.page
    hover(page, "#plot-both-1", 0.5)
    first = page.locator("#plot-delta-1 .mark-line path").first.get_attribute("d")
    page.locator("#differences [data-group='fill/1m-q1']").click()
    settled(page)
    pressed = page.locator("#throughput [data-group='fill/1m-q1']")
    assert pressed.get_attribute("aria-pressed") == "true"
    assert page.locator("#plot-delta-1 .mark-line path").count() == 2
    assert page.locator("#plot-delta-1 .mark-line path").first.get_attribute("d") == first
    page.locator("[data-toggle-phase='pass-2']").click()
    assert page.locator("#plot-delta-1 .mark-line path").count() == 1
    page.locator("[data-toggle-phase='pass-2']").click()
    page.locator("#differences [data-group='fill/128k-q32']").click()
    settled(page)


def test_intervals_are_drawn_and_set_ups_diffed(desk: Opened) -> None:
    page = desk.page
    headings = page.locator("#differences table").first.locator("tr.part").all_inner_texts()
    patterns = ["Fill, 128 KiB, queue depth 32", "Fill, 1 MiB, queue depth 1"]
    assert headings == [*patterns, "CrystalDiskMark"]
    row = page.locator("#differences tr", has_text="Speed past the SLC cache").first
    assert row.locator("td, th").first.inner_text().startswith("worse")
    counts = page.locator(".counts li").first.inner_text()
    assert "worse" in counts and "better" in counts and "the same" in counts
    assert row.locator("svg.bars g").count() == 2
    assert "beyond the limit" in row.inner_text()
    ends = row.locator("svg.bars path").first.get_attribute("d")
    assert ends.startswith("M") and "H" in ends
    page.locator("#differences summary", has_text="Set-up").click()
    setups = page.locator("#setups")
    assert "null" not in setups.inner_text()
    assert "target name" in setups.inner_text() and "paper-b" in setups.inner_text()
    assert setups.locator("thead th").count() == 4


def test_what_does_not_vary_is_folded_away(desk: Opened) -> None:
    page = desk.page
    for section in ("#specs", "#method", "#host"):
        page.locator(f"{section} > details.fold > summary").click()
        for folded in page.locator(f"{section} details.more:has(.facts)").all():
            assert folded.get_attribute("open") is None
            assert "The same in all runs" in folded.locator("summary").inner_text()
    assert page.locator("#method .facts:visible").count() == 0, "all ran the same batteries"
    names = page.locator("#specs .facts:visible tbody th").all_inner_texts()
    assert "name" in names and "capacity" not in names
    first = page.locator("#findings .card [data-of-group]:visible").first
    shown = first.locator("table.findings:visible tbody th[scope=row]").all_inner_texts()
    assert "Speed in the SLC cache" in shown
    assert first.locator("details.more", has_text="The same in all runs").count() == 1
    assert (
        first.locator("details.more th[scope=row]").count() + len(shown)
        == first.locator("tr th[scope=row]").count()
    )


@pytest.mark.full
def test_what_is_drawn_is_saved(desk: Opened, compared_file: Path, tmp_path: Path) -> None:
    page = desk.page
    rows = list(csv.DictReader(saved(page, "differences-1", "csv", tmp_path).open()))
    assert {row["drive"] for row in rows} == {"paper-b"}
    assert {row["against"] for row in rows} == {f"paper-a ({compared_file.parent.name})"}
    assert len(rows) == 400 and float(rows[0]["gb_from"]) == 0
    picture = saved(page, "differences-1", "svg", tmp_path).read_text()
    assert "Difference at each place" in picture and "var(--" not in picture
    assert "paper-b" in picture and "(again)" not in picture
    assert saved(page, "differences-2", "png", tmp_path).read_bytes()[:4] == b"\x89PNG"


@pytest.mark.full
def test_on_a_phone_nothing_sticks_out(browser: Any, compared_file: Path) -> None:
    opened = Opened(browser, viewport=PHONE, has_touch=True, color_scheme="dark")
    opened.open(compared_file)
    assert overflow(opened.page) == 0 and clipped(opened.page) == []
    assert opened.page.locator("#ranking, #differences .stacked").count() > 1, "of three drives"
    assert opened.page.locator("#plot-delta-1 .mark-line path").count() == 2
    opened.context.close()
    assert opened.wrong == []


def test_runs_without_curves_and_with_the_same_set_up(browser: Any, tmp_path: Path) -> None:
    from made_runs import Paper, make_run

    runs = [make_run(tmp_path / one / "run", Paper(patterns=())) for one in ("a", "b")]
    page = report.build(runs, tmp_path / "page.html", comparison=compare(runs))
    opened = Opened(browser, viewport=DESK).open(page)
    assert opened.page.locator("#differences [data-panel]").count() == 0
    assert "The set-ups are the same" in opened.page.locator("#differences").inner_text()
    opened.context.close()
    assert opened.wrong == []
