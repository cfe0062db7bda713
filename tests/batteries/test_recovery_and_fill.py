"""recovery and cache_by_fill: on a law on paper, on twins, beside fio, and read another way."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from beside_fio import check, jobs_of
from fakes import GB, SMALLEST_COPY, FakeDrive, Law, labels, played

from flashtwin.analysis.curve import Curve
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.present import Subject, present_of
from flashtwin.batteries.base.writing import fast_part
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.series import WRITE
from flashtwin.model.step import Rest, Result, Step, Trim
from flashtwin.model.step import Run as StepRun
from flashtwin.model.target import Watch
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

MIB = 1 << 20
SCALE = f"1/{SMALLEST_COPY}"
LADDER = {"rests": "0s+10s+10m", "trim_rests": "60s", "host_us": "0"}
SHARES = {"fills": "0+50+90", "settle_s": "60s", "host_us": "0"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    drive = Twin(load("bx500-240", scale=SCALE), seed=1).open()
    asked = [("recovery", LADDER), ("cache_by_fill", SHARES)]
    return run_batteries(drive, asked, tmp_path_factory.mktemp("run") / "run")


@pytest.mark.parametrize("battery", ["recovery", "cache_by_fill"])
def test_findings_are_explained_and_rest_on_steps(run: Run, battery: str) -> None:
    mine = [finding for finding in run.findings if finding.battery == battery]
    assert len({finding.id for finding in mine}) == len(mine) > 3
    for finding in mine:
        assert registry.meaning_of(finding) is not None, finding.id
        assert finding.evidence is None or run.step(finding.evidence.label) is not None


def test_each_write_of_the_ladder_is_a_curve(run: Run) -> None:
    written = [step.label for step in run.steps if step.label.startswith("recovery/")]
    labels = tuple(label for label in written if label.endswith(("/write", "/first")))
    subject = Subject(
        index=0, name="a", battery="recovery", labels=labels, settings=LADDER | {"host_us": 0.0}
    )
    phases = present_of("recovery").phases(subject)
    assert tuple(phase.label for phase in phases) == labels and len(labels) == 6
    assert phases[-1].title == "after 1m of rest, elsewhere"


def test_a_rest_gives_back_the_cache_and_trim_all_of_it(run: Run) -> None:
    values = {finding.id: finding.number for finding in run.findings}
    cache = values["recovery.cache"]
    assert cache is not None and cache == pytest.approx(24 / SMALLEST_COPY, rel=0.1)
    assert values["recovery.rest.0s"] == pytest.approx(0, abs=0.15 * cache)
    assert values["recovery.rest.10m"] == pytest.approx(cache, rel=0.1)
    assert values["recovery.trim.1m"] == pytest.approx(cache, rel=0.1)
    fresh = values["recovery.fresh.1m"]
    assert fresh is not None and values["recovery.rest.10s"] < fresh <= 1.1 * cache
    assert values["recovery.back"] in (10.0, 600.0)


def by_balance(run: Run, label: str, fast: float, slow: float) -> float:
    """Bytes at the fast speed, from the step's bytes and time alone, with two speeds."""
    step = run.step(label)
    assert step is not None
    size, seconds = step.jobs[0].bytes, step.jobs[0].duration_ns / 1e9
    return (size / slow - seconds) / (1 / slow - 1 / fast)


def test_what_was_fast_again_from_bytes_and_time_alone(run: Run) -> None:
    """Two speeds and the whole time say how much was fast, without looking where."""
    values = {finding.id: finding.number or 0.0 for finding in run.findings}
    step = run.step("recovery/first")
    assert step is not None
    written = run.result(step.step)
    assert isinstance(written, Result)
    series = written.series.only(WRITE)
    slow = float(series.bytes[-100:].sum() / series.dt_ns[-100:].sum()) * 1e9
    for name in ("rest.10m", "trim.1m"):
        label = f"recovery/{name.replace('.', '-')}/write"
        found = by_balance(run, label, values["recovery.speed"] * 1e6, slow) / 1e9
        assert values[f"recovery.{name}"] == pytest.approx(found, rel=0.15)


