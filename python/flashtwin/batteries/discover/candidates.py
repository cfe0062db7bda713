"""Candidate structures of an SLC cache, simulated small: what the host would see of each.

A candidate is a structure with values (how large, how fast, when it folds in idle time), drawn
around what the fill showed. It is simulated on a drive of 1 GB: a byte is a share of the capacity,
a speed a share of the first plateau's, and a rest as long against the time of a fill as on the
measured drive. Invariants: the same facts and tests give the same curves, on any number of cores;
a curve has `BINS` bins, each the logarithm of its speed over the first plateau's: of equal bytes in
the fill, finer at the beginning of a test, where a small cache would be.

Shares are of the label's capacity. Formulas: past the cache data goes direct at the native rate
vn, or staged, each byte programmed once as SLC and once native: 1/v = 1/v1 + pace/vn. Where folding
has to give back what is written, k/(k - 1) bytes are folded for a staged one and 1/(k - 1) for a
direct one; of a cache of C bytes that begins at P - (k - 1) C, P being the native bytes free at
first less the reserve. So the places at which a fill becomes slower say how large a reserve is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.analysis.curve import Curve, curve_of, in_equal_bytes
from flashtwin.analysis.first_plateau import may_be_burst
from flashtwin.batteries.discover import latency, places
from flashtwin.batteries.discover.tests import SINGLE_SHARE, Test
from flashtwin.catalogue.loader import load
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.hypothesis.small_drive import (
    DIES,
    PAGE_BYTES,
    PLANES,
    SmallDrive,
    superblock_bytes,
)
from flashtwin.hypothesis.structures import (
    BITS,
    DIRECT,
    HYBRID,
    NONE,
    STATIC,
    TIERS,
    WHOLE_DRIVE,
    returned,
)
from flashtwin.model.job import Job, jobs_json
from flashtwin.model.series import READ

# The small drive: its capacity and its blocks, in wordlines.
CAPACITY_BYTES, WORDLINES = 1e9, 11
# Raw flash over the capacity where the reserve says nothing else; a reserve of less than the next
# share of the capacity is a drive with more flash; and what no cache gets of it: the firmware's
# own, open superblocks, what collection keeps.
SLACK, LEAST_RESERVE_SHARE, HELD_BACK = 1.12, 0.005, 0.026
SLC_TPROG_US = 400
# A buffer of less than a superblock in SLC mode. On the larger drive of single writes: two native
# programs a die, as folding keeps under way, and what the host sends. With RAM for one program a
# die a write never waits for two.
BUFFER_KIB, LARGER_BUFFER_KIB = 768, 1536
# A write waits less often for a larger buffer, and longer: buffers of the larger drive that are
# tried where a host sees how long single writes wait.
BUFFERS_KIB = (768, LARGER_BUFFER_KIB)
# The first plateau over what the dies program in SLC mode.
FIRST = 0.94
# The standard deviation of the logarithm of sizes and speeds around those of the fill.
AROUND = 0.03
BINS = 48
# Bins of a test end at this power of equal steps.
FINER = 2.5
BLOCK, DEPTH, MIB = 128 << 10, 32, 1 << 20
SAMPLE_NS, TEST_SAMPLE_NS, LONG_SAMPLE_NS = 5_000_000, 2_000_000, 1_000_000_000
# Shorter than the link takes for a block: each sample of single requests has one, or none.
REQUEST_SAMPLE_NS = 200_000
# A step of folding is small beside a drive, and would not be beside a simulated one: curves are of
# steps of this size, how long single writes wait of those of the candidate.
CURVE_STEP_MIB = 1.0
# Steps of more programs than this are alike (`latency.LONGEST`).
MOST_PROGRAMS = 40.0
# So many times as large is the drive, and as long are its blocks, on which single writes are seen.
LARGER = 4
# A first plateau of this share of the fill or more shows its speed in the median over that share.
FIRST_SHARE = 0.02
# The seed of what is simulated; nothing but single reads depends on it.
SEED = 1

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the fill showed: shares of the capacity, speeds over the first plateau's.

    `total_bytes` is what was written, `fill_s` how long that takes at the first plateau's speed.
    `stages` are the plateaus past the first: first and last share of the fill, and speed. `begin_s`
    and `folding_s` are what rests showed: after how long folding begins in idle time, and how long
    a full cache then takes; none where they are not known. `meanwhile` are the bytes that single
    writes past the cache hand over while a program of the flash lasts, 0 where that is not known.
    """

    total_bytes: float
    cache_share: float
    second: float
    fill_s: float
    fill: tuple[float, ...]
    stages: tuple[tuple[float, float, float], ...] = ()
    begin_s: float | None = None
    folding_s: float | None = None
    meanwhile: float = 0.0

    @property
    def expected_s(self) -> float:
        """How long folding a full cache should take: as long as writing as much past it."""
        return self.fill_s * self.cache_share / self.second

    @property
    def first(self) -> float:
        """The first plateau's speed in bytes a second."""
        return self.total_bytes / self.fill_s

    @property
    def may_be_burst(self) -> bool:
        """Whether what was faster at first may have been a buffer or the host, and no cache."""
        return may_be_burst(self.cache_share * self.fill_s, 1.0, self.second)


