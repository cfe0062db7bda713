"""A finding to JSON and back."""

from __future__ import annotations

import json

import pytest

from flashtwin.model.finding import Evidence, Finding, by_id, from_json

EVIDENCE = Evidence(battery="fill", label="x", axis="bytes", start=0.0, end=24e9)


def finding(**changes: object) -> Finding:
    values: dict[str, object] = {
        "id": "fill.mean[1m-q1]",
        "title": "mean",
        "battery": "fill",
        "value": 103.25,
        "low": 102.0,
        "high": 104.5,
        "unit": "MB/s",
        "evidence": EVIDENCE,
        "note": None,
    }
    return Finding(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "one",
    [
        finding(),
        finding(value=None, low=None, high=None, evidence=None, note="no cache seen"),
        finding(value=0.1 + 0.2),
    ],
)
def test_round_trip(one: Finding) -> None:
    assert from_json(json.loads(json.dumps(one.to_json(), allow_nan=False))) == one


def test_an_open_interval_is_written_as_none() -> None:
    row = finding(high=float("inf"), low=float("nan")).to_json()
    assert (row["low"], row["high"]) == (None, None)


@pytest.mark.parametrize(
    "change",
    [
        {"value": "24"},
        {"value": True},
        {"evidence": {"axis": "furlongs"}},
        {"evidence": {**finding().to_json()["evidence"], "axis": "furlongs"}},
        {"id": ...},
    ],
)
def test_what_is_no_finding_is_refused(change: dict[str, object]) -> None:
    row = {k: v for k, v in {**finding().to_json(), **change}.items() if v is not ...}
    with pytest.raises((KeyError, TypeError, ValueError)):
        from_json(row)


def test_by_id() -> None:
    a, b = finding(), finding(id="fill.duration[1m-q1]")
    assert by_id([a, b]) == {a.id: a, b.id: b}
