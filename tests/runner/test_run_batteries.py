"""The runner: what it leaves behind, twice the same, and on every way out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import FakeDrive, Law

from flashtwin.batteries.base import registry
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.step import Job, Mark, NotPossible, Rest, Result, Step
from flashtwin.model.step import Run as RunStep
from flashtwin.model.target import DriveInfo, Interrupted, Progress, Watch
from flashtwin.runner import estimate as estimate_module
from flashtwin.runner.estimate import Estimate
from flashtwin.runner.events import Meter, Observer, Status
from flashtwin.runner.run import run_batteries
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.rundir import Run

QUICK = ("crystaldiskmark", {"profile": "real", "loops": "1", "mix": "off"})


class Diary(Observer):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.statuses: list[Status] = []
        self.findings: list[Finding] = []
        self.estimate: Estimate | None = None
        self.run: Run | None = None

    def estimated(self, info: DriveInfo, estimate: Estimate, departs: dict[str, list[str]]) -> None:
        self.words.append("estimated")
        self.estimate = estimate

    def began(self, status: Status) -> None:
        self.words.append(f"began {status.label}")
        self.statuses.append(status)

    def progress(self, status: Status) -> None:
        self.statuses.append(status)

    def ended(self, record: StepRecord) -> None:
        self.words.append(f"ended {record.label}")

    def found(self, battery: str, findings: Sequence[Finding]) -> None:
        self.findings += findings

    def closed(self, run: Run) -> None:
        self.words.append("closed")
        self.run = run


class StoppedDrive(FakeDrive):
    """Sends itself a signal when a step begins."""

    at = "nowhere"
    number = signal.SIGINT

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        if step.label == self.at:
            os.kill(os.getpid(), self.number)
        return super().do(step, watch)


def test_steps_are_journalled_in_order_and_findings_written(tmp_path: Path) -> None:
    drive, diary = FakeDrive(), Diary()
    run = run_batteries(
        drive, [QUICK], tmp_path / "run", seed=7, command=["test", "paper"], observer=diary
    )
    assert run.finished and drive.closed
    assert [record.label for record in run.steps] == [step.label for step in drive.done]
    assert run.manifest["seed"] == 7 and run.manifest["command"] == ["test", "paper"]
    (battery,) = run.manifest["batteries"]
    assert battery["name"] == "crystaldiskmark"
    assert battery["parameters"]["profile"] == "real" and battery["parameters"]["loops"] == 1
    assert any("no file system" in line for line in battery["departs"])
    assert len(run.findings) == 4 * 3 and run.findings == diary.findings
    assert run.host["wall_s"] >= 0 and run.host["directory"] == str(tmp_path / "run")
    work = [record.label for record in run.steps if record.kind != "mark"]
    pairs = [word for label in work for word in (f"began {label}", f"ended {label}")]
    assert diary.words == ["estimated", *pairs, "closed"]


def test_a_steps_series_histogram_and_xray_are_kept(tmp_path: Path) -> None:
    run = run_batteries(FakeDrive(), [QUICK], tmp_path / "run")
    record = run.step("cdm/SEQ1M-Q1T1/read/1")
    assert record is not None
    assert int(run.series(record.step).bytes.sum()) == record.jobs[0].bytes > 0
    assert int(run.hist(record.step)["read"].sum()) == record.jobs[0].ios
    assert run.xray(record.step)["host_bytes"][-1] == record.jobs[0].bytes


def test_two_runs_are_the_same_bytes_but_for_the_host(tmp_path: Path) -> None:
    runs = [
        run_batteries(FakeDrive(), [QUICK, ("fill", {})], tmp_path / name, command=["test"])
        for name in ("one", "two")
    ]
    names = {at.name for at in runs[0].path.iterdir()}
    assert names == {at.name for at in runs[1].path.iterdir()} and "host.json" in names
    for name in names - {"host.json"}:
        assert (runs[0].path / name).read_bytes() == (runs[1].path / name).read_bytes(), name


def test_nothing_but_host_json_names_the_machine(tmp_path: Path) -> None:
    run = run_batteries(FakeDrive(), [QUICK], tmp_path / "run", host={"target_path": "/mnt/x"})
    assert run.host["target_path"] == "/mnt/x"
    for at in run.path.iterdir():
        if at.name != "host.json":
            assert str(tmp_path).encode() not in at.read_bytes()


def test_the_estimate_is_told_first_and_is_about_right(tmp_path: Path) -> None:
    diary = Diary()
    run = run_batteries(FakeDrive(), [QUICK, ("fill", {})], tmp_path / "run", observer=diary)
    assert diary.estimate is not None
    steps = [s.label for s in diary.estimate.steps]
    assert steps == [r.label for r in run.steps if r.kind != "mark"]
    written = 4 * (240 * 10**9) + (1 << 30)
    assert written < diary.estimate.write_bytes < 1.1 * written
    assert diary.estimate.drive_s > 4 * 240e9 / 400e6


def test_progress_goes_up_to_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flashtwin.runner.events.SHOWN_EVERY_S", 0.0)
    diary = Diary()
    run_batteries(FakeDrive(), [QUICK, ("fill", {})], tmp_path / "run", observer=diary)
    fractions = [status.fraction for status in diary.statuses]
    assert fractions == sorted(fractions) and fractions[0] == 0.0
    assert 0.9 < fractions[-1] <= 1.0
    fills = [s for s in diary.statuses if s.label == "fill/128k-q32/pass-1" and s.bytes]
    assert {s.battery for s in fills} == {"fill"} and all(s.rate_bytes_s > 50e6 for s in fills)
    assert all(s.eta_s is not None and s.eta_s >= 0 for s in fills)
    assert all(status.step < status.steps for status in diary.statuses)


def test_steps_that_a_battery_decides_on_the_way_count_as_much_as_they_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten expected seconds, of which the battery asks none: the end came no nearer, and the time
    that was left grew with every step."""
    now, diary, drive = [0.0], Diary(), FakeDrive()
    monkeypatch.setattr("flashtwin.runner.events.time.monotonic", lambda: now[0])
    monkeypatch.setattr("flashtwin.runner.events.SHOWN_EVERY_S", 0.0)
    expected = estimate_module.estimate([registry.request("fill", {})], drive.info)
    meter = Meter(drive.info, expected, diary)
    meter.moved(Progress(bytes=1, drive_s=0.1))
    assert diary.statuses.pop().label == "making the file again"
    for number in range(4):
        meter.began("fill", Rest(label=f"fill/decided-{number}", seconds=1.0))
        now[0] += 0.125 * expected.wall_s
        meter.moved(Progress(bytes=0, drive_s=1.0))
        meter.ended()
    shares = [status.fraction for status in diary.statuses]
    assert shares == pytest.approx([0, 1 / 8, 1 / 8, 1 / 4, 1 / 4, 3 / 8, 3 / 8, 1 / 2])
    assert diary.statuses[-1].eta_s == pytest.approx(0.5 * expected.wall_s)
    # However long it goes on, it does not take the place of what others are expected to take.
    meter.began("fill", Rest(label="fill/longer", seconds=1.0))
    now[0] += 5 * expected.wall_s
    meter.ended()
    meter.began("fill", Rest(label="fill/last", seconds=1.0))
    assert diary.statuses[-1].fraction == 1.0


