"""A life by jumps is the life of the same writes in their time: its years, its WAF, its waits."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from flashtwin.load import ask, life, lifetime, loads
from flashtwin.load.lifetime import Copy, Question, Simulated
from flashtwin.load.stretch import MOST_READS, WORK_BYTES, Stretch, nominal
from flashtwin.load.words import Aged, Stage
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


def copy(folder: Path, pattern: str, variant: Variant = SMALL, per_day: str = "0.5 drives") -> Copy:
    path = folder / "load.fio"
    path.write_text(JOB + PATTERNS[pattern])
    load = loads.load(str(path), per_day)
    return Copy(variant=variant, scale=1, load=load, full=0.8, seed=1, years=0.1)


def in_its_time(of: Copy, monkeypatch: pytest.MonkeyPatch) -> Simulated:
    """The copy's life with nothing repeated: stages follow on one another."""

    def stays(living: life._Living, goal: float) -> None:
        living._aged = living._now()
        living._ends.append((living._counts.host, living._counts.used))

    monkeypatch.setattr(life._Living, "_jump", stays)
    endless = replace(lifetime.THOROUGH, jumps=1000, work=math.inf)
    monkeypatch.setattr(lifetime, "THOROUGH", endless)
    return lifetime.simulate(of)


@pytest.mark.full
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_life_by_jumps_is_that_in_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    # At half of so small a drive a day each write would be padded by itself.
    asked = replace(copy(tmp_path, pattern, per_day="50 drives"), years=0.0001)
    jumped = lifetime.simulate(asked)
    timed = in_its_time(asked, monkeypatch)
    assert jumped.life.repeated_bytes > 0 and timed.life.repeated_bytes == 0
    # A stage is of a quarter of the drive, by as much as stages differ a life may be off.
    error = 0.02 + jumped.life.jump_error
    assert jumped.life.end_years == pytest.approx(timed.life.end_years, rel=error) and error < 0.06
    means = [
        [
            fmean(getattr(stage, name) for stage in of.life.stages)
            for name in ("waf", "write_p99_ns")
        ]
        for of in (jumped, timed)
    ]
    assert means[0][0] == pytest.approx(means[1][0], rel=0.02)
    assert means[0][1] == pytest.approx(means[1][1], rel=0.1)


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


def test_a_load_beyond_the_drive_wears_it_as_it_takes_it(tmp_path: Path) -> None:
    asked = replace(copy(tmp_path, "sequential"), years=1e-5)
    asked = replace(asked, load=replace(asked.load, per_day=100_000.0))
    lived = lifetime.simulate(asked)
    of = lifetime.lifetime(Question(variant=SMALL, load=asked.load), [lived])
    assert lived.kept_up < 0.9
    capacity = SMALL.spec().capacity_bytes
    a_day = 100_000 * capacity * lived.taken
    aged = lived.life.aged
    assert of.flash_per_day_bytes == pytest.approx(a_day * lived.waf)
    # 40 cycles of the flash, at what each byte costs.
    assert of.years.value * 365.25 * a_day * lived.waf == pytest.approx(40 * capacity, rel=0.3)
    assert aged is not None and aged.used == pytest.approx(aged.years / of.years.value, rel=0.1)


def test_parts_of_sectors_count_as_whole_ones(tmp_path: Path) -> None:
    path = tmp_path / "parts.fio"
    path.write_text(JOB + "rw=randwrite\nbs=10300\nblockalign=512\n")
    load = loads.load(str(path), "50 drives")
    lived = lifetime.simulate(replace(copy(tmp_path, "sequential"), load=load, brief=True))
    # 10,300 bytes from a sector's beginning touch 21 sectors.
    assert lived.kept_up == 1.0 and lived.taken == pytest.approx(21 * 512 / 10300, rel=0.01)
    of = lifetime.lifetime(Question(variant=SMALL, load=load), [lived])
    assert any("the drive gets 1.04 bytes for one that is asked" in note for note in of.sources)


