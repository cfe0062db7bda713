"""Batteries after the reviewers' programs: on a twin, beside fio, another way, and resumed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside_fio import check, check_together, jobs_of
from fakes import SMALLEST_COPY, FakeDrive, Stops

from flashtwin.batteries.app_loads import TRACES as APP_LOADS
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.files import Tree
from flashtwin.batteries.base.traces import Stream
from flashtwin.batteries.copies import TREES as COPIED
from flashtwin.batteries.niobench import Point, overflow
from flashtwin.batteries.pcmark7 import TRACES as PCMARK7
from flashtwin.batteries.pcmark10 import TRACES as PCMARK10
from flashtwin.batteries.threedmark import TRACES as THREEDMARK
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import Result, Step
from flashtwin.model.step import Run as StepRun
from flashtwin.model.target import Interrupted
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

SCALE = f"1/{SMALLEST_COPY}"
ASKED: list[tuple[str, dict[str, object]]] = [
    ("as_ssd", {"sizes": "64MiB+256MiB", "seconds": "100ms", "step_percent": "50"}),
    ("hdtune", {"size": "512MiB"}),
    ("hdtach", {"zones": "32", "zone": "4MiB"}),
    ("niobench", {"file": "8MiB", "block": "1MiB", "iterations": "60"}),
    ("magician", {"size": "64MiB", "seconds": "100ms"}),
    ("copies", {"rest_s": "60s"}),
    ("pcmark10", {"settle_s": "10s"}),
    ("pcmark7", {"state": "steady", "passes": "2"}),
    ("threedmark", {"fill_percent": "30"}),
    ("app_loads", {}),
]
TRACES = {
    "pcmark10": PCMARK10,
    "pcmark7": PCMARK7,
    "threedmark": THREEDMARK,
    "app_loads": APP_LOADS,
}
NAMES = [name for name, _ in ASKED]
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def twin(scale: str = SCALE) -> Twin:
    return Twin(load("bx500-240", scale=scale), seed=1).open()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_batteries(twin(), ASKED, tmp_path_factory.mktemp("run") / "run", seed=1)


@pytest.fixture(scope="module")
def values(run: Run) -> dict[str, float]:
    return {finding.id: finding.number or 0.0 for finding in run.findings}


def moved(run: Run, label: str) -> tuple[int, int, float]:
    """Requests, bytes and seconds of a step, from its stored series."""
    step = run.step(label)
    assert step is not None, label
    answer = run.result(step.step)
    assert isinstance(answer, Result)
    series = answer.series
    return int(series.ios.sum()), int(series.bytes.sum()), answer.duration_ns / 1e9


@pytest.mark.parametrize("battery", NAMES)
def test_findings_are_explained_and_rest_on_steps(run: Run, battery: str) -> None:
    mine = [finding for finding in run.findings if finding.battery == battery]
    assert len({finding.id for finding in mine}) == len(mine) >= 7
    for finding in mine:
        meaning = registry.meaning_of(finding)
        assert meaning is not None, finding.id
        assert meaning.name != "*" or finding.name in ("read", "write"), finding.id
        assert finding.evidence is not None and run.step(finding.evidence.label) is not None


def test_as_ssd_scores_are_those_of_the_series(run: Run, values: dict[str, float]) -> None:
    for size in ("64MiB", "256MiB"):
        points = {}
        for way in ("read", "write"):
            speeds = []
            for row in ("SEQ", "4K", "4K-64"):
                _, count, seconds = moved(run, f"as_ssd/{size}/{row}/{way}")
                speeds.append(count / seconds / 1e6)
                assert values[f"as_ssd.{way}[{row}-{size}]"] == pytest.approx(speeds[-1], rel=1e-3)
            points[way] = speeds[0] / 10 + speeds[1] + speeds[2]
            assert values[f"as_ssd.score.{way}[{size}]"] == pytest.approx(points[way], rel=1e-3)
        total = 1.5 * points["read"] + points["write"]
        assert values[f"as_ssd.score[{size}]"] == pytest.approx(total, rel=1e-3)
    fall = 1 - values["as_ssd.write[SEQ-256MiB]"] / values["as_ssd.write[SEQ-64MiB]"]
    assert values["as_ssd.fall.write"] == pytest.approx(fall, abs=1e-4)
    assert values["as_ssd.write[4K-64-64MiB]"] > 2 * values["as_ssd.write[4K-64MiB]"]
    assert values["as_ssd.gain.write"] == pytest.approx(1, abs=0.1), "it does not compress"
    # 512 B writes, and 4 KiB reads anywhere.
    ios, count, _ = moved(run, "as_ssd/64MiB/ACC/write")
    assert count == 512 * ios


def test_as_ssd_copies_move_whole_trees(run: Run, values: dict[str, float]) -> None:
    for name in ("iso", "program", "game"):
        step = run.step(f"as_ssd/copy/{name}/duplicate")
        assert step is not None
        by_name = {job.name: job for job in step.jobs}
        assert set(by_name) == {"write", "metadata", "journal", "read"}
        assert abs(by_name["write"].bytes - by_name["read"].bytes) <= 2 << 20
        _, count, seconds = moved(run, step.label)
        assert count == sum(job.bytes for job in step.jobs)
        speed = by_name["write"].bytes / seconds / 1e6
        assert values[f"as_ssd.copy.{name}"] == pytest.approx(speed, rel=0.01)


@pytest.mark.parametrize("battery", ["hdtune", "hdtach"])
def test_transfer_rates_are_read_off_the_series(
    run: Run, values: dict[str, float], battery: str
) -> None:
    for way in ("write", "read"):
        ios, count, seconds = moved(run, f"{battery}/{way}")
        assert count == ios * (64 << 10) == (512 << 20 if battery == "hdtune" else 128 << 20)
        assert values[f"{battery}.mean[{way}]"] == pytest.approx(count / seconds / 1e6, rel=2e-3)
        mean = values[f"{battery}.mean[{way}]"]
        assert values[f"{battery}.least[{way}]"] <= mean <= values[f"{battery}.most[{way}]"]
    ios, _, seconds = moved(run, f"{battery}/access")
    assert values[f"{battery}.access"] == pytest.approx(seconds / ios * 1e6, rel=0.02)


def test_the_end_of_the_cache_in_a_short_stroke(values: dict[str, float]) -> None:
    """A tenth of the drive is its cache, as `fill` finds it too."""
    assert values["hdtune.cache[write]"] == pytest.approx(24 / SMALLEST_COPY, rel=0.1)
    assert values["hdtune.fast[write]"] > 1.5 * values["hdtune.past[write]"]


def test_files_after_one_another(run: Run, values: dict[str, float]) -> None:
    """The cache's end within a file; mean and median from the series."""
    seconds = []
    for way in ("write", "read"):
        steps = [moved(run, f"niobench/file-{number}/{way}-1") for number in range(1, 61)]
        assert {count for _, count, _ in steps} == {8 << 20}
        seconds = [row[2] for row in steps]
        mean = 60 * (8 << 20) / sum(seconds) / 1e6
        assert values[f"niobench.{way}.mean"] == pytest.approx(mean, rel=1e-3)
        rates = sorted((8 << 20) / second / 1e6 for second in seconds)
        assert values[f"niobench.{way}.median"] == pytest.approx(
            (rates[29] + rates[30]) / 2, rel=1e-3
        )
    assert values["niobench.cache"] == pytest.approx(24_000 / SMALLEST_COPY, rel=0.05)
    assert values["niobench.fast"] > 3 * values["niobench.past"]


