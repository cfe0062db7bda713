"""How long a host waits for folding when it writes past a full cache, or through it."""

from __future__ import annotations

import pytest

import flashtwin as ft
from flashtwin.model.step import Job, Rest, Result, Run


def longest_ms(pace: str) -> float:
    """The longest wait among 131,072 random writes past the full cache of a full drive."""
    twin = ft.Twin("bx500-240-nocache", scale="1/8", sets={"fold.pace": pace})
    size = twin.capacity_bytes // (1 << 20) * (1 << 20)
    fill = Job(name="f", rw="write", block_bytes=1 << 20, depth=8, size=size)
    write = Job(
        name="w", rw="randwrite", block_bytes=4096, depth=32, size=size, io_bytes=512 << 20, seed=1
    )
    twin.do(Run(label="fill", jobs=(fill,), sample_s=60.0))
    answer = twin.do(Run(label="write", jobs=(write,), sample_s=60.0))
    assert isinstance(answer, Result)
    return answer.jobs[0].latency_max_ns / 1e6


def test_few_free_superblocks_double_the_pace() -> None:
    """Half a byte folded for each of the host's frees as much as the host uses. Below `gc.low` it
    is twice that: 7 ms were measured. Of half the pace the double frees no more than is used, and
    the host waits for whole sources: 163 ms, and 1.3 s on the whole drive for 11 ms."""
    kept_up = longest_ms("0.5")
    assert kept_up < 25
    assert longest_ms("0.25") > 4 * kept_up


def after_rest(reclaim: str) -> tuple[float, float]:
    """Write amplification and the longest wait in ms of random writes to a full 980 PRO."""
    twin = ft.Twin("samsung-980-pro-1tb", scale="1/32", sets={"slc_cache.reclaim": reclaim})
    twin.precondition(block_size=1 << 20, overwrites=0.2)
    twin.do(Rest(seconds=1.0))
    before = twin.smart()["flashtwin"]["waf"]
    size = twin.capacity_bytes // 4096 * 4096
    write = Job(
        name="w", rw="randwrite", block_bytes=4096, depth=32, size=size, io_bytes=3 << 29, seed=2
    )
    answer = twin.do(Run(label="write", jobs=(write,), sample_s=60.0))
    assert isinstance(answer, Result)
    after = twin.smart()["flashtwin"]["waf"]
    programmed, written = (after[k] - before[k] for k in ("programmed_bytes", "host_bytes"))
    return programmed / written, answer.jobs[0].latency_max_ns / 1e6


def test_a_half_folded_superblock_is_not_waited_for() -> None:
    """Random writes leave every superblock of the cache mostly valid, so that none is reclaimed.
    When the host has filled one, the usual pace has folded half of the next: the host waited for
    its rest then and for all after it (a write amplification of 9.3 for 8.3, 29 ms for 11), or went
    past the cache for good, as a few units had it."""
    without, with_reclaim = after_rest("0"), after_rest("0.5")
    assert with_reclaim == pytest.approx(without, rel=0.02)
