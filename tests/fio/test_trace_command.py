"""`flashtwin fio --trace`: traces without a job file, their speeds, messages and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner, Result

from flashtwin.cli.app import app
from flashtwin.model.fio_job import TraceFormat

Run = Callable[..., Result]
TWIN = ("--on", "bx500-240", "--scale", "1/64")
JSON = (*TWIN, "-q", "--output-format=json")
TRACE = "".join(
    f"{128166372003061629 + 10_000_000 * number},hm,0,{way},{8192 * number},4096,100\n"
    for number, way in enumerate(["Read", "Write", "Write", "Read", "Write"])
)


@pytest.fixture
def run() -> Run:
    return lambda *words: CliRunner().invoke(app, list(words), prog_name="flashtwin")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TRACE)
    (tmp_path / "job.fio").write_text("[a]\nread_iolog=t.csv\n")
    return tmp_path


@pytest.mark.parametrize(
    ("speed", "seconds"),
    [((), 4), (("--speed", "1"), 4), (("--speed=2x",), 2), (("--speed=0.5",), 8)],
)
def test_a_trace_is_replayed_at_a_speed(
    run: Run, folder: Path, speed: tuple[str, ...], seconds: int
) -> None:
    done = run("fio", "--trace", "t.csv", *speed, *JSON)
    assert done.exit_code == 0, done.output
    (job,) = json.loads(done.stdout)["jobs"]
    assert (job["read"]["total_ios"], job["write"]["total_ios"]) == (2, 3)
    assert job["write"]["io_bytes"] == 3 * 4096
    assert 1000 * seconds <= job["job_runtime"] < 1000 * seconds + 50


def test_as_fast_as_possible_and_with_options_of_fio(run: Run, folder: Path) -> None:
    words = ("--speed=max", "--iodepth=2", "--replay_skip", "read")
    done = run("fio", "--trace=t.csv", *words, *JSON)
    (job,) = json.loads(done.stdout)["jobs"]
    assert job["job_runtime"] < 50 and job["read"]["total_ios"] == 0
    assert job["job options"]["iodepth"] == "2" and job["write"]["total_ios"] == 3


def test_notes_say_what_is_replayed(run: Run, folder: Path) -> None:
    done = run("fio", "--trace=t.csv", *TWIN, "--output=out.txt")
    assert "t.csv (msr): 5 requests, 0 flushes, 1 file, 4 s" in done.stderr and not done.stdout
    assert "trace: (g=0)" in (folder / "out.txt").read_text()


USAGE = 2
# What could write to the files of others is refused for safety.
UNSAFE = 4
BAD = [
    (("--trace=t.csv", "job.fio", *TWIN), "job.fio is another one", "read_iolog=FILE", USAGE),
    (("--trace=t.csv", "--name=b", *TWIN), "--name is another one", "read_iolog=FILE", USAGE),
    (("--trace=t.csv", "--speed=fast", *TWIN), "fast is not a speed", "--help", USAGE),
    (("--trace=t.csv", "--speed=0", *TWIN), "0 is not a speed", "--help", USAGE),
    (
        ("--trace=t.csv", "--trace-event=DD", *TWIN),
        "not one of blkparse's actions",
        "--help",
        USAGE,
    ),
    (("--speed=2", "job.fio", *TWIN), "there is no trace", "replay_time_scale", USAGE),
    (("--trace=none", *TWIN), "the trace none cannot be read", "exists", USAGE),
    (
        ("--trace=t.csv", "--trace-format=iolog", *TWIN),
        "t.csv:1: this is not an iolog",
        "iolog",
        USAGE,
    ),
    (
        ("--trace=t.csv", "--trace-disk=3", *TWIN),
        "t.csv: the trace has no disk 3, but hm.0",
        "--trace-disk",
        USAGE,
    ),
    (("--trace=t.csv", "--readonly", *TWIN), "t.csv writes or trims", "replay_skip=write", USAGE),
    (("job.fio", "--readonly", *TWIN), "job.fio:2: the trace", "replay_skip=write", USAGE),
    (("job.fio", "--on", "./probe.bin"), "a trace names files of its own", "simulated", UNSAFE),
    (("--trace=t.csv", "--on", "./probe.bin"), "a trace names files", "simulated", UNSAFE),
]


@pytest.mark.parametrize(("words", "message", "hint", "code"), BAD)
def test_mistakes(
    run: Run, folder: Path, words: tuple[str, ...], message: str, hint: str, code: int
) -> None:
    done = run("fio", *words)
    assert done.exit_code == code and not done.stdout
    assert message in done.stderr and hint in done.stderr.partition("hint: ")[2]
    assert not (folder / "probe.bin").exists()


def test_a_trace_beyond_the_drive_wraps_where_it_is_told_to(run: Run, folder: Path) -> None:
    with (folder / "t.csv").open("a") as file:
        file.write("128166372053061629,hm,0,Write,383496192000,4096,100\n")
    done = run("fio", "--trace=t.csv", *TWIN)
    assert done.exit_code == 2
    assert "error: t.csv:6: a request reaches to byte 383496196096" in done.stderr
    assert "replay_scale=" in done.stderr and "--trace-fit wrap" in done.stderr
    done = run("fio", "--trace=t.csv", "--trace-fit=wrap", *JSON)
    (job,) = json.loads(done.stdout)["jobs"]
    assert done.exit_code == 0 and job["write"]["total_ios"] == 4


# A small trace of each format; two reads and a write, of two disks where the format has disks.
SAMPLES = {
    "systor": (
        "Timestamp,Response,IOType,LUN,Offset,Size\n"
        "1700000000.100000000,0.000800000,R,0,8192,131072\n"
        "1700000000.200000000,0.000900000,W,3,4096,4096\n"
        "1700000001.100000000,0.000100000,R,0,0,4096\n"
        "1700000001.100000000,0.000100000,,1,8192,16384\n"
    ),
    "alibaba": (
        "0,R,1048576,4096,1700000000000001\n3,W,8192,12288,1700000000500000\n"
        "0,R,1048576,4096,1700000001000001\n"
    ),
    "tencent": "1538323200,1000,16,0,2313\n1538323200,8,4,1,7\n1538323201,0,8,0,2313\n",
    "fiu": (
        "89968195792462 20782 gzip 2000 8 R 6 0 56f11b711d91a065a2b6458eca924523\n"
        "89968195892462 20783 gzip 8 16 W 6 1 56f11b711d91a065a2b6458eca924523\n"
        "89969195792462 20782 gzip 0 8 R 6 0 56f11b711d91a065a2b6458eca924523\n"
    ),
    "spc": "0,1000,8192,R,0.500000\n1,8,512,W,0.554041\n0,0,4096,r,1.500000\n",
    "disksim": "0.5 0 2048 16 1\n2.5 1 4096 8 0\n1000.5 0 0 8 41\n",
    "vscsi": (
        "#Vscsi Cmd Trace. (Trace Format Version 1)\n"
        "2147483692,4096,1,read,1000,2756778000000\n"
        "2147483769,512,1,write,8,2756778716947\n2147483770,512,1,read,8,2756779000000\n"
    ),
    "biosnoop": (
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)\n"
        "0.000000    app            1950    nvme0n1   W 1000       4096      0.75\n"
        "0.000250    my app         1950    sda       R 8          8192      1.00\n"
        "1.000250    app            1950    sda       R 0          4096      1.00\n"
    ),
}


@pytest.mark.parametrize("form", SAMPLES)
def test_each_format_is_replayed(run: Run, folder: Path, form: str) -> None:
    (folder / "x").write_text(SAMPLES[form])
    done = run("fio", "--trace=x", *JSON[:-2], "--output-format=json", "--output=out")
    assert done.exit_code == 0, done.output
    (job,) = json.loads((folder / "out").read_text())["jobs"]
    assert (job["read"]["total_ios"], job["write"]["total_ios"]) == (2, 1)
    assert 1000 <= job["job_runtime"] < 1050
    disks = 1 if form == "vscsi" else 2
    assert f"x ({form}): 3 requests, 0 flushes, {disks} file" in done.stderr
    assert ("1 line of no bytes or of no kind" in done.stderr) is (form == "systor")


def test_one_volume_of_many_is_replayed(run: Run, folder: Path) -> None:
    (folder / "x").write_text(SAMPLES["alibaba"])
    done = run("fio", "--trace=x", "--trace-disk=3", *JSON)
    (job,) = json.loads(done.stdout)["jobs"]
    assert (job["read"]["total_ios"], job["write"]["total_ios"]) == (0, 1)
    done = run("fio", "--trace=x", "--trace-disk=5", *TWIN)
    assert done.exit_code == USAGE and "no disk 5, but 0, 3" in done.stderr


def test_two_readings_are_refused_until_one_is_named(run: Run, folder: Path) -> None:
    (folder / "x").write_text("1000 0 2048 16 0\n2000 0 4096 8 1\n")
    done = run("fio", "--trace=x", *TWIN)
    assert done.exit_code == USAGE and "disksim (times in milliseconds) or as mqsim" in done.stderr
    for form, runtime in (("disksim", 1000), ("mqsim", 0)):
        done = run("fio", "--trace=x", "--trace-format", form, *JSON)
        (job,) = json.loads(done.stdout)["jobs"]
        assert runtime <= job["job_runtime"] < runtime + 50


@pytest.mark.parametrize("event", "QDC")
def test_blkparse_of_no_bytes_is_a_flush(run: Run, folder: Path, event: str) -> None:
    (folder / "x").write_text(
        "  8,0    1        1     0.000000000   697  Q   W 1000 + 8 [app]\n"
        "  8,0    1        2     0.000010000   697  D   W 1000 + 8 [app]\n"
        "  8,0    1        3     0.000100000     0  C   W 1000 + 8 [0]\n"
        "  8,0    1        4     0.000200000   697  Q FWS [journal]\n"
        "  8,0    1        5     0.000300000   697  D  FN [journal]\n"
        "  8,0    1        6     0.000400000     0  C  WS 1008 [0]\n"
    )
    done = run("fio", "--trace=x", "--trace-event", event, *TWIN, "--output=out")
    assert done.exit_code == 0 and "1 request, 1 flush" in done.stderr


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (b"\x1f\x8b\x08\x00", "packed by gzip", "gunzip"),
        (b"\x01\x00\x00\x00\x00\x10", "a binary file", "vscsiStats -e"),
        ("1,R,0,512,1\n".encode("utf-16"), "x:1: this is text in UTF-16", "iconv -f UTF-16"),
        ("1,R,0,512,1\n".encode("utf-16-be"), "x:1: this is text in UTF-16", "iconv -f UTF-16"),
        (b"1,R,0,512,170000000000000\r3,W,0,512,1700000\r", "x:2: its time lies 5 years", "repair"),
        (b"time,address\n1,2\n", "x:1: this is not a trace of a kind", "Timestamp,Hostname"),
    ],
)
def test_no_text_or_an_unknown_table_is_refused(
    run: Run, folder: Path, content: bytes, message: str, hint: str
) -> None:
    (folder / "x").write_bytes(content)
    done = run("fio", "--trace=x", *TWIN)
    assert done.exit_code == USAGE
    assert message in done.stderr and hint in done.stderr.partition("hint: ")[2]


def test_a_trace_of_more_than_ten_years_is_refused_beforehand(run: Run, folder: Path) -> None:
    (folder / "x").write_text("fio version 2 iolog\na add\na wait 9000000000000 0\na read 0 512\n")
    done = run("fio", "--trace=x", "--speed=0.02x", *TWIN)
    assert done.exit_code == USAGE and "requests take 14 years" in done.stderr


def test_the_core_knows_each_format_by_its_name(run: Run, folder: Path) -> None:
    (folder / "x").write_text("nothing\n")
    for form in get_args(TraceFormat):
        done = run("fio", "--trace=x", "--trace-format", form, *TWIN)
        assert done.exit_code == USAGE and "error: x" in done.stderr
