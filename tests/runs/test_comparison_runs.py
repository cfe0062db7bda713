"""Curves, latencies and set-ups of run directories held together."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from stored_runs import stepped, store, usual

from flashtwin import report
from flashtwin.errors import FlashtwinError
from flashtwin.runs.compare import curves, latencies, setups
from flashtwin.runs.compare.compare import compare
from flashtwin.runs.compare.limits import parse

CURVE = "fill/128k-q32/pass-1"


def test_the_same_curve(tmp_path: Path) -> None:
    one, other = store(tmp_path / "a"), store(tmp_path / "b")
    (found,) = curves.compare(one, other)
    assert (found.label, found.direction) == (CURVE, "write")
    assert (found.percent, found.typical, found.largest) == (0.0, 0.0, 0.0)
    assert len(found.gb) == 200


def test_half_the_speed_in_the_second_half(tmp_path: Path) -> None:
    """200 MB/s over 4 GB against the same with 100 MB/s over the last 2 GB."""
    one = store(tmp_path / "a", rates=(200.0,) * 40)
    other = store(tmp_path / "b", rates=(200.0,) * 20 + (100.0,) * 40)
    (found,) = curves.compare(one, other)
    # 20 s against 10 + 20 s; half of the pieces lose half of their speed.
    assert found.percent == pytest.approx(100 * (20 / 30 - 1), abs=0.2)
    assert found.typical == pytest.approx(25.0, abs=0.4)
    assert found.largest == pytest.approx(-50.0, abs=0.1)
    assert 2.0 < found.at_gb <= 4.01
    assert found.other[50] == pytest.approx(200.0, rel=2e-3)
    assert found.other[150] == pytest.approx(100.0, rel=2e-3)
    back = curves.compare(other, one)[0]
    assert back.percent == pytest.approx(50.0, abs=0.2)


def test_a_stall_counts_where_it_was(tmp_path: Path) -> None:
    rates = [100.0] * 40
    stalled = [*rates[:20], 0.0, 0.0, 0.0, 0.0, *rates[20:]]
    one, other = store(tmp_path / "a", rates=rates), store(tmp_path / "b", rates=stalled)
    (found,) = curves.compare(one, other)
    assert found.at_gb == pytest.approx(1.01, abs=0.02)
    assert found.percent == pytest.approx(100 * (20 / 22 - 1), abs=0.1)
    # A piece of 10 MB takes 0.1 s, and the one with the stall 2.1 s.
    assert found.largest == pytest.approx(100 * (0.1 / 2.1 - 1), abs=1.0)


def test_a_shorter_run_is_compared_up_to_its_end(tmp_path: Path) -> None:
    one = store(tmp_path / "a", rates=(100.0,) * 60)
    other = store(tmp_path / "b", rates=(100.0,) * 30)
    (found,) = curves.compare(one, other)
    assert found.gb[-1] == pytest.approx(1.5, abs=0.01)
    assert found.percent == pytest.approx(0.0, abs=0.1)


def test_what_is_no_curve(tmp_path: Path) -> None:
    one, other = store(tmp_path / "a", rates=(9.0,) * 19), store(tmp_path / "b")
    assert curves.compare(one, other) == [] == curves.compare(other, one)


def test_sparks() -> None:
    assert curves.spark([0, 50, 100], 100) == "\u2581\u2585\u2588"
    assert len(curves.spark(np.ones(500), 1, width=40)) == 40
    assert curves.spark([0.0, 0.0], 0.0) == "\u2581\u2581"


def test_latency_shifts(tmp_path: Path) -> None:
    one = store(tmp_path / "a", latency_us=(100,) * 99 + (5000,))
    other = store(tmp_path / "b", latency_us=(100,) * 98 + (5000, 10_000))
    found = {(pair.label, pair.direction): pair for pair in latencies.compare(one, other)}
    assert set(found) == {
        (CURVE, "write"),
        ("cdm/RND4K-Q4T1/mix", "read"),
        ("cdm/RND4K-Q4T1/mix", "write"),
    }
    pair = found[CURVE, "write"]
    assert pair.shift(50.0) == 0.0
    assert pair.shift(99.0) == pytest.approx(4900, rel=0.02)
    assert pair.shift(99.9) == pytest.approx(100, rel=0.02)
    assert pair.largest == pair.shift(99.0)
    assert found["cdm/RND4K-Q4T1/mix", "read"].largest == 0.0


def test_set_ups(tmp_path: Path) -> None:
    one = store(tmp_path / "a")
    other = store(
        tmp_path / "b",
        seed=2,
        values=(("nand.cell", "qlc", "datasheet"), ("slc_cache.size", "24 GB", "fitted")),
        parameters={"passes": 2},
        began="2026-02-02T00:00:00+00:00",
    )
    found = setups.compare([one, other])
    rows = {(row.section, row.key): row.values for row in found.rows}
    assert rows.pop(("target", "hash"))[0].startswith("01")
    assert rows == {
        ("spec", "nand.cell"): ("tlc", "qlc"),
        ("run", "seed"): ("1", "2"),
        ("battery", "fill.passes"): ("1", "2"),
    }
    assert found.same > 8
    assert setups.compare([one, one]).rows == ()


def test_of_one_run_there_is_nothing_to_say(tmp_path: Path) -> None:
    with pytest.raises(FlashtwinError, match="one run alone") as refused:
        compare([store(tmp_path / "a")])
    assert refused.value.exit_code == 2


def test_three_runs_against_the_first(tmp_path: Path) -> None:
    runs = [
        store(tmp_path / "a"),
        store(tmp_path / "b", findings=usual(cache=20.0)),
        store(tmp_path / "c", findings=usual(speed=470.0)),
    ]
    done = compare(runs, parse(["5%"]))
    assert done.names == ("bx500-240 (a)", "bx500-240 (b)", "bx500-240 (c)")
    assert [len(pair.failures) for pair in done.pairs] == [2, 0] and done.failed
    told = msgspec.to_builtins(done.document())
    assert told["base"]["run"] == str(tmp_path / "a") and told["failed"] is True
    assert told["pairs"][0]["verdicts"] == {"worse": 2, "same": 3, "no value": 1}
    assert told["pairs"][0]["failures"][0]["limit_percent"] == 5.0
    assert not compare(runs[:1] + runs[2:], parse(["5%"])).failed
    assert compare(runs).document() == compare(runs).document()


def test_the_page_says_what_differs(tmp_path: Path) -> None:
    runs = [store(tmp_path / "a"), store(tmp_path / "b", findings=usual(cache=20.0))]
    done = compare(runs, parse(["5%"]))
    page = report.build(runs, tmp_path / "page.html", comparison=done).read_text()
    assert 'id="differences"' in page and page.count("beyond the limit</b>") == 2
    assert "SSD comparison" in page and page.count('class="overlay"') == 1
    assert page == report.build(runs, tmp_path / "again.html", comparison=done).read_text()
    plain = report.build(runs, tmp_path / "plain.html").read_text()
    assert 'id="differences"' not in plain and "SSD test report" in plain


def test_steps_that_say_that_they_repeat_the_same_count_together(tmp_path: Path) -> None:
    """And no others, whatever number their labels end in."""
    from flashtwin.runs.writer import Writer

    manifest = {"target": {"name": "x", "kind": "twin"}, "seed": 1, "batteries": []}
    with Writer(tmp_path / "run", manifest, {}) as writer:
        for label, detail in (
            ("sweep/depth/1", {"repeats": "sweep/depth"}),
            ("sweep/depth/2", {"repeats": "sweep/depth"}),
            ("sweep/size/1", {}),
            ("sweep/size/2", {}),
        ):
            answer = stepped((100.0,) * 4)
            writer.step(battery="sweep", label=label, kind="run", answer=answer, detail=detail)
        run = writer.close([])
    labels = [pair.label for pair in latencies.compare(run, run)]
    assert labels == ["sweep/depth", "sweep/size/1", "sweep/size/2"]
