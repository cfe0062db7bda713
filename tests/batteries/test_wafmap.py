"""The battery wafmap: its loads on a small twin, and what they say of flash that is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from thinning import thinned

from flashtwin.batteries.base import registry
from flashtwin.batteries.wafmap.erased import against_amount, apart, erased_bytes
from flashtwin.batteries.wafmap.inference import inferred, shows_nothing, telling
from flashtwin.batteries.wafmap.responses import RESPONSES, Load, response
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.inputs import read_toml
from flashtwin.model.step import NotPossible, Purge, Result, Step
from flashtwin.model.target import Watch
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run
from flashtwin_lab.make.wafmap import DIES, grid, small_drive

MIB = 1 << 20
RESERVED = 6
SUPERBLOCK, COUNT, CAPACITY = 3 * MIB, 200, 520 * MIB


def small(**changes: object) -> Twin:
    """A drive of 200 superblocks of 3 MiB, six of which firmware keeps."""
    sets = {
        "drive.capacity": f"{CAPACITY} B",
        "nand.wordlines_per_block": 16,
        "nand.blocks_per_plane": COUNT,
        "controller.write_buffer": "192 KiB",
        "smart.family": "micron",
        **changes,
    }
    return Twin(small_drive(DIES, sets), seed=1).open()


SPAN = 800 * MIB
LONG = (1 << 16, 32)
ZONES = tuple(size * MIB // 2 for size in (2, 3, 4, 6, 8, 12, 20))


def all_loads() -> list[Load]:
    """Loads of the battery, not measured yet."""
    return [
        Load(kind="sequential", span_bytes=SPAN, requests=LONG),
        *(Load(kind="uniform", span_bytes=int(SPAN * share)) for share in (0.6, 0.8, 1.0)),
        Load(kind="zipf", span_bytes=SPAN),
        *(Load(kind="zones", span_bytes=SPAN, zone_bytes=zone, requests=LONG) for zone in ZONES),
    ]


def measured(firmware: tuple[str, str], flash: int, superblock: int, rates: bool) -> list[Load]:
    """Loads as the table has them, of a drive that takes 10 us a page that is written alone, 5 us
    of each in a row and 4 us a moved one."""
    shown = []
    for each in all_loads():
        waf = response(firmware, each, np.array([flash * 1.0]), np.array([superblock * 1.0]))[0]
        own = 10e-6 if each.kind in ("uniform", "zipf") else 5e-6
        rate = 4096 / (own + 4e-6 * (waf - 1))
        shown.append(replace(each, **({"rate": rate} if rates else {"waf": float(waf)})))
    return shown


@pytest.mark.parametrize(
    ("policy", "rates"),
    thinned(
        [("greedy", False), ("fifo", False), ("greedy", True), ("fifo", True)],
        every=3,
    ),
)
def test_figures_of_the_table_give_their_drive_back(policy: str, rates: bool) -> None:
    flash, superblock = 900 * MIB, 3.3 * MIB
    known = inferred(measured((policy, "gc"), flash, int(superblock), rates))
    assert known is not None and known.superblock is not None
    assert known.flash[1] <= flash <= known.flash[2]
    assert known.superblock[1] <= superblock <= known.superblock[2]
    if not rates:
        assert known.flash[0] == pytest.approx(flash, rel=0.01)
        assert known.superblock[0] == pytest.approx(superblock, rel=0.1)
        assert max(known.policies, key=lambda name: known.policies[name]) == policy
    assert sum(known.policies.values()) == pytest.approx(1.0)


def test_zones_on_the_borders_of_superblocks_cost_nothing_and_mislead_nobody() -> None:
    superblock = 2 * MIB
    shown = measured(("greedy", "gc"), 900 * MIB, superblock, False)
    aligned = [
        replace(each, waf=1.0) if each.zone_bytes and each.zone_bytes % superblock == 0 else each
        for each in shown
    ]
    known = inferred(aligned)
    assert known is not None and known.superblock is not None
    assert known.superblock[0] == pytest.approx(superblock, rel=0.1)
    assert known.flash[0] == pytest.approx(900 * MIB, rel=0.02)


def test_zones_of_the_size_that_tells_most_narrow_the_superblock() -> None:
    shown = measured(("greedy", "gc"), 900 * MIB, 3 * MIB, False)
    few = [each for each in shown if each.zone_bytes in (0, 1 * MIB, 10 * MIB)]
    sizes = [zone for zone in ZONES if zone not in (1 * MIB, 10 * MIB)]
    before = inferred(few)
    assert before is not None and before.superblock is not None
    best = sizes[int(telling(before, SPAN, sizes).argmax())]
    after = inferred([*few, *(each for each in shown if each.zone_bytes == best)])
    assert after is not None and after.superblock is not None
    _, low, high = before.superblock
    _, narrow_low, narrow_high = after.superblock
    assert narrow_high - narrow_low < high - low


def with_amounts(loads: list[Load], *amounts: float) -> list[Load]:
    """Loads whose first even ones say what the erased drive took before it slowed down."""
    took = iter(amounts)
    return [
        replace(each, erased=(amount, 1.0 * MIB))
        if each.kind == "uniform" and (amount := next(took, 0.0))
        else each
        for each in loads
    ]


def test_what_an_erased_drive_takes_is_its_flash_where_only_rates_are_known() -> None:
    flash, superblock = 900 * MIB, 3.3 * MIB
    shown = measured(("greedy", "gc"), flash, int(superblock), True)
    took = flash + 1.7 * superblock
    alone, agreed = inferred(shown), inferred(with_amounts(shown, took, took, took))
    assert alone is not None and agreed is not None
    assert agreed.flash[0] == pytest.approx(flash, rel=0.003)
    assert agreed.flash[2] - agreed.flash[1] < (alone.flash[2] - alone.flash[1]) / 2
    assert agreed.flash[1] <= flash <= agreed.flash[2]


def test_a_cache_that_ends_elsewhere_under_each_load_does_not_pass_for_flash() -> None:
    flash = 900 * MIB
    shown = measured(("greedy", "gc"), flash, 3 * MIB, False)
    ends = [share * SPAN + 200 * MIB for share in (0.6, 0.8, 1.0)]
    misled, alone = inferred(with_amounts(shown, *ends)), inferred(shown)
    assert apart(with_amounts(shown, *ends)) == (ends[0], ends[-1])
    assert misled is not None and alone is not None
    assert misled.flash == alone.flash
    assert apart(with_amounts(shown, flash, 1.004 * flash)) is None
    assert apart(with_amounts(shown, flash)) is None


def test_amounts_that_agree_but_not_with_what_follows_are_doubted() -> None:
    flash = 900 * MIB
    shown = measured(("greedy", "gc"), flash, 3 * MIB, False)
    right, wrong = (
        with_amounts(shown, *[times * flash + 1.7 * 3 * MIB] * 3) for times in (1.0, 1.15)
    )
    for loads, differs in ((right, False), (wrong, True)):
        known = inferred(loads)
        assert known is not None and apart(loads) is None
        doubt = against_amount(loads, known.flash[0], 3.0 * MIB)
        assert (doubt is not None) == differs
    assert doubt is not None
    assert doubt[0] == pytest.approx(1.15 * flash, rel=0.01)
    assert doubt[1] == pytest.approx(flash, rel=0.03)


def test_rates_that_a_link_holds_down_show_nothing() -> None:
    flash = 900 * MIB
    free = with_amounts(measured(("greedy", "gc"), flash, 3 * MIB, True), *[flash * 1.0] * 3)
    held = [replace(each, rate=min(each.rate or 0, 4096 / 60e-6)) for each in free]
    assert not shows_nothing(free)
    assert shows_nothing(held)
    assert shows_nothing(measured(("greedy", "gc"), flash, 3 * MIB, True))
    assert not shows_nothing(measured(("greedy", "gc"), flash, 3 * MIB, False))


@pytest.mark.parametrize("span", [300 * MIB, 800 * MIB])
def test_a_drive_that_was_filled_little_keeps_flash_for_its_capacity(span: int) -> None:
    capacity, flash = 850 * MIB, 1.07 * 850 * MIB
    took = (flash + 1.7 * 3 * MIB, 1.0 * MIB)
    loads = [
        Load(kind="uniform", span_bytes=int(span * share), waf=1.0, erased=took)
        for share in (0.8, 1.0)
    ]
    loads = [
        replace(each, waf=float(response(("greedy", "gc"), each, np.array([flash]))[0]))
        for each in loads
    ]
    known = inferred(loads, capacity)
    assert known is not None and known.superblock is None
    assert known.flash[0] == pytest.approx(flash, rel=0.01)
    assert known.flash[1] <= flash <= known.flash[2]


class NotErased:
    """A drive whose data stays where it is when it is asked to forget all."""

    def __init__(self, drive: Twin) -> None:
        self._drive = drive

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """The step, unless it erases."""
        if isinstance(step, Purge):
            return NotPossible(reason="it is a file")
        return self._drive.do(step, watch)

    def __getattr__(self, name: str) -> object:
        return getattr(self._drive, name)


def test_a_drive_that_cannot_be_erased_takes_no_amount(tmp_path: Path) -> None:
    asked = {"fills": "60+90", "zones": "4MiB", "active": "2", "zone": "16MiB", "passes": "0.8"}
    short = {**asked, "measured": "0.1", "refine": "0"}
    amounts = {}
    for drive in (small(), NotErased(small())):
        name = type(drive).__name__
        run = run_batteries(drive, [("wafmap", short)], tmp_path / name)
        amounts[name] = [key for key in dict(run.findings.items()) if "erased" in key]
    assert amounts["Twin"] and not amounts["NotErased"]


def test_the_table_is_of_the_grid_that_is_read() -> None:
    assert read_toml(RESPONSES)["grid"] == grid()


def test_a_drive_with_a_cache_gets_no_spare_flash_but_a_reason(tmp_path: Path) -> None:
    drive = small(**{"slc_cache.mode": "dynamic", "slc_cache.size": "60 MiB"})
    asked = {"fills": "60+90", "zones": "4MiB", "active": "2", "zone": "16MiB", "passes": "0.8"}
    run = run_batteries(drive, [("wafmap", {**asked, "measured": "0.1"})], tmp_path / "run")
    findings = dict(run.findings.items())
    for name in ("over_provisioning", "superblock", "policy[greedy]"):
        finding = findings[f"wafmap.{name}"]
        assert finding.value is None and finding.interval is None
        assert finding.note is not None and "have a cache" in finding.note
    assert findings["wafmap.waf[even/90]"].number is not None
    assert not [step for step in run.steps if "/zones/" in step.label and "4MiB" not in step.label]


@pytest.mark.parametrize("stall", [None, 10, 20, 34, 37, 39])
@pytest.mark.parametrize("slow", [30, 300])
def test_an_erased_drive_slows_down_where_its_rate_falls_for_good(
    stall: int | None, slow: int
) -> None:
    rate = np.array([100.0] * 40 + [20.0, 100.0, 20.0, 20.0] * slow)
    if stall is not None:
        rate[stall] = 1.0
    took = erased_bytes(rate * 0.5, np.full(rate.size, 0.5))
    assert took is not None
    # A stall less than five samples before the end passes for it.
    short = 50 * (40 - stall) if stall is not None and stall > 35 else 0
    assert took[0] == pytest.approx(rate[:40].sum() * 0.5, abs=short + 1e-6)


@pytest.mark.parametrize("rate", [[100.0] * 50, [100.0, *[20.0] * 50], [100.0] * 30 + [90.0] * 30])
def test_a_rate_that_does_not_fall_says_nothing_of_flash(rate: list[float]) -> None:
    assert erased_bytes(np.array(rate), np.ones(len(rate))) is None


def test_order_alone_tells_nothing() -> None:
    assert inferred([Load(kind="sequential", span_bytes=1 << 30, waf=1.0)]) is None


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
        labels_of("32KiB")


@pytest.mark.full
@pytest.mark.parametrize("family", ["micron", "none"])
def test_spare_flash_and_superblock_of_a_small_drive(family: str, tmp_path: Path) -> None:
    drive = small(**{"smart.family": family})
    asked = {"fills": "60+80+92", "zones": "1MiB+1536KiB+2MiB+3MiB+4MiB+6MiB+8MiB", "active": "2"}
    run: Run = run_batteries(drive, [("wafmap", {**asked, "zone": "16MiB"})], tmp_path / "run")
    findings = dict(run.findings.items())
    spare = 100 * ((COUNT - RESERVED) * SUPERBLOCK / CAPACITY - 1)
    for name, truth in (("over_provisioning", spare), ("superblock", SUPERBLOCK / 1e6)):
        interval = findings[f"wafmap.{name}"].interval
        assert interval is not None and interval.low is not None and interval.high is not None
        assert interval.low <= truth <= interval.high
    if family == "micron":
        assert findings["wafmap.over_provisioning"].number == pytest.approx(spare, abs=1.0)
        size = findings["wafmap.superblock"].number
        assert size == pytest.approx(SUPERBLOCK / 1e6, rel=0.15)
    assert (findings["wafmap.waf[sequential]"].number is None) == (family == "none")
