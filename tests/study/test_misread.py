"""Drives of the hostile generators that the analysis once misread, each for its own mechanism."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashtwin.study.blind import detect, judge, run

HERE = Path(__file__).parent
SEED = 6207

# Generator, number of the drive, and what the host saw.
DRIVES = {
    "a journal of seconds, finely sampled, in a drive without a cache": ("fills_core", 3),
    "the same in both plateaus, whose speeds differ": ("fills_core", 124),
    "a journal that takes a quarter of the time": ("fills_core", 139),
    "a journal over noise with a memory": ("fills_core", 49),
    "a burst within a cache of five seconds": ("fills_core", 4),
    "a slow start of twenty minutes": ("fills_core", 12),
    "two fast samples after a slow start": ("fills_core", 109),
    "two fast samples after a slow start, and a stall": ("fills_core", 125),
    "a saw-tooth whose period wanders, sampled coarsely": ("fills_hot", 143),
}


@pytest.mark.parametrize("name", DRIVES)
def test_what_was_misread_is_read(name: str) -> None:
    program, number = DRIVES[name]
    measured = run._of_program(HERE / f"{program}.py", SEED, number)
    drive = judge.judged(measured, detect.ours(measured))
    assert all(drive.right.values()), drive
    # Eight per cent of the size are two samples there.
    assert max(drive.errors.get("cache size", (0.0,))) <= 0.08
    assert max(drive.errors["speeds"]) <= 0.03
