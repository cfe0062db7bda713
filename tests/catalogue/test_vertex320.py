"""The four states of the Vertex 3.20: its recycler halves the rate until a secure erase.

A part of the drive at its own scale: the rates are the whole drive's, the loads shorter.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import flashtwin as ft


@pytest.mark.parametrize(
    ("recycler", "low", "high"), [("settled", 0.40, 0.70), ("none", 0.97, 1.03)]
)
def test_trim_brings_the_drive_back_but_for_its_recycler(
    tmp_path: Path, recycler: str, low: float, high: float
) -> None:
    run = ft.test(
        "vertex320-240",
        battery="states:seconds=1s,rest_s=60s",
        scale="1/32",
        sets={"gc.recycler": recycler},
        out=tmp_path / "run",
        report=False,
    )
    found = run.findings
    assert low < found["states.trimmed.share"].value < high
    if recycler == "settled":
        assert found["states.dirty.share"].value < 0.75
        assert -0.25 < found["states.rested.recovered"].value < 0.25


def test_flash_and_ratings_say_how_fast_the_drive_writes(tmp_path: Path) -> None:
    run = ft.test(
        "vertex320-240",
        battery="as_ssd:tests=compression,step_percent=100,settle_s=1s",
        scale="1/32",
        out=tmp_path / "run",
        report=False,
    )
    # 32 dies x 16 KiB / (49 us of transfer + 1.6 ms of programming) x 31/32 of parity.
    flash = 32 * 16384 / (16384 / 333e6 + 1.6e-3) * 31 / 32 / 1e6
    assert run.findings["as_ssd.write[0%]"].value == pytest.approx(flash, rel=0.03)
    assert run.findings["as_ssd.write[100%]"].value == pytest.approx(520, rel=0.03)
