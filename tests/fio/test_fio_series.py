"""Series out of fio's logs: by request and out of averages; gaps, stalls, ramps, threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flashtwin.drives.contract import check_hist, check_series, check_sums, used_by
from flashtwin.drives.real import series
from flashtwin.drives.real.answers import collect
from flashtwin.drives.real.engines import LINUX
from flashtwin.drives.real.jobfile import Section, job_file
from flashtwin.drives.real.output import DirectionTotals, FioOutput, JobOutput
from flashtwin.drives.real.series import Measured, counts_of, counts_of_bins, read, read_threads
from flashtwin.errors import FlashtwinError
from flashtwin.model.histogram import BUCKETS, bucket_of, middle_of
from flashtwin.model.series import READ, WRITE
from flashtwin.model.step import Job, JobTotals, Run

BEGAN_MS = 1_795_255_300_000
MS = 1_000_000
Row = tuple[int, int, int, int]


def log(path: Path, *rows: Row) -> None:
    """Rows of (ms since the beginning, value, direction, bytes) as fio writes them."""
    lines = [f"{BEGAN_MS + ms}, {value}, {code}, {size}, 0\n" for ms, value, code, size in rows]
    path.write_text("".join(lines))


def section(job: Job, number: int = 0) -> Section:
    name = f"job{number}"
    return Section(name=name, part=0, job=job, threads=job.threads, depth=job.depth)


def output(runtime_ms: int, **directions: tuple[int, int, float]) -> FioOutput:
    """What fio says of job0: (requests, bytes, mean latency) by direction."""
    totals: Mapping[str, DirectionTotals] = {
        name: DirectionTotals(
            ios=ios,
            bytes=size,
            runtime_ms=runtime_ms,
            latency_mean_ns=mean,
            latency_min_ns=1,
            latency_max_ns=10**9,
            bins={middle_of(bucket_of(round(mean))): ios},
        )
        for name, (ios, size, mean) in directions.items()
    }
    job = JobOutput(name="job0", error=0, errors=0, by_direction=totals)
    return FioOutput(version="3.33", rows=(job,))


def consistent(measured: Measured, run: Run) -> JobTotals:
    """The contract's checks on sums; answers the only job's totals."""
    check_series(run.label, measured.series, measured.duration_ns, run.sample_s, used_by(run.jobs))
    check_sums(run.label, measured)  # type: ignore[arg-type]
    check_hist(run.label, measured.hist, measured.jobs, used_by(run.jobs))
    return measured.jobs[0]


WRITES = Job(name="writes", rw="write", block_bytes=4096, depth=1)
MIXED = Job(name="mixed", rw="randrw", block_bytes=4096, depth=2, threads=2)


def test_every_request_lands_in_the_interval_in_which_it_ended(tmp_path: Path) -> None:
    # One request a millisecond at first, then a stall of 0.35 s, then two more.
    rows: list[Row] = [(ms, MS, WRITE, 4096) for ms in range(1, 101)]
    rows += [(450, 350 * MS, WRITE, 4096), (451, MS, WRITE, 4096)]
    log(tmp_path / "job0_lat.1.log", *rows)
    run = Run(label="stall", jobs=(WRITES,), sample_s=0.1)
    answer = output(451, write=(102, 102 * 4096, 451 * MS / 102))
    measured = series.from_requests([section(WRITES)], answer, tmp_path, 100 * MS)
    totals = consistent(measured, run)
    assert measured.series.ios.tolist() == [99, 1, 0, 0, 2]
    assert measured.series.lat_max_ns.tolist() == [MS, MS, 0, 0, 350 * MS]
    assert measured.series.dt_ns.tolist() == [100 * MS] * 4 + [51 * MS]
    assert measured.start_unix_ns == BEGAN_MS * MS
    assert (totals.ios, totals.duration_ns, totals.latency_max_ns) == (102, 451 * MS, 350 * MS)
    assert totals.mean_depth == pytest.approx(1.0)
    assert measured.notes == ()


def test_threads_and_directions_together(tmp_path: Path) -> None:
    log(tmp_path / "job0_lat.1.log", (5, 2 * MS, READ, 4096), (12, 3 * MS, WRITE, 4096))
    log(tmp_path / "job0_lat.10.log", (4, 4 * MS, READ, 4096))
    (tmp_path / "job0_lat.9.log").write_text("")
    log(tmp_path / "job00_lat.1.log", (1, 1, READ, 512))
    run = Run(label="mix", jobs=(MIXED,), sample_s=0.01)
    answer = output(20, read=(2, 8192, 3e6), write=(1, 4096, 3e6))
    measured = series.from_requests([section(MIXED)], answer, tmp_path, 10 * MS)
    consistent(measured, run)
    assert measured.series.direction.tolist() == [READ, WRITE, READ, WRITE]
    assert measured.series.ios.tolist() == [2, 0, 0, 1]
    assert [len(log.t_ms) for log in read_threads(tmp_path, "job0", "lat")] == [2, 1]


def test_the_ramp_is_in_the_series_only(tmp_path: Path) -> None:
    job = Job(name="ramped", rw="write", block_bytes=4096, ramp_s=0.05, runtime_s=0.05)
    log(tmp_path / "job0_lat.1.log", *[(ms, MS, WRITE, 4096) for ms in range(1, 101)])
    answer = output(100, write=(100, 409600, float(MS)))
    measured = series.from_requests([section(job)], answer, tmp_path, 10 * MS)
    (totals,) = measured.jobs
    assert int(measured.series.ios.sum()) == 100
    assert (totals.ios, totals.duration_ns) == (51, 50 * MS)
    assert int(measured.hist["write"].sum()) == 51


def test_a_log_that_lost_requests_is_said(tmp_path: Path) -> None:
    log(tmp_path / "job0_lat.1.log", (1, MS, WRITE, 4096))
    answer = output(2, write=(2, 8192, float(MS)))
    measured = series.from_requests([section(WRITES)], answer, tmp_path, 10 * MS)
    assert measured.notes == ("fio's log holds 1 of 2 requests of job0",)


def test_a_job_that_did_nothing(tmp_path: Path) -> None:
    measured = series.from_requests([section(WRITES)], output(30), tmp_path, 10 * MS)
    assert measured.series.ios.tolist() == [0]
    assert measured.jobs[0].ios == 0


def test_averages_keep_totals_and_stalls(tmp_path: Path) -> None:
    # 4,000 KiB/s for 0.2 s, nothing for 0.2 s, 4,000 KiB/s again, a last half interval unlogged.
    rates: list[Row] = [(100, 4000, 1, 0), (200, 4000, 1, 0), (300, 0, 1, 0), (400, 0, 1, 0)]
    log(tmp_path / "job0_bw.1.log", *rates, (500, 4000, 1, 0))
    log(tmp_path / "job0_lat.1.log", (100, 900_000, 1, 0), (200, 1_000_000, 1, 0), (550, 5, 1, 0))
    run = Run(label="averaged", jobs=(WRITES,), sample_s=0.1)
    answer = output(550, write=(350, 350 * 4096, 1e6))
    measured = series.from_averages([section(WRITES)], answer, tmp_path, 100 * MS)
    totals = consistent(measured, run)
    assert measured.series.ios.tolist() == [100, 100, 0, 0, 100, 50]
    assert totals.bytes == 350 * 4096
    # The means of intervals keep their proportion, their sum is fio's.
    least = measured.series.lat_min_ns
    assert least[1] / least[0] == pytest.approx(10 / 9)


def test_averages_of_threads_that_log_at_their_own_times(tmp_path: Path) -> None:
    log(tmp_path / "job0_bw.1.log", (101, 1000, 0, 0), (101, 500, 1, 0), (201, 1000, 0, 0))
    log(tmp_path / "job0_bw.2.log", (99, 1000, 0, 0), (99, 500, 1, 0), (199, 1000, 0, 0))
    log(tmp_path / "job0_lat.1.log", (200, 2_000_000, 0, 0), (200, 2_000_000, 1, 0))
    run = Run(label="averaged", jobs=(MIXED,), sample_s=0.1)
    answer = output(200, read=(100, 409600, 2e6), write=(25, 102400, 2e6))
    measured = series.from_averages([section(MIXED)], answer, tmp_path, 100 * MS)
    consistent(measured, run)
    assert measured.series.only(READ).ios.tolist() == [50, 50]
    assert measured.series.only(WRITE).bytes.sum() == 102400


def test_averages_that_come_to_more_than_fio_counted_are_scaled(tmp_path: Path) -> None:
    log(tmp_path / "job0_bw.1.log", (100, 4400, 1, 0), (200, 4400, 1, 0))
    log(tmp_path / "job0_lat.1.log", (200, 1_000_000, 1, 0))
    run = Run(label="averaged", jobs=(WRITES,), sample_s=0.1)
    answer = output(200, write=(200, 200 * 4096, 1e6))
    measured = series.from_averages([section(WRITES)], answer, tmp_path, 100 * MS)
    consistent(measured, run)
    assert measured.series.ios.tolist() == [100, 100]


def test_averages_without_any_log_are_even(tmp_path: Path) -> None:
    answer = output(200, write=(200, 200 * 4096, 1e6))
    measured = series.from_averages([section(WRITES)], answer, tmp_path, 100 * MS)
    assert measured.series.ios.tolist() == [100, 100]


def test_two_jobs_in_one_series(tmp_path: Path) -> None:
    log(tmp_path / "job0_lat.1.log", (10, MS, WRITE, 4096))
    log(tmp_path / "job1_lat.2.log", (12, MS, READ, 8192))
    reads = Job(name="reads", rw="read", block_bytes=8192)
    answer = output(10, write=(1, 4096, 1e6))
    more = replace(output(10, read=(1, 8192, 1e6)).rows[0], name="job1")
    both = FioOutput(version="3.33", rows=(*answer.rows, more))
    measured = series.from_requests([section(WRITES), section(reads, 1)], both, tmp_path, 10 * MS)
    check_sums("two", measured)  # type: ignore[arg-type]
    assert [job.name for job in measured.jobs] == ["writes", "reads"]
    # The step began with the earlier of the two.
    assert measured.start_unix_ns == (BEGAN_MS + 9) * MS


def test_columns_that_later_versions_add(tmp_path: Path) -> None:
    path = tmp_path / "job0_lat.1.log"
    path.write_text("5, 7, 1, 512, 0x2004, 12345\n")
    assert read(path).value.tolist() == [7]


def test_missing_job(tmp_path: Path) -> None:
    file = job_file(Run(label="run", jobs=(WRITES,)), capacity_bytes=1 << 20, engine=LINUX[0])
    with pytest.raises(FlashtwinError, match="no result for job0"):
        collect(file, '{"jobs": [{"jobname": "another"}]}', tmp_path)


def test_buckets_of_arrays_are_those_of_single_values() -> None:
    values = [0, 1, 63, 64, 127, 128, 129, 1000, 4095, 4096, 123_456_789, 2**36, 2**40]
    expected = np.zeros(BUCKETS, dtype=np.uint64)
    for value in values:
        expected[bucket_of(value)] += np.uint64(1)
    assert (counts_of(np.array(values, dtype=np.int64)) == expected).all()


def test_bins_of_json_go_back_to_their_buckets() -> None:
    middles = {middle_of(bucket): bucket + 1 for bucket in range(BUCKETS)}
    assert counts_of_bins(middles).tolist() == list(range(1, BUCKETS + 1))
