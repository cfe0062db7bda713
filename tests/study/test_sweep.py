"""Whole sweeps in processes of this machine: results, going on, failures, stops."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from changed_runs import reseal
from processes import group_lives, wait_for
from thinning import thinned

from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.cli import sweep_run as command
from flashtwin.drives import memory
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.report import sweep as page
from flashtwin.runner.run import run_batteries
from flashtwin.runs.folders import write_sweep
from flashtwin.runs.rundir import Run, find_runs
from flashtwin.runs.writer import Writer
from flashtwin.study.sweep.executors import Local, run_point
from flashtwin.study.sweep.plan import Failure, Order, Plan, resolve
from flashtwin.study.sweep.run import Silent, Sweep, sweep

Making = Callable[..., Plan]


class Heard(Silent):
    """What was told."""

    def __init__(self) -> None:
        self.there = -1
        self.names: list[str] = []

    def planned(self, points: int, there: int, refused: object) -> None:
        self.there = there

    def ended(self, done: int, total: int, name: str, failure: Failure | None) -> None:
        self.names.append(name)


def told(run: Path) -> dict[str, bytes]:
    """Every file of a run but host.json and the command."""
    files = {str(one.relative_to(run)): one.read_bytes() for one in run.rglob("*") if one.is_file()}
    del files["host.json"]
    return files


def shown_on_the_terminal(done: Sweep, capsys: pytest.CaptureFixture[str]) -> None:
    """--show takes names as findings answer to them; a wrong one costs nobody the table."""
    command.print_sweep(done, done.out / "report.html", ("cache_size", "fill.mean[1m-q1]"))
    told = capsys.readouterr().out
    assert "Size of the SLC cache" in told and "Mean speed of the fill" in told
    assert "Duration" not in told
    with pytest.raises(FlashtwinError, match="no point has a finding cash"):
        command.print_sweep(done, done.out / "report.html", ("cash",))
    assert "report: " in capsys.readouterr().out


def test_a_point_is_what_the_battery_finds_on_that_drive_alone(
    make_plan: Making, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = sweep(make_plan(), tmp_path / "sweep", executor=Local(2))
    assert [row.state for row in done.rows] == ["finished"] * 4
    sizes = [row.findings["fill.cache_size[1m-q1]"].value for row in done.rows]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.01)
    assert sizes[2] == pytest.approx(sizes[3], rel=0.01)
    assert sizes[2] == pytest.approx(2 * sizes[0], rel=0.05)

    spec = load("bx500-240", sets=["slc_cache.size=12 GB", "op=0.28"], scale="1/64")
    alone = run_batteries(
        Twin(spec, seed=1),
        [("fill", {"patterns": "1m-q1", "passes": "1"})],
        tmp_path / "alone",
        command=json.loads((done.rows[1].run.path / "manifest.json").read_text())["command"],
    )
    assert told(alone.path) == told(done.rows[1].run.path)

    rows = list(csv.reader((done.out / "table.csv").open()))
    assert rows[0][:5] == ["point", "state", "slc_cache.size", "op", "fill.cache_size[1m-q1] (GB)"]
    assert [row[:4] for row in rows[1:]] == [
        ["0", "finished", "12 GB", "0.14"],
        ["1", "finished", "12 GB", "0.28"],
        ["2", "finished", "24 GB", "0.14"],
        ["3", "finished", "24 GB", "0.28"],
    ]
    assert float(rows[3][4]) == sizes[2]
    with pytest.raises(FlashtwinError, match="holds a sweep") as refused:
        find_runs(done.out)
    assert str(done.out / "points") in (refused.value.hint or "")
    assert len(find_runs(done.out / "points")) == 4
    shown_on_the_terminal(done, capsys)
    text = page.render(done)
    assert text == page.render(done)
    assert "4 points" in text and 'data-panel="fill.cache_size[1m-q1]"' in text


def test_finished_points_are_not_repeated_and_lost_ones_are(
    make_plan: Making, tmp_path: Path
) -> None:
    first = sweep(make_plan(), tmp_path, executor=Local(2))
    runs = [row.run.path for row in first.rows]
    before = [(run / "host.json").stat().st_mtime_ns for run in runs]
    table = (tmp_path / "table.csv").read_bytes()
    manifest = runs[2] / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"finished"', '"interrupted"'))
    reseal(runs[2])
    # A worker that was killed before it could write a manifest.
    shutil.rmtree(runs[3])
    runs[3].mkdir()
    (runs[3] / "steps.tables").touch()
    heard = Heard()
    again = sweep(make_plan(), tmp_path, executor=Local(1), watcher=heard)
    after = [(run / "host.json").stat().st_mtime_ns for run in runs]
    assert heard.there == 2 and again.repeated == 2
    assert sorted(heard.names) == [
        first.rows[2].run and "slc_cache.size=24 GB, op=0.14",
        "slc_cache.size=24 GB, op=0.28",
    ]
    assert after[:2] == before[:2] and after[2] != before[2] and after[3] > before[3]
    assert (tmp_path / "table.csv").read_bytes() == table


def test_a_corner_that_is_no_drive_fails_alone(make_plan: Making, tmp_path: Path) -> None:
    done = sweep(make_plan("op=0,0.28"), tmp_path, executor=Local(1))
    assert [row.state for row in done.rows] == ["failed", "finished"]
    assert "drive.capacity" in done.failures[0].message and done.failures[0].hint
    kept = json.loads((tmp_path / "failures.json").read_text())["failures"]
    assert [one["number"] for one in kept] == [0]
    assert "failed" in page.render(done)
    with pytest.raises(
        FlashtwinError, match=r"none of the 2 points is a valid drive: drive\.capacity"
    ):
        sweep(make_plan("op=0,0.001"), tmp_path / "none")
    with pytest.raises(
        FlashtwinError, match=r"points is a valid drive: slc_cach\.size: unkn"
    ) as raised:
        sweep(make_plan("slc_cach.size=1GB,2GB"), tmp_path / "none")
    assert raised.value.exit_code == 2 and "slc_cache.size" in str(raised.value.hint)
    assert not (tmp_path / "none").exists()
    one = sweep(make_plan("firmware=none,slc-of"), tmp_path / "typo", executor=Local(1))
    assert [failure.message for failure in one.failures] == [
        "there is no firmware profile `slc-of`"
    ]


def test_what_it_takes_is_told_before_the_points_are_looked_at(
    make_plan: Making, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grid of thousands takes a while to resolve, and nobody waits for that to hear it."""
    from flashtwin.study.sweep import plan as plans

    order: list[object] = []

    class Expects(Heard):
        def expected(self, points: int, each: Any, at_once: int | None) -> None:
            order.append((points, each.write_bytes, each.drive_s, at_once))
            raise KeyboardInterrupt

    real = plans.load
    monkeypatch.setattr(plans, "load", lambda *a, **k: order.append("load") or real(*a, **k))
    grid = make_plan("slc_cache.size=12GB..60GB/100", "seed=1..100/100")
    with pytest.raises(KeyboardInterrupt):
        sweep(grid, tmp_path / "s", executor=Local(2), watcher=Expects())
    size = 3_750_000_000 // 2**20 * 2**20
    assert order == ["load", (10_000, size, size / 400e6, 2)]
    assert not (tmp_path / "s").exists()


