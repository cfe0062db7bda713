"""Small run directories through the real writer, for tests of what is done with stored runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin.drives.real.series import counts_of
from flashtwin.model.finding import Axis, Better, Evidence, Finding, Interval
from flashtwin.model.series import READ, WRITE, Series
from flashtwin.model.step import JobTotals, NotPossible, Result
from flashtwin.model.target import Capabilities
from flashtwin.runs.rundir import Run, State
from flashtwin.runs.writer import Writer

MB, GB = 10**6, 10**9
SAMPLE_NS = 500_000_000
VALUES = (("nand.cell", "tlc", "datasheet"), ("slc_cache.size", "24 GB", "fitted"))


def finding(
    name: str,
    value: float | None,
    unit: str = "MB/s",
    *,
    half: float | None = None,
    axis: Axis = "bytes",
    note: str | None = None,
) -> Finding:
    """A finding, written as `battery.name[variant]`, with a symmetric interval or with none."""
    stem, _, variant = name.partition("[")
    first, _, rest = stem.partition(".")
    interval = None
    if value is not None and half is not None:
        interval = Interval(low=value - half, high=value + half)
    places: dict[str, Better] = {"cache_size": "higher", "fold_begin": "higher"}
    return Finding(
        battery=first,
        name=rest,
        variant=variant.removesuffix("]"),
        title=f"title of {name}",
        value=value,
        unit=unit,
        interval=interval,
        better=places.get(rest.rpartition(".")[2]),
        beside=rest.removesuffix(".latency") if rest.endswith(".latency") else None,
        headline=rest in ("cache_size", "speed_cache", "read"),
        note=note,
        evidence=Evidence(battery=first, label="fill/128k-q32/pass-1", axis=axis, start=0, end=1),
    )


def usual(cache: float = 24.0, speed: float = 461.0) -> list[Finding]:
    """What a fill and a cell say."""
    return [
        finding("fill.cache_size[128k-q32]", cache, "GB", half=0.1),
        finding("fill.speed_cache[128k-q32]", speed, half=2.0),
        finding("fill.cache_size[1m-q1]", cache + 1, "GB", half=0.1),
        finding("fill.fold_begin[1m-q1]", None, "GB", note="not found"),
        finding("crystaldiskmark.read[SEQ1M-Q8T1]", 540.0, axis="cell"),
        finding("crystaldiskmark.read.latency[SEQ1M-Q8T1]", 80.0, "us", axis="cell"),
    ]


def stepped(rates: Sequence[float], *, latency_us: Sequence[int] = (100,)) -> Result:
    """A write whose samples of half a second have these MB/s; latencies in equal parts."""
    sizes = np.array([round(rate * MB / 2) // 131072 * 131072 for rate in rates], dtype=np.int64)
    count, ios = len(sizes), sizes // 131072
    t_ns = np.arange(count, dtype=np.int64) * SAMPLE_NS
    each = round(float(np.mean(latency_us)) * 1000)
    series = Series(
        t_ns=t_ns,
        dt_ns=np.full(count, SAMPLE_NS, dtype=np.int64),
        direction=np.full(count, WRITE, dtype=np.int64),
        ios=ios,
        bytes=sizes,
        lat_sum_ns=ios * each,
        lat_min_ns=np.where(ios > 0, min(latency_us) * 1000, 0),
        lat_max_ns=np.where(ios > 0, max(latency_us) * 1000, 0),
    )
    total = int(ios.sum())
    counts = counts_of(np.array(latency_us, dtype=np.int64) * 1000)
    scaled = counts * np.uint64(total // len(latency_us))
    job = JobTotals(
        name="write",
        ios=total,
        bytes=int(sizes.sum()),
        duration_ns=count * SAMPLE_NS,
        latency_mean_ns=float(each),
        latency_min_ns=min(latency_us) * 1000,
        latency_max_ns=max(latency_us) * 1000,
        mean_depth=32.0,
    )
    return Result(
        label="",
        start_ns=0,
        duration_ns=count * SAMPLE_NS,
        series=series,
        jobs=(job,),
        hist={"write": scaled},
    )


def mixed(rates: tuple[float, float], seconds: int) -> Result:
    """Reads and writes side by side, at even rates."""
    count = seconds * 2
    series: dict[str, Any] = {}
    rows = [
        (d, round(rate * MB / 2) // 4096 * 4096)
        for d, rate in zip((READ, WRITE), rates, strict=True)
    ]
    series["t_ns"] = np.repeat(np.arange(count, dtype=np.int64) * SAMPLE_NS, 2)
    series["dt_ns"] = np.full(2 * count, SAMPLE_NS, dtype=np.int64)
    series["direction"] = np.tile(np.array([d for d, _ in rows], dtype=np.int64), count)
    series["bytes"] = np.tile(np.array([size for _, size in rows], dtype=np.int64), count)
    series["ios"] = series["bytes"] // 4096
    series["lat_sum_ns"] = series["ios"] * 90_000
    series["lat_min_ns"] = series["lat_max_ns"] = np.full(2 * count, 90_000, dtype=np.int64)
    ios = {d: int(series["ios"][series["direction"] == d].sum()) for d, _ in rows}
    one = counts_of(np.array([90_000]))
    job = JobTotals(
        name="mix",
        ios=sum(ios.values()),
        bytes=int(series["bytes"].sum()),
        duration_ns=count * SAMPLE_NS,
        latency_mean_ns=90_000.0,
        latency_min_ns=90_000,
        latency_max_ns=90_000,
        mean_depth=4.0,
    )
    return Result(
        label="",
        start_ns=0,
        duration_ns=count * SAMPLE_NS,
        series=Series(**series),
        jobs=(job,),
        hist={"read": one * np.uint64(ios[READ]), "write": one * np.uint64(ios[WRITE])},
    )


def job_detail(**changes: Any) -> dict[str, Any]:
    """The step's own fields as the runner writes them."""
    job = {
        "name": "write",
        "rw": "write",
        "block_bytes": 131072,
        "depth": 32,
        "threads": 1,
        "offset": 0,
        "size": GB,
        "io_bytes": None,
        "runtime_s": None,
        "ramp_s": 0.0,
        "read_percent": 50,
        "seed": 1,
    }
    return {"jobs": [{**job, **changes}], "sample_s": 0.5}


