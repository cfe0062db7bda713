"""Exports: nothing is lost on the way, fio's reader and fio-plot take what is fio's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from stored_runs import GB, job_detail, stepped, store

from flashtwin.drives.real.output import parse_output
from flashtwin.drives.real.series import counts_of_bins
from flashtwin.errors import FlashtwinError
from flashtwin.fio.export import documents, options_of
from flashtwin.model.step import JobTotals, Result
from flashtwin.runs import tables
from flashtwin.runs.export.export import export
from flashtwin.runs.rundir import Run
from flashtwin.runs.writer import Writer

PASS = "001-fill-128k-q32-pass-1.json"
MIX = "003-cdm-RND4K-Q4T1-mix-1.json"


def test_tables_hold_what_the_run_holds(tmp_path: Path) -> None:
    run = store(tmp_path / "run")
    series = tables.series(run).polars()
    raw = run.table("series")
    assert series.height == len(raw["step"]) and series["bytes"].sum() == raw["bytes"].sum()
    assert series.columns[:3] == ["step", "battery", "label"]
    first = series.row(0, named=True)
    assert (first["label"], first["direction"]) == ("fill/128k-q32/pass-1", "write")
    assert first["mb_s"] == pytest.approx(461.0, rel=1e-3)
    assert first["lat_mean_us"] == pytest.approx(1433.333)
    hist = tables.hist(run).polars()
    assert hist["count"].sum() == run.table("hist")["count"].sum()
    assert ((hist["from_ns"] <= 100_000) & (hist["to_ns"] >= 100_000)).sum() == 1
    steps = tables.steps(run).polars()
    assert steps["kind"].to_list() == ["purge", "run", "rest", "run"]
    assert steps["not_possible"].to_list()[0] == "it is paper"
    assert steps["bytes"].sum() == tables.jobs(run).polars()["bytes"].sum() == raw["bytes"].sum()
    found = tables.findings(run).polars()
    assert found["id"].to_list() == run.findings.keys()
    assert found["value"].to_list() == [one.value for one in run.findings]
    assert found.row(0, named=True)["on_label"] == "fill/128k-q32/pass-1"
    assert tables.per_gb(run).values("end_bytes")[:2] == [GB, 2 * GB]
    assert tables.xray(run).height == 0


def test_an_interval_without_requests_has_no_mean(tmp_path: Path) -> None:
    run = store(tmp_path / "run", rates=(100.0, 0.0, 100.0))
    assert tables.series(run).values("lat_mean_us")[1] is None
    assert tables.series(run).values("mb_s")[1] == 0.0


def test_tables_of_a_run_without_anything(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", {"target": {"name": "x", "kind": "twin"}}, {})
    run = writer.close([])
    for name in tables.NAMES:
        assert tables.table(run, name).height == 0
    assert [file.name for file in export(run, "csv", tmp_path / "csv")] == [
        "findings.csv",
        "steps.csv",
        "series.csv",
        "hist.csv",
    ]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_read_back(tmp_path: Path, form: str) -> None:
    run = store(tmp_path / "run")
    files = export(run, form, tmp_path / "out")  # type: ignore[arg-type]
    assert {file.name for file in files} == {
        f"{name}.{form}" for name in tables.NAMES if name not in ("meter", "xray")
    }
    read = pl.read_csv if form == "csv" else pl.read_parquet
    for file in files:
        table = tables.table(run, file.stem).polars()
        back = read(file)
        assert back.columns == table.columns and back.height == table.height
        for name in table.columns:
            if table[name].dtype.is_numeric():
                assert back[name].sum() == pytest.approx(table[name].sum())
    again = export(run, form, tmp_path / "again")  # type: ignore[arg-type]
    assert [one.read_bytes() for one in files] == [two.read_bytes() for two in again]


@pytest.mark.parametrize("name", ["finished", "interrupted", "killed"])
def test_every_end_of_a_run_in_every_format(tmp_path: Path, name: str) -> None:
    run = Run(Path(__file__).parents[1] / "golden" / "runs" / name)
    # What only prepares the drive has totals, and no series.
    steps = [step for step in run.steps if step.kind == "run"]
    moved = sum(job.bytes for step in steps for job in step.jobs)
    export(run, "csv", tmp_path / "csv")
    export(run, "parquet", tmp_path / "parquet")
    files = export(run, "fio-json", tmp_path / "json")
    assert pl.read_csv(tmp_path / "csv" / "series.csv")["bytes"].sum() == moved
    jobs = pl.read_parquet(tmp_path / "parquet" / "jobs.parquet")
    assert jobs.filter(pl.col("step").is_in([one.step for one in steps]))["bytes"].sum() == moved
    read = [job for file in files for job in json.loads(file.read_text())["jobs"]]
    rows = [job[way] for job in read for way in ("read", "write", "trim")]
    assert sum(row["io_bytes"] for row in rows) == moved


def test_what_a_meter_read(tmp_path: Path) -> None:
    result = stepped((100.0,) * 4)
    ends = np.array([10**9, 2 * 10**9])
    read = {"t_ns": ends, "dt_ns": np.full(2, 10**9), "power_uw": np.array([1_500_000, 250_000])}
    meter = {**read, "temperature_mc": np.array([30_500, 31_000])}
    writer = Writer(tmp_path / "run", {"target": {"name": "x", "kind": "twin"}}, {})
    answer = replace(result, meter=meter)
    writer.step(battery="power", label="power/write", kind="run", answer=answer)
    export(writer.close([]), "csv", tmp_path / "csv")
    table = pl.read_csv(tmp_path / "csv" / "meter.csv")
    assert table["watts"].to_list() == [1.5, 0.25] and table["celsius"].to_list() == [30.5, 31.0]
    assert table["label"].to_list() == ["power/write"] * 2


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    run = store(tmp_path / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name, said in (("full", "is not empty"), ("file", "is not a directory")):
        with pytest.raises(FlashtwinError, match=said) as refused:
            export(run, "csv", tmp_path / name)
        assert refused.value.exit_code == 2
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.txt"]


def test_fio_reads_its_own(tmp_path: Path) -> None:
    run = store(tmp_path / "run")
    export(run, "fio-json", tmp_path / "json")
    assert sorted(path.name for path in (tmp_path / "json").iterdir()) == [PASS, MIX]
    text = (tmp_path / "json" / PASS).read_text()
    job = parse_output(text).jobs["write"]
    (totals,) = run.steps[1].jobs
    written = job.by_direction["write"]
    assert (written.ios, written.bytes) == (totals.ios, totals.bytes)
    assert written.latency_mean_ns == pytest.approx(totals.latency_mean_ns)
    assert (written.latency_min_ns, written.latency_max_ns) == (100_000, 4_000_000)
    row = json.loads(text)["jobs"][0]["write"]
    bins = {int(middle): count for middle, count in row["clat_ns"]["bins"].items()}
    np.testing.assert_array_equal(counts_of_bins(bins), run.hist(1)["write"])
    assert row["clat_ns"]["percentile"]["50.000000"] == pytest.approx(200_000, rel=0.01)
    assert row["runtime"] == 24_000 and row["bw_samples"] == 48
    assert row["bw_max"] == pytest.approx(461e6 / 1024, rel=1e-3)
    assert row["bw_min"] == pytest.approx(111e6 / 1024, rel=2e-3)


def test_both_directions_of_a_mix(tmp_path: Path) -> None:
    run = store(tmp_path / "run")
    job = documents(run)[MIX]["jobs"][0]
    assert job["job options"] == {
        "name": "mix",
        "rw": "randrw",
        "bs": "4096",
        "iodepth": "4",
        "numjobs": "1",
        "offset": "0",
        "size": str(GB),
        "randseed": "1",
        "rwmixread": "70",
        "norandommap": "1",
    }
    moved = {name: job[name]["io_bytes"] for name in ("read", "write", "trim")}
    assert moved["trim"] == 0 and sum(moved.values()) == run.steps[3].jobs[0].bytes
    assert moved["read"] / moved["write"] == pytest.approx(7 / 3, rel=1e-3)
    assert job["read"]["lat_ns"]["mean"] == 90_000.0
    assert job["iodepth_level"]["4"] == 100.0 and job["latency_us"]["100"] == 100.0


def jobs_of(tmp_path: Path, *words: str) -> Run:
    """A step with a job for each rw."""
    writer = Writer(tmp_path / "run", {"target": {"name": "x", "kind": "twin"}}, {})
    one = stepped((100.0,) * 4)
    totals = [JobTotals(**{**vars(one.jobs[0]), "name": f"job{at}"}) for at, _ in enumerate(words)]
    answer = Result(**{**vars(one), "jobs": tuple(totals)})
    detail = {
        "jobs": [
            {**job_detail()["jobs"][0], "name": f"job{at}", "rw": rw, "threads": at + 1}
            for at, rw in enumerate(words)
        ],
        "sample_s": 0.5,
    }
    writer.step(battery="b", label="s", kind="run", answer=answer, detail=detail)
    return writer.close([])


def test_jobs_that_share_no_direction_stand_alone(tmp_path: Path) -> None:
    jobs = documents(jobs_of(tmp_path, "write", "randread"))["000-s.json"]["jobs"]
    assert [job["jobname"] for job in jobs] == ["job0", "job1"]
    assert jobs[0]["read"]["total_ios"] == 0 and jobs[0]["write"]["total_ios"] > 0


def test_jobs_that_share_a_direction_are_a_group(tmp_path: Path) -> None:
    run = jobs_of(tmp_path, "write", "write", "randrw")
    (job,) = documents(run)["000-s.json"]["jobs"]
    assert job["job options"]["numjobs"] == "6" and job["job options"]["group_reporting"] == "1"
    assert job["write"]["io_bytes"] == int(run.series(0).bytes.sum())


def test_options() -> None:
    job = job_detail(
        runtime_s=5.0,
        ramp_s=1.5,
        rate_bytes_s=10**6,
        think_ns=1500,
        compress_percent=30,
        sync=True,
        offset=4096,
        block_bytes=1 << 20,
    )["jobs"][0]
    options = options_of([job])
    assert options["runtime"] == "5000ms" and options["time_based"] == "1"
    assert options["ramp_time"] == "1500ms" and options["rate"] == "1000000"
    assert options["thinktime"] == "2" and options["buffer_compress_percentage"] == "30"
    assert options["sync"] == "1" and options["offset"] == "4096" and options["bs"] == "1048576"
    assert "time_based" not in options_of([{**job, "io_bytes": 5}])


def test_a_run_without_jobs_has_nothing_of_fio(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", {"target": {"name": "x", "kind": "twin"}}, {})
    with pytest.raises(FlashtwinError, match="no step in which jobs ran"):
        export(writer.close([]), "fio-json", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_fio_plot_draws_it(tmp_path: Path) -> None:
    pytest.importorskip("fio_plot")
    place = tmp_path / "json"
    place.mkdir()
    for depth in (1, 4):
        run = store(tmp_path / f"run{depth}")
        found = documents(run)[MIX]
        found["jobs"][0]["job options"]["iodepth"] = str(depth)
        (place / f"{depth}.json").write_text(json.dumps(found))
    words = ["-i", str(place), "-T", "t", "-s", "s", "-l", "-d", "1", "4", "-n", "1"]
    words += ["-r", "randrw", "-o", str(tmp_path / "drawn.png")]
    code = "import sys; from fio_plot import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "-f", "read"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path)},
        check=False,
    )
    assert (tmp_path / "drawn.png").exists(), done.stdout + done.stderr
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
