"""A life by jumps is the life of the same writes in their time: its years, its WAF, its waits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flashtwin.load import life, lifetime, loads
from flashtwin.load.lifetime import Copy, Simulated
from flashtwin.load.words import Aged
from flashtwin.runner.target import Variant

# A drive without a cache whose life is short, of 200 superblocks.
SMALL = Variant(
    drive="bx500-240",
    scale="1/176",
    sets=(
        "map.residency=dram",
        "slc_cache.mode=none",
        "controller.move_time=0",
        "nand.blocks_per_plane=200",
        "drive.capacity=94 GB",
        "ftl.system=1 GB",
        "nand.native.endurance=40",
    ),
)
PATTERNS = {
    "uniform": "rw=randwrite\nbs=4k\n",
    "hot and cold": "rw=randwrite\nbs=4k\nrandom_distribution=zoned:80/20:20/80\n",
    "sequential": "rw=write\nbs=1m\n",
}
JOB = """[global]
filename=data
ioengine=libaio
iodepth=8
time_based
runtime=1h
norandommap
size=100%
[writes]
"""


def copy(folder: Path, pattern: str, variant: Variant = SMALL) -> Copy:
    path = folder / "load.fio"
    path.write_text(JOB + PATTERNS[pattern])
    load = loads.load(str(path), "0.5 drives")
    return Copy(variant=variant, scale=1, load=load, full=0.8, seed=1, years=0.1)


def in_its_time(of: Copy, monkeypatch: pytest.MonkeyPatch) -> Simulated:
    """The copy's life with nothing repeated: stages follow on one another."""

    def stays(living: life._Living, goal: float) -> None:
        living._aged = living._now()
        living._ends.append((living._counts.host, living._counts.used))

    monkeypatch.setattr(life._Living, "_jump", stays)
    monkeypatch.setattr(life, "MOST_JUMPS", 1000)
    return lifetime.simulate(of)


@pytest.mark.full
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_life_by_jumps_is_that_in_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    asked = copy(tmp_path, pattern)
    jumped = lifetime.simulate(asked)
    timed = in_its_time(asked, monkeypatch)
    assert jumped.life.repeated_bytes > 0 and timed.life.repeated_bytes == 0
    assert jumped.life.end_years == pytest.approx(timed.life.end_years, rel=0.02)
    waf, p99 = (
        [getattr(stage, name) for stage in timed.life.stages] for name in ("waf", "write_p99_ns")
    )
    for stage in jumped.life.stages:
        assert stage.waf == pytest.approx(sum(waf) / len(waf), rel=0.02)
        assert stage.write_p99_ns == pytest.approx(sum(p99) / len(p99), rel=0.1)


def test_the_drive_is_shown_after_its_years(tmp_path: Path) -> None:
    nvme = replace(SMALL, sets=(*SMALL.sets, "smart.family=micron"))
    asked = replace(copy(tmp_path, "sequential", nvme), scale=1, years=0.08)
    lived = lifetime.simulate(asked).life
    aged = lived.aged
    assert isinstance(aged, Aged) and aged.years == pytest.approx(0.08, rel=0.1)
    # Half a drive a day and a byte of flash for each: 14.6 capacities, the fill beside them.
    native = aged.cycles["native"]
    assert native.mean == pytest.approx(0.08 * 365.25 / 2, rel=0.25) and native.rated == 40
    assert aged.used == pytest.approx(native.mean / native.rated, rel=0.1)
    attributes = {row["id"]: row for row in aged.smart["ata_smart_attributes"]["table"]}
    capacity = aged.smart["user_capacity"]["bytes"]
    assert attributes[246]["raw"]["value"] * 512 == pytest.approx(
        aged.years * 365.25 * capacity / 2, rel=0.01
    )
    assert attributes[9]["raw"]["value"] == pytest.approx(aged.years * 8766, rel=0.1)
    assert attributes[202]["raw"]["value"] == int(100 * aged.used)
    assert lived.wear == {"native": 1.0}
    assert lived.end_years == pytest.approx(aged.years / aged.used, rel=0.1)
    assert "flashtwin" not in aged.smart
