"""What `_core` declares of caches: inference can build a drive of each kind from it alone."""

from __future__ import annotations

from itertools import product

import pytest

from flashtwin import _core
from flashtwin.catalogue import folders

MECHANISMS = _core.cache_mechanisms()
CAPACITY = 240e9
# Two bits are MLC, three TLC: the drive's own cell.
CELLS = {2: "mlc", 3: "tlc", 4: "qlc"}
UNITS = {
    "share of the capacity": lambda share: f"{int(share * CAPACITY)} B",
    "share of the cache": lambda share: f"{int(share * 0.05 * CAPACITY)} B",
    "share of the host's data": lambda share: f"{share:.3f}",
    "MiB": lambda mib: f"{mib:g} MiB",
    "s": lambda seconds: f"{seconds:g} s",
}


def built(*sets: str) -> _core.Spec:
    return _core.load_spec("bx500-240", [str(path) for path in folders.searched()], [], list(sets))


def value(spec: _core.Spec, key: str) -> str:
    return next(row["value"] for row in spec.values() if row["key"] == key)


def layer(design: _core.CacheDesign, rule: _core.CacheRule, bits: int) -> list[str]:
    parts = {"cache", rule["name"]}
    parts |= {"own"} if design["owns"] else set()
    parts |= {"sized"} if design["borrows"] == "sized" else set()
    parts |= {"lends"} if design["borrows"] != "nothing" else set()
    sets = [f"slc_cache.mode={design['name']}", f"slc_cache.when_full={rule['name']}"]
    if "lends" in parts:
        sets.append(f"fold.pace={rule['pace'][bits]:.3f}")
    for key in MECHANISMS["keys"]:
        if key["part"] in parts:
            usual = key["usual"] or key["range"][0]
            sets.append(f"{key['key']}={UNITS[key['unit']](usual)}")
    return sets


CACHES = [design for design in MECHANISMS["designs"] if design["caches"]]


@pytest.mark.parametrize(
    ("design", "rule", "bits"),
    [
        pytest.param(design, rule, bits, id=f"{design['name']}-{rule['name']}-{CELLS[bits]}")
        for design, rule, bits in product(CACHES, MECHANISMS["full_rules"], CELLS)
    ],
)
def test_a_drive_of_each_kind_is_made(
    design: _core.CacheDesign, rule: _core.CacheRule, bits: int
) -> None:
    sets = layer(design, rule, bits)
    spec = built(f"nand.cell={CELLS[bits]}", *sets)
    given = {set_.split("=")[0] for set_ in sets}
    for key in MECHANISMS["keys"]:
        if key["key"] in given or key["off"] is None:
            continue
        assert value(spec, key["key"]) == key["off"], key["key"]


def test_ranges_hold_what_is_usual() -> None:
    for key in MECHANISMS["keys"]:
        low, high = key["range"]
        assert low < high
        assert key["usual"] is None or low <= key["usual"] <= high
        assert key["unit"] in UNITS
    names = [key["name"] for key in MECHANISMS["keys"]]
    assert len(set(names)) == len(names)


def test_a_report_can_name_what_a_host_sees() -> None:
    called = {design["called"] for design in MECHANISMS["designs"]}
    assert called == {"none", "static", "dynamic", "hybrid", "whole-drive", None}
    assert {rule["called"] for rule in MECHANISMS["full_rules"]} == {
        "direct",
        "staged",
        "fold-first",
    }
    assert MECHANISMS["tier"]["called"] == "tiers"
