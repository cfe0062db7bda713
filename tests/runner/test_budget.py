"""What fits into a budget: chosen by worth, corrected on the way, the same again tomorrow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakes import GB, MB, FakeDrive, Law

from flashtwin.battery import registry
from flashtwin.battery.registry import Request
from flashtwin.battery.step import NotPossible, Result, Step
from flashtwin.drives.protocol import DriveInfo, Interrupted, Watch
from flashtwin.errors import FlashtwinError
from flashtwin.results.rundir import Run
from flashtwin.runner.budget import Budget
from flashtwin.runner.estimate import estimate
from flashtwin.runner.observer import Silent
from flashtwin.runner.run import resume_batteries, run_batteries

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
    kept = {(step.battery, step.label) for step in budget.kept(whole).steps}
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


class Notes(Silent):
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


@dataclass
class Stops(FakeDrive):
    at: int = 10**9

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        if len(self.done) >= self.at:
            raise Interrupted(step.label)
        return super().do(step, watch)


@pytest.mark.parametrize("law", [QUICK, SLOW])
def test_a_run_that_is_taken_up_chooses_the_same(tmp_path: Path, law: Law) -> None:
    ask = [CDM, FILL]
    whole = run_batteries(FakeDrive(law=law), ask, tmp_path / "whole", budget_s=75.0)
    assert whole.manifest["budget"]["left_out"]
    for at in range(1, len(whole.steps)):
        place = tmp_path / str(at)
        with pytest.raises(Interrupted):
            run_batteries(Stops(law=law, at=at), ask, place, budget_s=75.0)
        run = resume_batteries(partial(FakeDrive, law=law), place)
        for path in whole.path.iterdir():
            if path.name != "host.json":
                assert path.read_bytes() == (place / path.name).read_bytes(), (at, path.name)
        assert Run(place).findings == run.findings == whole.findings


def test_a_whole_drive_is_expected_to_be_slow_past_its_cache() -> None:
    """240 GB: 16 at 400 MB/s and 224 at 100 are 38 min."""
    info = FakeDrive().info
    whole = estimate([FILL], info)
    budget = Budget(2281, [FILL], info, whole)
    assert budget.text(budget.kept(whole)).startswith("about 38 min of a budget of 38 min; left")
    with pytest.raises(FlashtwinError, match="nothing fits into a budget of 38 min"):
        Budget(2279, [FILL], info, whole)
