"""reach on twins whose map cache is known, and on drives that have no such thing."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeDrive, played
from thinning import thinned

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.present import Subject, present_of
from flashtwin.batteries.reach import KNEE, span_label
from flashtwin.catalogue.loader import load
from flashtwin.charts.cells import panels, payload
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.findings import Findings
from flashtwin.model.step import Run as StepRun
from flashtwin.runner.run import run_batteries

ASKED = {"seconds": "100ms", "settle_s": "100s"}


def found(at: Path, *sets: str, scale: str = "1/16") -> Findings:
    drive = Twin(load("bx500-240", scale=scale, sets=sets), seed=1).open()
    return Findings(run_batteries(drive, [("reach", ASKED)], at).findings)


@pytest.mark.parametrize("cache_mib", thinned([2, 1, 4, 8], every=4))
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
    findings = found(tmp_path, scale="1/8")
    finding, true = findings["reach.size"], (1 << 27) / 1e9
    assert finding.number == pytest.approx(true, rel=0.1), finding.note
    assert finding.low is not None and finding.high is not None
    assert finding.low <= true <= finding.high


def test_a_page_draws_latency_over_the_range_with_the_reach_marked(tmp_path: Path) -> None:
    sets = ("map.residency=demand", "map.cache=4 MiB")
    findings = found(tmp_path, *sets)
    subject = Subject(index=0, name="a drive", battery="reach", findings=findings)
    section = present_of("reach").section([subject])
    (grid,) = section.grids
    sizes = [cell.size_bytes or 0 for cell in grid.cells]
    assert sizes == sorted(sizes) and sizes[:3] == [1 << 24, 1 << 25, 1 << 26]
    assert sizes[-1] == 15_000_000_000 // 4096 * 4096
    place, text = grid.knees[0]
    assert place == (findings["reach.size"].number or 0) * 1e9 and "GB" in text
    panel = panels(grid, [subject])["reach-latency-all"]
    assert panel["knees"] == [{"drive": 0, "x": place, "text": text}]
    rows = [row for row in payload(grid) if row["size"] == 1 << 24]
    assert rows[0]["latency"] == findings["reach.latency[16MiB]"].number
    told = [row.findings[0].id for part in section.tables[0].parts for row in part.rows]
    assert told == ["reach.size", "reach.slower"]


def test_all_of_two_drives_is_drawn_at_the_size_of_each() -> None:
    sizes = (240_000_000_000, 480_000_000_000)
    subjects = [
        Subject(
            index=index,
            name=f"drive {index}",
            battery="reach",
            findings=Findings([KNEE.cell("all", span_label(size), "Read over all of it", 1e-4)]),
        )
        for index, size in enumerate(sizes)
    ]
    (grid,) = present_of("reach").section(subjects).grids
    assert [(row["drive"], row["size"]) for row in payload(grid)] == list(enumerate(sizes))


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
