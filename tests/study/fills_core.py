"""Fills of drives from the core with other ratios than the prior's, before other hosts than its.

For `flashtwin blind --generator tests/study/fills_core.py`. Caches from 0.3 % of the drive to all
that its flash can lend, native speeds from 1.15 to 12 times slower, reserves down to 0.5 %,
re-arming after odd amounts. The host's noise is heavy-tailed, correlated, quantised or log-normal
with outliers; it samples at uneven intervals, pauses, and begins slowly for up to ten minutes.
"""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.analysis.curve import Curve
from flashtwin.catalogue.loader import load
from flashtwin.model.job import Job, jobs_json
from flashtwin_lab.blind import generate as shipped
from flashtwin_lab.blind.truth import fold_of, plateaus_of

Floats = NDArray[np.float64]


def generate(seed: int, number: int) -> dict[str, Any]:
    """A series and the truth behind it."""
    rng = np.random.default_rng((seed, number, 4711))
    drawn, curve, ends = _filled(rng, number)
    capacity = float(rng.choice([128, 256, 512, 1000, 1024, 2048, 3840])) * 1e9
    stretch = capacity / curve.total_bytes
    pace = float(np.exp(rng.uniform(np.log(300), np.log(7000)))) * 1e6 / curve.mean(0, 20)
    curve = Curve(dt=curve.dt * (stretch / pace), size=curve.size * stretch)
    ends = [end * stretch for end in ends]
    places = [0.0, *ends, curve.total_bytes]
    sample = curve.total_s / float(np.exp(rng.uniform(np.log(90), np.log(15_000))))
    # A speed is what the drive did: its noise and drift belong to it, what the host did does not.
    drift = rng.uniform(-0.05, 0.05) if rng.random() < 0.25 else 0.0
    own = _noise(curve.time_at[:-1], sample, curve.total_s, rng)
    own *= 1 + drift * curve.time_at[:-1] / curve.total_s
    curve = Curve(dt=curve.dt / own, size=curve.size)
    plateaus = plateaus_of(curve, [pair for pair in pairwise(places) if pair[1] > pair[0]])
    dt, effects = _hosted(curve, ends, sample, rng)
    t_ns, dt_ns, size = _recorded(Curve(dt=dt, size=curve.size), sample, rng)
    fold = fold_of(curve, ends)
    # A GiB printed as a GB, or the other way round.
    label = float(rng.choice([1.0, 1.0, 1.0, 1.0737, 1 / 1.0737]))
    return {
        "name": f"{drawn.design} {number} with {', '.join(effects) or 'noise alone'}",
        "t_ns": t_ns,
        "dt_ns": dt_ns,
        "bytes": size,
        "capacity_bytes": int(capacity * label),
        "truth": {
            "design": drawn.design,
            "visible": shipped.visible(curve, ends, sample) if ends else False,
            "cache_bytes": ends[0] if ends else None,
            "fold_bytes": fold,
            "plateaus": [list(plateau) for plateau in plateaus],
        },
    }


def _filled(rng: np.random.Generator, number: int) -> tuple[shipped.Drawn, Curve, list[float]]:
    """A drive of the core, its fill, and where its cache ends and folding begins."""
    prior = copy.deepcopy(shipped.read_prior())
    prior["log"] = [*prior["log"], "reserve_share"]
    # Native programs hold three bits and take that many times longer: 1.15 to 12 times slower.
    prior["ranges"] |= {
        "native_ratio": [3.45, 36.0],
        "cache_share": [0.003, 0.6],
        "reserve_share": [0.005, 0.1],
        "static_share": [0.004, 0.05],
        "slc_tprog_us": [200, 1000],
    }
    drawn = shipped.draw(prior, rng)
    drawn_bytes = prior["drive"]["simulated_gb"] * shipped.GB
    cache = drawn.inside.get("asked_cache", 0.1) * drawn_bytes
    # More than the superblocks hold that the drive gives its cache would never come free.
    armed = min(rng.uniform(0.03, 1.0) * cache, shipped.whole_superblocks(cache))
    rearm = f"slc_cache.rearm={armed:.0f} B"
    can_rearm = drawn.design.startswith("dynamic") and rng.random() < 0.4
    spec = load(drawn.text, sets=(*drawn.sets, *([rearm] if can_rearm else [])))
    job = Job(name="fill", rw="write", block_bytes=128 << 10, depth=32, size=spec.capacity_bytes)
    answer = _core.Twin(spec, seed=number + 1).run(jobs_json([job]), 4_000_000, shipped.go_on)
    series, xray = answer["series"], answer["xray"]
    done = np.interp(xray["t_ns"], series["t_ns"] + series["dt_ns"], np.cumsum(series["bytes"]))
    curve = Curve(dt=series["dt_ns"] / 1e9, size=series["bytes"].astype(np.float64))
    return drawn, curve, shipped.ends_of(xray, done, drawn)


