"""The estimate: bytes exactly where they are known, times from stated priors."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Generator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from fakes import FakeDrive, Law

from flashtwin import system
from flashtwin._core import Spec
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.registry import Battery, Request
from flashtwin.catalogue.loader import load
from flashtwin.drives import memory
from flashtwin.drives import pace as drive_pace
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.fio_job import Blocks, Fio, Think
from flashtwin.model.pace import ALONE_READS, USUAL, Pace, busy
from flashtwin.model.step import Chain, Fill, Flush, Job, Purge, Rest, Run, Step, Trim
from flashtwin.runner.estimate import STEP_S, Estimate, estimate, expected
from flashtwin.runner.events import foretold
from flashtwin.runner.run import run_batteries
from flashtwin_lab import estimates


def of(
    *steps: Step,
    kind: str = "file",
    pace: Pace = USUAL,
    slower: float = 1.0,
    thinks_s: float = 0.0,
) -> Estimate:
    def play(parameters: object, info: object) -> Generator[Step, object, None]:
        # A tuple hears no answers, as `yield from` would have it.
        for step in steps:
            _ = yield step

    battery = Battery(
        name="given",
        title="given",
        trust="M",
        parameters=object,
        measure=play,
        conclude=lambda record: [],
        thinks_s=thinks_s,
    )
    info = FakeDrive(law=Law(capacity_bytes=10**9), kind=kind).info
    requests = [Request(battery=battery, parameters=None)]
    return estimate(requests, info, pace=pace, slower=slower)


def job(**changes: object) -> Job:
    values: dict[str, object] = {"name": "j", "rw": "write", "block_bytes": 1 << 20}
    return Job(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "read", "write", "seconds"),
    [
        (job(), 0, 10**9, 2.5),
        (job(size=4 * 10**8), 0, 4 * 10**8, 1.0),
        (job(offset=6 * 10**8, rw="read"), 4 * 10**8, 0, 1.0),
        (job(io_bytes=8 * 10**8, size=10**8), 0, 8 * 10**8, 2.0),
        (job(runtime_s=5.0), 0, 2 * 10**9, 5.0),
        (job(runtime_s=5.0, io_bytes=4 * 10**8), 0, 4 * 10**8, 1.0),
        (job(runtime_s=2.0, rw="rw", read_percent=70), 560_000_000, 240_000_000, 2.0),
        (job(runtime_s=1.0, rw="randread", block_bytes=4096), 8000 * 4096, 0, 1.0),
        (job(runtime_s=1.0, rw="randwrite", block_bytes=4096, depth=32), 0, 80_000 * 4096, 1.0),
        (job(rate_bytes_s=10**8), 0, 10**9, 10.0),
        (job(rw="trim"), 0, 0, 2.5),
    ],
)
def test_a_job(one: Job, read: int, write: int, seconds: float) -> None:
    found = of(Run(label="x", jobs=(one,)))
    assert (found.read_bytes, found.write_bytes - found.target_bytes) == (read, write)
    assert found.target_bytes == 10**9
    assert found.drive_s == pytest.approx(seconds)
    assert found.wall_s == pytest.approx(found.drive_s + 10**9 / 400e6)


def test_other_steps() -> None:
    assert of(Rest(seconds=30)).drive_s == 30
    assert of(Fill(), kind="twin").write_bytes == 10**9
    assert of(Fill(offset=4 * 10**8), kind="twin").write_bytes == 6 * 10**8
    assert of(Trim(), Flush(), kind="twin").write_bytes == 0
    chain = Chain(label="c", parts=(Run(label="a", jobs=(job(),)), Rest(seconds=3)))
    assert of(chain).drive_s == pytest.approx(5.5)
    both = Run(label="b", jobs=(job(), job(runtime_s=5.0)))
    assert of(both).drive_s == pytest.approx(5.0)
    assert of(both, kind="twin").write_bytes == 3 * 10**9


PACE = Pace(
    first_bytes_s=1e9,
    again_bytes_s=5e8,
    read_bytes_s=2e9,
    random_read_iops=1e6,
    random_write_iops=5e5,
    first_random_write_iops=1e6,
    open_s=0.25,
)


def test_a_twin_takes_what_its_design_takes_on_this_machine() -> None:
    """The drive has 1 GB: what is written over data goes at half the pace, what an erase makes
    free goes at the first one again; others on the machine make all of it slower."""
    steps = (
        Run(label="first", jobs=(job(size=10**9),)),
        Run(label="again", jobs=(job(size=10**9),)),
        Purge(label="purge"),
        Run(label="erased", jobs=(job(size=10**9),)),
        Run(label="read", jobs=(job(rw="read", size=10**9),)),
        Run(
            label="random",
            jobs=(job(rw="randwrite", block_bytes=4096, io_bytes=4096 * 10**6),),
        ),
    )
    expected = [1.0, 2.0, 0.25, 1.0, 0.5, 4.096 / 0.5]
    quiet = of(*steps, kind="twin", pace=PACE)
    assert [step.wall_s for step in quiet.steps] == pytest.approx(expected, abs=2 * STEP_S)
    busy = of(*steps, kind="twin", pace=PACE, slower=3.0)
    assert busy.wall_s == pytest.approx(3 * sum(expected), rel=0.01)
    assert busy.most_wall_s > 2 * busy.wall_s, "at most is a promise"


def test_a_step_that_time_ends_is_what_the_drive_does_in_it() -> None:
    """Ten seconds at 100 MB/s are 1 GB, and at 1 GB/s 10 GB, whatever a usual drive would write; a
    step that its bytes end is all of them."""
    pace = replace(PACE, own_first_bytes_s=1e8, own_again_bytes_s=1e9, own_read_bytes_s=1e8)
    timed = Run(label="timed", jobs=(job(runtime_s=10.0, io_bytes=None),))
    whole = Run(label="whole", jobs=(job(size=10**9),))
    for steps, walls in (((timed, timed), [1.0, 20.0]), ((whole,), [1.0])):
        wall = [step.wall_s for step in of(*steps, kind="twin", pace=pace).steps]
        assert wall == pytest.approx(walls, abs=2 * STEP_S)


def test_large_random_writes_over_data_cost_what_they_leave_to_collect() -> None:
    """1 GB in blocks of 128 KiB over a full drive: a fifth of its pages, and not its few requests;
    in a time, as many bytes as 1.5 times its pages."""
    large = {"rw": "randwrite", "block_bytes": 131072}
    first = Run(label="first", jobs=(job(size=10**9),))
    written = Run(label="written", jobs=(job(size=10**9, io_bytes=10**9, **large),))
    pages_s = 10**9 / 4096 / PACE.random_write_iops
    quick = replace(PACE, again_bytes_s=1e12)
    steps = of(first, written, kind="twin", pace=quick).steps
    assert steps[1].wall_s == pytest.approx(0.2 * pages_s, rel=0.1)
    own = dict.fromkeys(("own_again_bytes_s", "own_read_bytes_s", "own_random_read_iops"), 1e9)
    pace = replace(quick, own_random_write_iops=1000.0, **own)
    assert pace.own_request_s(0.0, 131072, 32, random=True, erased=False) == pytest.approx(
        131072 / (1.5 * 4096 * 1000)
    )


def test_a_step_that_time_ends_goes_by_depth_mix_pauses_and_sizes() -> None:
    """One read at a time is bound by its wait; half of the time of a host that thinks is none; the
    mean of sizes counts, and not the largest."""
    names = [field.name for field in fields(Pace) if field.name.startswith("own_")]
    own = {name: 1e5 if "random" in name else 1e9 for name in names}
    pace = replace(PACE, read_bytes_s=1e13, **own)
    split = Blocks(least=4096, most=65536, split=((4096, 75), (65536, 25)))
    timed = {"runtime_s": 10.0, "rw": "randread", "block_bytes": 4096}
    busy = Fio(time_based=True)
    jobs = [
        (job(**timed, depth=1), 10 * ALONE_READS / 1e6),
        (job(**timed, depth=32), 1.0),
        (job(**timed, depth=32, fio=replace(busy, think=Think(ns=5, iotime_ns=5))), 0.5),
        (job(**timed, depth=32, fio=replace(busy, blocks=(split,) * 3)), 10 / 19456 * 1e9 / 1e6),
        (job(**timed, depth=32, rate_bytes_s=4096 * 10**4), 0.1),
    ]
    for timed_job, wall_s in jobs:
        told = of(Run(label="x", jobs=(timed_job,)), kind="twin", pace=pace)
        assert told.wall_s == pytest.approx(wall_s, abs=2 * STEP_S)


def test_what_a_battery_computes_is_part_of_each_step() -> None:
    steps = (Run(label="a", jobs=(job(size=10**9),)), Run(label="b", jobs=(job(size=10**9),)))
    thinking = of(*steps, kind="twin", pace=PACE, thinks_s=4.0)
    assert [step.wall_s for step in thinking.steps] == pytest.approx([3.0, 4.0], abs=2 * STEP_S)
    real = of(*steps, kind="file", pace=PACE, thinks_s=4.0)
    assert real.wall_s == pytest.approx(real.drive_s + real.making_s)


@pytest.mark.parametrize(
    ("share", "at_once", "processors", "slower"),
    [
        *[(1.0, 1, 2, 1.0), (1.0, 2, 2, 1.0), (0.5, 1, 1, 2.0), (0.25, 2, 2, 4.0)],
        (1.0, 8, 2, 4.0),
        # A clock that ticks coarsely may show no time at all, or more than there was.
        *[(0.0, 1, 2, 100.0), (1.1, 1, 2, 1.0)],
    ],
)
def test_a_busy_machine_takes_longer(
    share: float, at_once: int, processors: int, slower: float
) -> None:
    assert busy(share, at_once, processors) == slower


def test_a_long_run_is_told_by_what_it_gets_of_the_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A quarter of a processor makes it four times as long; a short one does not look."""
    asked: list[int] = []

    def share(threads: int) -> float:
        asked.append(threads)
        return 0.25

    monkeypatch.setattr(system, "share_of_processors", share)
    monkeypatch.setattr(system, "processors", lambda: 2)
    monkeypatch.setattr(Twin, "pace", lambda drive, expected_s: PACE)
    twin = Twin(load("bx500-240"), seed=1)
    requests = [registry.request("fill", {"passes": "1", "patterns": "1m-q1"})]
    alone, shared, many = (
        expected(requests, twin, twin.info, at_once, slower=slower).wall_s
        for at_once, slower in ((1, 1.0), (1, None), (8, None))
    )
    assert (shared, many) == (pytest.approx(4 * alone, rel=0.01), pytest.approx(16 * alone, 0.01))
    assert asked == [1, 2]
    small = Twin(load("bx500-240", scale="1/176"), seed=1)
    expected(requests, small, small.info)
    assert asked == [1, 2]


