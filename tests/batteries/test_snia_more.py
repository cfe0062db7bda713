"""SNIA's tests beside IOPS: on paper, on a twin, beside fio; and runs that are cut and resumed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside_fio import check, check_together, jobs_of
from fakes import GB, SMALLEST_COPY, FakeDrive, Law, Stops, played
from thinning import thinned

from flashtwin.analysis.curve import Curve
from flashtwin.batteries import snia_dirth, snia_hir, snia_xsr
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.groups import get as group
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.step import Fill, Job, JobTotals, NotPossible, Purge, Rest, Result, Step
from flashtwin.model.step import Run as StepRun
from flashtwin.model.target import Interrupted, Progress, Watch
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

SCALE = f"1/{SMALLEST_COPY}"
# Every battery as short as it can be.
SHORT: dict[str, dict[str, str]] = {
    "snia_throughput": {"seconds": "100ms", "fills": "1"},
    "snia_latency": {"seconds": "100ms", "fills": "1"},
    "snia_wsat": {"watch_s": "1s", "sample_s": "1s", "fills": "1.1", "round_percent": "2"},
    "snia_hir": {
        **{"waits": "100ms+1s", "bursts": "4", "burst_s": "50ms", "return_s": "200ms"},
        **{"fills": "1.1", "round_percent": "2"},
    },
    "snia_xsr": {"stream_s": "20s", "random_s": "10s"},
    "snia_composite": {"seconds": "200ms", "fills": "1"},
    "snia_dirth": {
        **{"seconds": "50ms", "before_s": "100ms", "point_s": "500ms", "fills": "1"},
        **{"threads": "4+1", "depths": "8+1"},
    },
}
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    drive = Twin(load("bx500-240", scale=SCALE), seed=1).open()
    return run_batteries(drive, list(SHORT.items()), tmp_path_factory.mktemp("snia") / "run")


def numbers(findings: Any) -> dict[str, float | None]:
    return {finding.id: finding.number for finding in findings}


def rates_of(run: Run, label: str) -> tuple[np.ndarray, np.ndarray]:
    """Requests and seconds of each sample of a step, from the stored series."""
    step = run.step(label)
    assert step is not None, label
    answer = run.result(step.step)
    assert isinstance(answer, Result)
    return answer.series.ios, answer.series.dt_ns / 1e9


def test_the_group_has_all_of_them() -> None:
    assert {"snia_iops", *SHORT} == {text.partition(":")[0] for text in group("snia").batteries}


def test_each_stream_has_its_own_purge_and_its_own_rounds() -> None:
    request = registry.request("snia_throughput", {"host_us": "0"})
    steps, findings = played(request, FakeDrive())
    begins = [place for place, step in enumerate(steps) if isinstance(step, Purge)]
    assert begins == [0, 14], "a purge, two fills, five rounds of two, a mark; and again"
    fills = [step.block_bytes for step in steps if isinstance(step, Fill)]
    assert fills == [1 << 20, 1 << 20, 1 << 17, 1 << 17]
    assert numbers(findings)["snia_throughput.rounds[SEQ128K]"] == 5
    assert numbers(findings)["snia_throughput.read[SEQ1M]"] == pytest.approx(540, rel=1e-3)


def test_single_requests_take_what_the_law_says() -> None:
    _, findings = played(registry.request("snia_latency", {"host_us": "0"}), FakeDrive())
    values = numbers(findings)
    assert values["snia_latency.steady"] == pytest.approx(80, rel=1e-3)
    assert values["snia_latency.mix65.highest[RND512]"] == pytest.approx(80, rel=1e-3)
    assert values["snia_latency.read.iops[RND8K]"] == pytest.approx(1e6 / 80, rel=1e-3)


@dataclass
class Tiring(FakeDrive):
    """Random writes take longer the more of them were done, up to `settles` times the capacity."""

    settles: float = 2.5
    grows: float = 1.0
    scattered: float = 0.0

    def _timed(self, job: Job) -> tuple[np.ndarray, np.ndarray]:
        fills = min(self.scattered / self.law.capacity_bytes, self.settles)
        size = float(job.io_bytes or 0)
        self.scattered += size
        each = (1 + self.grows * fills) * 1e-4 * size / job.block_bytes / (job.depth * job.threads)
        return np.array([0.0, size]), np.array([0.0, each])


def test_saturation_goes_on_while_the_rate_falls() -> None:
    """It falls by a tenth of the fresh latency a round: until 2.5 fills that is over 20 % in five
    rounds at first, and the line moves by more than 10 % up to the end."""
    drive = Tiring()
    _, findings = played(registry.request("snia_wsat", {}), drive)
    values = numbers(findings)
    assert 2.5 < (values["snia_wsat.fills"] or 0) <= 3.0
    assert values["snia_wsat.rounds"] == pytest.approx((values["snia_wsat.fills"] or 0) * 10 - 10)
    assert values["snia_wsat.steady"] == pytest.approx(32 / 3.5e-4, rel=0.06)
    assert values["snia_wsat.fresh"] == pytest.approx(32 / 1e-4, rel=1e-3)
    assert values["snia_wsat.least"] == pytest.approx(32 / 3.5e-4, rel=1e-3), "of all rounds"


def test_a_rate_that_is_steady_and_still_falls_says_so() -> None:
    """Latency grows by 0.35 of the fresh one a fill: the first five rounds begin at 1.35 and rise
    by 0.035 each, so that the rate falls by 4 x 0.035 / 1.42 = 9.9 % in them, 2.46 % a round."""
    drive = Tiring(settles=100.0, grows=0.35)
    _, findings = played(registry.request("snia_wsat", {}), drive)
    by_id = {finding.id: finding for finding in findings}
    assert by_id["snia_wsat.rounds"].number == 5
    assert by_id["snia_wsat.drift"].number == pytest.approx(-0.246, rel=0.01)
    assert by_id["snia_wsat.rise"].number == pytest.approx(0.0986, rel=0.01)
    assert by_id["snia_wsat.steady"].note == (
        "still falling: 9.9 % over the last 5 rounds, 10 % are allowed"
    )


def test_a_drive_that_stays_has_no_drift_and_no_note() -> None:
    _, findings = played(registry.request("snia_wsat", {}), FakeDrive())
    by_id = {finding.id: finding for finding in findings}
    assert by_id["snia_wsat.drift"].number == pytest.approx(0.0, abs=1e-6)
    assert by_id["snia_wsat.steady"].note is None


def test_saturation_ends_after_so_many_fills_and_says_that_it_is_not_steady() -> None:
    drive = Tiring(settles=100.0)
    _, findings = played(registry.request("snia_wsat", {"fills": "1.8"}), drive)
    by_id = {finding.id: finding for finding in findings}
    assert by_id["snia_wsat.fills"].number == pytest.approx(1.8, abs=0.01)
    assert by_id["snia_wsat.steady"].note == "not steady after 8 rounds"
    assert by_id["snia_wsat.fresh"].note is None


def test_saturation_of_a_part_of_the_drive_stays_in_it_and_counts_it() -> None:
    drive = FakeDrive()
    steps, findings = played(registry.request("snia_wsat", {"range_percent": "25"}), drive)
    jobs = [step.jobs[0] for step in steps if isinstance(step, StepRun)]
    part = drive.info.capacity_bytes // 4
    assert {job.offset + (job.size or 0) for job in jobs} == {part // 4096 * 4096}
    assert [job.io_bytes for job in jobs[:2]] == [part // 4096 * 4096, part // 10 // 4096 * 4096]
    by_id = {finding.id: finding for finding in findings}
    assert by_id["snia_wsat.fills"].number == pytest.approx(1.5, rel=1e-3)
    assert by_id["snia_wsat.fills"].title.endswith("times the range")
    assert by_id["snia_wsat.written"].number == pytest.approx(1.5 * part / 1e9, rel=1e-3)
    assert by_id["snia_wsat.rate.50"].title.endswith("50 % of the range written")


def test_saturation_ends_after_so_many_hours() -> None:
    drive = Tiring(settles=100.0)
    steps, _ = played(registry.request("snia_wsat", {"hours": "0.01", "fills": "9"}), drive)
    labels = [step.label for step in steps if isinstance(step, StepRun)]
    assert len(labels) == 3, "a round is longer than 36 s"
    assert labels[-1] == "snia_wsat/rhythm"


def of(rate: float, ms: float) -> JobTotals:
    return JobTotals(
        name="cell",
        ios=round(rate),
        bytes=0,
        duration_ns=10**9,
        latency_mean_ns=ms * 1e6,
        latency_min_ns=0,
        latency_max_ns=0,
        mean_depth=1,
    )


def test_what_pauses_give_says_when_the_baseline_did_not_stay() -> None:
    assert snia_hir._moved(of(850, 1), 1000) == "without rests again 85 % of the baseline"
    assert snia_hir._moved(of(1150, 1), 1000) == "without rests again 115 % of the baseline"
    assert snia_hir._moved(of(905, 1), 1000) is None
    assert snia_hir._moved(None, 1000) is None, "a run that was cut before"


def test_the_three_points_of_demand_intensity() -> None:
    cells = {
        (32, 32): of(90_000, 11),
        (8, 32): of(85_000, 3),
        (8, 8): of(85_000, 0.8),
        (2, 8): of(48_000, 0.3),
        (1, 8): of(40_000, 0.2),
        (1, 1): of(9_000, 0.1),
    }
    points = snia_dirth.points_of(cells)
    assert points == {"highest": (8, 8), "middle": (2, 8), "single": (1, 1)}
    slow = {(32, 32): of(900, 900), (1, 1): of(90, 11)}
    assert snia_dirth.points_of(slow)["highest"] == (1, 1), "none is below 5 ms"
    assert snia_dirth.points_of({}) == {}


def test_a_stream_is_back_when_it_stays() -> None:
    def curve(*stretches: tuple[int, float]) -> Curve:
        rate = np.concatenate([np.full(count, value) for count, value in stretches])
        return Curve(dt=np.full(rate.size, 10.0), size=rate * 10.0)

    before = curve((10, 500), (400, 100))
    after = curve((30, 20), (3, 100), (10, 30), (200, 100))
    recovery = snia_xsr._recovery(before, after)
    assert recovery.number == pytest.approx(430)
    assert recovery.interval is not None
    assert (recovery.interval.low, recovery.interval.means) == (pytest.approx(420), "bound")
    never = snia_xsr._recovery(before, curve((300, 50)))
    assert never.number is None
    assert "not within 3000 s" in (never.note or "")


@pytest.mark.parametrize("battery", SHORT)
def test_findings_rest_on_steps_and_are_explained(run: Run, battery: str) -> None:
    findings = [finding for finding in run.findings if finding.battery == battery]
    assert findings, battery
    for finding in findings:
        assert finding.evidence is not None
        assert run.step(finding.evidence.label) is not None, finding.id
        meaning = registry.meaning_of(finding)
        assert meaning is not None, finding.id
        word = finding.name.partition(".")[0]
        assert meaning.name != "*" or word in ("read", "write") or word.startswith("mix")


def test_scores_again_from_the_series(run: Run) -> None:
    """Each another way than the totals of a job."""
    values = numbers(run.findings)
    written = 0
    ios, seconds = rates_of(run, "snia_wsat/first")
    assert values["snia_wsat.fresh"] == pytest.approx(ios[0] / seconds[0], rel=1e-3)
    written += int(ios.sum()) * 4096
    count = int(values["snia_wsat.rounds"] or 0)
    rates = []
    for number in range(1, count + 1):
        ios, seconds = rates_of(run, f"snia_wsat/steady/round-{number}/write-RND4K-Q16")
        rates.append(ios.sum() / seconds.sum())
        written += int(ios.sum()) * 4096
    assert values["snia_wsat.steady"] == pytest.approx(np.mean(rates[-5:]), rel=5e-3)
    assert values["snia_wsat.written"] == pytest.approx(written / 1e9, rel=1e-3)

    ios, seconds = rates_of(run, "snia_hir/wait-1s/bursts")
    assert values["snia_hir.bursts[1s]"] == pytest.approx(ios.sum() / (4 * 0.05), rel=0.1)
    count = int(values["snia_composite.rounds"] or 0)
    rates = []
    for number in range(count - 4, count + 1):
        ios, seconds = rates_of(run, f"snia_composite/round-{number}/mix40-RND4K-Q32")
        rates.append(ios.sum() / 0.2)
    # What is outstanding when the time is up is still answered, 1 % later.
    assert values["snia_composite.steady"] == pytest.approx(np.mean(rates), rel=0.03)


def test_streams_and_latencies_again_from_the_series(run: Run) -> None:
    """From the samples of the last five rounds, and of single steps."""
    values = numbers(run.findings)

    def answer_of(label: str) -> Result:
        step = run.step(label)
        assert step is not None, label
        answer = run.result(step.step)
        assert isinstance(answer, Result)
        return answer

    count = int(values["snia_throughput.rounds[SEQ1M]"] or 0)
    stem = "snia_throughput/seq1m/round-{}/write-SEQ1M-Q32"
    rounds = [answer_of(stem.format(number)) for number in range(count - 4, count + 1)]
    rates = [row.series.bytes.sum() / row.duration_ns * 1e3 for row in rounds]
    assert values["snia_throughput.write[SEQ1M]"] == pytest.approx(np.mean(rates), rel=5e-3)

    count = int(values["snia_latency.rounds"] or 0)
    stem = "snia_latency/round-{}/write-RND4K-Q1"
    rows = [answer_of(stem.format(number)).series for number in range(count - 4, count + 1)]
    means = [row.lat_sum_ns.sum() / row.ios.sum() / 1e3 for row in rows]
    assert values["snia_latency.steady"] == pytest.approx(np.mean(means), rel=2e-3)
    slowest = max(int(row.lat_max_ns.max()) for row in rows) / 1e3
    assert values["snia_latency.write.highest[RND4K]"] == pytest.approx(slowest, rel=2e-3)

    cell = answer_of("snia_dirth/cells/T4-Q8")
    rate = cell.series.ios.sum() / cell.duration_ns * 1e9
    assert values["snia_dirth.write.iops[T4-Q8]"] == pytest.approx(rate, rel=5e-3)

    for kind, unit in (("before", "bytes"), ("random", "ios"), ("after", "bytes")):
        part = answer_of(f"snia_xsr/{kind}")
        moved = getattr(part.series, unit).sum() / (1e6 if unit == "bytes" else 1)
        expected = pytest.approx(moved / part.duration_ns * 1e9, rel=5e-3)
        assert values[f"snia_xsr.mean[{kind}]"] == expected


def test_the_page_draws_saturation_from_the_purge_to_the_last_round(run: Run) -> None:
    """One curve, one X-ray and one row of latencies of all steps."""
    from flashtwin.report import latency, xray
    from flashtwin.report.drives import Contents

    contents, values = Contents.of([run]), numbers(run.findings)
    (curve,) = [curve for curve in contents.curves if curve.phase.group == "snia_wsat"]
    assert curve.done[-1] / 1e9 == pytest.approx(values["snia_wsat.written"], rel=1e-3)
    assert curve.seconds[-1] == pytest.approx(values["snia_wsat.time"], rel=1e-3)
    insides = [row for row in xray.insides_of(contents) if row.phase.group == "snia_wsat"]
    assert [row.host[-1] / curve.done[-1] for row in insides] == pytest.approx([1], rel=1e-3)
    assert insides[0].seconds[-1] == pytest.approx(curve.seconds[-1], rel=0.01)
    assert np.all(np.diff(insides[0].seconds) >= 0)
    labels = [step.label for step in run.steps if step.battery == "snia_wsat"]
    sums = latency._counts_of(contents, contents.drives[0])
    counted = sum(int(sums[key].sum()) for key in sums if key[1] == "snia_wsat/first")
    series = [rates_of(run, label)[0].sum() for label in labels if "round" in label]
    series.append(rates_of(run, "snia_wsat/first")[0].sum())
    assert counted == sum(series)


def test_pauses_are_pauses(run: Run) -> None:
    """In the bursts with a second of rest nothing is asked for most of the time."""
    step = run.step("snia_hir/wait-1s/bursts")
    assert step is not None
    answer = run.result(step.step)
    assert isinstance(answer, Result)
    assert answer.duration_ns == pytest.approx(4 * 1.05e9, rel=0.02)
    assert not any(isinstance(step.step, Rest) for step in run.steps)


def test_the_mix_has_the_sizes_that_were_asked_for(run: Run) -> None:
    """Bytes a request of JESD219's mix: 0.04 x 512 + ... + 0.03 x 64 KiB."""
    from flashtwin.batteries.snia_composite import SIZES

    assert sum(share for _, share in SIZES) == 100
    mean = sum(size * share for size, share in SIZES) / 100
    step = run.step("snia_composite/round-1/mix40-RND4K-Q32")
    assert step is not None
    totals = step.jobs[0]
    # Requests of 512 B touch whole sectors; their number is a few thousand.
    assert totals.bytes / totals.ios == pytest.approx(mean, rel=0.1)


