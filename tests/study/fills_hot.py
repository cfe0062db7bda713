"""Fills by laws that no other generator has: heat with a mass, limiters, wandering saw-teeth.

For `flashtwin blind --generator tests/study/fills_hot.py`. Heat is a temperature: it rises with
the speed, the drive slows down above one bound and is fast again below another, so lows become
longer where the drive is fast. A limiter outside of the drive caps it for a while, from the
beginning or in mid-fill. Folding swings with a period that drifts, last plateaus hold 3 % and more,
the journal writes every 30 s. 60 to 20,000 samples, evenly or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FINE = 60_000
KINDS = ("none", "two", "two", "three", "short-last", "faster-third", "teeth", "rearming", "tiny")


def generate(seed: int, number: int) -> dict[str, Any]:
    """A series and the truth behind it."""
    rng = np.random.default_rng((seed, number, 1913))
    capacity = float(rng.choice([128, 256, 400, 960, 1000, 1920, 4000])) * 1e9
    kind = str(rng.choice(KINDS))
    shares, levels = _levels(kind, rng)
    fine = np.linspace(0.0, capacity, FINE + 1)
    middle = (np.arange(FINE) + 0.5) / FINE
    level = np.asarray(levels)[np.searchsorted(shares, middle, side="right")]
    own = level * _swing(kind, middle, shares, levels, rng)
    dt = np.diff(fine) / own
    wanted = dt.sum() / float(np.exp(rng.uniform(np.log(60), np.log(20_000))))
    sample = max(float(rng.choice([0.2, 0.5, 1.0, 2.0, 5.0])), dt.sum() / 20_000)
    sample = min(sample, dt.sum() / 60) if rng.random() < 0.5 else wanted
    noise = _noise(np.cumsum(dt), sample, rng)
    dt = dt / noise
    stretches = _truth(fine, dt, np.asarray(shares), capacity)
    seen, effects = _disturbed(dt, np.diff(fine), shares, sample, rng)
    t_ns, dt_ns, size = _recorded(fine, seen, sample, rng)
    cache = float(shares[0] * capacity) if len(shares) else None
    visible = None if cache is None else _visible(fine, dt, cache, sample, levels)
    return {
        "name": f"{kind} {number} with {', '.join(effects) or 'noise alone'}",
        "t_ns": t_ns,
        "dt_ns": dt_ns,
        "bytes": size,
        "capacity_bytes": int(capacity * float(rng.choice([1.0, 1.0, 1.0, 1.0737, 0.93]))),
        "truth": {
            "design": kind,
            "visible": False if cache is None else visible,
            "cache_bytes": cache,
            "fold_bytes": float(shares[1] * capacity)
            if kind in ("three", "short-last") and len(stretches) == 3
            else None,
            "plateaus": stretches,
        },
    }


def _visible(fine: Floats, dt: Floats, cache: float, sample: float, levels: list[float]) -> Any:
    """Three samples and a contrast of 1.25 are asked; below that either answer is right."""
    seconds = float(np.interp(cache, fine[1:], np.cumsum(dt)))
    return True if seconds >= 3 * sample and levels[0] >= 1.25 * levels[1] else None


def _levels(kind: str, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Where the plateaus end, as shares of the drive, and every plateau's speed."""
    top = float(np.exp(rng.uniform(np.log(200), np.log(12_000)))) * 1e6
    if kind == "none":
        return [], [top]
    share = float(np.exp(rng.uniform(np.log(0.02), np.log(0.6))))
    second = top / float(np.exp(rng.uniform(np.log(1.2), np.log(12))))
    if kind == "tiny":
        return [float(rng.uniform(0.003, 0.015))], [top, second]
    if kind == "three":
        return [share, rng.uniform(share + 0.05, 0.95)], [top, second, second / rng.uniform(1.2, 5)]
    if kind == "short-last":
        return [min(share, 0.5), rng.uniform(0.94, 0.97)], [
            top,
            second,
            second / rng.uniform(1.5, 6),
        ]
    if kind == "faster-third":
        second = top / rng.uniform(2.5, 12)
        third = second * rng.uniform(1.25, 2.0)
        return [min(share, 0.4), rng.uniform(0.55, 0.9)], [top, second, third]
    return [share], [top, second]


def _swing(
    kind: str, middle: Floats, shares: list[float], levels: list[float], rng: np.random.Generator
) -> Floats:
    """Past the cache a drive may fold and take data in turn; periods wander by a tenth."""
    pace = np.ones(middle.size)
    if kind not in ("teeth", "rearming"):
        return pace
    period = rng.uniform(0.002, 0.02) if kind == "teeth" else rng.uniform(0.015, 0.06)
    past = middle > shares[0]
    walk = 1 + 0.1 * np.sin((middle - shares[0]) * rng.uniform(5, 60))
    phase = np.cumsum(past * walk / middle.size) / period % 1.0
    fast = min(levels[0] / levels[1], rng.uniform(1.5, 6.0))
    if kind == "teeth":
        # From fast down to slow within each period, a straight line over the bytes.
        slow = 1.0 / rng.uniform(1.3, 4.0)
        pace[past] = (fast * 0.8 + (slow - fast * 0.8) * phase)[past]
        return pace
    duty = rng.uniform(0.15, 0.4)
    pace[past] = np.where(phase[past] > 1 - duty, fast, 1.0)
    return pace