def test_a_pace_is_work_over_what_the_processor_took() -> None:
    """By a made-up clock, on which everything takes a second."""
    spec = load("bx500-240", scale="1/176")
    ticks = iter(range(100))
    pace = drive_pace.measured(spec, 3 * spec.memory_bytes, lambda: float(next(ticks)))
    capacity = Twin(spec, seed=1).info.capacity_bytes // (128 << 10) * (128 << 10)
    assert (pace.first_bytes_s, pace.again_bytes_s) == (capacity, capacity)
    assert (pace.random_read_iops, pace.read_bytes_s) == (100_000, 4e9)
    assert 0 < pace.own_again_bytes_s < pace.own_read_bytes_s
    assert 0 < pace.own_random_write_iops < pace.own_first_random_write_iops
    assert pace.open_s == 1.5


def test_a_pace_is_measured_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load("bx500-240", scale="1/176")
    monkeypatch.setenv("FLASHTWIN_CACHE", str(tmp_path / "cache"))
    calls: list[str] = []

    def measured(copy: Spec, memory_bytes: int) -> Pace:
        calls.append(copy.hash)
        return PACE

    monkeypatch.setattr(drive_pace, "measured", measured)
    assert drive_pace.pace_of(spec, 1.0) == USUAL, "a short run is not worth it"
    assert [drive_pace.pace_of(spec, 60.0) for _ in range(3)] == [PACE] * 3
    assert len(calls) == 1
    kept = tmp_path / "cache" / "pace.json"
    for damage in ("{", "[]", '{"a": 1}', kept.read_text().replace("0.25", '"x"'), "0" * (2 << 20)):
        kept.write_text(damage)
        assert drive_pace.pace_of(spec, 60.0) == PACE
    assert len(calls) == 6


