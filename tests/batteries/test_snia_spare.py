"""snia_wsat finds over-provisioning and period of collection of page maps built with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from thinning import thinned

from flashtwin._core import Spec
from flashtwin.drives.twin import Twin
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings
from flashtwin.model.step import Result
from flashtwin.runner.run import run_batteries
from flashtwin_lab.theory import drives

BLOCKS, PAGES = 512, 64
# Superblocks without data: collection keeps three, of which one is being filled half of the time,
# and two are open, half full.
IDLE = 0.5 * 2 + 3 - 0.5
FLASH = {
    f"nand.{mode}.{time}": value
    for mode in ("slc", "native")
    for time, value in (("tprog", "400 us"), ("tr", "40 us"), ("tbers", "2 ms"))
}


def page_map(share: float, **policy: str) -> Spec:
    user = int((BLOCKS - IDLE) * PAGES / (1 + share))
    keys = {"gc.low": 3, "gc.high": 3, "gc.policy": "greedy", **FLASH, **policy}
    return drives.page_map(BLOCKS, PAGES, user, keys)


def found(spec: Spec, at: Path, **parameters: str) -> Findings:
    asked = {"sample_s": "100ms", "watch_s": "1s", **parameters}
    return Findings(run_batteries(Twin(spec, seed=1).open(), [("snia_wsat", asked)], at).findings)


@pytest.mark.parametrize("share", thinned([0.15, 0.08, 0.28], every=3))
def test_flash_is_used_up_where_the_spare_says(share: float, tmp_path: Path) -> None:
    findings = found(page_map(share), tmp_path)
    finding = findings["snia_wsat.spare"]
    assert finding.number == pytest.approx(share, abs=0.004)
    assert finding.low is not None and finding.high is not None
    # What is free beside the data when collection begins is known to a superblock.
    block = (1 + share) / BLOCKS
    assert finding.low - block <= share <= finding.high + block
    user = Twin(page_map(share), seed=1).info.capacity_bytes
    exhausted = findings["snia_wsat.exhausted"].number
    assert exhausted == pytest.approx(user * (1 + share) / 1e9, rel=0.004)


@pytest.mark.parametrize(
    ("share", "policy"),
    [
        pytest.param(0.08, "greedy", marks=pytest.mark.full),
        pytest.param(0.08, "fifo", marks=pytest.mark.full),
        pytest.param(0.2, "greedy", marks=pytest.mark.full),
        (0.2, "fifo"),
    ],
)
def test_the_steady_rate_says_bounds_that_hold(share: float, policy: str, tmp_path: Path) -> None:
    """Rounds of half of the drive, so that it is steady in the end, and rounds of a tenth."""
    spec = page_map(share, **{"gc.policy": policy})
    steady = found(spec, tmp_path / "long", round_percent="50", fills="12")["spare.steady"]
    assert steady.interval is not None and steady.interval.means == "bound"
    assert steady.high is not None and share <= steady.high
    assert steady.low is None or steady.low <= share
    falling = found(spec, tmp_path / "short")["spare.steady"]
    assert falling.high is None or share <= falling.high


def test_a_drive_that_something_else_limits_says_so(tmp_path: Path) -> None:
    findings = found(page_map(0.15, **{"link.rate": "2 MB/s"}), tmp_path)
    for name in ("exhausted", "spare", "spare.steady"):
        assert findings[f"snia_wsat.{name}"].value is None
        assert "more threads" in (findings[f"snia_wsat.{name}"].note or "")


def test_a_part_of_a_drive_says_nothing_of_its_flash(tmp_path: Path) -> None:
    finding = found(page_map(0.15), tmp_path, range_percent="50")["snia_wsat.spare"]
    assert finding.value is None and "whole drive" in (finding.note or "")


def period_of(
    pages: int, blocks: int, at: Path, *, watched: str = "20s", **policy: str | float
) -> tuple[Finding, float]:
    """The finding, and MB of a superblock over the write amplification by the X-ray."""
    user = int((blocks - IDLE) * pages / 1.15)
    keys = {"gc.low": 3, "gc.high": 3, **FLASH, **policy}
    spec = drives.page_map(blocks, pages, user, keys)
    asked = {"sample_s": "1s", "watch_s": watched}
    run = run_batteries(Twin(spec, seed=1).open(), [("snia_wsat", asked)], at)
    step = run.step("snia_wsat/rhythm")
    assert step is not None
    answer = run.result(step.step)
    assert isinstance(answer, Result)
    xray = answer.xray
    moved = np.asarray(xray["gc_bytes"])[[0, -1]], np.asarray(xray["host_bytes"])[[0, -1]]
    amplification = 1 + float(np.diff(moved[0])[0] / np.diff(moved[1])[0])
    finding = Findings(run.findings)["snia_wsat.collection_period"]
    return finding, pages * 4096 / 1e6 / amplification


@pytest.mark.parametrize(
    ("pages", "blocks", "watched", "policy"),
    thinned(
        [(512, 128, "20s", "greedy"), (2048, 256, "40s", "greedy"), (1024, 256, "40s", "fifo")],
        every=3,
    ),
)
def test_the_period_is_what_one_superblock_makes_room_for(
    pages: int, blocks: int, watched: str, policy: str, tmp_path: Path
) -> None:
    finding, law = period_of(pages, blocks, tmp_path, watched=watched, **{"gc.policy": policy})
    assert finding.number == pytest.approx(law, rel=0.02)
    assert finding.low is not None and finding.high is not None
    assert finding.low <= 1.01 * law and finding.high >= 0.99 * law


def test_where_all_writes_wait_for_a_superblock_it_is_the_period(tmp_path: Path) -> None:
    pace = {"gc.policy": "greedy", "gc.pace": "stop-the-world"}
    finding, _ = period_of(256, 128, tmp_path, **pace)
    assert finding.number == pytest.approx(256 * 4096 / 1e6, rel=0.03)


def test_collection_that_is_spread_evenly_has_no_period(tmp_path: Path) -> None:
    finding, _ = period_of(32, 1024, tmp_path, **{"gc.policy": "greedy"})
    assert finding.value is None and "without a period" in (finding.note or "")
