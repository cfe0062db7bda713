"""Outside knowledge: the raw flash, the one-third signature, when folding can be forced."""

from __future__ import annotations

import pytest

from flashtwin.analysis.estimate import Estimate
from flashtwin.batteries.fill.notes import (
    Target,
    folding_possible,
    raw_from_capacity,
    third_note,
)
from flashtwin.batteries.fill.signature import presence

GIB, GB = 1 << 30, 10**9


@pytest.mark.parametrize(
    ("capacity", "raw"),
    [
        (240 * GB, 256 * GIB),
        (256 * GIB, 256 * GIB),
        (256 * GIB + 1, 512 * GIB),
        (500 * GB, 512 * GIB),
        (1000 * GB, 1024 * GIB),
        (1920 * GB, 2048 * GIB),
        (15 * GB, 16 * GIB),
        (4 * GB, 4 * GIB),
    ],
)
def test_raw_flash_is_the_next_power_of_two(capacity: int, raw: int) -> None:
    assert raw_from_capacity(capacity) == raw


def share(low: float, high: float) -> Estimate:
    return Estimate(value=(low + high) / 2, low=low, high=high)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.326, 0.329, "present"),
        (0.331, 0.335, "present"),
        (0.086, 0.088, "absent"),
        (0.49, 0.51, "absent"),
        (0.28, 0.36, "undecided"),
        (0.29, 0.31, "undecided"),
    ],
)
def test_one_third_is_judged_with_its_interval(low: float, high: float, verdict: str) -> None:
    assert presence(share(low, high), 3) == verdict


def test_other_cells_are_named() -> None:
    target = Target(capacity_bytes=1000 * GB)
    assert "would be 1/4 of QLC" in third_note(share(0.24, 0.25), target)
    assert "would be 1/2 of MLC" in third_note(share(0.49, 0.5), target)
    assert "would be" not in third_note(share(0.32, 0.33), target)


def test_folding_needs_native_cells_to_run_out() -> None:
    drive = Target(capacity_bytes=240 * GB, raw_bytes=256 * GIB)
    assert folding_possible(24e9, 192e9, drive)
    assert not folding_possible(24e9, 100e9, drive)
    # Of a capacity between two powers of two no label says how much flash there is: not twice.
    between = Target(capacity_bytes=1387 * GB)
    assert folding_possible(0.172 * 1387e9, 0.485 * 1387e9, between)
    assert not folding_possible(0.1 * 1387e9, 0.3 * 1387e9, between)
    large = Target(capacity_bytes=1000 * GB)
    assert not folding_possible(30e9, 150e9, large)
    assert folding_possible(300e9, 400e9, large)
    # Nothing is known of the flash under a file, so nothing speaks against it.
    assert folding_possible(30e9, 150e9, Target(capacity_bytes=1000 * GB, raw_bytes=0))
