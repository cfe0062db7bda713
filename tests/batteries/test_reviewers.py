"""Batteries after the reviewers' programs: on a twin, beside fio, another way, and resumed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from beside_fio import check, jobs_of
from fakes import FakeDrive

from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import NotPossible, Result, Step
from flashtwin.model.target import Interrupted, Watch
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

SCALE = "1/64"
ASKED: list[tuple[str, dict[str, object]]] = [
    ("as_ssd", {"sizes": "64MiB+256MiB", "seconds": "100ms", "step_percent": "50"}),
    ("hdtune", {"size": "512MiB"}),
    ("hdtach", {"zones": "32", "zone": "4MiB"}),
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
    assert values["as_ssd.gain.write"] == pytest.approx(1, abs=0.02), "it does not compress"
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
    """A tenth of a drive of 3.75 GB is its cache, as `fill` finds it too."""
    assert values["hdtune.cache[write]"] == pytest.approx(0.375, rel=0.1)
    assert values["hdtune.fast[write]"] > 1.5 * values["hdtune.past[write]"]


def test_targets_that_do_not_suit_are_refused() -> None:
    info = twin().info
    for battery, asked, message in (
        ("as_ssd", {"sizes": "10GB"}, "does not fit"),
        ("as_ssd", {"sizes": "1MiB"}, "does not fit"),
        ("hdtach", {"zone": "2GiB"}, "fewer than 8 zones"),
    ):
        request = registry.request(battery, asked)
        with pytest.raises(FlashtwinError, match=message):
            next(request.battery.measure(request.parameters, info))


@dataclass
class Stops:
    """A drive that is interrupted before the step of this number."""

    drive: Twin
    at: int
    count: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.drive, name)

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.count += 1
        if self.count > self.at:
            raise Interrupted(step.label)
        return self.drive.do(step, watch)


@pytest.mark.parametrize("battery", NAMES)
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
        ("as_ssd", {"sizes": "64MiB", "tests": "rows"}),
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


def test_they_are_played_without_a_drive() -> None:
    """So that the estimate knows every step."""
    info = FakeDrive().info
    for battery, asked in ASKED:
        request = registry.request(battery, asked)
        assert len(list(request.battery.measure(request.parameters, info))) > 4