@pytest.mark.parametrize(
    ("end_years", "error"),
    [
        (1.5, 0.5 * 0.2 / 1.5),
        # Half a year was not followed, and differs as the last jump did.
        (3.5, (0.5 * 0.2 + 1.5 * 0.5 + 0.5 * 0.5) / 3.5),
        (None, (0.5 * 0.2 + 1.5 * 0.5) / 3.0),
    ],
)
def test_jumps_of_a_life_are_off_by_its_stages(end_years: float | None, error: float) -> None:
    stages = [
        Stage(years=years, used=0.1, waf=waf, wear=1.0, refresh=0.0, write_p99_ns=None)
        for years, waf in ((1.0, 2.0), (1.5, 2.5), (3.0, 5.0))
    ]
    assert life.jump_error(stages, end_years) == pytest.approx(error)


def test_a_copy_ends_when_its_work_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = replace(copy(tmp_path, "uniform", per_day="50 drives"), full=0.95, years=0.0001)
    usual = lifetime.simulate(asked)
    bounded = replace(lifetime.THOROUGH, work=usual.work / 2.5)
    monkeypatch.setattr(lifetime, "THOROUGH", bounded)
    short = lifetime.simulate(asked)
    # A stage of a quarter of a capacity is not cut short, or it would not show what repeats.
    assert short.work < bounded.work + usual.work / usual.written / 2
    assert usual.steady and not short.steady and short.waf_error > usual.waf_error
    assert abs(short.waf - usual.waf) < short.waf_error + usual.waf_error
    # Not of the batches in which the first free superblocks were taken.
    assert abs(short.waf / usual.waf - 1) < 0.02 and short.waf_error < 0.05 * short.waf
    of = lifetime.lifetime(Question(variant=SMALL, load=asked.load), [short])
    assert any(note.startswith("not settled: the write amplification") for note in ask.notes(of))


def test_a_stretch_that_mostly_reads_is_cut_into_parts(tmp_path: Path) -> None:
    of_writes, path = copy(tmp_path, "uniform"), tmp_path / "reads.fio"
    path.write_text(JOB + "rw=randrw\nrwmixread=99\nbs=4k\n")
    asked = replace(of_writes, load=loads.load(str(path), "50 drives"))
    full_size = SMALL.spec()
    jobs = lifetime.jobs_of(asked, full_size, full_size.capacity_bytes)
    stretch = Stretch.of(asked.load, 1, full_size, full_size, jobs)
    part = stretch.with_reads()
    reads = nominal(jobs[0], 0) * part.factor * part.active_s / WORK_BYTES
    assert (
        reads <= MOST_READS < nominal(jobs[0], 0) * stretch.factor * stretch.active_s / WORK_BYTES
    )
    assert part.write_bytes / part.active_s == pytest.approx(stretch.write_bytes / stretch.active_s)
    ((_, with_reads),) = part.paced(0, [0], reads=True)
    ((_, without),) = stretch.paced(0, [0], reads=False)
    assert (with_reads.rw, without.rw) == ("randrw", "randwrite")


# The copies that take longest: large ones, and loads of small requests.
HEAVY = (
    ("samsung-970-evo-500", "postgres-oltp"),
    ("silicon-power-xd80-2tb", "data-centre"),
    ("samsung-980-1tb", "etcd"),
    ("545s-256", "proxmox-zfs"),
)


@pytest.mark.full
@pytest.mark.parametrize(("drive", "name"), HEAVY)
def test_no_copy_takes_more_work_than_it_may(drive: str, name: str) -> None:
    asked = Question(variant=Variant(drive=drive), load=loads.load(name))
    base, *_, last = lifetime.copies(asked, 1)
    for of, plan in ((base, lifetime.THOROUGH), (last, lifetime.BRIEF)):
        assert lifetime.simulate(of).work < 1.4 * plan.work
