"""What the BX500 draws: the published rows on power, its cache on against off."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from flashtwin.battery.step import Fill, Job, Rest, Result, Run, Step
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin

GB = 10**9


class Meter:
    """A twin on a watt meter."""

    def __init__(self, name: str) -> None:
        self.drive = Twin(load(name), seed=1)
        self.drawn_uj = 0

    def watts(self, step: Step) -> np.ndarray:
        """Mean watts of every sample of a step."""
        answer = self.drive.do(step, lambda _: True)
        assert isinstance(answer, Result)
        energy = np.append(self.drawn_uj, answer.xray["energy_uj"])
        self.drawn_uj = int(energy[-1])
        return np.diff(energy) / np.diff(np.append(0, answer.xray["t_ns"])) * 1e3


def write(size: int) -> Run:
    job = Job(name="w", rw="write", block_bytes=128 << 10, depth=32, io_bytes=size)
    return Run(label="write", jobs=(job,), sample_s=1.0)


@pytest.fixture
def meters() -> Iterator[tuple[Meter, Meter]]:
    pair = (Meter("bx500-240"), Meter("bx500-240-nocache"))
    yield pair
    for meter in pair:
        meter.drive.close()


def test_power_while_writing_is_equal_within_a_tenth(meters: tuple[Meter, Meter]) -> None:
    for size in (24 * GB, 100 * GB):
        on, off = (meter.watts(write(size)) for meter in meters)
        assert off.mean() == pytest.approx(on.mean(), rel=0.10), size
        assert off.max() == pytest.approx(on.max(), rel=0.10), size
        assert 0.7 < on.mean() < on.max() < 1.0


def test_after_a_write_the_drive_with_a_cache_goes_on_drawing(
    meters: tuple[Meter, Meter],
) -> None:
    after = []
    for meter in meters:
        meter.watts(write(24 * GB))
        after.append(meter.watts(Rest(label="rest", seconds=600)))
    on, off = after
    assert 0.05 < off.mean() / on.mean() < 0.8
    assert off[-1] == on[-1] == pytest.approx(0.05, abs=0.001), "both end at the floor"
    assert on.max() > 0.7, "folding is work"


def test_a_copy_costs_more_joules_without_the_cache(meters: tuple[Meter, Meter]) -> None:
    copy = Job(
        name="copy",
        rw="rw",
        read_percent=50,
        block_bytes=1 << 20,
        depth=1,
        size=25 * GB,
        io_bytes=12 * GB,
    )
    spent = []
    for meter in meters:
        meter.drive.do(Fill(label="fill", size=25 * GB), lambda _: True)
        meter.drive.do(Rest(label="rest", seconds=600), lambda _: True)
        before = meter.drive.smart()["flashtwin"]["energy"]["energy_uj"]
        meter.drive.do(Run(label="copy", jobs=(copy,), sample_s=1.0), lambda _: True)
        spent.append(meter.drive.smart()["flashtwin"]["energy"]["energy_uj"] - before)
    on, off = spent
    assert 0.2 < on / off < 0.75, (on, off)