def test_the_drive_without_a_shorthand_is_looked_at_once(
    make_plan: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flashtwin.study.sweep import plan as plans

    seen: list[object] = []
    real = plans.load
    monkeypatch.setattr(plans, "load", lambda *a, **k: seen.append(k["sets"]) or real(*a, **k))
    orders, refused = plans.resolve(make_plan("slc_cache.size=12GB,24GB", "op=7%..28%/4"))
    assert len(orders) == 8 and not refused and len(seen) == 10
    for order in orders:
        spec = load("bx500-240", sets=list(order.point.sets), scale="1/64")
        assert spec.hash == order.hash, order.point.name


# Less than a spec, which goes into the temporary directory; and less than the tables of a run.
@pytest.mark.parametrize("limit", thinned([25_000, 4000], every=2))
def test_a_full_disk_ends_the_sweep_and_the_command_goes_on(tmp_path: Path, limit: int) -> None:
    """A limit on the size of files stands for it: every point would fail, and the first is told."""
    words = [
        sys.executable, "-m", "flashtwin.cli", "sweep", "bx500-240", "--out", "s", "--scale",
        "1/16", "--vary", "seed=1..30/30", "--battery", "fill:patterns=1m-q1,passes=1", "--jobs",
        "1",
    ]  # fmt: skip
    paths = os.pathsep.join(os.path.abspath(one) for one in sys.path if one)
    full = subprocess.run(
        ["prlimit", f"--fsize={limit}", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode == 3, full.stderr
    assert "error: seed=1: cannot write" in full.stderr and "Traceback" not in full.stderr
    assert "hint: make room; the same command goes on with the points that are left" in full.stderr
    points = tmp_path / "s" / "points"
    assert not points.exists() or len(list(points.iterdir())) <= 2
    kept = json.loads((tmp_path / "s" / "failures.json").read_text())["failures"]
    assert [one["number"] for one in kept] == [0] and "ends" not in kept[0]


def test_a_point_that_fails_while_it_runs_is_told_and_tried_again(
    make_plan: Making, tmp_path: Path
) -> None:
    class Broken(Local):
        def run(self, orders, place, stop):  # type: ignore[no-untyped-def]
            for order in orders:
                yield order, Failure(number=order.point.number, name="x", message="no memory")

    failed = sweep(make_plan("op=0.14,0.28"), tmp_path, executor=Broken())
    assert [failure.message for failure in failed.failures] == ["no memory"] * 2
    done = sweep(make_plan("op=0.14,0.28"), tmp_path, executor=Local(1))
    assert done.failures == () and len(done.runs) == 2


def test_another_plan_does_not_go_into_the_same_directory(
    make_plan: Making, tmp_path: Path
) -> None:
    class Nothing(Local):
        def run(self, orders, place, stop):  # type: ignore[no-untyped-def]
            stop.asked = True
            return iter(())

    with pytest.raises(Interrupted):
        sweep(make_plan(), tmp_path, executor=Nothing())
    with pytest.raises(FlashtwinError, match="holds another sweep: seed differ"):
        sweep(make_plan(seed=2), tmp_path)
    told = json.loads((tmp_path / "sweep.json").read_text())
    told["hashes"][0] = "0" * 64
    write_sweep(tmp_path, told)
    with pytest.raises(FlashtwinError, match="have changed since it began"):
        sweep(make_plan(), tmp_path)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "mine.txt").write_text("x")
    with pytest.raises(FlashtwinError, match="not empty and holds no sweep"):
        sweep(make_plan(), foreign)


def test_an_order_holds_the_whole_drive(make_plan: Making, tmp_path: Path) -> None:
    """A user's spec file may be gone, or on another machine, when its point runs."""
    from flashtwin.study.sweep.executors import run_apart, unpack

    file = tmp_path / "mine.toml"
    file.write_text('extends = "bx500-240"\nid = "mine"\nschema = 1\nname = "Mine"\n')
    orders, refused = resolve(make_plan("op=0.28", drive=str(file)))
    assert refused == [] and str(tmp_path) not in repr(orders[0].command)
    file.unlink()
    failure, archive = run_apart(orders[0], lambda _report: None)
    unpack(archive, tmp_path / "run")
    assert failure is None
    run = Run(tmp_path / "run")
    assert run.manifest["state"] == "finished" and run.target["name"] == "mine"
    assert isinstance(orders[0], Order)


def test_a_stop_ends_the_workers_and_the_command_goes_on(tmp_path: Path) -> None:
    words = [
        sys.executable, "-m", "flashtwin.cli", "sweep", "bx500-240", "--out", str(tmp_path / "s"),
        "--vary", "seed=1..40/40", "--battery", "fill:patterns=1m-q1,passes=1", "--jobs", "2",
        "--scale", "1/64",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True,
        start_new_session=True,
    )  # fmt: skip
    points = tmp_path / "s" / "points"
    until = time.monotonic() + 120
    while not any(_finished(points)):
        assert process.poll() is None and time.monotonic() < until, process.stderr
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "the same command goes on" in said and "Traceback" not in said
    assert out == ""
    assert any(_finished(points))
    assert wait_for(lambda: not group_lives(process.pid))


def _finished(points: Path) -> list[bool]:
    return [
        '"state": "finished"' in manifest.read_text() for manifest in points.glob("*/manifest.json")
    ]


def test_two_processes_on_one_sweep(make_plan: Making, tmp_path: Path) -> None:
    """The second would take the points of the first for leftovers and remove them."""

    class Second(Local):
        def run(self, orders, place, stop):  # type: ignore[no-untyped-def]
            with pytest.raises(FlashtwinError, match="another process is writing") as refused:
                sweep(make_plan("op=0.28"), tmp_path / "s", executor=Local(1))
            assert refused.value.exit_code == 2 and "--out" in (refused.value.hint or "")
            return super().run(orders, place, stop)

    done = sweep(make_plan("op=0.28"), tmp_path / "s", executor=Second(1))
    assert done.failures == () and len(done.runs) == 1
    assert sweep(make_plan("op=0.28"), tmp_path / "s").repeated == 1


def test_what_lies_at_a_point_s_place_is_believed_only_if_it_is_its_run(
    make_plan: Making, tmp_path: Path
) -> None:
    """Two points that were exchanged, a run of another sweep, somebody's folder, a damaged one."""
    plan = make_plan("op=0.14,0.28")
    first, second = (row.run.path for row in sweep(plan, tmp_path / "s").rows if row.run)
    table = (tmp_path / "s" / "table.csv").read_bytes()
    (other,) = sweep(make_plan("op=0.2"), tmp_path / "other").runs

    def exchanged() -> None:
        second.rename(tmp_path / "aside")
        first.rename(second)
        (tmp_path / "aside").rename(first)

    def foreign() -> None:
        shutil.copytree(other.path, first)

    def somebody_s() -> None:
        first.mkdir()
        (first / "thesis.txt").write_text("mine")

    def damaged() -> None:
        shutil.copytree(second, first)
        (first / "manifest.json").write_text("{")

    kept = tmp_path / "kept"
    for put in (exchanged, foreign, somebody_s, damaged):
        shutil.copytree(first, kept)
        if put is not exchanged:
            shutil.rmtree(first)
        put()
        before = told_all(tmp_path / "s")
        with pytest.raises(FlashtwinError, match="is not the run of that point") as refused:
            sweep(plan, tmp_path / "s")
        assert refused.value.exit_code == 2 and told_all(tmp_path / "s") == before
        if put is exchanged:
            exchanged()
        else:
            shutil.rmtree(first)
            kept.rename(first)
        shutil.rmtree(kept, ignore_errors=True)
    assert sweep(plan, tmp_path / "s").repeated == 2
    assert (tmp_path / "s" / "table.csv").read_bytes() == table
    (order, _), _ = resolve(plan)
    shutil.rmtree(first)
    somebody_s()
    failure = run_point(order, first)
    assert failure is not None and "is not the run of this point" in failure.message
    assert (first / "thesis.txt").read_text() == "mine"


def test_what_a_killed_sweep_left_goes_and_nothing_else(make_plan: Making, tmp_path: Path) -> None:
    """Half-written files of the sweep and of a point, a half-unpacked answer, and thesis.txt."""
    plan, out = make_plan("op=0.28"), tmp_path / "s"
    half = ".{}.0123456789ab.new"
    out.mkdir()
    (out / half.format("sweep.json")).write_text("{")
    (point,) = (run.path for run in sweep(plan, out).runs)
    names = sorted(path.name for path in out.iterdir())
    assert not any(name.endswith(".new") for name in names)
    table = (out / "table.csv").read_bytes()
    points = out / "points"
    shutil.rmtree(point)
    point.mkdir()
    (point / "steps.tables").touch()
    (point / half.format("manifest.json")).write_text("{")
    (points / ".point-a1b2c3d4" / "run").mkdir(parents=True)
    (points / ".point-a1b2c3d4" / "run" / "steps.jsonl").write_text("")
    mine = points / ".point-mine0000" / "thesis.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert sweep(plan, out).repeated == 0 and (out / "table.csv").read_bytes() == table
    assert sorted(path.name for path in points.iterdir()) == [mine.parent.name, point.name]
    # A point that is to be measured again is not removed with somebody's notes in it.
    manifest, notes = point / "manifest.json", point / "thesis.txt"
    manifest.write_text(manifest.read_text().replace('"finished"', '"interrupted"'))
    reseal(point)
    notes.write_text("mine")
    with pytest.raises(FlashtwinError, match="something else beside it"):
        sweep(plan, out)
    assert notes.read_text() == mine.read_text() == "mine"
    notes.unlink()
    aside = tmp_path / "aside"
    point.rename(aside)
    point.symlink_to(aside)
    with pytest.raises(FlashtwinError, match="is not the run of that point"):
        sweep(plan, out)
    assert (aside / "manifest.json").exists()


def test_a_point_whose_findings_are_another_s_is_measured_again(
    make_plan: Making, tmp_path: Path
) -> None:
    plan = make_plan("op=0.14,0.28")
    first, second = (run.path for run in sweep(plan, tmp_path).runs)
    table = (tmp_path / "table.csv").read_bytes()
    shutil.copy(first / "findings.json", second / "findings.json")
    assert sweep(plan, tmp_path).repeated == 1
    assert (tmp_path / "table.csv").read_bytes() == table


def told_all(place: Path) -> dict[str, bytes]:
    """Every file under a folder."""
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_a_point_that_is_being_written_is_left_alone(make_plan: Making, tmp_path: Path) -> None:
    (order,), _ = resolve(make_plan("op=0.28"))
    place = tmp_path / "points" / "0000"
    identity = {"hash": order.hash}
    manifest = {
        "target": {"name": "x", "kind": "twin", "identity": identity},
        "seed": order.seed,
        "batteries": [
            {"name": row.name, "parameters": row.plain()} for row in registry.parse(order.batteries)
        ],
    }
    with Writer(place, manifest, {}) as writer:
        before = sorted(path.name for path in place.iterdir())
        failure = run_point(order, place)
        assert failure is not None and "another process is writing" in failure.message
        assert sorted(path.name for path in place.iterdir()) == before
        writer.close([])
    assert run_point(order, place) is None and Run(place).finished


def test_workers_do_not_outlive_a_sweep_that_is_killed(tmp_path: Path) -> None:
    words = [
        sys.executable, "-m", "flashtwin.cli", "sweep", "bx500-240", "--out", str(tmp_path / "s"),
        "--vary", "seed=1..40/40", "--battery", "fill:patterns=1m-q1,passes=1", "--jobs", "2",
        "--scale", "1/64", "--quiet",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        words, stderr=subprocess.PIPE, env=environment, text=True, start_new_session=True
    )
    points = tmp_path / "s" / "points"
    until = time.monotonic() + 120
    while not any(points.glob("*/manifest.json")):
        assert process.poll() is None and time.monotonic() < until, process.stderr
        time.sleep(0.02)
    process.kill()
    _, said = process.communicate(timeout=60)
    assert wait_for(lambda: not group_lives(process.pid))
    assert "Traceback" not in said, said
    assert not any(Run(place.parent).under_way for place in points.glob("*/manifest.json"))


def test_a_point_that_does_not_fit_into_memory_is_told_before_the_first_runs(
    make_plan: Making, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(FlashtwinError, match="of memory to simulate") as refused:
        sweep(make_plan(), tmp_path / "out", executor=Local(2))
    assert refused.value.exit_code == 3
    assert not (tmp_path / "out" / "points").exists()
