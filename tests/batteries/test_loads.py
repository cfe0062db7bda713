"""iometer, dispersion, servers, states, atto: on paper, on a twin, beside fio, another way."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from beside_fio import check, jobs_of
from fakes import GB, SMALLEST_COPY, FakeDrive, Law, labels, played

from flashtwin.batteries.base import registry
from flashtwin.batteries.iometer import Access, parse_access
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.series import Series
from flashtwin.model.step import Fill, Purge, Rest, Result, Trim
from flashtwin.model.step import Run as StepRun
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

SCALE = f"1/{SMALLEST_COPY}"
ASKED: list[tuple[str, dict[str, object]]] = [
    ("iometer", {"seconds": "300ms", "depths": "1+8", "fills": "1"}),
    ("dispersion", {"seconds": "2s", "fills": "1"}),
    ("servers", {"seconds": "500ms", "fills": "1", "random_percent": "2"}),
    ("states", {"seconds": "1s", "rest_s": "60s"}),
    ("atto", {"size": "8MiB", "blocks": "512+4k+64k+1m"}),
]
NAMES = [name for name, _ in ASKED]
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    drive = Twin(load("bx500-240", scale=SCALE), seed=1).open()
    return run_batteries(drive, ASKED, tmp_path_factory.mktemp("run") / "run")


def series_of(run: Run, finding: Finding) -> tuple[Series, float]:
    """What the host saw in the step that a finding rests on, and how long it took."""
    assert finding.evidence is not None
    step = run.step(finding.evidence.label)
    assert step is not None
    answer = run.result(step.step)
    assert isinstance(answer, Result)
    return answer.series, step.duration_ns / 1e9


@pytest.mark.parametrize("battery", NAMES)
def test_findings_are_explained_and_rest_on_steps(run: Run, battery: str) -> None:
    mine = [finding for finding in run.findings if finding.battery == battery]
    assert len({finding.id for finding in mine}) == len(mine) >= 7
    for finding in mine:
        meaning = registry.meaning_of(finding)
        assert (meaning is not None and meaning.name != "*") or finding.name in (
            *("read", "write", "fresh", "dirty", "rested", "trimmed"),
        ), finding.id
        assert finding.evidence is not None and run.step(finding.evidence.label) is not None


def test_rates_are_requests_over_time_and_latencies_those_of_all_requests(run: Run) -> None:
    compared = 0
    for finding in run.findings:
        if finding.number is None or finding.unit not in ("IOPS", "MB/s", "us"):
            continue
        series, seconds = series_of(run, finding)
        ios, moved = int(series.ios.sum()), int(series.bytes.sum())
        plain = finding.name in ("read", "write", "mean", "fresh", "dirty", "rested", "trimmed")
        if plain or finding.name.endswith(".iops"):
            expected = ios / seconds if finding.unit == "IOPS" else moved / seconds / 1e6
        elif finding.name.endswith("latency"):
            expected = int(series.lat_sum_ns.sum()) / ios / 1000
        else:
            continue
        assert finding.number == pytest.approx(expected, rel=1e-3), finding.id
        compared += 1
    assert compared > 60


def test_small_blocks_are_slow_and_the_least_size_that_suffices_is_that_of_the_cells(
    run: Run,
) -> None:
    values = {finding.id: finding.number or 0 for finding in run.findings}
    for way in ("write", "read"):
        cells = {
            size: values[f"atto.{way}[SEQ{name}-Q4]"]
            for size, name in ((0.5, "512"), (4, "4K"), (64, "64K"), (1024, "1M"))
        }
        assert cells[0.5] < cells[4] < cells[64]
        enough = [size for size, speed in cells.items() if speed >= 0.9 * max(cells.values())]
        assert values[f"atto.full.{way}-Q4"] == min(enough)


def test_atto_on_paper() -> None:
    """80 us a request: 512 B are 6.4 MB/s, and 64 KiB are more than the link takes."""
    steps, findings = played(registry.request("atto", {"host_us": "0"}), FakeDrive())
    values = {finding.id: finding.number for finding in findings}
    assert values["atto.read[SEQ512-Q1]"] == pytest.approx(6.4, rel=1e-3)
    assert values["atto.read[SEQ4K-Q4]"] == pytest.approx(204.8, rel=1e-3)
    assert values["atto.read[SEQ64K-Q1]"] == pytest.approx(540, rel=1e-3)
    assert (values["atto.full.read-Q1"], values["atto.full.read-Q4"]) == (64, 16)
    jobs = [step.jobs[0] for step in steps if isinstance(step, StepRun)]
    assert [(job.rw, job.block_bytes) for job in jobs[:4]] == [
        *(("write", 512), ("read", 512)),
        *(("write", 1024), ("read", 1024)),
    ]
    assert {(job.size, job.io_bytes, job.compress_percent) for job in jobs} == {
        (256 << 20, 256 << 20, 100)
    }
    assert len(jobs) == 2 * 2 * 15


def test_a_file_that_does_not_fit_is_refused() -> None:
    small = FakeDrive(law=Law(capacity_bytes=1 << 24))
    with pytest.raises(FlashtwinError, match="does not fit on paper"):
        played(registry.request("atto"), small)


def test_over_time_is_read_off_seconds(run: Run) -> None:
    by_id = {finding.id: finding for finding in run.findings}
    for variant, depth in (("random-write", 32), ("random-read", 32)):
        mean = by_id[f"dispersion.mean[{variant}]"]
        series, _ = series_of(run, mean)
        rates = series.ios / (series.dt_ns / 1e9)
        told = {
            name: by_id[f"dispersion.{name}[{variant}]"].number
            for name in ("least", "most", "settled", "latency.time")
        }
        # The last sample may be a stump, which counts with the one before it.
        assert told["least"] == pytest.approx(rates[:-1].min(), rel=0.1)
        assert told["most"] == pytest.approx(rates[:-1].max(), rel=0.1)
        quarter = 3 * len(rates) // 4
        late = series.ios[quarter:].sum() / series.dt_ns[quarter:].sum() * 1e9
        assert told["settled"] == pytest.approx(late, rel=0.1)
        over_time = float(np.mean([depth / rate for rate in rates if rate])) * 1e6
        assert told["latency.time"] == pytest.approx(over_time, rel=0.05)


def test_the_highest_of_a_sweep_is_that_of_its_cells(run: Run) -> None:
    values = {finding.id: finding.number or 0 for finding in run.findings}
    cells = [values[f"iometer.read.iops[RND4K-Q{depth}]"] for depth in (1, 8)]
    assert values["iometer.highest.RND4K-read"] == max(cells) == cells[1]
    assert values["iometer.depth.RND4K-read"] == 8
    cells = [values[f"iometer.write[SEQ128K-Q{depth}]"] for depth in (1, 8)]
    assert values["iometer.highest.SEQ128K-write"] == max(cells)


def test_a_dirty_drive_is_slower_and_trim_brings_it_back(run: Run) -> None:
    values = {finding.id: finding.number or 0 for finding in run.findings}
    assert values["states.dirty.share"] < 0.7
    # A rest brings this small drive nothing; it takes nothing either, but for chance.
    assert values["states.rested.share"] >= values["states.dirty.share"] - 0.01
    assert values["states.dirty.share"] + 0.2 < values["states.trimmed.share"] < 1.1
    assert values["states.dirty.share"] == pytest.approx(
        values["states.dirty"] / values["states.fresh"], rel=1e-4
    )
    lost = values["states.fresh"] - values["states.dirty"]
    back = values["states.rested"] - values["states.dirty"]
    recovered = pytest.approx(back / lost, rel=1e-3, abs=1e-5)
    assert values["states.rested.recovered"] == recovered


def test_a_sweep_on_paper() -> None:
    """80 us a request: the rate grows with the depth until the link is full at 540 MB/s."""
    request = registry.request("iometer", {"host_us": "0"})
    steps, findings = played(request, FakeDrive())
    values = {finding.id: finding.number for finding in findings}
    for depth in (1, 2, 4, 8):
        assert values[f"iometer.read.iops[RND4K-Q{depth}]"] == pytest.approx(
            depth * 12_500, rel=1e-3
        )
    most = 540e6 / 4096
    assert values["iometer.highest.RND4K-read"] == pytest.approx(most, rel=1e-3)
    assert values["iometer.depth.RND4K-read"] == 16
    assert values["iometer.depth.SEQ128K-read"] == 1, "one block of 128 KiB fills the link"
    prepare = [step for step in steps if isinstance(step, Purge | Fill)]
    assert [type(step) for step in prepare] == [Purge, Fill, Fill]
    jobs = [step.jobs[0] for step in steps if isinstance(step, StepRun)]
    assert [(job.rw, job.depth) for job in jobs[:9]] == [
        *(("read", 1 << power) for power in range(8)),
        ("write", 1),
    ]
    assert {job.runtime_s for job in jobs} == {60.0}


def test_the_articles_values_are_presets() -> None:
    assert registry.parse("iometer:preset=545s")[0].plain()["size"] == 10**9
    (dispersion,) = registry.parse("dispersion")
    assert (dispersion.plain()["seconds"], dispersion.plain()["fills"]) == (4000.0, 2)
    steps, _ = played(registry.request("servers", {"host_us": "0"}), FakeDrive())
    jobs = {step.label: step.jobs[0] for step in steps if isinstance(step, StepRun)}
    assert [
        (job.rw, job.block_bytes, job.depth, job.read_percent, job.runtime_s)
        for label, job in jobs.items()
        if label != "servers/prepare/random"
    ] == [
        ("randrw", 4096, 32, 80, 900.0),
        ("randrw", 8192, 128, 60, 900.0),
        ("rw", 65536, 128, 90, 900.0),
    ]


def test_the_states_in_their_order() -> None:
    steps, _ = played(registry.request("states"), FakeDrive())
    assert list(labels(steps)) == [
        *("states/fresh/purge", "states/fresh/write", "states/dirty/fill-1", "states/dirty/fill-2"),
        *("states/dirty/write", "states/rested/rest", "states/rested/write"),
        *("states/trimmed/trim", "states/trimmed/settle", "states/trimmed/write"),
    ]
    assert [step.seconds for step in steps if isinstance(step, Rest)] == [1800.0, 30.0]
    assert sum(isinstance(step, Trim) for step in steps) == 1


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("4k-67r-100x", Access(block_bytes=4096, read_percent=67, random=True)),
        ("512-0r-0x", Access(block_bytes=512, read_percent=0, random=False)),
        ("1m-100r-0x", Access(block_bytes=1 << 20, read_percent=100, random=False)),
    ],
)
def test_access_specifications_are_typed(text: str, access: Access) -> None:
    assert parse_access(text) == access
    assert str(access) == text or text.startswith("512")
    assert parse_access(str(access)) == access


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("4k-67r-50x", "RANDOM 0 or 100"),
        ("4k-167r-100x", "from 0 to 100 %"),
        ("1000-0r-0x", "a multiple of 512"),
        ("4k", "for example 4k-67r-100x"),
    ],
)
def test_wrong_access_specifications(text: str, hint: str) -> None:
    with pytest.raises(FlashtwinError) as refused:
        registry.request("iometer", {"access": text})
    assert hint in str(refused.value.hint)


def test_a_target_that_is_too_small_is_refused_before_anything_runs() -> None:
    with pytest.raises(FlashtwinError, match="too small"):
        played(registry.request("iometer"), FakeDrive(law=Law(capacity_bytes=1 << 20)))


@needs_fio
@pytest.mark.parametrize(
    ("battery", "asked"),
    [
        ("iometer", {"depths": "8", "access": "128k-100r-0x+4k-0r-100x"}),
        ("servers", {}),
        ("atto", {"size": "8MiB", "blocks": "512+64k", "depths": "4"}),
    ],
)
def test_fio_and_a_twin_are_given_the_same(
    battery: str, asked: dict[str, str], tmp_path: Path
) -> None:
    """One function makes the loads of four batteries, so two stand for all; atto bounds its own."""
    request = registry.request(battery, asked)
    steps, _ = played(request, FakeDrive(law=Law(capacity_bytes=GB)))
    for number, job in enumerate(jobs_of(steps)):
        check(job, tmp_path / str(number), "bx500-240", SCALE)


@needs_fio
@pytest.mark.full
def test_on_a_small_file(tmp_path: Path) -> None:
    from flashtwin.drives.real.real import Real

    asked = [("states", {"seconds": "100ms", "rest_s": "10ms", "fills": "1"})]
    run = run_batteries(Real(tmp_path / "probe.bin", 16 << 20).open(), asked, tmp_path / "run")
    values = {finding.id: finding.number or 0 for finding in run.findings}
    assert values["states.rested"] > 100
    assert "states.trimmed" not in values, "a file takes no TRIM"
