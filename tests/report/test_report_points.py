"""Fewer points: nothing that a reader has to see may be lost, and nothing invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import SPIKE, STALL, Paper, make_run

from flashtwin.charts import curves, numbers
from flashtwin.report import xray
from flashtwin.report.drives import Contents


def placed(shown: Any) -> np.ndarray:
    """The places of a curve, as the page's script reads them."""
    return np.append(0, np.cumsum(shown["steps"])) * shown["by"] / numbers.PER


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50), st.sampled_from([1, 4096, 10**6]))
def test_places_come_back_from_their_steps(counts: list[int], unit: int) -> None:
    places = np.append(0, np.cumsum(counts)) * unit / numbers.PER
    shown = numbers.steps(places)
    assert placed(shown) == pytest.approx(places, abs=1e-8 * max(places[-1], 1))
    assert max(len(str(step)) for step in shown["steps"][:-1] or [0]) <= 10


def test_samples_of_one_length_take_a_digit_each() -> None:
    shown = numbers.steps(np.append(0, np.cumsum([0.15, 0.15, 0.3, 0.15])))
    assert shown == {"by": 150_000_000, "steps": [1, 1, 2, 1]}
    shown = numbers.steps(np.append(0, np.cumsum([0.5, 1, 0.5, 0.123])))
    assert shown == {"by": 500_000_000, "steps": [1, 2, 1, 0.246]}


def test_a_short_curve_has_a_bucket_a_sample() -> None:
    assert curves.buckets(np.linspace(0, 1, 50), 1000).tolist() == list(range(1, 51))


@given(st.integers(1, 5000), st.integers(2, 1200), st.integers(0, 2**32 - 1))
def test_buckets_cover_every_sample_once(samples: int, most: int, seed: int) -> None:
    at = np.sort(np.random.default_rng(seed).random(samples))
    ends = curves.buckets(at, most)
    assert len(ends) <= most
    assert ends[-1] == samples
    assert (np.diff(ends, prepend=0) > 0).all()


def test_neither_axis_starves() -> None:
    """A tenth of the bytes in a hundredth of the time still gets its share of the points."""
    seconds = np.concatenate([np.linspace(0, 10, 5000), np.linspace(10, 1000, 5000)[1:]])
    done = np.concatenate([np.linspace(0, 100, 5000), np.linspace(100, 1000, 5000)[1:]])
    kept = curves.buckets(curves.progress(seconds, done), 1000)
    assert (seconds[kept[:-1]] < 10).sum() >= 50


def test_the_page_keeps_every_stall_and_spike(tmp_path: Path) -> None:
    contents = Contents.of([make_run(tmp_path / "a", Paper(patterns=("128k-q32",)))])
    found = contents.curves
    first = curves.payload(found)[0]
    assert len(first["low"]) <= curves.MOST_POINTS // 2
    assert min(first["low"]) == 0
    assert max(first["high"]) == pytest.approx(2 * 461, rel=1e-3)
    seconds = placed(first["s"])
    stall = float(found[0].seconds[STALL])
    at = np.searchsorted(seconds, stall, side="right") - 1
    assert first["low"][at] == 0
    spike = float(found[0].seconds[SPIKE])
    assert first["high"][np.searchsorted(seconds, spike, side="right") - 1] > 900


def test_means_of_the_page_are_bytes_over_time(tmp_path: Path) -> None:
    contents = Contents.of([make_run(tmp_path / "a", Paper(patterns=("128k-q32",)))])
    curve = contents.curves[0]
    shown = curves.payload([curve])[0]
    gb, s = placed(shown["gb"]), placed(shown["s"])
    assert gb[-1] == pytest.approx(curve.done[-1] / 1e9, rel=1e-6)
    half = len(gb) // 2
    mean = (gb[-1] - gb[half]) / (s[-1] - s[half]) * 1000
    exact = curve.mean("s", float(s[half]), float(s[-1]))
    assert exact is not None
    assert mean == pytest.approx(exact / 1e6, rel=1e-4)


def test_the_table_adds_up_to_the_whole(tmp_path: Path) -> None:
    contents = Contents.of([make_run(tmp_path / "a", Paper(patterns=("128k-q32",)))])
    found = contents.curves[:1]
    rows = curves.table(found, "s")
    written = sum((stop - start) * rates[0] for start, stop, rates in rows if rates[0])
    assert len(rows) <= curves.TABLE_ROWS + 1
    assert written == pytest.approx(found[0].done[-1], rel=1e-6)


def test_areas_add_up_to_what_was_programmed(tmp_path: Path) -> None:
    contents = Contents.of([make_run(tmp_path / "a", Paper(patterns=("128k-q32",)))])
    inside = xray.insides_of(contents)[0]
    shown = xray.payload([inside])[0]
    took = np.diff(placed(shown["s"]))
    for name, (column, _) in xray.CAUSES.items():
        # A cause that programs evenly, or never, comes as one number.
        rates = np.broadcast_to(np.array(shown[name]), len(took) + 1)
        area = float((rates[:-1] * took).sum()) * 1e6
        assert area == pytest.approx(inside.total(column), rel=2e-3, abs=1e6)


def test_phases_count_from_where_the_one_before_ended(tmp_path: Path) -> None:
    contents = Contents.of([make_run(tmp_path / "a", Paper(patterns=("128k-q32",)))])
    found = {inside.phase.name: inside for inside in xray.insides_of(contents)}
    assert list(found) == ["pass-1", "rest-1", "pass-2"]
    assert found["rest-1"].total("host_bytes") == 0
    assert found["rest-1"].total("fold_bytes") == 200 * 20e6
    assert found["pass-2"].total("host_bytes") == pytest.approx(240e9, rel=1e-2)
    waf = found["pass-2"].waf[-1]
    both = [found["pass-1"], found["rest-1"], found["pass-2"]]
    programmed = sum(one.programmed for one in both)
    assert waf == pytest.approx(programmed / sum(one.total("host_bytes") for one in both))


def test_a_short_last_sample_is_joined_to_the_one_before() -> None:
    assert curves._joined(np.array([1.0, 2.0, 3.0])).tolist() == [1.0, 5.0]
