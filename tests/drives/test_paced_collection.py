"""Paced collection's longest wait of a host does not grow with the superblocks."""

from __future__ import annotations

import pytest

import flashtwin as ft
from flashtwin.model.step import Job, Result, Run

# Random writes of 4 KiB at a depth of 32 wait at most 15 to 17 ms at any scale, as measured.
LONGEST_MS = 25.0


def longest_ms(scale: str | None, pace: str = "paced") -> float:
    """The longest wait among 51,200 random writes on a drive that collects."""
    sets = {"map.residency": "dram", "slc_cache.mode": "none", "gc.pace": pace}
    twin = ft.Twin("bx500-240", scale=scale, sets=sets)
    twin.precondition(overwrites=0.4)
    write = Job(name="w", rw="randwrite", block_bytes=4096, depth=32, io_bytes=200 << 20, seed=9)
    answer = twin.do(Run(label="w", jobs=(write,), sample_s=60.0))
    assert isinstance(answer, Result)
    (job,) = answer.jobs
    return job.latency_max_ns / 1e6


def test_a_host_waits_as_long_whatever_the_scale() -> None:
    small, large = longest_ms("1/64"), longest_ms("1/16")
    assert large < LONGEST_MS
    assert large == pytest.approx(small, rel=0.25)
    # Where a host is not let in before a superblock is free, it waits for all of it.
    assert longest_ms("1/64", "stop-the-world") > 3 * small


@pytest.mark.full
def test_a_host_waits_as_long_with_superblocks_of_full_size() -> None:
    assert longest_ms(None) < LONGEST_MS
