"""Candidate structures of an SLC cache, simulated small: what the host would see of each.

A candidate is a structure with values (how large, how fast, when it folds in idle time), drawn
around what the fill showed. It is simulated on a drive of 2 GB: a byte is a share of the capacity,
a speed a share of the first plateau's, and a rest as long against the time of a fill as on the
measured drive. Invariants: the same facts and tests give the same curves, on any number of cores;
a curve has `BINS` bins of equal bytes, each the logarithm of its speed over the first plateau's.

Shares are of the label's capacity. Formulas: past the cache data goes direct at the native rate
vn, or staged, each byte programmed once as SLC and once native: 1/v = 1/v1 + pace/vn.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.analysis.curve import Curve, curve_of, in_equal_bytes
from flashtwin.catalogue.loader import load
from flashtwin.inputs import read_regular
from flashtwin.model.job import Job, jobs_json

STRUCTURES = Path(__file__).with_name("structures.toml")
MOST_BYTES = 1 << 20
BINS = 48
BLOCK, DEPTH = 128 << 10, 32
SAMPLE_NS = 5_000_000
GB = 1e9
BITS = {"tlc": 3, "qlc": 4}

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the fill showed: shares of the capacity, speeds over the first plateau's.

    `total_bytes` is what was written, `fill_s` how long that takes at the first plateau's speed.
    """

    total_bytes: float
    cache_share: float
    second: float
    fill_s: float
    fill: tuple[float, ...]

    @property
    def first(self) -> float:
        """The first plateau's speed in bytes a second."""
        return self.total_bytes / self.fill_s


@dataclass(frozen=True, kw_only=True)
class Test:
    """A test after the fill. A write of `span_share` ends each; what is before it, the others say.

    `trims`: everything, before. `half`: everything is trimmed, half of the drive written, and the
    other half is where the test writes: a full drive has no blocks to lend, so that a borrowed
    cache does not come back on it. Then `rest_s` of rest. `random`: the write is a burst of 4 KiB
    writes all over the drive.
    """

    __test__ = False

    name: str
    rest_s: float = 0.0
    trims: bool = False
    half: bool = False
    random: bool = False


TESTS = (
    Test(name="again"),
    Test(name="half-1s", rest_s=1.0, half=True),
    Test(name="half-30s", rest_s=30.0, half=True),
    Test(name="half-600s", rest_s=600.0, half=True),
    Test(name="rest-600s", rest_s=600.0),
    Test(name="random", random=True),
    Test(name="trim", trims=True),
)
# Between TRIM of everything and the half fill the drive may erase.
SETTLE_S = 60.0
RANDOM_SHARE = 0.01
PAST_CACHE = 1.6
REST, HALF = "rest-", "half-"


def rest_of(seconds: float, *, half: bool) -> Test:
    """A rest of any length, on a full drive or on one that is half full."""
    text = f"{seconds:.3g}"
    return Test(name=f"{HALF if half else REST}{text}s", rest_s=float(text), half=half)


def named(name: str) -> Test:
    """The test of that name."""
    known = next((test for test in TESTS if test.name == name), None)
    if known is not None:
        return known
    half = name.startswith(HALF)
    return rest_of(float(name.removeprefix(HALF if half else REST).removesuffix("s")), half=half)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A structure by its place in the table, and its values."""

    structure: int
    cell: str
    cache_share: float
    second: float
    reserve_share: float
    static_share: float
    idle_s: float


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The structures and the small drive."""
    return tomllib.loads(read_regular(STRUCTURES, most_bytes=MOST_BYTES).decode())


def native_ratio(candidate: Candidate) -> float:
    """How fast the native blocks take data, over the first plateau's speed."""
    bits = BITS[candidate.cell]
    # No native program is as fast as the cache's: what a fill shows as that is another limit.
    second = min(candidate.second, 0.95)
    staged = (bits / (bits - 1)) / (1 / second - 1)
    direct = structures()[candidate.structure][1] == "direct"
    return second if direct else float(min(staged, 20.0))


