"""The catalogue's drives as a host sees them in rests and late in their lives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flashtwin.catalogue.loader import drive_ids, load
from flashtwin.drives.twin import Twin
from flashtwin.model.job import Job
from flashtwin.model.step import Rest, Result, Run

MIB = 1 << 20
# Drives that fold at rest, with a scale and what their cache then holds, in MiB.
FOLDING = {
    "bx500-240": ("1/32", 700),
    "pm871b-128": ("1/4", 300),
    "545s-256": ("1/8", 250),
    "600p-512": ("1/32", 500),
}


def done(twin: Twin, *jobs: Job) -> Result:
    result = twin.do(Run(label="x", jobs=jobs), lambda progress: True)
    assert isinstance(result, Result)
    return result


def speed(twin: Twin, offset: int, size: int) -> float:
    """MB/s of writes in order, both in MiB."""
    job = Job(name="w", rw="write", block_bytes=MIB, depth=8, offset=offset * MIB, size=size * MIB)
    result = done(twin, job)
    return size * MIB / 1e6 / (result.duration_ns / 1e9)


@pytest.mark.parametrize("drive", FOLDING)
def test_a_full_cache_recovers_beside_a_read_now_and_then(drive: str) -> None:
    scale, cache = FOLDING[drive]
    twin = Twin(load(drive, scale=scale), seed=1).open()
    first = speed(twin, 0, cache // 2)
    speed(twin, cache // 2, cache * 3 // 2)
    assert speed(twin, cache * 2, cache // 4) < 0.6 * first
    read = {"rw": "randread", "block_bytes": 4096, "think_ns": 500_000_000, "runtime_s": 60.0}
    done(twin, Job(name="r", size=cache * MIB, **read))
    assert speed(twin, cache * 3, cache // 2) > 0.9 * first


def test_a_short_rest_gives_back_what_it_freed() -> None:
    """The 980 PRO takes data in mid-fill only once all of its cache is free (`slc_cache.rearm`);
    what a second of folding has freed takes data at once."""
    twin = Twin(load("samsung-980-pro-1tb", scale="1/16"), seed=1).open()
    first = speed(twin, 0, 4096)
    speed(twin, 4096, 8192)
    assert speed(twin, 12288, 1024) < 0.6 * first
    twin.do(Rest(seconds=2.0), lambda progress: True)
    assert speed(twin, 16384, 1024) > 0.9 * first
    assert speed(twin, 20480, 8192) < 0.6 * first, "two seconds do not free all of it"


def rewritten(*sets: str) -> float:
    """MB/s of the last half of writes at random within a file of a quarter of the cache."""
    twin = Twin(load("kingston-nv2-1tb", scale="1/32", sets=sets), seed=1).open()
    job = Job(name="w", rw="randwrite", block_bytes=64 << 10, depth=32, size=640 * MIB)
    done(twin, replace(job, io_bytes=5120 * MIB))
    result = done(twin, replace(job, io_bytes=5120 * MIB, seed=2))
    return 5120 * MIB / 1e6 / (result.duration_ns / 1e9)


def test_an_overwritten_file_stays_in_the_cache() -> None:
    assert rewritten() > 1.5 * rewritten("slc_cache.reclaim=0")


@pytest.mark.parametrize("drive", ["crucial-p1-1tb", "samsung-870-evo-4tb", "bx500-240"])
def test_data_is_not_written_anew_all_the_time(drive: str) -> None:
    """At the end of the rated life, too, data rests for a month."""
    values = {row["key"]: row["value"] for row in load(drive).values()}
    worn = int(values["nand.native.endurance"])
    sets = (f"drive.initial_cycles={worn}", "slc_cache.mode=none")
    twin = Twin(load(drive, scale="1/64", sets=sets), seed=1).open()
    speed(twin, 0, 256)
    rest = twin.do(Rest(seconds=29 * 86_400.0), lambda progress: True)
    assert isinstance(rest, Result)
    assert np.asarray(rest.xray["refresh_bytes"])[-1] == 0


@pytest.mark.parametrize("drive", drive_ids())
def test_a_host_finds_a_second_superblock_above_the_reserve(drive: str) -> None:
    spec = load(drive)
    values = {row["key"]: row["value"] for row in spec.values()}
    assert int(values["gc.low"]) >= int(values["gc.reserve"]) + 2
    told = ("written anew", "may wait")
    assert not [text for text in spec.warnings if any(words in text for words in told)]
