"""buffer on times by its law, and on twins whose write buffer is known or never full."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from fakes import FakeDrive, Law, played
from thinning import thinned

from flashtwin.analysis.write_buffer import buffer
from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.findings import Findings
from flashtwin.model.step import Rest
from flashtwin.model.step import Run as StepRun
from flashtwin.runner.run import run_batteries
from flashtwin_lab.theory.drives import cached

KIB = 1024
SIZES = np.array([64 * KIB * 2.0**step for step in range(11)])


@pytest.mark.parametrize("knee", [0.3e6, 2e6, 9e6])
@pytest.mark.parametrize("flash", [50e6, 300e6])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_two_rates_with_a_knee_say_the_buffer(knee: float, flash: float, noise: float) -> None:
    rng = Random(5)
    seconds = np.minimum(SIZES, knee) / 500e6 + np.maximum(SIZES - knee, 0) / flash
    seconds *= [1 + noise * rng.gauss(0, 1) for _ in SIZES]
    seen = buffer(SIZES, seconds, 64 * KIB)
    assert seen is not None and seen.size.low is not None and seen.size.high is not None
    assert seen.size.value == pytest.approx(knee * (1 - flash / 500e6), rel=0.15)
    assert seen.size.low <= seen.size.value < knee * 1.001 and seen.size.high >= knee * 0.97
    assert seen.flash == pytest.approx(flash, rel=0.05)


@pytest.mark.parametrize(
    "seconds",
    [
        SIZES / 500e6,
        SIZES / 500e6 * (1 + 0.02 * np.random.default_rng(3).normal(size=SIZES.size)),
        # A time a burst beside the rate: small ones are slower.
        SIZES / 500e6 + 2e-3,
        # In turns: each second burst twice as long.
        SIZES / 500e6 * np.where(np.arange(SIZES.size) % 2, 2.0, 1.0),
    ],
)
def test_without_one_knee_no_buffer_is_claimed(seconds: np.ndarray) -> None:
    assert buffer(SIZES, seconds, 64 * KIB) is None
    assert buffer(SIZES[:7], seconds[:7], 64 * KIB) is None


def found(at: Path, *sets: str) -> Findings:
    drive = Twin(cached(*sets), seed=1).open()
    return Findings(run_batteries(drive, [("buffer", {})], at).findings)


@pytest.mark.parametrize(
    ("kib", "cache"),
    thinned([(kib, cache) for cache in ("dynamic", "none") for kib in (1536, 3072, 5120)], every=4),
)
def test_the_buffer_of_a_twin_lies_within_its_bounds(kib: int, cache: str, tmp_path: Path) -> None:
    sets = [f"controller.write_buffer={kib} KiB", f"slc_cache.mode={cache}"]
    finding, true = found(tmp_path, *sets)["buffer.size"], kib * 1024 / 1e6
    assert finding.interval is not None and finding.interval.means == "bound"
    assert finding.low is not None and finding.high is not None
    assert finding.low <= true <= finding.high
    # Programs begin a granule of each die later than the law says.
    granules = 2 * 4 * (16 << 10) * (1 if cache == "dynamic" else 3) / 1e6
    assert finding.number == pytest.approx(true - granules / 2, abs=granules / 2 + 0.05 * true)


@pytest.mark.parametrize(
    "sets",
    [
        # The link is slower than the flash, so that the buffer is never full.
        ("link.rate=200 MB/s",),
        ("controller.acknowledge=write-through",),
    ],
)
def test_a_buffer_that_is_never_full_is_not_claimed(sets: tuple[str, ...], tmp_path: Path) -> None:
    finding = found(tmp_path, *sets)["buffer.size"]
    assert finding.value is None and (finding.note or "").startswith("cannot tell")


def test_a_controller_that_takes_turns_shows_no_knee(tmp_path: Path) -> None:
    drive = Twin(load("bx500-240", scale="1/16", firmware=["slc-off"]), seed=1).open()
    findings = Findings(run_batteries(drive, [("buffer", {})], tmp_path).findings)
    assert findings["buffer.size"].value is None


def test_bursts_lie_one_behind_the_other_each_after_a_rest() -> None:
    steps, _ = played(registry.request("buffer", {"repeats": "3"}), FakeDrive())
    writes = [step.jobs[0] for step in steps if isinstance(step, StepRun)]
    assert sum(isinstance(step, Rest) for step in steps) == len(writes)
    ends = 0
    for job in writes:
        assert job.offset == ends and job.depth == 1
        ends += job.size or 0
    sizes = sorted({job.size or 0 for job in writes})
    assert (sizes[0], sizes[-1]) == (64 * KIB, 64 << 20) and len(writes) == 3 * len(sizes)
    small = FakeDrive(Law(capacity_bytes=100 << 20))
    with pytest.raises(FlashtwinError, match="all bursts together"):
        played(registry.request("buffer", {}), small)
