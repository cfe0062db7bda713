"""The battery of synchronous writes: on paper, on twins with and without capacitors, on a file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeDrive, Stops, played

from flashtwin.batteries.base import registry
from flashtwin.batteries.sync import SINGLE, protection_probability
from flashtwin.catalogue.loader import load
from flashtwin.drives.real.real import Real
from flashtwin.drives.twin import Twin
from flashtwin.model.histogram import bins_of, percentiles_of
from flashtwin.model.step import Result, Run
from flashtwin.model.target import Interrupted
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run as Stored

ASKED = {"seconds": "1s", "writers": "8", "span": "64MiB", "rest_s": "1s", "grouped": "8"}
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def twin(*sets: str) -> Twin:
    return Twin(load("bx500-240", scale="1/176", sets=sets), seed=1).open()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return run_batteries(twin(), [("sync", ASKED)], tmp_path_factory.mktemp("run") / "run", seed=1)


@pytest.fixture(scope="module")
def values(run: Stored) -> dict[str, float]:
    return {finding.id: finding.number or 0.0 for finding in run.findings}


def test_each_kind_is_told_in_each_state(run: Stored, values: dict[str, float]) -> None:
    for state in ("fresh", "full", "beside"):
        for cell in (*(cell.name for cell in SINGLE), "w8", "g8"):
            variant = f"{state}-{cell}"
            step = run.step(f"sync/{state}/{cell}")
            assert step is not None
            answer = run.result(step.step)
            assert isinstance(answer, Result)
            jobs = [job for job in answer.jobs if job.name != "beside"]
            rate = sum(job.ios / (job.duration_ns / 1e9) for job in jobs)
            assert values[f"sync.iops[{variant}]"] == pytest.approx(rate, rel=1e-4)
            assert values[f"sync.waf[{variant}]"] > 1
            if cell == "dsync":
                continue
            counts = answer.hist["sync"]
            p99_us = percentiles_of(bins_of(counts), [99.0])[99.0] / 1000  # type: ignore[arg-type]
            assert values[f"sync.p99[{variant}]"] == pytest.approx(p99_us, rel=1e-4)
    for finding in run.findings:
        assert registry.meaning_of(finding) is not None, finding.id


def test_several_writers_share_their_flushes(values: dict[str, float]) -> None:
    gain = values["sync.iops[fresh-w8]"] / values["sync.iops[fresh-4k]"]
    assert values["sync.gain[fresh]"] == pytest.approx(gain, rel=1e-4)
    assert gain > 2


def test_writes_that_wait_for_one_flush_share_what_it_programs(values: dict[str, float]) -> None:
    """A page that a flush programs holds one write of 4 KiB and padding, or eight writes."""
    alone, grouped = (values[f"sync.waf[fresh-{cell}]"] for cell in ("4k", "g8"))
    assert grouped == pytest.approx(alone / 8, rel=0.1)
    assert values["sync.iops[fresh-g8]"] > values["sync.iops[fresh-w8]"]
    assert values["sync.iops[fresh-g8]"] > 4 * values["sync.iops[fresh-4k]"]


def test_capacitors_are_seen_from_outside(values: dict[str, float], tmp_path: Path) -> None:
    protected = run_batteries(
        twin("controller.plp=true"), [("sync", {**ASKED, "states": "fresh"})], tmp_path / "run"
    )
    assert protected.findings["sync.is_protected"].number > 0.95  # type: ignore[operator]
    assert values["sync.is_protected"] < 0.5


@pytest.mark.parametrize(
    ("write_us", "least", "most"), [(20, 0.99, 1), (250, 0.5, 0.9), (400, 0, 0.3), (2000, 0, 0.01)]
)
def test_probability_of_protection(write_us: float, least: float, most: float) -> None:
    assert least <= protection_probability(write_us) <= most


def test_a_budget_may_leave_states_out_on_paper() -> None:
    steps, findings = played(registry.request("sync", {"states": "beside"}), FakeDrive())
    labels = [step.label for step in steps if isinstance(step, Run)]
    assert labels[0] == "sync/beside/4k"
    assert steps[0].label == "sync/beside/fill", "the drive is full even where nobody asked before"
    jobs = [step.jobs for step in steps if isinstance(step, Run)]
    assert all(row[-1].name == "beside" and row[-1].fio is not None for row in jobs)
    assert {len(row) for row in jobs} == {2, 3, 5, 9, 17}
    assert not [finding for finding in findings if finding.name == "waf"], "it has no counters"


def test_a_run_that_is_cut_and_resumed_is_the_same(tmp_path: Path) -> None:
    asked = [("sync", {**ASKED, "states": "fresh", "seconds": "100ms"})]
    whole = run_batteries(twin(), asked, tmp_path / "whole", seed=1)
    with pytest.raises(Interrupted):
        stops: Any = Stops(twin(), at=9)
        run_batteries(stops, asked, tmp_path / "cut", seed=1)
    cut = run_batteries(twin(), None, tmp_path / "cut")
    assert cut.findings == whole.findings


@needs_fio
def test_on_a_small_file(tmp_path: Path) -> None:
    drive = Real(tmp_path / "probe.bin", 32 << 20).open()
    asked = {
        "seconds": "200ms",
        "writers": "2",
        "grouped": "4",
        "states": "fresh",
        "rest_s": "10ms",
    }
    stored = run_batteries(drive, [("sync", asked)], tmp_path / "run")
    by_id = {finding.id: finding for finding in stored.findings}
    for cell in ("4k", "8k", "dsync", "etcd", "w2", "g4"):
        assert by_id[f"sync.iops[fresh-{cell}]"].number > 0  # type: ignore[operator]
        assert by_id[f"sync.p50[fresh-{cell}]"].number > 0  # type: ignore[operator]
    assert 0 < by_id["sync.is_protected"].number < 1  # type: ignore[operator]