def _truth(fine: Floats, dt: Floats, shares: Floats, capacity: float) -> list[list[float]]:
    """Plateaus of 2 % or more that are 15 % from their neighbour, noise and drift left in. A
    shorter first one is not measured with the plateau that it is joined to."""
    time_at = np.concatenate(([0.0], np.cumsum(dt)))
    edges = [0.0, *(share * capacity for share in shares if share >= 0.02), capacity]
    first = max((share * capacity for share in shares if share < 0.02), default=0.0)
    while True:
        measured = [first, *edges[1:]]
        speeds = np.diff(measured) / np.diff(np.interp(measured, fine, time_at))
        apart = np.abs(np.diff(np.log(speeds)))
        if apart.size == 0 or apart.min() >= np.log(1.15):
            break
        del edges[int(apart.argmin()) + 1]
    return [[a, b, float(v)] for a, b, v in zip(edges, edges[1:], speeds, strict=False)]


def _noise(time: Floats, sample: float, rng: np.random.Generator) -> Floats:
    """One value a sample: normal, with tails, with a memory; drift by up to 5 %."""
    scale = float(np.exp(rng.uniform(np.log(0.002), np.log(0.06))))
    count = int(time[-1] / sample) + 2
    law = str(rng.choice(["normal", "tails", "memory"]))
    noise = scale * (rng.standard_t(2.5, count) * 0.6 if law == "tails" else rng.normal(size=count))
    if law == "memory":
        for index in range(1, count):
            noise[index] = 0.9 * noise[index - 1] + np.sqrt(1 - 0.81) * noise[index]
    drift = 1 + (rng.uniform(-0.05, 0.05) if rng.random() < 0.3 else 0.0) * time / time[-1]
    result: Floats = np.clip(1 + noise[(time / sample).astype(int)], 0.3, 1.7) * drift
    return result


def _disturbed(
    dt: Floats, size: Floats, shares: list[float], sample: float, rng: np.random.Generator
) -> tuple[Floats, list[str]]:
    effects: list[str] = []

    def hit(name: str, chance: float) -> bool:
        here = bool(rng.random() < chance)
        effects.extend([name] if here else [])
        return here

    dt = dt.copy()
    total = float(dt.sum())
    if hit("heat", 0.2):
        dt = _heated(dt, size, rng)
    if hit("limiter", 0.12):
        begins = 0.0 if rng.random() < 0.4 else rng.uniform(0.05, 0.8) * total
        lasts = rng.uniform(0.01, 0.08) * total
        time_at = np.cumsum(dt)
        inside = (time_at >= begins) & (time_at < begins + lasts)
        # Where it hides the end of a plateau nobody can tell that: then there is none.
        ends = [float(time_at[int(share * dt.size)]) for share in shares]
        if inside.any() and not any(begins <= end < begins + 2 * lasts for end in ends):
            cap = rng.uniform(0.4, 0.8) * float(np.median((size / dt)[inside]))
            dt[inside] = np.maximum(dt[inside], size[inside] / cap)
    if hit("journal", 0.25):
        every = max(30.0, 12 * sample)
        lower = (np.cumsum(dt) + rng.uniform(0, every)) % every < rng.uniform(0.3, 1.5) * sample
        dt[lower] /= rng.uniform(0.25, 0.8)
    if hit("stall", 0.3):
        dt[rng.integers(10, dt.size)] += float(np.exp(rng.uniform(np.log(0.5), np.log(20))))
    if shares and hit("stall at the knee", 0.15):
        dt[int(shares[0] * dt.size)] += float(np.exp(rng.uniform(np.log(0.5), np.log(20))))
    return dt, effects


def _heated(dt: Floats, size: Floats, rng: np.random.Generator) -> Floats:
    """A mass that warms with the time spent writing and slows the drive until it has cooled."""
    total = float(dt.sum())
    constant, slowed = total * rng.uniform(0.03, 0.2), rng.uniform(0.35, 0.75)
    hot, cool = rng.uniform(0.6, 0.85), rng.uniform(0.35, 0.55)
    rate = size / dt
    power = 0.7 + 0.3 * rate / rate.max()
    seen, warm, throttled = dt.copy(), 0.0, False
    for index in range(dt.size):
        factor = slowed if throttled else 1.0
        seen[index] = dt[index] / factor
        target = power[index] if not throttled else power[index] * slowed * 0.4
        warm += (target - warm) * min(seen[index] / constant, 1.0)
        throttled = warm > cool if throttled else warm > hot
    return seen


def _recorded(
    fine: Floats, dt: Floats, sample: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    time_at = np.concatenate(([0.0], np.cumsum(dt)))
    count = max(int(time_at[-1] / sample), 4)
    steps = np.ones(count) if rng.random() < 0.7 else rng.uniform(0.7, 1.3, count)
    edges = np.concatenate(([0.0], np.cumsum(steps))) * time_at[-1] / steps.sum()
    done = np.round(np.interp(edges, time_at, fine) / 4096).astype(np.int64) * 4096
    at = np.round(edges * 1e9).astype(np.int64)
    return at[:-1], np.diff(at), np.diff(done)
