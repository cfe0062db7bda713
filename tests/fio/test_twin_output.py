"""What `flashtwin fio` writes beside its answer, read by those who read fio's: fio and fio-plot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from flashtwin.cli.app import app

FIO = shutil.which("fio")
needs_fio = pytest.mark.skipif(FIO is None, reason="fio is not installed")
Runs = Callable[..., str]
TWIN = ("--on", "bx500-240", "--scale", "1/64")


@pytest.fixture
def fio(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runs:
    """`flashtwin fio` with these words, in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["fio", *words, *TWIN])
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def rows(path: Path) -> list[list[int]]:
    return [[int(part) for part in line.split(",")] for line in path.read_text().splitlines()]


def test_a_log_by_request_adds_up_to_the_answer(fio: Runs, tmp_path: Path) -> None:
    words = ["--name=a", "--rw=randrw", "--bs=4k,8k", "--size=2m", "--iodepth=4",
             "--ioengine=libaio", "--write_lat_log=L", "--write_bw_log=L", "--write_iops_log=L",
             "--log_offset=1"]  # fmt: skip
    job = json.loads(fio(*words, "--output-format=json"))["jobs"][0]
    for direction, name in enumerate(("read", "write")):
        for kind in ("clat", "lat", "bw", "iops"):
            mine = [row for row in rows(tmp_path / f"L_{kind}.1.log") if row[2] == direction]
            assert len(mine) == job[name]["total_ios"]
            assert sum(row[3] for row in mine) == job[name]["io_bytes"]
        values = [row[1] for row in rows(tmp_path / "L_clat.1.log") if row[2] == direction]
        assert min(values) == job[name]["clat_ns"]["min"]
        assert sum(values) / len(values) == pytest.approx(job[name]["clat_ns"]["mean"])
    assert all(row[4] % 512 == 0 and row[5] == 0 for row in rows(tmp_path / "L_clat.1.log"))


def test_an_averaged_log_has_a_row_a_window(fio: Runs, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(
        "[a]\nrw=read\nbs=4k\nsize=64m\nruntime=1\ntime_based\nrate_iops=2000\n"
        "write_bw_log=a\nwrite_iops_log=b\nlog_avg_msec=100\n"
    )
    fio("job.fio")
    assert [row[:3] for row in rows(tmp_path / "b_iops.1.log")] == [
        [100 * n, 2000, 0] for n in range(1, 11)
    ]
    assert {row[1] for row in rows(tmp_path / "a_bw.1.log")} == {8000}


def test_copies_have_logs_of_their_own_or_share_one(fio: Runs, tmp_path: Path) -> None:
    words = ["--name=a", "--rw=read", "--bs=64k", "--size=1m", "--numjobs=2", "--write_lat_log=L"]
    fio(*words)
    assert len(rows(tmp_path / "L_lat.1.log")) == len(rows(tmp_path / "L_lat.2.log")) == 16
    fio(*words, "--per_job_logs=0")
    assert len(rows(tmp_path / "L_lat.log")) == 32


def test_histograms_count_every_request(fio: Runs, tmp_path: Path) -> None:
    fio("--name=a", "--rw=randread", "--bs=4k", "--size=4m", "--write_hist_log=h",
        "--log_hist_msec=5", "--log_hist_coarseness=4")  # fmt: skip
    table = rows(tmp_path / "h_clat_hist.1.log")
    assert sum(sum(row[3:]) for row in table) == 1024
    assert {len(row) for row in table} == {3 + 1856 // 16}
    assert [row[0] for row in table] == sorted(row[0] for row in table)


@needs_fio
def test_fio_replays_our_iolog(fio: Runs, tmp_path: Path) -> None:
    fio("--name=a", "--rw=randrw", "--bs=4k", "--size=4m", "--fsync=16", "--write_iolog=i.log")
    out = subprocess.run(
        [str(FIO), "--name=r", "--ioengine=null", "--read_iolog=i.log", "--replay_no_stall=1",
         "--output-format=json"], cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    job = json.loads(out[out.index("{") :])["jobs"][0]
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == 1024
    assert job["read"]["io_bytes"] + job["write"]["io_bytes"] == 4 << 20


@pytest.mark.full
def test_fio_plot_draws_our_json_and_logs(fio: Runs, tmp_path: Path) -> None:
    for depth in (1, 4):
        fio("--name=a", "--rw=randread", "--bs=4k", "--size=16m", f"--iodepth={depth}",
            "--ioengine=libaio", "--numjobs=1", "--output-format=json",
            f"--output=randread-{depth}-1.json",
            f"--write_iops_log=randread-iodepth-{depth}-numjobs-1",
            f"--write_lat_log=randread-iodepth-{depth}-numjobs-1", "--log_avg_msec=10")  # fmt: skip
    plot = Path(sys.executable).with_name("fio-plot")
    if not plot.exists():
        pytest.skip("fio-plot is not installed")
    common = ["-i", ".", "-T", "twin", "-r", "randread"]
    for name, words in {
        "bars.png": ["-l", "-d", "1", "4", "-n", "1"],
        "log.png": ["-g", "-t", "iops", "-d", "1", "4", "-n", "1"],
    }.items():
        done = subprocess.run(
            [str(plot), *common, *words, "-o", name], cwd=tmp_path, capture_output=True,
            text=True, check=False, env={**os.environ, "MPLBACKEND": "Agg"}, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0 and (tmp_path / name).exists(), done.stdout + done.stderr
        assert (tmp_path / name).stat().st_size > 10_000


def test_a_status_is_told_on_the_way(fio: Runs) -> None:
    text = fio("--name=a", "--rw=read", "--bs=4k", "--size=4m", "--rate_iops=1000", "--runtime=1",
               "--time_based", "--status-interval=250ms", "--output-format=json")  # fmt: skip
    told, decoder = [], json.JSONDecoder()
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        told.append(value["jobs"][0]["read"]["total_ios"])
        text = text.lstrip()[end:]
    assert told[:3] == [250, 500, 750] and told[-1] == 1000