@dataclass
class StopsAt(FakeDrive):
    """Is interrupted before the step of this number."""

    at: int = 10**9
    count: int = 0

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.count += 1
        if self.count > self.at:
            raise Interrupted(step.label)
        return super().do(step, watch)


@pytest.mark.parametrize("battery", sorted(set(SHORT) - {"snia_hir"}))
def test_a_run_that_is_cut_in_its_middle_and_resumed_is_the_same(
    battery: str, tmp_path: Path
) -> None:
    batteries = [(battery, SHORT[battery])]
    uncut = run_batteries(StopsAt(), batteries, tmp_path / "whole", seed=7)
    middle = len(uncut.steps) // 2
    with pytest.raises(Interrupted):
        run_batteries(StopsAt(at=middle), batteries, tmp_path / "cut", seed=7)
    cut = run_batteries(StopsAt(), None, tmp_path / "cut")
    assert cut.findings == uncut.findings
    assert (cut.path / "steps.jsonl").read_bytes() == (uncut.path / "steps.jsonl").read_bytes()


@pytest.mark.full
def test_a_true_twin_that_is_cut_among_its_pauses_goes_on_to_the_same_bytes(
    tmp_path: Path,
) -> None:
    batteries = [("snia_hir", SHORT["snia_hir"])]

    def twin() -> Twin:
        return Twin(load("bx500-240", scale=SCALE), seed=1).open()

    uncut = run_batteries(twin(), batteries, tmp_path / "whole", seed=7)
    with pytest.raises(Interrupted):
        stops = Stops(drive=twin(), at=len(uncut.steps) - 3)
        run_batteries(stops, batteries, tmp_path / "cut", seed=7)  # type: ignore[arg-type]
    cut = run_batteries(twin(), None, tmp_path / "cut")
    assert cut.findings == uncut.findings
    assert (cut.path / "steps.jsonl").read_bytes() == (uncut.path / "steps.jsonl").read_bytes()


