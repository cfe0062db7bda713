"""Drives that a drive may be: what nobody prints of it is drawn."""

from __future__ import annotations

from collections import Counter

import pytest

from flashtwin.load.drawn import drawn, unknowns
from flashtwin.runner.target import Variant


@pytest.mark.parametrize("seed", [1, 7])
def test_few_drives_have_every_way_of_a_firmware(seed: int) -> None:
    """As many drives as a key has words have each of them once."""
    variant = Variant(drive="pm871b-128", kept=False)
    with_words = {key: row["words"] for key, row in unknowns().items() if "words" in row}
    guessed = {row["key"] for row in variant.spec().values() if row["origin"] == "prior"}
    assert with_words.keys() & guessed, "the drive has a firmware that nobody printed"
    for key in with_words.keys() & guessed:
        count = 2 * len(with_words[key])
        sets = [other.sets for _, other in drawn(variant, seed, count, lambda _variant: True)]
        words = [text.partition("=")[2] for each in sets for text in each if text.startswith(key)]
        assert Counter(words) == dict.fromkeys(with_words[key], 2)


def test_a_drawn_drive_follows_from_seed_and_number() -> None:
    variant = Variant(drive="pm871b-128", kept=False)
    few, many = (list(drawn(variant, 5, count, lambda _variant: True)) for count in (3, 6))
    assert few == many[:3]
    assert many != list(drawn(variant, 6, 6, lambda _variant: True))
