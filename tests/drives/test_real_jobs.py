"""Job files on real files: no other file, no device and no program is reached, and fio ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from processes import children, lives, wait_for

from flashtwin.cli.app import app
from flashtwin.drives.real import real_fio
from flashtwin.fio import on_files
from flashtwin.fio.language.script import script

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

PRECIOUS = b"precious " * 100
JOB = ("--name=a", "--rw=read", "--size=1m", "--on", "probe.bin", "--output-format=json")


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file of somebody's, beside the directory that we work in; no attack changes it."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = tmp_path / "canary"
    path.write_bytes(PRECIOUS)
    before = path.stat()
    yield path
    after = path.stat()
    assert path.read_bytes() == PRECIOUS
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert not list(tmp_path.rglob("BAD"))


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["fio", *words], prog_name="flashtwin")


ATTACKS = [
    "--iomem=mmapshared:{canary}",
    "--mem=mmapshared:{canary}",
    "--iomem=mmap:{canary}",
    "--iomem=mmaphuge:{canary}",
    "--iomem=mmapshared:{device}",
    "--ioscheduler=none",
    "--lockmem=1m",
    "--opendir={folder}",
    "--read_iolog={canary}",
    "--fill_device=1",
    "--cgroup=flashtwin",
    "--description=x\nexec_prerun=touch {folder}/BAD",
    "--wait_for=a\nexec_prerun=touch {folder}/BAD",
    "--write_bw_log=x\nexec_prerun=touch {folder}/BAD",
    "--filename=x\nexec_prerun=touch {folder}/BAD",
    "--buffer_pattern='{canary}'",
    "--ioengine=external:{canary}",
    "--name=b\nexec_prerun=touch {folder}/BAD",
    "--name=b]\n[c]\nexec_prerun=touch {folder}/BAD\n[d",
    "--write_iolog={device}",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_reaches_further_is_refused(attack: str, canary: Path) -> None:
    device = canary.with_name("device")
    try:
        os.mknod(device, stat.S_IFBLK | 0o600, os.makedev(7, 250))
    except OSError:
        os.mkfifo(device)
    word = attack.format(canary=canary, device=device, folder=canary.parent)
    done = run(*JOB, word, "--readonly")
    assert done.exit_code in (2, 4), done.output
    assert word.partition("=")[0].lstrip("-").replace("iomem", "mem") in done.stderr
    assert not stat.S_ISREG(device.stat().st_mode)
    assert not list(Path.cwd().iterdir())


@pytest.mark.parametrize("target", ["probe.bin", "bx500-240"])
def test_a_job_s_name_has_no_control_character(target: str, canary: Path) -> None:
    done = run("--name=a\nexec_prerun=touch {folder}/BAD", "--size=1m", "--on", target)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--name=" in done.stderr and "control character" in done.stderr


def test_names_of_files_and_jobs_reach_nothing(canary: Path) -> None:
    """Whatever a name says, it is one of our files; two names are two files."""
    Path("jobs.fio").write_text(
        "[global]\nsize=1m\nrw=write\n[/tmp]\nfilename=../canary\n[.]\nfilename=job.fio:-\n"
        f"[c]\ndirectory={canary.parent}\nfilename=canary\n[d]\nfilename=a_b\n[e]\nfilename=a/b\n"
        "[f]\nnrfiles=300\nsize=300k\nbs=1k\n"
    )
    said: list[str] = []
    jobs = script(["jobs.fio"]).jobs
    made = on_files.prepare(jobs, "probe.bin")
    assert len(made.files) == 6 + 300
    asked = on_files.OutputOptions(formats=("json",), output=Path("o.json"))
    assert on_files.run(made, Path("probe.bin"), asked, said.append, said.append, lambda: None) == 0
    counted = [job["write"]["total_ios"] for job in json.loads(Path("o.json").read_text())["jobs"]]
    assert counted == [256] * 5 + [300]
    assert {path.name for path in Path.cwd().iterdir()} == {"jobs.fio", "o.json"}


def test_a_job_s_name_is_no_file_of_fio_s(canary: Path) -> None:
    """fio writes to a device or directory that a job without file names is called after."""
    done = run(f"--name={canary.parent}", "--numjobs=2", "--size=1m", "--on", "probe.bin")
    assert done.exit_code == 4 and "for a file" in done.stderr


def test_commands_of_a_job_are_left_out(canary: Path) -> None:
    Path("job.fio").write_text("[a]\nsize=1m\nexec_prerun=touch BAD\nexec_postrun=touch BAD\n")
    done = run("job.fio", "--on", "probe.bin")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("commands of a job file are never executed") == 2


@pytest.mark.parametrize("option", ["write_bw_log", "write_iolog"])
@pytest.mark.parametrize("name", ["/{there}/log", "../log", "../../log"])
def test_logs_of_a_job_file_stay_here(option: str, name: str, canary: Path) -> None:
    there = str(canary.parent).lstrip("/")
    Path("job.fio").write_text(f"[a]\nsize=1m\n{option}={name.format(there=there)}\n")
    done = run("job.fio", "--on", "probe.bin")
    assert done.exit_code == 4 and "leads out of" in done.stderr, done.output
    assert {path.name for path in canary.parent.iterdir()} == {"here", "canary"}
    assert [path.name for path in Path.cwd().iterdir()] == ["job.fio"]


def test_logs_that_are_typed_go_where_they_are_typed(canary: Path) -> None:
    done = run(*JOB, f"--write_lat_log={canary.parent}/log", f"--write_iolog={canary.parent}/io")
    assert done.exit_code == 0, done.stderr
    made = {path.name for path in canary.parent.iterdir()} - {"here", "canary"}
    assert made == {"io", "log_lat.1.log", "log_clat.1.log", "log_slat.1.log"}
    assert len((canary.parent / "log_lat.1.log").read_text().splitlines()) == 256
    assert not list(Path.cwd().iterdir())


def test_no_output_is_the_job_file(canary: Path) -> None:
    text = "[a]\nsize=1m\nwrite_iolog=job.fio\n"
    Path("job.fio").write_text(text)
    done = run("job.fio", "--on", "probe.bin")
    assert done.exit_code == 4 and "job.fio:3: write_iolog: " in done.stderr, done.output
    assert Path("job.fio").read_text() == text


def test_a_log_without_a_name_stays_here_whatever_the_job_is_called(canary: Path) -> None:
    Path("job.fio").write_text("[../a]\nsize=1m\nfilename=x\nwrite_bw_log\n")
    done = run("job.fio", "--on", "probe.bin")
    assert done.exit_code == 0, done.output
    assert {path.name for path in Path.cwd().iterdir()} == {"job.fio", ".._a_bw.1.log"}


def test_an_answer_replaces_no_device(canary: Path) -> None:
    os.mkfifo("out.json")
    done = run(*JOB, "--output=out.json")
    assert done.exit_code == 4 and stat.S_ISFIFO(os.stat("out.json").st_mode)


def test_readonly_is_fio_s_too(canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    start = real_fio.start

    def heard(fio: real_fio.Fio, words: list[str], *more: Any, **named: Any) -> Any:
        started.append(words)
        return start(fio, words, *more, **named)

    monkeypatch.setattr(real_fio, "start", heard)
    assert run(*JOB, "--readonly").exit_code == 0
    assert ["--readonly" in words for words in started] == [False, True]


def test_fio_gets_no_environment_of_ours(canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAIT", "1")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    program = Path("printing")
    program.write_text("#!/bin/sh\nenv\n")
    program.chmod(0o700)
    fio = real_fio.Fio(program=str(program.absolute()), version="3.33")
    process = real_fio.start(fio, [], Path.cwd(), stdout=subprocess.PIPE, errors=Path("e"))
    names = {line.partition("=")[0] for line in process.communicate()[0].decode().splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} <= {"PATH", "LD_LIBRARY_PATH", "TZ", "LC_ALL"}


def test_a_file_put_in_the_target_s_place_is_not_written_to(canary: Path) -> None:
    """Somebody who may write to the directory puts a link where our file was."""
    path = Path("probe.bin")

    def swap(text: str) -> None:
        if path.exists() and not path.is_symlink():
            path.rename("moved")
            path.symlink_to(canary)

    prepared = on_files.prepare(script(["--name=a", "--size=1m", "--rw=write"]).jobs, "x")
    asked = on_files.OutputOptions(formats=("json",), output=Path("o.json"))
    assert on_files.run(prepared, path, asked, swap, print, lambda: None) == 0
    assert path.is_symlink() and Path("moved").stat().st_blocks > 0
    assert json.loads(Path("o.json").read_text())["jobs"][0]["write"]["total_ios"] == 256


def below(pid: int) -> list[int]:
    """All processes that a process has started, and theirs."""
    return [each for child in children(pid) for each in (child, *below(child))]


def words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except OSError:
        return []


def test_a_signal_that_comes_before_fio_listens_is_an_interruption(
    canary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = real_fio.start

    def too_early(fio: Any, arguments: Any, folder: Path, **more: Any) -> Any:
        process = start(fio, arguments, folder, **more)
        if "--output=fill.txt" not in arguments:
            os.kill(os.getpid(), signal.SIGTERM)
            os.killpg(process.pid, signal.SIGTERM)
        return process

    monkeypatch.setattr(real_fio, "start", too_early)
    done = run(*JOB)
    assert done.exit_code == 130
    assert "nothing was measured" in done.stderr


def test_fio_dies_with_us(canary: Path) -> None:
    """kill -9 cannot be heard, and still no job goes on writing; the next run tells of the file."""
    long = "[global]\nsize=1m\nrw=randwrite\ntime_based\nruntime=600\n[a]\nnumjobs=3\n[b]\n"
    Path("job.fio").write_text(long)
    flashtwin = [sys.executable, "-m", "flashtwin.cli", "fio", "job.fio", "--on", "probe.bin"]
    process = subprocess.Popen(flashtwin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    started: list[int] = []
    try:

        def begun() -> bool:
            started[:] = below(process.pid)
            return any("--terse-version" in str(words(pid)) for pid in started)

        assert wait_for(begun)
        # fio is there, and its jobs are a moment later.
        time.sleep(1)
        started[:] = below(process.pid)
        process.kill()
        process.wait()
        assert wait_for(lambda: not any(map(lives, started)))
    finally:
        process.kill()
        for pid in filter(lives, started):
            os.kill(pid, signal.SIGKILL)
    left = sorted(path.name for path in Path.cwd().iterdir())
    assert left == ["job.fio", "probe.bin", "probe.bin.1", "probe.bin.2", "probe.bin.3"]
    done = run("job.fio", "--on", "probe.bin")
    assert done.exit_code == 4 and "is there already" in done.stderr
    if os.listxattr("probe.bin"):
        assert "rm probe.bin" in done.stderr


def test_fio_dies_with_a_battery(canary: Path) -> None:
    """The same door for the steps of a battery."""
    flashtwin = [sys.executable, "-m", "flashtwin.cli", "test", "probe.bin", "--size=64MiB"]
    process = subprocess.Popen(flashtwin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started: list[int] = []
    try:

        def begun() -> bool:
            started[:] = below(process.pid)
            return any("fio" in words(pid)[0] for pid in started if words(pid))

        assert wait_for(begun)
        process.kill()
        process.wait()
        assert wait_for(lambda: not any(map(lives, started)))
    finally:
        process.kill()
