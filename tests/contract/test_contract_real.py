"""The drive contract on a file through fio: each engine, each way to log."""

from __future__ import annotations

import shutil
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from thinning import thinned

from flashtwin.drives import contract
from flashtwin.drives.contract import check_drive, check_meter, check_run, runs
from flashtwin.drives.real import engines, jobfile
from flashtwin.drives.real.engines import LINUX, Engine
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.drives.real.real import Real
from flashtwin.model.step import Ask, Rest, Result
from flashtwin.model.target import Progress

SIZE = 64 << 20
pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def target(tmp_path: Path) -> Real:
    return Real(tmp_path, SIZE, say=lambda text: None)


def test_file(tmp_path: Path) -> None:
    check_drive(partial(target, tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_meter_s_file_is_read_beside_each_step(tmp_path: Path) -> None:
    """Its program writes on while the drive is measured."""
    path, over = tmp_path / "meter.csv", threading.Event()
    path.write_text("timestamp,power_w\n")

    def write() -> None:
        with path.open("a", buffering=1) as file:
            while not over.wait(0.02):
                file.write(f"{time.time():.6f},2.5\n")

    writing = threading.Thread(target=write)
    writing.start()
    drive = Real(tmp_path, SIZE, say=lambda text: None, power=PowerLog(path)).open()
    try:
        assert drive.info.can.power_meter
        assert isinstance(drive.do(Ask(label="meter", of="power"), _go), Result)
        answer = drive.do(Rest(label="rest", seconds=0.3), _go)
        assert isinstance(answer, Result)
        check_meter("rest", answer)
        assert set(answer.meter["power_uw"].tolist()) == {2_500_000}
        assert 0 < int(answer.meter["dt_ns"].sum()) <= answer.duration_ns
    finally:
        over.set()
        writing.join()
        drive.close()


@pytest.mark.full
@pytest.mark.parametrize("engine", thinned(LINUX[1:], every=3), ids=str)
def test_every_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    monkeypatch.setattr(engines, "preferred", lambda: (engine,))
    drive = target(tmp_path).open()
    try:
        for run in runs()[:3]:
            answer = drive.do(run, _go)
            assert isinstance(answer, Result)
            check_run(run, answer, holds_depth=engine.holds_depth)
    finally:
        drive.close()


@pytest.mark.full
def test_averaged_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobfile, "REQUESTS_LOGGED_MOST", 0)
    drive = target(tmp_path).open()
    try:
        for run in runs():
            answer = drive.do(run, _go)
            assert isinstance(answer, Result)
            assert answer.note is not None and "fio's averages" in answer.note
            check_run(run, answer)
        contract.check_stall(contract.DriveCheck(drive=drive))
    finally:
        drive.close()


def _go(progress: Progress) -> bool:
    return True
