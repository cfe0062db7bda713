"""The glossary: every word of our own in it is one that a reader of the other pages meets."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.words import word_of
from flashtwin.batteries.base.words import words as known_words

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "concepts" / "glossary.md"


def words(heading: str) -> list[str]:
    """The first column of the table below a heading."""
    section = GLOSSARY.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| ([^|]+?) \|", section, re.M)[1:]


def test_each_word_of_our_own_stands_on_another_page_once_explained() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = " ".join(page.read_text() for page in pages if page != GLOSSARY)
    ours = words("Words of our own")
    assert len(ours) > 10 and len(set(ours)) == len(ours)
    assert [word for word in ours if not re.search(rf"\b{word}\w{{0,3}}\b", text, re.I)] == []


def test_words_of_the_field_are_in_order_and_none_is_told_twice() -> None:
    field = words("Words of the field")
    assert field == sorted(field, key=str.lower)
    assert set(field).isdisjoint(words("Words of our own"))


def test_words_of_the_field_are_those_that_explain_knows() -> None:
    """FLASHTWIN_BLESS=1 writes the table anew."""
    rows = "".join(f"| {word.word} | {word.means} |\n" for word in known_words())
    before, head, _ = GLOSSARY.read_text().partition("| word | what it is |\n|---|---|\n")
    if os.environ.get("FLASHTWIN_BLESS"):
        GLOSSARY.write_text(before + head + rows)
    assert GLOSSARY.read_text() == before + head + rows


def test_each_word_leads_to_a_finding_that_there_is() -> None:
    stems = [meaning.stem for meaning in registry.meanings()]
    for word in known_words():
        assert any(fnmatchcase(word.finding, stem) for stem in stems), word.word
        assert all(word_of(name) == word for name in word.names), word.word
    assert fnmatchcase("waf", registry.explain("Write Amplification").stem)


def test_a_reader_finds_it_from_the_first_page() -> None:
    assert "docs/concepts/glossary.md" in (ROOT / "README.md").read_text()