def test_an_overflow_on_paper() -> None:
    """Fast for 1,234 MB of files of 100 MB, then slow: the place within the file is told."""
    fast, slow, edge = 450e6, 150e6, 1234e6
    points = []
    for number in range(30):
        share = min(max((edge - number * 1e8) / 1e8, 0), 1)
        seconds = 1e8 * (share / fast + (1 - share) / slow)
        points.append(
            Point(label="x", file_bytes_before=number * 10**8, bytes=10**8, seconds=seconds)
        )
    cache, before, past = overflow(points)
    assert cache.number == pytest.approx(1234, rel=1e-6)
    assert (before.number, past.number) == (pytest.approx(450), pytest.approx(150))
    assert overflow(points[:12]) == [], "all of them were fast"


def test_niobenchs_order_and_repeats() -> None:
    labels = [step.label for step in steps_of("niobench", {"iterations": "2", "repeats": "2"})]
    assert labels[1:-1] == [
        f"niobench/file-{number}/{way}-{repeat}"
        for number in (1, 2)
        for repeat in (1, 2)
        for way in ("write", "read")
    ]
    labels = [step.label for step in steps_of("niobench", {"iterations": "2", "order": "all"})]
    assert labels[1:-1] == [
        f"niobench/file-{number}/{way}-1" for way in ("write", "read") for number in (1, 2)
    ]


