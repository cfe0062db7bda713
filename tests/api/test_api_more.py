"""The calls beside test: review, discover, fit, infer, new, explain, and a sweep as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flashtwin as ft

QUICK = "crystaldiskmark:profile=real,loops=1,mix=off,size=16MiB"


@pytest.mark.parametrize("scale", ["1/64", 1 / 64])
def test_a_scale_is_a_text_or_a_number(scale: str | float, tmp_path: Path) -> None:
    run = ft.test("bx500-240", battery=QUICK, scale=scale, out=tmp_path / "r", progress=False)
    assert run.stored.target["identity"]["scale"] == 64
    with pytest.raises(ft.FlashtwinError, match="scale"):
        ft.test("bx500-240", battery=QUICK, scale=3.5, progress=False)


def test_a_spec_from_a_label_is_a_target_and_explained(tmp_path: Path) -> None:
    text = ft.new("mine", capacity="1 TB", interface="sata", cell="tlc", dram="yes")
    run = ft.test(text, battery=QUICK, scale="1/64", out=tmp_path / "r", progress=False)
    assert run.target == "mine"
    for word in ("plateau", "cache", "SLC"):
        assert ft.explain(word).stem == "fill.cache_size"
    assert ft.explain("slowed_by.outside").name == "slowed_by.*"
    assert str(ft.explain("plateau")).startswith("Size of the SLC cache (fill.cache_size[*])")
    assert ft.explain("folding").stem == "fill.fold_begin"
    with pytest.raises(ft.UsageError, match="no finding"):
        ft.explain("xyzzy")


def test_same_holds_a_run_against_drives(tmp_path: Path) -> None:
    run = ft.test("bx500-240", battery=QUICK, scale="1/64", out=tmp_path / "r", progress=False)
    again, measured = ft.same(run, run.path, "bx500-240", out=tmp_path / "s", progress=False)
    assert (
        again.likelihood == pytest.approx(measured.likelihood, abs=0.02) and again.likelihood > 0.9
    )
    assert measured.run == str(tmp_path / "s") and (tmp_path / "s" / "manifest.json").exists()
    with pytest.raises(ft.UsageError, match="none was given"):
        ft.same(run)
    with pytest.raises(ft.UsageError, match="prior"):
        ft.same(run, run, prior=1.0)


def test_a_log_is_inferred_as_on_the_command_line(tmp_path: Path) -> None:
    rows = [3000.0] * 40 + [500.0] * 80
    log = tmp_path / "fill.csv"
    log.write_text("second,write_MB_s\n" + "\n".join(f"{i},{r}" for i, r in enumerate(rows, 1)))
    found = ft.infer(log)
    assert found.cache in ("yes", "likely") and found.size is not None
    assert found.size.value == pytest.approx(120e9, rel=0.01)
    assert str(found).startswith(found.sentence)
    with pytest.raises(ft.UsageError, match="--history"):
        ft.infer(log, history="tired")
    with pytest.raises(ft.UsageError, match="no file"):
        ft.infer()
    with pytest.raises(ft.UsageError, match="write a size"):
        ft.new("mine", capacity="large", interface="sata", cell="tlc", dram="yes")


def test_what_hides_nothing_is_said_and_not_fitted(tmp_path: Path) -> None:
    """A drive without a cache ends discover with its fill, and a run without a fill is refused."""
    run = ft.discover(
        "bx500-240",
        sets={"slc_cache.mode": "none"},
        scale="1/176",
        out=tmp_path / "d",
        report=False,
        progress=False,
    )
    assert run.findings["discover.structure"].battery == "discover"
    assert "discover.structure" in run.findings._repr_html_()
    with pytest.raises(ft.UsageError, match="bogus"):
        ft.discover("bx500-240", bogus=1)
    quick = ft.test(
        "bx500-240", battery=QUICK, scale="1/64", out=tmp_path / "q", report=False, progress=False
    )
    with pytest.raises(ft.UsageError, match="fill"):
        ft.fit(quick, progress=False)


def test_a_fit_hears_what_it_takes_and_writes_its_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call's own part; what a fit finds is tested where it is made."""
    told: list[tuple[int, str]] = []

    class Fitted:
        def write(self, path: Path) -> None:
            path.write_text("schema = 1")

    def fitted(stored: object, *, simulations: int, seed: int, **tells: Any) -> Fitted:
        assert (simulations, seed) == (300, 7)
        tells["foretell"](90.0)
        tells["tell"](300, "values")
        return Fitted()

    def hears(status: ft.Status) -> None:
        told.append((status.step, status.label))

    run = ft.test(
        "bx500-240", battery=QUICK, scale="1/64", out=tmp_path / "q", report=False, progress=False
    )
    monkeypatch.setattr("flashtwin.api.more.fitted", fitted)
    ft.fit(run, simulations=300, seed=7, out=tmp_path / "mine.toml", progress=hears)
    assert told == [(300, "values")]
    assert (tmp_path / "mine.toml").read_text() == "schema = 1"


def test_a_review_ranks_and_a_sweep_is_a_table(tmp_path: Path) -> None:
    runs = ft.review(
        ["bx500-240"], group="quick", scale="1/176", out=tmp_path / "r", progress=False
    )
    assert len(runs) == 1 and (tmp_path / "r" / "report.html").is_file()
    sweep = ft.sweep(
        "bx500-240",
        {"cache": ["4GB", "8GB"]},
        battery="fill:patterns=1m-q1,passes=1",
        scale="1/176",
        out=tmp_path / "s",
        report=False,
        progress=False,
    )
    assert [row["cache"] for row in sweep.rows("mean")] == ["4GB", "8GB"]
    values = sweep.values("cache_size")
    assert [row["cache_size"] for row in sweep.rows("cache_size")] == values
    assert "4GB" in str(sweep) and "<td>8GB</td>" in sweep._repr_html_()
    points = sweep.chart("cache_size").spec["data"]["values"]
    assert [point["point"] for point in points] == ["cache=4GB", "cache=8GB"]
