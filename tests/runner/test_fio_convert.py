"""`flashtwin fio --convert`: the steps of a run as job files that mean the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan
from flashtwin.fio.run import FioTwin, run_plan
from flashtwin.runner.run import run_batteries
from flashtwin.runs.export import job_files
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.rundir import Run

SCALE = "1/64"
BATTERIES = [
    ("fill", {"patterns": "1m-q1", "passes": "1"}),
    ("crystaldiskmark", {"size": "64MiB", "loops": "1", "variant": "kdiskmark"}),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    drive = Twin(load("bx500-240", scale=SCALE)).open()
    return run_batteries(drive, BATTERIES, tmp_path_factory.mktemp("run") / "run")


def accepted(texts: list[str], folder: Path) -> bool:
    """One start of fio reads all of the files."""
    paths = [folder / f"{place}.fio" for place in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    done = subprocess.run(["fio", "--parse-only", *paths], capture_output=True, text=True)
    return done.returncode == 0 and not done.stderr


def record(run: Run, step: int) -> StepRecord:
    return next(one for one in run.steps if one.step == step)


def test_fio_takes_every_file(run: Run, tmp_path: Path) -> None:
    found = job_files.convert(run)
    asking = [one for one in run.steps if one.kind in ("run", "chain", "fill", "trim")]
    assert [one.step for one in found] == [one.step for one in asking]
    assert accepted([*(one.text for one in found), job_files.one_file(found)], tmp_path)
    broken = [found[0].text, found[1].text.replace("rw=", "rw=no", 1)]
    assert not accepted(broken, tmp_path), "fio reads each of the files"
    paths = job_files.write(found, tmp_path / "jobs")
    assert [path.read_text() for path in paths] == [one.text for one in found]


def test_a_twin_does_the_same_requests(run: Run) -> None:
    spec = load("bx500-240", scale=SCALE)
    compared = 0
    for one in job_files.convert(run):
        before = record(run, one.step)
        jobs = typed(read_text(one.text), environment={}).jobs
        made = plan(jobs, Target(name="bx500-240", bytes=spec.capacity_bytes))
        bounded = before.kind == "fill" or all(
            job.get("runtime_s") is None for job in before.detail.get("jobs", [{}])
        )
        if before.kind not in ("run", "fill") or not bounded:
            continue
        (phase,) = run_plan(FioTwin(spec), made, lambda progress: True)
        sides = [row[way] for row in phase.rows for way in ("read", "write", "trim")]
        assert sum(side["ios"] for side in sides) == sum(job.ios for job in before.jobs)
        assert sum(side["bytes"] for side in sides) == sum(job.bytes for job in before.jobs)
        compared += 1
    assert compared >= 2


def test_journals_of_older_versions_are_read(run: Run) -> None:
    old = record(run, next(one.step for one in run.steps if one.kind == "run"))
    jobs = [
        {key: value for key, value in job.items() if key != "fio"} | {"gone": 1}
        for job in old.detail["jobs"]
    ]
    fields = {**old.__dict__, "detail": {"jobs": jobs}}
    step = job_files.step_of(StepRecord(**fields), int(run.target["capacity_bytes"]))
    assert step is not None
