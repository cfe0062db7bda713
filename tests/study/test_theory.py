"""The theory: formulas against the published tables, and drives against the formulas."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from cli.program import flashtwin
from thinning import thinned

from flashtwin import _core
from flashtwin.errors import FlashtwinError
from flashtwin_lab.theory import formulas, points, run
from flashtwin_lab.theory.drives import Sides
from flashtwin_lab.theory.formulas import HotCold
from flashtwin_lab.theory.points import Point

assert _core.load_spec, "these tests need the compiled part"


@pytest.mark.parametrize(
    ("rho", "amplification"),
    [(0.07, 7.82), (0.125, 4.68), (0.145, 4.13), (0.28, 2.48), (0.5, 1.72), (1.0, 1.26)],
)
def test_fifo_solves_its_own_equation_and_gives_the_table(rho: float, amplification: float) -> None:
    found = formulas.fifo(rho)
    assert found == pytest.approx(amplification, abs=0.006)
    assert found == pytest.approx(1.0 / (1.0 - math.exp(-(1.0 + rho) / found)), rel=1e-9)


@pytest.mark.parametrize(
    ("rho", "data", "writes", "one_stream", "separated"),
    [
        (0.07, 0.2, 0.8, 8.2, 5.25),
        (0.145, 0.2, 0.8, 4.49, 2.91),
        (0.145, 0.1, 0.9, 5.08, 1.97),
        (0.28, 0.1, 0.9, 3.30, 1.41),
    ],
)
def test_hot_and_cold_give_the_table(
    rho: float, data: float, writes: float, one_stream: float, separated: float
) -> None:
    split = HotCold(data=data, writes=writes)
    assert formulas.fifo_hot_cold(rho, split) == pytest.approx(one_stream, abs=0.02)
    best = formulas.ideal_separation(rho, split)
    assert best.amplification == pytest.approx(separated, abs=0.01)
    assert data * best.hot + (1 - data) * best.cold == pytest.approx(1 + rho)


def test_hot_and_cold_alike_are_one() -> None:
    same = HotCold(data=0.3, writes=0.3)
    assert formulas.fifo_hot_cold(0.2, same) == pytest.approx(formulas.fifo(0.2), rel=1e-6)
    assert formulas.ideal_separation(0.2, same).hot == pytest.approx(1.2, abs=1e-3)


@pytest.mark.parametrize(
    ("rho", "trims", "amplification"), [(0.07, 0.1, 3.14), (0.145, 0.2, 1.67), (0.28, 0.2, 1.44)]
)
def test_trims_give_the_table(rho: float, trims: float, amplification: float) -> None:
    assert formulas.fifo(formulas.trimmed(rho, trims)) == pytest.approx(amplification, abs=0.006)


def test_the_laws_of_a_staged_cache_are_those_of_the_bx500() -> None:
    assert formulas.staged(461, 146) == pytest.approx(111, rel=0.002)
    assert formulas.staged_returning(461, 146, 3) == pytest.approx(80.4, abs=0.1)
    assert formulas.direct_returning(111, 111, 3) == pytest.approx(74)
    assert formulas.fold_onset(240, 24, 3) == 192


def test_every_table_is_asked() -> None:
    laws = [point.law for point in points.every()]
    assert len(laws) >= 60
    for word in ("fifo", "random", "greedy", "d-choices", "TRIMs", "ideal separation", "Little"):
        assert any(word in law for law in laws), word
    assert set(points.CACHE_LAWS) <= set(laws)


def _point(**more: Any) -> Point:
    return Point(law="a law", parameters={}, tolerance=0.02, **more)


def test_a_row_is_judged_by_its_tolerance_or_its_bounds() -> None:
    def verdict(point: Point, found: float) -> str:
        return run.judge(point, Sides(expected=2.0, measured=found)).verdict

    assert verdict(_point(expected=2.0), 2.039) == "pass"
    assert verdict(_point(expected=2.0), 2.041) == "miss"
    assert verdict(_point(low=1.0, high=1.5), 1.2) == "pass"
    assert verdict(_point(low=1.0, high=1.5), 1.6) == "miss"


@pytest.mark.parametrize(
    ("policy", "rho", "trims"),
    [
        ("lru", 0.2, 0),
        ("fifo", 0.001, 0),
        ("fifo", math.nan, 0),
        ("fifo", 0.2, 0.5),
        # Requests are drawn in whole percent: the law would be asked at another point.
        ("fifo", 0.2, 0.125),
        ("fifo", 0.2, 0.001),
    ],
)
def test_points_that_cannot_be_are_refused(policy: str, rho: float, trims: float) -> None:
    with pytest.raises(FlashtwinError) as refused:
        points.of_user(policy, rho, 64, trims)
    assert refused.value.exit_code == 2
    assert refused.value.hint


QUICK = (
    ("fifo, uniform random writes", 0.5),
    ("greedy, uniform random writes", 0.5),
    ("d-choices, uniform random writes", 0.28),
    ("staged", None),
    ("direct, borrowed cells return", None),
    ("onset of folding", None),
    ("overwritten in the cache", None),
    ("Little's law", None),
    ("conservation", None),
    ("mean of reads one at a time", None),
    ("deviation of reads one at a time", None),
)


@pytest.mark.parametrize(("law", "rho"), thinned(QUICK, every=6))
def test_drives_keep_the_law(law: str, rho: float | None) -> None:
    chosen = [
        point
        for point in points.every()
        if point.law == law and rho in (None, point.parameters.get("op"))
    ]
    rows = run.validate(chosen[:1]).rows
    assert rows[0].verdict == "pass", rows[0].document()


@pytest.mark.full
def test_drives_keep_every_law() -> None:
    missed = [row.document() for row in run.validate(points.every()).rows if row.verdict == "miss"]
    assert missed == []


def test_the_command_tells_law_point_and_expected(tmp_path: Path) -> None:
    words = ("validate", "--theory", "--policy", "fifo", "--op", "1.0", "--json", "--quiet")
    done = flashtwin(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    row = json.loads(done.stdout)["rows"][0]
    assert row["point"] == {"policy": "fifo", "op": 1.0, "pages": 64}
    assert row["expected"] == pytest.approx(1.255, abs=0.001)
    assert abs(row["error"]) <= row["tolerance"] == 0.01


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policy", "fifo"], "only with --theory"),
        (["--theory", "--policy", "fifo"], "a point needs --policy and --op"),
        (["--theory", "bx500-240"], "--theory builds its own drives"),
        (["--theory", "--policy", "lru", "--op", "0.2"], "no victim policy lru"),
    ],
)
def test_what_the_command_refuses(tmp_path: Path, words: list[str], message: str) -> None:
    done = flashtwin("validate", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