# A write of a test goes past the size of the cache by so much.
PAST_CACHE = 1.6
# Where nothing told how soon folding begins, a rest is so long; all of a cache has to be folded in
# it, and half as much again; where folding is known to begin, so much later than that.
LONG_S, FOLDED, BEGUN = 600.0, 1.5, 1.2


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A structure by its place in the table, and its values.

    `second` is the speed past the cache over the first plateau's, past both tiers where there are
    two; `slack` counts where the cache is all of the flash. A host sees what is free beyond the
    reserve: a negative `reserve_share` is a drive with more flash (`flash`). `buffer_kib` is of the
    drive on which single writes are seen.
    """

    structure: int
    cell: str
    cache_share: float
    second: float
    reserve_share: float
    static_share: float
    idle_s: float
    tier_share: float = 0.1
    tier_speed: float = 0.5
    step_mib: float = 4.0
    buffer_kib: int = LARGER_BUFFER_KIB
    slack: float = 1.12


def native_ratio(candidate: Candidate) -> float:
    """How fast the native blocks take data, over the first plateau's speed."""
    bits = BITS[candidate.cell]
    name, past = structures()[candidate.structure]
    # No native program is as fast as the cache's: what a fill shows as that is another limit.
    second = min(candidate.second, 0.95)
    # Where nothing is free when the cache ends, what is written past it has to be given back.
    returns = name == WHOLE_DRIVE or folds_from_its_end(candidate)
    if past == DIRECT:
        return min(second * (returned(bits) if returns else 1.0), 0.95)
    pace = returned(bits) if returns else 1.0
    return float(min(pace / (1 / second - 1), 20.0))


@cache
def structures() -> tuple[tuple[str, str], ...]:
    """Each structure with how it writes past the cache."""
    return tuple((row.name, row.past) for row in hypothesis.structures())


def span_share(cache_share: float, test: Test) -> float:
    """What a test writes: past the end of the cache, as far as the drive goes."""
    if test.reads:
        return SINGLE_SHARE
    return min(PAST_CACHE * cache_share, 1.0 - test.level if test.level < 1.0 else 1.0)


def rest_seconds(facts: Facts, test: Test) -> float:
    """How long a test rests."""
    # A second tier that may be there is folded too.
    ends = [begin for begin, _, _ in facts.stages if begin > 1.02 * facts.cache_share][:1]
    cached = max([1.0, *(end / facts.cache_share for end in ends)])
    if not test.rests:
        long = test.rest_s >= LONG_S
        return test.rest_s + (FOLDED * facts.expected_s if long else 0.0)
    if facts.begin_s is None:
        return LONG_S + FOLDED * cached * facts.expected_s
    return BEGUN * facts.begin_s + FOLDED * cached * (facts.folding_s or facts.expected_s)


def drawn(facts: Facts, structure: int, rng: np.random.Generator) -> Candidate:
    """A candidate from the prior, given the fill: places at which that became slower are where the
    cache, its second tier or what is not reserved ended."""
    free = hypothesis.values()
    cell = str(rng.choice(list(BITS)))
    candidate = Candidate(
        structure=structure,
        cell=cell,
        cache_share=facts.cache_share * float(np.exp(rng.normal(0, AROUND))),
        second=facts.second * float(np.exp(rng.normal(0, AROUND))),
        reserve_share=free["reserve"].drawn(rng),
        static_share=free["static"].drawn(rng),
        idle_s=facts.begin_s or free["idle"].drawn(rng),
        tier_share=free["tier"].drawn(rng),
        tier_speed=free["tier_speed"].drawn(rng),
        step_mib=free["step"].drawn(rng),
    )
    candidate = _holding_its_own(candidate)
    name = structures()[structure][0]
    if name == WHOLE_DRIVE:
        slack = BITS[cell] * candidate.cache_share + HELD_BACK
        return replace(candidate, slack=float(np.clip(slack, *_slacks())))
    if name == TIERS:
        candidate = _tiered(facts, candidate, rng)
    end = _lent(candidate)[0]
    # A fill that becomes slower no more may have come to its reserve when the cache ended.
    places = [begin for begin, _, _ in facts.stages if begin > 1.02 * end] or [end]
    if name == STATIC or rng.random() < UNSEEN:
        return candidate
    return replace(candidate, reserve_share=_reserve(candidate, places[rng.integers(len(places))]))