def test_magician_is_requests_over_time(run: Run, values: dict[str, float]) -> None:
    for way in ("write", "read"):
        for access in ("SEQ128K", "RND4K"):
            ios, count, seconds = moved(run, f"magician/{access}/{way}")
            assert values[f"magician.{way}[{access}-Q32]"] == pytest.approx(
                count / seconds / 1e6, rel=1e-3
            )
            assert values[f"magician.{way}.iops[{access}-Q32]"] == pytest.approx(
                ios / seconds, rel=1e-3
            )


@pytest.mark.parametrize("name", ["iso", "files", "folder", "isos", "photos"])
def test_copies_move_what_the_sets_hold(run: Run, values: dict[str, float], name: str) -> None:
    ways = ("write", "duplicate", "read") if name in ("isos", "photos") else ("write",)
    for way in ways:
        step = run.step(f"copies/{name}/{way}")
        assert step is not None
        by_name = {job.name: job.bytes for job in step.jobs}
        assert (
            set(by_name)
            == {
                "write": {"write", "metadata", "journal"},
                "duplicate": {"read", "write", "metadata", "journal"},
                "read": {"read"},
            }[way]
        )
        data = max(by_name.get("write", 0), by_name.get("read", 0))
        _, count, seconds = moved(run, step.label)
        assert count == sum(by_name.values())
        assert values[f"copies.{way}[{name}]"] == pytest.approx(data / seconds / 1e6, rel=0.01)


def test_trees_become_requests_of_their_size() -> None:
    """On average a file has so many requests that they add up to it."""
    for tree in (*COPIED.values(), Tree(files=3000, bytes=1_400_000_000)):
        assert sum(percent for _, percent in tree.sizes) == 100
        assert all(percent >= 0 for _, percent in tree.sizes)
        mean = sum(size * percent for size, percent in tree.sizes) / 100
        assert tree.requests * mean == pytest.approx(tree.bytes, rel=0.01)
        files = tree.requests / max(tree.bytes / tree.files / mean, 1)
        assert files == pytest.approx(tree.files, rel=0.35) or tree.files < 10


@pytest.mark.parametrize("battery", list(TRACES))
def test_traces_are_scored_from_the_series(
    run: Run, values: dict[str, float], battery: str
) -> None:
    """Bytes over time, latencies over requests, and the score, from the stored series."""
    passes = 2 if battery == "pcmark7" else 1
    whole, rates = [0, 0, 0, 0.0], []
    for mix in TRACES[battery].mixes:
        rows = [series(run, f"{battery}/pass-{number + 1}/{mix.name}") for number in range(passes)]
        ios, count, waited, seconds = (sum(column) for column in zip(*rows, strict=True))
        rates.append(count / seconds / 1e6)
        told = values[f"{battery}.part.bandwidth[{mix.name}]"]
        assert told == pytest.approx(rates[-1], rel=1e-3)
        told = values[f"{battery}.part.access[{mix.name}]"]
        assert told == pytest.approx(waited / ios * 1e6, rel=1e-3)
        told = values[f"{battery}.part.time[{mix.name}]"]
        assert told == pytest.approx(seconds / passes, rel=1e-3)
        whole = [a + b for a, b in zip(whole, (ios, count, waited, seconds), strict=True)]
    if battery == "app_loads":
        assert "app_loads.score" not in values
        return
    score = (whole[1] / whole[3] / 1e6 * whole[0] / whole[2]) ** 0.5
    if battery == "pcmark7":
        score = float(np.prod(rates)) ** (1 / len(rates))
    assert values[f"{battery}.score"] == pytest.approx(score, rel=2e-3)


def series(run: Run, label: str) -> tuple[int, int, float, float]:
    """Requests, bytes, the sum of all latencies in seconds, and the time of a step."""
    step = run.step(label)
    assert step is not None, label
    answer = run.result(step.step)
    assert isinstance(answer, Result)
    rows = answer.series
    waited = int(rows.lat_sum_ns.sum()) / 1e9
    return int(rows.ios.sum()), int(rows.bytes.sum()), waited, answer.duration_ns / 1e9


def test_pcmark10_writes_what_is_published() -> None:
    """23 traces, and 204 GB in three passes."""
    writes = sum(mix.writes.mb for mix in PCMARK10.mixes if mix.writes)
    copied = sum(
        PCMARK10.trees[mix.copy].bytes / 1e6
        for mix in PCMARK10.mixes
        if mix.copy and mix.way != "read"
    )
    assert len(PCMARK10.mixes) == 23
    assert 3 * (writes + copied) / 1000 == pytest.approx(204, rel=0.01)


