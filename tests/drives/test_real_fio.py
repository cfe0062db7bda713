"""fio as a program: missing, too old, failing; its status lines."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from flashtwin.drives.real import engines, real_fio, through_fio
from flashtwin.drives.real.real import Real
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.step import Job, Result, Run

MIB = 1 << 20
FIO = shutil.which("fio")
needs_fio = pytest.mark.skipif(FIO is None, reason="fio is not installed")


def pretend(monkeypatch: pytest.MonkeyPatch, directory: Path, script: str) -> None:
    """A program of the name fio, the only one on the PATH but for the shell's tools."""
    directory.mkdir()
    program = directory / "fio"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")


def failure(path: Path) -> FlashtwinError:
    with pytest.raises(FlashtwinError) as caught:
        Real(path, 16 * MIB, say=lambda text: None).open()
    return caught.value


def test_no_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    error = failure(tmp_path)
    assert error.exit_code == ENVIRONMENT
    assert "\n" not in error.message
    for way in ("apt install fio", "dnf install fio", "brew install fio"):
        assert way in str(error.hint)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("said", ["fio-3.1", "fio-2.99", "something else", ""])
def test_fio_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    pretend(monkeypatch, tmp_path / "bin", f"echo {said}")
    target = tmp_path / "target"
    error = failure(target)
    assert error.exit_code == ENVIRONMENT
    assert "3.28 or later is needed" in error.message and "apt install fio" in str(error.hint)
    assert not target.exists()


@pytest.mark.parametrize("said", ["fio-3.28", "fio-3.33-57-gabcdef", "fio-4.0"])
def test_fio_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    pretend(monkeypatch, tmp_path / "bin", f"echo {said}")
    assert real_fio.find().version == said.removeprefix("fio-")


def test_fio_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
    [ "$1" = --version ] && { echo fio-3.33; exit 0; }
    echo "fio: first complaint" >&2
    echo "fio: io_u error on file target: Invalid argument: write offset=0, buflen=4096" >&2
    exit 1"""
    pretend(monkeypatch, tmp_path / "bin", script)
    target = tmp_path / "target"
    error = failure(target)
    assert error.exit_code == ENVIRONMENT
    assert "with any of its engines" in error.message
    assert error.message.endswith("Invalid argument: write offset=0, buflen=4096")
    assert not target.exists()


def test_fio_without_an_option_that_we_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
    [ "$1" = --version ] && { echo fio-3.29; exit 0; }
    echo "fio: Bad option <log_entries=1024>" >&2
    exit 1"""
    pretend(monkeypatch, tmp_path / "bin", script)
    error = failure(tmp_path / "target")
    assert error.exit_code == ENVIRONMENT
    assert error.message == "fio is too old: Bad option <log_entries=1024>"
    assert error.hint is not None and "apt install fio" in error.hint


