"""Recording a process, a command and a disk: what comes of it, and what is said where it cannot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from flashtwin.load import record
from flashtwin.load.profile import profile

Run = Callable[..., Result]
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not here")
WRITES = (
    "import os; f = os.open('data', os.O_CREAT | os.O_WRONLY);"
    " [(os.write(f, 512 * b'a secret'), os.fdatasync(f)) for _ in range(5)]"
)


@needs_strace
def test_a_command_is_recorded_until_it_ends(run: Run, tmp_path: Path) -> None:
    done = run("record", "--command", f'{sys.executable} -c "{WRITES}"', "--out", "t", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["way"], answer["code"], answer["flushes"]) == ("strace", 0, 5)
    places = profile(tmp_path / "t")
    written = next(file for file in places.files if file.name == str(tmp_path / "data"))
    assert written.end == 5 * 4096
    # Of data there are places and sizes alone.
    assert "secret" not in (tmp_path / "t").read_text()


@needs_strace
def test_a_command_that_is_too_long_is_ended(run: Run, tmp_path: Path) -> None:
    words = ("record", "--command", "cat /etc/hostname; sleep 60", "--for", "300ms", "--out", "t")
    done = run(*words)
    assert done.exit_code == 0, done.stderr
    assert "not recorded: files that are mapped" in done.stderr and (tmp_path / "t").exists()


@needs_strace
def test_a_process_goes_on_after_it_was_recorded(run: Run, tmp_path: Path) -> None:
    code = "import os\nf = os.open('data', os.O_CREAT | os.O_WRONLY)\nwhile True: os.write(f, b'1')"
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    try:
        done = run("record", "--pid", str(child.pid), "--for", "200ms", "--out", "t")
        assert done.exit_code == 0, done.stderr
        written = (tmp_path / "data").stat().st_size
        while (tmp_path / "data").stat().st_size == written:
            assert child.poll() is None
    finally:
        child.kill()
        child.wait()


@needs_strace
def test_positions_of_open_files_are_known(tmp_path: Path) -> None:
    """A process writes on behind the 8 KiB that it had written before it was recorded."""
    code = (
        "import os, sys; f = os.open('data', os.O_CREAT | os.O_WRONLY); os.write(f, bytes(8192));"
        " print('ready', flush=True); sys.stdin.read(1); os.write(f, bytes(512));"
        " os.fsync(f); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None and child.stdout is not None
    try:
        child.stdout.readline()
        (line,) = [text for text in record._positions(child.pid) if "/data>" in text]
        assert line.endswith("lseek(3<" + str(tmp_path / "data") + ">, 0, SEEK_CUR) = 8192")
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "one thing is recorded at a time"),
        (["/dev/null", "--pid", "1"], 2, "one thing is recorded at a time"),
        (["--pid", "4194304"], 2, "there is no process 4194304"),
        (["--pid", "1", "--way", "blktrace"], 2, "--way says how a disk is recorded"),
        (["--command", "true", "--for", "soon"], 2, "--for"),
        (["nowhere"], 2, "nowhere: No such file"),
        (["/proc"], 2, "/proc lies on no single disk"),
    ],
)
def test_wrong_words_of_a_record(run: Run, words: list[str], code: int, message: str) -> None:
    done = run("record", *words, "--out", "t")
    assert done.exit_code == code and message in done.stderr
    assert not Path("t").exists()


def test_a_command_that_asks_nothing_is_a_miss(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ends = 'while [ "$1" != -o ]; do shift; done; echo "1 1.5 +++ exited with 0 +++" > "$2"'
    stand_in(tmp_path, monkeypatch, "strace", ends)
    done = run("record", "--command", "true", "--out", "t")
    assert done.exit_code == 1 and "nothing was asked of a disk by `true`" in done.stderr
    assert not Path("t").exists()


def test_without_strace_the_message_says_what_else(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("record", "--command", "true", "--out", "t")
    assert done.exit_code == 3 and "hint: apt install strace; or record the disk" in done.stderr


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    """A program on the path that does what a script says."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / name).write_text(f"#!/bin/sh\n{script}\n")
    (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine of files: one disk, 8:0, on which every path lies."""
    disk = tmp_path / "sys" / "sda"
    disk.mkdir(parents=True)
    (disk / "dev").write_text("8:0\n")
    status = tmp_path.stat().st_dev
    (tmp_path / "numbers").mkdir()
    for number in ("8:0", f"{os.major(status)}:{os.minor(status)}"):
        (tmp_path / "numbers" / number).symlink_to(disk)
    monkeypatch.setattr(record, "DEVICES", tmp_path / "numbers")
    monkeypatch.setattr(record, "DISKSTATS", tmp_path / "diskstats")
    monkeypatch.setattr(record, "TRACING", tmp_path / "tracing")
    monkeypatch.setattr(record, "DEBUGGING", tmp_path / "debug")
    monkeypatch.setattr(record, "SAMPLE_S", 0.01)
    return tmp_path


COUNTERS = "   8       0 sda 5 0 80 1 {writes} 0 {sectors} 1 0 3 1 2 0 16 1 4 1\n"


def test_counters_are_the_last_way_and_say_what_they_leave_out(
    run: Run, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (machine / "diskstats").write_text(COUNTERS.format(writes=7, sectors=160))
    done = run("record", str(machine), "--for", "50ms", "--out", "t")
    assert done.exit_code == 0, done.stderr
    assert "sda asked for nothing within" in done.stdout and "(diskstats)" in done.stdout
    assert "Nothing was written" in done.stdout and "flashtwin ask" not in done.stdout
    assert "not by blktrace: it is not installed" in done.stderr
    assert "not by tracepoints" in done.stderr and "where a request goes" in done.stderr
    head, first, *_ = (machine / "t").read_text().splitlines()
    assert head.startswith("seconds,reads,read_bytes") and first.endswith(",0,0,0,0,0,0,0,0")
    refused = run("trace", "t")
    assert refused.exit_code == 2 and "counters of a disk" in refused.stderr


def test_a_disk_that_only_root_reads_is_counted(
    run: Run, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = machine / "disk"
    disk.touch()
    (machine / "diskstats").touch()
    readable = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: str(path) != str(disk) and readable(path, mode)
    )
    counts = iter([(7, 160), (9, 176), (9, 176)])

    def sampled(number: str) -> dict[str, int]:
        writes, sectors = next(counts, (9, 176))
        (machine / "diskstats").write_text(COUNTERS.format(writes=writes, sectors=sectors))
        return sample(number)

    sample = record._sample
    monkeypatch.setattr(record, "_sample", sampled)
    done = run("record", str(disk), "--way", "diskstats", "--for", "50ms", "--out", "t")
    assert done.exit_code == 0, done.stderr
    assert "asked for 2 writes (8.192 kB) within" in done.stdout
    assert "--workload NAME --per-day" in done.stdout


def test_a_disk_that_vanishes_is_told(run: Run, machine: Path) -> None:
    (machine / "diskstats").write_text("   8      16 sdb 5 0 80 1 7 0 160 1 0 3 1\n")
    done = run("record", str(machine), "--way", "diskstats", "--for", "50ms", "--out", "t")
    assert done.exit_code == 3 and "has no disk 8,0 any more" in done.stderr


def test_tracepoints_become_what_blkparse_prints(machine: Path) -> None:
    lines = (
        "   kworker/0:1H-123     [001] d..1.  1234.567890: block_rq_issue: 8,0 WS 4096 () 2048"
        " + 8 be,0,4 [my app]\n"
        "             fio-9      [000] .....  1234.667890: block_rq_issue: 8,0 R 8192 () 16 + 16"
        " [fio]\n"
        "CPU:1 [LOST 7 EVENTS]\n"
        "             fio-9      [000] .....  1234.767890: block_rq_issue: 8,0 FF 0 () 0 + 0"
        " none,0,0 [fio]\n"
    )
    recording = record.Recording(seconds=5, stop=record.Stop())
    (machine / "pipe").write_text(lines)
    source = os.open(machine / "pipe", os.O_RDONLY)
    with (machine / "t").open("w") as file:
        record._issued(source, file, recording, lambda: None)
    os.close(source)
    assert recording.lost == 7
    profiled = profile(machine / "t")
    assert (profiled.ios, profiled.flushes) == ((1, 1, 0), 1)
    assert profiled.bytes == (8192, 4096, 0) and profiled.span_ns == 200_000_000


@pytest.mark.parametrize("way_out", [None, KeyboardInterrupt])
def test_what_was_switched_on_in_the_kernel_is_switched_off(
    run: Run, machine: Path, monkeypatch: pytest.MonkeyPatch, way_out: type[BaseException] | None
) -> None:
    instances = machine / "tracing" / "instances"
    instances.mkdir(parents=True)
    switched = []

    def switch(place: Path, word: str) -> None:
        # The kernel makes an instance's files with it and removes them with it.
        pipe = next(instances.iterdir()) / "trace_pipe"
        pipe.touch() if word == "1" else pipe.unlink(missing_ok=True)
        switched.append((place.name, word))

    def issued(*_: object) -> None:
        if way_out is not None:
            raise way_out

    monkeypatch.setattr(record, "_switch", switch)
    monkeypatch.setattr(record, "_issued", issued)
    done = run("record", str(machine), "--way", "tracepoints", "--out", "t")
    assert done.exit_code == (1 if way_out is None else 130), done.stderr
    assert switched == [("filter", "dev == 8388608"), ("enable", "1"), ("enable", "0")]
    assert not [*instances.iterdir()] and not Path("t").exists()


def test_blktrace_is_taken_where_it_is(
    run: Run, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "debug").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(record, "_lockdown", lambda: "[none]")
    record_bytes = b"\x07tae" + bytes(4) + (5).to_bytes(8, "little") + bytes(8)
    record_bytes += (4096).to_bytes(4, "little") + ((2 | 64) << 16 | 7).to_bytes(4, "little")
    record_bytes += bytes(4) + (8 << 20).to_bytes(4, "little") + bytes(8)
    assert len(record_bytes) == 48
    (machine / "r").write_bytes(record_bytes)
    stand_in(machine, monkeypatch, "blktrace", f"cat {machine / 'r'}")
    done = run("record", str(machine), "--out", "t", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["way"], answer["writes"], answer["write_bytes"]) == ("blktrace", 1, 4096)
    assert (machine / "t").read_bytes() == record_bytes
