"""What was true inside a twin beside what was found: looked up in the X-ray, and told in words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_runs import Paper, make_run, two

from flashtwin import report
from flashtwin.model.finding import Finding, Interval
from flashtwin.report import truth, xray
from flashtwin.report.drives import Contents
from flashtwin.report.truth import Truth

SAMPLE_S = 0.5


@pytest.fixture(scope="module")
def truths(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], Truth]:
    contents = Contents.of(two(tmp_path_factory.mktemp("pair")))
    return truth.truths_of(contents, xray.insides_of(contents))


@pytest.mark.parametrize(
    ("drive", "name", "value", "step"),
    [
        (0, "cache_size", 24, 0.461),
        (0, "speed_cache", 461, 0),
        (0, "speed_past_cache", 111, 0),
        # The cache has to lose a fiftieth before it counts as shrinking: 1 GB of this host's data.
        (0, "fold_begin", 192, 1.0),
        (0, "speed_folding", 81, 0),
        (1, "cache_size", 90, 0.24),
        (1, "speed_cache", 240, 0),
    ],
)
def test_edges_and_speeds_are_those_of_the_inside(
    truths: dict[tuple[int, str], Truth], drive: int, name: str, value: float, step: float
) -> None:
    known = truths[drive, f"fill.{name}[128k-q32]"]
    assert known.low is not None and known.high is not None
    assert known.within is True
    # A place is known to a sample or two; a speed to what the odd samples of the pass change.
    tolerance = 2 * step * SAMPLE_S if step else 0.02 * value
    assert known.value == pytest.approx(value, abs=tolerance)


def test_what_never_happens_is_said(truths: dict[tuple[int, str], Truth]) -> None:
    assert truths[1, "fill.fold_begin[128k-q32]"].text == "does not happen"
    assert truths[1, "fill.fold_begin[128k-q32]"].within is None
    # The second pass writes past the cache from its first byte on.
    assert truths[0, "fill.second_pass.cache_size[128k-q32]"].text.startswith("< ")
    assert truths[0, "fill.second_pass.cache_size[128k-q32]"].within is True


def test_within_means_a_value_in_common() -> None:
    found = Finding(
        battery="fill",
        name="cache_size",
        title="t",
        value=10.0,
        unit="GB",
        interval=Interval(low=9.9, high=10.1),
    )
    known = Truth(finding=found, label="fill/x/pass-1", value=10.2, low=10.1, high=10.3)
    # Samples that lie far apart are both told: their middle alone would look outside.
    assert (known.text, replace(known, low=8.0, high=12.4).text) == ("10.20 GB", "8.00 to 12.4 GB")
    assert known.within is True
    assert replace(known, low=10.15).within is False
    assert replace(known, finding=replace(found, interval=None)).within is None
    missed = replace(known, finding=replace(found, value=None, interval=None))
    imagined = replace(known, value=None, low=None, high=None)
    nothing = replace(imagined, finding=missed.finding)
    verdicts = [row.verdict for row in (known, replace(known, low=10.15), missed, imagined)]
    assert verdicts == ["within", "outside", "missed", "outside"]
    assert nothing.verdict is None
    # Both are 10.10 in a table.
    assert replace(known, low=10.103).within is True


def test_a_table_sets_the_truth_beside_twins_only(tmp_path: Path) -> None:
    twin = report.build([make_run(tmp_path / "twin")], tmp_path / "twin.html").read_text()
    rows = re.findall(r'<tr><th scope="row">Size of the SLC cache</th>(.*?)</tr>', twin, re.DOTALL)
    assert "24.00" in rows[0]
    assert 'data-head="truth">24.' in rows[0]
    assert '<span class="yes">within</span>' in rows[0]
    real = Paper(kind="file", xray=False)
    text = report.build([make_run(tmp_path / "real", real)], tmp_path / "real.html").read_text()
    assert 'data-head="truth"' not in text


def test_a_page_has_one_table_of_a_fill_with_a_switch(tmp_path: Path) -> None:
    text = report.build([make_run(tmp_path / "run")], tmp_path / "page.html").read_text()
    section = text[text.index('id="findings"') : text.index('id="xray"')]
    assert section.count("<h3>Fill</h3>") == 1
    switch = re.findall(r'<button type="button" data-group="([^"]+)"', section)
    assert switch == ["fill/128k-q32", "fill/1m-q1"]
    assert re.findall(r'<div data-of-group="([^"]+)"', section) == switch
    assert "not seen" in section