def _hosted(
    curve: Curve, ends: list[float], sample: float, rng: np.random.Generator
) -> tuple[Floats, list[str]]:
    """Seconds of each fine sample as the host sees it, and what was done to them."""
    effects: list[str] = []

    def hit(name: str, chance: float) -> bool:
        here = bool(rng.random() < chance)
        effects.extend([name] if here else [])
        return here

    dt, time, total = curve.dt.copy(), curve.time_at[:-1], curve.total_s
    if hit("slow start", 0.15):
        # What lasts as long as the first plateau would be that plateau's own speed.
        head = float(curve.seconds_to(np.array([ends[0]]))[0]) if ends else total
        lasts = min(float(np.exp(rng.uniform(0, np.log(600)))), 0.4 * head)
        dt[time < lasts] /= rng.uniform(0.3, 0.9)
    # With coarser samples a journal's share of the time is in every one, and nobody can tell it.
    if sample < 1.0 and hit("journal", 0.5):
        burst = rng.uniform(0.3, 2.0)
        dt[(time + rng.uniform(0, 30)) % 30.0 < burst] /= rng.uniform(0.2, 0.8)
    for _ in range(int(rng.choice([0, 0, 1, 2]))):
        effects.append("stall")
        dt[rng.integers(5, dt.size)] += float(np.exp(rng.uniform(np.log(0.5), np.log(20))))
    if ends and hit("stall at the knee", 0.15):
        at = min(int(np.searchsorted(curve.bytes_at, ends[0])), dt.size - 1)
        dt[at] += float(np.exp(rng.uniform(np.log(0.5), np.log(20))))
    return dt, effects


def _noise(time: Floats, sample: float, total: float, rng: np.random.Generator) -> Floats:
    """Factors of the speed: one law a drive, one value a sample's time."""
    count = int(total / sample) + 2
    scale = float(np.exp(rng.uniform(np.log(0.002), np.log(0.05))))
    law = str(rng.choice(["t2", "memory", "outliers", "normal"]))
    if law == "t2":
        noise = 0.6 * scale * rng.standard_t(2, count)
    elif law == "memory":
        noise = np.zeros(count)
        for index, step in enumerate(rng.normal(0.0, scale, count - 1)):
            noise[index + 1] = 0.9 * noise[index] + step * np.sqrt(1 - 0.81)
    elif law == "outliers":
        odd = rng.random(count) < 0.01
        noise = np.expm1(rng.normal(0.0, scale, count)) + odd * rng.uniform(-0.5, 0.5, count)
    else:
        noise = rng.normal(0.0, scale, count)
    result: Floats = np.clip(1 + noise, 0.3, 1.7)[(time / sample).astype(np.int64)]
    return result


def _recorded(
    curve: Curve, sample: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Samples at even or uneven intervals; a third of the hosts print whole MB/s."""
    count = max(int(curve.total_s / sample), 4)
    steps = np.ones(count) if rng.random() < 0.6 else rng.uniform(0.6, 1.4, count)
    edges = np.concatenate(([0.0], np.cumsum(steps))) * curve.total_s / steps.sum()
    done = np.interp(edges, curve.time_at, curve.bytes_at)
    if rng.random() < 0.33:
        rates = np.round(np.diff(done) / np.diff(edges) / 1e6) * 1e6
        done = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
    at = np.round(edges * 1e9).astype(np.int64)
    return at[:-1], np.diff(at), np.diff(np.round(done).astype(np.int64))
