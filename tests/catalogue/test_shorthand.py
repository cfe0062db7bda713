"""`op=…` in the place of a capacity."""

from __future__ import annotations

import pytest

from flashtwin.catalogue.loader import load
from flashtwin.catalogue.shorthand import raw_bytes
from flashtwin.errors import USAGE, FlashtwinError


def test_over_provisioning_is_flash_over_capacity() -> None:
    spec = load("bx500-240", sets=["op=0.28"])
    raw = raw_bytes({row["key"]: row["value"] for row in spec.values()})
    # 4 channels of a die of 4 planes of 496 blocks of 704 wordlines of 3 pages of 16 KiB.
    assert raw == 4 * 4 * 496 * 704 * 3 * 16384
    assert raw / spec.capacity_bytes - 1 == pytest.approx(0.28, abs=1e-5)
    assert spec.capacity_bytes % (1 << 20) == 0


def test_percent_and_share_are_one_and_other_settings_count_first() -> None:
    assert load("bx500-240", sets=["op=28%"]).hash == load("bx500-240", sets=["op=0.28"]).hash
    larger = load("bx500-240", sets=["nand.blocks_per_plane=992", "op=0.28"])
    assert larger.capacity_bytes == pytest.approx(
        2 * load("bx500-240", sets=["op=0.28"]).capacity_bytes, abs=2 << 20
    )


def test_a_slip_in_a_shorthand_is_told() -> None:
    with pytest.raises(FlashtwinError, match="cahce: unknown key") as wrong:
        load("bx500-240", sets=["cahce=8GB"])
    assert wrong.value.hint == "did you mean cache?"


def test_a_scaled_drive_keeps_the_share() -> None:
    spec = load("bx500-240", sets=["op=0.28"], scale="1/4")
    raw = raw_bytes({row["key"]: row["value"] for row in spec.values()})
    assert raw is not None
    assert raw / spec.capacity_bytes - 1 == pytest.approx(0.28, abs=1e-3)


@pytest.mark.parametrize("text", ["op=x", "op=-0.1", "op=", "op=21", "op=NaN"])
def test_no_share_is_refused(text: str) -> None:
    with pytest.raises(FlashtwinError, match="is a share of the capacity") as raised:
        load("bx500-240", sets=[text])
    assert raised.value.exit_code == USAGE


def test_the_capacity_is_set_once() -> None:
    for sets in (["op=0.1", "drive.capacity=200 GB"], ["op=0.1", "op=0.2"]):
        with pytest.raises(FlashtwinError, match="set twice"):
            load("bx500-240", sets=sets)
