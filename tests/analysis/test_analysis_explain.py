"""Every finding has its explanation, and what people type leads to it."""

from __future__ import annotations

import pytest
from shapes import fill, found

from flashtwin.analysis.explain import EXPLANATIONS, families, lookup


@pytest.mark.parametrize(
    ("typed", "family"),
    [
        ("fill.cache_size", "fill.cache_size[<pattern>]"),
        ("fill.cache_size[128k-q32]", "fill.cache_size[<pattern>]"),
        ("cache_size", "fill.cache_size[<pattern>]"),
        (" Cache_Size ", "fill.cache_size[<pattern>]"),
        ("cache_size[1m-q1]", "fill.cache_size[<pattern>]"),
        ("mean", "fill.mean[<pattern>]"),
        ("second_pass.mean", "fill.<nth>_pass.mean[<pattern>]"),
        ("fill.second_pass.cache_size[1m-q1]", "fill.<nth>_pass.cache_size[<pattern>]"),
        ("cdm.SEQ1M-Q8T1.write", "cdm.<cell>.<read|write|mix>"),
        ("RND4K-Q1T16.mix", "cdm.<cell>.<read|write|mix>"),
        ("cdm.RND4K-Q1T1.read.latency", "cdm.<cell>.<read|write|mix>.latency"),
        ("cdm.RND4K-Q1T1.read.iops", "cdm.<cell>.<read|write|mix>.iops"),
    ],
)
def test_what_people_type(typed: str, family: str) -> None:
    explanation, nearest = lookup(typed)
    assert explanation is not None and explanation.family == family
    assert nearest == ()


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("fill.cache-size", "fill.cache_size"),
        ("cache_sze", "fill.cache_size"),
        ("fold", "fill.fold_begin"),
        ("fill.third", "fill.one_third"),
        ("latency", "cdm.<cell>.<read|write|mix>.latency"),
        ("cdm", "cdm.<cell>.<read|write|mix>"),
    ],
)
def test_what_people_mistype(typed: str, suggested: str) -> None:
    explanation, nearest = lookup(typed)
    assert explanation is None
    assert suggested in nearest
    assert len(nearest) <= 3


@pytest.mark.parametrize("typed", ["", "zzzz", "[", "("])
def test_what_nobody_can_mean(typed: str) -> None:
    assert lookup(typed) == (None, ())


def test_every_finding_of_a_fill_is_explained_with_its_title_and_unit() -> None:
    series = fill((461, 24), (111, 192), (81, 240), sample_s=4)
    for number in (1, 2, 3):
        for finding in found(series, pass_number=number).values():
            explanation, _ = lookup(finding.id)
            assert explanation is not None, finding.id
            assert explanation.unit.split()[0] == finding.unit
            if number == 1:
                assert explanation.title == finding.title


def test_every_text_says_something() -> None:
    assert len(set(families())) == len(EXPLANATIONS)
    for explanation in EXPLANATIONS:
        for name in ("means", "found", "rests_on", "misleads"):
            text = getattr(explanation, name)
            assert text.strip() == text and text.endswith("."), (explanation.family, name)
            assert "  " not in text
