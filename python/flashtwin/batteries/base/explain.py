"""The texts of all batteries' findings, and which of them a finding or a reader's word asks for."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.meaning import COMMON, Meaning, of_battery, read
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding


@cache
def meanings() -> tuple[Meaning, ...]:
    """All entries, in the order in which they are tried."""
    batteries, _ = registry.available()
    own = (of_battery(one.name, one.meanings()) for one in batteries)
    return (*read(COMMON), *(meaning for some in own for meaning in some))


def meaning_of(finding: Finding) -> Meaning | None:
    """The entry for a finding; none where its battery is not installed, or brings none."""
    fitting = (one for one in meanings() if one.fits(finding.battery, finding.name))
    return next(fitting, None)


def explain(word: str) -> Meaning:
    """The entry for a finding's id, with or without its battery and variant; raises with what may
    have been meant."""
    stem = word.strip().partition("[")[0]
    known = meanings()
    for meaning in known:
        if fnmatchcase(stem, meaning.stem):
            return meaning
    for meaning in known:
        if meaning.name and meaning.name == stem:
            return meaning
    usual = [meaning.stem.replace("*_pass", "second_pass") for meaning in known]
    near = get_close_matches(stem, usual, n=3, cutoff=0.4)
    near += [one for one in usual if stem and stem in one and one not in near]
    meant = f"did you mean {' or '.join(near[:3])}? " if near else ""
    raise FlashtwinError(
        f"no finding is called {word.strip()}",
        hint=f"{meant}flashtwin explain lists them all",
        exit_code=USAGE,
    )
