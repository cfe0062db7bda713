"""`./dev bench --lifetime` in short: a sampled life beside the same life in its time."""

from __future__ import annotations

import time

import pytest

from flashtwin_lab import lifetime

# Capacities that both lives write: half a minute of a processor.
CAPACITIES = 8


@pytest.mark.full
def test_a_sampled_life_has_the_figures_of_a_timed_one() -> None:
    short = lifetime.lived(lifetime.DRIVE, CAPACITIES)
    beside = lifetime.timed(lifetime.DRIVE, CAPACITIES)
    assert short.waf.value == pytest.approx(beside["waf"], rel=lifetime.WAF_OFF)
    assert short.p99_ns.value == pytest.approx(beside["p99_ns"], rel=lifetime.P99_OFF)


@pytest.mark.full
def test_six_hundred_capacities_are_lived_in_a_minute() -> None:
    """Of processor time: six seconds, as measured."""
    began = time.process_time()
    life = lifetime.lived(lifetime.DRIVE, lifetime.CAPACITIES)
    assert time.process_time() - began < lifetime.MOST_S
    assert life.ended is None
    assert life.simulated_bytes < life.host_bytes / 50
