"""A finding to JSON and back."""

from __future__ import annotations

import json

import pytest

from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.runs import schema

EVIDENCE = Evidence(battery="fill", label="x", axis="bytes", start=0.0, end=24e9)


def finding(**changes: object) -> Finding:
    values: dict[str, object] = {
        "battery": "fill",
        "name": "mean",
        "variant": "1m-q1",
        "title": "mean",
        "value": 103.25,
        "interval": Interval(low=102.0, high=104.5),
        "unit": "MB/s",
        "evidence": EVIDENCE,
        "note": None,
    }
    return Finding(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "one",
    [
        finding(),
        finding(value=None, interval=None, evidence=None, note="no cache seen"),
        finding(value=0.1 + 0.2),
        finding(interval=Interval(low=None, high=104.5, means="bound"), beside="x", better="lower"),
        finding(value="static", choices=("static", "dynamic"), interval=None, headline=True),
        finding(value=None, choices=("static", "dynamic"), interval=None),
    ],
)
def test_round_trip(one: Finding) -> None:
    row = json.loads(json.dumps(one.to_json(), allow_nan=False))
    assert schema.check(row, schema.Finding).read() == one


def test_an_open_interval_is_written_as_none() -> None:
    row = finding(interval=Interval(high=float("inf"), low=float("nan"))).to_json()
    assert (row["low"], row["high"], row["means"]) == (None, None, "estimate")


def test_an_id_is_made_of_battery_name_and_variant() -> None:
    assert finding().id == "fill.mean[1m-q1]" and finding(variant="").id == "fill.mean"
    assert finding(name="").id == "fill[1m-q1]" and finding(name="", variant="").id == "fill"
    assert finding().kind == "quantity" and finding(value="a", choices=("a", "b")).kind == "choice"


@pytest.mark.parametrize("wrong", [{"value": "b", "choices": ("a",)}, {"value": "24"}])
def test_a_value_is_a_number_or_one_of_its_words(wrong: dict[str, object]) -> None:
    with pytest.raises(AssertionError, match=r"fill.mean\[1m-q1\] cannot be"):
        finding(**wrong)


@pytest.mark.parametrize(
    "change",
    [
        {"value": "24"},
        {"value": True},
        {"evidence": {"axis": "furlongs"}},
        {"evidence": {**finding().to_json()["evidence"], "axis": "furlongs"}},
        {"name": ...},
        {"choices": ["a", "b"]},
        {"means": "about"},
        {"low": "1"},
        {"better": "redder"},
    ],
)
def test_what_is_no_finding_is_refused(change: dict[str, object]) -> None:
    row = {k: v for k, v in {**finding().to_json(), **change}.items() if v is not ...}
    with pytest.raises(schema.SchemaError):
        schema.check(row, schema.Finding)
