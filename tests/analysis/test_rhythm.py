"""A period is found where there is one, as long as it is, and not where there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from flashtwin.analysis.curve import Floats
from flashtwin.analysis.rhythm import rhythm

SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "saw": lambda phase: phase,
    "half of the time": lambda phase: (phase < 0.5).astype(np.float64),
    "a tenth of the time": lambda phase: (phase < 0.1).astype(np.float64),
    "smooth": lambda phase: 0.5 - 0.5 * np.cos(2 * np.pi * phase),
}


def series(shape: str, period: float, samples: int, noise: float, seed: int) -> Floats:
    """So many samples of a shape of height 1, from a place within it, with noise."""
    rng = np.random.default_rng(seed)
    phase = (np.arange(samples) / period + rng.random()) % 1.0
    result: Floats = SHAPES[shape](phase) + noise * rng.normal(size=samples)
    return result


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("period", "samples"), [(12.0, 300), (37.3, 2000), (101.0, 1200)])
@pytest.mark.parametrize("noise", [0.01, 0.15])
def test_a_period_is_found_with_an_interval_that_holds_it(
    shape: str, period: float, samples: int, noise: float
) -> None:
    found = rhythm(series(shape, period, samples, noise, seed=5))
    assert found is not None
    assert found.period.low is not None and found.period.high is not None
    assert found.period.low <= period <= found.period.high
    assert found.period.high - found.period.low <= 2 * period * 2 * period / samples
    assert found.cycles == pytest.approx(samples / period, rel=0.1)


def test_a_period_that_wanders_gives_its_mean() -> None:
    turned = np.cumsum(1 + 0.15 * np.sin(np.linspace(0, 20, 3000))) / 50
    found = rhythm(turned % 1.0)
    assert found is not None
    assert found.period.value == pytest.approx(3000 / turned[-1], rel=0.03)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("samples", [60, 300, 2000])
def test_noise_has_no_period_with_a_memory_or_without(memory: float, samples: int) -> None:
    rng = np.random.default_rng(11)
    seen = 0
    for _ in range(60):
        values = rng.normal(size=samples)
        for at in range(1, samples):
            values[at] += memory * values[at - 1]
        seen += rhythm(values) is not None
    assert seen <= 1


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(200),
        np.linspace(0, 1, 200),
        np.repeat([0.0, 1.0], 100),
        np.random.default_rng(2).normal(size=20),
    ],
)
def test_what_never_swings_or_is_too_short_has_none(values: Floats) -> None:
    assert rhythm(values) is None


def test_a_period_of_one_half_alone_is_none_of_the_whole() -> None:
    values = series("saw", 20, 600, 0.02, seed=3)
    values[300:] = 0.5
    assert rhythm(values) is None
