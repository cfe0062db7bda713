"""`flashtwin fio --out`: fio's jobs as a run that is kept, on simulated drives and on files."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from stored_runs import store

from flashtwin.batteries.base import registry
from flashtwin.cli.app import app
from flashtwin.errors import DONE, REFUSED, TERMINATED, USAGE, FlashtwinError
from flashtwin.fio.drives import FilesDrive, JobsTwin, answer_of, jobs_of
from flashtwin.fio.language.script import script
from flashtwin.fio.on_files import OutputOptions
from flashtwin.model.step import NotPossible, Rest, Result, Step
from flashtwin.model.target import Interrupted, Progress, Watch
from flashtwin.runner.conclude import reconclude
from flashtwin.runs.rundir import Run

HAS_FIO = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
JOBS = """
[global]
size=2m
ioengine=psync

[fill]
rw=write
bs=64k

[look]
stonewall
rw=randread
bs=4k
numjobs=2
"""
TWIN = ("--on", "bx500-240", "--scale", "1/64", "--quiet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.fio").write_text(JOBS)
    return tmp_path


def fio(*words: str, code: int = DONE) -> str:
    done = CliRunner().invoke(app, ["fio", *words], prog_name="flashtwin")
    assert done.exit_code == code, done.output
    return done.stderr if code else done.stdout
    return done.stdout if done.exception is None else str(done.exception)


def words(path: Path, *more: str) -> list[str]:
    """A command that reads a run."""
    done = CliRunner().invoke(app, [*more, str(path)])
    assert done.exit_code == 0, done.output
    return done.output.split()


def test_a_run_on_a_simulated_drive_has_a_step_a_group_and_the_same_answer(folder: Path) -> None:
    plain = fio("job.fio", *TWIN, "--output-format=json")
    kept = fio("job.fio", *TWIN, "--output-format=json", "--out", "run")
    assert json.loads(kept)["jobs"] == json.loads(plain)["jobs"]
    run = Run(folder / "run")
    assert [step.label for step in run.steps] == ["fio/files 1", "fio/1 fill", "fio/2 look"]
    assert run.finished and not reconclude(run).changes
    # Two copies read 2 MiB each, which are laid out before the jobs begin.
    assert [sum(job.bytes for job in step.jobs) >> 20 for step in run.steps[1:]] == [2, 4]
    assert [step.note for step in run.steps[1:]] == [None, None]
    values = {finding.id: finding.number for finding in run.findings}
    assert (
        values["fio.iops[look]"] and values["fio.speed[fill]"] and values["fio.write.p99[1 fill]"]
    )
    command = json.loads((folder / "run" / "manifest.json").read_text())["command"]
    assert command[:5] == ["flashtwin", "fio", "job.fio", "--on", "bx500-240"]
    assert jobs_of(JOBS.splitlines()) == script(["job.fio"]).jobs
    assert "[look]" in words(folder / "run", "fio", "--convert")
    assert "finished," in words(folder / "run", "runs", "show")
    assert fio("--resume", "run", "--quiet")


def test_a_budget_cuts_the_group_under_way_and_leaves_out_the_rest(folder: Path) -> None:
    endless = JOBS.replace("[fill]", "[fill]\ntime_based\nruntime=1h")
    (folder / "job.fio").write_text(endless)
    answer = json.loads(
        fio("job.fio", *TWIN, "--budget", "500ms", "--out", "run", "--output-format=json")
    )
    assert [job["jobname"] for job in answer["jobs"]] == ["fill", "look", "look"]
    assert answer["jobs"][0]["write"]["runtime"] == 500
    run = Run(folder / "run")
    _, step = run.steps
    assert step.cut and step.duration_ns == pytest.approx(5e8, rel=0.01)
    (left_out,) = [one for one in run.findings if one.name == "left_out"]
    assert left_out.note is not None and "fio/2 look" in left_out.note


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--status-interval=1s", "--out", "run"], "status-interval"),
        (["--trace", "x.iolog", "--out", "run"], "trace"),
        (["--read_iolog=x.iolog", "--out", "run"], "read_iolog"),
    ],
)
def test_what_a_kept_run_cannot_have_is_refused(
    folder: Path, more: list[str], message: str
) -> None:
    job = [] if "--trace" in more else ["--name=a", "--size=1m"]
    assert message in fio(*job, *more, *TWIN, code=USAGE)
    assert not (folder / "run").exists()


def counted(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The jobs without their options, which a run keeps as values and not as they were typed."""
    return [{**job, "job options": None} for job in answer["jobs"]]


def test_what_is_left_is_done_and_answered_with_what_was_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = json.loads(fio("job.fio", *TWIN, "--output-format=json"))
    whole = JobsTwin.do

    def stops(drive: JobsTwin, step: Step, watch: Watch) -> Result | NotPossible:
        if step.label == "fio/2 look":
            raise Interrupted(step.label)
        return whole(drive, step, watch)

    with monkeypatch.context() as patch:
        patch.setattr(JobsTwin, "do", stops)
        done = CliRunner().invoke(app, ["fio", "job.fio", *TWIN, "--out", "run"])
    assert done.exit_code == TERMINATED and "flashtwin fio --resume run goes on" in done.stderr
    assert len(Run(folder / "run").steps) == 2
    resumed = json.loads(fio("--resume", "run", "--quiet", "--output-format=json"))
    assert counted(resumed) == counted(plain)
    # A run that is finished is answered again, in any format.
    assert counted(json.loads(fio("--resume", "run", "--output-format=json"))) == counted(plain)
    assert "look: (groupid=1" in fio("--resume", "run")
    assert "status-interval" in fio("--resume", "run", "--status-interval=1s", code=USAGE)


