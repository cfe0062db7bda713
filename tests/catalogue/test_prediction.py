"""What a label lets one expect: judged on drives whose own review is left out."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from flashtwin import _core
from flashtwin.catalogue import MARKET
from flashtwin.catalogue.label import Interface, Label, spec_text
from flashtwin.catalogue.loader import load
from flashtwin.catalogue.prediction import CACHE, MEAN, RATE, Kind, Prediction, kind_of, predictions
from flashtwin.model.job import Job, jobs_json

REVIEWED = {row["id"]: row for row in tomllib.loads(MARKET.read_text())["drive"]}


def of_title(title: str, expected: list[Prediction]) -> Prediction:
    return next(item for item in expected if item.title == title)


def left_out(title: str, key: str, factor: float) -> Iterator[tuple[Prediction, float]]:
    """Each drive's figure, and what is expected of it without its review."""
    for drive, row in REVIEWED.items():
        figure = row.get("rate_past_both", row.get(key)) if title == RATE else row.get(key)
        expected = predictions(kind_of(drive, row["controller"]), without=[drive])
        if figure is not None and any(item.title == title for item in expected):
            yield of_title(title, expected), figure * factor


@pytest.mark.parametrize(
    ("title", "key", "factor", "middle", "width"),
    [
        (CACHE, "first_plateau", 1e9, 3.0, 80.0),
        (RATE, "rate_past_it", 1e6, 1.45, 9.0),
        (MEAN, "mean", 1e6, 1.35, 9.0),
    ],
)
def test_drives_that_did_not_make_an_interval_lie_in_it(
    title: str, key: str, factor: float, middle: float, width: float
) -> None:
    """`middle`: half of the drives are off by this factor at most. Twenty drives do
    not tell a cache to a factor of 1.5, which the width says."""
    pairs = list(left_out(title, key, factor))
    off = [max(item.middle / true, true / item.middle) for item, true in pairs]
    assert float(np.median(off)) <= middle
    assert sum(item.low <= true <= item.high for item, true in pairs) >= 0.85 * len(pairs)
    assert float(np.median([item.high / item.low for item, _ in pairs])) <= width


def test_the_maker_of_the_controller_makes_the_cache_likelier() -> None:
    """Three drives of one maker have 14 or 15 % of the capacity, whatever their cells."""
    label = Kind(capacity=1e12, cell="tlc", interface="pcie3", has_dram=True)
    known = of_title(CACHE, predictions(replace(label, controller="silicon-motion")))
    assert known.middle == pytest.approx(150e9, rel=0.1)
    assert known.middle > 2 * of_title(CACHE, predictions(label)).middle


def test_where_nothing_was_reviewed_nothing_is_expected() -> None:
    assert predictions(Kind(capacity=1e12, cell="mlc", interface="sata", has_dram=True)) == []


@pytest.mark.parametrize(
    ("cell", "interface", "most"),
    [("tlc", "sata", 550e6), ("qlc", "pcie3", 3.5e9), ("tlc", "pcie4", 7e9)],
)
def test_no_rate_is_above_the_link_and_no_cache_above_all_cells(
    cell: str, interface: str, most: float
) -> None:
    for capacity in (64e9, 1e12, 1e15):
        kind = Kind(capacity=capacity, cell=cell, interface=interface, has_dram=True)
        for item in predictions(kind):
            bound = capacity / 3 if item.unit == "B" else most
            assert 0 < item.low <= item.middle <= item.high <= bound * (1 + 1e-9), item


@pytest.mark.parametrize(
    ("gigabytes", "interface", "cell", "dram"),
    [(2000, "pcie4", "tlc", "hmb"), (500, "sata", "tlc", "yes"), (1000, "pcie3", "qlc", "yes")],
)
def test_the_spec_that_is_written_does_the_middle_of_what_is_expected(
    gigabytes: int, interface: Interface, cell: str, dram: str
) -> None:
    """2 TB of TLC was said to write 160 to 3,750 MB/s past its cache, and wrote 4,194."""
    label = Label(
        id="x",
        name="X",
        capacity_bytes=gigabytes * 10**9,
        interface=interface,
        cell=cell,  # type: ignore[arg-type]
        dram=dram,  # type: ignore[arg-type]
    )
    expected = predictions(label.kind)
    scale = 16
    spec = load(spec_text(label), scale=f"1/{scale}")
    block = 1 << 20
    size = spec.capacity_bytes // block * block
    job = Job(name="fill", rw="write", block_bytes=block, depth=4, size=size)
    ((step,),) = _core.simulate([(spec, 1, [(jobs_json([job]), 50_000_000)])], 1)
    series = step["series"]
    done = np.cumsum(series["bytes"])
    cache = of_title(CACHE, expected).middle / scale

    def rate(low: float, high: float) -> float:
        inside = (done > low) & (done <= high)
        return float(series["bytes"][inside].sum() / series["dt_ns"][inside].sum() * 1e9)

    past = rate(1.2 * cache, 1.2 * cache + 0.2 * size)
    assert past == pytest.approx(of_title(RATE, expected).middle, rel=0.1)
    assert rate(0, 0.9 * cache) > 1.05 * past
    values = {row["key"]: row["value"] for row in load(spec_text(label)).values()}
    assert values["slc_cache.mode"] == "dynamic"