def test_a_step_is_timed_where_time_ends_it() -> None:
    timed, sized = job(runtime_s=5.0), job()
    steps: list[tuple[Step, bool]] = [
        (Run(label="a", jobs=(timed,)), True),
        (Run(label="b", jobs=(timed, sized)), False),
        (Run(label="c", jobs=(job(runtime_s=5.0, io_bytes=10),)), False),
        (Rest(seconds=1), True),
        (Fill(), False),
    ]
    assert [one.timed for one in of(*(step for step, _ in steps)).steps] == [t for _, t in steps]


def test_a_file_is_written_once_to_be_one() -> None:
    assert of(Rest(seconds=1)).write_bytes == 10**9


def test_rests_of_a_twin_cost_no_wall_time() -> None:
    assert of(Rest(seconds=600), kind="twin").wall_s < 0.01
    assert of(Rest(seconds=600), kind="twin").drive_s == 600


def test_the_batteries_write_what_they_say() -> None:
    info = FakeDrive().info
    fill = estimate([registry.request("fill", {"passes": "1", "patterns": "1m-q1"})], info)
    assert fill.write_bytes == info.capacity_bytes // (1 << 20) * (1 << 20)
    cdm = estimate([registry.request("crystaldiskmark", {"mix": "off"})], info)
    assert cdm.drive_s == pytest.approx(12 * 3 * 5 + 11 * 5 + (1 << 30) / 400e6)


