"""The intervals keep their promise: 95 % of them cover the truth, give or take, series for series.

Plateaus, places and noise are drawn anew for each series; the seeds are fixed.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from shapes import fill, found

NAMES = ("cache_size", "speed_cache", "speed_past_cache", "fold_begin", "speed_folding")


def coverage(
    series: int, seed: int, *, memory: float = 0.0, sample_s: float = 1.0, most_noise: float = 0.2
) -> dict[str, float]:
    """Share of intervals that cover the truth, of those that the analysis gave."""
    covered: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for number in range(series):
        random = Random(seed + number)
        first, end = random.uniform(300, 550), random.uniform(8, 40)
        second = first * random.uniform(0.2, 0.6)
        third, begin = second * random.uniform(0.5, 0.75), random.uniform(215, 245) - 2 * end
        noise = most_noise * 20 ** -random.random()
        truth = dict(zip(NAMES, (end, first, second, begin, third), strict=True))
        findings = found(
            fill(
                (first, end),
                (second, begin),
                (third, 240),
                noise=noise,
                memory=memory,
                seed=seed + number + 1_000_000,
                sample_s=sample_s,
            )
        )
        for name, value in truth.items():
            finding = findings[name]
            if finding.low is not None and finding.high is not None:
                given[name] += 1
                covered[name] += finding.low <= value <= finding.high
    assert given["cache_size"] >= 0.98 * series
    assert given["fold_begin"] >= 0.9 * series
    return {name: covered[name] / given[name] for name in NAMES}


@pytest.mark.full
def test_intervals_cover_the_truth() -> None:
    for name, share in coverage(200, seed=20).items():
        assert 0.90 <= share <= 0.99, name


@pytest.mark.full
@pytest.mark.parametrize("sample_s", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("most_noise", [0.02, 0.2])
def test_intervals_cover_the_truth_at_length(sample_s: float, most_noise: float) -> None:
    shares = coverage(1000, seed=5000, sample_s=sample_s, most_noise=most_noise)
    for name, share in shares.items():
        assert 0.92 <= share <= 0.985, (name, shares)


@pytest.mark.full
def test_intervals_of_correlated_samples() -> None:
    shares = coverage(500, seed=9000, memory=0.6, sample_s=0.5, most_noise=0.1)
    for name, share in shares.items():
        assert 0.88 <= share <= 0.995, (name, shares)
