"""How many published figures each twin of the catalogue reproduces, shipped with it.

`validated.json` has a row for each family of drives (those that published rows compare with each
other), made by the laboratory from its records (`flashtwin_lab.make.validation`). Invariant: counts
are told only while the core's model and the specs are those that were measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from flashtwin import _core
from flashtwin.catalogue.loader import drive_ids, load

DATA = Path(__file__).with_name("validated.json")


class Counts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A drive's published rows that count: how many were run, how many of them pass, and how many
    of those that pass rest on no assumed condition."""

    rows: int
    passed: int
    validating: int


NONE = Counts(rows=0, passed=0, validating=0)


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was counted, of which model of the core and of which specs by their hashes."""

    model: int
    specs: dict[str, str]
    counts: dict[str, Counts]


@cache
def spec_hash(drive: str) -> str:
    """The hash of a drive of the catalogue, as its spec is today."""
    return load(drive).hash


def is_current(model: int, specs: Mapping[str, str]) -> bool:
    """Whether the core and the catalogue would give the same result today."""
    return model == _core.MODEL and all(
        drive in drive_ids() and spec_hash(drive) == spec for drive, spec in specs.items()
    )


def counts() -> dict[str, Counts]:
    """The counts of each drive that hold today."""
    families = msgspec.json.decode(DATA.read_bytes(), type=list[Family])
    return {
        drive: counted
        for family in families
        if is_current(family.model, family.specs)
        for drive, counted in family.counts.items()
    }


def encoded(families: Iterable[Family]) -> bytes:
    """The file as it ships: a family a line."""
    return b"[" + b",\n".join(msgspec.json.encode(family) for family in families) + b"]\n"