@pytest.mark.parametrize("battery", list(TRACES))
def test_mixes_add_up_and_name_a_source(battery: str) -> None:
    for mix in TRACES[battery].mixes:
        assert mix.source and (mix.copy or mix.reads or mix.writes), mix.name
        for stream in (mix.reads, mix.writes):
            assert stream is None or sum(percent for _, percent in stream.sizes) == 100
    with pytest.raises(ValueError, match="do not add up"):
        Stream.of({"mb": 1, "random": 0, "depth": 1, "sizes": "4k/50:64k/40"})


def test_targets_that_do_not_suit_are_refused() -> None:
    info = twin().info
    for battery, asked, message in (
        ("as_ssd", {"sizes": "10GB"}, "does not fit"),
        ("as_ssd", {"sizes": "1MiB"}, "does not fit"),
        ("hdtach", {"zone": "2GiB"}, "fewer than 8 zones"),
        ("niobench", {"file": "2GB"}, "do not fit"),
        ("magician", {"size": "10GB"}, "does not fit"),
        ("copies", {"fill_percent": "95"}, None),
    ):
        request = registry.request(battery, asked)
        if message is None:
            assert request.battery.departures(request.parameters, info)
            continue
        with pytest.raises(FlashtwinError, match=message):
            next(request.battery.measure(request.parameters, info))


# One generator plays all traces; copies and rows are many steps, and resumed as all others are.
RESUMED = [
    pytest.param(
        name, marks=pytest.mark.full if name in (*TRACES, "as_ssd", "copies", "niobench") else []
    )
    for name in NAMES
    if name not in list(TRACES)[1:]
]


