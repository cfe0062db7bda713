"""The twin behind the drive protocol: every step, one clock, one answer a seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.drive import TellsSmart
from flashtwin.model.series import COLUMNS, WRITE
from flashtwin.model.step import Chain, Fill, Flush, Job, Mark, Purge, Rest, Result, Run, Step, Trim
from flashtwin.model.target import Interrupted, Progress
from flashtwin.runner.run import run_batteries
from flashtwin.runs import frames

GIB = 1 << 30
# The cheap controller's buffer is too small for what compresses into one program.
COMPRESSES = (
    "compression.best_ratio=4",
    "map.residency=dram",
    "controller.write_buffer=1536 KiB",
)
QUICK = ("crystaldiskmark", {"profile": "real", "loops": "1", "mix": "off", "size": "64MiB"})
XRAY = {
    "t_ns",
    "host_bytes",
    "slc_bytes",
    "tier_bytes",
    "direct_bytes",
    "fold_bytes",
    "gc_bytes",
    "wear_bytes",
    "refresh_bytes",
    "failure_bytes",
    "map_bytes",
    "pad_bytes",
    "parity_bytes",
    "second_pass_bytes",
    "journal_bytes",
    "recovery_bytes",
    "saved_bytes",
    "slc_erases",
    "native_erases",
    "tier_erases",
    "map_reads",
    "read_retries",
    "uncorrectable",
    "rebuilt",
    "wear_ppm",
    "energy_uj",
    "suspends",
    "wear_spread_ppm",
    "retired_superblocks",
    "cache_bytes",
    "cache_valid_bytes",
    "cache_limit_bytes",
    "tier_held_bytes",
    "tier_valid_bytes",
    "static_left_ppm",
    "free_superblocks",
    "native_free_bytes",
    "power_state",
    "temperature_mc",
}


def twin(seed: int = 1) -> Twin:
    return Twin(load("bx500-240", scale="1/16"), seed=seed).open()


def go(progress: Progress) -> bool:
    return True


def do(drive: Twin, step: Step) -> Result:
    answer = drive.do(step, go)
    assert isinstance(answer, Result)
    assert answer.label == step.label
    return answer


def write(label: str, size: int, *, offset: int = 0, sample_s: float = 0.1) -> Run:
    job = Job(name="w", rw="write", block_bytes=1 << 20, depth=4, offset=offset, size=size)
    return Run(label=label, jobs=(job,), sample_s=sample_s)


def test_a_run_says_what_the_host_saw() -> None:
    drive = twin()
    result = do(drive, write("w", GIB))
    (job,) = result.jobs
    assert job.bytes == GIB and job.ios == 1024 and job.errors == 0
    series = result.series.only(WRITE)
    assert int(series.bytes.sum()) == GIB and int(series.ios.sum()) == 1024
    assert int(series.dt_ns.sum()) == result.duration_ns
    assert {getattr(series, name).dtype for name in COLUMNS} == {np.dtype(np.int64)}
    assert int(np.asarray(result.hist["write"]).sum()) == 1024
    assert set(result.xray) >= XRAY
    assert int(np.asarray(result.xray["host_bytes"])[-1]) == GIB
    assert 0 < job.mean_depth <= 4.001
    assert job.mean_depth == pytest.approx(
        job.ios * job.latency_mean_ns / job.duration_ns, rel=0.01
    )


def test_the_clock_goes_on_through_every_kind_of_step() -> None:
    drive = twin()
    steps: list[Step] = [
        write("w", 64 << 20),
        Flush(),
        Rest(seconds=2.5),
        Mark(label="here"),
        Trim(offset=0, size=64 << 20),
        Fill(size=100 << 20, depth=1),
        Purge(),
    ]
    clock = 0
    for step in steps:
        result = do(drive, step)
        assert result.start_ns == clock
        clock += result.duration_ns
    rest = do(drive, Rest(seconds=2.5))
    assert rest.duration_ns == 2_500_000_000 and len(rest.series.t_ns) == 0


def test_a_wait_beyond_the_bound_is_a_note_of_its_step() -> None:
    stopped = ("map.residency=dram", "slc_cache.mode=none", "gc.pace=stop-the-world")
    sets = (*stopped, "gc.high=12", "controller.longest_wait=20 ms")
    drive = Twin(load("bx500-240", sets=sets, scale="1/64"), seed=1).open()
    assert "waited" not in (do(drive, Fill()).note or "")
    job = Job(name="w", rw="randwrite", block_bytes=4096, depth=32, io_bytes=1 << 30)
    note = do(drive, Run(label="random", jobs=(job,), sample_s=1.0)).note
    assert note is not None and note.startswith("a write waited ")
    assert "s for collection until" in note and "controller.longest_wait" in note


def test_a_fill_prepares_and_is_no_measurement() -> None:
    drive = twin()
    result = do(drive, Fill(offset=1 << 20, size=(32 << 20) + 8192))
    assert len(result.series.t_ns) == 0 and not result.hist
    assert sum(job.bytes for job in result.jobs) == (32 << 20) + 8192


def test_a_chain_is_its_parts_without_a_gap() -> None:
    parts = (write("a", 64 << 20), Rest(seconds=1.0), write("b", 64 << 20, offset=64 << 20))
    whole = do(twin(), Chain(label="c", parts=parts))
    alone = twin()
    each = [do(alone, part) for part in parts]
    assert whole.duration_ns == sum(one.duration_ns for one in each)
    assert int(whole.series.bytes.sum()) == 128 << 20
    assert [job.bytes for job in whole.jobs] == [64 << 20, 64 << 20]
    last = whole.series.t_ns[-len(each[2].series.t_ns) :]
    expected = each[2].series.t_ns + each[2].start_ns - each[0].start_ns
    np.testing.assert_array_equal(last, expected)
    assert (np.diff(np.asarray(whole.xray["t_ns"])) > 0).all()
    assert [part.label for part in whole.parts] == ["a", "rest", "b"]
    for part, one in zip(whole.parts, each, strict=True):
        assert (part.start_ns, part.duration_ns, part.jobs) == (
            one.start_ns,
            one.duration_ns,
            one.jobs,
        )
        np.testing.assert_array_equal(part.series.lat_sum_ns, one.series.lat_sum_ns)


def test_a_purged_drive_is_as_new() -> None:
    drive = twin()
    first = do(drive, write("w", GIB))
    do(drive, Purge())
    again = do(drive, write("w", GIB))
    assert again.duration_ns == pytest.approx(first.duration_ns, rel=1e-3)


def test_the_watch_hears_and_stops() -> None:
    heard: list[Progress] = []

    def three(progress: Progress) -> bool:
        heard.append(progress)
        return len(heard) < 3

    drive = twin()
    job = Job(name="r", rw="randwrite", block_bytes=4096, depth=32, io_bytes=8 * GIB)
    with pytest.raises(Interrupted):
        drive.do(Run(label="w", jobs=(job,)), three)
    assert len(heard) == 3
    assert 0 < heard[0].bytes < heard[-1].bytes and heard[0].drive_s < heard[-1].drive_s
    drive.close()
    drive.close()


@pytest.mark.parametrize("make", [twin, lambda: twin(2)])
def test_one_seed_one_answer(tmp_path: Path, make: Callable[[], Twin]) -> None:
    one, two = (run_batteries(make(), [QUICK], tmp_path / name).path for name in ("1", "2"))
    files = [at.relative_to(one) for at in one.rglob("*") if at.is_file()]
    assert {Path("smart/before.json"), Path("smart/after.json")} <= set(files)
    for at in files:
        if at.name != "host.json":
            assert (one / at).read_bytes() == (two / at).read_bytes(), at


def test_smart_tells_what_was_done_in_smartctls_words() -> None:
    drive = twin()
    assert isinstance(drive, TellsSmart)
    job = Job(name="w", rw="write", block_bytes=128 << 10, depth=32, io_bytes=GIB)
    do(drive, Run(label="w", jobs=(job,)))
    told = drive.smart()
    table = {row["id"]: row["raw"]["value"] for row in told["ata_smart_attributes"]["table"]}
    assert table[246] == GIB // 512 and table[247] == pytest.approx(GIB / 16_384, rel=0.01)
    assert told["user_capacity"]["bytes"] == drive.info.capacity_bytes
    assert told["temperature"]["current"] == 25 and told["smart_status"] == {"passed": True}
    assert told["flashtwin"]["waf"]["total"] == pytest.approx(1 + table[248] / table[247], rel=0.01)


@pytest.mark.parametrize(
    ("sets", "percent"), [((), 0), pytest.param(COMPRESSES, 60, marks=pytest.mark.full)]
)
def test_the_xray_and_smart_count_the_same_causes_once(sets: tuple[str, ...], percent: int) -> None:
    drive = Twin(load("bx500-240", sets=sets), seed=1).open()
    job = Job(
        name="w",
        rw="randwrite",
        block_bytes=16 << 10,
        depth=4,
        io_bytes=GIB // 4,
        compress_percent=percent,
    )
    columns = do(drive, Run(label="w", jobs=(job,))).xray
    told = drive.smart()["flashtwin"]["waf"]
    assert sorted(told["by_cause"]) == sorted(frames.CAUSES)
    for cause, column in frames.PROGRAMMED.items():
        assert told["by_cause"][cause] * told["host_bytes"] == pytest.approx(columns[column][-1])
    assert frames.programmed_bytes(columns)[-1] == told["programmed_bytes"]
    assert (columns[frames.SAVED_BYTES][-1] > 0) == (percent > 0)


def test_the_xray_follows_energy_and_temperature() -> None:
    drive = twin()
    job = Job(name="w", rw="write", block_bytes=128 << 10, depth=32, io_bytes=8 * GIB)
    busy = do(drive, Run(label="w", jobs=(job,), sample_s=0.5)).xray
    rest = do(drive, Rest(label="r", seconds=20)).xray
    watts = [np.diff(one["energy_uj"]) / np.diff(one["t_ns"]) * 1e3 for one in (busy, rest)]
    assert watts[0].min() > 0.7 and watts[1][-1] == pytest.approx(0.05, abs=0.001)
    assert busy["power_state"][0] == 0 and list(rest["power_state"][[0, -1]]) == [1, 2]
    assert (np.diff(busy["temperature_mc"]) > 0).all() and busy["temperature_mc"][0] >= 25_000


def test_the_manifest_names_the_whole_spec() -> None:
    info = twin().info
    assert info.name == "bx500-240" and info.kind == "twin" and info.can.virtual_time
    assert info.capacity_bytes == pytest.approx(240e9 / 16, rel=0.001)
    assert {"hash", "toml", "values"} <= set(info.identity)
    raw = info.identity["raw_bytes"]
    assert isinstance(raw, int) and raw > info.capacity_bytes