# So many candidates have a reserve that no place in the fill says. A fill shows no speed past the
# cache but that of folding where this begins within a bin of it.
UNSEEN, AT_ONCE = 0.3, 1 / BINS


def _holding_its_own(candidate: Candidate) -> Candidate:
    """With a part of the cache's own that is less than all of the cache."""
    least = superblock_share()
    most = max(candidate.cache_share - least, least)
    return replace(candidate, static_share=min(candidate.static_share, most))


def _slacks() -> tuple[float, float]:
    """Ends of raw flash over capacity of a drive whose cache is all of it."""
    low, high = hypothesis.values()["spare"].ends
    return 1 + low, 1 + high


def _tiered(facts: Facts, candidate: Candidate, rng: np.random.Generator) -> Candidate:
    """With a second tier that ends at a place of the fill."""
    ends = [
        (begin, before[2], speed)
        for before, (begin, _, speed) in pairwise(facts.stages)
        if begin > 1.02 * facts.cache_share
    ]
    if not ends:
        return candidate
    end, tier_speed, second = ends[rng.integers(len(ends))]
    return replace(
        candidate, tier_share=end - facts.cache_share, tier_speed=tier_speed, second=second
    )


def cached_share(candidate: Candidate) -> float:
    """The share of the capacity that the cache holds, with its second tier."""
    if structures()[candidate.structure][0] == STATIC:
        return candidate.cache_share
    return _lent(candidate)[0]


def _lent(candidate: Candidate) -> tuple[float, float]:
    """The share at which the cache and its tier end, and the native bytes that it takes beyond its
    own ones, over the capacity."""
    bits, name = BITS[candidate.cell], structures()[candidate.structure][0]
    cache = _borrowable(candidate)
    lent = (bits - 1) * (cache - (candidate.static_share if name == HYBRID else 0.0))
    if name != TIERS:
        return cache, lent
    tier = tier_held(candidate)
    return cache + tier, lent + (bits / 2 - 1) * tier


def level_with(candidate: Candidate, left: float) -> float:
    """The level from which on a cache of borrowed blocks has so much left, as shares of the
    capacity: what is free beyond the reserve, a cell of which then holds one bit."""
    is_whole = structures()[candidate.structure][0] == WHOLE_DRIVE
    slack = candidate.slack if is_whole else SLACK
    free = slack - HELD_BACK - candidate.reserve_share
    return float(np.clip(free - BITS[candidate.cell] * left, 0.0, MOST_LEVEL))


# Beyond so much, random writes have a drive collect all the time.
MOST_LEVEL = 1.08


def _reserve(candidate: Candidate, place: float) -> float:
    """The reserve with which folding begins at a place."""
    low, high = hypothesis.values()["reserve"].ends
    return float(np.clip(_free_at(candidate, place), low, 3 * high))


def _free_at(candidate: Candidate, place: float) -> float:
    """The native bytes that are free once a fill has come to a place, over the capacity."""
    _, lent = _lent(candidate)
    own = candidate.static_share if structures()[candidate.structure][0] == HYBRID else 0.0
    return SLACK - HELD_BACK - (place - own) - lent


def folds_from_its_end(candidate: Candidate) -> bool:
    """True where little more than the reserve is free when a cache on borrowed cells is full."""
    if structures()[candidate.structure][0] in (NONE, STATIC, WHOLE_DRIVE):
        return False
    return _free_at(candidate, _lent(candidate)[0]) <= candidate.reserve_share + AT_ONCE