@pytest.mark.full
def test_the_longest_part_cut_in_its_middle_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    """The pauses of 50 s at full size: 360 bursts over five and a half hours are one step, cut in
    its middle; what follows needs a drive that was brought back to where it was."""
    asked = [("snia_hir", {"waits": "50s", "fills": "1.5", "round_percent": "10"})]
    part = "snia_hir/wait-50s/bursts"

    class CutWithin(Stops):
        def do(self, step: Step, watch: Watch) -> Result | NotPossible:
            if step.label != part:
                return super().do(step, watch)
            heard = 0

            def half(progress: Progress) -> bool:
                nonlocal heard
                heard += 1
                return progress.drive_s < 180 * 55 and watch(progress)

            try:
                answer: Result | NotPossible = self.drive.do(step, half)
            finally:
                assert heard > 10, "it was under way"
            return answer

    def twin() -> Twin:
        return Twin(load("bx500-240"), seed=1).open()

    uncut = run_batteries(twin(), asked, tmp_path / "whole", seed=7)
    assert uncut.step(part) is not None
    with pytest.raises(Interrupted):
        cut_drive: Any = CutWithin(drive=twin(), at=10**9)
        run_batteries(cut_drive, asked, tmp_path / "cut", seed=7)
    assert Run(tmp_path / "cut").step(part) is None
    cut = run_batteries(twin(), None, tmp_path / "cut")
    assert cut.findings == uncut.findings
    for name in ("steps.jsonl", "findings.json", "series.parquet", "hist.parquet"):
        assert (cut.path / name).read_bytes() == (uncut.path / name).read_bytes(), name


