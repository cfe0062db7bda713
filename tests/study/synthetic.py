"""Fills that no simulator made: levels, noise and disturbances drawn by other laws than ours.

Written for `flashtwin blind --generator tests/study/synthetic.py`, as a check that the analysis is
not fitted to drives of this project's own core, and as an example for other generators.

A drive is a list of levels over bytes. Past the cache it may come in bursts (a fold-first drive,
or one that arms its cache again); then the true speed of that stretch is its mean. Noise has heavy
tails or a memory, and hits time, never bytes, so that places stay true to the byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FINE = 20_000


def generate(seed: int, number: int) -> dict[str, Any]:
    """A series and the truth behind it."""
    rng = np.random.default_rng((seed, number, 77))
    capacity = float(rng.choice([120, 240, 250, 480, 500, 1000, 2000, 4000])) * 1e9
    kind = str(rng.choice(KINDS))
    places, levels = _levels(kind, capacity, rng)
    fine = np.linspace(0.0, capacity, FINE + 1)
    middle = (fine[1:] + fine[:-1]) / 2
    at = np.searchsorted(places, middle, side="right")
    rate = np.asarray(levels)[at]
    pace = _bursts(kind, middle, places, levels, rng)
    dt = np.diff(fine) / (rate * pace)
    seconds = float(rng.choice([0.25, 0.5, 1.0, 3.0]))
    seconds = float(np.clip(seconds, dt.sum() / 9000, dt.sum() / 90))
    stretches = _truth(fine, dt, places, capacity)
    dt, effects = _disturbed(dt, middle / capacity, places[:1] / capacity, seconds, rng)
    t_ns, dt_ns, size = _recorded(fine, dt, seconds, rng)
    # An end within the first three samples is below resolution: seen or not, both are right.
    resolved = bool(places.size and size[:3].sum() < places[0])
    size_of_cache = float(places[0]) if places.size else None
    return {
        "name": f"{kind} {number} with {', '.join(effects) or 'noise alone'}",
        "t_ns": t_ns,
        "dt_ns": dt_ns,
        "bytes": size,
        "capacity_bytes": int(capacity),
        "truth": {
            "design": kind,
            "visible": (resolved or None) if places.size else False,
            "cache_bytes": size_of_cache,
            "fold_bytes": float(places[1]) if kind in ("three", "staged") else None,
            "plateaus": stretches,
        },
    }


KINDS = ("none", "none", "two", "two", "three", "three", "staged", "bursty", "rearming", "small")


def _levels(kind: str, capacity: float, rng: np.random.Generator) -> tuple[Floats, list[float]]:
    """Ends of the plateaus but the last one, and every plateau's speed."""
    top = float(np.exp(rng.uniform(np.log(180), np.log(7000)))) * 1e6
    if kind == "none":
        return np.zeros(0), [top]
    share = rng.uniform(0.006, 0.02) if kind == "small" else rng.uniform(0.03, 0.45)
    second = top / rng.uniform(1.35, 9.0)
    if kind in ("three", "staged"):
        # The last plateau is slower past a direct one, faster where a second tier was skipped.
        third = second / rng.uniform(1.3, 4.0)
        end = rng.uniform(share + 0.08, 0.95)
        return np.array([share, end]) * capacity, [top, second, third]
    return np.array([share]) * capacity, [top, second]


def _bursts(
    kind: str, middle: Floats, places: Floats, levels: list[float], rng: np.random.Generator
) -> Floats:
    """Past the cache some drives swing between almost nothing and almost the cache's speed."""
    pace = np.ones(middle.size)
    if kind not in ("bursty", "rearming"):
        return pace
    period = (
        (middle[-1] * rng.uniform(0.004, 0.012))
        if kind == "bursty"
        else (middle[-1] * rng.uniform(0.02, 0.05))
    )
    duty = rng.uniform(0.2, 0.6)
    inside = ((middle - places[0]) % period) / period
    swing = min(levels[0] / levels[1], 4.0) * 0.8
    high = inside > 1 - duty if kind == "rearming" else inside > 0.5
    fast, slow = swing, 1.0 / swing if kind == "bursty" else 1.0
    past = middle > places[0]
    pace[past] = np.where(high[past], max(fast, 1.05), min(slow, 1.0))
    return pace


