"""What has to be typed back before data are lost."""

from __future__ import annotations

import pytest

from flashtwin.drives.consent import Consent, Word, require
from flashtwin.errors import REFUSED, FlashtwinError

WORDS = [
    Word(name="model", text="SSD 9", essential=False),
    Word(name="serial", text="S123"),
    Word(name="label", text="holiday"),
]


def refusal(consent: Consent) -> FlashtwinError:
    with pytest.raises(FlashtwinError) as caught:
        require(consent, "/dev/x", ["what is lost"], WORDS)
    assert caught.value.exit_code == REFUSED
    return caught.value


def test_without_the_option_nothing_is_asked() -> None:
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return "S123"

    error = refusal(Consent(ask=ask, say=asked.append))
    assert "--destroy-data" in error.message
    assert asked == []


def test_all_words_are_typed() -> None:
    answers = iter(["SSD 9", " S123 ", "holiday"])
    shown: list[str] = []
    consent = Consent(destroy=True, ask=lambda text: next(answers), say=shown.append)
    require(consent, "/dev/x", ["what is lost"], WORDS)
    assert shown == ["what is lost"]
    assert list(answers) == []


@pytest.mark.parametrize(
    "answers",
    [
        ["", "", ""],
        ["yes", "y", "yes"],
        ["SSD 9", "s123", "S12", "S1234"],
        ["SSD 9", "S123", "holidays", "", ""],
    ],
)
def test_a_wrong_word_is_none(answers: list[str]) -> None:
    given = iter(answers)
    error = refusal(Consent(destroy=True, ask=lambda text: next(given)))
    assert "was not typed" in error.message


def test_a_script_says_serial_and_label() -> None:
    require(Consent(words=("S123", "holiday")), "/dev/x", [], WORDS)


@pytest.mark.parametrize(
    "words", [("S123",), ("holiday",), ("S123", "holiday", "other"), ("s123", "holiday"), ("",)]
)
def test_a_script_that_says_otherwise(words: tuple[str, ...]) -> None:
    assert "is not written to" in refusal(Consent(words=words)).message


def test_where_nobody_can_be_asked() -> None:
    error = refusal(Consent(destroy=True))
    assert "nobody can be asked" in error.message
    assert error.hint is not None
    assert "--yes-destroy SERIAL --yes-destroy LABEL" in error.hint
