"""Groups of batteries that are asked for by one name.

They stand in groups.toml beside this module; `all` is every battery of flashtwin's own with its
defaults. Invariant: each text of a group is one battery, as it is written after --battery.
"""

from __future__ import annotations

from pathlib import Path

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.parameter import nearest
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import read_toml
from flashtwin.model.document import Document

FILE = Path(__file__).with_name("groups.toml")
ALL = "all"


class Group(Document, frozen=True):
    """Batteries as they are typed, in order, and whom the choice of them follows."""

    name: str
    title: str
    follows: str
    batteries: tuple[str, ...]


def groups() -> list[Group]:
    """All groups, the smallest first."""
    rows = read_toml(FILE)
    named = [
        Group(**{**row, "name": name, "batteries": tuple(row["batteries"])})
        for name, row in rows.items()
    ]
    every = Group(
        name=ALL,
        title="every battery of flashtwin's own, with its defaults",
        follows="nobody",
        batteries=tuple(
            name for name in registry.own() if registry.get(name).program == registry.PROGRAM
        ),
    )
    return [*named, every]


def get(name: str) -> Group:
    """One group; raises with the names that there are."""
    known = {group.name: group for group in groups()}
    if name in known:
        return known[name]
    raise FlashtwinError(
        f"there is no group {name!r}{nearest(name, list(known))}",
        hint=f"groups: {', '.join(known)}",
        exit_code=USAGE,
    )