def moved(facts: Facts, candidate: Candidate, rng: np.random.Generator, step: float) -> Candidate:
    """A neighbour: each value moved by a factor of about `step`; what a fill does not show anew,
    once in three."""
    free = hypothesis.values()

    def factor(size: float) -> float:
        return float(np.exp(rng.normal(0, size)))

    def unseen(value: float, name: str, size: float) -> float:
        if rng.random() < 1 / 3:
            return free[name].drawn(rng)
        return float(np.clip(value * factor(size), *free[name].ends))

    neighbour = replace(
        candidate,
        cache_share=candidate.cache_share * factor(0.3 * step),
        second=candidate.second * factor(step),
        reserve_share=max(
            candidate.reserve_share + rng.normal(0, 0.2 * step), free["reserve"].ends[0]
        ),
        static_share=unseen(candidate.static_share, "static", 4 * step),
        idle_s=facts.begin_s or unseen(candidate.idle_s, "idle", 8 * step),
        tier_share=candidate.tier_share * factor(step),
        tier_speed=min(candidate.tier_speed * factor(step), 0.98),
        step_mib=unseen(candidate.step_mib, "step", 4 * step),
        slack=float(np.clip(candidate.slack * factor(0.1 * step), *_slacks())),
    )
    return _holding_its_own(neighbour)


def fills(facts: Facts, candidates: Sequence[Candidate]) -> list[tuple[Floats, float]]:
    """For each candidate the curve of its fill, and the speed of its first plateau."""
    plans = []
    for candidate in candidates:
        spec, _ = _spec(facts, candidate)
        plans.append((spec, SEED, [_write(spec.capacity_bytes, 1.0)]))
    answers = _core.simulate(plans, os.cpu_count() or 1)
    shown = []
    for candidate, steps in zip(candidates, answers, strict=True):
        curve = curve_of_step(steps[0]["series"])
        first = _first_speed(facts, candidate, curve)
        shown.append((binned(curve, first, None), first))
    return shown


def _first_speed(facts: Facts, candidate: Candidate, curve: Curve) -> float:
    """What the speeds of a candidate are told over: its first plateau's, as its fill shows it, or
    as it is where the cache ends too soon for that. Without a cache what was faster at first can
    have been a burst alone."""
    if structures()[candidate.structure][0] == NONE:
        return first_speed() if facts.may_be_burst else fill_speed(curve)
    return fill_speed(curve) if cached_share(candidate) >= FIRST_SHARE else first_speed()


@lru_cache(maxsize=1)
def first_speed() -> float:
    """The speed of the small drive's first plateau, the same of every candidate."""
    facts = Facts(total_bytes=1.0, cache_share=0.1, second=0.5, fill_s=1.0, fill=())
    static = structures().index((STATIC, DIRECT))
    spec, _ = _spec(facts, drawn(facts, static, np.random.default_rng(SEED)))
    ((step,),) = _core.simulate([(spec, SEED, [_write(spec.capacity_bytes, 1.0)])], 1)
    return fill_speed(curve_of_step(step["series"]))


def simulated(facts: Facts, questions: Sequence[tuple[Candidate, Test, float]]) -> list[Floats]:
    """The curves of tests, each at a state of its own; a candidate comes with the speed of its
    first plateau."""
    plans = [_plan(facts, candidate, test) for candidate, test, _ in questions]
    answers = _core.simulate([plan for plan, _ in plans], os.cpu_count() or 1)
    return [
        _shown([step["series"] for step in steps[before:]], first, test, candidate)
        for steps, (_, before), (candidate, test, first) in zip(
            answers, plans, questions, strict=True
        )
    ]


def _shown(series: Sequence[Any], first: float, test: Test, candidate: Candidate) -> Floats:
    """What the steps after its state show of a test."""
    if test.reads:
        *reads, single, mixed = series
        pattern = places.pattern(*map(places.mean_wait, reads))
        if structures()[candidate.structure][1] == DIRECT:
            # Single writes wait for no folding, and for what else depends on the drive's buffer.
            return pattern
        between = latency.Waits.of_series(_reads_of(mixed))
        long = latency.in_programs(single, latency.Waits.of_series(single), between)
        return np.append(pattern, long)
    return binned(curve_of_step(series[0]), first, test)


def _reads_of(series: Any) -> dict[str, Any]:
    """Samples of reads."""
    there = series["direction"] == READ
    return {name: series[name][there] for name in ("ios", "lat_sum_ns")}


def curve_of_step(series: Any) -> Curve:
    """The curve of what a step wrote."""
    return curve_of(series["t_ns"], series["dt_ns"], series["bytes"])


