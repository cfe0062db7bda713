"""The page of the validation: of today's core, specs and rows; what it says of a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flashtwin import _core
from flashtwin.catalogue import validated
from flashtwin.catalogue.facts import Fact, KnownMiss, facts_for, published
from flashtwin.catalogue.loader import drive_ids
from flashtwin_lab.make import validation
from flashtwin_lab.validation import records, sections
from flashtwin_lab.validation.metrics import measure_of
from flashtwin_lab.validation.page import page, published_text
from flashtwin_lab.validation.rows import TwinValues, judge, judge_all

ROOT = Path(__file__).parents[2]
AGAIN = "make it again: .venv/bin/python -m flashtwin_lab.make.validation"


@pytest.mark.parametrize("family", records.families(), ids=records.family_name)
def test_a_shipped_record_is_of_todays_core_specs_and_rows(family: tuple[str, ...]) -> None:
    record = records.stored()[records.family_name(family)]
    assert record.model == _core.MODEL, AGAIN
    assert record.specs == {drive: records.spec_hash(drive) for drive in record.specs}, AGAIN
    facts = [fact for fact in facts_for(family, published()) if measure_of(fact) is not None]
    rows = {(fact.drive, fact.test, fact.metric): fact for fact in facts}
    assert set(record.rows()) == set(rows), AGAIN
    for row, found in record.rows().items():
        measure = measure_of(rows[row])
        assert measure is not None
        cells = (measure.cells, measure.variants, measure.also)
        names = [[cell.name for cell in of] for of in cells]
        assert names == [list(of) for of in (found.cells, found.variants, found.also)], AGAIN


def test_the_page_is_what_was_found_and_published() -> None:
    assert validation.PAGE.read_text() == validation.text(), AGAIN


def test_the_counts_that_drives_tells_are_those_of_the_records() -> None:
    assert validated.DATA.read_bytes() == validation.counts(), AGAIN


def test_nothing_that_is_shipped_is_missed() -> None:
    shipped = records.stored()
    base = [shipped[records.family_name(family)] for family in records.families()]
    rows = [row for record in base for row in records.judged_rows(record)]
    assert len(rows) > 140
    assert [row.fact.metric for row in rows if row.verdict == "miss"] == []


def test_rows_that_are_said_to_have_moved_did() -> None:
    shipped = records.stored()
    base = [shipped[records.family_name(family)] for family in records.families()]
    rows = [row for record in base for row in records.judged_rows(record)]
    found = {(r.fact.drive, r.fact.test, r.fact.metric, r.variant): r for r in rows}
    for entry in sections.moved():
        row = found[entry.row]
        assert row.measured is not None
        tolerance = row.fact.tolerance or 0.1
        assert abs(row.measured / entry.was - 1) > tolerance / 3, entry.metric


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    fact = Fact(drives=("bx500-240",), test="t", metric="m", value=100.0, tolerance=0.1, unit="GB")
    values = TwinValues(cells={"": 99.123456789}, variants={"other": None})
    record = records.record_of([(fact, values)])
    path = tmp_path / "records.json"
    path.write_bytes(records.encoded({"bx500-240": record}))
    again = records.stored(path)["bx500-240"]
    assert again == record and again.is_current
    assert again.rows()[("bx500-240", "t", "m")].cells == {"": 99.1235}
    stale = {"model": _core.MODEL - 1}, {"specs": {"bx500-240": "0"}}, {"specs": {"gone": "0"}}
    for change in stale:
        assert not records.msgspec.structs.replace(record, **change).is_current


def test_families_are_the_drives_that_are_compared() -> None:
    families = records.families()
    assert ("bx500-240", "bx500-240-nocache") in families
    drives = [drive for family in families for drive in family]
    assert len(drives) == len(set(drives)) and set(drives) <= set(drive_ids())


def test_a_page_tells_pass_from_known_and_miss() -> None:
    def fact(metric: str, **more: object) -> Fact:
        stated: dict[str, Any] = {"value": 100.0, "tolerance": 0.03, "unit": "MB/s", **more}
        return Fact(drives=("bx500-240",), test="a | b", metric=metric, **stated)

    why = KnownMiss(drive="bx500-240", test="a | b", metric="k", why="a mechanism gave 90")
    assumed = {"conditions": {"depth": "assumed 1"}}
    bounds = {"value": None, "tolerance": None, "low": 0.2, "high": 0.7}
    rows = [
        *judge_all(fact("p"), TwinValues(cells={"": 101.0}, variants={"half full": 120.0})),
        judge(fact("k"), TwinValues(cells={"": 90.0}), [why]),
        judge(fact("c", **assumed), TwinValues(cells={"": 100.0})),
        judge(fact("b", **bounds), TwinValues(cells={"": 0.5})),
        judge(
            fact("r", value=None, tolerance=None, kind="shown"),
            TwinValues(cells={"8 dies": 230.0, "16 dies": 231.0}),
        ),
    ]
    text = page(rows)
    lines = [line for line in text.splitlines() if line.startswith("| a / b")]
    assert lines == [
        "| a / b: p | 100 MB/s | 101 | +1.0 % | 3 % | validation | pass |",
        "| a / b: p (half full) | 100 MB/s | 120 | +20.0 % | 3 % | validation | miss |",
        "| a / b: k | 100 MB/s | 90 | -10.0 % | 3 % | validation | known |",
        "| a / b: c | 100 MB/s | 100 | +0.0 % | 3 % | calibration | pass |",
        "| a / b: b | 0.2 to 0.7 | 0.5 | within | - | validation | pass |",
        "| a / b: r | - | 8 dies: 230; 16 dies: 231 | - | - | shown | shown |",
    ]
    assert "\n- bx500-240: k: a mechanism gave 90.\n" in text
    summary = next(line for line in text.splitlines() if line.startswith("| `bx500-240`"))
    # Five rows without the variant: two of three pass that validate, one of one that calibrates.
    assert summary.split(" | ")[1] == "5" and "2 of 3 | 1 of 1 | 1 | 0 | 1 | no" in summary
    assert "Not checked on hardware" in text
    assert published_text(Fact(drives=("a",), test="t", metric="m", low=1.0)) == "at least 1"