def structures() -> list[tuple[str, str]]:
    """Each structure with how it writes past the cache."""
    return [(row["name"], row["past"]) for row in table()["structures"]]


def span_share(cache_share: float, test: Test) -> float:
    """What a test writes: past the end of the cache, as far as the drive goes."""
    if test.random:
        return RANDOM_SHARE
    return min(PAST_CACHE * cache_share, 0.5 if test.half else 1.0)


def drawn(facts: Facts, structure: int, rng: np.random.Generator) -> Candidate:
    """A candidate from the prior, given the fill."""
    ranges = table()["ranges"]
    spread = ranges["spread"]
    low, high = np.log(ranges["idle_s"])
    return Candidate(
        structure=structure,
        cell=str(rng.choice(list(BITS), p=[0.65, 0.35])),
        cache_share=facts.cache_share * float(np.exp(rng.normal(0, spread))),
        second=facts.second * float(np.exp(rng.normal(0, spread))),
        reserve_share=float(rng.uniform(*ranges["reserve_share"])),
        static_share=float(rng.uniform(*ranges["static_share"])),
        idle_s=float(np.exp(rng.uniform(low, high))),
    )


def moved(candidate: Candidate, rng: np.random.Generator, step: float) -> Candidate:
    """A neighbour: each value moved by a factor of about `step`; idle time anew, once in two."""
    low, high = np.log(table()["ranges"]["idle_s"])

    def factor(size: float) -> float:
        return float(np.exp(rng.normal(0, size)))

    idle = float(np.exp(rng.uniform(low, high)))
    near = float(np.clip(candidate.idle_s * factor(0.5), np.exp(low), np.exp(high)))
    return replace(
        candidate,
        cache_share=candidate.cache_share * factor(step),
        second=candidate.second * factor(step),
        reserve_share=candidate.reserve_share * factor(2 * step),
        static_share=candidate.static_share * factor(2 * step),
        idle_s=idle if rng.random() < 0.5 else near,
    )


def simulated(
    facts: Facts, candidates: Sequence[Candidate], tests: Sequence[Test], seed: int = 1
) -> list[list[Floats]]:
    """For each candidate the curve of its fill, then one of each test, played in their order."""
    plans = [_plan(facts, candidate, tests, seed) for candidate in candidates]
    answers = _core.simulate([plan for plan, _ in plans], os.cpu_count() or 1)
    return [_curves(steps, shown) for steps, (_, shown) in zip(answers, plans, strict=True)]


def _curves(steps: Sequence[Any], shown: Sequence[tuple[int, Test | None]]) -> list[Floats]:
    fill = _curve(steps[shown[0][0]])
    first = fill_speed(fill)
    return [binned(_curve(steps[at]), first, test) for at, test in shown]


def _curve(step: Any) -> Curve:
    series = step["series"]
    return curve_of(series["t_ns"], series["dt_ns"], series["bytes"])


def fill_speed(curve: Curve) -> float:
    """The first plateau's: the median over the first 2 % of the bytes."""
    head = in_equal_bytes(curve, 0.0, 0.02 * curve.total_bytes, 8)
    return float(np.median(head.rate))


def binned(curve: Curve, first: float, test: Test | None) -> Floats:
    """A curve as it is compared. A random burst is measured by its own fastest eighth: how fast a
    host and a controller are at 4 KiB says nothing of a cache."""
    rate = np.maximum(in_equal_bytes(curve, 0.0, curve.total_bytes, BINS).rate, 1.0)
    scale = float(np.quantile(rate, 0.875)) if test is not None and test.random else first
    result: Floats = np.log(rate / scale)
    return result


Plan = tuple[_core.Spec, int, list[tuple[str, int] | None]]