def fill_speed(curve: Curve) -> float:
    """The first plateau's, where that is as long."""
    head = in_equal_bytes(curve, 0.0, FIRST_SHARE * curve.total_bytes, 8)
    return float(np.median(head.rate))


def _shares(finer: float) -> Floats:
    shares: Floats = np.linspace(0.0, 1.0, BINS + 1) ** finer
    return shares


def bin_ends(facts: Facts, test: Test) -> Floats:
    """Where the bins of a test end, as shares of the capacity."""
    ends: Floats = _shares(FINER)[1:] * span_share(facts.cache_share, test)
    return ends


def binned(curve: Curve, first: float, test: Test | None) -> Floats:
    """A curve as it is compared."""
    ends = _shares(1.0 if test is None else FINER) * curve.total_bytes
    seconds = np.diff(curve.seconds_to(ends))
    rate = np.maximum(np.diff(ends) / np.maximum(seconds, 1e-9), 1.0)
    result: Floats = np.log(rate / first)
    return result


Plan = tuple[_core.Spec, int, list[tuple[str, int] | None]]


def _spec(facts: Facts, candidate: Candidate, *, larger: bool = False) -> tuple[_core.Spec, float]:
    """The small drive, and how many seconds of the measured one each of its own is. `larger`: with
    longer blocks, of which folding in steps moves parts."""
    times = LARGER if larger else 1
    slower = facts.fill_s / (times * CAPACITY_BYTES / _slc_rate())
    step = step_bytes(facts, candidate) if larger else CURVE_STEP_MIB * MIB
    return load(_text(candidate, slower, times), sets=_sets(candidate, times, step)), slower


def step_bytes(facts: Facts, candidate: Candidate) -> float:
    """The step of the small drive, which takes as many programs of all its dies as the candidate's
    does on the measured drive; as many bytes where it is not known how much that programs at
    once."""
    step = candidate.step_mib * MIB
    if facts.meanwhile == 0.0:
        return step
    # Folding goes on at the native rate while the host has the rate past the cache.
    at_once = facts.meanwhile * native_ratio(candidate) / min(candidate.second, 0.95)
    row = superblock_bytes(1, BITS[candidate.cell])
    return min(step / at_once, MOST_PROGRAMS) * row


def _plan(facts: Facts, candidate: Candidate, test: Test) -> tuple[Plan, int]:
    """What is simulated, and how many steps are there only to make the state."""
    spec, slower = _spec(facts, candidate, larger=test.reads)
    capacity = spec.capacity_bytes
    if test.reads:
        past = facts.cache_share * places.PAST[1]
        state = [_write(capacity, min(past, 1.0))]
        steps = [
            _reads(capacity, facts.cache_share * low, facts.cache_share * high)
            for low, high in (places.OLDEST, places.TAKEN, places.PAST)
        ]
        at = min(past, 1.0 - SINGLE_SHARE)
        steps.append(
            _write(capacity, SINGLE_SHARE, offset=at, single=True, sample_ns=REQUEST_SAMPLE_NS)
        )
        steps.append(_mixed(capacity, past))
        return (spec, SEED, [*state, _reads(capacity, 0.0, past), *steps]), 2
    state = [_write(capacity, test.level)] if test.level > 0 else []
    if test.overwrites:
        state.append(_write(capacity, test.overwrites, random=True))
    if state and (seconds := rest_seconds(facts, test)):
        state.append(("", max(int(seconds * 1e9 / slower), 1)))
    share = span_share(facts.cache_share, test)
    offset = test.level if test.level < 1.0 else 0.0
    last_write = _write(capacity, share, offset=offset, sample_ns=TEST_SAMPLE_NS)
    return (spec, SEED, [*state, last_write]), len(state)


