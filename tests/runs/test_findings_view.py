"""Findings by position and by name."""

from __future__ import annotations

import pytest
from stored_runs import finding, usual

from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings


def test_it_is_the_sequence_that_it_was() -> None:
    found = usual()
    view = Findings(found)
    assert list(view) == found and len(view) == len(found) and view == found
    assert view[0] is found[0] and view[-1] is found[-1]
    assert view[1:3] == found[1:3] and found[2] in view
    assert view != found[:-1] and view != "text"
    assert not Findings() and hash(view) == hash(Findings(found))


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("fill.cache_size[1m-q1]", 2),
        ("cache_size[1m-q1]", 2),
        ("fill.cache_size", 0),
        ("cache_size", 0),
        ("read[SEQ1M-Q8T1]", 4),
        ("crystaldiskmark.read.latency[SEQ1M-Q8T1]", 5),
    ],
)
def test_names(name: str, index: int) -> None:
    found = usual()
    assert Findings(found)[name] is found[index]
    assert name in Findings(found)


def test_a_whole_id_comes_before_a_short_one() -> None:
    one, other = finding("a.b", 1.0), finding("b", 2.0)
    assert Findings([one, other])["b"] is other


def test_all_patterns() -> None:
    assert [one.id for one in Findings(usual()).all("cache_size")] == [
        "fill.cache_size[128k-q32]",
        "fill.cache_size[1m-q1]",
    ]
    assert Findings(usual()).all("nothing") == []


def test_a_name_that_is_none() -> None:
    with pytest.raises(KeyError, match="did you mean cache_size"):
        Findings(usual())["cache_sise"]
    with pytest.raises(KeyError, match="there are cache_size, speed_cache"):
        Findings(usual())["zzz"]
    assert Findings(usual()).get("zzz") is None


def test_as_a_mapping() -> None:
    view = Findings(usual())
    assert dict(view) == dict(view.items()) and list(dict(view)) == view.keys()
    assert view.values() == list(view)


def test_in_a_notebook_and_at_the_prompt() -> None:
    view = Findings([finding("fill.a<b>", 1.0, half=0.5, note="it's <so>"), finding("x.y", None)])
    html = view._repr_html_()
    assert "fill.a&lt;b&gt;" in html and "<so>" not in html and html.count("<tr") == 3
    assert repr(view) == "Findings(fill.a<b>=1 MB/s, x.y=\u2013)"
    assert "2 more" in repr(Findings(usual()))


def test_what_a_finding_answers_to() -> None:
    later = finding("fill.second_pass.mean[1m-q1]", 1.0)
    assert later.short == "second_pass.mean" and later.stem == "fill.second_pass.mean"
    assert finding("plain", 1.0).short == "plain"
    shorter = ("fill.mean", "mean[a]", "mean")
    assert finding("fill.mean[a]", 1.0).names == ("fill.mean[a]", *shorter)


def test_a_battery_with_one_finding() -> None:
    """A variant may have a point in it, which parts nothing."""
    view = Findings([finding("waf[12.5%]", 2.0, "x"), finding("waf[90%]", 3.0, "x")])
    assert view[0].short == "waf" and view[0].names == ("waf[12.5%]", "waf", "waf[12.5%]", "waf")
    assert view["waf"] is view[0] and len(view.all("waf")) == 2
    assert view.get("5%]") is None


def test_a_choice_shows_its_word() -> None:
    one = Finding(battery="x", name="design", title="", value="static", choices=("static", "none"))
    view = Findings([one])
    assert repr(view) == "Findings(x.design=static)" and ">static<" in view._repr_html_()
