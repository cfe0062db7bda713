"""Every finding that a battery can make is explained, and a wrong name leads to the right one."""

from __future__ import annotations

import pytest

from flashtwin.batteries.base.registry import explain, meanings
from flashtwin.errors import FlashtwinError

FILL = [
    "cache_size",
    "speed_cache",
    "speed_past_cache",
    "fold_begin",
    "speed_folding",
    "mean_past_cache",
    "mean",
    "duration",
    "one_third",
    "second_pass.cache_size",
    "second_pass.speed_first",
    "second_pass.mean",
]


@pytest.mark.parametrize("name", FILL)
@pytest.mark.parametrize("pattern", ["", "[128k-q32]", "[1m-q1]"])
def test_findings_of_the_fill(name: str, pattern: str) -> None:
    entry = f"fill.{name}[*]".replace("second_pass", "*_pass")
    assert explain(f"fill.{name}{pattern}").id == entry


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("crystaldiskmark.write[SEQ1M-Q8T1]", "crystaldiskmark.*[*]"),
        ("crystaldiskmark.mix[RND4K-Q1T16]", "crystaldiskmark.*[*]"),
        ("crystaldiskmark.read.latency[RND4K-Q1T1]", "crystaldiskmark.*.latency[*]"),
        ("crystaldiskmark.read.iops[RND4K-Q1T1]", "crystaldiskmark.*.iops[*]"),
        (" fill.mean ", "fill.mean[*]"),
        ("fill.third_pass.mean[1m-q1]", "fill.*_pass.mean[*]"),
        ("cache_size", "fill.cache_size[*]"),
        ("fold_begin[1m-q1]", "fill.fold_begin[*]"),
        ("after-write", "power.after-write"),
        ("fill.left_out", "*.left_out"),
        ("left_out", "*.left_out"),
        ("waf", "waf[*]"),
        ("waf[12.5%]", "waf[*]"),
    ],
)
def test_findings_with_parts_that_vary(name: str, entry: str) -> None:
    assert explain(name).id == entry


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("fill.cache-size", "fill.cache_size"),
        ("cache_sizes", "fill.cache_size"),
        ("fill.second_pass.means", "fill.second_pass.mean"),
        ("fill.cache_size(1m-q1)", "fill.cache_size"),
    ],
)
def test_a_wrong_name_leads_to_the_right_one(name: str, meant: str) -> None:
    with pytest.raises(FlashtwinError, match=r"no finding is called") as raised:
        explain(name)
    assert raised.value.exit_code == 2
    assert meant in str(raised.value.hint)


def test_a_name_like_none_still_says_where_to_look() -> None:
    with pytest.raises(FlashtwinError) as raised:
        explain("zzzz")
    assert raised.value.hint == "flashtwin explain lists them all"


def test_every_entry_says_what_it_means_and_how_it_is_found() -> None:
    for meaning in meanings():
        assert len(meaning.means.split()) > 6, meaning.id
        assert len(meaning.found.split()) > 6, meaning.id


def test_no_entry_hides_behind_one_before_it() -> None:
    for meaning in meanings():
        example = meaning.id.replace("*", "x")
        assert explain(example).id == meaning.id
