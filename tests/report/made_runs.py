"""Run directories made from numbers on paper, through the real writer: what the page is tested on.

A drive here has a cache, a speed past it and one while it folds; its X-ray follows from them. One
sample of every first pass is a stall and one is a spike, at places that the tests know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin.batteries.fill.wording import ORDINALS
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.histogram import BUCKETS, bucket_of
from flashtwin.model.series import WRITE, Series
from flashtwin.model.step import JobTotals, NotPossible, Result
from flashtwin.model.target import Capabilities
from flashtwin.runs.rundir import Run, State
from flashtwin.runs.writer import Writer

GB, MB = 10**9, 10**6
SAMPLE_NS = 500_000_000
STALL, SPIKE = 301, 401
HOST = {
    "directory": "/runs/here",
    "processor": "A processor",
    "cpus": 2,
    "memory_bytes": 8 << 30,
    "began": "2026-01-15T10:15:00+00:00",
    "wall_s": 12.5,
}
CELLS = ("SEQ1M-Q8T1", "RND4K-Q1T1", "RND4K-Q1T16")


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A drive on paper; rates in MB/s, sizes in GB."""

    name: str = "paper-a"
    kind: str = "twin"
    capacity: float = 240
    cache: float = 24
    fold: float = 192
    fast: float = 461
    slow: float = 111
    folding: float = 81
    patterns: tuple[str, ...] = ("128k-q32", "1m-q1")
    passes: int = 2
    cells: tuple[str, ...] = CELLS
    xray: bool = True
    values: bool = True
    state: State = "finished"
    rate4k: float = 94
    options: tuple[str, ...] = ()
    host: dict[str, Any] = field(default_factory=lambda: dict(HOST))

    def rates(self, pass_number: int) -> np.ndarray:
        """MB/s of every sample of a pass, in half seconds."""
        stages = [(self.cache, self.fast), (self.fold, self.slow), (self.capacity, self.folding)]
        if pass_number > 1:
            stages = [(self.capacity, self.slow)]
        written, rates = 0.0, []
        while written < self.capacity * 1000 - 0.5:
            rate = next(rate for end, rate in stages if written < end * 1000)
            if pass_number == 1:
                rate = {STALL: 0.0, SPIKE: 2 * self.fast}.get(len(rates), rate)
            rates.append(rate)
            written += rate / 2
        return np.array(rates)


def make_run(path: Path, paper: Paper | None = None) -> Run:
    """Write the run of a drive on paper."""
    paper = paper or Paper()
    writer = Writer(path, _manifest(paper), paper.host)
    found: list[Finding] = []
    clock = _Clock()
    for pattern in paper.patterns:
        purge: Result | NotPossible = _quiet("purge", clock, 0)
        if paper.kind == "file":
            purge = NotPossible(reason="a file cannot be erased")
        writer.step(battery="fill", label=f"fill/{pattern}/purge", kind="purge", answer=purge)
        clock.full = False
        for number in range(1, paper.passes + 1):
            label = f"fill/{pattern}/pass-{number}"
            if number > 1:
                rest = f"fill/{pattern}/rest-{number - 1}"
                writer.step(battery="fill", label=rest, kind="rest", answer=_rest(paper, clock))
            writer.step(battery="fill", label=label, kind="run", answer=_pass(paper, clock, number))
            found += _fill_findings(paper, pattern, label, number)
    found += [finding for cell in paper.cells for finding in _cell_findings(paper, cell)]
    if paper.xray:
        writer.smart("after", _smart(paper))
    return writer.close(found, state=paper.state)


def _smart(paper: Paper) -> dict[str, Any]:
    """What a twin says of its life: 240 TB of host data at a WAF of 1.75, a joule for 100 MB."""
    causes = {"slc": 0.25, "direct": 0.75, "fold": 0.5, "gc": 0.25, "wear": 0.0}
    waf = {"host_bytes": 240 * 1000 * GB, "programmed_bytes": 420 * 1000 * GB, "total": 1.75}
    life = {"percent_used": 12.5, "tbw_bytes": 205.7e12, "rated_tbw_bytes": 0, "dwpd": None}
    energy = {"energy_uj": 10**12, "mean_mw": 870.0, "mb_per_joule": 100.0}
    told = {"waf": {**waf, "by_cause": causes}, "endurance": life, "energy": energy}
    return {"model_name": paper.name, "flashtwin": told}


