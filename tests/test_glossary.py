"""The glossary: every word of our own in it is one that a reader of the other pages meets."""

from __future__ import annotations

import re
from pathlib import Path

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


def test_a_reader_finds_it_from_the_first_page() -> None:
    assert "docs/concepts/glossary.md" in (ROOT / "README.md").read_text()