def test_what_does_not_suit_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    drive = FakeDrive(law=Law(capacity_bytes=1 << 29))
    with pytest.raises(FlashtwinError, match="does not fit"):
        run_batteries(drive, [(QUICK[0], {**QUICK[1], "size": "1GiB"})], tmp_path / "run")
    assert not (tmp_path / "run").exists() and drive.done == [] and drive.closed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_the_run_with_all_that_was_finished(
    tmp_path: Path, number: signal.Signals
) -> None:
    drive = StoppedDrive()
    drive.at, drive.number = "cdm/RND4K-Q1T1/read/1", number
    before = signal.getsignal(number)
    diary = Diary()
    with pytest.raises(Interrupted, match="what was finished is in"):
        run_batteries(drive, [QUICK], tmp_path / "run", observer=diary)
    assert signal.getsignal(number) == before
    assert drive.closed
    run = Run(tmp_path / "run")
    assert run.state == "interrupted" and not run.finished
    assert [record.label for record in run.steps] == [step.label for step in drive.done[:-1]]
    assert [one.id for one in run.findings] == [
        "crystaldiskmark.read[SEQ1M-Q1T1]",
        "crystaldiskmark.read.latency[SEQ1M-Q1T1]",
        "crystaldiskmark.read.iops[SEQ1M-Q1T1]",
    ]
    step = run.step("cdm/SEQ1M-Q1T1/read/1")
    assert step is not None and int(run.series(step.step).bytes.sum()) > 0
    assert (run.path / "steps.tables").is_file(), "what a resumed run reads"
    assert diary.words[-1] == "closed"