def two(path: Path) -> list[Run]:
    """The pair that the product is shown with: a cache that folds, and none that does."""
    second = Paper(name="paper-b", cache=90, fold=240, fast=240, slow=97, folding=97, rate4k=9)
    return [make_run(path / "paper-a"), make_run(path / "paper-b", second)]


@dataclass
class _Clock:
    """The drive's time and its counters, which go on from step to step."""

    now_ns: int = 0
    counted: dict[str, int] = field(default_factory=dict)
    full: bool = False


def _manifest(paper: Paper) -> dict[str, Any]:
    identity: dict[str, Any] = {"engine": "io_uring", "direct": True}
    if paper.kind == "twin" and paper.values:
        identity = {
            "spec": paper.name,
            "hash": "0123abcd" * 8,
            "raw_bytes": 274_877_906_944,
            "values": _values(paper),
            "toml": f'id = "{paper.name}"\n',
        }
    fill = {"patterns": list(paper.patterns), "passes": paper.passes, "sample_s": None}
    batteries = [{"name": "fill", "parameters": fill, "departs": ["host takes 5 µs a command"]}]
    if paper.cells:
        grid = {"size": 1 << 30, "mix": 70}
        batteries.append({"name": "crystaldiskmark", "parameters": grid, "departs": []})
    simulated = paper.kind == "twin"
    can = Capabilities(virtual_time=simulated, whole_drive=simulated)
    return {
        "flashtwin": "0.1.0",
        "target": {
            "name": paper.name,
            "kind": paper.kind,
            "capacity_bytes": round(paper.capacity * GB),
            "can": asdict(can),
            "identity": identity,
        },
        "seed": 1,
        "batteries": batteries,
        "command": ["flashtwin", "test", paper.name, *paper.options, "--seed", "1"],
    }


def _values(paper: Paper) -> list[dict[str, Any]]:
    rows = [
        ("drive.capacity", f"{paper.capacity:g} GB", "GB", "published", "the box"),
        ("nand.slc.tprog", "404.8 us", "us", "fitted", "461 MB/s in the cache"),
        ("nand.channels", "4", "", "datasheet", "the controller's"),
        ("slc_cache.size", f"{paper.cache:g} GB", "GB", "computed", "the first plateau"),
        ("gc.policy", "greedy", "", "prior", "usual"),
        ("link.queue_depth", "32", "", "user", "--set link.queue_depth=32"),
        ("compression.rate", "0", "", "prior", "default of the format"),
    ]
    names = ("key", "value", "unit", "origin", "source")
    return [
        {**dict(zip(names, row, strict=True)), "unwritten": row[0] == "compression.rate"}
        for row in rows
    ]


def _quiet(label: str, clock: _Clock, ns: int) -> Result:
    result = Result(label=label, start_ns=clock.now_ns, duration_ns=ns, series=Series.empty())
    clock.now_ns += ns
    return result


def _pass(paper: Paper, clock: _Clock, number: int) -> Result:
    rates = paper.rates(number)
    count = len(rates)
    sizes = np.round(rates * MB / 2).astype(np.int64)
    t_ns = np.arange(count, dtype=np.int64) * SAMPLE_NS
    ios = sizes // 131072
    columns = {
        "t_ns": t_ns,
        "dt_ns": np.full(count, SAMPLE_NS, dtype=np.int64),
        "direction": np.full(count, WRITE, dtype=np.int64),
        "ios": ios,
        "bytes": sizes,
        "lat_sum_ns": ios * 1_000_000,
        "lat_min_ns": np.where(ios > 0, 900_000, 0),
        "lat_max_ns": np.where(ios > 0, 1_100_000, 0),
    }
    duration = count * SAMPLE_NS
    totals = JobTotals(
        name="write",
        ios=int(ios.sum()),
        bytes=int(sizes.sum()),
        duration_ns=duration,
        latency_mean_ns=1e6,
        latency_min_ns=900_000,
        latency_max_ns=1_100_000,
        mean_depth=32.0,
    )
    xray = _xray(paper, clock, t_ns + SAMPLE_NS, sizes) if paper.xray else {}
    start, clock.now_ns = clock.now_ns, clock.now_ns + duration
    clock.full = True
    return Result(
        label="pass",
        start_ns=start,
        duration_ns=duration,
        series=Series(**columns),
        jobs=(totals,),
        hist={"write": _latencies(int(ios.sum()))},
        xray=xray,
    )


