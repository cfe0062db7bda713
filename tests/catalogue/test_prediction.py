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
    ("title", "key", "factor"),
    [
        ("cache on the erased drive", "first_plateau", 1e9),
        ("writing past the cache", "rate_past_it", 1e6),
    ],
)
def test_intervals_hold_on_most_drives_that_did_not_make_them(
    title: str, key: str, factor: float
) -> None:
    held = []
    for row in REVIEWED:
        if key not in row:
            continue
        expected = predictions(*kind(row["id"]), without=[row["id"]])
        prediction = next(item for item in expected if item.title == title)
        assert prediction.low <= prediction.middle <= prediction.high
        held.append(prediction.low <= row[key] * factor <= prediction.high)
    assert len(held) >= 15
    assert sum(held) >= 0.85 * len(held)


def test_where_nothing_was_reviewed_nothing_is_expected() -> None:
    assert predictions(10**12, "mlc", "sata") == []


@pytest.mark.parametrize(
    ("cell", "interface", "most"),
    [("tlc", "sata", 550e6), ("qlc", "pcie3", 3.5e9), ("tlc", "pcie4", 7e9)],
)
def test_no_rate_is_above_the_link(cell: str, interface: str, most: float) -> None:
    past = next(item for item in predictions(4 * 10**12, cell, interface) if item.unit == "B/s")
    assert past.low <= past.middle <= past.high == most
