"""Outputs of commands: every one of them is a file of its own, and nobody else's."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from entries import entries
from program import flashtwin
from stored_runs import store

from flashtwin.cli.app import app

Run = Callable[..., Result]

TWIN = ("--on", "bx500-240", "--scale", "1/64", "-q")
JOB = ("--name=j", "--rw=write", "--size=1m")
LABEL = ("--capacity", "240 GB", "--interface", "sata", "--cell", "tlc", "--dram", "yes")
# The words before an output's name, and what flashtwin appends to the name.
FILES = {
    "report": (("report", "run", "--out"), ""),
    "compare": (("compare", "run", "other", "--out"), ""),
    "new": (("new", "mine", *LABEL, "--force", "--out"), ".toml"),
    "output": (("fio", *JOB, *TWIN, "--output"), ""),
    "iolog": (("fio", *JOB, *TWIN, "--write_iolog"), ""),
    "bw": (("fio", *JOB, *TWIN, "--write_bw_log"), "_bw.1.log"),
    "lat": (("fio", *JOB, *TWIN, "--write_lat_log"), "_clat.1.log"),
    "hist": (("fio", *JOB, *TWIN, "--log_hist_msec=9", "--write_hist_log"), "_clat_hist.1.log"),
}
FOLDERS = {
    "test": ("test", "bx500-240", "--scale", "1/64", "--out"),
    "export": ("export", "run", "--format", "csv", "--out"),
    "convert": ("fio", "--convert", "run", "--out"),
    "sweep": ("sweep", "bx500-240", "--vary", "seed=1", "--scale", "1/64", "--out"),
}
NODES: dict[str, Callable[[Path], None]] = {
    "fifo": os.mkfifo,
    "device": lambda path: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3)),
    "link": lambda path: path.symlink_to("/dev/null"),
    "directory": lambda path: path.mkdir(),
}


@pytest.fixture(name="run")
def real(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The command line beside two stored runs, without stand-ins."""
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "run")
    store(tmp_path / "other", seed=2)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def made(node: str, path: Path) -> None:
    if node == "device" and os.geteuid():
        pytest.skip("only root makes devices")
    NODES[node](path)


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("what", FILES)
def test_no_output_reaches_or_replaces_what_is_no_file(
    what: str, node: str, run: Run, tmp_path: Path
) -> None:
    words, more = FILES[what]
    name = f"out{more}"
    made(node, tmp_path / name)
    before = entries(tmp_path)
    done = run(*words, name if what == "new" else "out")
    assert done.exit_code == 4, done.output
    assert name in done.stderr and "hint:" in done.stderr and not done.stdout
    assert entries(tmp_path) == before


@pytest.mark.parametrize("node", [node for node in NODES if node != "directory"])
@pytest.mark.parametrize("what", FOLDERS)
def test_no_directory_is_made_over_what_is_none(
    what: str, node: str, run: Run, tmp_path: Path
) -> None:
    made(node, tmp_path / "out")
    before = entries(tmp_path)
    done = run(*FOLDERS[what], "out")
    assert done.exit_code in (2, 3, 4) and "Traceback" not in done.output, done.output
    assert "out" in done.stderr and entries(tmp_path) == before


def test_an_answer_for_stdout_is_on_stdout(run: Run) -> None:
    words = ("fio", *JOB, *TWIN, "--output-format=json")
    there = run(*words, "--output=/dev/stdout")
    assert there.exit_code == 0 and there.stdout == run(*words).stdout
    assert run("report", "run", "--out", "/dev/stdout").exit_code == 4


JOBS = {
    "write_bw_log=/tmp/flashtwin-nobody": "job.fio:4",
    "write_iolog=../flashtwin-nobody": "job.fio:4",
    "write_lat_log=run/parts/../../../nobody": "job.fio:4",
    "write_hist_log=away/x\nlog_hist_msec=9": "job.fio:4",
    "write_iops_log=link": "job.fio:4",
    f"write_bw_log={'x' * 250}": "job.fio:4",
    "write_iolog=job.fio": "job.fio:4",
    "write_iolog=out": "job.fio:4",
}


@pytest.mark.parametrize("option", JOBS)
def test_a_job_file_writes_into_its_directory_and_not_over_what_is_read(
    option: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "job.fio").write_text(f"[j]\nrw=write\nsize=1m\n{option}\n")
    (tmp_path / "away").symlink_to("/tmp")
    (tmp_path / "link_iops.1.log").symlink_to("/tmp/flashtwin-nobody")
    before = entries(tmp_path)
    done = run("fio", "job.fio", *TWIN, "--output=out")
    assert done.exit_code == 4 and JOBS[option] in done.stderr, done.output
    assert entries(tmp_path) == before and not list(Path("/tmp").glob("flashtwin-nobody*"))


def test_a_typed_log_may_lie_anywhere(run: Run, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    place = tmp_path / "far" / "x"
    done = run("fio", *JOB, *TWIN, f"--write_bw_log={place}", "--write_iolog=far/io")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in place.parent.iterdir()) == ["io", "x_bw.1.log"]


@pytest.mark.parametrize("name", ["/dev/sdzz", "../up", "a/b"])
def test_a_job_that_is_called_like_a_device_has_its_answer_and_its_log(
    name: str, run: Run, tmp_path: Path
) -> None:
    """As in fio's example disk-zone-profile, whose log is named after the job."""
    (tmp_path / "job.fio").write_text(f"[{name}]\nrw=write\nsize=1m\nwrite_bw_log\n")
    done = run("fio", "job.fio", *TWIN[:-1], "--output-format=json")
    assert json.loads(done.stdout)["jobs"][0]["jobname"] == name
    called = name.replace("/", "_")
    assert done.exit_code == 0 and called in done.stderr
    assert (tmp_path / f"{called}_bw.1.log").stat().st_size


@pytest.mark.parametrize("command", ["report", "compare"])
@pytest.mark.parametrize("name", ["manifest.json", "steps.jsonl", "series.parquet", "smart/x"])
def test_no_page_replaces_a_part_of_a_run(
    name: str, command: str, run: Run, tmp_path: Path
) -> None:
    before = entries(tmp_path)
    done = run(command, "run", "other", "--out", f"run/{name}")
    assert done.exit_code == 4 and "part of the run" in done.stderr
    assert entries(tmp_path) == before


def test_the_usual_page_does_not_follow_a_link_out_of_the_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run" / "report.html").symlink_to("../mine")
    assert run("report", "run").exit_code == 4
    assert (tmp_path / "mine").read_text() == "mine"


def test_an_answer_does_not_replace_the_drive(run: Run, tmp_path: Path) -> None:
    assert run("new", "mine", *LABEL).exit_code == 0
    words = ("fio", *JOB, "--on", "mine.toml", "--scale", "1/64", "-q")
    assert run(*words, "--output=./mine.toml").exit_code == 4
    assert run(*words, "--write_iolog=mine.toml").exit_code == 4
    assert run("show", "mine.toml").exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["test", "", "--size", "64MB"],
        ["test", "bx500-240", "--out", ""],
        ["fio", "--name=a", "--rw=write", "--size=1m", "--on", ""],
        ["report", ""],
        ["compare", "", ""],
        ["conclude", ""],
        ["infer", ""],
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_the_current_directory(tmp_path: Path, words: list[str]) -> None:
    """A shell leaves it where a variable is not set."""
    done = flashtwin(*words, cwd=tmp_path)
    assert done.returncode == 2 and " is empty" in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []
