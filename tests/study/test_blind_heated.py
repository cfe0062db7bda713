"""Fills beside a temperature: what was slowed by heat, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flashtwin.errors import FlashtwinError
from flashtwin_lab.blind import generate, heated
from flashtwin_lab.commands.blind import command

SEED = 11


@pytest.fixture(scope="module")
def drives() -> list[heated.Warmed]:
    return [heated.warmed(generate.read_prior(), SEED, number) for number in range(4)]


def test_half_of_the_drives_become_hot_and_bytes_stay(drives: list[heated.Warmed]) -> None:
    for number, drive in enumerate(drives):
        series = drive.measured
        assert drive.degrees.shape == series.bytes.shape
        assert (drive.degrees == np.round(drive.degrees)).all()
        assert drive.degrees.max() > drive.degrees[0] + 4
        assert not drive.is_slowed or number % 2 == 0
    again = heated.warmed(generate.read_prior(), SEED, 0)
    assert np.array_equal(again.measured.bytes, drives[0].measured.bytes)
    assert np.array_equal(again.degrees, drives[0].degrees)


def test_a_row_counts_the_fills_that_heat_slowed() -> None:
    slowed = heated.Named(
        name="a", law="heat", is_slowed=True, with_degrees=heated.HEAT, without=None
    )
    other = replace(slowed, is_slowed=False, with_degrees=None, without=heated.HEAT)
    rows = list(heated.rows([slowed, other]))
    assert [row.found for row in rows] == ["1 of 1", "0 of 1", "0 of 1", "1 of 1"]


def test_heat_takes_no_other_generator() -> None:
    with pytest.raises(Exception, match="takes no --generator"):
        command.main(["--with", "heat", "--generator", __file__], standalone_mode=False)
    with pytest.raises((FlashtwinError, Exception), match="--append goes with"):
        command.main(["--with", "heat", "--append", "a.json"], standalone_mode=False)
    with pytest.raises((FlashtwinError, Exception), match="--each-kind goes with"):
        command.main(["--with", "heat", "--each-kind"], standalone_mode=False)