@pytest.mark.parametrize("battery", RESUMED)
def test_a_run_that_is_cut_and_resumed_is_the_same(run: Run, battery: str, tmp_path: Path) -> None:
    asked = [(name, values) for name, values in ASKED if name == battery]
    whole = run_batteries(twin(), asked, tmp_path / "whole", seed=1)
    steps = len((whole.path / "steps.jsonl").read_text().splitlines())
    with pytest.raises(Interrupted):
        stops: Any = Stops(twin(), at=steps // 2)
        run_batteries(stops, asked, tmp_path / "cut", seed=1)
    cut = run_batteries(twin(), None, tmp_path / "cut")
    assert cut.findings == whole.findings
    assert (cut.path / "steps.jsonl").read_bytes() == (whole.path / "steps.jsonl").read_bytes()


def steps_of(battery: str, asked: dict[str, object], scale: str = SCALE) -> list[Step]:
    """The steps of a battery that does not wait for results."""
    request = registry.request(battery, asked)
    return list(request.battery.measure(request.parameters, twin(scale).info))


@needs_fio
@pytest.mark.parametrize(
    ("battery", "asked"),
    [
        pytest.param("as_ssd", {"sizes": "64MiB", "tests": "rows"}, marks=pytest.mark.full),
        ("hdtach", {"zones": "8", "zone": "1MiB"}),
    ],
)
def test_fio_and_a_twin_are_given_the_same(
    battery: str, asked: dict[str, object], tmp_path: Path
) -> None:
    # Two of fio's threads tear each other's lines in its log of requests.
    jobs = [job for job in jobs_of(steps_of(battery, asked)) if job.threads == 1]
    assert len(jobs) > 1
    for number, job in enumerate(jobs):
        check(job, tmp_path / str(number), "bx500-240", SCALE)


@needs_fio
@pytest.mark.full
def test_fio_and_a_twin_are_given_the_same_copies(tmp_path: Path) -> None:
    steps = [
        step
        for step in steps_of("copies", {"sets": "files+photos", "fill_percent": "60"})
        if isinstance(step, StepRun)
    ]
    assert [len(step.jobs) for step in steps] == [3, 3, 4, 1]
    traces = [
        step for step in steps_of("pcmark7", {"fill_percent": "80"}) if isinstance(step, StepRun)
    ]
    assert [len(step.jobs) for step in traces] == [2] * 7
    steps += traces[:2]
    drive = twin()
    for number, step in enumerate(steps):
        check_together(step, tmp_path / str(number), drive)


# The others take a second of fio's for each of their parts.
OFTEN = ("threedmark",)


@needs_fio
@pytest.mark.parametrize(
    "battery", [pytest.param(n, marks=[] if n in OFTEN else [pytest.mark.full]) for n in TRACES]
)
def test_fio_and_a_twin_are_given_the_same_traces(battery: str, tmp_path: Path) -> None:
    """Every part: requests, bytes, sizes, places, and the order of each of its processes."""
    asked: dict[str, object] = {"fill_percent": "90"}
    # Sizes are drawn, and only many requests of them come to nearly the same number.
    scale = "1/64"
    steps = [step for step in steps_of(battery, asked, scale) if isinstance(step, StepRun)]
    assert len(steps) == len(TRACES[battery].mixes)
    drive = twin(scale)
    for number, step in enumerate(steps[:2] if battery in OFTEN else steps):
        check_together(step, tmp_path / str(number), drive)


@needs_fio
@pytest.mark.full
@pytest.mark.parametrize("battery", list(TRACES))
def test_traces_on_a_small_file(battery: str, tmp_path: Path) -> None:
    """Each part's rate is that of fio's log of it, and fio moved what the steps ask for."""
    from flashtwin.drives.real.real import Real

    asked = [(battery, {"settle_s": "10ms", "fill_percent": "50"})]
    drive = Real(tmp_path / "probe.bin", 96 << 20).open()
    run = run_batteries(drive, asked, tmp_path / "run")
    assert run.finished
    told = {finding.id: finding.number or 0 for finding in run.findings}
    request, moved = registry.request(battery, asked[0][1]), 0
    jobs = [
        job
        for step in request.battery.measure(request.parameters, drive.info)
        if isinstance(step, StepRun)
        for job in step.jobs
    ]
    for mix in TRACES[battery].mixes:
        label = f"{battery}/pass-1/{mix.name}"
        ios, count, _, seconds = series(run, label)
        step = run.step(label)
        assert step is not None and not step.not_possible and ios > 0
        rate = told[f"{battery}.part.bandwidth[{mix.name}]"]
        # fio's log ends with a sample, a job with a request.
        assert rate == pytest.approx(count / seconds / 1e6, rel=0.15), label
        moved += count
    # The last request of a process may go past its bytes.
    given = sum(job.io_bytes or 0 for job in jobs)
    assert given * 0.999 <= moved <= given + sum(job.block_bytes for job in jobs)


@needs_fio
@pytest.mark.full
def test_on_a_small_file(tmp_path: Path) -> None:
    from flashtwin.drives.real.real import Real

    asked = [
        ("copies", {"sets": "photos", "rest_s": "10ms"}),
        ("hdtach", {"zones": "8", "zone": "1MiB", "rest_s": "10ms"}),
        ("niobench", {"file": "4MiB", "block": "1MiB", "iterations": "5"}),
        ("magician", {"size": "16MiB", "seconds": "100ms"}),
        ("as_ssd", {"sizes": "16MiB", "seconds": "100ms", "settle_s": "10ms", "tests": "rows"}),
    ]
    run = run_batteries(Real(tmp_path / "probe.bin", 128 << 20).open(), asked, tmp_path / "run")
    values = {finding.id: finding.number or 0 for finding in run.findings}
    for name in (
        *("copies.write[photos]", "copies.duplicate[photos]", "hdtach.access"),
        *("niobench.write.mean", "magician.read[RND4K-Q32]", "as_ssd.score[16MiB]"),
    ):
        assert values[name] > 0.5, name


def test_niobenchs_three_series_are_the_articles(tmp_path: Path) -> None:
    asked: list[tuple[str, dict[str, object]]] = [
        ("niobench", {"series": "article", "file": "6250kB", "block": "625kB", "iterations": "30"})
    ]
    drive = Twin(load("pm871b-128", scale="1/16"), seed=1).open()
    run = run_batteries(drive, asked, tmp_path / "run")
    labels = [step.label for step in run.steps]
    assert [label for label in labels if label.endswith("purge")] == [
        f"niobench/{name}/purge" for name in ("zoom", "repeats", "native")
    ]
    for name, steps in {"zoom": 60, "repeats": 300, "native": 60}.items():
        files = [label for label in labels if label.startswith(f"niobench/{name}/file")]
        assert len(files) == steps
    values = {finding.id: finding.number or 0 for finding in run.findings}
    # The published 1,200 and 900 MB on a drive of a sixteenth.
    assert values["niobench.cache[zoom]"] == pytest.approx(1200 / 16, rel=0.05)
    assert values["niobench.cache[repeats]"] == pytest.approx(900 / 16, rel=0.08)
    assert values["niobench.write.mean[native]"] < values["niobench.write.mean[zoom]"]


def test_they_are_played_without_a_drive() -> None:
    """So that the estimate knows every step."""
    info = FakeDrive().info
    for battery, asked in ASKED:
        request = registry.request(battery, asked)
        assert len(list(request.battery.measure(request.parameters, info))) > 4
