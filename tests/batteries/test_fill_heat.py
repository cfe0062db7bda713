"""What fill concludes of a drive that grows warm: its cliff comes back, a cache's does not."""

from __future__ import annotations

from pathlib import Path

from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.finding import Finding
from flashtwin.runner.run import run_batteries

UNCACHED = "slc_cache.mode=none"
# A small heat capacity for the small drive: it is hot and cool again several times in a fill.
HEAT = [
    "thermal.resistance=40 K/W",
    "thermal.capacity=0.5 J/K",
    "thermal.throttle.start=50 C",
    "thermal.throttle.stop=45 C",
    "thermal.throttle.speed=0.05",
]


def cache_found(sets: list[str], at: Path) -> Finding:
    spec = load("bx500-240", scale="1/16", sets=sets)
    request = {"patterns": "128k-q32", "passes": "1", "idle_s": "1s", "sample_s": "500ms"}
    run = run_batteries(Twin(spec, seed=1).open(), [("fill", request)], at)
    return next(finding for name, finding in run.findings.items() if name.startswith("fill.cache"))


def test_heat_is_no_end_of_a_cache(tmp_path: Path) -> None:
    cached = cache_found([], tmp_path / "cached")
    assert isinstance(cached.value, float) and cached.value > 1
    heated = cache_found([UNCACHED, *HEAT], tmp_path / "heated")
    assert not heated.value
    assert "dips left out: the speed recovers (heat" in (heated.note or "")
