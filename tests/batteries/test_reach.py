"""reach on twins whose map cache is known, and on drives that have no such thing."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeDrive, played

from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.findings import Findings
from flashtwin.model.step import Run as StepRun
from flashtwin.runner.run import run_batteries

ASKED = {"seconds": "300ms", "settle_s": "100s"}


def found(at: Path, *sets: str, scale: str = "1/16") -> Findings:
    drive = Twin(load("bx500-240", scale=scale, sets=sets), seed=1).open()
    return Findings(run_batteries(drive, [("reach", ASKED)], at).findings)


@pytest.mark.parametrize("cache_mib", [1, 2, 4, 8])
def test_the_reach_is_that_of_the_map_cache(cache_mib: int, tmp_path: Path) -> None:
    """An entry takes 4 bytes and tells of 4 KiB; the cache is a sixteenth, as the drive is."""
    findings = found(tmp_path, "map.residency=demand", f"map.cache={cache_mib} MiB")
    finding, true = findings["reach.size"], cache_mib / 16 * (1 << 30) / 1e9
    assert finding.number == pytest.approx(true, rel=0.1)
    assert finding.low is not None and finding.high is not None
    assert finding.low <= true <= finding.high
    slower = findings["reach.slower"].number
    assert slower is not None and 0.2 < slower < 1.0, "a page of the map is read before the data"


def test_a_drive_with_dram_has_no_reach(tmp_path: Path) -> None:
    findings = found(tmp_path, "map.residency=dram")
    assert findings["reach.size"].value is None
    assert "whole map is at hand" in (findings["reach.size"].note or "")
    assert "reach.slower" not in findings


def test_data_in_quicker_cells_is_not_taken_for_the_map(tmp_path: Path) -> None:
    """What was written first stays in cells of one bit, since nothing is folded for an hour."""
    findings = found(
        tmp_path,
        "map.residency=dram",
        "slc_cache.mode=static",
        "slc_cache.size=0",
        "slc_cache.static_size=750 MB",
        "drive.capacity=200 GB",
        "slc_cache.rearm=0",
        "slc_cache.when_full=direct",
        "fold.idle_after=1 h",
        "fold.reserve=0",
        "fold.pace=0",
        'nand.native.tr=["90 us", "100 us", "110 us"]',
    )
    assert findings["reach.size"].value is None
    assert "than at the beginning" in (findings["reach.size"].note or "")


def test_what_was_written_last_may_lie_in_quicker_cells(tmp_path: Path) -> None:
    """The last of the data stays in a block of one bit a cell that is still open. That makes reads
    over all of the drive quicker, and no knee."""
    findings = found(tmp_path, scale="1/4")
    finding, true = findings["reach.size"], (1 << 28) / 1e9
    assert finding.number == pytest.approx(true, rel=0.1), finding.note
    assert finding.low is not None and finding.high is not None
    assert finding.low <= true <= finding.high


def test_ranges_double_up_to_all_of_the_drive_and_a_small_target_is_refused() -> None:
    steps, findings = played(registry.request("reach", {"least": "1GiB"}), FakeDrive())
    sizes = [step.jobs[0].size or 0 for step in steps if isinstance(step, StepRun)]
    capacity = FakeDrive().info.capacity_bytes
    assert sizes[:8] == [1 << 30 << step for step in range(8)]
    assert sizes[8] == capacity // 4096 * 4096 and sizes[9:] == [1 << 30] * 5
    seeds = [step.jobs[0].seed for step in steps if isinstance(step, StepRun)]
    assert len(set(seeds)) == len(seeds)
    assert [finding.variant for finding in findings if finding.name == "latency"][-1] == "all"
    with pytest.raises(FlashtwinError, match="a quarter of"):
        played(registry.request("reach", {"least": "100GiB"}), FakeDrive())