# Those with jobs of a kind that no other battery has.
KINDS = ("snia_wsat", "snia_hir", "snia_composite")


@needs_fio
@pytest.mark.parametrize(
    "battery", [pytest.param(n, marks=[] if n in KINDS else [pytest.mark.full]) for n in SHORT]
)
def test_fio_and_a_twin_are_given_the_same(battery: str, tmp_path: Path) -> None:
    # Two of fio's threads tear each other's lines in its log of requests.
    settings = SHORT[battery] | ({"threads": "1"} if battery in ("snia_dirth", "snia_wsat") else {})
    steps, _ = played(registry.request(battery, settings), FakeDrive(law=Law(capacity_bytes=GB)))
    kinds = [replace(job, threads=1) for job in jobs_of(steps)]
    plain = {(job.rw, job.block_bytes): job for job in kinds if job.fio is None}
    for number, job in enumerate(plain.values()):
        check(job, tmp_path / str(number), "bx500-240", SCALE)
    mixes = [replace(job, fio=replace(job.fio, time_based=False)) for job in kinds if job.fio]
    for number, job in enumerate(mixes):
        drive = Twin(load("bx500-240", scale=SCALE), seed=1).open()
        step = StepRun(label="mix", jobs=(job,))
        check_together(step, tmp_path / f"mix-{number}", drive)
    assert bool(mixes) == (battery in ("snia_hir", "snia_composite")) and (plain or mixes)


