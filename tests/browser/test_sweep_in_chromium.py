"""The page of a sweep: a chart a finding that varies, its intervals, and the points that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opened import DESK, PHONE, Opened, clipped, overflow, settled
from stored_runs import store, usual

from flashtwin.report import sweep as page_of
from flashtwin.study.sweep.grid import axes
from flashtwin.study.sweep.plan import Failure, Plan
from flashtwin.study.sweep.run import Row, Sweep


def swept(place: Path) -> Sweep:
    """Two caches, three seeds; the last point failed."""
    plan = Plan(
        drive="paper",
        batteries="fill",
        axes=tuple(axes(["seed=7", "slc_cache.size=12GB,24GB", "op=7%,14%,28%"])),
    )
    rows, failures = [], []
    for point in plan.points():
        cache = 12.0 if point.number < 3 else 24.0
        failure = run = None
        if point.number == 5:
            failure = Failure(number=5, name=point.name, message="<b>no drive</b>", hint="less")
            failures.append(failure)
        else:
            found = usual(cache=cache + point.number % 3, speed=461.0)
            run = store(place / f"{point.number}", findings=found)
        rows.append(
            Row(
                number=point.number,
                settings=point.settings,
                run=run,
                failure=failure,
                findings={one.id: one for one in run.findings} if run else {},
            )
        )
    return Sweep(out=place, plan=plan, rows=tuple(rows), failures=tuple(failures), repeated=0)


def test_charts_intervals_and_failures(browser: Any, tmp_path: Path) -> None:
    out = page_of.build(swept(tmp_path), tmp_path)
    opened = Opened(browser, viewport=DESK, color_scheme="light")
    page = opened.page
    page.add_init_script(
        "addEventListener('load', () => { window.atLoad = "
        "document.querySelectorAll('svg .role-axis').length; })"
    )
    opened.open(out)
    page.wait_for_load_state("load")
    assert page.evaluate("window.atLoad") > 3, "what prints at the load event has the charts"
    curves = page.locator("#curves")
    assert curves.locator(".mark-line path").count() == 5, "a line for each point that has a run"
    box = curves.locator("figure").bounding_box()
    assert box is not None and box["y"] < DESK["height"], "the curves begin on the first screen"
    charts = page.locator("#charts [data-panel]")
    assert charts.count() == 2, "the cache of each pattern varies, the rest is the same"
    chart = charts.first
    assert chart.locator(".mark-symbol path").count() == 5
    assert chart.locator(".mark-line path").count() == 2
    assert chart.locator(".mark-rule line[stroke^='var(--drive']").count() == 5
    assert curves.locator("ul.keys li").all_inner_texts()[0] == "slc_cache.size 12 GB, op 7%"
    assert page.locator("#charts ul.keys li").all_inner_texts() == [
        "slc_cache.size 12 GB",
        "slc_cache.size 24 GB",
    ]
    lead = page.locator(".hero").inner_text()
    assert "paper over slc_cache.size and op" in lead and "The same at every point: seed 7" in lead
    heads = page.locator("#points thead").first.inner_text().split("\n")
    assert "seed" not in " ".join(heads) and "slc_cache.size" in " ".join(heads)
    rows = page.locator("#points tbody").first.locator("tr")
    settings = [rows.first.locator(".setting").nth(at).bounding_box() for at in range(3)]
    assert settings[0]["y"] == settings[1]["y"] == settings[2]["y"], "a column for each axis"
    assert rows.count() == 6 and "failed" in rows.nth(5).inner_text()
    assert "<b>no drive</b>" in page.locator("#failures").inner_text()
    page.locator("#theme").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.set_viewport_size(PHONE)
    settled(page)
    assert overflow(page) == 0 and clipped(page) == []
    assert page.locator("#points tbody tr").first.inner_text().startswith("point 0")
    opened.context.close()
    assert opened.wrong == []
