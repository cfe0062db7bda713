"""Our text beside real fio's: the same numbers have to come out as the same lines."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from thinning import thinned

from flashtwin.fio.language.script import script
from flashtwin.fio.report.document import document
from flashtwin.fio.report.formats import lines
from flashtwin.fio.report.groups import style_of
from flashtwin.fio.report.job import DIRECTIONS, Direction, JobReport, Spread, Style, Sync
from flashtwin.fio.report.text import normal, short, size
from flashtwin.model.histogram import Bins, bucket_of

FIO = shutil.which("fio")
needs_fio = pytest.mark.skipif(FIO is None, reason="fio is not installed")

SHORT = "--rw=randrw --bs=4k --size=64m --number_ios=3000 --iodepth=8"
PACED = "--rw=randrw --bs=4k --size=64m --iodepth=8 --rate_iops=3000 --runtime=1100ms --time_based"
JOBS = {
    "mix": "--rw=randrw --bs=4k,8k --iodepth=16 --fsync=32 --rate_iops=4000,2000 --runtime=1200ms "
    "--time_based --size=64m",
    "grouped": "--rw=randread --bs=4k --size=4m --numjobs=3 --group_reporting --thinktime=100",
    "apart": "--rw=write --bs=64k --size=4m --numjobs=2 --description=hello",
    "trim": "--rw=randtrim --bs=4k --size=2m",
    "slow": "--rw=read --bs=4k --size=80k --thinktime=40ms",
    "steady": "--rw=read --bs=4k --size=64m --steadystate=iops:50% --ss_dur=1 --time_based "
    "--runtime=3 --thinktime=1ms",
    "listed": f"{SHORT} --percentile_list=99:99.99:1:2.345 --lat_percentiles=1 "
    "--slat_percentiles=1",
    "twice": f"{SHORT} --percentile_list=50:50:90",
    "no percentiles": f"{SHORT} --clat_percentiles=0",
    "whole latency": f"{SHORT} --clat_percentiles=0 --lat_percentiles=1 --disable_slat=1",
    "no clat": f"{SHORT} --disable_clat=1 --fsync=8",
    "nothing": f"{SHORT} --gtod_reduce=1 --fsync=8",
    "mixed": f"{PACED} --unified_rw_reporting=mixed",
    "both": f"{PACED} --unified_rw_reporting=both --numjobs=2 --group_reporting",
    "bits": f"{PACED} --unit_base=1",
    "thousands": f"{PACED} --kb_base=1000 --significant_figures=6",
    "two digits": f"{SHORT} --significant_figures=2",
    "fast": "--rw=randrw --bs=64k --size=1g --time_based --runtime=1100ms",
}
CASES = dict(zip(JOBS, thinned(JOBS, every=10), strict=True))
NO_LATENCY: dict[str, Any] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
NOTHING: dict[str, Any] = {
    **dict.fromkeys(("total_ios", "io_bytes", "runtime"), 0),
    **dict.fromkeys(("slat_ns", "clat_ns", "lat_ns"), NO_LATENCY),
    **{
        f"{rate}_{name}": 0
        for rate in ("bw", "iops")
        for name in ("min", "max", "mean", "samples", "dev", "stddev")
    },
}
# What a simulated process has none of.
ROUNDED = re.compile(r"=\s*(\d+\.\d\d)(?=[,%]|$)")
OWN = (
    (re.compile(r"pid=\d+: .*"), "pid=0"),
    (re.compile(r"cpu          : .*"), "cpu"),
    # fio forgets the totals of what it tells beside each direction; ours are held by its JSON.
    (re.compile(r"  mixed: IOPS=.*"), "  mixed"),
)


@functools.cache
def real(name: str) -> tuple[str, str, list[dict[str, Any]], list[JobReport]]:
    """fio's text, its terse lines, and the jobs of its JSON, as reports too; run once a name."""
    with tempfile.TemporaryDirectory() as folder:
        return really(JOBS[name], Path(folder))


