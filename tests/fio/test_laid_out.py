"""What fio lays out before its jobs is there on a twin too, without time; what is not there is
told. Checked against fio itself where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import typed
from flashtwin.fio.on_files import prepare
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import Plan, plan

HAS_FIO = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
M = 1 << 20
DRIVE = Target(name="bx500-240", bytes=240 * 10**9)
TWIN = ("--on", "bx500-240", "--scale", "1/64")


def made(text: str, target: Target = DRIVE) -> Plan:
    return plan(typed(read_text(text), environment={}).jobs, target)


def run(*words: str) -> Result:
    done = CliRunner().invoke(app, ["fio", *words, *TWIN])
    assert done.exit_code == 0, done.output
    return done


LAID = [
    ("rw=read", 1),
    ("rw=randread", 1),
    ("rw=randrw", 1),
    ("rw=write", 0),
    ("rw=randtrim", 0),
    ("rw=trimwrite", 0),
    ("rw=write\noverwrite=1", 1),
    ("rw=write\nioengine=mmap", 1),
    ("rw=read\nioengine=null", 0),
    ("rw=read\ncreate_on_open=1", 0),
    ("rw=read\nallow_file_create=0", 1),
    ("rw=read\npre_read=1", 1),
    ("rw=read\ncreate_only=1", 1),
    ("rw=read\nfilename=/dev/sda", 0),
    ("rw=read\nfilename=bx500-240", 0),
    ("rw=read\nioengine=rbd\npool=x", 0),
]


@pytest.mark.parametrize(("options", "mebibytes"), LAID)
def test_fio_lays_out_for_these(options: str, mebibytes: int) -> None:
    laid = made(f"[a]\nsize=1m\n{options}\n").laid
    assert laid == (((0, M),) if mebibytes else ())


@HAS_FIO
@pytest.mark.parametrize("options", [text for text, _ in LAID if "=/dev" not in text][:8])
def test_real_fio_lays_out_for_the_same(options: str, tmp_path: Path) -> None:
    job = f"[a]\nsize=1m\nfilename=f\ncreate_only=1\nfallocate=none\n{options}\n"
    done = subprocess.run(["fio", "-"], input=job, text=True, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    is_laid = (tmp_path / "f").stat().st_blocks * 512 >= M
    assert is_laid == bool(made(job).laid)


def test_whole_units_of_the_map_hold_data() -> None:
    two = "[a]\nrw=read\nsize=5k\nbs=1k\n[b]\nrw=read\nsize=1m\n"
    assert made(two).laid == ((0, 8192 + M),)
    apart = "[a]\nrw=read\nsize=5k\nbs=1k\n[b]\nrw=write\nsize=1m\n[c]\nrw=read\nsize=4k\n"
    assert made(apart).laid == ((0, 8192), (8192 + M, 4096))
    coarse = Target(name="a", bytes=10**9, unit_bytes=16384)
    assert made(apart, coarse).laid == ((0, 16384), (M, 16384))


def test_a_file_that_a_writer_makes_anew_holds_nothing() -> None:
    shorter = "[global]\nfilename=f\n[r]\nrw=read\nsize=1m\n[w]\nrw=write\nsize={}\n"
    assert made(shorter.format("1m")).laid == ((0, M),)
    assert made(shorter.format("2m")).laid == ()


def total(done: Result, job: int = 0, way: str = "read") -> dict[str, float]:
    answer: dict[str, float] = json.loads(done.stdout)["jobs"][job][way]
    return answer


READS = ("--name=a", "--rw=randread", "--bs=4k", "--number_ios=2000", "--output-format=json")


def test_reads_of_a_file_are_as_fast_as_of_one_that_was_written(tmp_path: Path) -> None:
    laid = run(*READS, "--size=64m")
    assert "met no data" not in laid.stderr
    job = tmp_path / "job.fio"
    job.write_text(
        "[w]\nrw=write\nbs=1m\nsize=64m\nfilename=f\n[r]\nstonewall\nrw=randread\nbs=4k\nsize=64m"
        "\nnumber_ios=2000\nfilename=f\n"
    )
    written = run(str(job), "--output-format=json")
    speed = total(laid)["iops"], total(written, 1)["iops"]
    assert speed[0] == pytest.approx(speed[1], rel=0.05)
    # Laying out takes none of the jobs' time.
    assert total(laid)["runtime"] == pytest.approx(2000 / speed[0] * 1000, rel=0.05)


def test_reads_of_a_drive_that_meet_nothing_are_counted(tmp_path: Path) -> None:
    empty = run(*READS, "--size=64m", "--filename=/dev/sda")
    assert "2,000 reads met no data" in empty.stderr
    trace = tmp_path / "trace.csv"
    rows = [f"{12800000000 + n * 1000},srv,0,Read,{n * 4096},4096,100" for n in range(7)]
    rows.insert(3, "128000000025,srv,0,Write,0,4096,100")
    trace.write_text("\n".join(sorted(rows)) + "\n")
    assert "7 reads met no data" in run("--trace", str(trace)).stderr
    assert "met no data" not in run(*READS, "--size=64m", "--filename=/dev/sda", "-q").stderr


def test_a_drive_that_cannot_be_written_without_time_takes_it() -> None:
    done = run(*READS, "--size=4m", "--set", "controller.gather=false")
    assert "laid out in the drive's time" in done.stderr and "met no data" not in done.stderr


SHARED = "[global]\nfilename=f\nbs=4k\n[a]\nrw=write\nsize=8m\n[b]\nstonewall\nrw=write\n{}\n"


@pytest.mark.parametrize(
    ("options", "offset", "size"),
    [
        ("offset=40%\nsize=20%", 3358720, 409 * 4096),
        ("size=50%", 0, 4 * M),
        ("offset=4m", 4 * M, 4 * M),
        ("", 0, 8 * M),
        ("offset=25%\nsize=1m", 2 * M, M),
    ],
)
def test_a_percentage_of_a_file_that_another_job_sizes(
    options: str, offset: int, size: int
) -> None:
    text = SHARED.format(options)
    _, second = made(text).processes
    assert second.job.fio is not None
    (span,) = second.job.fio.spans
    assert (span.offset, span.size) == (offset, size)
    # On a path fio is told in bytes.
    on_path = prepare(typed(read_text(text), environment={}).jobs, "./probe.bin")
    if options:
        told = on_path.jobs[1]
        assert (told["offset"], told["size"] or 4 * M) == (offset, size)


@HAS_FIO
def test_real_fio_takes_the_same_part_of_it(tmp_path: Path) -> None:
    text = SHARED.format("offset=40%\nsize=20%")
    done = subprocess.run(
        ["fio", "--output-format=json", "-"], input=text, text=True, cwd=tmp_path,
        capture_output=True,
    )  # fmt: skip
    ios = json.loads(done.stdout)["jobs"][1]["write"]["total_ios"]
    (_, second) = made(text).processes
    assert second.job.fio is not None and ios == second.job.fio.spans[0].size // 4096


@pytest.mark.parametrize("text", [SHARED.replace("bs=4k", "fallocate=none"), "behind"])
def test_a_percentage_of_a_file_that_is_not_there_yet_is_refused(text: str) -> None:
    if text == "behind":
        text = "[global]\nfilename=f\n[b]\n{}\n[a]\nrw=write\nsize=8m\n"
    with pytest.raises(FlashtwinError, match=r"text:\d+: job b works on a percentage of f, which"):
        made(text.format("size=20%"))


def test_an_offset_in_percent_of_a_new_file_is_nothing() -> None:
    text = "[b]\nrw=write\nbs=4k\nsize=8m\noffset=20%\n"
    planned = made(text)
    (process,) = planned.processes
    assert process.job.fio is not None
    assert [(s.offset, s.again) for s in process.job.fio.spans] == [(0, 1679360)]
    (note,) = planned.notes
    assert str(note).startswith("text:5: offset: 20% of b.0.0 is 0, as in a first run of fio")
    on_path = prepare(typed(read_text(text), environment={}).jobs, "./probe.bin")
    assert on_path.jobs[0]["offset"] == 0 and note in on_path.notes
