"""Traces in job files: what is replayed where, what is refused, and real fio on the other side."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flashtwin.catalogue.loader import load
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import PhaseResult, Plan, plan
from flashtwin.fio.plan.traces import Replaying
from flashtwin.fio.report.logs import Log, files_of
from flashtwin.fio.run import FioTwin, run_plan
from flashtwin.model.fio_job import Reading, Skip

SCALE = "1/16"
SIZE = load("bx500-240", scale=SCALE).capacity_bytes
DRIVE = Target(name="bx500-240", bytes=SIZE)
WAYS = ("read", "write", "trim")
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

IOLOG = """fio version 2 iolog
a add
b add
a write 0 4096
b read 12288 4096
a wait 2000000
a sync
b trim 4096 4096
"""
BLKPARSE = "".join(
    f"  8,0    0 {number:8d}     0.{number:06d}000  4711  {action}  WS {2048 * number} + 8 [x]\n"
    for number, action in enumerate("QGDCQD", 1)
)
MSR = "".join(
    f"{128166372003061629 + 10_000_000 * number},hm,{disk},Write,{offset},4096,100\n"
    for number, (disk, offset) in enumerate([(0, 0), (1, 8192), (0, 40960)])
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.iolog", IOLOG), ("b.txt", BLKPARSE), ("m.csv", MSR)):
        (tmp_path / name).write_text(text)
    yield tmp_path


def made(options: str, **replaying: Any) -> Plan:
    text = "[t]\nioengine=libaio\niodepth=8\n" + "\n".join(options.split()) + "\n"
    jobs = typed(read_text(text), environment={}).jobs
    return plan(jobs, DRIVE, replaying=Replaying(**replaying))


def results(made: Plan) -> list[PhaseResult]:
    return run_plan(FioTwin(load("bx500-240", scale=SCALE)), made, lambda progress: True)


def rows(made: Plan) -> list[tuple[Any, Any]]:
    return [pair for phase in results(made) for pair in phase.ran]


def text_of(log: Log) -> str:
    return "".join(log.pieces())


def counts(row: Any) -> tuple[list[int], list[int], int]:
    sides = [row[way] for way in WAYS]
    ios, sizes = [side["ios"] for side in sides], [side["bytes"] for side in sides]
    return ios, sizes, int(row["sync"]["issued"])


def test_a_job_replays_with_the_times_of_its_trace() -> None:
    ((_, row),) = rows(made("read_iolog=a.iolog"))
    assert counts(row) == ([1, 1, 1], [4096, 4096, 4096], 1)
    assert 2e9 <= row["ended_ns"] < 2.01e9
    for option, seconds in (("replay_time_scale=200", 1), ("replay_no_stall=1", 0)):
        ((_, row),) = rows(made(f"read_iolog=a.iolog {option}"))
        assert counts(row)[0] == [1, 1, 1] and seconds <= row["ended_ns"] / 1e9 < seconds + 0.01


def test_files_lie_beside_one_another_and_devices_are_the_drive() -> None:
    (process,) = made("read_iolog=a.iolog").processes
    assert process.job.fio is not None and process.job.rw == "rw"
    assert [(one.start, one.bytes) for one in process.job.fio.spans] == [(0, 4096), (4096, 16384)]
    whole = [(0, SIZE)]
    for options, replaying in (
        ("read_iolog=b.txt", {}),
        ("read_iolog=m.csv", {"reading": Reading(disk="1")}),
    ):
        (process,) = made(options, **replaying).processes
        assert process.job.fio is not None
        assert [(one.start, one.bytes) for one in process.job.fio.spans] == whole
    (process,) = made("read_iolog=m.csv").processes
    assert process.job.fio is not None
    assert [(one.start, one.bytes) for one in process.job.fio.spans] == [(0, 45056), (45056, 12288)]
    (process,) = made("read_iolog=m.csv replay_redirect=/dev/sda").processes
    assert process.job.fio is not None
    assert [(one.start, one.bytes) for one in process.job.fio.spans] == whole * 2


def test_the_event_of_blkparse_and_what_is_skipped() -> None:
    for event, ios in (("D", 2), ("Q", 2), ("C", 1)):
        ((_, row),) = rows(made("read_iolog=b.txt", reading=Reading(event=event)))
        assert counts(row)[0] == [0, ios, 0]
    (process,) = made("read_iolog=a.iolog replay_skip=read,sync").processes
    assert process.job.fio is not None and process.job.fio.trace is not None
    trace = process.job.fio.trace
    assert trace.shape.skip == Skip(read=True, sync=True) and trace.uses == (False, True, True)
    ((_, row),) = rows(made("read_iolog=a.iolog replay_skip=read,sync"))
    assert counts(row) == ([0, 1, 1], [0, 4096, 4096], 0)


def test_copies_take_traces_in_turn_and_share_files() -> None:
    found = made("read_iolog=a.iolog:m.csv numjobs=3").processes
    paths = [one.job.fio.trace.path for one in found if one.job.fio and one.job.fio.trace]
    names = [path.rpartition("/")[2] for path in paths]
    assert [(one.clone.number, name) for one, name in zip(found, names, strict=True)] == [
        (0, "a.iolog"),
        (2, "a.iolog"),
        (1, "m.csv"),
    ]
    first, second, third = (one.job.fio.spans for one in found if one.job.fio)
    assert first == second and third[0].start >= first[-1].start + first[-1].bytes


def test_notes_say_what_is_in_a_trace_and_what_does_nothing(folder: Path) -> None:
    (folder / "odd").write_text("fio version 2 iolog\nf write 100 200\n")
    notes = [str(note) for note in made("read_iolog=odd loops=3 rate_iops=5").notes]
    assert "odd (iolog): 1 request, 0 flushes, 1 file, 0 s" in notes[0]
    assert "1 of 1 requests do not begin and end at sectors" in notes[1]
    assert "text:5: loops does nothing" in notes[2] and "text:6: rate_iops does" in notes[3]


BAD = [
    (b"fio version 2 iolog\nf read x 512\n", "bad:2: its offset is `x`", "repair"),
    (b"fio version 2 iolog\nf read 0\n", "bad:2: it ends before its length", "repair"),
    (b"fio version 7 iolog\n", "bad:1: an iolog of version 7", "fio 3"),
    (b"", "bad: the trace is empty", "format"),
    (b"hello\n", "bad:1: this is not a trace of a kind that is known", "blkparse"),
    (b"fio version 2 iolog\nf sync 0 0\n", "bad: it holds only syncs", "add the requests"),
    (b"\x07tae\x00\x00", "bad:1: this record has 48 bytes, and 6 of them are there", "repair"),
    (b"eat\x08\x00\x00", "bad:1: records of version 8, and version 7 is known", "blkparse -i"),
    (
        b"fio version 2 iolog\n/dev/sda read 0 512\n/dev/sda read 999999999488 512\n",
        f"bad:3: a request reaches to byte 1000000000000, and bx500-240 has {SIZE}",
        f"replay_scale={-(-(10**12) // SIZE)}",
    ),
    (
        b"fio version 2 iolog\nf read 0 512\ng read 999999999488 512\n",
        f"bad:3: 2 files take 1000000004096 bytes together, and bx500-240 has {SIZE}",
        "--trace-fit wrap",
    ),
    (
        b"fio version 2 iolog\nf read 0 4398046511104\n",
        "bad:2: its length is beyond what any drive has",
        "repair the line, or remove it",
    ),
]


@pytest.mark.parametrize(("content", "message", "hint"), BAD)
def test_a_trace_that_cannot_be_replayed_is_told(
    folder: Path, content: bytes, message: str, hint: str
) -> None:
    (folder / "bad").write_bytes(content)
    with pytest.raises(FlashtwinError) as found:
        made("read_iolog=bad")
    assert found.value.message.startswith(message), found.value.message
    assert "(read_iolog at text:4)" in found.value.message
    assert hint in (found.value.hint or "") and found.value.exit_code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("read_iolog=nowhere", "text:4: the trace nowhere cannot be read: No such file"),
        ("read_iolog=.", ".: this is not a regular file"),
        ("read_iolog=a.iolog replay_skip=reads", "text:5: reads is not a kind of request"),
        ("read_iolog=:", "text:4: no trace is named"),
    ],
)
def test_options_that_cannot_be_followed_are_told(options: str, message: str) -> None:
    with pytest.raises(FlashtwinError) as found:
        made(options)
    assert found.value.message.startswith(message) and found.value.exit_code == 2


def test_a_trace_beyond_the_drive_fits_when_it_wraps_or_is_scaled(folder: Path) -> None:
    (folder / "far").write_text("fio version 2 iolog\nf write 1000000000000 4096\ng read 0 512\n")
    ((_, row),) = rows(made("read_iolog=far", fit="wrap"))
    assert counts(row)[0] == [1, 1, 0] and row["failure"] is None
    ((_, row),) = rows(made("read_iolog=far replay_scale=100 replay_align=4k"))
    assert counts(row)[0] == [1, 1, 0] and row["failure"] is None


def test_an_iolog_of_a_replay_says_what_was_replayed(folder: Path) -> None:
    (log,) = files_of(results(made("read_iolog=m.csv write_iolog=again")))
    text = text_of(log)
    (folder / "again").write_text(text)
    lines = [line for line in text.splitlines() if " write " in line]
    assert lines == [
        "1 hm.0 write 0 4096",
        "1000001 hm.1 write 8192 4096",
        "2000001 hm.0 write 40960 4096",
    ]
    ((_, row),) = rows(made("read_iolog=again"))
    assert counts(row)[0] == [0, 3, 0] and row["ended_ns"] >= 2_000_000_000


def test_copies_log_into_one_file_with_the_syncs_of_their_ends(folder: Path) -> None:
    job = "[w]\nrw=write\nsize=8k\nnumjobs=2\nend_fsync=1\nwrite_iolog=both\n"
    phases = results(plan(typed(read_text(job), environment={}).jobs, DRIVE))
    (log,) = files_of(phases)
    text = text_of(log)
    assert text.count("fio version 3 iolog\n") == 2
    assert text.count(" write ") == 4 and text.count(" sync 0 0\n") == 2
    (folder / log.name).write_text(text)
    ((_, row),) = rows(made("read_iolog=both"))
    assert counts(row) == ([0, 4, 0], [0, 16384, 0], 2)


def test_more_files_than_there_can_be_are_told(folder: Path) -> None:
    with (folder / "many").open("w") as file:
        file.write("fio version 2 iolog\n")
        file.writelines(f"f{number} write 0 512\n" for number in range(65_537))
    with pytest.raises(FlashtwinError, match="many: 65537 files, and 65536 are possible"):
        made("read_iolog=many")


def test_a_trace_that_changes_after_it_was_looked_through(folder: Path) -> None:
    plan = made("read_iolog=a.iolog")
    (folder / "a.iolog").write_text(IOLOG + "a write 0 oops\n")
    ((_, row),) = rows(plan)
    assert row["failure"][0] == 5 and "a.iolog, line 9: its length is `oops`" in row["failure"][1]
    assert counts(row) == ([1, 1, 1], [4096, 4096, 4096], 1)


def fio(*words: str) -> list[Any]:
    done = subprocess.run(
        ["fio", *words, "--output-format=json"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    jobs: list[Any] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return jobs


@needs_fio
def test_an_iolog_of_real_fio_is_replayed(folder: Path) -> None:
    words = [
        "--name=w",
        "--ioengine=psync",
        "--rw=randrw",
        "--bsrange=4k-64k",
        "--size=2m",
        "--fsync=16",
    ]
    (wrote,) = fio(
        *words, "--fsync=16", f"--filename={folder / 'data'}", "--write_iolog=real.iolog"
    )
    ((_, row),) = rows(made("read_iolog=real.iolog"))
    ios, sizes, syncs = counts(row)
    assert ios[:2] == [wrote[way]["total_ios"] for way in WAYS[:2]] and min(ios[:2]) > 10
    assert sizes[:2] == [wrote[way]["io_bytes"] for way in WAYS[:2]]
    assert syncs == wrote["sync"]["total_ios"] > 0


@needs_fio
def test_our_iolog_replays_on_real_fio_and_on_a_twin(folder: Path) -> None:
    job = "[w]\nioengine=libaio\niodepth=4\nrw=randrw\nsize=2m\nfsync=8\nwrite_iolog=ours\n"
    phases = results(plan(typed(read_text(job), environment={}).jobs, DRIVE))
    (log,) = files_of(phases)
    (folder / log.name).write_text(text_of(log))
    ((_, row),) = rows(made("read_iolog=ours"))
    assert counts(row) == counts(phases[0].rows[0])
    (real,) = fio("--name=r", "--ioengine=null", "--iodepth=4", "--read_iolog=ours")
    assert [real[way]["total_ios"] for way in WAYS] == counts(row)[0]
    assert real["sync"]["total_ios"] == counts(row)[2] > 0


def peak_kib(lines: int, folder: Path) -> tuple[int, int]:
    """Memory that a replay takes at most, and the length of its trace."""
    path = folder / f"{lines}.csv"
    with path.open("w") as file:
        for start in range(0, lines, 1000):
            file.writelines(
                f"{128166372003061629 + 500 * number},hm,0,Write,"
                f"{4096 * (number * 7919 % 65536)},4096,100\n"
                for number in range(start, start + 1000)
            )
    words = ["--trace", str(path), "--speed", "max", "--on", "bx500-240", "--scale", SCALE, "-q"]
    process = subprocess.Popen(
        [sys.executable, "-m", "flashtwin.cli", "fio", *words, "--output=answer.txt"], cwd=folder
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    length = path.stat().st_size
    path.unlink()
    return used.ru_maxrss, length >> 10


@pytest.mark.full
def test_a_long_trace_takes_no_more_memory_than_a_short_one(folder: Path) -> None:
    short, _ = peak_kib(200_000, folder)
    long, length = peak_kib(2_000_000, folder)
    assert length > 80_000 and long - short < 16_000, (short, long)
