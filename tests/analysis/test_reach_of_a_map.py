"""The reach that times of reads over ranges say, held against a cache that is simulated."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from flashtwin.analysis.reach import reach

MIB = 1 << 20
SPANS = np.array([16 * MIB * 2**step for step in range(12)], dtype=np.float64)


def times(size: float, *, base: float = 90e-6, beyond: float = 60e-6, noise: float = 0.0) -> object:
    rng = Random(3)
    missed = np.maximum(0.0, 1 - size / SPANS)
    return (base + beyond * missed) * np.array([1 + noise * rng.gauss(0, 1) for _ in SPANS])


@pytest.mark.parametrize("size", [40 * MIB, 64 * MIB, 700 * MIB, 5000 * MIB])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_the_reach_of_the_law_is_found_within_its_interval(size: float, noise: float) -> None:
    seen = reach(SPANS, times(size, noise=noise))  # type: ignore[arg-type]
    assert seen is not None and seen.size.low is not None and seen.size.high is not None
    assert seen.size.low <= size <= seen.size.high
    assert seen.size.high < 1.6 * seen.size.low
    assert seen.slower == pytest.approx(60 / 90, rel=0.1)


def test_a_cache_that_drops_what_was_used_least_lately_has_its_size() -> None:
    """Pages of 4 MiB, 40 of them held; the mean time of 20,000 reads at random over each range."""
    rng, seconds = Random(7), []
    for span in SPANS:
        pages, held, total = int(span / (4 * MIB)), dict[int, None](), 0.0
        for _ in range(20_000):
            page = rng.randrange(pages)
            total += 90e-6 if page in held else 150e-6
            held.pop(page, None)
            held[page] = None
            if len(held) > 40:
                del held[next(iter(held))]
        seconds.append(total / 20_000)
    seen = reach(SPANS, np.array(seconds))
    assert seen is not None
    assert seen.size.value == pytest.approx(160 * MIB, rel=0.06)


@pytest.mark.parametrize(
    "seconds",
    [
        np.full(12, 90e-6),
        np.array(times(700 * MIB, beyond=3e-6)),
        np.full(12, 90e-6) * (1 + 0.02 * np.random.default_rng(4).normal(size=12)),
        # Quicker over larger ranges.
        np.array(times(64 * MIB))[::-1],
    ],
)
def test_without_a_knee_there_is_no_reach(seconds: np.ndarray) -> None:
    assert reach(SPANS, seconds) is None
    assert reach(SPANS[:5], seconds[:5]) is None
