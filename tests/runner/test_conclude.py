"""Findings of stored runs, made again: finished, cut, stopped and killed runs."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import FakeDrive, Law

from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError
from flashtwin.model.findings import Findings
from flashtwin.runner.conclude import conclude, reconclude
from flashtwin.runner.run import run_batteries
from flashtwin.runs import writer
from flashtwin.runs.rundir import Run
from flashtwin.runs.writer import Writer, store_findings

GOLDEN = Path(__file__).parents[1] / "golden" / "runs"
RUNS = sorted(GOLDEN.iterdir())
GB = 10**9
# What fill did not conclude yet when these runs were made.
NEWER = [f"fill.{name}[1m-q1]" for name in ("cache_probability", "slowed_by", "rate_held")]


def brief(path: Path, **more: object) -> Run:
    drive = FakeDrive(law=Law(capacity_bytes=4 * GB, cache_bytes=GB, fold_begin_bytes=3 * GB))
    asked = [("fill", {"passes": "1"}), ("crystaldiskmark", {"profile": "real", "mix": "off"})]
    return run_batteries(drive, asked, path, **more)  # type: ignore[arg-type]


def test_of_a_run_that_just_ended_nothing_changes(tmp_path: Path) -> None:
    run = brief(tmp_path / "run")
    done = reconclude(run)
    assert done.changes == [] and len(done.findings) == len(run.findings) > 20


@pytest.mark.parametrize("seconds", [45.0, 60.0])
def test_of_a_run_that_a_budget_cut_nothing_changes(tmp_path: Path, seconds: float) -> None:
    run = brief(tmp_path / "run", budget_s=seconds)
    assert any(one.name == "left_out" for one in run.findings)
    assert reconclude(run).changes == []


# Findings that rest on where the first plateau ends.
OF_AN_END = (
    *("cache_size", "speed_cache", "speed_past_cache", "mean_past_cache", "one_third"),
    *("fold_begin", "speed_folding", "mean", "duration"),
)


@pytest.mark.parametrize("at", RUNS, ids=lambda at: at.name)
def test_stored_runs_are_concluded_again(at: Path) -> None:
    run = Run(at)
    found = Findings(conclude(run))
    if at.name == "killed":
        assert [one.name for one in found] == ["read", "read.latency", "read.iops"]
        return
    older = [finding.id for finding in found if finding.id not in NEWER]
    assert older == run.findings.keys()
    for change in reconclude(run).changes:
        if change.id in NEWER:
            assert change.before is None and change.now is not None
            continue
        if change.before and change.now and change.before.value is None is change.now.value:
            # The words for a thing that is not found are others today.
            continue
        before, now = change.before, change.now
        assert before and now
        if at.name == "finished":
            # An odd first sample hid then that the speed falls from 110 to 80 MB/s for good.
            assert change.id in {f"fill.{name}[1m-q1]" for name in OF_AN_END}
            assert change.id != "fill.cache_size[1m-q1]" or now.value == pytest.approx(11.95, 0.001)
            continue
        # These runs were concluded before bounds were held against drives with known caches.
        assert change.id == "fill.cache_size[1m-q1]"
        assert before.value == now.value == 0.0 and before.interval and now.interval
        assert now.interval.means == "bound" and now.interval.high > before.interval.high > 0.0


@pytest.mark.parametrize("at", RUNS, ids=lambda at: at.name)
def test_what_is_written_is_read_and_says_who_wrote_it(at: Path, tmp_path: Path) -> None:
    shutil.copytree(at, tmp_path / "run")
    run = Run(tmp_path / "run")
    store_findings(run, [])
    assert len(Run(run.path).findings) == 0
    done = reconclude(Run(run.path), write=True)
    assert done.written and done.changes and all(one.before is None for one in done.changes)
    back = Run(run.path)
    assert back.findings == done.findings and not reconclude(back).changes
    assert json.loads((run.path / "findings.json").read_text())["flashtwin"]
    assert back.manifest["steps"] == Run(at).manifest["steps"]


def test_findings_that_cannot_be_read_are_made_anew(tmp_path: Path) -> None:
    run = brief(tmp_path / "run")
    there = run.findings
    (run.path / "findings.json").write_text("{}")
    done = reconclude(Run(run.path), write=True)
    assert done.unreadable and len(done.changes) == len(there)
    assert Run(run.path).findings == there


def test_findings_of_another_run_are_told(tmp_path: Path) -> None:
    mine, other = brief(tmp_path / "mine"), brief(tmp_path / "other", seed=2)
    shutil.copy(other.path / "findings.json", mine.path / "findings.json")
    done = reconclude(Run(mine.path))
    assert done.unreadable
    assert all(change.before is None for change in done.changes)
    shown = CliRunner().invoke(app, ["conclude", str(mine.path), "--json"])
    assert shown.exit_code == 0 and "not those of this run" in shown.stderr


def test_a_run_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "interrupted", tmp_path / "run")
    with pytest.raises(FlashtwinError, match="another process is writing"):
        going = Writer.resume(tmp_path / "run")
        try:
            reconclude(Run(tmp_path / "run"), write=True)
        finally:
            going.leave()


def test_findings_and_manifest_are_written_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = brief(tmp_path / "run")
    before = run.findings
    written = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "manifest" in path.name:
            raise OSError(errno.ENOSPC, "no room")
        return written(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(FlashtwinError, match="No space left"):
        store_findings(run, [])
    monkeypatch.undo()
    assert Run(run.path).findings == before
    assert not [left for left in run.path.iterdir() if left.suffix == ".new"]


def test_a_process_that_is_killed_while_findings_are_written_leaves_a_run_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = brief(tmp_path / "run")
    before = run.findings
    moments: list[Path] = []
    whole = writer.write_whole

    def kept(path: Path, data: bytes, *, durable: bool = False) -> None:
        whole(path, data, durable=durable)
        moments.append(tmp_path / f"after-{len(moments)}")
        shutil.copytree(run.path, moments[-1])

    with monkeypatch.context() as patch:
        patch.setattr(writer, "write_whole", kept)
        store_findings(run, [])
    assert len(moments) > 1
    for there in map(Run, moments):
        assert there.findings in (before, Findings())
        # The next that are written are known to the manifest again.
        store_findings(there, [])
        assert Run(there.path).manifest["files"] == Run(run.path).manifest["files"]