def _truth(fine: Floats, dt: Floats, places: Floats, capacity: float) -> list[list[float]]:
    """Plateaus as the definition wants them: 2 % or longer, 15 % apart from their neighbour. A
    shorter first one is none of the plateau that it is joined to, and not measured with it."""
    time_at = np.concatenate(([0.0], np.cumsum(dt)))
    long = [0.0, *(e for e in places.tolist() if e >= 0.02 * capacity), capacity]
    measured = [max((e for e in places.tolist() if e < 0.02 * capacity), default=0.0), *long[1:-1]]
    begins, ends = np.interp(measured, fine, time_at), np.interp(long[1:], fine, time_at)
    return [
        [a, b, (b - from_) / (t - s)]
        for a, b, from_, s, t in zip(long, long[1:], measured, begins, ends, strict=False)
    ]


def _disturbed(
    dt: Floats, share: Floats, knee: Floats, sample: float, rng: np.random.Generator
) -> tuple[Floats, list[str]]:
    """Time that a host, a journal and heat add; effects hit by chance."""
    effects: list[str] = []
    dt = dt.copy()
    total = float(dt.sum())

    def hit(name: str, chance: float) -> bool:
        here = bool(rng.random() < chance)
        effects.extend([name] if here else [])
        return here

    time_at = np.cumsum(dt)
    if hit("heat", 0.15):
        period, duty = total * rng.uniform(0.02, 0.12), rng.uniform(0.25, 0.5)
        begins = total * rng.uniform(0.05, 0.5)
        phase = ((time_at - begins) % period) / period
        ramp = rng.uniform(0.02, 0.2)
        depth = np.clip(np.minimum(phase / ramp, (duty - phase) / ramp), 0, 1) * (time_at > begins)
        dt /= 1 - (1 - rng.uniform(0.35, 0.75)) * depth
    if hit("stall", 0.35):
        dt[rng.integers(10, dt.size - 10)] += 5.0
    if knee.size and hit("stall at the end", 0.15):
        dt[np.searchsorted(share, knee[0])] += 5.0
    if hit("journal", 0.3):
        every = sample * rng.uniform(12, 40)
        lower = (time_at % every) < sample * rng.uniform(0.5, 1.5)
        dt[lower] /= rng.uniform(0.3, 0.8)
    if hit("slow start", 0.12):
        dt[time_at < rng.uniform(2, 8) * sample] /= rng.uniform(0.5, 0.85)
    return dt, effects


def _recorded(
    fine: Floats, dt: Floats, sample: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The samples of a host that counts whole requests of 1 MiB."""
    law, count = str(rng.choice(["t", "memory", "laplace"])), int(dt.sum() / sample) + 1
    scale = float(np.exp(rng.uniform(np.log(0.003), np.log(0.06))))
    if law == "t":
        noise = scale * rng.standard_t(3, count)
    elif law == "laplace":
        noise = scale * rng.laplace(size=count)
    else:
        noise, keeps = np.zeros(count), rng.uniform(0.5, 0.9)
        for index, step in enumerate(rng.normal(0.0, scale, count - 1)):
            noise[index + 1] = keeps * noise[index] + step * np.sqrt(1 - keeps**2)
    of = np.minimum((np.cumsum(dt) / sample).astype(int), count - 1)
    dt = dt / np.clip(1 + noise[of], 0.4, 1.6)
    time_at = np.concatenate(([0.0], np.cumsum(dt)))
    edges = np.append(np.arange(0.0, time_at[-1], sample), time_at[-1])
    done = np.interp(edges, time_at, fine)
    at = np.round(edges * 1e9).astype(np.int64)
    whole = np.round(done / (1 << 20)).astype(np.int64) << 20
    whole[-1] = round(fine[-1])
    return at[:-1], np.diff(at), np.maximum(np.diff(whole), 0)
