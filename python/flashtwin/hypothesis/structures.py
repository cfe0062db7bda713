"""What an unknown SLC cache may be, and the one place where its values become settings of a spec.

A structure is a kind of cache with a way past it, a row of `structures.toml`; a `Cache` has the
sizes and times of one. How many bytes are folded for each byte of the host follows from the bits of
a cell and the rule for a full cache, as the core declares it. A cache of its own blocks lends
nothing that would have to come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from flashtwin import _core
from flashtwin.inputs import read_toml
from flashtwin.model import cells

TABLE = Path(__file__).with_name("structures.toml")
# The cells that a candidate may have past its cache.
BITS = {cell: cells.BITS[cell] for cell in ("tlc", "qlc")}
NONE, STATIC, DYNAMIC, HYBRID, TIERS = "none", "static", "dynamic", "hybrid", "tiers"
WHOLE_DRIVE = "whole-drive"
DIRECT, STAGED, FOLD_FIRST = "direct", "staged", "fold-first"


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A kind of cache and its way past a full one; `uses` are the values that mean anything."""

    name: str
    past: str
    mode: str
    uses: tuple[str, ...]

    @property
    def is_staged(self) -> bool:
        """Whether all data goes through the cache, past its end too."""
        return self.past != DIRECT


@dataclass(frozen=True, kw_only=True)
class Cache:
    """Sizes of a cache in bytes, and its times in seconds; what a structure has not does not count.

    `borrowed`: on cells that hold native data too; `own`: in blocks that are always in SLC mode;
    `reserve`: native bytes that are free when folding begins; `rearm`: what takes data again during
    a fill; `idle_s`: the rest before folding, none where the spec's own stays; `step`: what is
    folded at a time, none likewise; `tier`: a second tier, one program of which takes
    `tier_program_s`.
    """

    borrowed: float = 0.0
    own: float = 0.0
    reserve: float = 0.0
    rearm: float | None = None
    idle_s: float | None = None
    step: float | None = None
    tier: float = 0.0
    tier_program_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value that is free; `structures.toml` says what the fields mean."""

    name: str
    title: str
    keys: tuple[str, ...]
    seen: str
    spread: float
    unit: str = ""
    usual: float | None = None
    range: tuple[float, float] | None = None
    log: bool = False

    @property
    def factor(self) -> float:
        """The unit in seconds, bytes or bytes a second."""
        return {"MB/s": 1e6, "us": 1e-6, "MiB": float(1 << 20)}.get(self.unit, 1.0)

    @property
    def ends(self) -> tuple[float, float]:
        """The range of a value that has one."""
        assert self.range is not None, f"{self.name} has no range"
        return self.range

    def drawn(self, rng: np.random.Generator) -> float:
        """A value of the range, in its unit."""
        low, high = self.ends
        if self.log:
            return float(np.exp(rng.uniform(np.log(low), np.log(high))))
        return float(rng.uniform(low, high))


@dataclass(frozen=True, kw_only=True)
class SyncedWrites:
    """How long a synchronous write of published drives takes, in logarithms of microseconds: the
    middle of drives with capacitors and of others, and the standard deviation of both."""

    protected_ln_us: float
    other_ln_us: float
    ln_us_sd: float


@cache
def _table() -> Mapping[str, Any]:
    return read_toml(TABLE)


@cache
def synced_writes() -> SyncedWrites:
    """How long a synchronous write takes on published drives."""
    return SyncedWrites(**_table()["sync"])


@cache
def structures() -> tuple[Structure, ...]:
    """All structures, in the order of the table."""
    return tuple(
        Structure(
            name=row["name"],
            past=row["past"],
            mode=row.get("mode", row["name"]),
            uses=tuple(row["uses"]),
        )
        for row in _table()["structures"]
    )


@cache
def structure(name: str, past: str) -> Structure:
    """The structure of these names; one that no inference knows has a way of its own past it."""
    for row in structures():
        if (row.name, row.past) == (name, past):
            return row
    first = next(row for row in structures() if row.name == name)
    return Structure(name=name, past=past, mode=first.mode, uses=first.uses)


@cache
def values() -> Mapping[str, Value]:
    """The values that are free, by name and in the order of the table."""
    declared = {
        row["name"]: {
            "title": row["title"],
            "keys": [row["key"]],
            "seen": row["seen"],
            "spread": row["spread"],
            "unit": "" if row["unit"].startswith("share") else row["unit"],
            "usual": row["usual"],
            "range": row["range"],
            "log": row["scale"] == "log",
        }
        for row in _core.cache_mechanisms()["keys"]
    }
    rows = _table()["values"]
    return {
        name: msgspec.convert({"name": name, **declared.get(name, {}), **row}, Value)
        for name, row in rows.items()
    }


def returned(bits: int) -> float:
    """Bytes that have to be folded for each byte that is staged through a borrowed cache."""
    return bits / (bits - 1)


def pace(of: Structure, cell: str) -> float:
    """Bytes folded for each byte of the host once the reserve is reached, as a spec says it."""
    if of.mode in (NONE, STATIC):
        return 0.0
    return _paces()[of.past][BITS[cell]]


@cache
def _paces() -> Mapping[str, Mapping[int, float]]:
    """Bytes folded for each byte of the host, by the rule for a full cache and the cell's bits."""
    return {rule["name"]: rule["pace"] for rule in _core.cache_mechanisms()["full_rules"]}


def settings(of: Structure, cell: str, cache: Cache) -> dict[str, str | int | float]:
    """What a spec says of a cache: a value for each key that its structure decides."""
    borrows = of.mode in (DYNAMIC, HYBRID)
    keys: dict[str, str | int | float] = {
        "slc_cache.mode": of.mode,
        "slc_cache.size": _bytes(cache.borrowed if borrows else 0.0),
        "slc_cache.static_size": _bytes(cache.own if of.mode in (STATIC, HYBRID) else 0.0),
        "slc_cache.when_full": of.past,
        "fold.pace": pace(of, cell),
        "fold.reserve": _bytes(cache.reserve if borrows else 0.0),
    }
    if "rearm" not in of.uses:
        keys["slc_cache.rearm"] = 0
    elif cache.rearm is not None:
        keys["slc_cache.rearm"] = _bytes(cache.rearm)
    if of.mode == NONE:
        keys["fold.idle_after"] = "never"
    elif cache.idle_s is not None:
        keys["fold.idle_after"] = _ns(cache.idle_s)
    if of.past == FOLD_FIRST and cache.step is not None:
        keys["fold.step"] = _bytes(cache.step)
    if of.name == TIERS:
        keys["slc_cache.tier_size"] = _bytes(cache.tier)
        keys |= {f"nand.tier.{key}": value for key, value in _table()["tier"].items()}
        keys["nand.tier.tprog"] = _ns(cache.tier_program_s)
    return keys


def sets(of: Structure, cell: str, cache: Cache) -> tuple[str, ...]:
    """The settings as `--set` takes them."""
    return tuple(f"{key}={value}" for key, value in settings(of, cell, cache).items())


def _bytes(count: float) -> str | int:
    return f"{count:.0f} B" if count >= 0.5 else 0


def _ns(seconds: float) -> str:
    return f"{max(round(seconds * 1e9), 1)} ns"
