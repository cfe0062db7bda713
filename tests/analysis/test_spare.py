"""Over-provisioning from where erased flash is used up, and from rates, beside closed forms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from shapes import fill

from flashtwin.analysis import spare
from flashtwin.analysis.curve import Curve, curve_of
from flashtwin_lab.theory import formulas

USER = 100e9


def written(*plateaus: tuple[float, float], noise: float = 0.02, seed: int = 2) -> Curve:
    """Random writes sampled each second: MB/s up to so many times the capacity."""
    ends = [(rate, until * USER / 1e9) for rate, until in plateaus]
    series = fill(*ends, noise=noise, sample_s=1.0, seed=seed)
    return curve_of(series.t_ns, series.dt_ns, series.bytes_)


@pytest.mark.parametrize("share", [0.02, 0.07, 0.16, 0.28, 0.5])
@pytest.mark.parametrize("noise", [0.005, 0.05])
def test_the_place_says_the_over_provisioning(share: float, noise: float) -> None:
    seen = spare.exhausted(written((400, 1 + share), (90, 2.5), noise=noise), USER)
    assert seen is not None and not seen.earlier
    found = spare.by_place(seen.place, USER)
    assert found.low is not None and found.high is not None
    assert found.value == pytest.approx(share, abs=0.005)
    assert found.low - 0.001 <= share <= found.high + 0.001
    assert seen.fresh.value == pytest.approx(400e6, rel=0.02)


def test_a_cache_that_ends_before_is_no_exhaustion_but_is_told() -> None:
    seen = spare.exhausted(written((900, 0.2), (400, 1.1), (90, 2.5)), USER)
    assert seen is not None and seen.earlier
    assert spare.by_place(seen.place, USER).value == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize(
    "curve",
    [
        written((400, 2.5)),
        written((400, 2.5), noise=0.15),
        # A cache alone ends far before the flash does.
        written((900, 0.2), (400, 2.5)),
        written((100, 0.9), (400, 2.5)),
        Curve(dt=np.ones(5), size=np.full(5, 50e9)),
    ],
)
def test_without_a_fall_there_nothing_is_said(curve: Curve) -> None:
    assert spare.exhausted(curve, USER) is None


@pytest.mark.parametrize("share", [0.03, 0.07, 0.145, 0.28, 0.6])
def test_the_inverse_is_that_of_the_closed_form(share: float) -> None:
    assert spare.fifo_inverse(formulas.fifo(share)) == pytest.approx(share, rel=1e-6)


@pytest.mark.parametrize("share", [0.05, 0.145, 0.4])
@pytest.mark.parametrize("copy", [0.0, 0.15, 0.3])
@pytest.mark.parametrize("below", [0.0, 0.06, 0.12])
def test_bounds_hold_for_all_that_they_assume(share: float, copy: float, below: float) -> None:
    """A drive whose collection is so much cheaper than FIFO, and a copy so much dearer."""
    amplification = (1 - below) * formulas.fifo(share)
    ratio = amplification + copy * (amplification - 1)
    found = spare.by_rates(ratio, 1.0, has_low=True)
    assert found is not None and found.low is not None and found.high is not None
    assert found.low - 1e-9 <= share <= found.high + 1e-9
    open_below = spare.by_rates(ratio * 0.8, 1.0, has_low=False)
    assert open_below is None or (open_below.low is None and share <= (open_below.high or 0))


def test_more_amplification_is_less_spare_and_none_is_nothing() -> None:
    values = [spare.fifo_inverse(amplification) for amplification in (1.2, 2.0, 4.0, 8.0)]
    assert all(more > less > 0 for more, less in pairwise(values))
    assert spare.by_rates(1.0, 1.0, has_low=True) is None
