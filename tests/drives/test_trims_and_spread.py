"""TRIM takes its time, and reads of one drive do not all take alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import flashtwin as ft
from flashtwin.model.histogram import bins_of, percentiles_of
from flashtwin.model.step import Job, Rest, Result, Run, Trim

# A drive of each kind of flash, the least scale that is quick, and how much longer than the median
# 1 % of its reads take: pages of a word line, blocks and layers differ.
SPREAD = {
    "samsung-980-pro-1tb": ("1/16", 1.1),
    "545s-256": ("1/16", 1.1),
    "vertex320-240": ("1/8", 1.02),
}


def half_full(drive: str, scale: str) -> ft.Twin:
    twin = ft.Twin(drive, scale=scale)
    size = twin.capacity_bytes // 2 // (1 << 20) * (1 << 20)
    write = Job(name="w", rw="write", block_bytes=1 << 20, depth=8, size=size)
    twin.do(Run(label="w", jobs=(write,), sample_s=60.0))
    return twin


@pytest.mark.parametrize("drive", SPREAD)
def test_reads_one_at_a_time_spread(drive: str) -> None:
    scale, more = SPREAD[drive]
    twin = half_full(drive, scale)
    size = twin.capacity_bytes // 4 // 4096 * 4096
    read = Job(name="r", rw="randread", block_bytes=4096, size=size, io_bytes=16 << 20)
    answer = twin.do(Run(label="r", jobs=(read,), sample_s=60.0))
    assert isinstance(answer, Result)
    latencies = percentiles_of(bins_of(np.asarray(answer.hist["read"])), [50.0, 99.0])
    assert latencies[99.0] > more * latencies[50.0]


def test_half_a_terabyte_is_trimmed_in_fifty_milliseconds() -> None:
    twin = half_full("samsung-980-pro-1tb", "1/16")
    answer = twin.do(Trim(offset=0, size=twin.capacity_bytes // 2 // 4096 * 4096))
    assert isinstance(answer, Result)
    assert answer.duration_ns / 1e6 * 16 == pytest.approx(50, rel=0.05)


def timed(twin: ft.Twin, job: Job) -> Result:
    answer = twin.do(Run(label=job.name, jobs=(job,), sample_s=60.0))
    assert isinstance(answer, Result)
    return answer


# Superblocks that the trim empties, times an erase of 10 ms, is how long the first write waited
# when all were erased at once: 1.8 s on the whole BX500, 56 s on the whole 860 QVO.
@pytest.mark.parametrize(
    ("drive", "scale"),
    [
        ("bx500-240", "1/8"),
        pytest.param("samsung-860-qvo-1tb", "1/16", marks=pytest.mark.full),
    ],
)
def test_a_write_after_a_trim_of_all_waits_for_one_erase(drive: str, scale: str) -> None:
    twin = ft.Twin(drive, scale=scale)
    size = twin.capacity_bytes // (1 << 20) * (1 << 20)
    fill = Job(name="fill", rw="write", block_bytes=1 << 20, depth=8, size=size)
    timed(twin, fill)
    twin.do(Trim(offset=0, size=size))
    after = timed(
        twin, Job(name="w", rw="randwrite", block_bytes=4096, size=size, io_bytes=4 << 20, seed=1)
    )
    assert after.jobs[0].latency_max_ns < 20e6


def test_a_trimmed_cache_takes_data_at_once_and_a_rest_erases_it() -> None:
    """The drive has still to erase trimmed superblocks. A host that writes at once waits for some
    of these erases; after a minute of rest none are left."""
    part, speeds = 4 << 30, []
    for rest in (None, 0.0, 60.0):
        twin = ft.Twin("samsung-980-pro-1tb", scale="1/16")
        size = twin.capacity_bytes // (1 << 20) * (1 << 20)
        write = Job(name="w", rw="write", block_bytes=1 << 20, depth=8, size=size)
        if rest is not None:
            timed(twin, write)
            twin.do(Trim(offset=0, size=size))
            twin.do(Rest(seconds=rest))
        speeds.append(part / timed(twin, replace(write, io_bytes=part)).duration_ns)
    fresh, at_once, rested = speeds
    assert 0.5 * fresh < at_once < 0.95 * fresh
    assert rested == pytest.approx(fresh, rel=0.01)
