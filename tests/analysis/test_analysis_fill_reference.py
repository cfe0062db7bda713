"""The two fills that the project was begun for, as an article gives their plateaus.

A Crucial BX500 240 GB with its SLC cache and with the cache switched off, sampled twice a second.
"""

from __future__ import annotations

import pytest
from shapes import RAW_240, fill, found, saw
from thinning import thinned

ON = ((461.0, 24.0), (111.0, 192.0), (81.0, 240.0))
OFF = ((240.0, 90.0), (100.0, 240.0))


@pytest.mark.parametrize("noise", [0.01, 0.02, 0.03])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_cache_on(noise: float, seed: int) -> None:
    findings = found(fill(*ON, noise=noise, seed=seed), raw_bytes=RAW_240)
    expected = {
        "cache_size": (24, 0.003),
        "speed_cache": (461, 0.01),
        "speed_past_cache": (111, 0.005),
        "fold_begin": (192, 0.003),
        "speed_folding": (81, 0.005),
        "mean_past_cache": (216e3 / (168e3 / 111 + 48e3 / 81), 0.005),
        "mean": (240e3 / (24e3 / 461 + 168e3 / 111 + 48e3 / 81), 0.005),
        "duration": (24e3 / 461 + 168e3 / 111 + 48e3 / 81, 0.005),
        "one_third": (24e9 / RAW_240, 0.003),
    }
    for name, (value, tolerance) in expected.items():
        finding = findings[name]
        assert finding.value == pytest.approx(value, rel=tolerance), finding
        assert finding.low is not None and finding.high is not None
        assert (finding.high - finding.low) / value < 2 * tolerance, finding
    assert "signature absent" in (findings["one_third"].note or "")
    # 192 GB and twice 24 GB: what the article's drive had to be written natively.
    assert "240 GB were there" in (findings["fold_begin"].note or "")


@pytest.mark.parametrize("noise", [0.01, 0.03])
@pytest.mark.parametrize("period_s", thinned([4, 12, 40], every=3))
@pytest.mark.parametrize("depth", [0.1, 0.3])
def test_cache_off_with_a_saw_tooth(noise: float, period_s: float, depth: float) -> None:
    teeth = saw(1 - depth, 1 + depth, period_s, from_gb=90)
    findings = found(fill(*OFF, noise=noise, factor=teeth), raw_bytes=RAW_240)
    assert findings["cache_size"].value == pytest.approx(90, rel=0.005)
    assert findings["speed_cache"].value == pytest.approx(240, rel=0.01)
    assert findings["speed_past_cache"].value == pytest.approx(100, rel=0.03)
    assert findings["mean_past_cache"].value == pytest.approx(100, rel=0.03)
    assert findings["fold_begin"].value is None
    third = findings["one_third"]
    assert third.value == pytest.approx(90e9 / RAW_240, rel=0.005)
    assert "signature present" in (third.note or "")


def test_raw_flash_is_assumed_where_it_is_not_published() -> None:
    third = found(fill(*OFF))["one_third"]
    assert third.value == pytest.approx(90e9 / RAW_240, rel=0.005)
    assert "assumed" in (third.note or "")
    published = found(fill(*OFF), raw_bytes=RAW_240)["one_third"]
    assert "as published" in (published.note or "")


def test_a_file_has_no_raw_flash() -> None:
    findings = found(fill(*OFF), raw_bytes=0)
    assert findings["one_third"].value is None
    assert findings["cache_size"].value == pytest.approx(90, rel=0.005)


def test_without_noise_the_truth_comes_out_to_the_megabyte() -> None:
    findings = found(fill(*ON, noise=0.0))
    assert findings["cache_size"].value == pytest.approx(24, abs=0.002)
    assert findings["fold_begin"].value == pytest.approx(192, abs=0.002)
    assert findings["speed_cache"].value == pytest.approx(461, rel=1e-5)


def test_a_file_without_a_drop_says_nothing_about_the_cache() -> None:
    """A whole drive shows its cache or none; a file may lie in a cache of any size."""
    series = fill((480, 2), sample_s=0.02)
    file, drive = found(series, 2, raw_bytes=0), found(series, 2)
    for name in ("cache_size", "speed_cache", "speed_past_cache", "mean_past_cache"):
        assert file[name].value is None and file[name].interval is None
        assert (file[name].note or "").startswith("not found: no drop within 2 GB; a cache may")
    assert file["mean"].number == pytest.approx(480, rel=0.01)
    assert file["cache_size"].evidence and file["cache_size"].evidence.end == pytest.approx(2e9)
    assert drive["cache_size"].value == 0 and drive["speed_past_cache"].value
    dropping = found(fill((480, 1), (100, 2), sample_s=0.02), 2, raw_bytes=0)
    assert dropping["cache_size"].number == pytest.approx(1, rel=0.05)
