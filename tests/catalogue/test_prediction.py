"""What a label lets one expect: judged on drives whose own review is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from flashtwin import _core
from flashtwin.catalogue import MARKET
from flashtwin.catalogue.label import Interface, Label, spec_text
from flashtwin.catalogue.loader import load
from flashtwin.catalogue.prediction import (
    CACHE,
    FEWEST,
    MEAN,
    RATE,
    RAW,
    RULES,
    Kind,
    Prediction,
    Reviewed,
    mean_of_phases,
    models,
    predictions,
    reviewed,
    scaled,
)
from flashtwin.errors import FlashtwinError
from flashtwin.inputs import read_toml
from flashtwin.model.cells import BITS
from flashtwin.model.job import Job, jobs_json


def of_title(title: str, expected: list[Prediction]) -> Prediction:
    return next(item for item in expected if item.title == title)


def sisters(drive: Reviewed) -> list[str]:
    """The drives with its controller; where that is not known, those of its maker and class."""

    def family(of: Reviewed) -> object:
        kind = of.kind
        return kind.model or (kind.controller or of.id, kind.cell, kind.interface)

    return [other.id for other in reviewed() if family(other) == family(drive)]


@cache
def expected_of(drive: str, *, family: bool) -> tuple[Prediction, ...]:
    """What is expected of a drive without its review, or without its sisters' too."""
    (asked,) = [known for known in reviewed() if known.id == drive]
    return tuple(predictions(asked.kind, without=sisters(asked) if family else [drive]))


def left_out(title: str, *, family: bool = False) -> Iterator[tuple[Prediction, float]]:
    """What is expected of each drive, and its figure."""
    for drive in reviewed():
        for item in expected_of(drive.id, family=family):
            if item.title == title and title in drive.seen:
                yield item, drive.seen[title]


def near(title: str, item: Prediction, true: float) -> bool:
    """A cache to a factor of 1.5, a rate to 25 %."""
    if title == CACHE:
        return max(item.middle / true, true / item.middle) <= 1.5 + 1e-9
    return abs(item.middle / true - 1) <= 0.25


@pytest.mark.parametrize(
    ("title", "share", "of_new", "middle", "width"),
    [(CACHE, 0.62, 0.34, 1.3, 8.0), (RATE, 0.5, 0.4, 1.35, 9.0), (MEAN, 0.54, 0.5, 1.3, 5.0)],
)
def test_drives_that_did_not_make_an_interval_lie_in_it(
    title: str, share: float, of_new: float, middle: float, width: float
) -> None:
    """`share` of the drives are as near as was asked for, `of_new` of them where no drive with the
    same controller was reviewed. `middle`: half are off by this factor at most."""
    pairs = list(left_out(title))
    off = [max(item.middle / true, true / item.middle) for item, true in pairs]
    assert float(np.median(off)) <= middle
    assert sum(near(title, *pair) for pair in pairs) >= share * len(pairs)
    assert sum(item.low <= true <= item.high for item, true in pairs) >= 0.85 * len(pairs)
    assert float(np.median([item.high / item.low for item, _ in pairs])) <= width
    alone = list(left_out(title, family=True))
    assert sum(near(title, *pair) for pair in alone) >= of_new * len(alone)
    assert sum(item.low <= true <= item.high for item, true in alone) >= 0.74 * len(alone)


def test_an_interval_is_wider_where_near_drives_differ() -> None:
    """Two caches with a controller of Realtek are alike, those with SanDisk's are not."""
    label = Kind(capacity=1e12, cell="tlc", interface="pcie3", has_dram=False)

    def width(controller: str) -> float:
        item = of_title(CACHE, predictions(replace(label, controller=controller)))
        return item.middle / item.low

    assert width("sandisk") > 1.5 * width("realtek")


