"""fio's JSON out of values: the keys and types of fio itself, and its numbers for its own bins."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from flashtwin.drives.real.output import parse_output
from flashtwin.drives.real.series import counts_of, counts_of_bins
from flashtwin.fio.export import spread_of, windows_of
from flashtwin.fio.report.document import document
from flashtwin.fio.report.job import Direction, JobReport, Spread, classes_of, level_of
from flashtwin.model.histogram import BUCKETS, bins_of

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def fio() -> dict[str, Any]:
    """A mixed job on fio's null engine, long enough for its windows."""
    words = ["fio", "--output-format=json+", "--ioengine=null", "--name=mixed", "--rw=randrw"]
    words += ["--bs=4k", "--size=1g", "--iodepth=8", "--time_based", "--runtime=1200ms"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def shape(value: object) -> object:
    """Keys in order with the types under them; numbers in names (bins) count as one name."""
    if isinstance(value, dict):
        if (
            value
            and all(key.isdigit() for key in value)
            and all(isinstance(one, int) for one in value.values())
        ):
            return {"bins": int}
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    return type(value)


def as_read(row: dict[str, Any]) -> Direction:
    """A direction of fio's as values."""
    spreads = {
        name: Spread(
            min=one["min"],
            max=one["max"],
            mean=one["mean"],
            stddev=one["stddev"],
            count=one["N"],
        )
        for name, one in ((name, row[f"{name}_ns"]) for name in ("slat", "clat", "lat"))
    }
    bins = {int(middle): count for middle, count in row["clat_ns"].get("bins", {}).items()}
    windows = {
        name: Spread(
            min=row[f"{name}_min"],
            max=row[f"{name}_max"],
            mean=row[f"{name}_mean"],
            stddev=row[f"{name}_{'dev' if name == 'bw' else 'stddev'}"],
            count=row[f"{name}_samples"],
        )
        for name in ("bw", "iops")
    }
    return Direction(
        ios=row["total_ios"],
        bytes=row["io_bytes"],
        runtime_ms=row["runtime"],
        clats=bins_of(counts_of_bins(bins)) if bins else {},
        **spreads,
        **windows,
    )


@needs_fio
def test_fio_said_again_from_its_own_values() -> None:
    real = fio()
    job = real["jobs"][0]
    again = document(
        [
            JobReport(
                name=job["jobname"],
                options=job["job options"],
                directions={name: as_read(job[name]) for name in ("read", "write", "trim")},
                elapsed_s=job["elapsed"],
                runtime_ms=job["job_runtime"],
                latency_depth=job["latency_depth"],
                levels=job["iodepth_level"],
                submits=job["iodepth_submit"],
                completes=job["iodepth_complete"],
                common=real["global options"],
            )
        ],
        version=real["fio version"],
        unix_ms=real["timestamp_ms"],
        plus=True,
    )
    assert shape(again) == shape(real)
    assert list(again) == list(real) and list(again["jobs"][0]) == list(job)
    mine = again["jobs"][0]
    for name in ("read", "write", "trim"):
        for key, value in job[name].items():
            if key in ("iops", "bw_bytes", "bw", "bw_agg"):
                # fio's runtime has microseconds here that its JSON does not tell.
                assert mine[name][key] == pytest.approx(value, rel=2e-3), key
            else:
                assert mine[name][key] == value, key
    for key in ("iodepth_level", "sync", "job options"):
        assert mine[key] == job[key]
    for unit in ("ns", "us", "ms"):
        # fio's tables are of lat and of every request, ours of clat, 30 ns less here.
        assert sum(mine[f"latency_{unit}"].values()) == pytest.approx(
            sum(job[f"latency_{unit}"].values()), abs=5
        )


def test_what_we_write_our_reader_reads() -> None:
    counts = counts_of(np.array([90_000, 100_000, 110_000, 8_000_000]))
    direction = Direction(
        ios=4, bytes=16384, runtime_ms=20, lat=spread_of(counts, mean=2e6), clats=bins_of(counts)
    )
    text = json.dumps(
        document(
            [JobReport(name="one", options={}, directions={"write": direction})],
            version="fio-3.33",
            plus=True,
        )
    )
    job = parse_output(text).jobs["one"]
    assert list(job.by_direction) == ["write"]
    totals = job.by_direction["write"]
    assert (totals.ios, totals.bytes, totals.runtime_ms) == (4, 16384, 20)
    assert totals.latency_mean_ns == 2e6
    # lat has no bins in fio unless asked for; those of clat hold every request.
    assert sum(json.loads(text)["jobs"][0]["write"]["clat_ns"]["bins"].values()) == 4


def test_a_spread_by_hand() -> None:
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    counts[[10, 14]] = 1, 1
    spread = spread_of(counts)
    assert (spread.min, spread.max, spread.mean, spread.count) == (10, 14, 12.0, 2)
    assert spread.stddev == pytest.approx(8**0.5)
    assert spread_of(counts * 0) == Spread()
    assert spread_of(counts, min=9, mean=11.5).min == 9


def test_windows_by_hand() -> None:
    found = windows_of(np.array([1.0, 2.0, 3.9]))
    assert (found.min, found.max, found.count) == (1, 3, 3)
    assert found.mean == pytest.approx(2.3)
    assert found.stddev == pytest.approx(((1.3**2 + 0.3**2 + 1.6**2) / 2) ** 0.5)
    assert windows_of(np.zeros(0)) == Spread()


def test_classes_of_latency_by_hand() -> None:
    values = np.array([1, 3, 999, 1_000, 249_000, 999_000, 1_500_000, 3 * 10**9])
    found = classes_of(bins_of(counts_of(values)))
    assert found["ns"] == {
        **dict.fromkeys(("10", "20", "50", "100", "250", "500", "750"), 0.0),
        "2": 12.5,
        "4": 12.5,
        "1000": 12.5,
    }
    assert found["us"]["2"] == 12.5 and found["us"]["250"] == 12.5
    assert found["ms"]["2"] == 12.5 and found["ms"][">=2000"] == 12.5
    assert sum(sum(row.values()) for row in found.values()) == pytest.approx(100, abs=0.1)


@pytest.mark.parametrize(
    ("depth", "name"), [(1, "1"), (2, "2"), (3, "2"), (32, "32"), (63, "32"), (64, ">=64")]
)
def test_depth_levels(depth: int, name: str) -> None:
    assert level_of(depth) == name


def test_the_share_of_the_group() -> None:
    def job(group: int, size: int) -> JobReport:
        rate = Spread(mean=size / 1024, count=1)
        one = Direction(ios=1, bytes=size, runtime_ms=1000, bw=rate)
        return JobReport(name="j", options={}, directions={"read": one}, group=group)

    rows = document([job(0, 1 << 20), job(0, 3 << 20), job(1, 1 << 20)], version="fio-3.33")["jobs"]
    assert [row["read"]["bw_agg"] for row in rows] == [25.0, 75.0, 100.0]


def test_a_class_of_depth_that_fio_does_not_have() -> None:
    job = JobReport(name="j", options={}, directions={}, levels={"3": 100.0})
    with pytest.raises(AssertionError, match="fio does not know"):
        document([job], version="fio-3.33")
