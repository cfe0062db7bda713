"""Fills that look as if a cache ended, of drives that have none: what an inference must not claim.

What: the series of a drive without a cache, of any generator, is made slower or faster by one thing
that is no cache: a limit outside of the drive or a slower link from some moment on, erased flash
used up on a drive that was written before, heat that begins late and stays, a saw-tooth after a
rise, a host's burst at the beginning, writes at changing depths or places, a single fall, or a
limit that comes and goes, by the clock or not.

Why: a probability that was counted on drives with caches and on even ones holds for nothing else.

Invariants: samples stay as long as they were, with the drive's own noise but where a limit cuts it
off; as many bytes are written; the same numbers give the same series.

Source of the numbers: ranges of this project. A burst of a host's memory or journal lasts 0.5 to
10 s at 1.1 to 16 times: memory takes buffered writes at gigabytes a second, whatever the drive
behind it, which may be a SATA one or a hard disk. Work by the clock comes at periods that
schedulers are set to, most of them round. The others span what public logs of such drives show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin_lab.blind.truth import Measured, Truth

Floats = NDArray[np.float64]
# Pieces of a series within which a change may begin.
PIECES = 8_000
# Periods of work by the clock, in seconds, round ones and others. A fill gets one that it has room
# for at least as often, and at most as often, as `CLOCKS` says.
CLOCKS_S = (
    5.0,
    7.0,
    10.0,
    30.0,
    45.0,
    60.0,
    90.0,
    120.0,
    240.0,
    300.0,
    600.0,
    900.0,
    1500.0,
    3600.0,
)
CLOCKS = (3, 150)

# The one limit that does not last to the end of the fill.
FOR_A_WHILE = "a limit for a while"

# Factors of the speed at moments, as shares of the time and in seconds, of a drive at such rates.
Law = Callable[[Floats, Floats, Floats, np.random.Generator], Floats]


def _limit(share: Floats, _second: Floats, rate: Floats, rng: np.random.Generator) -> Floats:
    """A limit from some moment on: credits are used up, another guest begins."""
    cap = float(np.median(rate)) * rng.uniform(0.12, 0.85)
    limited = share >= rng.uniform(0.02, 0.9)
    if rng.random() < 0.5:
        return np.where(limited, np.minimum(cap / rate, 1.0), 1.0)
    # A limiter that lets bursts through leaves the drive's noise.
    return np.where(limited, cap / float(np.median(rate)), 1.0)


def _link(share: Floats, second: Floats, rate: Floats, rng: np.random.Generator) -> Floats:
    """A link that is trained anew at half or a quarter of its speed, after a pause."""
    level = float(np.median(rate))
    begins = rng.uniform(0.02, 0.9)
    cap = level * rng.uniform(0.9, 1.1) * float(rng.choice([0.5, 0.5, 0.25]))
    factor = np.where(share >= begins, np.minimum(cap / rate, 1.0), 1.0)
    at = int(np.searchsorted(share, begins))
    paused = (second >= second[min(at, second.size - 1)]) & (share >= begins)
    paused &= second < second[min(at, second.size - 1)] + rng.uniform(0.0, 2.0)
    return np.where(paused, 0.05, factor)


def _used_up(share: Floats, _second: Floats, _rate: Floats, rng: np.random.Generator) -> Floats:
    """Erased flash of a preconditioned drive, then the pace of collection, in turns."""
    ends, pace = rng.uniform(0.03, 0.4), 1 / np.exp(rng.uniform(np.log(1.4), np.log(8)))
    turns = (share - ends) / rng.uniform(0.003, 0.03) % 1.0
    swing = 1 + rng.uniform(0.0, 0.6) * (turns - 0.5)
    walk = np.cumsum(rng.normal(0.0, 1.0, share.size)) / np.sqrt(share.size)
    uneven = np.exp(rng.uniform(0.0, 0.25) * walk)
    falls = np.clip((share - ends) / rng.uniform(0.001, 0.06), 0.0, 1.0)
    return np.asarray((1 - falls) + falls * pace * swing * uneven)


def _heat(share: Floats, _second: Floats, _rate: Floats, rng: np.random.Generator) -> Floats:
    """Heat from some moment on: to one lower speed for good, or up and down without end."""
    begins, left = rng.uniform(0.05, 0.9), rng.uniform(0.3, 0.85)
    falls = np.clip((share - begins) / rng.uniform(0.0005, 0.08), 0.0, 1.0)
    if rng.random() < 0.5:
        return np.asarray(1 - falls * (1 - left))
    period, duty = rng.uniform(0.01, 0.1), rng.uniform(0.3, 0.85)
    phase = (share - begins) % period / period
    depth = np.clip(np.minimum(phase / 0.1, (duty - phase) / 0.1), 0.0, 1.0) * (share >= begins)
    return np.asarray(1 - depth * (1 - left))


def _teeth(share: Floats, _second: Floats, _rate: Floats, rng: np.random.Generator) -> Floats:
    """Teeth of one length; the first one may begin lower, and rise."""
    period, low = rng.uniform(0.01, 0.2), rng.uniform(0.25, 0.7)
    phase = share % period / period
    straight = rng.random() < 0.5
    turns = 1 - (1 - low) * phase if straight else np.where(phase < rng.uniform(0.4, 0.8), 1.0, low)
    begins = period * rng.uniform(0.0, 2.0)
    return np.asarray(np.where(share < begins, low, turns))


def _burst(_share: Floats, second: Floats, _rate: Floats, rng: np.random.Generator) -> Floats:
    """A host's memory or journal takes data before the drive has to."""
    lasts = np.exp(rng.uniform(np.log(0.5), np.log(10.0)))
    times = np.exp(rng.uniform(np.log(1.1), np.log(16.0)))
    return np.where(second < lasts, times, 1.0)


