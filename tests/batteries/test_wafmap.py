"""The battery wafmap: its loads, and what a small twin of known flash settles to."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashtwin.batteries.base import registry
from flashtwin.catalogue.label import Label, spec_text
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

MIB = 1 << 20
COUNT, CAPACITY = 200, 520 * MIB
WAYS = ("sequential", "even/60", "even/92", "zipf", "zones/1MiB", "zones/16MiB", "active/2")


def small(**changes: object) -> Twin:
    """A drive of 200 superblocks of 3 MiB, six of which firmware keeps."""
    label = Label(
        id="small",
        name="small",
        capacity_bytes=10**9,
        interface="pcie4",
        cell="tlc",
        dram="yes",
        dies=4,
        cache_bytes=0,
    )
    sets = {
        "drive.capacity": f"{CAPACITY} B",
        "nand.channels": 4,
        "nand.dies_per_channel": 1,
        "nand.planes": 1,
        "nand.wordlines_per_block": 16,
        "nand.blocks_per_plane": COUNT,
        "ftl.system": 0,
        "controller.write_buffer": "192 KiB",
        "smart.family": "micron",
        **changes,
    }
    settings = [f"{key}={value}" for key, value in sets.items()]
    return Twin(load(spec_text(label), sets=settings), seed=1).open()


def labels_of(zones: str) -> list[str]:
    """Where the battery's loads stand in a run of the small drive."""
    request, info = registry.request("wafmap", {"zones": zones}), small().info
    assert request.battery.parts is not None
    return [
        label for part in request.battery.parts(request.parameters, info) for label in part.labels
    ]


def test_zones_that_do_not_fit_are_left_out_and_tiny_ones_refused() -> None:
    labels = labels_of("1MiB+64GiB")
    assert "wafmap/zones/1MiB" in labels and "wafmap/even/90" in labels
    assert not any("64GiB" in label or "active" in label for label in labels)
    with pytest.raises(FlashtwinError, match="a zone is"):
        labels_of("4KiB")


@pytest.mark.full
@pytest.mark.parametrize("family", ["micron", "none"])
def test_write_amplification_and_rates_of_a_small_drive(family: str, tmp_path: Path) -> None:
    drive = small(**{"smart.family": family})
    asked = {"fills": "60+92", "zones": "1MiB+16MiB", "active": "2", "zone": "16MiB"}
    run: Run = run_batteries(drive, [("wafmap", asked)], tmp_path / "run")
    findings = dict(run.findings.items())
    waf = {name: findings[f"wafmap.waf[{name}]"].number for name in WAYS}
    rate = {name: findings[f"wafmap.rate[{name}]"].number or 0.0 for name in WAYS}
    assert rate["even/92"] < rate["even/60"] and rate["zones/1MiB"] < rate["zones/16MiB"]
    if family == "none":
        assert not any(waf.values())
        return
    assert waf["sequential"] == pytest.approx(1.0, abs=0.01)
    assert 1.1 < (waf["even/60"] or 0.0) < (waf["even/92"] or 0.0)
    # A zone of many superblocks moves nothing, one of a third of a superblock much.
    assert waf["zones/16MiB"] == pytest.approx(1.0, abs=0.05)
    assert (waf["zones/1MiB"] or 0.0) > 1.2
