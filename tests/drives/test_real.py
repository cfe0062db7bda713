"""Real on a true file, through a true fio; what the contract does not ask of every drive."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from flashtwin.drives.real import disk, real_file
from flashtwin.drives.real.real import Real
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.series import WRITE
from flashtwin.model.step import (
    Chain,
    Fill,
    Job,
    Mark,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Step,
    Trim,
)
from flashtwin.model.target import Interrupted, Progress
from flashtwin.runner.run import run_batteries

# Counts what it was asked, and names the disk as smartctl does.
SMARTCTL = """#!/bin/sh
echo x >> {place}/asked
echo '{{"serial_number": "S4X9SECRET", "model_name": "A DISK S4X9SECRET",
 "nvme_smart_health_information_log": {{"data_units_written": '$(wc -l < {place}/asked)'}}}}'
"""
MIB = 1 << 20
SIZE = 16 * MIB
pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def go(progress: Progress) -> bool:
    return True


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Real]:
    drive = Real(tmp_path, SIZE + 12345, say=lambda text: None).open()
    yield drive
    drive.close()


def do(drive: Real, step: Step) -> Result:
    answer = drive.do(step, go)
    assert isinstance(answer, Result)
    return answer


def test_the_file_from_begin_to_end(tmp_path: Path) -> None:
    said: list[str] = []
    drive = Real(tmp_path, SIZE + 12345, say=said.append).open()
    path = tmp_path / real_file.NAME
    assert drive.info.name == tmp_path.name
    assert drive.info.capacity_bytes == SIZE
    assert drive.info.identity["size_bytes"] == SIZE
    assert str(path) in said[0]
    assert path.stat().st_mode & 0o777 == 0o600
    assert "filling" not in said[-1]
    do(drive, Mark(label="first"))
    assert "filling it with random data" in said[-1]
    # No holes, and nothing that a drive could compress.
    assert path.stat().st_blocks * 512 >= SIZE
    data = path.read_bytes()
    assert len(zlib.compress(data[: 8 * MIB])) > 0.98 * 8 * MIB
    assert len({data[at : at + 4096] for at in range(0, SIZE, 4096)}) == SIZE // 4096
    drive.close()
    drive.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FlashtwinError, match="closed") as caught:
        drive.do(Mark(label="after"), go)
    assert caught.value.exit_code == USAGE


def test_a_file_by_name(tmp_path: Path) -> None:
    # fio splits names at colons and expands dollars; it never sees ours.
    path = tmp_path / "odd: $HOME ;name#"
    drive = Real(path, SIZE, say=lambda text: None).open()
    do(drive, Fill())
    assert path.stat().st_size == SIZE
    drive.close()
    assert list(tmp_path.iterdir()) == []


def test_a_pass_over_the_whole_file(drive: Real) -> None:
    job = Job(name="fill", rw="write", block_bytes=128 * 1024, depth=32)
    result = do(drive, Run(label="fill", jobs=(job,), sample_s=0.005))
    assert int(result.series.bytes.sum()) == SIZE
    assert set(result.series.direction.tolist()) == {WRITE}
    assert result.note is None
    assert dict(result.xray) == {}


def test_host_time_is_said_to_be_ignored(drive: Real) -> None:
    job = Job(name="reads", rw="read", block_bytes=MIB, host_ns=5000)
    result = do(drive, Run(label="reads", jobs=(job,)))
    assert result.note == "how long the host takes for a command is up to this machine"


def test_a_job_bound_by_bytes_or_time_ends_with_the_first(drive: Real) -> None:
    job = Job(name="reads", rw="randread", block_bytes=4096, io_bytes=4 * MIB, runtime_s=60.0)
    (totals,) = do(drive, Run(label="bytes", jobs=(job,))).jobs
    assert totals.bytes == 4 * MIB
    slow = Job(
        name="slow", rw="read", block_bytes=4096, io_bytes=SIZE, runtime_s=0.5, rate_bytes_s=409600
    )
    (totals,) = do(drive, Run(label="time", jobs=(slow,))).jobs
    # 100 requests a second for half a second, and what is allowed ahead of the rate.
    assert 25 <= totals.ios <= 100


def test_a_mix_keeps_its_shares(drive: Real) -> None:
    job = Job(
        name="mix", rw="randrw", block_bytes=4096, depth=8, io_bytes=16 * MIB, read_percent=70
    )
    result = do(drive, Run(label="mix", jobs=(job,)))
    reads, writes = (int(result.hist[name].sum()) for name in ("read", "write"))  # type: ignore
    assert reads / (reads + writes) == pytest.approx(0.7, abs=0.05)


def test_a_chain_of_passes_rests_between_and_after(drive: Real) -> None:
    first = Job(name="first", rw="write", block_bytes=MIB)
    last = Job(name="last", rw="read", block_bytes=MIB)
    parts: tuple[Run | Rest, ...] = (
        Run(label="first", jobs=(first,), sample_s=0.1),
        Rest(seconds=0.8),
        Run(label="last", jobs=(last,), sample_s=0.1),
        Rest(seconds=0.3),
    )
    result = do(drive, Chain(label="chain", parts=parts))
    assert [job.name for job in result.jobs] == ["first", "last"]
    assert [job.bytes for job in result.jobs] == [SIZE, SIZE]
    assert result.note is not None and "seconds of silence between the runs" in result.note
    ends = result.series.t_ns + result.series.dt_ns
    assert result.duration_ns >= int(ends.max()) + 300_000_000
    assert [part.label for part in result.parts] == ["first", "rest", "last", "rest"]
    assert [len(part.jobs) for part in result.parts] == [1, 0, 1, 0]
    assert [int(part.series.bytes.sum()) for part in result.parts] == [SIZE, 0, SIZE, 0]
    assert [set(part.hist) for part in result.parts] == [{"write"}, set(), {"read"}, set()]
    began = [part.start_ns for part in result.parts]
    ended = [part.start_ns + part.duration_ns for part in result.parts]
    assert began[0] == result.start_ns and ended[-1] == result.start_ns + result.duration_ns
    assert ended[:-1] == began[1:]


def test_a_chain_of_rests_only(drive: Real) -> None:
    result = do(drive, Chain(label="rests", parts=(Rest(seconds=0.1), Rest(seconds=0.1))))
    assert result.duration_ns >= 200_000_000
    assert result.jobs == ()
    assert [part.duration_ns >= 100_000_000 for part in result.parts] == [True, True]


def test_what_a_file_cannot_do(drive: Real) -> None:
    trims = Run(label="trims", jobs=(Job(name="trims", rw="randtrim", block_bytes=4096),))
    for step in (Trim(), Purge(), trims):
        answer = drive.do(step, go)
        assert isinstance(answer, NotPossible)
        assert "file" in answer.reason


def test_preparation_has_no_series(drive: Real) -> None:
    result = do(drive, Fill(offset=MIB, size=8 * MIB))
    assert len(result.series.t_ns) == 0
    assert [job.bytes for job in result.jobs] == [8 * MIB]


def test_progress_comes_while_fio_runs(drive: Real) -> None:
    job = Job(name="reads", rw="randread", block_bytes=4096, depth=4, runtime_s=2.5)
    heard: list[Progress] = []

    def watch(progress: Progress) -> bool:
        heard.append(progress)
        return True

    (totals,) = drive.do(Run(label="reads", jobs=(job,)), watch).jobs  # type: ignore[union-attr]
    assert len(heard) > 5
    gaps = np.diff([progress.drive_s for progress in heard if progress.drive_s])
    assert (gaps >= 0).all()
    # Rates from status lines, so only about right: they serve a progress bar.
    assert 0 < heard[-1].bytes < 3 * totals.bytes


def test_interrupted_in_the_filling(tmp_path: Path) -> None:
    drive = Real(tmp_path, SIZE, say=lambda text: None).open()
    with pytest.raises(Interrupted):
        drive.do(Mark(label="first"), lambda progress: False)
    drive.close()
    assert list(tmp_path.iterdir()) == []


def test_interrupted_chain(drive: Real) -> None:
    parts = (Rest(seconds=600.0),)
    with pytest.raises(Interrupted):
        drive.do(Chain(label="rests", parts=parts), lambda progress: False)


def test_the_file_was_taken_away(drive: Real, tmp_path: Path) -> None:
    do(drive, Mark(label="first"))
    (tmp_path / real_file.NAME).unlink()
    job = Job(name="reads", rw="read", block_bytes=MIB)
    with pytest.raises(FlashtwinError, match="no longer the file") as caught:
        drive.do(Run(label="reads", jobs=(job,)), go)
    assert caught.value.exit_code == ENVIRONMENT


def test_a_job_past_the_end(drive: Real) -> None:
    job = Job(name="reads", rw="read", block_bytes=MIB, size=2 * SIZE)
    with pytest.raises(FlashtwinError, match="does not fit"):
        drive.do(Run(label="reads", jobs=(job,)), go)


def test_steps_follow_one_another_on_one_clock(drive: Real) -> None:
    before = time.monotonic_ns()
    job = Job(name="reads", rw="read", block_bytes=MIB)
    results = [do(drive, Run(label=f"run {n}", jobs=(job,))) for n in range(2)]
    assert results[1].start_ns >= results[0].start_ns + results[0].duration_ns
    assert results[1].start_ns + results[1].duration_ns <= time.monotonic_ns() - before


def test_a_run_that_is_taken_up_goes_on_at_its_time(tmp_path: Path) -> None:
    """A new file is filled and prepared before the clock goes on; one that was left is used."""
    prepared = Fill(label="cdm/prepare", size=MIB)
    first = Real(tmp_path / "probe", SIZE, say=lambda text: None).open()
    told = first.resume(7_000_000_000, [prepared], go)
    assert told.endswith("made again, filled with random data, and prepared by cdm/prepare")
    assert len(set((tmp_path / "probe").read_bytes()[-4096:])) > 100, "random to its end"
    rest = do(first, Rest(label="r", seconds=0.2))
    assert 7.0 <= rest.start_ns / 1e9 < 8.0
    host = first.host()["file"]
    assert host["path"] == str(tmp_path / "probe") and host["size_bytes"] == SIZE
    if host["mark"] is None:
        pytest.skip("the file system has no extended attributes")
    first.claim(tmp_path)
    left = real_file.Leftover(**{**host, "path": Path(host["path"]), "run": tmp_path})
    with pytest.MonkeyPatch.context() as patch:
        # The first process is dead: its file is nobody's here.
        patch.setattr(real_file, "_open_files", set())
        fcntl.flock(first._file.handle, fcntl.LOCK_UN)
        second = Real(tmp_path / "probe", SIZE, say=lambda text: None, leftover=left).open()
        assert second.resume(9_000_000_000, [prepared], go) == (
            "taken up on the file that the interrupted run left"
        )
        assert do(second, Rest(label="r", seconds=0.1)).start_ns >= 9_000_000_000
        second.close()
    assert not (tmp_path / "probe").exists()
    first.close()


def test_a_run_of_a_file_keeps_smart_of_its_disk_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its serial number; nothing is concluded of it, as others write to the disk too."""
    sys_disk = tmp_path / "nvme7n1"
    (sys_disk / "device").mkdir(parents=True)
    (sys_disk / "device" / "serial").write_text("S4X9SECRET\n")
    program = tmp_path / "bin" / "smartctl"
    program.parent.mkdir()
    program.write_text(SMARTCTL.format(place=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(disk, "under", lambda path, sys_root=None: sys_disk)
    asked = [("fill", {"patterns": "1m-q1", "passes": "1", "idle_s": "0"})]
    run = run_batteries(Real(tmp_path / "file", SIZE).open(), asked, tmp_path / "run")
    counts = [
        run.smart(when)["nvme_smart_health_information_log"]["data_units_written"]
        for when in ("before", "after")
    ]
    assert counts[0] < counts[1]
    assert "S4X9" not in "".join(path.read_text() for path in (run.path / "smart").iterdir())