def really(arguments: str, folder: Path) -> tuple[str, str, list[dict[str, Any]], list[JobReport]]:
    words = [str(FIO), "--name=job", "--ioengine=null", "--filename=x", *arguments.split()]
    out = subprocess.run(
        [*words, "--output-format=json+,normal,terse", "--terse-version=5"],
        cwd=folder, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    begin = out.index("\n{\n") + 1 if "\n{\n" in out else out.index("{")
    value, end = json.JSONDecoder().raw_decode(out[begin:])
    rest = out[:begin] + out[begin + end :]
    terse = [line for line in rest.splitlines() if line.startswith("5;fio")]
    text = rest[rest.index("job: (groupid=") :]
    text = "\n".join(line for line in text.splitlines() if line not in terse)
    style = style_of(script(["--name=job", *arguments.split()]).jobs[0])
    jobs = value["jobs"]
    return text, "\n".join(terse), jobs, [job_of(one, style) for one in jobs]


def job_of(row: dict[str, Any], style: Style) -> JobReport:
    """A job of fio's JSON+ as a report."""
    if style.unified == "mixed":
        row = {name: NOTHING for name in DIRECTIONS} | row | {"read": row["mixed"]}
        row["sync"] = {"total_ios": 0, "lat_ns": NO_LATENCY}
    classes = {unit: row[f"latency_{unit}"] for unit in ("ns", "us", "ms")}
    more = {"steadystate": row["steadystate"]} if "steadystate" in row else {}
    return JobReport(
        name=row["jobname"],
        options=row["job options"],
        directions={name: direction_of(row[name]) for name in DIRECTIONS},
        sync=Sync(
            ios=row["sync"]["total_ios"],
            lat=spread_of(row["sync"]["lat_ns"]),
            bins=counts_of(row["sync"]["lat_ns"]),
        ),
        group=row["groupid"],
        levels=row["iodepth_level"],
        submits=row["iodepth_submit"],
        completes=row["iodepth_complete"],
        classes=classes,
        latency_depth=row["latency_depth"],
        latency_target=row["latency_target"],
        latency_window=row["latency_window"],
        latency_percentile=row["latency_percentile"],
        description=row.get("desc"),
        more=more,
        style=style,
    )


def direction_of(row: dict[str, Any]) -> Direction:
    return Direction(
        ios=row["total_ios"],
        bytes=row["io_bytes"],
        runtime_ms=row["runtime"],
        slat=spread_of(row["slat_ns"]),
        clat=spread_of(row["clat_ns"]),
        lat=spread_of(row["lat_ns"]),
        slats=counts_of(row["slat_ns"]),
        clats=counts_of(row["clat_ns"]),
        lats=counts_of(row["lat_ns"]),
        bw=windows_of(row, "bw", "dev"),
        iops=windows_of(row, "iops", "stddev"),
    )


def spread_of(row: dict[str, Any]) -> Spread:
    return Spread(
        min=row["min"], max=row["max"], mean=row["mean"], stddev=row["stddev"],
        count=row["N"],
    )  # fmt: skip


def windows_of(row: dict[str, Any], name: str, deviation: str) -> Spread:
    return Spread(
        min=row[f"{name}_min"], max=row[f"{name}_max"], mean=row[f"{name}_mean"],
        stddev=row[f"{name}_{deviation}"], count=row[f"{name}_samples"],
    )  # fmt: skip


def counts_of(row: dict[str, Any]) -> Bins:
    found: dict[int, int] = {}
    for at, count in row.get("bins", {}).items():
        found[bucket_of(int(at))] = found.get(bucket_of(int(at)), 0) + count
    return found


def plain(text: str) -> list[str]:
    """Lines without what differs by its nature."""
    rows = []
    for line in text.splitlines():
        for pattern, word in OWN:
            line = pattern.sub(word, line)
        # Totals of issued requests and the number of jobs in a group stand in the text alone.
        line = re.sub(r"jobs=\d+", "jobs", line)
        line = re.sub(r"issued rwts: total=[\d,]+", "issued rwts", line)
        if line.strip():
            rows.append(line.rstrip())
    return rows


@needs_fio
@pytest.mark.parametrize("name", CASES.values())
def test_the_text_is_fio_s_for_the_same_numbers(name: str) -> None:
    text, _, _, jobs = real(name)
    ours, theirs = plain(normal(jobs)), plain(text)
    assert [ROUNDED.sub("=#", line) for line in ours] == [
        ROUNDED.sub("=#", line) for line in theirs
    ]
    # Both round; ours have been rounded once before, in the JSON.
    for mine, its in zip(ours, theirs, strict=True):
        pairs = zip(ROUNDED.findall(mine), ROUNDED.findall(its), strict=True)
        assert all(abs(float(a) - float(b)) < 0.011 for a, b in pairs), (mine, its)


@needs_fio
@pytest.mark.parametrize(
    "name", [case for name, case in CASES.items() if name not in ("steady", "fast")]
)
def test_terse_lines_are_fio_s_for_the_same_numbers(name: str) -> None:
    _, terse, _, jobs = real(name)
    ours = [line.split(";") for line in lines(jobs, program="fio-3.33", version=5).splitlines()]
    theirs = [line.split(";") for line in terse.splitlines()]
    assert [len(row) for row in ours] == [len(row) for row in theirs]
    for mine, its in zip(ours, theirs, strict=True):
        wrong = [
            (place, a, b)
            for place, (a, b) in enumerate(zip(mine, its, strict=True))
            if not alike(a, b) and place not in cpu_fields(len(its))
        ]
        assert wrong == []


@needs_fio
@pytest.mark.parametrize("name", [case for name, case in CASES.items() if "apart" not in name])
def test_the_json_is_fio_s_for_the_same_numbers(name: str) -> None:
    _, _, theirs, jobs = real(name)
    for mine, its in zip(
        document(jobs, version="fio-3.33", plus=True)["jobs"], theirs, strict=True
    ):
        assert list(mine) == list(its)
        for key in ("read", "write", "trim", "mixed", "sync"):
            ours, fios = dict(flat(mine.get(key))), dict(flat(its.get(key)))
            assert list(ours) == list(fios)
            wrong = {at: (ours[at], fios[at]) for at in ours if not near(ours[at], fios[at])}
            assert wrong == {}


def flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every number of an object under its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{name}/{key}")
    else:
        yield name, value


def near(mine: Any, its: Any) -> bool:
    """Equal, or a fraction that was rounded once before."""
    if isinstance(its, float) and its:
        return bool(abs(mine - its) <= max(2e-6, 1e-6 * abs(its)))
    return bool(mine == its)


def alike(mine: str, its: str) -> bool:
    """The same text, or numbers that differ in the last place: JSON rounds once more."""
    if mine == its:
        return True
    numbers = [re.fullmatch(r"(?:[\d.]+%=)?([\d.]+)%?", text) for text in (mine, its)]
    if not all(numbers):
        return False
    one, other = (float(match[1]) for match in numbers if match)
    return abs(one - other) <= max(1e-5, 1e-6 * abs(other)) + (1 if "." not in its else 0.01)


def cpu_fields(count: int) -> range:
    """usr, sys, switches, faults: before 7 depths, 10 and 12 classes."""
    end = count - 7 - 22
    return range(end - 5, end)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0B"), (4096, "4096B"), (65536, "64.0KiB"), (4 << 20, "4096KiB"), (128 << 20, "128MiB"),
     (40_999_936, "39.1MiB"),
     (10_239, "10.00KiB"), (104_856_576, "100.0MiB"), (1 << 40, "1024GiB")],
)  # fmt: skip
def test_sizes_have_four_characters(value: int, text: str) -> None:
    assert size(value) == text


def test_counts_have_their_prefix() -> None:
    assert [short(value) for value in (0, 999, 9_999, 10_000, 2_048_000, 54_050_816)] == [
        "0", "999", "9999", "10.0k", "2048k", "54.1M"
    ]  # fmt: skip


def test_percentiles_in_coarser_units_are_rounded_up() -> None:
    """As fio tells 177152 ns: 178 us."""
    one = Direction(
        ios=2, bytes=8192, runtime_ms=21, clats={bucket_of(177_152): 1, bucket_of(20_316_160): 1}
    )
    text = normal([JobReport(name="j", options={}, directions={"write": one})])
    assert "    clat percentiles (usec):\n" in text
    assert " 50.00th=[  178], 60.00th=[20317]" in text
