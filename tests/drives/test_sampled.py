"""A sampled life is that of the same writes in their time, and says how far it may be off."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin.catalogue.loader import load
from flashtwin.drives import sampled, untimed
from flashtwin.drives.twin import Twin
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.histogram import bins_of, percentiles_of
from flashtwin.model.job import Job
from flashtwin.model.step import Fill, Result, Run
from flashtwin.model.target import Progress

SETS = (
    "map.residency=dram",
    "slc_cache.mode=none",
    "controller.move_time=0",
    # 200 superblocks at this scale.
    "nand.blocks_per_plane=200",
    "drive.capacity=94 GB",
    "ftl.system=1 GB",
)
PLAN = sampled.Plan(before=3.0, window=0.04, between=0.06, windows=2, stages=4)


def go(_: Progress) -> bool:
    return True


def full(*sets: str) -> Twin:
    spec = load("bx500-240", sets=(*SETS, *sets), scale="1/176")
    twin = Twin(spec, seed=1, preparation=untimed.UNTIMED).open()
    twin.do(Fill(label="full"), go)
    return twin


def writes(capacity: int, share: float = 1.0, seed: int = 1) -> Job:
    return untimed.writing(
        0,
        capacity // 4096 * 4096,
        4096,
        rw="randwrite",
        depth=32,
        io_bytes=int(capacity * share) // 4096 * 4096,
        seed=seed,
    )


def test_a_sampled_life_is_the_timed_one() -> None:
    twin = full()
    capacity = twin.info.capacity_bytes
    life = sampled.live(twin, writes(capacity), 100 * capacity, PLAN)
    assert life.ended is None
    assert 100 * capacity <= life.host_bytes < 103 * capacity
    assert life.simulated_bytes < 4 * capacity
    inside = twin.smart()["flashtwin"]
    # The repeated work has worn the drive, taken its time and drawn its power.
    cycles = life.host_bytes * life.waf.value / (capacity * 1500)
    assert 0.7 * cycles < life.used < cycles
    assert life.seconds == pytest.approx(life.host_bytes / life.rate_bytes_s.value, rel=0.1)
    assert inside["energy"]["mean_mw"] > 500

    beside = full()
    beside.precondition([writes(capacity, PLAN.before, 5)], go)
    before = beside.smart()["flashtwin"]["waf"]
    answer = beside.do(Run(label="t", jobs=(writes(capacity, 1.5, 7),), sample_s=3600.0), go)
    assert isinstance(answer, Result)
    after = beside.smart()["flashtwin"]["waf"]
    wrote, programmed = (after[key] - before[key] for key in ("host_bytes", "programmed_bytes"))
    # Collection goes in waves in a drive of 200 superblocks: the interval says so.
    assert life.waf.low is not None and life.waf.high is not None
    assert life.waf.low < programmed / wrote < life.waf.high
    assert life.waf.value == pytest.approx(programmed / wrote, rel=0.05)
    p99 = percentiles_of(bins_of(np.asarray(answer.hist["write"])), [sampled.P99])[sampled.P99]
    assert life.p99_ns.value == pytest.approx(p99, rel=0.1)
    assert life.drift["waf"] < 0.2


def test_a_life_is_of_writes_and_not_of_chance() -> None:
    twin = full("wear.program_failures=20", "wear.spares=8")
    with pytest.raises(FlashtwinError, match="fail by chance") as refused:
        sampled.live(twin, writes(twin.info.capacity_bytes), 1 << 40)
    assert refused.value.exit_code == USAGE
    with pytest.raises(FlashtwinError, match="more than write"):
        sampled.live(full(), untimed.writing(0, 1 << 20, 4096, rw="randrw"), 1 << 40)