def _no_fill(share: Floats, _second: Floats, _rate: Floats, rng: np.random.Generator) -> Floats:
    """Depths or mixes that change in steps, or random writes whose pace falls by itself."""
    if rng.random() < 0.6:
        count = int(rng.integers(2, 10))
        cuts = np.sort(rng.uniform(0.0, 1.0, count - 1))
        steps = np.exp(rng.uniform(np.log(0.15), 0.0, count))
        if rng.random() < 0.5:
            steps = np.sort(steps)[::-1] if rng.random() < 0.5 else np.sort(steps)
        return np.asarray(steps[np.searchsorted(cuts, share, side="right")])
    left, pace = rng.uniform(0.1, 0.7), rng.uniform(0.01, 0.3)
    return np.asarray(left + (1 - left) * np.exp(-share / pace))


def _falls(share: Floats, _second: Floats, _rate: Floats, rng: np.random.Generator) -> Floats:
    """One fall for good, anywhere, with the drive's own noise."""
    left = 1 / np.exp(rng.uniform(np.log(1.15), np.log(5.0)))
    return np.where(share >= rng.uniform(0.02, 0.95), left, 1.0)


def _while(share: Floats, second: Floats, rate: Floats, rng: np.random.Generator) -> Floats:
    """A backup, another guest or a slower path that takes its part for a while: by the clock, from
    the beginning or from some moment on, or now and then; under a limit, or with all scatter left.
    """
    is_slow = _now_and_then(share, rng) if rng.random() < 0.33 else _by_clock(share, second, rng)
    left = float(rng.choice([0.25, 0.5])) if rng.random() < 0.2 else rng.uniform(0.2, 0.85)
    cap = float(np.median(rate)) * left
    limit = np.minimum(cap / rate, 1.0) if rng.random() < 0.5 else left
    return np.where(is_slow, limit, 1.0)


def _by_clock(share: Floats, second: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    total_s = float(second[-1])
    periods = [every for every in CLOCKS_S if CLOCKS[0] <= total_s / every <= CLOCKS[1]]
    every = float(rng.choice(periods or [total_s / CLOCKS[1], total_s / CLOCKS[0]]))
    late, uneven = rng.uniform(0.0, 0.05, 2)
    turns, phase = np.divmod(second + rng.uniform(0.0, every), every)
    number = turns.astype(np.int64)
    begins = late * rng.uniform(0.0, 1.0, int(number[-1]) + 1)[number]
    lasts = rng.uniform(0.1, 0.7) * np.exp(rng.normal(0.0, uneven, int(number[-1]) + 1))[number]
    is_slow = (phase / every >= begins) & (phase / every < begins + lasts)
    from_share = rng.uniform(0.02, 0.5) if rng.random() < 0.6 else 0.0
    return np.asarray(is_slow & (share >= from_share))


def _now_and_then(share: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    count = int(rng.integers(1, 7))
    lasts = np.exp(rng.uniform(np.log(0.02), np.log(0.3), count))[:, None]
    # A limit that lasts to the end is one for good.
    begins = rng.uniform(0.0, 0.97 - lasts)
    return np.asarray(((share >= begins) & (share < begins + lasts)).any(axis=0))


# Each kind of negative by its name, with what it is to a reader of a probability.
LAWS: dict[str, tuple[Law, str]] = {
    "a limit outside": (_limit, "limit"),
    "a slower link": (_link, "limit"),
    "flash used up": (_used_up, "used"),
    "heat that stays": (_heat, "heat"),
    "a saw-tooth after a rise": (_teeth, "turns"),
    "a host's burst": (_burst, "burst"),
    "no sequential fill": (_no_fill, "load"),
    "a single fall": (_falls, "fall"),
    FOR_A_WHILE: (_while, "limit"),
}


# Targets of claims, which are probabilities of 0.95 or more: rows beside the prior's own.
TARGETS: tuple[dict[str, Any], ...] = (
    {"finding": "claims of a cache that are wrong", "kind": "wrong", "at_most": 0.05},
    {"finding": "negatives claimed", "kind": "each", "at_most": 0.03},
)


def kind_of(number: int) -> str:
    """The kinds in turn, so that a campaign has as many of each."""
    return list(LAWS)[number % len(LAWS)]


def negative(even: Measured, seed: int, number: int) -> Measured:
    """The series of a drive without a cache, made to look as if one ended."""
    kind = kind_of(number)
    law, _ = LAWS[kind]
    rng = np.random.default_rng((seed, number, int(even.bytes.sum())))
    parts = max(1, -(-PIECES // max(even.dt_ns.size, 1)))
    seconds = np.cumsum(np.repeat(even.dt_ns / 1e9 / parts, parts))
    rate = np.maximum(np.repeat(even.bytes / (even.dt_ns / 1e9), parts), 1.0)
    factor = law(seconds / seconds[-1], seconds, rate, rng).reshape(-1, parts).mean(axis=1)
    # The drive writes what it wrote before, and is as much faster or slower from end to end.
    done = np.cumsum(even.bytes * factor)
    whole = np.round(done * (even.bytes.sum() / done[-1])).astype(np.int64)
    truth = Truth(design="none", visible=False, cache_bytes=None, fold_bytes=None, plateaus=())
    return replace(
        even,
        name=f"{kind} {number}, of {even.name}",
        bytes=np.diff(whole, prepend=0),
        truth=truth,
        negative=kind,
    )