def _plan(
    facts: Facts, candidate: Candidate, tests: Sequence[Test], seed: int
) -> tuple[Plan, list[tuple[int, Test | None]]]:
    """What is simulated, and which of its steps are seen."""
    small = table()["drive"]
    capacity = int(small["capacity_gb"] * GB)
    slower = facts.fill_s / (capacity / _slc_rate())
    spec = load(_text(candidate, slower), sets=_sets(candidate))
    steps: list[tuple[str, int] | None] = [_write(spec.capacity_bytes, 1.0)]
    shown: list[tuple[int, Test | None]] = [(0, None)]
    for test in tests:
        share = span_share(facts.cache_share, test)
        offset = 0.0
        if test.half:
            steps += [None, ("", int(SETTLE_S * 1e9 / slower)), _write(spec.capacity_bytes, 0.5)]
            offset = 0.5
        if test.trims:
            steps.append(None)
        if test.rest_s:
            steps.append(("", max(int(test.rest_s * 1e9 / slower), 1)))
        steps.append(_write(spec.capacity_bytes, share, offset=offset, random=test.random))
        shown.append((len(steps) - 1, test))
    return (spec, seed, steps), shown


def _write(
    capacity: int, share: float, *, offset: float = 0.0, random: bool = False
) -> tuple[str, int]:
    block = 4096 if random else BLOCK
    job = Job(
        name="write",
        rw="randwrite" if random else "write",
        block_bytes=block,
        depth=DEPTH,
        offset=0 if random else int(capacity * offset) // BLOCK * BLOCK,
        size=capacity // BLOCK * BLOCK if random else int(capacity * share) // BLOCK * BLOCK,
        io_bytes=int(capacity * share) // block * block if random else None,
    )
    return jobs_json([job]), SAMPLE_NS // (5 if random else 1)


def _slc_rate() -> float:
    small = table()["drive"]
    pages = small["dies"] * small["planes"]
    return float(pages * small["page_bytes"] / (small["slc_tprog_us"] * 1e-6))


def superblock_share() -> float:
    """A superblock in SLC mode, as a share of the capacity; rounded up."""
    small = table()["drive"]
    pages = small["dies"] * small["planes"] * small["wordlines"]
    return 1.001 * float(pages * small["page_bytes"] / (small["capacity_gb"] * GB))


def _borrowable(candidate: Candidate) -> float:
    """The share of the capacity that a cache on borrowed cells may hold."""
    slack: float = table()["drive"]["slack"]
    return min(candidate.cache_share, 0.9 * slack / BITS[candidate.cell])


def _text(candidate: Candidate, slower: float) -> str:
    small, bits = table()["drive"], BITS[candidate.cell]
    name = structures()[candidate.structure][0]
    capacity = small["capacity_gb"] * GB
    native_us = small["slc_tprog_us"] * bits / native_ratio(candidate)
    own = {"static": candidate.cache_share, "hybrid": candidate.static_share}.get(name, 0.0)
    superblock = small["dies"] * small["planes"] * small["wordlines"] * small["page_bytes"] * bits
    raw = capacity * (small["slack"] + own * bits)
    return str(
        table()["spec"]["toml"].format(
            capacity=int(capacity),
            blocks=int(np.ceil(raw / superblock)),
            cell=candidate.cell,
            native_tprog=f"{native_us:.0f}",
            rearm=f"{0.1 * candidate.cache_share * capacity:.0f} B",
            idle=f"{max(candidate.idle_s / slower * 1e6, 1):.0f} us",
        )
    )


def _sets(candidate: Candidate) -> tuple[str, ...]:
    bits, capacity = BITS[candidate.cell], table()["drive"]["capacity_gb"] * GB
    cache = _borrowable(candidate)
    # A cache is counted in superblocks: one is the least.
    static = max(candidate.static_share, superblock_share())
    holes = {
        "cache": f"{max(cache, superblock_share()) * capacity:.0f} B",
        "borrowed": f"{max(cache - static, superblock_share()) * capacity:.0f} B",
        "static": f"{static * capacity:.0f} B",
        "reserve": f"{candidate.reserve_share * capacity:.0f} B",
        "freeing": f"{1 / (bits - 1):.3f}",
        "staging": f"{bits / (bits - 1):.3f}",
    }
    row = table()["structures"][candidate.structure]
    return tuple(line.format(**holes) for line in row["sets"])
