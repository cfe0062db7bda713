"""Knock-outs: which drives have a mechanism, which rows are tried, and what counts as broken."""

from __future__ import annotations

import pytest
from test_validation_measure import closed_form
from thinning import thinned

from flashtwin.catalogue.facts import Fact, published
from flashtwin.catalogue.loader import drive_ids
from flashtwin.runner.events import unseen
from flashtwin_lab.validation import knockouts
from flashtwin_lab.validation.changes import Change, KnockOut, knock_outs, tried
from flashtwin_lab.validation.knockouts import changes_of, knocked_out, record_name
from flashtwin_lab.validation.metrics import plans
from flashtwin_lab.validation.records import Record, families, family_name, record_of, stored
from flashtwin_lab.validation.rows import TwinValues
from flashtwin_lab.validation.sections import knock_out_section

assert closed_form, "a fixture of the drives in closed form"
ON_AND_OFF = ("bx500-240", "bx500-240-nocache")


def fact(metric: str) -> Fact:
    return next(row for row in published() if row.drive == "bx500-240" and row.metric == metric)


def record(**values: float | None) -> Record:
    named = {"size": "cache size", "speed": "speed in the cache"}
    return record_of(
        [(fact(named[name]), TwinValues(cells={"": value})) for name, value in values.items()]
    )


@pytest.mark.parametrize(
    "mechanism", thinned(knock_outs(), every=7), ids=lambda mechanism: mechanism.name
)
def test_every_mechanism_is_one_of_some_drive(mechanism: KnockOut) -> None:
    assert set(mechanism.drives) <= set(drive_ids())
    assert set(mechanism.also) <= set(plans())
    changed = {drive for family in families() for drive in mechanism.changes(family)}
    assert changed and set(mechanism.drives) <= changed, "it switches nothing off"


def test_a_row_breaks_if_it_passes_only_with_the_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    read_ahead = KnockOut(name="read-ahead", without="none is there", sets=("a=0",))
    monkeypatch.setattr(knockouts, "knock_outs", lambda: (read_ahead,))

    def broken(base: Record, changed: Record) -> list[tuple[str, float | None]]:
        name = family_name(ON_AND_OFF)
        (row,) = knocked_out({name: base, record_name(ON_AND_OFF, "read-ahead"): changed})
        assert row.tried == len(changed.found)
        return [(broken.fact.metric, broken.found) for broken in row.broken]

    whole = record(size=24.0, speed=461.0)
    assert broken(whole, whole) == []
    assert broken(whole, record(size=24.5, speed=300.0)) == [("speed in the cache", 300.0)]
    assert broken(whole, record(size=None)) == [("cache size", None)]
    assert broken(record(size=99.0, speed=461.0), record(size=1.0, speed=461.0)) == []


def test_a_change_of_one_drive_runs_its_rows_alone() -> None:
    off = Change(family=ON_AND_OFF, sets={"bx500-240-nocache": ("controller.overlap=true",)})
    drives = {fact.drives for fact, _ in off.pairs()}
    assert drives == {("bx500-240-nocache",), ON_AND_OFF}
    assert all(not how.variants and not how.also for _, how in off.pairs())
    long = Change(family=("545s-256",), sets={"545s-256": ("gc.pace=stop-the-world",)})
    also = Change(family=long.family, sets=long.sets, also=("dispersion, writes",))
    more = {fact.metric for fact, _ in also.pairs()} - {fact.metric for fact, _ in long.pairs()}
    assert "rate in the cache phase" in more and len(more) == 3
    names = [name for name in changes_of([ON_AND_OFF]) if "staging" in name]
    assert names == ["bx500-240 bx500-240-nocache; without staging"]


def test_what_was_not_tried_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    family = ("wd-sn570-1tb",)
    monkeypatch.setattr(knockouts, "families", lambda: [family])
    names = knockouts.untried({})[family]
    assert "SLC cache" in names and "compression" not in names, "it has no compression"
    tried_one = {record_name(family, "SLC cache"): stored()[family_name(family)]}
    assert knockouts.untried(tried_one)[family] == [name for name in names if name != "SLC cache"]
    text = knock_out_section(knocked_out(stored()), {family: ["a mechanism"]})
    assert "Not tried on these drives yet:\n\n- `wd-sn570-1tb`: a mechanism\n" in text


@pytest.mark.usefixtures("closed_form")
def test_what_is_tried_is_of_the_changed_drive() -> None:
    rows = frozenset({("bx500-240", "fill, sequential, empty drive", "cache size")})
    sets = {"bx500-240": ("slc_cache.mode=none",)}
    change = Change(family=ON_AND_OFF, sets=sets, rows=rows)
    (found,) = tried({"x": change}, stored(), unseen)["x"].found
    assert found.row in rows and found.cells[""] == pytest.approx(24, rel=0.01)
    small = Change(family=("wd-sn580-1tb",), sets={"wd-sn580-1tb": ("controller.data_rate=0",)})
    made = tried({"x": small}, stored(), unseen)["x"]
    # The closed form is the same drive at every size and with every value: nothing changes.
    whole = stored()["wd-sn580-1tb"].found[0].cells
    assert made.scale == "1/8" and made.found[0].cells == pytest.approx(whole)
