"""The Vertex 4, which writes lower pages first: two plateaus, each half of the flash."""

from __future__ import annotations

import numpy as np

from flashtwin.analysis.curve import curve_of
from flashtwin.analysis.shape import shape_of
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.step import Job, Result, Run

BLOCK = 128 << 10
SCALE = 4


def test_the_second_half_is_written_at_the_rate_of_upper_pages() -> None:
    """16 dies take 16 KiB in 99 us of transfer and 850 us, then 2.3 ms, of programming."""
    drive = Twin(load("vertex4-128", scale=f"1/{SCALE}"), seed=1).open()
    size = drive.info.capacity_bytes // BLOCK * BLOCK
    job = Job(name="write", rw="write", block_bytes=BLOCK, depth=32, size=size)
    answer = drive.do(Run(label="fill", jobs=(job,), sample_s=0.5 / SCALE), lambda _: True)
    assert isinstance(answer, Result)
    written = answer.series
    first, second = shape_of(curve_of(written.t_ns, written.dt_ns, written.bytes)).plateaus
    stripe = 16 * (16 << 10)
    rates = [stripe / (99e-6 + 850e-6), stripe / (99e-6 + 2300e-6)]
    np.testing.assert_allclose([first.speed.value, second.speed.value], rates, rtol=0.02)
    np.testing.assert_allclose(first.end * SCALE, 67.6e9, rtol=0.025)


def test_no_rate_of_it_is_fitted() -> None:
    values = load("vertex4-128").values()
    of_ours = {row["key"] for row in values if row["origin"] in {"fitted", "user"}}
    assert of_ours == {"link.submit_time", "link.complete_time"}