@needs_fio
@pytest.mark.full
@pytest.mark.parametrize("battery", ["snia_throughput", "snia_latency", "snia_composite"])
def test_on_a_small_file(battery: str, tmp_path: Path) -> None:
    """All five rounds run, and every cell has a rate."""
    from flashtwin.drives.real.real import Real

    asked = [(battery, SHORT[battery] | {"seconds": "50ms", "rounds": "5"})]
    run = run_batteries(Real(tmp_path / "probe.bin", 64 << 20).open(), asked, tmp_path / "run")
    rounds = [finding for finding in run.findings if finding.name == "rounds"]
    assert rounds and all(finding.number == 5 for finding in rounds)
    rates = [finding.number for finding in run.findings if finding.unit in ("IOPS", "MB/s")]
    assert rates and all(rate is not None and rate > 0 for rate in rates)


# The original's hours as fractions of a second, over a file of 64 MiB.
ON_A_FILE = {
    "snia_wsat": {"fills": "1.2", "round_percent": "4", "sample_s": "20ms", "watch_s": "300ms"},
    "snia_hir": {
        **{"waits": "100ms", "bursts": "3", "burst_s": "50ms", "return_s": "100ms"},
        **{"fills": "1.2", "round_percent": "4"},
    },
    "snia_xsr": {"stream_s": "300ms", "random_s": "200ms"},
    "snia_dirth": {
        **{"seconds": "50ms", "rounds": "5", "before_s": "100ms", "point_s": "200ms"},
        **{"fills": "1", "threads": "2+1", "depths": "4"},
    },
}


