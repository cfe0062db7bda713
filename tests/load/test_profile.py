"""The contents of a trace: counts that are known beforehand, from a file and from a pipe."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from traces import RECORD, RECORDS, database, iolog

from flashtwin.load.profile import notes, profile, sentences

Run = Callable[..., Result]


def test_counts_of_a_database(tmp_path: Path) -> None:
    found = profile(iolog(tmp_path / "db", database(1)))
    places, batches = found.load.places, RECORDS // 8
    assert found.ios == (0, RECORDS + batches, 0) and found.flushes == RECORDS
    assert found.load.write.sizes == {RECORD: RECORDS, 4 * RECORD: batches}
    # The log goes on where it ended; the first of its writes does not.
    assert found.load.write.sequential >= RECORDS - 1
    assert places.writes == RECORDS + 4 * batches == places.written + places.overwrites
    assert not places.sampled and places.partial_writes == 0
    # Between two flushes lie a record, and where a batch was written 20 KiB.
    assert sum(found.load.between_flushes) == RECORDS
    assert found.load.between_flushes[13] == RECORDS - batches + 1


def test_what_covers_a_place_in_part_is_told(tmp_path: Path) -> None:
    found = profile(iolog(tmp_path / "db", database(1, shift=512)))
    # Each batch of four places touches five, the first and the last in part.
    assert found.load.places.partial_writes == 2 * RECORDS // 8
    assert any("cover them in part" in note for note in notes(found))


def test_overwrites_and_what_lies_between(tmp_path: Path) -> None:
    ring = (("write", number % 16 * RECORD, RECORD) for number in range(64))
    places = profile(iolog(tmp_path / "ring", ring)).load.places
    assert (places.written, places.overwrites) == (16, 48)
    # 16 records of 4 KiB lie from one write of a place to the next: class 17 begins at 64 KiB.
    assert places.median_distance == 16 * RECORD and places.distances[17] == 48


def test_a_trim_ends_what_a_place_holds(tmp_path: Path) -> None:
    kinds = ("write", "trim", "write", "read")
    requests = ((kind, 0, RECORD) for kind in kinds)
    places = profile(iolog(tmp_path / "t", requests)).load.places
    assert (places.overwrites, places.reads_of_written) == (0, 1)


def msr(rows: int) -> Iterator[str]:
    for number in range(rows):
        at = 128166372003061629 + number * 10_000
        yield f"{at},h,0,Write,{number * 8192 % (1 << 30)},4096,9\n"


def test_a_pipe_is_read_once(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("".join(msr(2000))))
    writer.start()
    done = run("trace", str(pipe), "--json")
    writer.join()
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["ios"] == [0, 2000, 0]


def test_a_page_shows_every_number_of_its_figures(run: Run, tmp_path: Path) -> None:
    trace = tmp_path / "app.csv"
    trace.write_text("".join(msr(500)))
    done = run("trace", str(trace), "--out", str(tmp_path / "app.html"))
    assert done.exit_code == 0 and "500 requests" in done.stdout
    text = (tmp_path / "app.html").read_text()
    assert "https://" not in text.replace("https://vega.github.io/schema", "")
    for line in sentences(profile(trace), "app.csv"):
        assert line in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the trace is empty"),
        ("hello\nworld\n", "not a trace of a kind that is known"),
        ("".join(msr(3)) + "128166372003061629,h,0,Write,x,4096,9\n", ":4"),
        ("".join(msr(3)) + "\0\1\2", "t.csv:4: this is a binary file"),
    ],
)
def test_what_is_no_trace_is_refused(run: Run, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    done = run("trace", str(tmp_path / "t.csv"))
    assert done.exit_code == 2 and message in done.stderr and "hint:" in done.stderr


def test_the_page_is_not_written_over_the_trace(run: Run, tmp_path: Path) -> None:
    trace = tmp_path / "app.csv"
    trace.write_text("".join(msr(5)))
    assert run("trace", str(trace), "--out", str(trace)).exit_code == 4
    assert trace.read_text() == "".join(msr(5))


def blkparse(times: list[float]) -> bytes:
    rows = (f"8,0 1 {n} {at:.6f} 7 D W {8 * n} + 8 [a]\n" for n, at in enumerate(times, 1))
    return "".join(rows).encode()


def blktrace(times: list[float]) -> bytes:
    # A record: mark, sequence, time, sector, bytes, a write that is handed over, process, disk.
    return b"".join(
        struct.pack(
            "<IIQQIIIIIHH",
            *(0x65617407, n, int(at * 1e9), 8 * n, 4096, 0x20007, 7, 8 << 20, 0, 0, 0),
        )
        for n, at in enumerate(times, 1)
    )


def strace(times: list[float]) -> bytes:
    call = 'pwrite64(3</d/a>, ""..., 4096, 0) = 4096'
    return "".join(f"7 {100 + at:.6f} {call}\n" for at in times).encode()


def iolog_of(times: list[float]) -> bytes:
    rows = (f"{at * 1e6:.0f} /a write 0 4096\n" for at in times)
    return b"fio version 3 iolog\n" + "".join(rows).encode()


@pytest.mark.parametrize(
    ("written", "line"), [(blkparse, 4), (blktrace, 4), (strace, 4), (iolog_of, 5)]
)
def test_times_that_go_back_are_told_by_line(
    tmp_path: Path, written: Callable[[list[float]], bytes], line: int
) -> None:
    (tmp_path / "t").write_bytes(written([1.0, 2.0, 3.0, 2.5, 4.0]))
    backwards = profile(tmp_path / "t")
    assert (backwards.earlier, backwards.first_earlier) == (1, line) and backwards.late == 0
    assert any(f"the first in line {line}: " in text for text in notes(backwards))
    (tmp_path / "t").write_bytes(written([1.0, 2.0, 3.0]))
    assert notes(profile(tmp_path / "t")) == []


@pytest.mark.parametrize("rows", [1, 3, 200])
def test_a_last_line_without_an_end_is_told(tmp_path: Path, rows: int) -> None:
    text = "".join(f"0,{8 * n},4096,w,{n}.25\n" for n in range(rows))
    (tmp_path / "t.csv").write_text(text[:-2])
    assert profile(tmp_path / "t.csv").unended == rows
    assert f"line {rows} ends without a line break" in notes(profile(tmp_path / "t.csv"))[-1]


def peak_bytes(folder: Path, total: int, request: int) -> int:
    """The most memory that a trace of a length takes, which comes through a pipe."""
    pipe = folder / f"pipe-{total}"
    os.mkfifo(pipe)
    piece = "".join(
        f"128166372003061629,h,0,Write,#####{number * request:012d},{request},9\n"
        for number in range(1 << 12)
    ).encode()
    child = subprocess.Popen(
        [sys.executable, "-m", "flashtwin.cli", "trace", str(pipe), "--format", "msr", "--json"],
        stdout=subprocess.DEVNULL,
    )
    with pipe.open("wb") as file:
        for number in range(total // len(piece)):
            file.write(piece.replace(b"#####", f"{number % 99_999 + 1:05d}".encode()))
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return usage.ru_maxrss * 1024


# All touch more places of 4 KiB than are followed one by one.
@pytest.mark.parametrize(
    ("short", "long", "request_bytes"),
    [
        (1 << 20, 2 << 20, 1 << 18),
        pytest.param(50_000_000, 5_000_000_000, 4096, marks=pytest.mark.full),
    ],
)
def test_a_longer_trace_takes_no_more_memory(
    tmp_path: Path, short: int, long: int, request_bytes: int
) -> None:
    most = peak_bytes(tmp_path, short, request_bytes) + (4 << 20)
    assert peak_bytes(tmp_path, long, request_bytes) < most


def test_disks_of_one_trace_are_told(tmp_path: Path) -> None:
    rows = [f"1281663720030616{at:02d},h,{at % 2},Write,{at << 20},4096,9\n" for at in range(4)]
    (tmp_path / "t.csv").write_text("".join(rows))
    (remark,) = profile(tmp_path / "t.csv").remarks
    assert remark.startswith("it is of 2 disks (h.0, h.1), which lie beside one another on a drive")


def test_the_options_of_the_command_are_named_in_its_hints(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("".join(msr(3)))
    drive = ("--on", "crucial-p1-1tb", "--scale", "1/64")
    for words in (("trace", "t.csv"), ("cost", "t.csv", *drive)):
        done = run(*words, "--disk", "5")
        assert done.exit_code == 2 and "hint: name one of them: --disk" in done.stderr