def store(
    path: Path,
    *,
    target: str = "bx500-240",
    kind: str = "twin",
    host: Mapping[str, Any] | None = None,
    seed: int = 1,
    began: str = "2026-01-15T10:15:00+00:00",
    findings: Sequence[Finding] | None = None,
    rates: Sequence[float] = (461.0,) * 12 + (111.0,) * 36,
    latency_us: Sequence[int] = (100, 200, 4000),
    state: State = "finished",
    cut: bool = False,
    values: Sequence[tuple[str, str, str]] = VALUES,
    parameters: Mapping[str, Any] | None = None,
    close: bool = True,
) -> Run:
    """A run of a purge that is not possible, a fill, a rest, and a mixed cell."""
    rows = [
        {"key": k, "value": v, "unit": "", "origin": o, "source": "s", "unwritten": False}
        for k, v, o in values
    ]
    identity = {"spec": target, "hash": f"{seed:02}" + "ab" * 31, "values": rows, "toml": "x = 1\n"}
    if kind != "twin":
        identity = {"size_bytes": GB, "fio": "3.33", "engine": "io_uring", "direct": True}
    manifest = {
        "flashtwin": "0.1.0",
        "target": {
            "name": target,
            "kind": kind,
            "capacity_bytes": 240 * GB,
            "can": asdict(Capabilities(virtual_time=kind == "twin", whole_drive=kind != "file")),
            "identity": identity,
        },
        "seed": seed,
        "batteries": [
            {"name": "fill", "parameters": {"passes": 1, **(parameters or {})}, "departs": []},
            {"name": "crystaldiskmark", "parameters": {}, "departs": ["fewer runs"]},
        ],
        "command": ["flashtwin", "test", target],
    }
    writer = Writer(
        path, manifest, {"began": began, "wall_s": 12.5, "processor": "A processor", **(host or {})}
    )
    steps: list[tuple[str, str, str, Result | NotPossible, Mapping[str, Any]]] = [
        ("fill", "fill/128k-q32/purge", "purge", NotPossible(reason="it is paper"), {}),
        (
            "fill",
            "fill/128k-q32/pass-1",
            "run",
            replace(stepped(rates, latency_us=latency_us), cut=cut),
            job_detail(),
        ),
        (
            "fill",
            "fill/128k-q32/rest-1",
            "rest",
            Result(label="", start_ns=0, duration_ns=10**9, series=Series.empty()),
            {"seconds": 1.0},
        ),
        (
            "crystaldiskmark",
            "cdm/RND4K-Q4T1/mix/1",
            "run",
            mixed((70.0, 30.0), 5),
            {
                **job_detail(name="mix", rw="randrw", block_bytes=4096, depth=4, read_percent=70),
                "repeats": "cdm/RND4K-Q4T1/mix",
            },
        ),
    ]
    for battery, label, kind, answer, detail in steps:
        writer.step(battery=battery, label=label, kind=kind, answer=answer, detail=detail)
    if close:
        writer.close(usual() if findings is None else findings, state=state)
    return Run(path)


def newer(path: Path) -> None:
    """What a later flashtwin would leave."""
    store(path)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["schema"] = 99
    (path / "manifest.json").write_text(json.dumps(manifest))
