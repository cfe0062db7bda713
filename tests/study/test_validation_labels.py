"""Drives from their labels alone: what goes in, and that places are those of whole drives."""

from __future__ import annotations

import pytest

from flashtwin.catalogue import prediction
from flashtwin.catalogue.facts import Fact
from flashtwin.catalogue.loader import load
from flashtwin.runner.events import unseen
from flashtwin_lab.validation import labels, records, sections


@pytest.mark.parametrize(
    ("drive", "label"),
    [
        ("kingston-nv2-1tb", ("pcie4", "tlc", "hmb", 10**12)),
        ("samsung-870-evo-4tb", ("sata", "tlc", "yes", 4 * 10**12)),
        ("wd-sn550-1tb", ("pcie3", "tlc", "none", 10**12)),
        ("crucial-p1-1tb", ("pcie3", "qlc", "yes", 10**12)),
    ],
)
def test_a_label_says_no_more_than_is_printed(drive: str, label: tuple[object, ...]) -> None:
    read = labels.label_of(drive)
    assert (read.interface, read.cell, read.dram, read.capacity_bytes) == label
    assert read.dies is None and read.cache_bytes is None, "a review says these, no label"


def test_places_are_those_of_a_whole_drive() -> None:
    drive = "samsung-970-evo-500"
    record = labels.from_labels([drive], unseen)[labels.record_name(drive)]
    assert record.scale == "1/8" and record.is_of_todays_specs
    found = {row.metric: row.cells[""] for row in record.found}
    (cache,) = [
        item
        for item in prediction.predictions(labels.label_of(drive).kind, without=[drive])
        if item.title == prediction.CACHE
    ]
    assert found["written before the first drop"] == pytest.approx(cache.middle / 1e9, rel=0.05)
    stored = records.stored()[labels.record_name(drive)].rows()
    assert {row.row: row.cells for row in record.found} == {
        row: of.cells for row, of in stored.items()
    }, "the shipped record is of other priors: flashtwin_lab.make.validation --changes"


def test_the_section_counts_by_row() -> None:
    facts = [
        Fact(
            drives=(drive,),
            test=sections.FILL_TEST,
            metric="written before the first drop",
            value=value,
        )
        for drive, value in (("kingston-nv2-1tb", 88), ("wd-sn580-1tb", 341))
    ]
    assert all(load(fact.drive) for fact in facts)
    shipped = records.stored()
    text = sections.label_section(
        {labels.record_name(fact.drive): shipped[labels.record_name(fact.drive)] for fact in facts}
    )
    line = next(
        line for line in text.splitlines() if line.startswith("| written before the first drop | ")
    )
    # By drives with the same controller the NV2 is expected within a factor of 1.5, the SN580 not.
    assert line.split(" | ")[1:4] == ["2", "0", "1"]