@pytest.mark.full
def test_what_samples_take_is_what_a_step_takes() -> None:
    """A million samples of each kind, held and written; measured in a process of their own."""
    code = """
import sys
from pathlib import Path
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.step import Job, Run
from flashtwin.model.pace import USUAL
from flashtwin.runner.estimate import _of_step, _Wall, Estimate
from flashtwin.runs.writer import Writer

def peak():
    Path("/proc/self/clear_refs").write_text("5")
    def now(name):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
    return now

twin = Twin(load("bx500-240", scale="1/16")).open()
twin.open()
job = dict(name="a", rw=sys.argv[2], block_bytes=1 << 20, rate_bytes_s=10**8)
samples = int(sys.argv[1])
def run(count):
    step = Run(label="w", jobs=(Job(runtime_s=count / 1000, **job),), sample_s=0.001)
    return step, twin.do(step, lambda progress: True)
target = {"name": "a"}
writer = Writer(Path(sys.argv[3]), {"target": target, "batteries": []}, {}, durable=False)
def written(count, label):
    step, answer = run(count)
    writer.step(battery="b", label=label, kind="run", answer=answer, detail={})
    return step, answer
written(1000, "first")
now = peak()
before = now("VmRSS")
step, answer = written(samples, "second")
took = now("VmHWM") - before
expected = Estimate(steps=(_of_step("b", step, twin.info, 4e8, _Wall(twin.info, USUAL, 1.0)),))
print(expected.samples_memory_bytes, took)
"""
    for ways in ("write", "rw"):
        with tempfile.TemporaryDirectory() as place:
            done = subprocess.run(
                [sys.executable, "-c", code, "300000", ways, f"{place}/run"],
                capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        expected, taken = map(int, done.stdout.split())
        assert expected == pytest.approx(taken, rel=0.3), ways


def test_samples_that_do_not_fit_are_refused_before_anything_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**8)
    drive = FakeDrive()
    with pytest.raises(FlashtwinError) as found:
        run_batteries(drive, [("fill", {"sample_s": "1ms"})], tmp_path / "run")
    assert found.value.exit_code == 3
    assert "the samples of the steps take about" in str(found.value)
    assert "100 MB are available" in str(found.value) and "sample_s" in str(found.value.hint)
    assert drive.done == [] and not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("count", "elapsed_s", "text"),
    [
        (0, 5.0, None),
        (5, 1.0, None),
        (50, 4.0, None),
        (5, 3.0, "about 60 s (at most 2 min)"),
        (1, 6.0, "about 10 min (at most 25 min)"),
    ],
)
def test_the_first_parts_say_what_all_take(count: int, elapsed_s: float, text: str | None) -> None:
    assert foretold(count, 100, elapsed_s) == text


def test_what_is_told_is_right_within_a_factor_of_two() -> None:
    rows = [
        estimates.row_of("a/fill", "fill", (20.0, 50.0), ((1.0, 5.0), (1.0 + took_s, 5.0)))
        for took_s in (39.9, 10.1, 41.0, 9.0, 51.0)
    ]
    assert [row.is_right for row in rows] == [True, True, False, False, False]
    assert [row.holds for row in rows] == [True] * 4 + [False]


def test_the_bench_of_estimates_looks_at_its_clock() -> None:
    ticks = iter(((100.0, 50.0), (107.0, 80.0)))
    row = estimates.measured("bx500-240", "1/176", "magician", lambda: next(ticks))
    assert row is not None and (row.case, row.took_s) == ("bx500-240/magician", 7.0)
    assert (row.by, row.processor_s, row.wall_s) == ("processor", 7.0, 30.0)
    assert row.at_most_s is not None and 0 < row.told_s < row.at_most_s


def test_a_row_says_by_which_clock_it_is_judged() -> None:
    readings = ((10.0, 100.0), (40.0, 190.0))
    shared = estimates.row_of("a/sweep", "sweep", (20.0, None), readings, side_by_side=2)
    assert (shared.by, shared.took_s, shared.is_right) == ("processor", 15.0, True)
    foretold = estimates.row_of("a/ask", "ask", (20.0, 50.0), readings, by_the_wall=True)
    assert (foretold.by, foretold.took_s, foretold.is_right) == ("wall", 90.0, False)
    assert (foretold.processor_s, foretold.wall_s, foretold.holds) == (30.0, 90.0, False)


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        ("a: writes 9 GB, about 24 s (at most 60 s) for 22 min of the drive's time", (24.0, 60.0)),
        ("a: about 12 s for 2 h\nb: about 2 min (at most 5 min)", (120.0, 300.0)),
        ("s: 4 points, each about 9 s for 3 h of its time; together about 1.5 h", (5400.0, None)),
        ("nothing is told", None),
    ],
)
def test_the_bench_of_estimates_reads_what_commands_tell(
    lines: str, times: tuple[float, float | None] | None
) -> None:
    assert estimates.said(lines) == times
