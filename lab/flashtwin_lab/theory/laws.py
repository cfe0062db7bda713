"""The laws of SLC caches, closed loops, conservation and latencies, on one small drive.

Every rate that a law of a cache takes in is measured on that drive. Both sides of such a law are
rates of whole phases, a good way from where one phase passes into the next; where a phase ends is
found from the time that the fill takes, not from single samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin._core import Spec, Twin
from flashtwin.model.histogram import bins_of, mean_ns, middle_of
from flashtwin_lab.theory import drives, formulas
from flashtwin_lab.theory.drives import SECOND_NS, Sides, Watch, last, now, run

GB = 1e9
BITS = 3
CACHE = 2 * GB
RESERVE = 1 * GB
# Superblocks that no writer takes: collection needs them to finish (gc.reserve).
HELD_BACK = 3

STAGED: tuple[str, ...] = ()
DIRECT = ("slc_cache.when_full=direct", "fold.pace=0.5", "slc_cache.rearm=1.9 GB")
WHOLE_DRIVE = (
    "slc_cache.mode=whole-drive",
    "slc_cache.size=0",
    "slc_cache.when_full=direct",
    "fold.idle_after=never",
    "fold.reserve=0",
    "fold.pace=0.5",
)


@dataclass(frozen=True, kw_only=True)
class Fill:
    """A sequential fill: bytes and seconds of each sample."""

    amounts: NDArray[np.float64]
    spans: NDArray[np.float64]

    def rate(self, start: float, end: float) -> float:
        """Bytes a second between two points of the fill."""
        written = np.cumsum(self.amounts)
        inside = (written - self.amounts >= start) & (written <= end)
        return float(self.amounts[inside].sum() / self.spans[inside].sum())

    def time(self, start: float, end: float) -> float:
        """Seconds between two points."""
        written, clock = np.cumsum(self.amounts), np.cumsum(self.spans)
        return float(np.interp(end, written, clock) - np.interp(start, written, clock))

    def breaks_at(self, start: float, end: float, before: float, after: float) -> float:
        """Where the rate goes from `before` to `after`, so that the fill takes its time."""
        fast, slow = 1.0 / before, 1.0 / after
        return (end * slow - start * fast - self.time(start, end)) / (slow - fast)


def measure(law: str, seed: int, watch: Watch) -> Sides:
    """Measure both sides of a law."""
    return _LAWS[law](seed, watch)


def _staged(seed: int, watch: Watch) -> Sides:
    fill, onset = _fill(STAGED, seed, watch)
    slc, fold = fill.rate(0.3 * GB, 1.8 * GB), _fold_rate(STAGED, seed, watch)
    rate = fill.rate(3.0 * GB, onset - 0.5 * GB)
    return _mega(formulas.staged(slc, fold), rate)


def _staged_returning(seed: int, watch: Watch) -> Sides:
    fill, onset = _fill(STAGED, seed, watch)
    slc, fold = fill.rate(0.3 * GB, 1.8 * GB), _fold_rate(STAGED, seed, watch)
    rate = fill.rate(onset + 0.5 * GB, 19.8 * GB)
    return _mega(formulas.staged_returning(slc, fold, BITS), rate)


def _direct_returning(seed: int, watch: Watch) -> Sides:
    fill, onset = _fill(DIRECT, seed, watch)
    direct, fold = fill.rate(3.0 * GB, onset - 0.5 * GB), _fold_rate(DIRECT, seed, watch)
    # The cache is empty again after twice its size of host data.
    rate = fill.rate(onset + 0.5 * GB, min(onset + 1.8 * CACHE, 19.8 * GB))
    return _mega(formulas.direct_returning(direct, fold, BITS), rate)


def _onset(seed: int, watch: Watch) -> Sides:
    fill, onset = _fill(STAGED, seed, watch)
    before = fill.rate(3.0 * GB, onset - 0.5 * GB)
    after = fill.rate(onset + 0.5 * GB, 19.8 * GB)
    onset_measured = fill.breaks_at(3.0 * GB, 19.8 * GB, before, after)
    return Sides(expected=onset / GB, measured=onset_measured / GB)


def _largest(seed: int, watch: Watch) -> Sides:
    twin = _twin(WHOLE_DRIVE, seed)
    free = now(twin, watch, "native_free_bytes")
    count = now(twin, watch, "free_superblocks")
    lendable = free * (count - HELD_BACK) / count
    fill = _filled(twin, watch)
    first = fill.rate(0.5 * GB, 4.0 * GB)
    after = fill.rate(lendable / BITS + 0.5 * GB, lendable / BITS + 6.0 * GB)
    end = lendable / BITS + 6.0 * GB
    break_at = fill.breaks_at(0.5 * GB, end, first, after)
    return Sides(expected=lendable / BITS / GB, measured=break_at / GB)


def _mean(seed: int, watch: Watch) -> Sides:
    """The mean over the phases past the cache is all bytes over all of the time."""
    fill, onset = _fill(STAGED, seed, watch)
    slc, fold = fill.rate(0.3 * GB, 1.8 * GB), _fold_rate(STAGED, seed, watch)
    first, last = 3.0 * GB, 19.8 * GB
    times = (onset - first) / formulas.staged(slc, fold) + (
        last - onset
    ) / formulas.staged_returning(slc, fold, BITS)
    return _mega((last - first) / times, (last - first) / fill.time(first, last))


def _overwritten(seed: int, watch: Watch) -> Sides:
    """h of the host's bytes overwritten while still in SLC: (1 - h) native programs a host byte."""
    twin = _twin(("fold.idle_after=1 s",), seed)
    job: dict[str, Any] = {
        "rw": "write",
        "size": 400_000_000 // 4096 * 4096,
        "io_bytes": 1_600_000_000,
    }
    run(twin, watch, **job, block_bytes=131072, depth=32)
    twin.rest(60 * SECOND_NS, SECOND_NS, watch)
    xray = twin.rest(1, 1, watch)["xray"]
    native = last(xray, "fold_bytes") + last(xray, "direct_bytes") + last(xray, "gc_bytes")
    remaining_share = (400_000_000 // 4096 * 4096) / 1_600_000_000
    return Sides(expected=remaining_share, measured=native / last(xray, "host_bytes"))


_LAWS: Mapping[str, Callable[[int, Watch], Sides]] = {
    "staged": _staged,
    "staged, borrowed cells return": _staged_returning,
    "direct, borrowed cells return": _direct_returning,
    "onset of folding": _onset,
    "largest dynamic cache": _largest,
    "mean past the cache": _mean,
    "overwritten in the cache": _overwritten,
}


def _mega(expected: float, measured: float) -> Sides:
    return Sides(expected=expected / 1e6, measured=measured / 1e6)


def _twin(sets: tuple[str, ...], seed: int) -> Twin:
    spec: Spec = drives.cached(*sets)
    return Twin(spec, seed)


def _fill(sets: tuple[str, ...], seed: int, watch: Watch) -> tuple[Fill, float]:
    """A fill of a fresh drive, and where folding has to begin in it."""
    twin = _twin(sets, seed)
    xray = twin.rest(1, 1, watch)["xray"]
    superblock = last(xray, "native_free_bytes") / last(xray, "free_superblocks")
    native = last(xray, "native_free_bytes") - np.ceil(RESERVE / superblock) * superblock
    return _filled(twin, watch), formulas.fold_onset(native, CACHE, BITS)


def _filled(twin: Twin, watch: Watch) -> Fill:
    series = run(twin, watch, rw="write", block_bytes=131072, depth=32)["series"]
    return Fill(
        amounts=series["bytes"].astype(np.float64), spans=series["dt_ns"].astype(np.float64) / 1e9
    )


def _fold_rate(sets: tuple[str, ...], seed: int, watch: Watch) -> float:
    """Bytes a second of folding alone, measured while a full cache folds and the host is idle."""
    twin = _twin((*sets, "fold.idle_after=10 ms"), seed)
    run(
        twin, watch, rw="write", block_bytes=131072, depth=32, io_bytes=1_800_000_000 // 4096 * 4096
    )
    twin.rest(SECOND_NS, SECOND_NS, watch)
    before = now(twin, watch, "fold_bytes")
    after = last(twin.rest(8 * SECOND_NS, SECOND_NS, watch)["xray"], "fold_bytes")
    assert after < 1.75 * GB, "it ran dry while it was measured"
    return (after - before) / 8.0


# Host bytes by where they were programmed first, and everything that is programmed besides.
HOST = ("slc_bytes", "tier_bytes", "direct_bytes")


def little(depth: int, threads: int, seed: int, watch: Watch) -> Sides:
    """Mean queue depth against rate times mean latency, over a mix of reads and writes."""
    twin = Twin(drives.cached(), seed)
    run(twin, watch, rw="write", block_bytes=131072, depth=8, size=4_000_000_000 // 4096 * 4096)
    job = {"rw": "randrw", "depth": depth, "threads": threads, "host_ns": 3000}
    mix: dict[str, Any] = {**job, "block_bytes": 4096, "size": 2_000_000_000 // 4096 * 4096}
    row = run(twin, watch, **mix, io_bytes=200 << 20)["jobs"][0]
    expected = row["ios"] / (row["duration_ns"] / 1e9) * row["latency_mean_ns"] / 1e9
    return Sides(expected=expected, measured=row["mean_depth"])


def conservation(policy: str, seed: int, watch: Watch) -> Sides:
    """Every host byte is programmed once as host data: all of them, once nothing waits in RAM."""
    twin = Twin(drives.cached(f"gc.policy={policy}"), seed)
    # Whole mapping units: the last, partial one would be programmed whole.
    size = twin.capacity_bytes // drives.UNIT * drives.UNIT
    run(twin, watch, rw="write", block_bytes=1 << 20, depth=8, size=size)
    run(twin, watch, rw="randwrite", block_bytes=16384, depth=32, io_bytes=2 << 30, seed=seed)
    twin.flush(watch)
    xray = twin.rest(SECOND_NS, SECOND_NS, watch)["xray"]
    counts = {name: int(column[-1]) for name, column in xray.items()}
    programmed = sum(counts.get(name, 0) for name in HOST)
    return Sides(expected=float(counts["host_bytes"]), measured=float(programmed))


READ_US = 60.0


def read_mean(block: float, layer: float, seed: int, watch: Watch) -> Sides:
    """The mean of reads one at a time, in microseconds, is that of a drive without variation."""
    alike, _ = _read_latencies(seed, watch)
    varied, _ = _read_latencies(seed, watch, *_variation(block, layer))
    return Sides(expected=alike, measured=varied)


def read_deviation(block: float, layer: float, seed: int, watch: Watch) -> Sides:
    """Their standard deviation, in microseconds, follows from tR and the shares."""
    _, measured = _read_latencies(seed, watch, *_variation(block, layer))
    return Sides(expected=formulas.read_deviation(READ_US, block, layer), measured=measured)


def _variation(block: float, layer: float) -> tuple[str, str]:
    return f"nand.variation.block={block}", f"nand.variation.layer={layer}"


def _read_latencies(seed: int, watch: Watch, *sets: str) -> tuple[float, float]:
    """Mean and deviation of reads of natively programmed data, in microseconds."""
    spec = drives.cached("slc_cache.mode=none", f"nand.native.tr={READ_US} us", *sets)
    twin, size = Twin(spec, seed), 8_000_000_000 // 4096 * 4096
    run(twin, watch, rw="write", block_bytes=131072, depth=8, size=size)
    twin.rest(SECOND_NS, SECOND_NS, watch)
    job: dict[str, Any] = {"rw": "randread", "block_bytes": 4096, "depth": 1, "size": size}
    outcome = run(twin, watch, **job, io_bytes=400 << 20)
    counts = outcome["hist"]["read"]
    bins, mean = bins_of(counts), mean_ns(counts) or 0.0
    squares = sum(count * (middle_of(bucket) - mean) ** 2 for bucket, count in bins.items())
    deviation = (squares / sum(bins.values())) ** 0.5
    return outcome["jobs"][0]["latency_mean_ns"] / 1e3, deviation / 1e3
