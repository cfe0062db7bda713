"""What a label lets one expect: intervals hold on drives whose own review is left out."""

from __future__ import annotations

import tomllib

import pytest

from flashtwin.catalogue import MARKET
from flashtwin.catalogue.loader import load
from flashtwin.catalogue.prediction import predictions

REVIEWED = tomllib.loads(MARKET.read_text())["drive"]


def kind(drive: str) -> tuple[int, str, str]:
    spec = load(drive)
    values = {row["key"]: str(row["value"]) for row in spec.values()}
    return spec.capacity_bytes, values["nand.cell"], values["link.kind"]


@pytest.mark.parametrize(
    ("title", "key", "factor", "missed"),
    [
        ("cache on the erased drive", "first_plateau", 1e9, ["hp-fx700-2tb"]),
        ("writing past the cache", "rate_past_it", 1e6, ["hp-fx700-2tb"]),
    ],
)
def test_intervals_hold_on_most_drives_that_did_not_make_them(
    title: str, key: str, factor: float, missed: list[str]
) -> None:
    """The one that they miss is like no other drive with its cells: 3.5 GB/s past the cache."""
    held = {}
    for row in REVIEWED:
        if key not in row:
            continue
        expected = predictions(*kind(row["id"]), without=[row["id"]])
        prediction = next(item for item in expected if item.title == title)
        assert prediction.low <= prediction.middle <= prediction.high
        held[row["id"]] = prediction.low <= row[key] * factor <= prediction.high
    assert len(held) >= 15
    assert [drive for drive, holds in held.items() if not holds] == missed


def test_a_drive_of_many_dies_may_be_as_slow_as_its_controller() -> None:
    """64 dies of the 4 TB drive would write faster than SATA: that is no reason to expect SATA's
    whole speed of a drive that does 400 MB/s."""
    capacity, cell, interface = kind("samsung-870-evo-4tb")
    expected = predictions(capacity, cell, interface, without=["samsung-870-evo-4tb"])
    past = next(item for item in expected if item.unit == "B/s")
    assert past.low < 400e6 < past.high == 550e6


def test_where_nothing_was_reviewed_nothing_is_expected() -> None:
    assert predictions(10**12, "mlc", "sata") == []


@pytest.mark.parametrize(
    ("cell", "interface", "most"),
    [("tlc", "sata", 550e6), ("qlc", "pcie3", 3.5e9), ("tlc", "pcie4", 7e9)],
)
def test_no_rate_is_above_the_link(cell: str, interface: str, most: float) -> None:
    past = next(item for item in predictions(4 * 10**12, cell, interface) if item.unit == "B/s")
    assert past.low <= past.middle <= past.high == most