def _reads(capacity: int, low: float, high: float) -> tuple[str, int]:
    first, last = (int(capacity * min(end, 1.0)) // BLOCK * BLOCK for end in (low, high))
    job = Job(
        name="read",
        rw="randread",
        block_bytes=4096,
        depth=1,
        offset=min(first, capacity // BLOCK * BLOCK - BLOCK),
        size=max(last - first, BLOCK),
        io_bytes=places.PAST_READS * 4096,
    )
    return jobs_json([job]), LONG_SAMPLE_NS


def _mixed(capacity: int, share: float) -> tuple[str, int]:
    job = Job(
        name="mixed",
        rw="randrw",
        block_bytes=latency.BLOCK,
        depth=1,
        size=max(int(capacity * min(share, 1.0)) // BLOCK, 1) * BLOCK,
        io_bytes=latency.MIXED * latency.BLOCK,
        read_percent=latency.READ_PERCENT,
    )
    return jobs_json([job]), REQUEST_SAMPLE_NS


def _write(
    capacity: int,
    share: float,
    *,
    offset: float = 0.0,
    random: bool = False,
    single: bool = False,
    sample_ns: int = SAMPLE_NS,
) -> tuple[str, int]:
    block = 4096 if random else BLOCK
    job = Job(
        name="write",
        rw="randwrite" if random else "write",
        block_bytes=block,
        depth=1 if single else DEPTH,
        offset=0 if random else int(capacity * offset) // BLOCK * BLOCK,
        size=capacity // BLOCK * BLOCK if random else int(capacity * share) // BLOCK * BLOCK,
        io_bytes=int(capacity * share) // block * block if random else None,
    )
    return jobs_json([job]), sample_ns


def _slc_rate() -> float:
    return DIES * PLANES * PAGE_BYTES / (SLC_TPROG_US * 1e-6)


def superblock_share() -> float:
    """A superblock in SLC mode, as a share of the capacity; rounded up."""
    return 1.001 * superblock_bytes(WORDLINES) / CAPACITY_BYTES


def flash(candidate: Candidate) -> tuple[float, float]:
    """The flash and the reserve of a candidate that borrows, as shares of the capacity."""
    more = max(LEAST_RESERVE_SHARE - candidate.reserve_share, 0.0)
    return SLACK + more, candidate.reserve_share + more


def _borrowable(candidate: Candidate) -> float:
    """The share of the capacity that a cache on borrowed cells may hold."""
    slack, _ = flash(candidate)
    return min(candidate.cache_share, 0.9 * slack / BITS[candidate.cell])


def tier_held(candidate: Candidate) -> float:
    """The share of the capacity that the second tier may hold beside the first."""
    slack, _ = flash(candidate)
    rest = 0.9 * slack / BITS[candidate.cell] - _borrowable(candidate)
    return max(min(candidate.tier_share, 2 * rest), 2 * superblock_share())


def _text(candidate: Candidate, slower: float, times: int) -> str:
    bits = BITS[candidate.cell]
    name = structures()[candidate.structure][0]
    capacity = times * CAPACITY_BYTES
    own = {STATIC: candidate.cache_share, HYBRID: candidate.static_share}.get(name, 0.0)
    is_whole = name == WHOLE_DRIVE
    slack = max(candidate.slack, 1.0 + HELD_BACK) if is_whole else flash(candidate)[0]
    return SmallDrive(
        cell=candidate.cell,
        capacity_bytes=capacity,
        raw_bytes=capacity * (slack + max(own, superblock_share()) * bits * (own > 0)),
        wordlines=times * WORDLINES,
        slc_tprog_us=SLC_TPROG_US,
        native_tprog_us=SLC_TPROG_US * bits / (FIRST * native_ratio(candidate)),
        write_buffer_kib=candidate.buffer_kib if times > 1 else BUFFER_KIB,
        system_mb=5,
        rearm_bytes=0.1 * candidate.cache_share * capacity,
        idle=f"{max(candidate.idle_s / slower * 1e6, 1):.0f} us",
        source="drawn by the battery discover",
    ).text()


def _sets(candidate: Candidate, times: int, step: float) -> tuple[str, ...]:
    capacity = times * CAPACITY_BYTES
    of, least = hypothesis.structures()[candidate.structure], superblock_share()
    # A cache is counted in superblocks: one is the least.
    cache = max(candidate.cache_share if of.name == STATIC else _borrowable(candidate), least)
    own = max(candidate.static_share, least)
    # All planes of all dies take a row of the tier's bits in one program.
    tier_us = 2 * SLC_TPROG_US / min(candidate.tier_speed, 0.98)
    sizes = hypothesis.Cache(
        borrowed=(max(cache - own, least) if of.name == HYBRID else cache) * capacity,
        own=(cache if of.name == STATIC else own) * capacity,
        reserve=flash(candidate)[1] * capacity,
        step=step,
        tier=tier_held(candidate) * capacity,
        tier_program_s=round(tier_us) / 1e6,
    )
    return hypothesis.sets(of, candidate.cell, sizes)
