"""heatmap: on a twin, beside fio, each number another way, and resumed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from beside_fio import check, jobs_of
from fakes import FakeDrive, Law, Stops, played

from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import Result, Step
from flashtwin.model.target import Interrupted
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

SCALE = "1/64"
ASKED: list[tuple[str, dict[str, object]]] = [
    ("heatmap", {"preset": "small", "blocks": "4k+16k", "depths": "1+8+64", "seconds": "100ms"}),
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
    assert len({finding.id for finding in mine}) == len(mine) >= 5
    for finding in mine:
        meaning = registry.meaning_of(finding)
        assert meaning is not None, finding.id
        assert finding.evidence is not None and run.step(finding.evidence.label) is not None


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
    ("battery", "asked"), [("heatmap", {"depths": "256", "blocks": "16k", "reads": "70"})]
)
def test_fio_and_a_twin_are_given_the_same(
    battery: str, asked: dict[str, object], tmp_path: Path
) -> None:
    for number, job in enumerate(jobs_of(steps_of(battery, asked))):
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
            played(registry.request(battery), FakeDrive(law=Law(capacity_bytes=1 << 19)))
