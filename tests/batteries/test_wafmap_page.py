"""The page of drives on which wafmap was judged: what counts as right, and what is said of none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flashtwin_lab.make.wafmap_blind import (
    CACHES,
    Judged,
    behind_a_slow_host,
    drawn,
    page,
    with_cache,
)

PERCENT = 1.0


def told(number: int, off_percent: float, factor: float) -> Judged:
    """A drive of which spare flash and superblock were said, off by this much."""
    drive = drawn(3, number)
    spare, size = drive.spare_percent + off_percent, drive.superblock_bytes * factor
    return Judged(
        drawn=drive,
        spare=(spare, spare - PERCENT, spare + PERCENT),
        superblock=(size, size / 1.05, size * 1.05),
        policy=60.0,
    )


def row_of(text: str, begins: str) -> str:
    """The first row of a table that begins so."""
    return next(line for line in text.splitlines() if line.startswith(f"| {begins}"))


@pytest.mark.parametrize(("off", "factor"), [(0.5, 1.02), (1.5, 1.2), (-1.5, 0.8)])
def test_what_is_said_is_held_against_the_drive(off: float, factor: float) -> None:
    right = abs(off) < 1
    text = page([told(number, off, factor) for number in range(30)], [], [], 3, "abc")
    count, verdict = ("30 of 30", "reached") if right else ("0 of 30", "**missed**")
    for begins in ("over-provisioning within", "superblock within", "its 95 % interval"):
        assert count in row_of(text, begins) and verdict in row_of(text, begins)


def test_a_drive_without_a_cache_of_which_nothing_is_said_counts_as_missed() -> None:
    silent = replace(told(0, 0.1, 1.0), spare=None, superblock=None)
    text = page([silent] * 30, [], [], 3, "abc")
    assert "0 of 30" in row_of(text, "over-provisioning within")
    assert "0 of 30" in row_of(text, "superblock within")


@pytest.mark.parametrize("wrong", [0, 4])
def test_drives_of_which_nothing_wrong_is_to_be_said_stand_apart(wrong: int) -> None:
    drives = [with_cache(3, number) for number in range(20)]
    assert sorted({drive.cache[0] for drive in drives}) == sorted(CACHES)
    said = [Judged(drawn=drive, spare=None, superblock=None, policy=0.0) for drive in drives]
    said[:wrong] = [replace(row, spare=(90.0, 89.0, 91.0)) for row in said[:wrong]]
    slow = [replace(told(n, 0.1, 1.0), drawn=behind_a_slow_host(3, n)) for n in range(10)]
    text = page([told(number, 0.1, 1.0) for number in range(30)], said, slow, 3, "abc")
    cached = row_of(text, "spare flash, with a cache")
    assert f"| {20 - wrong} of 20 | 0 of 20 | {wrong} of 20 |" in cached
    assert ("reached" in cached) == (wrong == 0)
    assert "| 0 of 10 | 10 of 10 | 0 of 10 |" in row_of(text, "superblock, slow host")
    assert "30 of 30" in row_of(text, "over-provisioning within")
