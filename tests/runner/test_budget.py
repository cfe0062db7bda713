"""What fits into a budget: chosen by worth, corrected on the way, the same again tomorrow."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fakes import GB, MB, FakeDrive, Law

from flashtwin import report
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.registry import Request
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import NotPossible, Result, Step
from flashtwin.model.step import Run as StepRun
from flashtwin.model.target import DriveInfo, Interrupted, Watch
from flashtwin.runner.budget import Budget
from flashtwin.runner.estimate import estimate
from flashtwin.runner.events import Observer
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

# 4 GB at the 400 MB/s of the estimate: a pass is 10 s, and in truth as well.
QUICK = Law(
    capacity_bytes=4 * GB, cache_bytes=4 * GB, cache_rate=400 * MB, second_cache_bytes=4 * GB
)
SLOW = Law(capacity_bytes=4 * GB, cache_bytes=0, fold_begin_bytes=4 * GB, direct_rate=100 * MB)
FILL = registry.request("fill", {"idle_s": "1s", "passes": "3", "host_us": "0"})
CDM = registry.request("crystaldiskmark", {"profile": "real", "loops": "1", "host_us": "0"})


def chosen(seconds: float, *requests: Request, info: DriveInfo | None = None) -> list[str]:
    info = info or FakeDrive(law=QUICK).info
    whole = estimate(requests, info)
    budget = Budget(seconds, requests, info, whole)
    out = {(one.battery, one.part.title) for one in budget.left_out}
    kept = {(step.battery, step.label) for step in budget.without_left_out(whole).steps}
    titles = []
    for request in requests:
        for part in request.battery.parts(request.parameters, info):
            done = (request.name, part.title) not in out
            assert done == any(
                part.holds(label) for battery, label in kept if battery == request.name
            )
            titles += [part.title] if done else []
    return titles


@pytest.mark.parametrize(
    ("seconds", "titles"),
    [
        (10.1, ["128k-q32 pass 1"]),
        (20.1, ["128k-q32 pass 1", "1m-q1 pass 1"]),
        (31.1, ["128k-q32 pass 1", "1m-q1 pass 1", "128k-q32 pass 2"]),
        (41.9, ["128k-q32 pass 1", "1m-q1 pass 1", "128k-q32 pass 2"]),
        (1000, [f"{p} pass {n}" for n in (1, 2, 3) for p in ("128k-q32", "1m-q1")]),
    ],
)
def test_first_passes_come_first_and_a_pass_needs_the_one_before(
    seconds: float, titles: list[str]
) -> None:
    assert chosen(seconds, FILL) == titles


def test_cells_are_read_and_written_in_turn_and_mixes_come_last() -> None:
    """The test file takes 2.7 s; a cell 10 s, and 5 s of rest but for the first."""
    assert chosen(12.8, CDM) == ["SEQ1M-Q1T1 read"]
    assert chosen(28, CDM) == ["SEQ1M-Q1T1 read", "SEQ1M-Q1T1 write"]
    cells = [f"{cell} {way}" for cell in ("SEQ1M-Q1T1", "RND4K-Q1T1") for way in ("read", "write")]
    assert chosen(58, CDM) == cells
    assert chosen(73, CDM) == [*cells, "SEQ1M-Q1T1 mix"]


def test_every_battery_gets_its_first_part_before_any_its_second() -> None:
    assert chosen(23, FILL, CDM) == ["128k-q32 pass 1", "SEQ1M-Q1T1 read"]
    # A part that does not fit does not keep a smaller one out.
    assert chosen(12.8, CDM, FILL) == ["SEQ1M-Q1T1 read"]


def test_the_making_of_a_file_is_paid_from_the_budget() -> None:
    info = FakeDrive(law=QUICK, kind="file").info
    assert chosen(22, FILL, info=info) == ["128k-q32 pass 1"]
    with pytest.raises(
        FlashtwinError,
        match="the least, fill 1m-q1 pass 1, takes about 21 s, 10 s of it to make the file",
    ):
        chosen(15, FILL, info=info)


def test_too_little_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    drive = FakeDrive(law=QUICK)
    with pytest.raises(FlashtwinError, match="nothing fits into a budget of 5 s") as refused:
        run_batteries(drive, [FILL], tmp_path / "run", budget_s=5.0)
    assert refused.value.exit_code == 2 and not (tmp_path / "run").exists() and not drive.done


def test_a_battery_without_parts_is_done_as_a_whole_or_not() -> None:
    from dataclasses import replace

    undivided = replace(CDM.battery, parts=registry.undivided)
    request = Request(battery=undivided, parameters=CDM.parameters)
    info = FakeDrive(law=QUICK).info
    whole = estimate([request], info)
    assert Budget(whole.drive_s + 1, [request], info, whole).left_out == []
    with pytest.raises(FlashtwinError, match="nothing fits"):
        Budget(whole.drive_s - 1, [request], info, whole)


class Notes(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.expected: Any = None

    def estimated(self, info: DriveInfo, estimate: Any, departs: Any) -> None:
        self.expected = estimate

    def noted(self, text: str) -> None:
        self.notes.append(text)


def test_a_run_does_what_was_chosen_and_says_what_was_not(tmp_path: Path) -> None:
    notes, drive = Notes(), FakeDrive(law=QUICK)
    run = run_batteries(drive, [FILL], tmp_path / "run", budget_s=33.0, observer=notes)
    labels = [step.label for step in run.steps if step.kind == "run"]
    assert labels == ["fill/128k-q32/pass-1", "fill/128k-q32/pass-2", "fill/1m-q1/pass-1"]
    assert notes.expected.write_bytes == pytest.approx(3 * 4 * GB, rel=1e-3)
    out = ["fill 1m-q1 pass 2", "fill 128k-q32 pass 3", "fill 1m-q1 pass 3"]
    assert notes.notes == [f"about 31 s of a budget of 33 s; left out: {', '.join(out)}"]
    budget = run.manifest["budget"]
    assert budget["seconds"] == 33.0
    assert [f"{one['battery']} {one['part']}" for one in budget["left_out"]] == out
    (found,) = [one for one in run.findings if one.id == "fill.left_out"]
    assert (found.value, found.unit) == (3.0, "parts")
    assert found.note == "1m-q1 pass 2, 128k-q32 pass 3, 1m-q1 pass 3; the budget was 33 s"
    # The rest of the findings are those of the passes that were done.
    whole = run_batteries(FakeDrive(law=QUICK), [FILL], tmp_path / "whole")
    there = {one.id for one in run.findings}
    assert [one for one in run.findings if one.id != "fill.left_out"] == [
        one for one in whole.findings if one.id in there
    ]
    assert "budget" not in whole.manifest


def test_a_slow_drive_leaves_out_what_no_longer_fits_and_never_begins_it(tmp_path: Path) -> None:
    """Four times slower than estimated: after the first pass the second of 40 s does not fit."""
    run = run_batteries(FakeDrive(law=SLOW), [FILL], tmp_path / "run", budget_s=70.0)
    assert [step.label for step in run.steps if step.kind == "run"] == ["fill/128k-q32/pass-1"]
    assert len(run.manifest["budget"]["left_out"]) == 5


def test_once_used_up_nothing_more_begins(tmp_path: Path) -> None:
    """The file of the first battery takes as long as the whole budget: no cell is measured."""
    run = run_batteries(FakeDrive(law=SLOW), [CDM, FILL], tmp_path / "run", budget_s=30.0)
    asked = [step.label for step in run.steps]
    assert "cdm/SEQ1M-Q1T1/read/1" in asked
    assert sum(step.duration_ns for step in run.steps) < 31e9


def took(run: Run) -> float:
    return sum(step.duration_ns for step in run.steps) / 1e9


@pytest.mark.parametrize("budget_s", [11.0, 12.5, 17.0, 25.0, 33.0, 60.0, 100.0])
@pytest.mark.parametrize("law", [QUICK, SLOW])
def test_a_budget_is_kept_however_wrong_the_estimate(
    tmp_path: Path, law: Law, budget_s: float
) -> None:
    """A write that takes four times what was expected ends with the budget."""
    run = run_batteries(FakeDrive(law=law), [FILL], tmp_path / "run", budget_s=budget_s)
    assert took(run) <= budget_s + 0.01
    work = [step for step in run.steps if step.kind != "mark"]
    cut = [step for step in work if step.cut]
    first = run.steps[1]
    assert (first.label, first.cut) == ("fill/128k-q32/pass-1", law is SLOW and budget_s < 40.9)
    if cut:
        assert took(run) == pytest.approx(budget_s, abs=0.01) and cut == [work[-1]]
        assert f"cut short by the budget after {cut[0].duration_ns / 1e9:.4g} s" == cut[0].note


def test_what_was_cut_is_told_everywhere(tmp_path: Path) -> None:
    """20.5 s of 40, half a second of them for the erase: 2 of 4 GB at 100 MB/s."""
    notes = Notes()
    run = run_batteries(
        FakeDrive(law=SLOW), [FILL], tmp_path / "run", budget_s=20.5, observer=notes
    )
    parts = [one["part"] for one in run.manifest["budget"]["left_out"] if one.get("cut")]
    assert parts == ["128k-q32 pass 1"]
    (left,) = [one for one in run.findings if one.id == "fill.left_out"]
    assert left.note is not None and left.note.startswith("128k-q32 pass 1 (cut short), 1m-q1")
    told = {one.id.partition("[")[0]: one for one in run.findings if one != left}
    assert len(told) == 12
    # That the drive was once so fast stays true of a part.
    held = told.pop("fill.rate_held")
    assert held.interval is not None and held.interval.means == "bound" and held.value is not None
    for one in told.values():
        assert one.value is None and one.evidence is None
        assert one.note == "not found: the budget ended the step after 2 of 4 GB"
    assert run.steps[1].jobs[0].bytes == pytest.approx(2 * GB, rel=1e-3)
    assert "not cut" not in notes.notes[0]
    page = report.build([run], tmp_path / "page.html").read_text()
    assert "fill/128k-q32/pass-1: cut short by the budget after 20 s" in page
    assert "128k-q32 pass 1 (cut short)" in page


def test_of_a_pass_that_was_cut_past_its_cache_the_cache_is_known(tmp_path: Path) -> None:
    law = Law(capacity_bytes=24 * GB, cache_bytes=4 * GB, fold_begin_bytes=20 * GB)
    ask = [registry.request("fill", {"patterns": "1m-q1", "host_us": "0"})]
    whole = run_batteries(FakeDrive(law=law), ask, tmp_path / "whole")
    run = run_batteries(FakeDrive(law=law), ask, tmp_path / "run", budget_s=125.0)
    assert run.steps[1].cut
    mine, theirs = run.findings, whole.findings
    for name in ("cache_size", "speed_cache", "speed_past_cache"):
        assert mine[name].value == pytest.approx(theirs[name].value, rel=0.01)
        assert "the budget ended the step after" in str(mine[name].note)
    for name in ("mean", "duration", "mean_past_cache", "fold_begin", "speed_folding"):
        assert mine[name].value is None, name
    assert theirs["mean"].value is not None


@dataclass
class Lags(FakeDrive):
    """A second goes by before each run, as a program has to be started."""

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.now_ns += 10**9 if isinstance(step, StepRun) else 0
        return super().do(step, watch)


@pytest.mark.parametrize(("loops", "runs"), [("1", ["1"]), ("2", ["1", "2"])])
def test_a_timed_run_that_was_cut_counts_where_no_other_does(
    tmp_path: Path, loops: str, runs: list[str]
) -> None:
    """Two or three runs of 5 s after half a second and 2.7 of file, and no time for their lags."""
    ask = registry.request("crystaldiskmark", {"profile": "real", "loops": loops, "host_us": "0"})
    law = Law(capacity_bytes=4 * GB, direct_rate=400 * MB)
    seconds = 3.3 + 5 + 5 * len(runs)
    run = run_batteries(Lags(law=law), [ask], tmp_path / "run", budget_s=seconds)
    scored = [step for step in run.steps if step.kind == "run" and "warm" not in step.label]
    assert [step.label.rpartition("/")[2] for step in scored] == runs
    assert [step.cut for step in scored] == [False] * (len(runs) - 1) + [True]
    assert sum(step.duration_ns for step in run.steps) / 1e9 < seconds
    speed, counts = run.findings["read[SEQ1M-Q1T1]"], scored[0]
    rate = counts.jobs[0].bytes / counts.duration_ns * 1000
    assert speed.value == pytest.approx(rate, rel=1e-3)
    note = str(speed.note)
    assert (note.startswith("the budget ended the step") and "of one run" in note) == (loops == "1")


def test_what_is_not_cut_is_named_in_advance(tmp_path: Path) -> None:
    notes = Notes()
    run_batteries(FakeDrive(law=QUICK), [CDM], tmp_path / "run", budget_s=30.0, observer=notes)
    assert notes.notes[0].endswith("; may overrun by what is not cut: cdm/prepare")


METERED = {"size": "4GB", "rest_s": "20s", "random_s": "5s"}


@pytest.mark.parametrize(
    ("seconds", "titles"),
    [
        (61, ["idle"]),
        (71, ["idle", "sequential write"]),
        (91, ["idle", "sequential write", "idle after the write"]),
        (127, ["idle", "sequential write", "idle after the write", "sequential read",
               "random read", "copy on the drive"]),
        (500, ["idle", "sequential write", "idle after the write", "sequential read",
               "random read", "random write", "copy on the drive"]),
    ],
)  # fmt: skip
def test_power_is_divided(seconds: float, titles: list[str]) -> None:
    """60 s idle, 10 s a write or read of 4 GB and 10 for the copy, 20 a rest, 5 at random."""
    info = FakeDrive(law=QUICK).info
    metered = replace(info, can=replace(info.can, power_meter=True))
    assert chosen(seconds, registry.request("power", METERED), info=metered) == titles


@pytest.mark.parametrize(
    ("battery", "lacking"), [("power", "no watt meter"), ("waf", "no SMART data")]
)
def test_what_a_target_has_no_instrument_for_is_refused(battery: str, lacking: str) -> None:
    info = FakeDrive(law=QUICK, kind="file").info
    with pytest.raises(FlashtwinError, match=lacking) as refused:
        estimate([FILL, registry.request(battery, {})], info)
    assert refused.value.exit_code == 2 and f"leave {battery} out" in (refused.value.hint or "")


def test_of_power_on_a_twin_what_fits_is_measured(tmp_path: Path) -> None:
    ask = [("power", {"size": "256MB", "rest_s": "20s", "random_s": "1s"})]
    whole = run_batteries(twin(), ask, tmp_path / "whole")
    run = run_batteries(twin(), ask, tmp_path / "run", budget_s=83.0)
    left = run.findings["left_out"]
    assert left.note == "random write; the budget was 83 s"
    mine = [one for one in run.findings if one != left]
    assert [one.id for one in mine][:2] == ["power.idle", "power.write"]
    theirs = {one.id: one for one in whole.findings}
    assert mine == [theirs[one.id] for one in mine] and len(mine) < len(theirs)


def twin() -> Any:
    from flashtwin.catalogue.loader import load
    from flashtwin.drives.twin import Twin

    return Twin(load("bx500-240", scale="1/16"), seed=3)


ON_TWIN = [
    ("fill", {"patterns": "1m-q1", "passes": "2", "idle_s": "5s"}),
    ("crystaldiskmark", {"profile": "real", "loops": "1", "mix": "off", "size": "64MiB"}),
]


@pytest.mark.full
def test_a_twin_with_time_enough_gives_the_same_as_without_a_budget(tmp_path: Path) -> None:
    whole = run_batteries(twin(), ON_TWIN, tmp_path / "whole")
    run = run_batteries(twin(), ON_TWIN, tmp_path / "run", budget_s=3000.0)
    for name in ("series", "hist", "xray", "meter", "per_gb"):
        mine, theirs = (one.path / f"{name}.parquet" for one in (run, whole))
        assert mine.read_bytes() == theirs.read_bytes(), name
    assert run.findings == whole.findings
    assert [step.jobs for step in run.steps] == [step.jobs for step in whole.steps]


def test_a_twin_that_is_cut_ends_the_same_wherever_it_was_stopped(tmp_path: Path) -> None:
    """The fill of 15 GB takes 136 s and not 38: cut after 60, with the budget."""

    @dataclass
    class Once(Observer):
        at: int
        begun: int = 0

        def began(self, status: Any) -> None:
            self.begun += 1
            if self.begun == self.at:
                os.kill(os.getpid(), signal.SIGINT)

    whole = run_batteries(twin(), ON_TWIN, tmp_path / "whole", budget_s=60.0)
    assert took(whole) == pytest.approx(60.0, abs=0.5)
    (cut,) = [step for step in whole.steps if step.cut]
    assert cut.label == "fill/1m-q1/pass-1"
    for at in range(1, sum(step.kind != "mark" for step in whole.steps) + 1):
        place = tmp_path / str(at)
        with pytest.raises(Interrupted):
            run_batteries(twin(), ON_TWIN, place, budget_s=60.0, observer=Once(at))
        run_batteries(twin(), None, place)
        for path in whole.path.iterdir():
            if path.name not in ("host.json", "smart"):
                assert path.read_bytes() == (place / path.name).read_bytes(), (at, path.name)


@dataclass
class Stops(FakeDrive):
    at: int = 10**9

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        if len(self.done) >= self.at:
            raise Interrupted(step.label)
        return super().do(step, watch)


@pytest.mark.parametrize("law", [QUICK, pytest.param(SLOW, marks=pytest.mark.full)])
def test_a_run_that_is_taken_up_chooses_the_same(tmp_path: Path, law: Law) -> None:
    ask = [CDM, FILL]
    whole = run_batteries(FakeDrive(law=law), ask, tmp_path / "whole", budget_s=75.0)
    assert whole.manifest["budget"]["left_out"]
    for at in range(1, len(whole.steps)):
        place = tmp_path / str(at)
        with pytest.raises(Interrupted):
            run_batteries(Stops(law=law, at=at), ask, place, budget_s=75.0)
        run = run_batteries(FakeDrive(law=law), None, place)
        for path in whole.path.iterdir():
            if path.name != "host.json":
                assert path.read_bytes() == (place / path.name).read_bytes(), (at, path.name)
        assert Run(place).findings == run.findings == whole.findings


def test_a_whole_drive_is_expected_to_be_slow_past_its_cache() -> None:
    """240 GB: 16 at 400 MB/s and 224 at 100 are 38 min."""
    info = FakeDrive().info
    whole = estimate([FILL], info)
    budget = Budget(2281, [FILL], info, whole)
    assert budget.text(budget.without_left_out(whole)).startswith(
        "about 38 min of a budget of 38 min; left"
    )
    with pytest.raises(FlashtwinError, match="nothing fits into a budget of 38 min"):
        Budget(2279, [FILL], info, whole)
