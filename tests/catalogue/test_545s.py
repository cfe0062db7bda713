"""The Intel 545s: its static cache reclaims the emptiest superblock, with little room beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashtwin as ft


def found(tmp_path: Path, battery: str, scale: str | None = None, **sets: str) -> ft.Run:
    named = {name.replace("__", "."): value for name, value in sets.items()}
    return ft.test("545s-256", battery=battery, scale=scale, sets=named, out=tmp_path / "run")


def test_a_short_stroke_shows_the_cache_and_what_follows(tmp_path: Path) -> None:
    findings = found(tmp_path, "hdtune:preset=545s").findings
    assert findings["hdtune.cache[write]"].value == pytest.approx(2.1, rel=0.05)
    assert findings["hdtune.past[write]"].value == pytest.approx(272, rel=0.04)


@pytest.mark.full  # each run has that of the mechanism: crates/drive/tests/cache_rules.rs
@pytest.mark.parametrize(("reclaim", "rate"), [("0.5", 86_163), ("0", 66_000)])
def test_overwrites_of_a_small_file_stay_in_the_cache_where_its_emptiest_superblock_is_reclaimed(
    tmp_path: Path, reclaim: str, rate: float
) -> None:
    battery = "iometer:access=4k-0r-100x,depths=32,seconds=30s,size=1GB,fills=1"
    findings = found(tmp_path, battery, slc_cache__reclaim=reclaim).findings
    assert findings["iometer.write.iops[RND4K-Q32]"].value == pytest.approx(rate, rel=0.05)


@pytest.mark.full
def test_random_writes_over_the_whole_drive_end_at_a_few_thousand_a_second(tmp_path: Path) -> None:
    """An hour of them as published; the lowest second is far from none."""
    findings = found(tmp_path, "dispersion:kinds=random-write").findings
    assert findings["dispersion.settled[random-write]"].value == pytest.approx(4000, rel=0.15)
    assert findings["dispersion.least[random-write]"].value > 1000
    assert findings["dispersion.most[random-write]"].value == pytest.approx(80_000, rel=0.08)