def test_the_cache_shrinks_on_a_drive_that_is_nearly_full(run: Run) -> None:
    values = {finding.id: finding.number for finding in run.findings}
    for share in ("0", "50"):
        assert values[f"cache_by_fill.size.{share}"] == pytest.approx(24 / SMALLEST_COPY, rel=0.1)
    full, left = values["cache_by_fill.size.90"], values["cache_by_fill.left"]
    assert full is not None and 0.26 * 24 / SMALLEST_COPY < full < 0.5 * 24 / SMALLEST_COPY, (
        "there is no room to borrow"
    )
    assert left == pytest.approx(full / (values["cache_by_fill.size.0"] or 0), rel=1e-4)
    for share in ("0", "50", "90"):
        assert values[f"cache_by_fill.speed.{share}"] == pytest.approx(460, rel=0.1)


def test_a_cache_of_fixed_size_on_paper_is_as_large_on_a_full_drive() -> None:
    law = Law(cache_bytes=20 * GB, second_cache_bytes=20 * GB)
    request = registry.request("cache_by_fill", {"fills": "0+50+75", "host_us": "0"})
    steps, findings = played(request, FakeDrive(law=law))
    values = {finding.id: finding.number for finding in findings}
    assert [values[f"cache_by_fill.size.{share}"] for share in ("0", "50", "75")] == [
        pytest.approx(20, abs=0.1)
    ] * 3
    assert values["cache_by_fill.left"] == pytest.approx(1, abs=0.01)
    assert list(labels(steps))[:6] == [
        "cache_by_fill/0/purge",
        "cache_by_fill/0/write",
        "cache_by_fill/50/purge",
        "cache_by_fill/50/fill",
        "cache_by_fill/50/settle",
        "cache_by_fill/50/write",
    ]
    writes = [step.jobs[0] for step in steps if isinstance(step, StepRun)]
    assert [(job.offset, job.offset + (job.size or 0)) for job in writes] == [
        (at, pytest.approx(240 * GB, abs=1 << 21))
        for at in (0, 120 * GB // MIB * MIB, 180 * GB // MIB * MIB)
    ]


@dataclass
class Spent(FakeDrive):
    """Has its cache only while it is empty: from the first filling on it writes directly."""

    def do(self, step: Step, watch: Watch) -> Result:
        if step.label.endswith("/fill"):
            self.law = Law(cache_bytes=60 * GB, cache_rate=111e6, direct_rate=81e6)
        self.written = 0
        answer = super().do(step, watch)
        assert isinstance(answer, Result)
        return answer


def test_a_direct_rate_is_no_cache_of_a_full_drive() -> None:
    request = registry.request("cache_by_fill", {"fills": "0+50", "host_us": "0"})
    _, findings = played(request, Spent())
    by_id = {finding.id: finding for finding in findings}
    full = by_id["cache_by_fill.size.50"]
    assert by_id["cache_by_fill.size.0"].number == pytest.approx(24, abs=0.1)
    assert full.number == 0 and "no cache is left" in (full.note or "")
    assert full.interval is not None and full.interval.means == "bound"
    assert (full.interval.high or 9) < 0.5
    assert "cache_by_fill.speed.50" not in by_id
    assert by_id["cache_by_fill.left"].number == 0


@dataclass
class Rested(FakeDrive):
    """Clears `pace` GB of a 24 GB cache a second of rest, and all of it where it is trimmed. With
    `drops` a rewrite of a range frees what the cache has of it."""

    pace: float = 0.1
    drops: bool = False
    used: float = 0.0
    rested: list[float] = field(default_factory=list)

    def do(self, step: Step, watch: Watch) -> Result:
        if isinstance(step, Rest):
            self.used = max(self.used - self.pace * step.seconds * GB, 0)
        if isinstance(step, Trim):
            self.used = 0
        if self.drops and isinstance(step, StepRun) and step.jobs[0].offset == 0:
            self.used = 0
        self.written = 0
        self.law = Law(cache_bytes=int(24 * GB - self.used))
        answer = super().do(step, watch)
        if step.label == "recovery/first" or step.label.endswith(("/write", "/fill")):
            self.used = 24 * GB
        assert isinstance(answer, Result)
        return answer


def test_the_ladder_of_a_drive_that_is_known_on_paper() -> None:
    request = registry.request("recovery", {"rests": "0s+10s+60s+240s+10m", "host_us": "0"})
    steps, findings = played(request, Rested())
    values = {finding.id: finding.number for finding in findings}
    for name, size in (("0s", 0), ("10s", 1), ("1m", 6), ("4m", 24), ("10m", 24)):
        assert values[f"recovery.rest.{name}"] == pytest.approx(size, abs=0.3), name
    assert values["recovery.trim.0s"] == pytest.approx(24, abs=0.3)
    back = next(finding for finding in findings if finding.name == "back")
    assert (back.value, back.low, back.high) == (240, 60, 240)
    assert list(labels(steps))[:5] == [
        "recovery/purge",
        "recovery/first",
        "recovery/rest-0s/write",
        "recovery/rest-10s/rest",
        "recovery/rest-10s/write",
    ]


def test_a_fresh_range_tells_what_a_rewrite_hides() -> None:
    """A cache that drops what is overwritten is back at once for a rewrite alone."""
    asked = {"rests": "0s+60s", "fresh_rests": "0s+60s", "host_us": "0"}
    steps, findings = played(registry.request("recovery", asked), Rested(drops=True))
    values = {finding.id: finding.number for finding in findings}
    assert values["recovery.rest.0s"] == pytest.approx(24, abs=0.3)
    assert values["recovery.fresh.0s"] == pytest.approx(0, abs=0.3)
    assert values["recovery.fresh.1m"] == pytest.approx(6, abs=0.3)
    assert list(labels(steps))[-4:] == [
        f"recovery/fresh-1m/{part}" for part in ("trim", "fill", "rest", "write")
    ]
    before, last = [step.jobs[0] for step in steps if isinstance(step, StepRun)][-2:]
    assert (before.offset, last.offset) == (0, before.size)


def test_a_range_that_leaves_nothing_beside_it_has_no_fresh_one() -> None:
    request = registry.request("recovery", {"rests": "0s", "size_percent": "100", "host_us": "0"})
    steps, findings = played(request, Rested())
    assert not any("fresh" in label for label in labels(steps))
    assert not any(finding.name.startswith("fresh") for finding in findings)


def test_a_cache_that_does_not_come_back_says_how_much_did() -> None:
    request = registry.request("recovery", {"rests": "0s+60s", "host_us": "0"})
    _, findings = played(request, Rested())
    back = next(finding for finding in findings if finding.name == "back")
    assert back.value is None and "at most 25 % came back" in (back.note or "")


def test_a_drive_without_an_edge_says_so_and_has_no_ladder() -> None:
    law = Law(cache_bytes=0, direct_rate=100e6, fold_rate=100e6)
    _, findings = played(registry.request("recovery"), FakeDrive(law=law))
    (only,) = findings
    assert (only.id, only.value) == ("recovery.cache", None)
    assert "no cache, or one that is larger" in (only.note or "")


def test_a_stall_does_not_end_what_is_fast() -> None:
    rate = np.array([400.0] * 10 + [5.0] + [400.0] * 10 + [100.0] * 20)
    fast = fast_part(Curve(dt=np.ones(rate.size), size=rate), 250.0)
    assert (fast.value, fast.low, fast.high) == (8005.0, 7605.0, 8105.0)


def test_a_file_cannot_be_erased_and_so_has_no_cache_by_fill() -> None:
    with pytest.raises(FlashtwinError, match="cannot be erased"):
        played(registry.request("cache_by_fill"), FakeDrive(kind="file", purge="it is a file"))


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fio_and_a_twin_are_given_the_same(tmp_path: Path) -> None:
    small = FakeDrive(law=Law(capacity_bytes=GB))
    steps, _ = played(registry.request("recovery", LADDER), small)
    jobs = jobs_of(steps)
    assert len(jobs) == 1, "all writes of both batteries are made by one function"
    for job in jobs:
        check(job, tmp_path, "bx500-240", SCALE)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_on_a_small_file(tmp_path: Path) -> None:
    from flashtwin.drives.real.real import Real

    asked = [("recovery", {"rests": "0s+20ms", "trim_rests": "0s"})]
    with_file = Real(tmp_path / "probe.bin", 16 << 20).open()
    run = run_batteries(with_file, asked, tmp_path / "run")
    not_possible = {step.label for step in run.steps if step.not_possible}
    assert not_possible == {"recovery/purge", "recovery/trim-0s/trim", "recovery/fresh-1m/trim"}
    assert run.step("recovery/rest-20ms/write") is not None
    assert run.step("recovery/trim-0s/write") is None
