"""The grid of a sweep: what a text means, in which order points come, what is refused."""

from __future__ import annotations

import pytest

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.study.sweep.grid import axes, axis, points


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("op=0.07,0.14, 0.28", ["0.07", "0.14", "0.28"]),
        ("slc_cache.size=6GB..48GB/8", [f"{n} GB" for n in (6, 12, 18, 24, 30, 36, 42, 48)]),
        ("slc_cache.size=6 GB..24 GB*3", ["6 GB", "12 GB", "24 GB"]),
        ("slc_cache.size=1..4GB/2", ["1 GB", "4 GB"]),
        ("op=7%..28%/4", ["7%", "14%", "21%", "28%"]),
        ("nand.planes=1..4*3", ["1", "2", "4"]),
        ("gc.low=2..10/3", ["2", "6", "10"]),
        ("nand.native.tprog=1ms..2ms/4", ["1 ms", "1.333 ms", "1.667 ms", "2 ms"]),
        ("firmware=none,slc-off", ["none", "slc-off"]),
        ("seed=1..3/3", ["1", "2", "3"]),
        ("op=0.0725..0.1450/2", ["0.0725", "0.145"]),
        ("op=0.07..0.0706/2", ["0.07", "0.0706"]),
        ("gc.low=10..2/3", ["10", "6", "2"]),
    ],
)
def test_a_text_is_these_values(text: str, values: list[str]) -> None:
    assert list(axis(text).values) == values


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("op", "is not KEY=VALUES"),
        ("=1,2", "is not KEY=VALUES"),
        ("op=", "is not KEY=VALUES"),
        ("op=1,,2", "has an empty value"),
        ("op=1,1", "names a value twice"),
        ("slc_cache.size=6GB..48MB/8", "has ends in two units"),
        ("op=0..1*3", "cannot rise in ratios from 0"),
        ("op=0..1/1", "asks for 1 values"),
        ("slc_cache.size=6GB..48GB", "is not a range: it has two ends and a count"),
        ("slc_cache.size=..6GB/3", "is not a range"),
        ("slc_cache.size=6GB..6GB/3", "names a value twice"),
        ("op=a..b/3", "has an end that is not a number with a unit"),
        ("seed=1,x", "has a seed that is not a whole number"),
        ("nand.planes=1..2/4", "names a value twice"),
        ("op=1..0*3", "cannot fall in ratios to 0"),
        ("op=-1..4*3", "cannot rise in ratios from 0"),
        (f"op=1..{10**30}/2", "more digits than a number has"),
        (f"op=0..0.{'0' * 12}1/2", "more digits than a number has"),
        (f"seed={1 << 63}", "not a whole number from 0 to"),
        (f"seed=0..{1 << 64}/2", "more digits than a number has"),
        ("seed=\u0663", "not a whole number from 0 to"),
    ],
)
def test_what_is_no_axis_is_refused_with_the_form(text: str, why: str) -> None:
    with pytest.raises(FlashtwinError) as raised:
        axis(text)
    assert raised.value.message == f"--vary {text} {why}" or why in raised.value.message
    assert raised.value.exit_code == USAGE
    assert "--vary KEY=" in (raised.value.hint or "")


def test_points_count_up_with_the_last_axis_fastest() -> None:
    made = points(axes(["a=1,2", "firmware=none,off", "seed=7,8"]))
    assert [point.number for point in made] == list(range(8))
    assert [point.name for point in made[:3]] == [
        "a=1, firmware=none, seed=7",
        "a=1, firmware=none, seed=8",
        "a=1, firmware=off, seed=7",
    ]
    assert made[2].sets == ("a=1",)
    assert made[2].firmware == ("off",)
    assert made[0].firmware == ()
    assert made[1].seed(1) == 8


def test_a_key_twice_and_a_grid_without_end_are_refused() -> None:
    with pytest.raises(FlashtwinError, match="op is varied twice"):
        axes(["op=0.1", "op=0.2"])
    with pytest.raises(FlashtwinError, match="nothing is varied"):
        axes([])
    with pytest.raises(FlashtwinError, match="has 40,000 points, more than 10,000"):
        points(axes(["a=1..200/200", "b=1..200/200"]))
    with pytest.raises(FlashtwinError, match="has 1,000,000,000,000 points"):
        points(axes([f"{key}=1..10000/10000" for key in "abc"]))
    with pytest.raises(FlashtwinError, match="has more than 1,000,000,000,000,000,000 points"):
        points(axes([f"k{number}=1..10000/10000" for number in range(6)]))


def test_a_long_text_is_not_repeated_whole() -> None:
    with pytest.raises(FlashtwinError) as raised:
        axes(["a=" + "9" * 100_000 + "..1/3"])
    assert len(raised.value.message) < 300
