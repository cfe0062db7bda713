"""The generators beside the prior: the same drives each time, and what they showed is mended."""

from __future__ import annotations

import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from thinning import thinned

from flashtwin.analysis.curve import curve_of
from flashtwin.analysis.shape import shape_of
from flashtwin_lab.blind import detect, generate, judge, run

HERE = Path(__file__).parent
PROGRAMS = ("fills_core", "fills_hot", "fills_rough")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_drive_is_what_its_two_numbers_say_and_its_truth_covers_it(name: str) -> None:
    drawn = runpy.run_path(str(HERE / f"{name}.py"))["generate"]
    for number in (0, 1):
        drive, again = drawn(8, number), drawn(8, number)
        assert all(np.array_equal(drive[key], again[key]) for key in ("t_ns", "dt_ns", "bytes"))
        assert drive["truth"] == again["truth"]
        assert (np.diff(drive["t_ns"]) == drive["dt_ns"][:-1]).all()
        total, plateaus = int(drive["bytes"].sum()), drive["truth"]["plateaus"]
        # Hosts that print whole MB/s round what they print.
        assert plateaus[0][0] == 0 and plateaus[-1][1] == pytest.approx(total, rel=0.02)
        assert all(before[1] == after[0] for before, after in pairwise(plateaus))
        assert drive["truth"]["cache_bytes"] is None or drive["truth"]["cache_bytes"] < total


# Drives that were misread, by generator, seed and number, with the mechanism.
MISREAD = {
    "a stall of 496 samples in the cache": ("fills_core", 1, 22),
    "a stall of 17 s where a small cache ends": ("fills_core", 1, 44),
    "a minute behind a slow host": ("fills_core", 1, 94),
    "a saw-tooth with a wandering period": ("fills_hot", 1, 75),
    "a journal's burst just before the end": ("prior", 9000, 541),
    "a slow start that is read evener than the samples after it": ("prior", 9000, 642),
    "bursts of a cache that re-arms": ("fills_hot", 1, 38),
}


# Drives whose plateaus were misread, or whose speeds were off.
OFF = {
    "a journal of seconds, finely sampled, in a drive without a cache": ("fills_core", 6207, 3),
    "the same in both plateaus, whose speeds differ": ("fills_core", 6207, 124),
    "a journal that takes a quarter of the time": ("fills_core", 6207, 139),
    "a journal that takes a third of the time": ("fills_hot", 31, 93),
    "a journal over noise with a memory": ("fills_core", 6207, 49),
    "a burst within a cache of five seconds": ("fills_core", 6207, 4),
    "a slow start of twenty minutes": ("fills_core", 6207, 12),
    "two fast samples after a slow start": ("fills_core", 6207, 109),
    "two fast samples after a slow start, and a stall": ("fills_core", 6207, 125),
    "triangles past the cache, which are no heat": ("fills_rough", 11, 67),
    "heat in a plateau that is faster than the one before": ("fills_hot", 6207, 15),
}


def judged_of(program: str, seed: int, number: int) -> judge.Judged:
    """What is right in the reading of one drive."""
    if program == "prior":
        measured = generate.measured(generate.read_prior(), seed, number)
    else:
        measured = run._of_program(HERE / f"{program}.py", seed, number)
    return judge.judged(measured, detect.ours(measured))


@pytest.mark.parametrize("name", thinned(MISREAD, every=4))
def test_what_was_misread_is_read(name: str) -> None:
    judged = judged_of(*MISREAD[name])
    assert all(judged.right.values())
    assert max(judged.errors["cache size"], default=0.0) < 0.03
    assert np.median(judged.errors["speeds"]) < 0.03


def test_a_drive_of_the_core_is_armed_again_by_no_more_than_its_cache_holds() -> None:
    """Whole superblocks of it, and this drive's spec was refused."""
    drawn = runpy.run_path(str(HERE / "fills_core.py"))["generate"](7, 211)
    assert drawn["truth"]["design"].startswith("dynamic")


@pytest.mark.parametrize("name", thinned(OFF, every=4))
def test_what_was_off_is_right(name: str) -> None:
    judged = judged_of(*OFF[name])
    assert all(judged.right.values())
    assert max(judged.errors.get("cache size", (0.0,))) < 0.03
    assert max(judged.errors["speeds"]) < 0.03


def test_a_coarse_saw_tooth_begins_where_the_cache_ends() -> None:
    # A sample holds 4 % of this cache.
    judged = judged_of("fills_hot", 6207, 143)
    assert all(judged.right.values())
    assert max(judged.errors["cache size"]) < 0.08


def test_plateaus_follow_one_another() -> None:
    """A burst at the end of this fill had a plateau that ended before it began."""
    drive = runpy.run_path(str(HERE / "fills_core.py"))["generate"](6207, 6)
    plateaus = shape_of(curve_of(drive["t_ns"], drive["dt_ns"], drive["bytes"])).plateaus
    places = [place for plateau in plateaus for place in (plateau.start, plateau.end)]
    assert places == sorted(places) and len(plateaus) > 2
