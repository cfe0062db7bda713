"""Batteries of loads, and identity: on a twin, beside fio, numbers another way, resumed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside_fio import check, jobs_of
from fakes import SMALLEST_COPY, FakeDrive, Law, Stops, played
from thinning import thinned

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.record import Record
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin, identity_of
from flashtwin.errors import FlashtwinError
from flashtwin.model.histogram import edges
from flashtwin.model.series import READ, WRITE
from flashtwin.model.step import NotPossible, Result, Step
from flashtwin.model.step import Run as StepRun
from flashtwin.model.target import DriveInfo, Interrupted
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

SCALE = f"1/{SMALLEST_COPY}"
ASKED: list[tuple[str, dict[str, object]]] = [
    ("heatmap", {"preset": "small", "blocks": "4k+16k", "depths": "1+8+64", "seconds": "100ms"}),
    ("under_load", {"paces": "0+20+2000", "seconds": "2s", "rest_s": "1s"}),
    ("qos", {"seconds": "3s", "window_s": "1s", "fills": "1", "random_percent": "2"}),
    ("identity", {"seconds": "50ms", "size": "64MiB", "read": "540", "random_read": "80000"}),
    ("temperature", {"seconds": "60s", "idle_s": "60s", "cool_s": "60s"}),
]
NAMES = [name for name, _ in ASKED]
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def twin() -> Twin:
    return Twin(load("bx500-240", scale=SCALE), seed=1).open()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_batteries(twin(), ASKED, tmp_path_factory.mktemp("run") / "run", seed=1)


@pytest.fixture(scope="module")
def values(run: Run) -> dict[str, float]:
    return {finding.id: finding.number or 0.0 for finding in run.findings}


def answer_of(run: Run, label: str) -> Result:
    """What the host saw in a step."""
    step = run.step(label)
    assert step is not None, label
    answer = run.result(step.step)
    assert isinstance(answer, Result)
    return answer


@pytest.mark.parametrize("battery", NAMES)
def test_findings_are_explained_and_rest_on_steps(run: Run, battery: str) -> None:
    mine = [finding for finding in run.findings if finding.battery == battery]
    assert len({finding.id for finding in mine}) == len(mine) >= 3
    for finding in mine:
        meaning = registry.meaning_of(finding)
        assert meaning is not None, finding.id
        if finding.evidence is None:
            assert battery == "identity", "what a label says rests on no step"
        else:
            assert run.step(finding.evidence.label) is not None


@pytest.mark.parametrize("battery", thinned(NAMES, every=8))
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


def steps_of(battery: str, asked: dict[str, object]) -> list[Step]:
    """The steps of a battery that does not wait for results."""
    request = registry.request(battery, asked)
    return list(request.battery.measure(request.parameters, twin().info))


@needs_fio
@pytest.mark.parametrize(
    ("battery", "asked"),
    [
        ("heatmap", {"depths": "256", "blocks": "16k", "reads": "70"}),
        ("under_load", {"paces": "50"}),
        ("qos", {}),
        ("identity", {"threads": "1"}),
    ],
)
def test_fio_and_a_twin_are_given_the_same(
    battery: str, asked: dict[str, object], tmp_path: Path
) -> None:
    for number, job in enumerate(jobs_of(steps_of(battery, asked))):
        # A pace is only how fast the same requests come; it is looked at below.
        job = replace(job, rate_bytes_s=None)
        check(job, tmp_path / str(number), "bx500-240", SCALE)


# ------------------------------------------------------------------------------------- heatmap


def test_a_map_has_every_cell_and_its_rates_are_requests_over_time(
    run: Run, values: dict[str, float]
) -> None:
    for way in ("read", "mix70", "write"):
        for block in ("4K", "16K"):
            rates = {}
            for depth in (1, 8, 64):
                cell = f"RND{block}-Q{depth}"
                answer = answer_of(run, f"heatmap/{way}/{cell}")
                ios, seconds = int(answer.series.ios.sum()), answer.duration_ns / 1e9
                rates[depth] = values[f"heatmap.{way}.iops[{cell}]"]
                assert rates[depth] == pytest.approx(ios / seconds, rel=1e-3)
                (job,) = answer.jobs
                latency = values[f"heatmap.{way}.latency[{cell}]"]
                assert latency == pytest.approx(job.mean_depth / rates[depth] * 1e6, rel=0.02)
            best = max(rates.values())
            assert values[f"heatmap.highest.RND{block}-{way}"] == best
            needed = min(depth for depth, rate in rates.items() if rate >= 0.97 * best)
            assert values[f"heatmap.depth.RND{block}-{way}"] == needed
    assert values["heatmap.read.iops[RND4K-Q8]"] > 2 * values["heatmap.read.iops[RND4K-Q1]"]


def test_a_map_on_paper() -> None:
    """80 us a request, and a link of 540 MB/s: deep and large fields stand at the link."""
    steps, findings = played(registry.request("heatmap", {"host_us": "0"}), FakeDrive())
    at = {finding.id: finding.number for finding in findings}
    for block, size in (("4K", 4096), ("256K", 262144)):
        for depth in (1, 256):
            rate = min(depth / 80e-6, 540e6 / size)
            assert at[f"heatmap.read.iops[RND{block}-Q{depth}]"] == pytest.approx(rate, rel=1e-3)
    assert (at["heatmap.depth.RND4K-read"], at["heatmap.depth.RND256K-read"]) == (16, 1)
    jobs = [step.jobs[0] for step in steps if hasattr(step, "jobs")]
    assert len(jobs) == 4 * 9 * 3
    ways = list(dict.fromkeys((job.rw, job.read_percent) for job in jobs))
    assert ways == [("randread", 50), ("randrw", 70), ("randwrite", 50)], "writes alone come last"


def test_a_target_that_is_too_small_is_refused_before_anything_runs() -> None:
    for battery in NAMES:
        with pytest.raises(FlashtwinError, match="too small"):
            played(registry.request(battery), FakeDrive(law=Law(capacity_bytes=1 << 17)))


def quantile_us(counts: Any, share: float) -> tuple[float, float]:
    """The ends of the bucket in which so many requests are behind one, by counting them all."""
    of_requests = np.repeat(np.arange(len(counts)), np.asarray(counts).astype(np.int64))
    at = max(int(np.ceil(share / 100 * len(of_requests))), 1) - 1
    first, last = edges()[of_requests[at]]
    return first / 1000, (last + 1) / 1000


# ----------------------------------------------------------------------------------- under_load


def test_reads_beside_a_writer_are_read_off_the_requests(
    run: Run, values: dict[str, float]
) -> None:
    for variant in ("alone", "20MBs", "2000MBs"):
        answer = answer_of(run, f"under_load/{variant}/reads")
        reads = answer.series.only(READ)
        seconds = answer.jobs[0].duration_ns / 1e9
        rate = values[f"under_load.rate[{variant}]"]
        assert rate == pytest.approx(reads.ios.sum() / seconds, rel=1e-3)
        for name, share in (("p50", 50.0), ("p99", 99.0)):
            low, high = quantile_us(answer.hist["read"], share)
            assert low <= values[f"under_load.{name}[{variant}]"] <= high
        if variant != "alone":
            written = answer.series.only(WRITE).bytes.sum() / (answer.jobs[1].duration_ns / 1e9)
            assert values[f"under_load.written[{variant}]"] == pytest.approx(
                written / 1e6, rel=0.01
            )
    assert values["under_load.written[20MBs]"] == pytest.approx(20, rel=0.05)
    ratio = values["under_load.p99[2000MBs]"] / values["under_load.p99[alone]"]
    assert values["under_load.slowdown[2000MBs]"] == pytest.approx(ratio, rel=1e-4)
    assert ratio > 2


def test_a_pace_that_is_not_kept_is_noted(run: Run) -> None:
    notes = {finding.id: finding.note for finding in run.findings}
    assert notes["under_load.written[20MBs]"] is None
    assert "does not keep the pace" in str(notes["under_load.written[2000MBs]"])


def test_the_writer_has_a_stream_and_a_pace_of_its_own() -> None:
    jobs = [step.jobs for step in steps_of("under_load", {}) if isinstance(step, StepRun)]
    assert [[job.rate_bytes_s for job in pair] for pair in jobs] == [
        *([None], [None, 10_000_000], [None, 50_000_000], [None, 100_000_000]),
        [None, 200_000_000],
    ]
    assert all(len({job.seed for job in pair}) == len(pair) for pair in jobs)


# ------------------------------------------------------------------------------------------ qos


def test_an_hour_is_all_of_its_windows(run: Run, values: dict[str, float]) -> None:
    answers = [answer_of(run, f"qos/load/{number}") for number in (1, 2, 3)]
    for way in ("read", "write"):
        counts = np.sum([np.asarray(answer.hist[way]) for answer in answers], axis=0)
        for name, share in (("p50", 50.0), ("p99", 99.0), ("p99_9", 99.9)):
            low, high = quantile_us(counts, share)
            assert low <= values[f"qos.{name}[{way}]"] <= high
        slow = [quantile_us(answer.hist[way], 99.9) for answer in answers]
        assert max(slow)[0] <= values[f"qos.worst[{way}]"] <= max(slow)[1]
    ios = sum(int(answer.series.ios.sum()) for answer in answers)
    seconds = sum(answer.duration_ns for answer in answers) / 1e9
    assert values["qos.mean"] == pytest.approx(ios / seconds, rel=1e-3)
    assert 0 < values["qos.even"] <= 1


def test_windows_draw_new_addresses_and_are_bounded() -> None:
    steps = [step for step in steps_of("qos", {}) if step.label.startswith("qos/load/")]
    seeds = [step.jobs[0].seed for step in steps if isinstance(step, StepRun)]
    assert seeds == list(range(1, 61))
    for asked in ({"window_s": "2h"}, {"window_s": "1s"}):
        with pytest.raises(FlashtwinError, match=r"windows are too (few|many)"):
            steps_of("qos", dict(asked))


# ---------------------------------------------------------------------------------- temperature


def test_degrees_are_those_of_the_meter(run: Run, values: dict[str, float]) -> None:
    idle, write, cool = (
        np.asarray(answer_of(run, f"temperature/{name}").meter["temperature_mc"]) / 1000
        for name in ("idle", "write", "cool")
    )
    assert values["temperature.idle"] == pytest.approx(idle[-1])
    assert values["temperature.most"] == pytest.approx(write.max())
    assert values["temperature.cooled"] == pytest.approx(cool[-1])
    assert idle[-1] < values["temperature.cooled"] < write.max()


# As warm as it gets within seconds; and what throttling leaves.
SMALL = ("thermal.capacity=1 J/K", "thermal.throttle.speed=0.3")


def test_a_drive_that_throttles_keeps_less_of_its_speed(tmp_path: Path) -> None:
    asked: list[tuple[str, dict[str, object]]] = [
        ("identity", {"seconds": "50ms", "size": "64MiB", "read": "540", "random_read": "80000"}),
        ("temperature", {"seconds": "60s", "idle_s": "60s", "cool_s": "1s"}),
    ]
    kept = {}
    for name, start in (("steady", "never"), ("hot", "30 C")):
        sets = [f"thermal.throttle.start={start}", "thermal.throttle.stop=29 C"]
        spec = load("bx500-240", scale="1/64", sets=[*sets, *SMALL])
        done = run_batteries(Twin(spec, seed=1).open(), asked, tmp_path / name, seed=1)
        found = {finding.name: finding.number or 0.0 for finding in done.findings}
        kept[name] = found["kept"]
        assert found["kept"] == pytest.approx(found["speed.warm"] / found["speed.cool"], rel=1e-4)
        assert 0 < found["rise"] <= 600
    assert kept["steady"] > 0.9
    assert kept["hot"] < 0.8 * kept["steady"]


def test_without_a_thermometer_it_is_refused_before_a_byte() -> None:
    battery = registry.get("temperature")
    info = FakeDrive().info
    with pytest.raises(FlashtwinError, match="no sensor of its temperature"):
        battery.check(info)
    going = battery.measure(battery.parameters(), info)
    next(going)
    with pytest.raises(StopIteration):
        going.send(NotPossible(reason="no meter"))


# ------------------------------------------------------------------------------------- identity


def test_ratings_stand_beside_what_was_measured(run: Run, values: dict[str, float]) -> None:
    for name, unit_bytes in (("write", 1e6), ("read", 1e6), ("random_read", 4096)):
        answer = answer_of(run, f"identity/{name}")
        rate = int(answer.series.bytes.sum()) / (answer.duration_ns / 1e9) / unit_bytes
        assert values[f"identity.{name}"] == pytest.approx(rate, rel=1e-3)
    rated = {"read": 540.0, "random_read": 80_000.0, "write": 500.0}
    for name, rating in rated.items():
        share = values[f"identity.{name}"] / rating
        assert values[f"identity.{name}.rated"] == pytest.approx(share, rel=1e-4)
    assert "identity.random_write.rated" not in values, "nobody rates it"
    (verdict,) = [row for row in run.findings if row.id == "identity.verdict"]
    shares = [values[f"identity.{name}.rated"] for name in rated]
    meets = all(share >= 0.95 for share in shares)
    assert (verdict.value == "meets its ratings") == meets


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        ({"read": "540", "write": "470"}, "meets its ratings"),
        ({"read": "550", "write": "470"}, "meets its ratings"),
        ({"read": "540", "write": "500"}, "falls short of its ratings"),
        ({}, "no ratings known"),
    ],
)
def test_the_verdict_on_paper(asked: dict[str, str], verdict: str) -> None:
    """On paper it reads at 540 MB/s and writes at 461; 542 of 550 is meeting a rating."""
    _, findings = played(registry.request("identity", {"host_us": "0", **asked}), FakeDrive())
    at = {finding.name: finding for finding in findings}
    assert at["verdict"].value == verdict
    assert at["read"].number == pytest.approx(540, rel=1e-3)
    assert at["raw"].number == 256


class Named(FakeDrive):
    """A drive on paper that says which one of the catalogue it is."""

    @property
    def info(self) -> DriveInfo:
        info = super().info
        return replace(info, identity={**info.identity, "spec": "bx500-240"})


def test_ratings_that_nobody_printed_bear_no_verdict() -> None:
    """The BX500's ratings are from general knowledge: no article prints them."""
    request = registry.request("identity", {"host_us": "0"})
    at = {finding.name: finding for finding in played(request, Named())[1]}
    assert at["write.rated"].number is not None and at["write.rated"].number < 0.95
    assert at["verdict"].value == "no printed ratings"
    assert not at["verdict"].headline and "identity:read=" in (at["verdict"].note or "")


def test_figures_follow_from_the_label() -> None:
    identity = identity_of(load("bx500-240"))
    info = replace(FakeDrive().info, identity=identity)
    record = Record(parameters=registry.get("identity").parameters(), info=info, steps=())
    at = {finding.name: finding.value for finding in registry.get("identity").conclude(record)}
    assert (at["cell"], at["dies"]) == ("tlc", 4)
    assert at["capacity"] == pytest.approx(240)
    assert at["passes"] == pytest.approx(80_000 / 240, rel=0.01)
    assert at["dwpd"] == pytest.approx(80_000 / 240 / 3 / 365, rel=0.01)
    assert "verdict" not in at, "nothing was measured yet"
