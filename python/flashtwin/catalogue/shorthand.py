"""Words of the field that stand for keys of a spec: `op=0.14`, `cache=8GB`.

Over-provisioning is what people vary and no key: all flash in native mode over what the host sees,
less one (`nand.*` against `drive.capacity`). The geometry stays and the capacity follows, in whole
MiB, so the cache, the system area and the parity take from what is spare as they do in the drive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.cells import BITS
from flashtwin.model.units import parse_number, parse_size

COUNTS = ("channels", "dies_per_channel", "planes", "blocks_per_plane", "wordlines_per_block")
MIB = 1 << 20
# The key that says a cache's size, by its mode.
SIZED = {
    "static": "slc_cache.static_size",
    "dynamic": "slc_cache.size",
    "hybrid": "slc_cache.size",
}
OP = "op"
# The size of the SLC cache: that of its own blocks where it has no others.
CACHE = "cache"
MOST = 20
# Characters of a setting in a message.
MOST_SHOWN = 100


def raw_bytes(values: Mapping[str, str]) -> int | None:
    """All flash of a drive in native mode, from the values of its spec; none without a geometry."""
    try:
        units = math.prod(int(values[f"nand.{name}"]) for name in COUNTS)
        return units * parse_size(values["nand.page_size"]) * BITS[values["nand.cell"]]
    except (KeyError, ValueError):
        return None


def named(sets: Iterable[str]) -> bool:
    """Whether any of these settings is a shorthand; raises for one that is nearly one."""
    keys = [_key(setting) for setting in sets]
    for key in keys:
        # A key of a spec has its section before it: map.cache is one.
        is_mistyped = "." not in key and key not in (OP, CACHE)
        near = get_close_matches(key, (CACHE,), cutoff=0.7) if is_mistyped else []
        if near:
            raise FlashtwinError(
                f"--set: {key}: unknown key", hint=f"did you mean {near[0]}?", exit_code=USAGE
            )
    return any(key in (OP, CACHE) for key in keys)


def plain(sets: Sequence[str]) -> list[str]:
    """The settings without the shorthands."""
    return [setting for setting in sets if _key(setting) not in (OP, CACHE)]


def expanded(sets: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The settings with each shorthand as the key that it stands for.

    `values` are those of the spec with the plain settings. Raises `FlashtwinError` where a share is
    none, or where the capacity is set beside it.
    """
    settings = plain(sets) + _caches(sets, values)
    shares = [setting for setting in sets if _key(setting) == OP]
    if shares and (
        len(shares) > 1 or any(_key(setting) == "drive.capacity" for setting in settings)
    ):
        raise FlashtwinError(
            "the capacity is set twice: op stands for drive.capacity",
            hint="give op or drive.capacity, once",
            exit_code=USAGE,
        )
    return settings + [
        f"drive.capacity={_capacity(_share(setting), values)} B" for setting in shares
    ]


def _caches(sets: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """The settings of a cache's size, as keys of that drive's kind of cache."""
    sizes = [setting.partition("=")[2] for setting in sets if _key(setting) == CACHE]
    mode = values.get("slc_cache.mode", "none")
    if sizes and mode not in SIZED:
        raise FlashtwinError(
            f"cache={sizes[0]}: this drive has no cache of a size, its slc_cache.mode is {mode}",
            hint="set slc_cache.mode=dynamic and slc_cache.size",
            exit_code=USAGE,
        )
    return [f"{SIZED[mode]}={size}" for size in sizes]


def _key(setting: str) -> str:
    return setting.partition("=")[0].strip()


def _share(setting: str) -> Decimal:
    text = setting.partition("=")[2].strip()
    percent = text.endswith("%")
    try:
        share = parse_number(text.removesuffix("%").strip()) / (100 if percent else 1)
    except ValueError:
        share = Decimal(-1)
    if not 0 <= share <= MOST:
        raise FlashtwinError(
            f"{setting[:MOST_SHOWN]}: over-provisioning is a share of the capacity "
            f"from 0 to {MOST}",
            hint="write op=0.14 or op=14% for flash of 1.14 times the capacity",
            exit_code=USAGE,
        )
    return share


def _capacity(share: Decimal, values: Mapping[str, str]) -> int:
    raw = raw_bytes(values)
    assert raw is not None, "a checked spec has a geometry"
    return int(raw / (1 + share)) // MIB * MIB
