"""Steps with a bound on their time: on a twin, on fio, and what no bound is put on."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.series import Series
from flashtwin.model.step import Fill, Flush, Job, NotPossible, Purge, Rest, Result, Run, Step
from flashtwin.runner.budget import unbound, within
from flashtwin.runner.estimate import can_be_cut

MB = 10**6
# 20 MB a second for 40 MB: two seconds, on whatever drive.
JOB = Job(name="w", rw="write", block_bytes=1 << 20, size=40 << 20, rate_bytes_s=20 << 20, depth=4)
PASS = Run(label="pass", jobs=(JOB,), sample_s=0.1)


def watch(progress: object) -> bool:
    return True


@pytest.fixture
def twin() -> Twin:
    return Twin(load("bx500-240", scale="1/16"), seed=1).open()


def test_a_twin_ends_a_pass_in_time_and_its_answer_says_so(twin: Twin) -> None:
    given = within(PASS, 0.5, twin.info.capacity_bytes)
    answer = given.marked(twin.do(given.step, watch))
    assert isinstance(answer, Result) and answer.cut
    assert answer.note == f"cut short by the budget after {answer.duration_ns / 1e9:.4g} s"
    assert answer.duration_ns / 1e9 == pytest.approx(0.5, abs=0.02)
    assert answer.jobs[0].bytes == pytest.approx(10 << 20, abs=5 << 20)


@pytest.mark.parametrize(
    "job",
    [
        JOB,
        replace(JOB, rate_bytes_s=None, size=None),
        replace(JOB, rate_bytes_s=None, threads=4, shared_stream=True, block_bytes=1 << 20),
        replace(JOB, rw="randwrite", block_bytes=4096, io_bytes=40 << 20, rate_bytes_s=None),
        replace(JOB, rw="randread", block_bytes=4096, runtime_s=1.0, rate_bytes_s=None),
        replace(JOB, rw="write", runtime_s=1.0, ramp_s=0.5),
    ],
)
def test_with_time_enough_a_bound_changes_nothing(job: Job) -> None:
    answers = []
    for bound in (False, True):
        drive = Twin(load("bx500-240", scale="1/16"), seed=1).open()
        step = replace(PASS, jobs=(job,))
        given = within(step, 5000.0, drive.info.capacity_bytes) if bound else unbound(step)
        answer = given.marked(drive.do(given.step, watch))
        assert isinstance(answer, Result) and not answer.cut and answer.note is None
        answers.append((answer.jobs, answer.duration_ns, answer.series.bytes.tolist()))
        answers.append(drive.smart())
    assert answers[0] == answers[2] and answers[1] == answers[3]


@pytest.mark.parametrize(
    ("step", "cut"),
    [
        (Rest(seconds=10.0), Rest(seconds=3.0)),
        (Rest(seconds=2.0), Rest(seconds=2.0)),
        (Fill(), None),
        (Purge(), None),
        (Flush(), None),
        # One pass of four threads is four passes, and one at random is none of so many bytes.
        (replace(PASS, jobs=(replace(JOB, threads=4),)), None),
        (replace(PASS, jobs=(replace(JOB, rw="randwrite"),)), None),
    ],
)
def test_what_is_bound(step: Step, cut: Step | None) -> None:
    given = within(step, 3.0, 10**9)
    assert given.step == (cut or step) and can_be_cut(step) == (cut is not None)
    answer = Result(label="", start_ns=0, duration_ns=3 * 10**9, series=Series.empty())
    marked = given.marked(answer)
    assert isinstance(marked, Result) and marked.cut == (given.step != step)
    refused = NotPossible(reason="no")
    assert given.marked(refused) is refused


def test_a_note_of_the_drive_is_kept() -> None:
    given = within(Rest(seconds=9.0), 3.0, 10**9)
    empty = Series.empty()
    answer = Result(label="", start_ns=0, duration_ns=10**9, series=empty, note="hot")
    marked = given.marked(answer)
    assert isinstance(marked, Result)
    assert marked.note == "hot; cut short by the budget after 1 s"


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fio_ends_a_pass_in_time(tmp_path: Path) -> None:
    from flashtwin.drives.real.real import Real

    drive = Real(tmp_path / "probe", 40 << 20, say=lambda text: None).open()
    try:
        given = within(PASS, 0.5, 40 << 20)
        answer = given.marked(drive.do(given.step, watch))
    finally:
        drive.close()
    assert isinstance(answer, Result) and answer.cut
    assert answer.duration_ns / 1e9 == pytest.approx(0.5, abs=0.25)
    assert 0 < answer.jobs[0].bytes < 30 << 20
