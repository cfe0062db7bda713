"""What discover says of a drive in one line, from findings that are made up."""

from __future__ import annotations

import pytest

from flashtwin.batteries.base.present import Subject, present_of
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings


def headline(**values: float | str | None) -> str:
    findings = [
        Finding(
            battery="discover",
            name=name.replace("__", "."),
            title="t",
            value=value,
            choices=(value,) if isinstance(value, str) else (),
        )
        for name, value in values.items()
    ]
    subject = Subject(index=0, name="d", battery="discover", findings=Findings(findings))
    return present_of("discover").alone(subject).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {
                "structure": "dynamic",
                "structure__dynamic": 0.97,
                "past": "staged",
                "size": 23.99,
                "rest_full": 174.0,
            },
            "Dynamic cache of 24.0 GB (97 %), staged; back after 3 min",
        ),
        ({"structure": "static", "structure__static": 0.9}, "Static cache (90 %)"),
        ({"structure": "none", "structure__none": 0.99}, "Shows no cache"),
        ({"structure": None, "past": "staged"}, ""),
    ],
)
def test_the_kind_of_cache_comes_first(values: dict[str, float | str | None], text: str) -> None:
    assert headline(**values) == text


def test_tests_that_are_repeated_bear_different_names() -> None:
    labels = tuple(f"discover/{at}-{name}/write" for at, name in enumerate(["96", "again", "96"]))
    subject = Subject(index=0, name="d", battery="discover", labels=labels)
    titles = [phase.title for phase in present_of("discover").phases(subject)]
    assert len(titles) == len(set(titles)) == 3 and titles[2] == f"{titles[0]}, test 2"
