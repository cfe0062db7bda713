"""What fill says of twins whose inside is known: saw-teeth, heat, a cache or none, an end twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from thinning import thinned

from flashtwin._core import Spec
from flashtwin.batteries.fill.causes import ended_by
from flashtwin.batteries.fill.wording import Writer
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings
from flashtwin.runner.run import run_batteries
from flashtwin_lab.theory.drives import cached

UNCACHED = ("slc_cache.mode=none",)
DIRECT = ("slc_cache.when_full=direct",)
# Mass and fan such that the small drive is hot and cool again several times in a fill.
HEAT = (
    "thermal.resistance=40 K/W",
    "thermal.capacity=0.5 J/K",
    "thermal.throttle.start=50 C",
    "thermal.throttle.stop=45 C",
)


def found(spec: Spec, at: Path, **parameters: str) -> Findings:
    asked = {"patterns": "128k-q32", "passes": "1", "sample_s": "100ms", **parameters}
    return Findings(run_batteries(Twin(spec, seed=1).open(), [("fill", asked)], at).findings)


@pytest.mark.parametrize(("rearm", "pace"), thinned([(400, 0.25), (200, 0.5), (100, 0.5)], every=3))
def test_a_cache_that_re_arms_has_the_period_that_its_firmware_sets(
    rearm: int, pace: float, tmp_path: Path
) -> None:
    """R bytes are free once R / pace went direct, to the end of a superblock; then R bytes go into
    the cache."""
    spec = cached(*DIRECT, f"slc_cache.rearm={rearm} MB", f"fold.rearm_pace={pace}")
    finding = found(spec, tmp_path)["tooth_period"]
    period, superblock = rearm * (1 + 1 / pace) / 1000, 2 * 4 * 44 * 3 * (16 << 10) / 1e9
    assert finding.number is not None and finding.low is not None and finding.high is not None
    assert period <= finding.number <= 1.01 * (period + superblock)
    assert finding.low <= period + superblock and finding.high >= period


@pytest.mark.parametrize(
    "mib", [pytest.param(5, marks=pytest.mark.full), 6, pytest.param(8, marks=pytest.mark.full)]
)
def test_a_cache_that_is_folded_first_has_the_period_of_its_steps(mib: int, tmp_path: Path) -> None:
    """A step is folded, and then as much is written, to the end of a program on each die."""
    spec = cached("slc_cache.when_full=fold-first", "fold.pace=1", f"fold.step={mib} MiB")
    finding = found(spec, tmp_path, sample_s="10ms")["tooth_period"]
    step, program = mib * (1 << 20) / 1e9, 4 * (16 << 10) / 1e9
    assert finding.number is not None
    assert step <= finding.number <= step + 4 * program


@pytest.mark.parametrize("sets", [(), UNCACHED])
def test_a_drive_that_goes_on_evenly_has_no_saw_tooth(
    sets: tuple[str, ...], tmp_path: Path
) -> None:
    findings = found(cached(*sets), tmp_path)
    assert "tooth_period" not in findings
    assert findings["slowed_by"].value == "nothing"


def test_a_drive_that_slows_itself_is_told_by_its_thermometer(tmp_path: Path) -> None:
    sets = [*UNCACHED, *HEAT, "thermal.throttle.speed=0.05"]
    findings = found(load("bx500-240", scale="1/16", sets=sets), tmp_path, sample_s="500ms")
    assert findings["slowed_by"].value == "throttling"
    assert (findings["slowed_by.throttling"].number or 0) > 0.9


def test_heat_that_ends_a_plateau_for_good_is_no_cache_for_sure(tmp_path: Path) -> None:
    sets = [*UNCACHED, *HEAT, "thermal.throttle.speed=0.5"]
    hot = found(load("bx500-240", scale="1/16", sets=sets), tmp_path, sample_s="500ms")
    assert hot["cache_size"].value, "its first plateau ends: the drive is slower from there on"
    finding = hot["cache_probability"]
    assert finding.value is None
    assert "with a fan on it" in (finding.note or "")


def test_a_cache_is_probable_where_there_is_one_and_not_where_there_is_none(tmp_path: Path) -> None:
    cache = found(cached(), tmp_path / "cached")["cache_probability"]
    none = found(cached(*UNCACHED), tmp_path / "uncached")["cache_probability"]
    assert cache.number is not None and cache.number > 0.7
    assert none.number is not None and none.number < 0.5


def test_the_end_on_a_full_drive_is_the_caches_or_there_is_none(tmp_path: Path) -> None:
    twice = {"passes": "2", "idle_s": "600s"}
    cache = found(
        cached(
            "slc_cache.mode=static",
            "slc_cache.size=0",
            "slc_cache.static_size=1 GB",
            "slc_cache.rearm=0",
            *DIRECT,
            "fold.pace=0",
            "fold.reserve=0",
            "nand.blocks_per_plane=1500",
        ),
        tmp_path / "static",
        **twice,
    )["second_pass.ended_by"]
    assert cache.value == "cache", cache.note
    none = found(cached(*UNCACHED), tmp_path / "none", **twice)["second_pass.ended_by"]
    assert none.value == "nothing", none.note


def speeds(**values: float | None) -> dict[str, Finding]:
    return {
        name: Finding(
            battery="fill",
            name=name,
            title=name,
            value=value,
            unit="GB" if name == "cache_size" else "MB/s",
            interval=None,
        )
        for name, value in values.items()
    }


@pytest.mark.parametrize(
    ("cache", "past", "size", "fast", "word"),
    [
        (500.0, 100.0, 4.0, 480.0, "cache"),
        (500.0, 100.0, 4.0, 101.0, "erased flash"),
        (500.0, 100.0, 4.0, 224.0, None),  # in the middle of both
        (None, 200.0, 4.0, 199.0, "erased flash"),
        (None, 200.0, 4.0, 120.0, None),
        (500.0, None, 4.0, 480.0, None),
        (500.0, 100.0, 0.0, 100.0, "nothing"),
        (500.0, 100.0, None, 100.0, None),
    ],
)
def test_a_plateau_of_a_full_drive_is_what_is_as_fast_on_the_erased_one(
    cache: float | None, past: float | None, size: float | None, fast: float, word: str | None
) -> None:
    first = speeds(speed_cache=cache, speed_past_cache=past)
    later = speeds(cache_size=size, speed_first=fast)
    finding = ended_by(first, later, Writer(pattern="1m-q1", label="pass-2", pass_number=2))
    assert finding.value == word
    assert finding.note is not None and finding.note.startswith("cannot tell: ") == (word is None)