@needs_fio
@pytest.mark.parametrize("battery", thinned(sorted(ON_A_FILE, reverse=True), every=4))
def test_on_a_small_file_those_that_write_for_hours(battery: str, tmp_path: Path) -> None:
    """What fio reports of the steps is what the findings say, counted another way."""
    from flashtwin.drives.real.real import Real

    asked = [(battery, ON_A_FILE[battery])]
    run = run_batteries(Real(tmp_path / "probe.bin", 64 << 20).open(), asked, tmp_path / "run")
    assert run.finished and not any(step.not_possible for step in run.steps if step.kind == "run")
    values = numbers(run.findings)
    with_rate = [finding for finding in run.findings if finding.unit in ("IOPS", "MB/s")]
    # The lowest sample may be a stall of this machine.
    rates = [finding.number for finding in with_rate if finding.name != "least"]
    assert rates and all(rate is not None and rate > 0 for rate in rates)
    if battery == "snia_wsat":
        # What is written while the steady drive is watched is not on the way to it.
        before = [
            step for step in run.steps if step.kind == "run" and step.label != "snia_wsat/rhythm"
        ]
        written = sum(int(run.series(step.step).bytes.sum()) for step in before)
        assert values["snia_wsat.written"] == pytest.approx(written / 1e9, rel=1e-3)
        assert 1.1 <= written / (64 << 20) <= 1.21
        assert (values["snia_wsat.least"] or 0) <= (values["snia_wsat.steady"] or 0) * 1.001
    if battery == "snia_hir":
        ios, _ = rates_of(run, "snia_hir/wait-100ms/bursts")
        assert values["snia_hir.bursts[100ms]"] == pytest.approx(ios.sum() / (3 * 0.05), rel=0.35)
    if battery == "snia_xsr":
        ios, seconds = rates_of(run, "snia_xsr/random")
        mean = values["snia_xsr.mean[random]"]
        assert mean == pytest.approx(ios.sum() / seconds.sum(), rel=0.05)
    if battery == "snia_dirth":
        ios, seconds = rates_of(run, "snia_dirth/cells/T1-Q4")
        assert values["snia_dirth.write.iops[T1-Q4]"] == pytest.approx(ios.sum() / 0.05, rel=0.35)
