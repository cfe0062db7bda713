"""Preparation without time: the drive is the one that the same writes leave, and runs say so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import flashtwin as ft
from flashtwin.catalogue.loader import load
from flashtwin.drives import untimed
from flashtwin.drives.snapshots import Store
from flashtwin.drives.twin import Twin
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.step import Fill, Job, NotPossible, Purge, Rest, Result, Run, Step
from flashtwin.model.target import Interrupted, Watch
from flashtwin.runner.run import run_batteries
from flashtwin.runner.target import Variant, from_form, of_run, twin_target
from flashtwin.runs.rundir import Run as Stored

SETS = ("map.residency=dram",)
SMALL = Variant(drive="bx500-240", sets=SETS, scale="1/64", preparation="untimed", kept=False)
BATTERIES = [("waf", {"fills": "40+80", "size": "16MiB", "settle_s": "1"})]


def go(_: object) -> bool:
    return True


def writes(capacity: int, share: int, seed: int) -> Job:
    """So many parts of a hundred of the drive, overwritten at random."""
    whole = capacity // 4096 * 4096
    return Job(
        name="prepare",
        rw="randwrite",
        block_bytes=4096,
        depth=32,
        size=whole,
        io_bytes=whole // 4096 * share // 100 * 4096,
        seed=seed,
    )


def seen_by_a_host(twin: ft.Twin) -> tuple[float, float, float]:
    """Write amplification and rate of random writes, and the free space in GB before them."""
    rest = twin.do(Rest(seconds=1.0))
    before = twin.smart()["flashtwin"]["waf"]
    answer = twin.do(Run(label="w", jobs=(writes(twin.capacity_bytes, 20, 9),), sample_s=60.0))
    assert isinstance(rest, Result) and isinstance(answer, Result)
    after = twin.smart()["flashtwin"]["waf"]
    programmed = after["programmed_bytes"] - before["programmed_bytes"]
    (job,) = answer.jobs
    free: Any = rest.xray["native_free_bytes"]
    return (
        programmed / (after["host_bytes"] - before["host_bytes"]),
        job.bytes / job.duration_ns,
        float(free[-1]) / 1e9,
    )


@pytest.mark.parametrize(
    ("drive", "scale", "sets"),
    [
        ("bx500-240", "1/32", SETS),
        pytest.param("samsung-980-pro-1tb", "1/16", (), marks=pytest.mark.full),
    ],
)
def test_a_drive_is_as_after_the_same_writes_in_their_time(
    drive: str, scale: str, sets: Sequence[str]
) -> None:
    timed, quick = (ft.Twin(drive, scale=scale, sets=sets) for _ in range(2))
    timed.do(Fill())
    timed.do(Run(label="p", jobs=(writes(timed.capacity_bytes, 60, 1),), sample_s=60.0))
    written = quick.precondition(block_size=1 << 20, overwrites=0.6, seed=1)
    assert quick.now_ns == 0
    assert written == pytest.approx(1.6 * quick.capacity_bytes, rel=1e-4)
    (waf, rate, free), expected = seen_by_a_host(quick), seen_by_a_host(timed)
    assert waf == pytest.approx(expected[0], rel=0.01)
    assert rate == pytest.approx(expected[1], rel=0.01)
    assert free == pytest.approx(expected[2], abs=0.01 * quick.capacity_bytes / 1e9)


@pytest.mark.full
def test_a_replay_without_time_is_a_replay() -> None:
    """The same places in the same order once more, behind a core that is always busy."""
    timed, quick = (ft.Twin("bx500-240", scale="1/64", sets=SETS) for _ in range(2))
    timed.do(Fill())
    quick.precondition(block_size=1 << 20)
    for _ in range(2):
        timed.do(Run(label="p", jobs=(writes(timed.capacity_bytes, 60, 1),), sample_s=60.0))
        quick.precondition(passes=0, overwrites=0.6, seed=1)
    written = [twin.smart()["flashtwin"]["waf"] for twin in (quick, timed)]
    waf, expected = (each["programmed_bytes"] / each["host_bytes"] for each in written)
    assert waf == pytest.approx(expected, rel=0.01), "write amplification"


def test_ranges_passes_and_seeds() -> None:
    twin = ft.Twin("bx500-240", scale="1/64", sets=SETS)
    mib = 1 << 20
    assert twin.precondition(passes=2, offset=mib, size=8 * mib) == 16 * mib
    assert twin.smart()["flashtwin"]["waf"]["host_bytes"] == 16 * mib
    assert twin.precondition(passes=0, overwrites=0.5, size=8 * mib, seed=3) == 4 * mib
    for wrong in (
        {"passes": -1},
        {"overwrites": float("nan")},
        {"block_size": 6000},
        {"block_size": 0},
        {"offset": 100},
        {"size": twin.capacity_bytes + 4096},
        {"handle": -1},
    ):
        with pytest.raises(FlashtwinError) as raised:
            twin.precondition(**wrong)
        assert raised.value.exit_code == USAGE, wrong
    twin.submit("write", 0, 4096)
    with pytest.raises(FlashtwinError, match="outstanding"):
        twin.precondition(size=mib)


def test_a_drive_whose_state_hangs_on_time_is_refused_or_left_its_time() -> None:
    twin = ft.Twin("bx500-240-nocache", scale="1/64")
    with pytest.raises(FlashtwinError, match=r"without time: .*acknowledge"):
        twin.precondition()

    paged = ft.Twin("bx500-240", scale="1/16", sets=["map.cache=16 MiB"])
    assert paged.precondition(size=1 << 20) == 1 << 20
    with pytest.raises(FlashtwinError, match="queue depth"):
        paged.precondition(size=1 << 20, overwrites=1)

    asked = Variant(drive="bx500-240-nocache", scale="1/64", preparation="untimed")
    with pytest.raises(FlashtwinError, match="acknowledge") as raised:
        twin_target(asked)
    assert raised.value.hint and "auto" in raised.value.hint
    left = Variant(drive="bx500-240-nocache", scale="1/64", preparation="auto", kept=False)
    target = twin_target(left)
    assert any("prepared in its time" in note for note in target.notes)
    assert untimed.KEY not in left.twin().info.identity and untimed.KEY not in target.form
    with pytest.raises(FlashtwinError, match="no way"):
        Variant(drive="bx500-240", preparation="quick").twin()


class Stops(Twin):
    """Is interrupted at the step of this number."""

    at = 6
    count = 0

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.count += 1
        if self.count > self.at:
            raise Interrupted(step.label)
        return super().do(step, watch)


def contents(run: Path) -> dict[str, bytes]:
    files = (path for path in sorted(run.rglob("*")) if path.is_file())
    return {path.name: path.read_bytes() for path in files if path.name != "host.json"}


def test_a_run_says_how_it_was_prepared_and_goes_on_so(tmp_path: Path) -> None:
    whole = run_batteries(SMALL.twin(), BATTERIES, tmp_path / "whole")
    assert whole.target["identity"]["preparation"] == "untimed"
    fills = [step for step in whole.steps if step.kind == "fill"]
    assert [step.note for step in fills] == [untimed.NOTE] * 2
    assert all(step.duration_ns == 0 for step in fills)
    assert twin_target(SMALL).form[untimed.KEY] == "untimed"
    again = from_form(twin_target(SMALL).form).make()
    assert again.info.is_prepared_untimed

    stops = Stops(SMALL.spec(), preparation="untimed")
    with pytest.raises(Interrupted):
        run_batteries(stops, BATTERIES, tmp_path / "part")
    part = Stored(tmp_path / "part")
    assert part.state == "interrupted"
    run_batteries(of_run(part).make(), None, tmp_path / "part")
    assert contents(tmp_path / "part") == contents(tmp_path / "whole")

    timed = Variant(drive="bx500-240", sets=SETS, scale="1/64", kept=False)
    run = run_batteries(timed.twin(), BATTERIES, tmp_path / "timed")
    assert untimed.KEY not in run.target["identity"]
    assert all(step.note is None and step.duration_ns for step in run.steps if step.kind == "fill")


def test_a_kept_drive_stands_for_those_that_were_prepared_alike(tmp_path: Path) -> None:
    spec = load("bx500-240", sets=list(SETS), scale="1/64")
    steps: tuple[Step, ...] = (Purge(label="purge"), Fill(label="fill", size=1 << 30))

    def prepared(way: str) -> tuple[list[Any], dict[str, Any]]:
        twin = Twin(spec, store=Store(tmp_path, worth_s=0.0), preparation=way).open()
        results = [twin.do(step, go) for step in steps]
        return [(r.duration_ns, r.note) for r in results if isinstance(r, Result)], twin.smart()

    for way in ("timed", "untimed"):
        first = prepared(way)
        assert prepared(way) == first
        assert bool(first[0][1][0]) == (way == "timed")
    kept = {entry.steps for entry in Store(tmp_path).entries()}
    assert kept >= {("purge", "fill"), ("purge", "untimed fill")}
