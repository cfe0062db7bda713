"""Fills of drives without a cache that look as if one ended, of every generator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flashtwin_lab.blind import detect, generate, judge, negatives, run
from flashtwin_lab.blind.truth import Measured

PROGRAM = Path(__file__).with_name("synthetic.py")
KINDS = range(len(negatives.LAWS))


def negative(number: int) -> Measured:
    drive = run.negative(generate.read_prior(), PROGRAM, 4, number)
    assert drive is not None
    return drive


@pytest.mark.parametrize("number", KINDS)
def test_a_negative_is_another_series_of_a_drive_without_a_cache(number: int) -> None:
    first, again, next_kind = (
        negative(number),
        negative(number),
        negative((number + 1) % len(KINDS)),
    )
    assert first.negative == negatives.kind_of(number) != next_kind.negative
    assert np.array_equal(first.bytes, again.bytes)
    assert first.bytes.sum() == next_kind.bytes.sum() and (first.bytes >= 0).all()
    assert not np.array_equal(first.bytes, next_kind.bytes)
    assert first.truth.visible is False and first.truth.cache_bytes is None


def test_a_prior_without_such_drives_has_no_negatives() -> None:
    prior = generate.read_prior()
    cached = [design for design in prior["designs"] if design["name"] != "none"]
    assert run.negative({**prior, "designs": cached}, None, 1, 0) is None


def test_a_claim_is_a_probability_of_95_per_cent() -> None:
    drive = negative(0)
    for probability, claimed in ((0.94, False), (0.95, True), (None, True)):
        answer = detect.Answer(cache=True, probability=probability)
        judged = judge.judged(drive, answer)
        assert judged.claims[f"{judge.NEGATIVES}: {drive.negative}"] is not claimed
        assert (judge.CLAIMS in judged.claims) is claimed
    rows = judge.rows([judged], negatives.TARGETS)
    assert [row.found for row in rows] == ["1 of 1", "1 of 1"]


def test_hardly_a_negative_is_claimed() -> None:
    drives = [negative(number) for number in range(2 * len(KINDS))]
    claimed = [
        drive.name
        for drive in drives
        if not all(judge.judged(drive, detect.ours(drive)).claims.values())
    ]
    assert len(claimed) < 2, claimed
