"""snia_iops: on paper, on a twin, on a file, beside fio; and a run that is cut and resumed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from beside_fio import check, jobs_of
from fakes import GB, FakeDrive, Law, played

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.rounds import USUAL
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import Fill, NotPossible, Purge, Result, Step
from flashtwin.model.step import Run as StepRun
from flashtwin.model.target import Interrupted, Watch
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

SCALE = "1/64"
SHORT = {"seconds": "100ms", "blocks": "4k+512+64k", "reads": "100+65+0", "fills": "1"}
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    drive = Twin(load("bx500-240", scale=SCALE), seed=1).open()
    return run_batteries(drive, [("snia_iops", SHORT)], tmp_path_factory.mktemp("snia") / "run")


def test_on_paper() -> None:
    """80 us a request and a link of 540 MB/s: the same each round, steady after five."""
    request = registry.request("snia_iops", {"host_us": "0"})
    steps, findings = played(request, FakeDrive())
    assert [type(step) for step in steps[:3]] == [Purge, Fill, Fill]
    runs = [step for step in steps if isinstance(step, StepRun)]
    assert len(runs) == 5 * 56 and len({step.label for step in runs}) == len(runs)
    assert {step.sample_s for step in runs} == {60.0}, "a cell is one sample"
    jobs = [step.jobs[0] for step in runs[:56]]
    assert {(job.threads, job.depth, job.runtime_s) for job in jobs} == {(2, 16, 60.0)}
    assert [job.block_bytes for job in jobs[:8]] == [
        *(1 << 20, 1 << 17, 1 << 16, 1 << 15, 1 << 14, 1 << 13, 1 << 12, 512)
    ]
    capacity = FakeDrive().info.capacity_bytes
    assert all(0 <= 0.75 * capacity - (job.size or 0) < job.block_bytes for job in jobs)
    values = {finding.id: finding.number for finding in findings}
    assert values["snia_iops.rounds"] == 5
    assert (values["snia_iops.excursion"], values["snia_iops.rise"]) == (0, 0)
    assert values["snia_iops.steady"] == pytest.approx(540e6 / 4096, rel=1e-3)
    assert values["snia_iops.mix65.iops[RND128K]"] == pytest.approx(540e6 / (128 << 10), rel=1e-3)


def test_presets_and_the_least_and_the_most() -> None:
    (enterprise,) = registry.parse("snia_iops:preset=enterprise")
    assert {key: enterprise.plain()[key] for key in ("threads", "depth", "range_percent")} == {
        "threads": 4,
        "depth": 32,
        "range_percent": 100.0,
    }
    estimate = enterprise.battery.estimate
    assert estimate is not None
    forecast = estimate(enterprise.parameters, FakeDrive().info)
    assert (len(forecast.expected), len(forecast.most)) == (3 + USUAL * 56, 3 + 25 * 56)


def test_without_the_cell_that_decides_it_is_refused() -> None:
    with pytest.raises(FlashtwinError, match="no cell has them"):
        played(registry.request("snia_iops", {"reads": "100+65"}), FakeDrive())


def test_findings_are_means_of_the_last_five_rounds(run: Run) -> None:
    """From the stored series, another way than the totals."""
    values = {finding.id: finding for finding in run.findings}
    count = int(values["snia_iops.rounds"].number or 0)
    assert 5 <= count <= 25
    for way, block, name in (("write", 4096, "RND4K"), ("mix65", 512, "RND512")):
        rates = []
        for number in range(count - 4, count + 1):
            step = run.step(f"snia_iops/round-{number}/{way}-{name}-Q16")
            assert step is not None
            answer = run.result(step.step)
            assert isinstance(answer, Result)
            assert int(answer.series.bytes.sum()) == block * int(answer.series.ios.sum())
            rates.append(int(answer.series.ios.sum()) / (answer.duration_ns / 1e9))
        told = values[f"snia_iops.{way}.iops[{name}]"]
        assert told.number == pytest.approx(sum(rates) / 5, rel=2e-3)
        assert told.interval is not None and told.interval.means == "range"
        speed = values[f"snia_iops.{way}[{name}]"]
        assert speed.number == pytest.approx(sum(rates) / 5 * block / 1e6, rel=2e-3)
    for finding in run.findings:
        meaning = registry.meaning_of(finding)
        assert (
            meaning is not None and (meaning.name != "*" or finding.name in ("read", "write"))
        ) or finding.name.startswith("mix"), finding.id


def test_small_writes_cost_a_drive_with_larger_units_a_read_too(run: Run) -> None:
    """The map's unit is 4 KiB: 512 B are written by reading, changing and writing all of it."""
    values = {finding.id: finding.number or 0 for finding in run.findings}
    assert values["snia_iops.write.iops[RND512]"] < 1.05 * values["snia_iops.write.iops[RND4K]"]
    assert values["snia_iops.read.iops[RND512]"] >= values["snia_iops.read.iops[RND64K]"]


@dataclass
class Stops(FakeDrive):
    """Is interrupted before the step of this number."""

    at: int = 10**9
    count: int = 0

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.count += 1
        if self.count > self.at:
            raise Interrupted(step.label)
        return super().do(step, watch)


def test_a_run_that_is_cut_in_a_round_and_resumed_is_the_same(tmp_path: Path) -> None:
    asked = [("snia_iops", {**SHORT, "blocks": "4k"})]
    whole = run_batteries(Stops(), asked, tmp_path / "whole", seed=7)
    with pytest.raises(Interrupted):
        run_batteries(Stops(at=9), asked, tmp_path / "cut", seed=7)
    cut = run_batteries(Stops(), None, tmp_path / "cut")
    assert cut.findings == whole.findings
    assert (cut.path / "steps.jsonl").read_bytes() == (whole.path / "steps.jsonl").read_bytes()


@needs_fio
def test_fio_and_a_twin_are_given_the_same(tmp_path: Path) -> None:
    # Two of fio's threads tear each other's lines in its log of requests.
    asked = {"blocks": "4k+512", "reads": "100+65+0", "rounds": "5", "threads": "1"}
    steps, _ = played(
        registry.request("snia_iops", asked), FakeDrive(law=Law(capacity_bytes=3 * GB))
    )
    jobs = jobs_of(steps)
    assert len(jobs) == 6
    for number, job in enumerate(jobs):
        check(job, tmp_path / str(number), "bx500-240", SCALE)


@needs_fio
@pytest.mark.full
def test_on_a_small_file(tmp_path: Path) -> None:
    from flashtwin.drives.real.real import Real

    asked = [
        ("snia_iops", {"seconds": "50ms", "blocks": "4k", "reads": "0", "fills": "1", "rounds": 5})
    ]
    run = run_batteries(Real(tmp_path / "probe.bin", 16 << 20).open(), asked, tmp_path / "run")
    values = {finding.id: finding for finding in run.findings}
    assert (values["snia_iops.steady"].number or 0) > 100
    assert values["snia_iops.rounds"].number == 5
