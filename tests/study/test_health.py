"""SMART data in sentences: bytes, wear, years left with their interval, and contradictions."""

from __future__ import annotations

from typing import Any

import pytest

from flashtwin.model import smart
from flashtwin.study.health import explained


def nvme(**log: Any) -> dict[str, Any]:
    usual = {
        "data_units_written": 2_000_000,
        "percentage_used": 4,
        "power_on_hours": 8766,
        "power_cycles": 100,
        "unsafe_shutdowns": 3,
        "controller_busy_time": 600,
        "temperature": 40,
        "available_spare": 100,
        "available_spare_threshold": 10,
        "critical_warning": 0,
        "media_errors": 0,
    }
    return {
        "model_name": "A FAST DISK 1TB",
        "user_capacity": {"bytes": 10**12},
        smart.NVME: {**usual, **log},
    }


def ata(model: str, *, left: tuple[int, int] | None = None, **raw: int) -> dict[str, Any]:
    rows = [{"id": int(key[1:]), "value": 100, "raw": {"value": raw[key]}} for key in raw]
    rows += [{"id": left[0], "value": left[1], "raw": {"value": 0}}] if left else []
    return {
        "model_name": model,
        "power_on_time": {"hours": 8766},
        "user_capacity": {"bytes": 10**12},
        smart.ATA: {"table": rows},
    }


def texts(data: dict[str, Any], about: str) -> list[str]:
    return [row.text for row in explained(data) if row.about == about]


def test_an_nvme_drive() -> None:
    assert texts(nvme(), "bytes") == ["the host wrote 1.024 TB, 2.804 GB a day"]
    assert texts(nvme(), "wear") == ["4 % of the rated life is used"]
    assert texts(nvme(), "life") == ["at this pace 24 years are left (19 years to 32 years)"]
    assert texts(nvme(), "doubtful") == []
    assert "is not counted" in texts(nvme(), "amplification")[0]


def test_the_ocp_log_tells_write_amplification() -> None:
    log = {"Physical media units written": {"hi": 0, "lo": 2_048_000_000_000}}
    data = {**nvme(), smart.OCP: log}
    assert texts(data, "amplification") == [
        "each byte of the host was programmed as 2.00 so far (write amplification)"
    ]


@pytest.mark.parametrize(
    ("used", "words"),
    [
        (0, "more than 99 years"),
        (1, "99 years are left (49 years or much more)"),
        (100, "the rated life is over"),
        (130, "the rated life is over"),
    ],
)
def test_years_left(used: int, words: str) -> None:
    assert words in texts(nvme(percentage_used=used), "life")[0]


@pytest.mark.parametrize(
    ("model", "raw", "left", "waf"),
    [
        ("Micron_5300_X", {"a246": 2_000_000_000, "a247": 1000, "a248": 500}, (202, 97), "1.50"),
        ("INTEL SSDSC2BB016T4", {"a241": 1000, "a243": 2200}, (233, 90), "2.20"),
        ("INTEL SSDSC2KW", {"a241": 3200, "a249": 150}, (233, 90), "1.50"),
        ("SAMSUNG MZ7L3240HCHQ", {"a241": 2000, "a251": 3000}, (177, 98), "1.50"),
        ("WDC WDS100T2B0A", {"a241": 100, "a233": 120, "a234": 30}, (230, 99), "1.50"),
        ("KINGSTON SA400", {"a241": 398, "a233": 979}, (231, 98), "2.46"),
        ("OCZ-VERTEX3", {"a241": 100, "a100": 60}, (231, 95), "0.60"),
    ],
)
def test_makers_count_otherwise(
    model: str, raw: dict[str, int], left: tuple[int, int], waf: str
) -> None:
    data = ata(model, left=left, **raw)
    assert f"programmed as {waf} " in texts(data, "amplification")[0]
    assert texts(data, "wear")[0].startswith(f"{100 - left[1]} % of the rated life")


def test_a_maker_that_is_not_known_is_said() -> None:
    data = ata("NOBODY X1", a241=5, a249=9)
    assert "its maker's counters are not known" in texts(data, "bytes")[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (nvme(temperature=200), "is no temperature"),
        (nvme(power_on_hours=0, data_units_written=10**9), "a counter was set back"),
        (nvme(percentage_used=0, data_units_written=10**9), "no wear is counted"),
        (nvme(power_on_hours=3, percentage_used=40), "hours were set back"),
        (nvme(power_cycles=2, unsafe_shutdowns=50), "are more than its 2 starts"),
        (nvme(controller_busy_time=10**7), "are more than 8,766 hours"),
        (ata("SAMSUNG MZ7", a177=114, a241=2000, a251=3000), "may be in another unit"),
    ],
)
def test_contradictions_are_doubtful(data: dict[str, Any], words: str) -> None:
    assert any(words in text for text in texts(data, "doubtful")), explained(data)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ({"critical_warning": 1}, "spare blocks are below"),
        ({"critical_warning": 8}, "it can only be read"),
        ({"media_errors": 7}, "7 times data could not be read"),
        ({"available_spare": 40}, "40 % of the spare blocks are left"),
        ({"warning_temp_time": 5}, "above its warning temperature"),
    ],
)
def test_warnings(log: dict[str, int], words: str) -> None:
    assert any(words in text for text in texts(nvme(**log), "state"))


@pytest.mark.parametrize(
    "data",
    [
        {smart.NVME: {}},
        {smart.NVME: {"percentage_used": "x", "data_units_written": None}},
        {smart.ATA: {"table": [1, {"id": "x"}, {"id": 5}, {"id": 9, "raw": 3}]}},
        {smart.ATA: []},
        {smart.NVME: {"data_units_written": -5}, "user_capacity": 7, "temperature": []},
        {smart.NVME: {}, smart.OCP: "text"},
    ],
)
def test_odd_data_are_sentences(data: dict[str, Any]) -> None:
    assert explained(data)


def test_nvme_cli_s_log_is_read() -> None:
    log = {
        "critical_warning": {"value": 0},
        "temperature": 313,
        "avail_spare": 100,
        "percent_used": 4,
        "data_units_written": "2,000,000",
        "power_on_hours": 8766,
    }
    assert smart.is_nvme_cli(log)
    data = smart.of_nvme_cli(log, "A FAST DISK")
    assert texts(data, "wear") == ["4 % of the rated life is used"]
    assert texts(data, "bytes") == ["the host wrote 1.024 TB, 2.804 GB a day"]
