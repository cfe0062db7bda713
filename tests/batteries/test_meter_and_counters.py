"""Watts and write amplification out of readings, against values that are reckoned by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flashtwin.batteries.base.counters import from_smart
from flashtwin.batteries.power.meter import Readings
from flashtwin.model.finding import Interval


def test_a_mean_is_energy_over_time_and_not_of_samples() -> None:
    read = Readings.of([1_000_000_000, 3_000_000_000], [2_000_000, 400_000])
    mean = read.mean()
    assert mean is not None
    assert mean.value == pytest.approx((2.0 + 1.2) / 4)
    most = read.most()
    assert most is not None and most.value == pytest.approx(2.0)


def test_the_interval_of_a_mean_covers_it() -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        drawn = rng.normal(900_000, 50_000, 60).clip(0)
        mean = Readings.of(np.full(60, 10**9), drawn).mean()
        assert mean is not None and mean.low is not None and mean.high is not None
        covered += mean.low <= 0.9 <= mean.high
    assert 180 <= covered <= 199


def test_data_for_a_joule() -> None:
    read = Readings.of([10**9] * 10, [500_000] * 10)
    found = read.efficiency(1_000_000_000)
    assert found is not None
    assert found.value == pytest.approx(200.0)
    assert read.efficiency(0) is None


def test_the_settled_part() -> None:
    read = Readings.of([10**9] * 4, [4_000_000, 3_000_000, 2_000_000, 1_000_000])
    assert read.from_share(0.5).watts.tolist() == [2.0, 1.0]
    assert read.from_share(1.0).watts.tolist() == [1.0]


def test_nothing_read_is_nothing_known() -> None:
    none = Readings.of([], [])
    assert none.mean() is None
    assert none.most() is None
    assert none.efficiency(10) is None


def smart(model: str = "Micron_5300_MTFDDAK1T9TDS", **raw: int) -> dict[str, Any]:
    table = [{"id": int(name[1:]), "raw": {"value": value}} for name, value in raw.items()]
    return {"model_name": model, "ata_smart_attributes": {"table": table}}


INTEL, WD, SAMSUNG = "INTEL SSDSC2KW256G8", "WDC WDS500G2B0A-00SM50", "SAMSUNG MZ7LN256HCHP"


@pytest.mark.parametrize(
    ("before", "after", "waf"),
    [
        # Micron: 1,000 pages for the host, 1,500 of the firmware's own.
        (smart(a247=100, a248=900), smart(a247=1100, a248=2400), 2.5),
        # Intel: 32 x 32 MiB from the host, 3 GiB programmed.
        (smart(INTEL, a241=10, a249=1), smart(INTEL, a241=42, a249=4), 3.0),
        # Samsung: 2^21 sectors from the host, 2 GiB programmed.
        (smart(SAMSUNG, a241=0, a249=1), smart(SAMSUNG, a241=1 << 21, a249=3), 2.0),
        # WD: 4 GiB from the host, 4 into SLC cells and 2 into native ones.
        (smart(WD, a241=1, a233=5, a234=7), smart(WD, a241=5, a233=7, a234=11), 1.5),
    ],
)
def test_write_amplification_by_maker(
    before: dict[str, Any], after: dict[str, Any], waf: float
) -> None:
    ratio = from_smart(before, after)
    assert not isinstance(ratio, str)
    value, interval = ratio
    assert value == pytest.approx(waf)
    assert interval.low is not None and interval.high is not None
    assert interval.low < waf < interval.high


NOT_COUNTED = "the drive's SMART data do not count what it programs"


def test_a_drive_that_counts_no_programs_has_none() -> None:
    samsung = smart(SAMSUNG, a177=5, a241=1000)
    assert from_smart(samsung, smart(SAMSUNG, a177=9, a241=9000)) == NOT_COUNTED
    assert from_smart({}, {"nvme_smart_health_information_log": {}}) == NOT_COUNTED


@pytest.mark.parametrize("model", ["X", "TOSHIBA RC500", "Not a Micron", ""])
def test_counters_of_a_maker_that_is_not_known_are_not_read(model: str) -> None:
    before = smart(model, a233=5, a234=7, a241=1, a247=1, a248=1, a249=1)
    after = smart(model, a233=7, a234=9, a241=9, a247=9, a248=9, a249=9)
    ratio = from_smart(before, after)
    assert isinstance(ratio, str) and ratio.startswith("not known for this maker")
    assert "Micron, Intel, Western Digital, Samsung" in ratio


def test_the_family_tells_the_maker_where_the_model_does_not() -> None:
    before, after = smart("probe", a247=0, a248=0), smart("probe", a247=10, a248=5)
    for reading in (before, after):
        reading["model_family"] = "Crucial/Micron Client SSDs"
    ratio = from_smart(before, after)
    assert not isinstance(ratio, str) and ratio[0] == 1.5


def test_readings_of_two_drives_are_not_compared() -> None:
    ratio = from_smart(smart(INTEL, a241=1, a249=1), smart(WD, a241=9, a249=9))
    assert isinstance(ratio, str) and "different models" in ratio
    ratio = from_smart(smart(INTEL, a241=9, a249=9), smart(INTEL, a241=1, a249=1))
    assert isinstance(ratio, str) and "backwards" in ratio


def test_too_little_for_the_counters() -> None:
    ratio = from_smart(smart(INTEL, a241=10, a249=1), smart(INTEL, a241=10, a249=1))
    assert isinstance(ratio, str) and "too little was written" in ratio
    ratio = from_smart(smart(INTEL, a241=10, a249=1), smart(INTEL, a241=11, a249=1))
    assert ratio == (0.0, Interval(low=0.0, high=None, means="bound"))


def test_ocp_s_log_counts_for_an_nvme_drive() -> None:
    def nvme(units: int, media: int) -> dict[str, object]:
        log = {"data_units_written": units}
        ocp = {"Physical media units written": {"hi": 0, "lo": media}}
        return {"nvme_smart_health_information_log": log, "ocp_smart_log": ocp}

    ratio = from_smart(nvme(1000, 10**9), nvme(3000, 10**9 + 2_560_000_000))
    assert isinstance(ratio, tuple)
    assert ratio[0] == 2.5
    assert ratio[1].low is not None and 2.49 < ratio[1].low < 2.5
