"""Fills by a fourth set of laws: memory of 0.95, jittered journals, ramps, bursts at random.

For `flashtwin blind --generator tests/study/fills_rough.py`. Noise has a long memory or Student's
tails of two degrees; a journal writes every 5 to 60 s, not quite evenly; a host comes up to speed
in a ramp; heat goes down and up in ramps; a link falls to a lower speed for a while. Past its cache
a drive may take bursts after random gaps, or swing in triangles. 60 to 20,000 samples of random
lengths, some of hosts that print whole MB/s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FINE = 50_000
KINDS = ("none", "two", "two", "three", "last", "faster", "bursts", "triangles", "tiny")


def generate(seed: int, number: int) -> dict[str, Any]:
    """A series and the truth behind it."""
    rng = np.random.default_rng((seed, number, 2718))
    capacity = float(np.exp(rng.uniform(np.log(100), np.log(8000)))) * 1e9
    kind = str(rng.choice(KINDS))
    shares, levels = _levels(kind, rng)
    fine = np.linspace(0.0, capacity, FINE + 1)
    middle = (np.arange(FINE) + 0.5) / FINE
    rate = np.asarray(levels)[np.searchsorted(shares, middle, side="right")]
    dt = np.diff(fine) / (rate * _turns(kind, middle, shares, levels, rng))
    sample = float(dt.sum() / np.exp(rng.uniform(np.log(60), np.log(20_000))))
    dt = dt / _noise(np.cumsum(dt), sample, rng)
    plateaus = _plateaus(fine, dt, shares, capacity)
    seen, effects = _hosted(dt, np.diff(fine), shares, sample, rng)
    cache = float(shares[0] * capacity) if shares else None
    clear = cache is not None and _clear(fine, seen, cache, sample, levels)
    starts = [plateau[0] for plateau in plateaus[1:]]
    folds = kind in ("three", "last") and len(starts) == 2
    t_ns, dt_ns, size = _recorded(fine, seen, sample, rng)
    return {
        "name": f"{kind} {number} with {', '.join(effects) or 'noise alone'}",
        "t_ns": t_ns,
        "dt_ns": dt_ns,
        "bytes": size,
        "capacity_bytes": int(capacity * float(rng.choice([1.0, 1.0, 1.0737, 0.93]))),
        "truth": {
            "design": kind,
            "visible": False if cache is None else (clear or None),
            "cache_bytes": cache,
            "fold_bytes": float(shares[1] * capacity) if folds else None,
            "plateaus": plateaus,
        },
    }


def _levels(kind: str, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Where plateaus end, as shares of the drive, and every plateau's speed."""

    def ratio(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    top = ratio(150, 10_000) * 1e6
    if kind == "none":
        return [], [top]
    share, second = ratio(0.02, 0.6), top / ratio(1.3, 12)
    if kind == "tiny":
        return [ratio(0.003, 0.015)], [top, second]
    if kind == "three":
        return [share, rng.uniform(share + 0.06, 0.94)], [top, second, second / ratio(1.2, 6)]
    if kind == "last":
        return [min(share, 0.5), rng.uniform(0.92, 0.97)], [top, second, second / ratio(1.3, 6)]
    if kind == "faster":
        second = top / ratio(2.5, 12)
        return [min(share, 0.4), rng.uniform(0.5, 0.9)], [top, second, second * ratio(1.25, 2.2)]
    return [share], [top, second]


def _turns(
    kind: str, middle: Floats, shares: list[float], levels: list[float], rng: np.random.Generator
) -> Floats:
    """Past the cache: bursts of its speed after random gaps, or triangles of random periods."""
    pace = np.ones(middle.size)
    if kind not in ("bursts", "triangles"):
        return pace
    at, mean = shares[0], rng.uniform(0.004, 0.04)
    fast = min(levels[0] / levels[1], rng.uniform(1.5, 5.0))
    while at < 1.0:
        gap = mean * rng.uniform(0.6, 1.4)
        inside = (middle > at) & (middle <= at + gap)
        phase = (middle[inside] - at) / gap
        if kind == "bursts":
            pace[inside] = np.where(phase > rng.uniform(0.6, 0.9), fast, 1.0)
        else:
            pace[inside] = 1.0 + 0.4 * (1 - 4 * np.abs(phase - 0.5))
        at += gap
    return pace


def _plateaus(fine: Floats, dt: Floats, shares: list[float], capacity: float) -> list[list[float]]:
    """Plateaus of 2 % or more that are 15 % from their neighbour. A
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


def _clear(fine: Floats, dt: Floats, cache: float, sample: float, levels: list[float]) -> bool:
    """More than three samples, and a contrast of 1.25 to what follows as a whole."""
    time_at = np.concatenate(([0.0], np.cumsum(dt)))
    end = float(np.interp(cache, fine, time_at))
    before, after = cache / end, (fine[-1] - cache) / (time_at[-1] - end)
    return bool(end >= 4 * sample and levels[0] >= 1.25 * levels[1] and before >= 1.2 * after)


def _noise(time: Floats, sample: float, rng: np.random.Generator) -> Floats:
    """One value a sample: with a memory of 0.95, with heavy tails, or log-normal; drift."""
    scale = float(np.exp(rng.uniform(np.log(0.002), np.log(0.05))))
    count = int(time[-1] / sample) + 2
    law = str(rng.choice(["memory", "tails", "log-normal"]))
    noise = rng.normal(0.0, 1.0, count)
    if law == "memory":
        for index in range(1, count):
            noise[index] = 0.95 * noise[index - 1] + np.sqrt(1 - 0.95**2) * noise[index]
    elif law == "tails":
        noise = 0.5 * rng.standard_t(2, count)
    drift = 1 + (rng.uniform(-0.05, 0.05) if rng.random() < 0.25 else 0.0) * time / time[-1]
    result: Floats = np.clip(np.exp(scale * noise), 0.4, 2.0)[(time / sample).astype(int)] * drift
    return result


def _hosted(
    dt: Floats, size: Floats, shares: list[float], sample: float, rng: np.random.Generator
) -> tuple[Floats, list[str]]:
    """Seconds of each piece as the host sees it, and what was done to them."""
    effects: list[str] = []
    dt = dt.copy()
    time, total = np.cumsum(dt), float(dt.sum())
    ends = [float(time[min(int(share * dt.size), dt.size - 1)]) for share in shares]

    def hit(name: str, chance: float) -> bool:
        here = bool(rng.random() < chance)
        effects.extend([name] if here else [])
        return here

    factor = np.ones(dt.size)
    if hit("ramp at the start", 0.12):
        lasts = min(float(np.exp(rng.uniform(0, np.log(300)))), 0.3 * (ends[0] if ends else total))
        factor *= np.clip(rng.uniform(0.3, 0.8) + 0.7 * time / lasts, 0.0, 1.0)
    if hit("journal", 0.35):
        every = max(rng.uniform(5, 60), 12 * sample)
        starts = np.arange(rng.uniform(0, every), total, every)
        starts = starts + rng.normal(0, 0.05 * every, starts.size)
        lasts, slow = (
            rng.uniform(0.3, 1.5) * min(max(1.0, sample), every / 12),
            rng.uniform(0.2, 0.8),
        )
        # A journal that begins after the end of the fill writes nothing.
        starts = starts if starts.size else np.array([total])
        last = np.searchsorted(starts, time, side="right") - 1
        factor[(last >= 0) & (time - starts[last] < lasts)] *= slow
    if hit("heat", 0.12):
        period, duty = total * rng.uniform(0.03, 0.12), rng.uniform(0.2, 0.5)
        phase = ((time - total * rng.uniform(0.05, 0.5)) / period) % 1.0
        begun = time > total * rng.uniform(0.05, 0.5)
        depth = np.clip(np.minimum(phase / 0.05, (duty - phase) / 0.05), 0, 1) * begun
        factor *= 1 - (1 - rng.uniform(0.4, 0.75)) * depth
    if hit("a slower link for a while", 0.1):
        begins, lasts = rng.uniform(0.05, 0.8) * total, rng.uniform(0.01, 0.08) * total
        inside = (time >= begins) & (time < begins + lasts)
        # Where it hides the end of a plateau nobody can tell that: then there is none.
        if inside.any() and not any(begins <= end < begins + 2 * lasts for end in ends):
            cap = rng.uniform(0.4, 0.8) * float(np.median((size / dt)[inside]))
            factor[inside] = np.minimum(factor[inside], cap * (dt / size)[inside])
    dt /= factor
    for _ in range(int(rng.choice([0, 0, 1, 3]))):
        effects.append("stall")
        dt[rng.integers(dt.size // 100, dt.size)] += float(np.exp(rng.uniform(-0.7, 3.0)))
    if shares and hit("stall at the end of the cache", 0.12):
        dt[int(shares[0] * dt.size)] += float(np.exp(rng.uniform(-0.7, 3.0)))
    return dt, effects


def _recorded(
    fine: Floats, dt: Floats, sample: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Samples of even or random lengths; a quarter of the hosts print whole MB/s."""
    time_at = np.concatenate(([0.0], np.cumsum(dt)))
    count = max(int(time_at[-1] / sample), 60)
    steps = np.ones(count) if rng.random() < 0.5 else rng.gamma(12.0, 1 / 12.0, count)
    edges = np.concatenate(([0.0], np.cumsum(steps))) * time_at[-1] / steps.sum()
    done = np.interp(edges, time_at, fine)
    if rng.random() < 0.25:
        rates = np.round(np.diff(done) / np.diff(edges) / 1e6) * 1e6
        done = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
    at = np.round(edges * 1e9).astype(np.int64)
    return at[:-1], np.diff(at), np.diff(np.round(done).astype(np.int64))