def _latencies(count: int) -> np.ndarray:
    """A millisecond for most requests, ten for one in a hundred."""
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    counts[bucket_of(1_000_000)] = count - count // 100
    counts[bucket_of(10_000_000)] = count // 100
    return counts


def _rest(paper: Paper, clock: _Clock) -> Result:
    """Ten minutes in which the cache is folded."""
    t_ns = np.arange(1, 601, dtype=np.int64) * 1_000_000_000
    nothing = np.zeros(600, dtype=np.int64)
    folded = np.where(np.arange(600) < 200, 20 * MB, 0)
    xray = _xray(paper, clock, t_ns, nothing, folded) if paper.xray else {}
    result = Result(
        label="rest",
        start_ns=clock.now_ns,
        duration_ns=int(t_ns[-1]),
        series=Series.empty(),
        xray=xray,
    )
    clock.now_ns += int(t_ns[-1])
    return result


def _xray(
    paper: Paper,
    clock: _Clock,
    t_ns: np.ndarray,
    sizes: np.ndarray,
    folded: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Host data to SLC until the cache is full, then direct; folding and collection beside it."""
    done = np.cumsum(sizes)
    to_slc = np.where((done <= paper.cache * GB) & (not clock.full), sizes, 0)
    folds = folded if folded is not None else np.where(done > paper.fold * GB, sizes // 2, 0)
    steps = {
        "host_bytes": sizes,
        "slc_bytes": to_slc,
        "direct_bytes": sizes - to_slc,
        "fold_bytes": folds,
        "gc_bytes": sizes // 10 if clock.full else sizes * 0,
        "map_bytes": sizes // 1000,
        "wear_bytes": sizes // 4000,
        "refresh_bytes": sizes // 2000,
        "pad_bytes": sizes // 1000,
        "parity_bytes": sizes // 2000,
        "saved_bytes": sizes * 0,
        "slc_erases": folds // (50 * MB),
        "native_erases": sizes * 0,
        "wear_ppm": folds // (25 * MB),
        # 1 W and 2 nJ a byte.
        "energy_uj": np.diff(t_ns, prepend=0) // 1000 + sizes // 500,
    }
    columns = {"t_ns": t_ns}
    for name, rises in steps.items():
        columns[name] = clock.counted.get(name, 0) + np.cumsum(rises).astype(np.int64)
        clock.counted[name] = int(columns[name][-1])
    cache = np.minimum(np.cumsum(to_slc), round(paper.cache * GB))
    # From where borrowed cells go back on, the cache gets smaller.
    cache = np.maximum(cache - np.cumsum(folds if folded is None else 0) // 2, 0)
    columns["cache_bytes"] = cache.astype(np.int64)
    columns["cache_valid_bytes"] = columns["cache_bytes"]
    columns["free_superblocks"] = np.linspace(496, 20, len(t_ns)).astype(np.int64)
    columns["native_free_bytes"] = columns["free_superblocks"] * 553_648_128
    columns["power_state"] = np.where(sizes > 0, 0, 1)
    columns["temperature_mc"] = np.linspace(25_000, 40_000, len(t_ns)).astype(np.int64)
    return columns


def _interval(value: float | None, spread: float) -> Interval | None:
    if value == 0:
        return Interval(low=0.0, high=0.151, means="bound")
    if value is None:
        return None
    return Interval(low=value * (1 - spread), high=value * (1 + spread))


def _fill_findings(paper: Paper, pattern: str, label: str, number: int) -> list[Finding]:
    rates = paper.rates(number)
    total, seconds = float(rates.sum() / 2 * MB), len(rates) / 2

    def finding(
        name: str,
        title: str,
        value: float | None,
        unit: str,
        start: float,
        end: float,
        note: str | None = None,
        spread: float = 0.002,
    ) -> Finding:
        there = value is not None
        return Finding(
            battery="fill",
            name=name,
            variant=pattern,
            title=title,
            value=value,
            unit=unit,
            interval=_interval(value, spread),
            better="higher" if name.endswith(("cache_size", "fold_begin")) else None,
            note=note,
            evidence=Evidence(battery="fill", label=label, axis="bytes", start=start, end=end)
            if there
            else None,
        )

    mean = total / seconds / MB
    if number > 1:
        which = ORDINALS[number - 1]
        return [
            finding(
                f"{which}_pass.cache_size",
                f"{which.capitalize()} pass: size of the SLC cache",
                0.0,
                "GB",
                0,
                total,
                "none seen: no lasting drop",
            ),
            finding(
                f"{which}_pass.mean",
                f"{which.capitalize()} pass: mean speed",
                mean,
                "MB/s",
                0,
                total,
            ),
        ]
    folds = paper.fold < paper.capacity
    cache, fold = paper.cache * GB, paper.fold * GB
    lacking = None if folds else "not found: no third plateau"
    third = paper.cache * GB / 274_877_906_944
    signature = "present" if abs(third - 1 / 3) < 0.02 else "absent"
    why = "it behaves as one whole-drive SLC cache"
    likely = ("cache_probability", "Probability of a cache", None, "fraction", 0, cache, why)
    whole = [finding(*likely)] if signature == "present" else []
    return [
        finding("cache_size", "Size of the SLC cache", paper.cache, "GB", 0, cache),
        finding("speed_cache", "Speed in the SLC cache", paper.fast, "MB/s", 0, cache),
        finding("speed_past_cache", "Speed past the SLC cache", paper.slow, "MB/s", cache, fold),
        finding(
            "fold_begin",
            "Where folding begins",
            paper.fold if folds else None,
            "GB",
            cache,
            total,
            lacking,
        ),
        finding(
            "speed_folding",
            "Speed while folding",
            paper.folding if folds else None,
            "MB/s",
            fold,
            total,
            lacking,
        ),
        finding("mean", "Mean speed of the fill", mean, "MB/s", 0, total, "counted"),
        finding("duration", "Duration of the fill", seconds, "s", 0, total, "counted"),
        finding(
            "one_third",
            "SLC cache as a share of the raw flash",
            third,
            "fraction",
            0,
            cache,
            f"one-third signature {signature}",
        ),
        *whole,
    ]


def _cell_findings(paper: Paper, cell: str) -> list[Finding]:
    threads = int(cell.rpartition("T")[2])
    made = []
    for direction, share in (("read", 0.5), ("write", 1.0), ("mix", 0.6)):
        speed = 540.0 if cell.startswith("SEQ") else min(paper.rate4k * share * threads, 520)
        rate = speed * MB / (1048576 if cell.startswith("SEQ") else 4096)
        latency = 1e6 * threads / rate
        where = Evidence(
            battery="crystaldiskmark",
            label=f"cdm/{cell}/{direction}/1",
            axis="cell",
            start=0.0,
            end=0.0,
        )
        values: Sequence[tuple[str, str, float, str]] = (
            ("", "", speed, "MB/s"),
            (".latency", ", latency", latency, "us"),
            (".iops", ", rate", rate, "IOPS"),
        )
        for suffix, what, value, unit in values:
            made.append(
                Finding(
                    battery="crystaldiskmark",
                    name=direction + suffix,
                    variant=cell,
                    beside=direction if suffix else None,
                    title=f"{cell.replace('-', ' ')} {direction}{what}",
                    value=value,
                    interval=Interval(low=value * 0.99, high=value, means="range"),
                    unit=unit,
                    evidence=where,
                    note="best of the runs",
                )
            )
    return made
