"""Rows left out of the fit, on drives whose rows follow from their values by a known law."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from flashtwin.catalogue.facts import published
from flashtwin.catalogue.loader import load
from flashtwin_lab.validation import fit
from flashtwin_lab.validation.fit import Value
from flashtwin_lab.validation.records import Record, families, record_of
from flashtwin_lab.validation.rows import TwinValues

PM871B = ("pm871b-128",)
FACTS = {row.metric: row for row in published() if row.drives == PM871B}
READ_A, READ_B = FACTS["mean read speed"], FACTS["read speed"]
WRITE = FACTS["write speed before that"]
VALUES = {value.key: value for value in fit.fitted(PM871B)}
LINK, PROGRAM = VALUES["link.rate"], VALUES["controller.program_time"]


def record(link: float, program: float, errors: Mapping[str, float]) -> Record:
    """Reads go with the link, writes against the time of a program; `errors` as they are."""
    found = {
        READ_A.metric: 513 * link * (1 + errors.get("a", 0.0)),
        READ_B.metric: 523 * link * (1 + errors.get("b", 0.0)),
        WRITE.metric: 450 / program,
    }
    return record_of([(FACTS[name], TwinValues(cells={"": of})) for name, of in found.items()])


def left_out(**errors: float) -> dict[str, fit.LeftOut]:
    raised = {
        LINK: record(LINK.step, 1, errors),
        PROGRAM: record(1, PROGRAM.step, errors),
    }
    rows = fit.left_out(PM871B, record(1, 1, errors), raised)
    return {row.row[2]: row for row in rows}


def test_a_row_that_alone_moves_a_value_predicts_nothing() -> None:
    rows = left_out()
    assert rows[WRITE.metric].alone == (PROGRAM,) and not rows[WRITE.metric].factors
    assert not rows[READ_A.metric].alone and not rows[READ_B.metric].alone


def test_a_row_left_out_is_fitted_by_the_others() -> None:
    rows = left_out(a=0.02)
    # Without A, B asks for no change; without B, A asks for 2 % less of the link.
    assert rows[READ_A.metric].factors.get(LINK, 1.0) == pytest.approx(1.0, abs=1e-3)
    assert rows[READ_B.metric].factors[LINK] == pytest.approx(1 - 0.02, abs=2e-3)
    assert READ_B.tolerance is not None
    assert rows[READ_B.metric].expected == pytest.approx(-0.02 / READ_B.tolerance, rel=0.02)
    change = fit.refit(PM871B, rows[READ_B.metric])
    (set_to,) = change.sets["pm871b-128"]
    key, _, text = set_to.partition("=")
    assert key == "link.rate" and float(text.split()[0]) == pytest.approx(525 * 0.98, rel=2e-3)
    assert [fact.metric for fact, _ in change.pairs()] == ["read speed"]


@pytest.mark.parametrize(
    ("text", "is_number"),
    [
        *(("122 us", True), ("75 us, 105 us, 135 us", True), ("0.45", True), ("1056 KiB", True)),
        *(("false", False), ("settled", False), ("2", False), ("0 %: 157 GB, 75 %: 0", False)),
    ],
)
def test_what_can_be_a_little_larger(text: str, is_number: bool) -> None:
    assert Value(key="k", text=text, source="", drives=()).is_number is is_number


@pytest.mark.parametrize("factor", [1.0123456789, 0.9, math.e / 2])
def test_what_a_fit_asks_for_is_a_value_of_the_format(factor: float) -> None:
    drives = ("bx500-240", "kingston-nv2-1tb", "team-mp44s-1tb")
    values = [value for drive in drives for value in fit.fitted([drive]) if value.is_number]
    assert len(values) > 10
    for value in values:
        before, after = (
            {row["key"]: row["value"] for row in spec.values()}[value.key]
            for spec in (load(value.drives[0]), load(value.drives[0], sets=[value.sets(factor)]))
        )
        assert before != after, value.key


def test_a_value_that_drives_share_is_one_value() -> None:
    family = next(family for family in families() if "bx500-240" in family)
    shared = [value for value in fit.fitted(family) if value.key == "controller.move_time"]
    assert [value.drives for value in shared] == [("bx500-240", "bx500-240-nocache")]
    assert set(shared[0].change(family).sets) == set(family)


def test_what_a_drive_draws_is_tried_on_what_a_meter_sees() -> None:
    family = next(family for family in families() if "bx500-240" in family)
    values = {value.key: value for value in fit.fitted(family)}
    power = {fact.test for fact, _ in values["power.active"].change(family).pairs()}
    assert power == {"power, maximum and mean while writing"}
    moved = {fact.kind for fact, _ in values["controller.move_time"].change(family).pairs()}
    assert moved == {"measured"}, "rows with bounds take no part"
