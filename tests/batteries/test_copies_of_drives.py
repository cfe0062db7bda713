"""What a battery reads on a scaled copy is what it reads on the larger drive."""

from __future__ import annotations

from pathlib import Path

import pytest
from thinning import thinned

import flashtwin as ft
from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin

# Batteries with files or times of their own, and the findings to compare: a copy overflows its
# cache, which is a quarter of the larger one's, only where the larger drive would.
READINGS = {
    "atto:blocks=64k+256k,depths=4": ("write", "read"),
    "magician": ("write", "read"),
    "as_ssd:tests=rows": ("write", "read"),
    "sync:states=fresh,writers=1": ("iops",),
    "power:rest_s=60": ("write", "read", "write.efficiency"),
    "identity": ("write", "random_write"),
    "hdtach:ways=write": ("mean",),
}


def readings(battery: str, scale: str, out: Path) -> dict[tuple[str, str], float]:
    run = ft.test("bx500-240", battery=battery, scale=scale, out=out / scale[2:], report=False)
    wanted = READINGS[battery]
    return {(f.name, f.variant): f.number or 0.0 for f in run.findings if f.name in wanted}


@pytest.mark.parametrize("battery", thinned(READINGS, every=3))
def test_a_copy_reads_as_the_larger_drive(battery: str, tmp_path: Path) -> None:
    larger = readings(battery, "1/16", tmp_path)
    smaller = readings(battery, "1/64", tmp_path)
    assert larger, "something was compared"
    assert smaller == pytest.approx(larger, rel=0.05)


def test_a_copy_says_what_it_cannot_show() -> None:
    battery = registry.get("magician")
    info = Twin(load("bx500-240", scale="1/16"), seed=1).info
    (sentence, _) = battery.departures(battery.parameters(), info)
    assert "1/16 of the usual ones" in sentence
    assert "short writes look faster" in sentence
    whole = Twin(load("bx500-240"), seed=1).info
    assert not any("1/16" in text for text in battery.departures(battery.parameters(), whole))
