"""Words of the field: what each is, and the finding that shows it.

People ask `flashtwin explain` for WAF, TBW or a throttle. The glossary's table is made of these.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from flashtwin.batteries.base.page import Table, convert
from flashtwin.inputs import read_toml

PLACE = Path(__file__).with_name("words.toml")


class Word(Table, kw_only=True):
    """A word of the field: `also` are other names for it, `means` explains it, and `finding` is the
    finding that shows it."""

    word: str
    also: tuple[str, ...] = ()
    means: str
    finding: str

    @property
    def names(self) -> set[str]:
        """The names that people type for it, without the part in brackets."""
        return {name.lower() for name in (self.word.partition(" (")[0], *self.also)}


class Words(Table):
    """The file."""

    words: tuple[Word, ...]


@cache
def words() -> tuple[Word, ...]:
    """All of them, in their order."""
    return convert(read_toml(PLACE), Words, PLACE).words


def word_of(text: str) -> Word | None:
    """The word that somebody typed, in either case, with or without hyphens, singular or plural."""
    typed = text.strip().lower().replace("_", " ")
    forms = {typed, typed.replace("-", " "), typed.removesuffix("s")}
    return next((word for word in words() if word.names & forms), None)
