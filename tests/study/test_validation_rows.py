"""The rules of judging, as a table."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from flashtwin.catalogue.facts import Fact, KnownMiss
from flashtwin_lab.validation.rows import TwinValues, count, judge, judge_all, missed, outlived


def fact(**fields: Any) -> Fact:
    return Fact(**{"drives": ("d",), "test": "t", "metric": "m", **fields})


def verdict(of: Fact, *cells: float | None, known: tuple[KnownMiss, ...] = ()) -> str:
    named = {str(number): value for number, value in enumerate(cells)}
    return judge(of, TwinValues(cells=named), known).verdict


MEASURED = {"value": 100.0, "tolerance": 0.03, "unit": "MB/s"}
EQUAL = {"tolerance": 0.05, "drives": ("a", "b")}
BOUNDS = {"kind": "qualitative", "low": 0.2, "high": 0.7, "drives": ("a", "b")}
WHY = KnownMiss(drive="d", test="t", metric="m", why="no thermal model")


@pytest.mark.parametrize(
    ("fields", "found", "expected"),
    [
        (MEASURED, 100.0, "pass"),
        (MEASURED, 103.0, "pass"),
        (MEASURED, 97.0, "pass"),
        (MEASURED, 103.1, "miss"),
        (MEASURED, 96.9, "miss"),
        (MEASURED, None, "miss"),
        (MEASURED, math.nan, "miss"),
        (MEASURED, math.inf, "miss"),
        (EQUAL, 1.0, "pass"),
        (EQUAL, 1.05, "pass"),
        (EQUAL, 0.94, "miss"),
        (BOUNDS, 0.2, "pass"),
        (BOUNDS, 0.7, "pass"),
        (BOUNDS, 0.19, "miss"),
        (BOUNDS, 0.71, "miss"),
        (BOUNDS, None, "miss"),
        ({"kind": "computed", "value": 0.87, "tolerance": 0.07}, 0.5, "computed"),
        ({"kind": "computed", "value": 0.87, "tolerance": 0.07}, 0.87, "computed"),
        ({"kind": "shown", "low": 0.5, "high": 0.99}, 1.2, "shown"),
        ({"kind": "qualitative", "low": 1, "high": 5000}, 400, "pass"),
        ({"kind": "qualitative", "low": 0.5}, 99.0, "pass"),
        ({"kind": "qualitative", "high": -0.35, "low": -0.55}, -0.45, "pass"),
    ],
)
def test_verdicts(fields: dict[str, Any], found: float | None, expected: str) -> None:
    assert verdict(fact(**fields), found) == expected


@pytest.mark.parametrize(
    ("fields", "found", "error"),
    [
        (MEASURED, 110.0, 0.1),
        (EQUAL, 0.9, -0.1),
        (BOUNDS, 0.3, 0.0),
        (BOUNDS, 0.1, -0.5),
        (BOUNDS, 1.4, 1.0),
    ],
)
def test_errors(fields: dict[str, Any], found: float, error: float) -> None:
    row = judge(fact(**fields), TwinValues(cells={"": found}))
    assert row.error == pytest.approx(error)


def test_the_worst_cell_stands_for_all() -> None:
    found = TwinValues(cells={"Q1T1": 1.01, "Q1T4": 0.97}, also={"Q1T2": 1.0})
    row = judge(fact(**EQUAL), found)
    assert (row.cell, row.measured) == ("Q1T4", 0.97)
    assert row.also == {"Q1T1": 1.01, "Q1T2": 1.0}
    assert verdict(fact(**EQUAL), 1.0, 1.2) == "miss"
    assert verdict(fact(**EQUAL), 1.0, None) == "miss"


def test_a_miss_that_is_listed_is_known_and_a_pass_is_a_pass() -> None:
    row = judge(fact(**MEASURED), TwinValues(cells={"": 50.0}), (WHY,))
    assert (row.verdict, row.why) == ("known", "no thermal model")
    assert verdict(fact(**MEASURED), 100.0, known=(WHY,)) == "pass"
    assert verdict(fact(**{**MEASURED, "metric": "other"}), 50.0, known=(WHY,)) == "miss"


def test_counting_keeps_calibration_apart_and_computed_out() -> None:
    rows = [
        judge(fact(**MEASURED), TwinValues(cells={"": 100.0})),
        judge(fact(**MEASURED), TwinValues(cells={"": 1.0})),
        judge(fact(**MEASURED), TwinValues(cells={"": 1.0}), (WHY,)),
        judge(fact(**MEASURED, conditions={"size": "assumed: 1 GB"}), TwinValues(cells={"": 1.0})),
        judge(fact(**{**MEASURED, "kind": "computed"}), TwinValues(cells={"": 1.0})),
    ]
    assert count(rows) == {
        "validation": {"pass": 1, "known": 1, "miss": 1},
        "calibration": {"pass": 0, "known": 0, "miss": 1},
    }
    assert missed(rows) == 2


def test_an_entry_whose_row_passes_has_outlived_its_reason() -> None:
    held = judge(fact(**MEASURED), TwinValues(cells={"": 100.0}), (WHY,))
    missing = judge(fact(**MEASURED), TwinValues(cells={"": 1.0}), (WHY,))
    assert outlived([held], [WHY]) == [WHY]
    assert outlived([missing], [WHY]) == []


def test_json_has_the_promised_keys_spelled_as_published() -> None:
    pair = fact(drives=("a", "b"), kind="qualitative", low=0.2, high=0.7, check="off much lower")
    row = judge(pair, TwinValues(cells={"": 0.5}, also={"1m-q1": 0.6})).document()
    assert row.drive == "a vs b"
    assert (row.found, row.error, row.tolerance) == (0.5, 0.0, None)
    assert row.published == [0.2, 0.7]
    assert row.also == {"1m-q1": 0.6}
    promised = ["drive", "test", "metric", "published", "found", "error", "tolerance", "verdict"]
    assert list(msgspec.to_builtins(row))[: len(promised)] == promised


def test_json_of_a_row_without_a_value_holds_no_nan() -> None:
    row = judge(fact(**MEASURED), TwinValues(cells={"": math.nan})).document()
    assert (row.found, row.error, row.verdict) == (None, None, "miss")


def test_a_variant_is_a_row_of_its_own_with_a_verdict_and_reason_of_its_own() -> None:
    found = TwinValues(
        cells={"": 100.0}, variants={"half full": 79.0, "1m-q1": 99.0, "other": 50.0}
    )
    why = KnownMiss(
        drive=WHY.drive, test=WHY.test, metric=WHY.metric, why="no room", variant="half full"
    )
    rows = judge_all(fact(**MEASURED), found, (why,))
    told = {row.variant: row.verdict for row in rows}
    assert told == {"": "pass", "half full": "known", "1m-q1": "pass", "other": "miss"}
    assert rows[1].document().variant == "half full"
    assert "variant" not in msgspec.to_builtins(rows[0].document())
    passed = judge_all(
        fact(**MEASURED), TwinValues(cells={"": 50.0}, variants={"half full": 100.0})
    )
    assert outlived(passed, (why,)) == [why]
    # The reason of a variant excuses nothing else.
    assert judge(fact(**MEASURED), TwinValues(cells={"": 50.0}), (why,)).verdict == "miss"
