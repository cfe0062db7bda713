"""What a finding means and how it is found, in words; the words are in `findings.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from flashtwin.catalogue.place import MEANINGS
from flashtwin.errors import USAGE, FlashtwinError


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """An entry: `id` has a * for the parts that vary."""

    id: str
    title: str
    means: str
    found: str
    mind: str | None = None

    def fits(self, name: str) -> bool:
        """Whether a finding's id is one of these. A pattern in brackets may be left out."""
        stem, bracket, _ = self.id.partition("[")
        form = re.escape(stem).replace(r"\*", ".+") + (r"(\[.+\])?" if bracket else "")
        return name == self.id or re.fullmatch(form, name) is not None

    @property
    def short(self) -> str:
        """Without battery and pattern, as a finding answers to it: cache_size."""
        return self.id.partition("[")[0].partition(".")[2]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@cache
def meanings() -> tuple[Meaning, ...]:
    """All entries, in the order in which they are tried."""
    with MEANINGS.open("rb") as file:
        return tuple(Meaning(**row) for row in tomllib.load(file)["finding"])


def explain(name: str) -> Meaning:
    """The entry for a finding's id, with or without its battery and pattern; raises with what may
    have been meant."""
    name = name.strip()
    for meaning in meanings():
        if meaning.fits(name):
            return meaning
    for meaning in meanings():
        if meaning.short and meaning.short == name.partition("[")[0]:
            return meaning
    known = [_usual(meaning.id) for meaning in meanings()]
    near = get_close_matches(name.partition("[")[0], known, n=3, cutoff=0.4)
    near += [one for one in known if name and name in one and one not in near]
    meant = f"did you mean {' or '.join(near[:3])}? " if near else ""
    raise FlashtwinError(
        f"no finding is called {name}",
        hint=f"{meant}flashtwin explain lists them all",
        exit_code=USAGE,
    )


def _usual(name: str) -> str:
    """An id as somebody would type it."""
    return name.replace("[*]", "").replace("*_pass", "second_pass")