def test_a_drive_that_breaks_leaves_a_failed_run_and_its_error(tmp_path: Path) -> None:
    drive = FakeDrive(fails_at="cdm/RND4K-Q1T1/read/1")
    with pytest.raises(RuntimeError, match="broke at cdm/RND4K-Q1T1/read/1"):
        run_batteries(drive, [QUICK], tmp_path / "run")
    run = Run(tmp_path / "run")
    assert run.state == "failed" and drive.closed
    assert [one.id for one in run.findings][:1] == ["crystaldiskmark.read[SEQ1M-Q1T1]"]
    assert run.steps[-1].label == "cdm/RND4K-Q1T1/read/warm"


def test_a_directory_in_use_is_refused_and_the_drive_closed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    drive = FakeDrive()
    with pytest.raises(FlashtwinError, match="is not empty"):
        run_batteries(drive, [QUICK], tmp_path)
    assert drive.closed and drive.done == []


def test_it_runs_outside_the_main_thread(tmp_path: Path) -> None:
    answers: list[Run] = []
    thread = threading.Thread(
        target=lambda: answers.append(run_batteries(FakeDrive(), [QUICK], tmp_path / "run"))
    )
    thread.start()
    thread.join()
    assert answers[0].finished


def test_a_killed_process_leaves_every_finished_step(tmp_path: Path) -> None:
    """SIGKILL in the middle of a step: no handler runs, only the journal is left."""
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from test_run_batteries import QUICK, StoppedDrive
        from flashtwin.runner.run import run_batteries
        drive = StoppedDrive()
        drive.at, drive.number = "cdm/RND4K-Q1T1/write/1", signal.SIGKILL
        run_batteries(drive, [QUICK], Path(sys.argv[1]))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        env={"PYTHONPATH": ":".join([str(Path(__file__).parent), *sys.path])},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    run = Run(tmp_path / "run")
    assert run.state == "running"
    assert run.steps[-1].label == "cdm/RND4K-Q1T1/write/warm"
    whole = run_batteries(FakeDrive(), [QUICK], tmp_path / "whole")
    for record in run.steps:
        assert record == whole.steps[record.step]
        assert run.series(record.step).bytes.tolist() == whole.series(record.step).bytes.tolist()


def test_a_full_disk_ends_the_run_and_keeps_what_was_finished(tmp_path: Path) -> None:
    """A file-size limit stands for the full disk: the same errors, and no root needed."""
    script = textwrap.dedent(
        """
        import resource, sys
        from pathlib import Path
        from fakes import FakeDrive
        from flashtwin.errors import FlashtwinError
        from flashtwin.runner.run import run_batteries
        drive = FakeDrive()
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
        try:
            run_batteries(drive, [("crystaldiskmark", {})], Path(sys.argv[1]))
        except FlashtwinError as error:
            print(error.exit_code, drive.closed, error.message, error.hint, sep="|")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    code, closed, message, hint = done.stdout.strip().split("|")
    assert (code, closed) == ("3", "1")
    assert message.startswith("cannot write") and "--resume" in hint
    run = Run(tmp_path / "run")
    assert not run.finished and 5 < len(run.steps) < 100
    assert int(run.series(run.steps[4].step).bytes.sum()) > 0


def test_the_journal_can_play_a_battery_up_to_where_it_was(tmp_path: Path) -> None:
    """What a resumed run needs: the same steps are asked for when the answers are read back."""
    from flashtwin.runner.conclude import conclude
    from flashtwin.runner.replay import detail_of

    run = run_batteries(FakeDrive(), [("fill", {})], tmp_path / "run")
    request = registry.request("fill")
    going = request.battery.measure(request.parameters, FakeDrive().info)
    step = next(going)
    for record in run.steps[:-1]:
        assert (record.label, record.kind) == (step.label, type(step).__name__.lower())
        assert json.loads(json.dumps(detail_of(step))) == record.detail
        step = going.send(run.result(record.step))
    with pytest.raises(StopIteration):
        going.send(run.result(len(run.steps) - 1))
    assert conclude(run) == list(run.findings)


def test_detail_is_plain_json() -> None:
    from flashtwin.runner.replay import detail_of

    job = Job(name="a", rw="write", block_bytes=4096)
    detail = detail_of(RunStep(label="x", jobs=(job,), sample_s=1.0))
    assert json.loads(json.dumps(detail))["jobs"][0]["block_bytes"] == 4096
    assert detail_of(Mark(label="x")) == {}
