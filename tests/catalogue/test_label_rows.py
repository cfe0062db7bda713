"""What is printed of drives as sold: rows, what counts of them, and a twin that meets its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flashtwin.catalogue import facts
from flashtwin.catalogue.endurance import steady_amplification, tbw_warning
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.runner.run import run_batteries
from flashtwin_lab.validation.rows import within

SINGLE = "one at a time"


def test_a_figure_that_fitted_a_value_only_calibrates() -> None:
    of_drive = {fact.metric: fact for fact in facts.of_labels() if fact.drive == "wd-sn550-1tb"}
    assert of_drive["reads in order"].calibration
    assert not of_drive["writes in order"].calibration


def test_figures_of_the_hosts_own_time_only_calibrate() -> None:
    single = [fact for fact in facts.of_labels() if SINGLE in fact.metric]
    assert len({fact.drive for fact in single}) >= 10
    assert all(fact.calibration for fact in single)


def test_each_figure_names_its_source() -> None:
    for fact in facts.of_labels():
        assert fact.conditions["source"].removeprefix("published: ").strip(), fact.drive


def findings(twin: Twin, battery: str, folder: Path) -> dict[str, float | None]:
    """The numbers of a battery as a row spells it."""
    name, _, typed = battery.partition(":")
    asked: dict[str, Any] = dict(pair.split("=") for pair in typed.split(","))
    run = run_batteries(twin, [(name, asked | {"size": "64MB"})], folder)
    return {finding.id: finding.number for finding in run.findings}


@pytest.mark.parametrize("metric", ["random reads, one at a time", "random writes, one at a time"])
def test_a_twin_answers_one_at_a_time_as_its_label(metric: str, tmp_path: Path) -> None:
    (fact,) = (
        fact
        for fact in facts.of_labels()
        if fact.drive == "samsung-980-1tb" and fact.metric == metric
    )
    twin = Twin(load(fact.drive, scale="1/16"), seed=1).open()
    value = findings(twin, fact.battery, tmp_path / "run")[fact.finding]
    assert value is not None
    assert within(fact, value), value


def test_more_spare_flash_amplifies_less() -> None:
    amplified = [steady_amplification(spare) for spare in (0.07, 0.28, 1.0)]
    assert amplified == sorted(amplified, reverse=True)
    # First-in first-out collection at 7 % (Desnoyers 2012).
    assert amplified[0] == pytest.approx(7.6, rel=0.1)


def test_a_rating_beyond_the_cells_is_told() -> None:
    of_label = "drive.rated_tbw=600 TB"
    few = load("bx500-240", sets=[of_label])
    assert "random writes" in (tbw_warning(few) or "")
    assert tbw_warning(load("bx500-240", sets=["drive.rated_tbw=20 TB"])) is None
    assert tbw_warning(load("bx500-240", sets=["drive.rated_tbw=0"])) is None


def test_a_text_extends_a_drive_of_a_class() -> None:
    text = 'schema = 1\nid = "mine"\nname = "Mine"\nextends = "samsung-980-pro-1tb"\n'
    assert load(text).hash == load("samsung-980-pro-1tb").hash


def test_power_rests_on_what_is_assumed(tmp_path: Path) -> None:
    twin = Twin(load("kingston-nv2-1tb", scale="1/64"), seed=1).open()
    asked = {"size": "64MB", "rest_s": "2s", "random_s": "1s"}
    run = run_batteries(twin, [("power", asked)], tmp_path / "run")
    notes = {finding.id: finding.note or "" for finding in run.findings}
    assert "assumed in the spec: power.active" in notes["power.write"]
    assert "power.light.power" in notes["power.idle"]
