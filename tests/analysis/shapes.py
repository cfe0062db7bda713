"""Synthetic fills for the tests: a drive that changes its speed at exact bytes, sampled by a clock.

The change happens when the byte is reached, in mid-sample if need be: so the truth of every change
point is known to the byte, and the mixed sample is what a real log would hold. Noise comes from the
standard library's generator, whose numbers do not move with a version of numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from flashtwin.batteries.fill.findings import analyse_fill
from flashtwin.model.finding import Finding

GB, MB = 1e9, 1e6
RAW_240 = 256 << 30

Factor = Callable[[float, float], float]


@dataclass(frozen=True, kw_only=True)
class Fill:
    """Columns as the results hand them over."""

    t_ns: Any
    dt_ns: Any
    bytes_: Any


def fill(
    *plateaus: tuple[float, float],
    noise: float = 0.02,
    memory: float = 0.0,
    sample_s: float = 0.5,
    seed: int = 1,
    factor: Factor | None = None,
) -> Fill:
    """Plateaus as (MB/s, up to GB); `factor(seconds, bytes)` multiplies the speed of a sample.

    `memory` is the correlation of a sample's noise with the one before it.
    """
    random = Random(seed)
    done, second, at, wave = 0.0, 0.0, 0, random.gauss(0, 1)
    rows: list[tuple[float, float, float]] = []
    while at < len(plateaus):
        wave = memory * wave + (1 - memory**2) ** 0.5 * random.gauss(0, 1)
        swing = max(1.0 + noise * wave, 0.02) * (factor(second, done) if factor else 1.0)
        left, before = sample_s, done
        while left > 1e-12 and at < len(plateaus):
            speed, end = plateaus[at][0] * MB * swing, plateaus[at][1] * GB
            need = (end - done) / speed if speed > 0 else float("inf")
            step = min(left, need)
            done, left = done + step * speed, left - step
            if need <= step + 1e-12:
                done, at = end, at + 1
        rows.append((second, sample_s - left, done - before))
        second += sample_s - left
    return from_rows(rows)


def from_rows(rows: list[tuple[float, float, float]]) -> Fill:
    """Rows of (start in s, length in s, bytes)."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return Fill(
        t_ns=np.round(table[:, 0] * 1e9).astype(np.int64),
        dt_ns=np.round(table[:, 1] * 1e9).astype(np.int64),
        bytes_=np.round(table[:, 2]).astype(np.int64),
    )


def saw(low: float, high: float, period_s: float, from_gb: float = 0.0) -> Factor:
    """A speed that climbs from `low` to `high` in each period, once so much is written."""

    def factor(second: float, done: float) -> float:
        # In the middle of a sample of half a second, so that the teeth keep the mean.
        climbed = ((second + 0.25) % period_s) / period_s
        return low + (high - low) * climbed if done >= from_gb * GB else 1.0

    return factor


def pulses(rate: float, length_s: float, period_s: float, from_gb: float = 0.0) -> Factor:
    """A speed times `rate` for the last `length_s` of each period, once so much is written."""

    def factor(second: float, done: float) -> float:
        within = second % period_s >= period_s - length_s
        return rate if within and done >= from_gb * GB else 1.0

    return factor


def hot(left: float, warms_s: float, slow_s: float, fast_s: float) -> Factor:
    """A drive that is slow from `warms_s` on, and cool in turn."""

    def factor(second: float, _done: float) -> float:
        since = second - warms_s
        return left if since >= 0 and since % (slow_s + fast_s) < slow_s else 1.0

    return factor


def odd(share: float, seed: int = 3) -> Factor:
    """Single samples that are far off, down and up, with this share each."""
    random = Random(seed)

    def factor(second: float, done: float) -> float:
        drawn = random.random()
        return 0.05 if drawn < share else 2.5 if drawn < 2 * share else 1.0

    return factor


def found(series: Fill, capacity_gb: float = 240, **more: Any) -> dict[str, Finding]:
    """Findings by their name without battery and pattern; intervals of the series alone."""
    findings = analyse_fill(
        series.t_ns,
        series.dt_ns,
        series.bytes_,
        pattern="128k-q32",
        label="fill/128k-q32/pass-1",
        capacity_bytes=round(capacity_gb * GB),
        **{"calibrate": False, **more},
    )
    names = [finding.name for finding in findings]
    assert len(set(names)) == len(names)
    return dict(zip(names, findings, strict=True))
