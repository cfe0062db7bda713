"""What discover is calibrated by: figures of drives whose probabilities and rests are known."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flashtwin.analysis.estimate import Estimate
from flashtwin.batteries.discover import posterior
from flashtwin_lab.blind import calibration
from flashtwin_lab.blind.calibration import Tried
from flashtwin_lab.blind.kinds import Discovered, Truth
from flashtwin_lab.make import discover_calibration


def _tried(*, right: bool, sure: float = 0.99, off: float = 1.0, apart: float = 0.1) -> Tried:
    """A drive of which one kind is said with a probability; its rests are said `off` times as
    long as they are."""
    said, other = ("static", "dynamic") if right else ("dynamic", "static")
    drive = Discovered(
        name="made up",
        effects=(),
        truth=Truth(visible=True, structure="static", past="staged", begin_s=10.0, full_s=40.0),
        likely={"structure": {said: sure, other: 1 - sure}, "past": {}},
        said={"structure": said, "past": None},
        rests={
            "rest_begin": Estimate(value=10 * off, low=9.0, high=11.0),
            "rest_full": Estimate(value=40 * off, low=38.0, high=42.0),
        },
        tests=(),
        cpu_s=1.0,
    )
    return Tried(drive=drive, calmer=4.0, apart=(apart, 0.0, -apart, 2 * apart))


def test_probabilities_become_as_calm_as_they_are_right() -> None:
    """Said with 98 % and right in four of five: calmer, until 80 % are said."""
    drives = [_tried(right=number % 5 > 0, sure=0.98) for number in range(100)]
    calmer = calibration.calmer_of(drives)
    # (0.98 / 0.02) to the power of 4 / calmer is what 80 % are over 20 %.
    assert calmer == pytest.approx(4 * np.log(49) / np.log(4), rel=0.15)
    timid = [_tried(right=number % 50 > 0, sure=0.8) for number in range(100)]
    assert calibration.calmer_of(timid) == pytest.approx(4 * np.log(4) / np.log(49), rel=0.15)
    assert calibration.calmer_of([_tried(right=True)]) == pytest.approx(4.0, rel=0.2), "one is few"


def test_intervals_of_rests_reach_as_far_as_nineteen_in_twenty_have_to() -> None:
    """39 rests are right and one of each kind is a half too long: the largest of 40 to be left."""
    drives = [_tried(right=True, off=1.05) for _ in range(39)] + [_tried(right=True, off=1.5)]
    assert calibration.wider_of(drives) == pytest.approx(0.05)
    assert calibration.wider_of(drives[-3:]) == pytest.approx(0.5), "of few the largest"
    assert calibration.wider_of([]) == 0.0


def test_reads_are_as_far_apart_as_nineteen_in_twenty() -> None:
    drives = [_tried(right=True, apart=0.01 * number) for number in range(1, 100)]
    noise = calibration.reads_of([*drives, replace(drives[0], apart=None)])
    mean_square = np.sqrt(np.mean(np.square(0.01 * np.arange(1, 100))))
    assert noise == pytest.approx((mean_square, 0.1, mean_square, 2 * mean_square))
    one = [_tried(right=True, apart=0.0)] * 20 + [_tried(right=True, apart=0.4)] * 2
    assert calibration.reads_of(one)[0] == pytest.approx(0.4 / 1.96), "nineteen in twenty"


def test_each_drive_is_tried_with_what_the_others_say() -> None:
    drives = [_tried(right=True, off=1.01 + number / 100) for number in range(5)]
    widest = calibration.left_out(drives, calibration.wider_of)
    assert widest == pytest.approx([0.05, 0.05, 0.05, 0.05, 0.04])


def test_the_file_has_what_the_battery_reads() -> None:
    drives = [_tried(right=number > 0, off=1.02) for number in range(8)]
    text = discover_calibration.text_of(drives, 10, 3)
    document, shipped = tomllib.loads(text), tomllib.loads(posterior.DATA.read_text())
    keys = {section: set(values) for section, values in shipped.items() if section != "schema"}
    assert {section: set(document[section]) for section in keys} == keys
    assert (
        len(document["reads"]["noise"])
        == len(shipped["reads"]["noise"])
        == len(calibration.LEAST_NOISE)
    )
    assert document["rest"]["wider"] == pytest.approx(0.02) and "16 of 16 intervals hold" in text


def test_a_drive_that_was_discovered_is_not_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def discovered(prior: object, seed: int, number: int) -> Discovered:
        asked.append(number)
        return _tried(right=True).drive

    monkeypatch.setattr("flashtwin_lab.blind.kinds.discovered", discovered)
    path = tmp_path / "kept" / "5-3.pickle"
    works = [calibration.kept(path, 5, 3, lambda *_: None) for _ in range(2)]
    assert works[0] == works[1] and asked == [3]