def test_fio_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
    [ "$1" = --version ] && { echo fio-3.33; exit 0; }
    exec yes "Jobs: 1 [w=1MiB/s]" """
    pretend(monkeypatch, tmp_path / "bin", script)
    monkeypatch.setattr(through_fio, "PROBE_S", 0.2)
    target = tmp_path / "target"
    error = failure(target)
    assert error.exit_code == ENVIRONMENT and error.hint
    assert error.message == "fio did not write to target within 0.2 s"
    assert not target.exists()


def test_fio_fails_in_silence(tmp_path: Path) -> None:
    program = tmp_path / "fio"
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o700)
    fio = real_fio.Fio(program=str(program), version="3.33")
    with pytest.raises(real_fio.FioError, match="exit code 7 and said nothing"):
        real_fio.run(fio, "", tmp_path, lambda done: True)


@needs_fio
def test_a_full_disk_during_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = "fio: io_u error on file target: No space left on device: write offset=8388608"
    script = f"""
    if grep -q "^bs=131072" job.fio 2>/dev/null; then echo "{full}" >&2; exit 1; fi
    exec {FIO} "$@" """
    pretend(monkeypatch, tmp_path / "bin", script)
    target = tmp_path / "target"
    drive = Real(target, 16 * MIB, say=lambda text: None).open()
    try:
        job = Job(name="write", rw="write", block_bytes=131072)
        with pytest.raises(FlashtwinError, match=r"^the disk is full: ") as caught:
            drive.do(Run(label="write", jobs=(job,)), lambda progress: True)
    finally:
        drive.close()
    assert caught.value.exit_code == ENVIRONMENT
    assert caught.value.hint is not None and "--size" in caught.value.hint
    assert not target.exists()


@needs_fio
@pytest.mark.parametrize(
    ("refused", "engine", "direct"),
    [
        ("^ioengine=io_uring", "libaio", True),
        pytest.param("^ioengine=io_uring|^ioengine=libaio", "psync", True, marks=pytest.mark.full),
        pytest.param("^direct=1", "io_uring", False, marks=pytest.mark.full),
        ("^direct=1|^ioengine=io_uring", "psync", False),
    ],
)
def test_the_next_best_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str, engine: str, direct: bool
) -> None:
    script = f"""
    if grep -qE "{refused}" job.fio 2>/dev/null; then echo "fio: refused" >&2; exit 1; fi
    exec {FIO} "$@" """
    pretend(monkeypatch, tmp_path / "bin", script)
    said: list[str] = []
    drive = Real(tmp_path / "target", 16 * MIB, say=said.append).open()
    try:
        identity = drive.info.identity
        assert (identity["engine"], identity["direct"]) == (engine, direct)
        assert any("is refused here: fio runs with" in line for line in said)
        assert identity["notes"]
    finally:
        drive.close()


@needs_fio
@pytest.mark.parametrize(
    ("system", "engine"), [("darwin", "posixaio"), pytest.param("win32", "windowsaio")]
)
def test_a_file_on_another_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, engine: str
) -> None:
    """A fio that takes that system's engines: what it is asked for, and what is said of it."""
    script = f"""
    if [ -e job.fio ]; then sed -i s/=windowsaio/=libaio/ job.fio; fi
    exec {FIO} "$@" """
    pretend(monkeypatch, tmp_path / "bin", script)
    monkeypatch.setattr(engines, "SYSTEM", system)
    said: list[str] = []
    drive = Real(tmp_path / "target", 16 * MIB, say=said.append).open()
    try:
        job = Job(name="reads", rw="randread", block_bytes=4096, depth=4, io_bytes=MIB)
        answer = drive.do(Run(label="reads", jobs=(job,)), lambda progress: True)
        assert isinstance(answer, Result) and answer.jobs[0].ios == 256
        assert drive.info.identity["engine"] == engine
        assert drive.info.can.holds_depth == (system == "win32")
        assert any("F_NOCACHE" in line for line in said) == (system == "darwin")
    finally:
        drive.close()


def test_bytes_from_status_lines() -> None:
    meter = real_fio.Meter(began_s=100.0)
    meter.line("Jobs: 1 (f=1)", 100.3)
    assert meter.bytes == 0
    # The first rate stands for the time before it too.
    meter.line("Jobs: 1 (f=1): [r(4)][50.0%][r=2MiB/s][r=512 IOPS][eta 00m:03s]", 101.0)
    assert meter.bytes == 2 * MIB
    meter.line("Jobs: 2 (f=2): [m(2)][60.0%][r=1024KiB/s,w=512KiB/s][r=1,w=2 IOPS]", 101.5)
    assert meter.bytes == 2 * MIB + 0.5 * 1.5 * MIB
    meter.line("[w=1000MB/s][w=1.2k IOPS]", 102.0)
    assert meter.bytes == pytest.approx(2.75 * MIB + 500e6)


@needs_fio
def test_a_fio_that_logs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, tmp_path / "bin", f'{FIO} "$@"; code=$?; rm -f *.log; exit $code')
    drive = Real(tmp_path / "target", 16 * MIB, say=lambda text: None).open()
    try:
        job = Job(name="reads", rw="randread", block_bytes=4096, io_bytes=MIB)
        with pytest.raises(FlashtwinError, match="counted 256 requests and logged none") as caught:
            drive.do(Run(label="reads", jobs=(job,)), lambda progress: True)
    finally:
        drive.close()
    assert caught.value.exit_code == ENVIRONMENT and caught.value.hint