def test_a_run_of_a_battery_is_refused_by_name(folder: Path) -> None:
    store(folder / "run")
    assert "not a run of fio's jobs" in fio("--resume", "run", code=USAGE)


@pytest.mark.parametrize(
    "on", [TWIN, pytest.param(("--on", "./probe.bin", "--quiet"), marks=HAS_FIO)]
)
def test_a_job_that_ends_all_ends_the_run(folder: Path, on: tuple[str, ...]) -> None:
    ending = JOBS.replace("[fill]", "[fill]\nexitall\nexit_what=all")
    (folder / "job.fio").write_text(ending)
    answer = json.loads(fio("job.fio", *on, "--out", "run", "--output-format=json"))
    assert answer["jobs"][0]["write"]["io_bytes"] == 2 << 20
    assert not any(job["read"]["io_bytes"] for job in answer["jobs"])
    run = Run(folder / "run")
    assert run.finished and [step.label for step in run.steps][-1] == "fio/1 fill"
    again = json.loads(fio("--resume", "run", "--quiet", "--output-format=json"))
    assert counted(again) == counted(answer)


def test_a_battery_without_jobs_says_who_makes_them() -> None:
    battery = registry.request("fio")
    with pytest.raises(FlashtwinError, match="there are no jobs"):
        next(battery.battery.measure(battery.parameters, None))  # type: ignore[arg-type]


def always(progress: Progress) -> bool:
    return True


@HAS_FIO
def test_a_run_on_files_keeps_what_fio_counts_and_removes_them(folder: Path) -> None:
    logged = JOBS.replace("[fill]", "[fill]\nwrite_bw_log=w\nlog_avg_msec=50\nrate=4m")
    (folder / "job.fio").write_text(logged)
    arguments = ("job.fio", "--on", "./probe.bin", "--out", "run", "--quiet")
    answer = json.loads(fio(*arguments, "--output-format=json"))
    assert [(job["jobname"], job["groupid"]) for job in answer["jobs"]] == [
        ("fill", 0),
        ("look", 1),
        ("look", 1),
    ]
    assert "bins" not in json.dumps(answer)
    assert sorted(path.name for path in folder.iterdir()) == ["job.fio", "run", "w_bw.1.log"]
    run = Run(folder / "run")
    assert [sum(job.bytes for job in step.jobs) >> 20 for step in run.steps] == [2, 4]
    assert run.target["kind"] == "files" and run.target["capacity_bytes"] == 6 << 20
    first, second = (run.result(step.step) for step in run.steps)
    assert isinstance(first, Result) and isinstance(second, Result)
    assert first.series.bytes.sum() == 2 << 20 and first.hist["write"].sum() == 32
    assert not len(second.series.bytes) and second.note is not None and "no log" in second.note
    assert str(folder) not in (folder / "run" / "manifest.json").read_text()
    for command in (["report"], ["export", "--format", "csv", "--out", "e"], ["runs", "show"]):
        assert words(folder / "run", *command)
    # A group is known by its name among the parameters; its jobs are in the lines of the file.
    assert "groups=fio/1 fill+fio/2 look, file=" in " ".join(
        words(folder / "run", "runs", "show", "-v")
    )
    page = (folder / "run" / "report.html").read_text()
    assert re.search(r'<p class="lead">fill: [0-9.]+ [kM]B/s; look: [0-9.]+ [kMG]B/s\.</p>', page)
    assert all(f'class="tile"><dt>{name}</dt>' in page for name in ("fill", "look"))


@HAS_FIO
def test_files_are_refused_and_a_failing_job_is_told(folder: Path) -> None:
    (folder / "there").write_text("kept")
    assert "there already" in fio("job.fio", "--on", "./there", "--out", "r", code=REFUSED)
    (folder / "run").write_text("no directory")
    fio("job.fio", "--on", "./probe.bin", "--out", "run", "--quiet", code=USAGE)
    assert sorted(path.name for path in folder.iterdir()) == ["job.fio", "run", "there"]


@HAS_FIO
def test_a_run_that_was_stopped_tells_what_fio_counted_and_goes_on(folder: Path) -> None:
    timed = JOBS.replace("[look]", "[look]\ntime_based\nruntime=1h")
    drive = FilesDrive(
        timed.splitlines(), folder / "probe.bin", output_options=OutputOptions(), say=len
    )
    request = registry.request("fio", {"file": timed.splitlines()})
    assert request.parameters.file == tuple(timed.splitlines())
    steps = {label: _step(label, timed) for label in ("fio/1 fill", "fio/2 look")}
    try:
        drive.open()
        assert drive.open().info.capacity_bytes == 6 << 20
        assert isinstance(drive.do(Rest(seconds=1.0), always), NotPossible)
        assert isinstance(drive.do(steps["fio/1 fill"], always), Result)
        # A signal that comes before fio has begun ends it without a word.
        for seconds in (1.0, 5.0, 25.0):
            with pytest.raises(Interrupted):
                drive.do(steps["fio/2 look"], lambda at, limit=seconds: at.drive_s < limit)
            if len(drive.answers) == 2:
                break
    finally:
        drive.close()
    text = answer_of(drive.answers, ["normal"])
    assert text.count("look: (groupid=0") == 2 and "fill: (groupid=0" in text
    assert [path.name for path in folder.iterdir()] == ["job.fio"]


def _step(label: str, text: str) -> object:
    from flashtwin.fio.drives import parameters
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan
    from flashtwin.model.step import Run as Step

    jobs = jobs_of(text.splitlines())
    made = parameters(jobs, plan(jobs, Target(name="probe.bin", bytes=1 << 60)))
    (group,) = [group for group in made.groups if group.label == label]
    return Step(label=label, jobs=group.jobs)
