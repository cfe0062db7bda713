"""Twins of drives whose synchronous writes were published do as many, class by class."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashtwin.catalogue import facts
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.runner.run import run_batteries
from flashtwin_lab.validation.rows import within

# Quick to simulate. `flashtwin validate` judges all of them.
QUICK = {"samsung-pm863a-240"}
DRIVES = dict.fromkeys(fact.drive for fact in facts.of_syncs())
CASES = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.full]) for name in DRIVES]


@pytest.mark.parametrize("name", CASES)
def test_an_erased_twin_writes_as_published(name: str, tmp_path: Path) -> None:
    """The loaded state needs a whole fill; `flashtwin validate` judges it."""
    of_drive = [fact for fact in facts.of_syncs() if fact.drive == name]
    rows = [fact for fact in of_drive if "beside" not in fact.finding]
    battery, _, typed = rows[0].battery.partition(":")
    asked = dict(pair.split("=") for pair in typed.split(",")) | {"states": "fresh"}
    twin = Twin(load(name, scale="1/4"), seed=1).open()
    run = run_batteries(twin, [(battery, asked)], tmp_path / "run")
    found = {finding.id: finding.number for finding in run.findings}
    known = {miss.metric for miss in facts.known_misses() if miss.drive == name}
    for fact in rows:
        value = found[fact.finding]
        assert value is not None
        assert within(fact, value) == (fact.metric not in known), (fact.metric, value)
