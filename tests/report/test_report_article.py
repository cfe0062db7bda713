"""The written verdict of a review: true of its numbers, whatever they are."""

from __future__ import annotations

import random
import re
from types import SimpleNamespace
from typing import Any

import pytest

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.groups import get as group
from flashtwin.batteries.base.present import Claim, Column, Subject, present_of
from flashtwin.batteries.identity import VERDICTS
from flashtwin.model.finding import Better, Finding, Interval
from flashtwin.model.findings import Findings
from flashtwin.report import article, ranked

HIGHER = Claim(than="reads {} faster", most="reads fastest", alone="reads at {}", what="reads")
LOWER = Claim(
    than="draws {} less", most="draws least", alone="draws {}", what="power", in_times=False
)
SOONER = Claim(than="is full {} sooner", most="is full soonest", alone="takes {}", what="fills")


def column(values: dict[int, Any], unit: str, better: Better, claim: Claim) -> dict[int, Column]:
    """A value, or (value, low, high), for each drive; none is one without the finding."""
    cells = {}
    for drive, given in values.items():
        value, low, high = given if isinstance(given, tuple) else (given, None, None)
        interval = None if low is None else Interval.of(low, high)
        finding = Finding(
            battery="b", name="n", title="t", value=value, unit=unit, interval=interval
        )
        cells[drive] = Column(
            title="T", finding=None if value is None else finding, better=better, claim=claim
        )
    return cells


def verdict(columns: list[dict[int, Column]], names: tuple[str, ...] = ("one", "two")) -> str:
    drives = tuple(SimpleNamespace(index=number, name=name) for number, name in enumerate(names))
    contents: Any = SimpleNamespace(drives=drives, columns=lambda: columns)
    return " ".join(article.verdict(contents)).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (
            [column({0: 84.86, 1: 11.96}, "MB/s", "higher", HIGHER)],
            "one reads 7.1 times faster (84.9 against 12.0 MB/s).",
        ),
        (
            [
                column({0: 100, 1: 150}, "MB/s", "higher", HIGHER),
                column({0: 2163.0, 1: 1849.0}, "s", "lower", SOONER),
                column({0: 0.4, 1: 0.1}, "W", "lower", LOWER),
            ],
            "two reads 50 % faster (150 against 100 MB/s) and is full 15 % sooner (30 min 49 s"
            " against 36 min 3 s). It also draws 75 % less (100 against 400 mW).",
        ),
        (
            [
                column({0: 100, 1: 105}, "MB/s", "higher", HIGHER),
                column({0: (2.0, 1.0, 3.0), 1: (1.5, 1.2, 1.8)}, "W", "lower", LOWER),
            ],
            "They are within 10 % of each other in reads. Whether they differ in power these runs"
            " do not show.",
        ),
        ([column({0: 100, 1: None}, "MB/s", "higher", HIGHER)], ""),
        ([column({0: 100, 1: 200}, "MB/s", "higher", Claim())], ""),
        ([], ""),
    ],
)
def test_two_drives(columns: list[dict[int, Column]], text: str) -> None:
    assert verdict(columns) == text


def test_one_drive_and_several() -> None:
    columns = [
        column({0: 84.86}, "MB/s", "higher", HIGHER),
        column({0: 0.05013}, "W", "lower", LOWER),
        column({0: 2163.0}, "s", "lower", SOONER),
        column({0: None}, "s", "lower", SOONER),
    ]
    text = "one reads at 84.9 MB/s and draws 50.1 mW. It also takes 36 min 3 s."
    assert verdict(columns, ("one",)) == text
    columns = [
        column({0: 100, 1: 200, 2: 150}, "MB/s", "higher", HIGHER),
        column({0: 1.0, 1: 3.0, 2: 2.0}, "W", "lower", LOWER),
        column({0: 1.0, 1: 1.05, 2: 2.0}, "s", "lower", SOONER),
    ]
    text = "a draws least (1.00 W). b reads fastest (200 MB/s)."
    assert verdict(columns, ("a", "b", "c")) == text


def test_whatever_two_drives_do_the_sentences_are_true() -> None:
    """Each column is told once: of the better drive, with its lead, or as level or not told."""
    for seed in range(300):
        draw = random.Random(seed)
        rows = []
        for number in range(draw.randint(1, 6)):
            better: Better = draw.choice(["higher", "lower"])
            values = {drive: 10 ** draw.uniform(-2, 4) for drive in (0, 1)}
            if draw.random() < 0.3:
                values[1] = values[0] * draw.uniform(0.92, 1.08)
            words = f"thing{number}"
            # "more" and not "less": of that a share is told, which the first test has.
            claim = Claim(than=f"does {words} {{}} better", what=words)
            rows.append((words, better, values, column(dict(values), "MB/s", better, claim)))
        text = verdict([row[-1] for row in rows])
        for words, better, values, _ in rows:
            assert text.count(words) == 1, (seed, text)
            ratio = max(values.values()) / min(values.values())
            pattern = rf"does {words} ([\d.,]+) (times|%) better"
            told = re.search(pattern, text)
            if told is None:
                assert ratio < 1.1 and "within 10 % of each other" in text, (seed, text)
                continue
            assert ratio >= 1.1
            best = (max if better == "higher" else min)(values, key=lambda key: values[key])
            before = text[: told.start()]
            assert before.rfind("one ") < before.rfind("two ") if best else "two " not in before
            amount, unit = float(told[1].replace(",", "")), told[2]
            share = ratio - 1 if better == "higher" else 1 - 1 / ratio
            assert amount == pytest.approx(ratio if unit == "times" else 100 * share, rel=0.06)


def test_every_number_that_a_review_ranks_by_has_its_words_or_none() -> None:
    """No half claims: a column with a sentence for two has one for several, and a name; a drive by
    itself has one too where the battery's words on it have not said the value."""
    for text in [*group("review").batteries, *group("quick").batteries]:
        name = text.partition(":")[0]
        assert registry.get(name)
        subject = Subject(index=0, name="d", battery=name, findings=Findings(()))
        for shown in present_of(name).columns(subject):
            claim = shown.claim
            texts = (claim.than, claim.most, claim.what)
            assert all(texts) or not any(texts), (name, shown.title)
            if claim.than:
                assert "{}" in claim.than and "{}" in (claim.alone or "{}"), (name, shown.title)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (23, "23rd")],
)
def test_places_are_told_as_people_do(number: int, text: str) -> None:
    assert ranked.ordinal(number) == text
    assert ranked.ordinal(100 + number) == f"1{number:02d}{text[-2:]}"


def test_a_verdict_on_ratings_is_a_word_apart_from_the_name() -> None:
    """The page sets the name in bold and the text right behind it."""
    for text in VERDICTS[:2]:
        finding = Finding(
            battery="identity", name="verdict", title="t", value=text, unit="", choices=VERDICTS
        )
        subject = Subject(index=0, name="d", battery="identity", findings=Findings((finding,)))
        (fact,) = present_of("identity").facts([subject])
        assert fact.subject + fact.text == f"d {text}."
