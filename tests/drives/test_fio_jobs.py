"""Jobs of fio's on a twin: the mapping to the core, and the same requests as fio's own.

What fio asks for is read from the iolog of its null engine, which answers at once and writes no
file; where nothing is random the lists of requests have to be equal.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from thinning import thinned

from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.fio_job import (
    Batch,
    Blocks,
    Distribution,
    Ends,
    Fio,
    Flow,
    Gate,
    LatencyTarget,
    Logs,
    Pace,
    Sequence,
    Span,
    Steady,
    Strides,
    Syncs,
    Think,
)
from flashtwin.model.step import Job, Result, Run
from flashtwin.model.target import Progress
from flashtwin.runner.replay import detail_of

KIB = 1 << 10
FIO = shutil.which("fio")
needs_fio = pytest.mark.skipif(FIO is None, reason="fio is not installed")
DIRECTIONS = {"read": 0, "write": 1, "trim": 2, "sync": 3, "datasync": 4}
WATCHED: Callable[[Progress], bool] = lambda progress: True  # noqa: E731


def run(*jobs: Job) -> Result:
    answer = (
        Twin(load("bx500-240", scale="1/64"), seed=1)
        .open()
        .do(Run(label="fio", jobs=jobs), WATCHED)
    )
    assert isinstance(answer, Result)
    return answer


def blocks(least: int, most: int, split: tuple[tuple[int, int], ...] = ()) -> Any:
    return (Blocks(least=least, most=most, split=split),) * 3


def asked(job: Job) -> list[tuple[int, int, int]]:
    """Direction, offset in the file and length of each request, in the order of issue."""
    requests = run(job).fio[0]["requests"]
    order = np.argsort(requests["number"])
    columns = (requests[name][order].tolist() for name in ("direction", "offset", "bytes"))
    return list(zip(*columns, strict=True))


def fios(directory: Path, options: str) -> list[tuple[int, int, int]]:
    """The same of fio itself."""
    command = f"fio --name=j --ioengine=null --filename=f --write_iolog=log --output=out {options}"
    subprocess.run(command.split(), cwd=directory, check=True, capture_output=True)
    rows = [line.split() for line in (directory / "log").read_text().splitlines()]
    return [(DIRECTIONS[r[2]], int(r[3]), int(r[4])) for r in rows if r[2:3] and r[2] in DIRECTIONS]


def every_option() -> Fio:
    """No option as it is by itself."""
    pace = Pace(iops=(10**5, 10**5, 10**5), min_iops=(1, 1, 1), ignore_think=True, cycle_ns=5)
    return Fio(
        spans=(Span(start=0, bytes=1 << 20, offset=4096, size=1 << 19),),
        size=1 << 18,
        file_service="law",
        file_service_count=2,
        open_files=1,
        file_law=Distribution(kind="pareto", value=0.4, center=0.5),
        strides=Strides(size=1 << 17, range=1 << 16, skip=1 << 12),
        gate=Gate(stonewall=True),
        blocks=blocks(4096, 8192, ((4096, 40), (8192, 60))),
        blocks_unaligned=True,
        blocks_by_order=True,
        random_percent=(50, 60, 70),
        distribution=Distribution(kind="zipf", value=1.2, center=0.5),
        random_map=False,
        random_starts=True,
        draws_repeat=False,
        sequence=Sequence(every=2, identical=True),
        number_ios=100,
        loops=2,
        time_based=True,
        start_ns=1000,
        pace=pace,
        think=Think(ns=1000, spin_ns=500, blocks=4, count="issue", iotime_ns=10**6),
        batch=Batch(submit=2, complete_min=2, complete_max=3, low=1, serialize_overlap=True),
        flow=Flow(weight=2, id=1, sleep_ns=10),
        syncs=Syncs(fsync_every=4, fdatasync_every=3, at_end=True, on_close=True),
        latency_target=LatencyTarget(ns=10**9, window_ns=10**6, percentile=99.0, run=True),
        max_latency_ns=(10**10, 10**10, 10**10),
        steady=Steady(metric="bw", slope=True, limit=1.0, duration_s=2, ramp_ns=5, group=1),
        ends=Ends(all=True, what="stonewall", group=3, continue_reads=True, continue_writes=True),
        logs=Logs(requests=True, average_ns=10**6, maxima=True, bw_window_ns=10**7),
        synchronous=False,
        verify="later",
        files_end_once=True,
    )


def test_every_option_arrives() -> None:
    fio = every_option()
    same = [f.name for f in fields(Fio) if getattr(fio, f.name) == getattr(Fio(), f.name)]
    assert same == ["synchronous", "trace"], "each other option is another than by default"
    job = Job(name="all", rw="randrw", block_bytes=4096, depth=4, runtime_s=0.02, fio=fio)
    row = run(job).fio[0]
    assert row["failure"] is None
    assert row["read"]["ios"] > 50
    assert row["write"]["ios"] > 50
    assert row["steady"] is not None
    assert len(row["averages"]["end_ns"]) >= 20
    assert row["depth_found"] is not None


def test_a_wrong_option_is_named() -> None:
    job = Job(name="wrong", rw="read", block_bytes=4096, threads=2, fio=Fio())
    with pytest.raises(ValueError, match="job `wrong`: threads is not for a job of fio's"):
        run(job)
    with pytest.raises(ValueError, match="do not run side by side"):
        run(
            Job(name="a", rw="read", block_bytes=4096),
            Job(name="b", rw="read", block_bytes=4096, fio=Fio()),
        )


def test_what_fio_counts_is_what_the_host_saw() -> None:
    jobs = [
        Job(name=name, rw="randrw", block_bytes=4096, depth=8, size=1 << 24, host_ns=500, fio=Fio())
        for name in ("a", "b")
    ]
    answer = run(*jobs)
    assert [row["name"] for row in answer.fio] == ["a", "b"]
    for row, totals in zip(answer.fio, answer.jobs, strict=True):
        sides = [row[name] for name in ("read", "write", "trim")]
        assert sum(side["ios"] for side in sides) == totals.ios == 4096
        assert sum(side["bytes"] for side in sides) == totals.bytes
        for side in sides[:2]:
            assert (
                sum(side["lat_hist"].values())
                == side["clat"]["count"]
                == side["ios"]
                == side["issued"]
            )
            assert side["slat"]["min"] == 500
            whole = side["slat"]["mean"] + side["clat"]["mean"]
            assert side["lat"]["mean"] == pytest.approx(whole)
        # fio's classes add up to all requests.
        classes = (*row["latency_ns"], *row["latency_us"], *row["latency_ms"])
        assert sum(classes) == sum(row["depths"]) == totals.ios
    assert answer.series.ios.sum() == 8192
    counts = answer.hist["read"]
    ios = sum(row["read"]["ios"] for row in answer.fio)
    assert counts.sum() == ios  # type: ignore[attr-defined]


def test_a_battery_s_step_is_described_as_ever() -> None:
    plain = Job(name="a", rw="read", block_bytes=4096)
    assert "fio" not in detail_of(Run(label="x", jobs=(plain,)))["jobs"][0]
    job = Job(name="a", rw="read", block_bytes=4096, fio=Fio())
    assert detail_of(Run(label="x", jobs=(job,)))["jobs"][0]["fio"] == asdict(Fio())


SAME: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("--rw=write --bs=4k --size=10000", {"rw": "write"}, {"spans": (Span(start=0, bytes=10000),)}),
    (
        "--rw=read --bs=16k --size=64k --offset=8k",
        {"rw": "read", "block_bytes": 16 * KIB},
        {"spans": (Span(start=0, bytes=72 * KIB, offset=8 * KIB, size=64 * KIB),)},
    ),
    (
        "--rw=write --bs=4k --size=16k --io_size=40k",
        {"rw": "write", "size": 16 * KIB, "io_bytes": 40 * KIB},
        {},
    ),
    (
        "--rw=write --bs=4k --size=64k --io_size=10k",
        {"rw": "write", "size": 64 * KIB, "io_bytes": 10 * KIB},
        {},
    ),
    ("--rw=read --bs=4k --size=32k --loops=3", {"rw": "read", "size": 32 * KIB}, {"loops": 3}),
    (
        "--rw=read:4k --bs=4k --size=32k",
        {"rw": "read", "size": 32 * KIB},
        {"sequence": Sequence(add_bytes=4096)},
    ),
    (
        "--rw=read:-8k --bs=4k --size=32k",
        {"rw": "read", "size": 32 * KIB},
        {"sequence": Sequence(add_bytes=-8192)},
    ),
    ("--rw=trimwrite --bs=4k --size=16k", {"rw": "trimwrite", "size": 16 * KIB}, {}),
    (
        "--rw=trimwrite --bs=4k --size=64k --number_ios=3",
        {"rw": "trimwrite", "size": 64 * KIB},
        {"number_ios": 3},
    ),
    (
        "--rw=write --bs=4k --size=64k --number_ios=3 --loops=2",
        {"rw": "write", "size": 64 * KIB},
        {"number_ios": 3, "loops": 2},
    ),
]


@needs_fio
@pytest.mark.parametrize(
    ("options", "job", "fio"), thinned(SAME, every=3), ids=[case[0] for case in SAME]
)
def test_in_order_the_requests_are_fio_s(
    options: str, job: dict[str, Any], fio: dict[str, Any], tmp_path: Path
) -> None:
    of = {"name": "j", "block_bytes": 4096, **job}
    assert asked(Job(**of, fio=Fio(**fio, logs=Logs(requests=True)))) == fios(tmp_path, options)


@needs_fio
def test_syncs_come_where_fio_has_them(tmp_path: Path) -> None:
    options = "--rw=write --bs=4k --size=20k --fsync=2 --end_fsync=1"
    syncs = Syncs(fsync_every=2, at_end=True)
    fio = Fio(syncs=syncs, logs=Logs(requests=True))
    job = Job(name="j", rw="write", block_bytes=4096, size=20 * KIB, fio=fio)
    theirs = [direction for direction, _, _ in fios(tmp_path, options)]
    ours = [direction for direction, _, _ in asked(job)]
    # The last sync stands in the log and counts nowhere: it is kept apart from those that count.
    assert ours[-1] == 5 and [*ours[:-1], 3] == theirs


RANDOM: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("--rw=randread --bs=4k", {"rw": "randread"}, {}),
    ("--rw=randrw --bs=4k --rwmixread=70", {"rw": "randrw", "read_percent": 70}, {}),
    ("--rw=randtrimwrite --bs=4k", {"rw": "randtrimwrite"}, {}),
    (
        "--rw=randread --bs=4k --percentage_random=40",
        {"rw": "randread"},
        {"random_percent": (40, 40, 40)},
    ),
    (
        "--rw=randwrite --norandommap --bssplit=4k/30:8k/50:64k/20",
        {"rw": "randwrite"},
        {"random_map": False, "blocks": blocks(4096, 65536, ((4096, 30), (8192, 50), (65536, 20)))},
    ),
    (
        "--rw=randread --bs=4k --random_distribution=zipf:1.2:0.25",
        {"rw": "randread"},
        {"distribution": Distribution(kind="zipf", value=1.2, center=0.25)},
    ),
    (
        "--rw=randread --bs=4k --random_distribution=zoned:60/10:30/20:10/70",
        {"rw": "randread"},
        {"distribution": Distribution(kind="zoned", zones=(((60, 10), (30, 20), (10, 70)),) * 3)},
    ),
]


@needs_fio
@pytest.mark.parametrize(
    ("options", "job", "fio"), thinned(RANDOM, every=5), ids=[case[0] for case in RANDOM]
)
def test_at_random_the_requests_are_like_fio_s(
    options: str, job: dict[str, Any], fio: dict[str, Any], tmp_path: Path
) -> None:
    """Both samples of directions, sizes and tenths of the file come from one distribution."""
    size = 20_000 * 4096
    of = {"name": "j", "block_bytes": 4096, "size": size, **job}
    ours = np.array(asked(Job(**of, fio=Fio(**fio, logs=Logs(requests=True)))))
    theirs = np.array(fios(tmp_path, f"{options} --size={size}"))
    mapped = "norandommap" not in options
    assert len(ours) == len(theirs) if mapped else abs(len(ours) / len(theirs) - 1) < 0.05
    for column in (ours[:, 0], theirs[:, 0]), (ours[:, 2], theirs[:, 2]):
        alike(*column)
    follows = [one[1:, 1] == one[:-1, 1] + one[:-1, 2] for one in (ours, theirs)]
    alike(*follows)
    # Those that follow the one before say nothing of how offsets are drawn.
    drawn = [one[1:, 1][~next] for one, next in zip((ours, theirs), follows, strict=True)]
    alike(drawn[0] * 10 // size, drawn[1] * 10 // size)


def alike(one: Any, two: Any) -> None:
    """Chi-square of two samples at 1 %; a class that is rare in both is left out."""
    values = sorted({*one.tolist(), *two.tolist()})
    counts = np.array([[(sample == value).sum() for value in values] for sample in (one, two)])
    counts = counts[:, counts.sum(axis=0) >= 10]
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    if counts.shape[1] > 1:
        from scipy import stats

        limit = stats.chi2.ppf(0.99, counts.shape[1] - 1)
        assert ((counts - expected) ** 2 / expected).sum() < limit, counts