def test_phases_tell_the_mean_that_is_printed() -> None:
    """To 15 % in four of five drives of which both are printed."""
    table = read_toml(MARKET)
    rows = {row["id"]: row for row in (*table["drive"], *table["reviewed"])}
    off = []
    for drive in reviewed():
        mean = mean_of_phases(rows.get(drive.id, {}), drive.kind.capacity)
        if mean is not None and MEAN in drive.seen:
            assert drive.known[MEAN] == drive.seen[MEAN], "a printed mean is the mean"
            off.append(mean / drive.seen[MEAN])
    assert sum(0.85 <= ratio <= 1.15 for ratio in off) >= 0.8 * len(off) >= 16


def test_a_mean_from_phases_tells_of_others_and_is_not_judged() -> None:
    """Two means of QLC are printed; with those of their phases there are enough to expect one."""
    qlc = [drive for drive in reviewed() if drive.kind.cell == "qlc" and MEAN in drive.known]
    assert sum(MEAN in drive.seen for drive in qlc) < FEWEST <= len(qlc)
    expected = of_title(MEAN, predictions(replace(LABEL, cell="qlc").kind))
    assert expected.high < of_title(MEAN, predictions(LABEL.kind)).middle


def test_what_was_seen_is_scaled_to_the_class_asked_for() -> None:
    """A drive of 4 TB tells of one of 1 TB what it would write with a quarter of the dies."""
    kind = Kind(capacity=4e12, cell="qlc", interface="sata", has_dram=True)
    for size, rule in RULES.items():
        smaller = scaled(rule, kind, replace(kind, capacity=1e12))
        assert smaller == pytest.approx(rule.twice**-2), size
        better = replace(kind, cell="tlc", interface="pcie4", has_dram=False)
        there, back = scaled(rule, kind, better), scaled(rule, better, kind)
        assert there == pytest.approx(rule.generation**2 / rule.dram / rule.qlc), size
        assert there * back == pytest.approx(1)


LABEL = Label(id="x", name="X", capacity_bytes=10**12, interface="pcie3", cell="tlc", dram="yes")


def test_the_model_of_the_controller_makes_the_cache_likelier() -> None:
    """Three drives of 2 TB with one controller have 200 GB, whatever else its maker has."""
    label = Kind(capacity=2e12, cell="tlc", interface="pcie4", has_dram=True, controller="phison")
    known = of_title(CACHE, predictions(replace(label, model="E18")))
    assert known.middle == pytest.approx(200e9, rel=0.05)


@pytest.mark.parametrize(
    ("controller", "model", "what"),
    [("phison", "SM2263", "of silicon-motion"), (None, "E99", "E99"), ("acme", None, "acme")],
)
def test_a_controller_that_would_change_nothing_is_refused(
    controller: str | None, model: str | None, what: str
) -> None:
    with pytest.raises(FlashtwinError, match=what):
        spec_text(replace(LABEL, controller=controller, model=model))


def test_the_model_of_a_controller_tells_its_maker() -> None:
    label = replace(LABEL, model="SM2263")
    assert label.kind.controller == models()["SM2263"] == "silicon-motion"


def test_the_maker_of_the_controller_makes_the_cache_likelier() -> None:
    """Most drives of one maker have 14 or 15 % of the capacity, whatever their cells."""
    label = Kind(capacity=1e12, cell="tlc", interface="pcie3", has_dram=True)
    known = of_title(CACHE, predictions(replace(label, controller="silicon-motion")))
    assert known.middle == pytest.approx(150e9, rel=0.1)
    assert known.middle > 1.4 * of_title(CACHE, predictions(label)).middle


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
            bound = capacity * RAW / BITS[cell] if item.unit == "B" else most
            assert 0 < item.low <= item.middle <= item.high <= bound * (1 + 1e-9), item


@pytest.mark.parametrize(
    ("gigabytes", "interface", "cell", "dram"),
    [
        pytest.param(2000, "pcie4", "tlc", "hmb", marks=pytest.mark.full),
        (500, "sata", "tlc", "yes"),
        (1000, "pcie3", "qlc", "yes"),
    ],
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
