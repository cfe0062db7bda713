"""A candidate of a fit: a structure of the cache with values, and the spec that it makes.

Values are searched as `z`: the logarithm of a value over what is usual, in units of its spread, so
that 0 is the prior's middle and its deviation 1. Speeds are those at which all dies together take
data, transfers on the bus included, so that the number of dies can move without them. Invariant:
the small copy has the ratios of the drive: what collection keeps in superblocks, which are a larger
share of a small drive, it gets on top.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.catalogue.loader import load
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.hypothesis.structures import (
    BITS,
    HYBRID,
    NONE,
    STATIC,
    TIERS,
    WHOLE_DRIVE,
)
from flashtwin.inputs import read_toml

Limit = Literal["flash", "core"]
TABLE = Path(__file__).with_name("twin.toml")
PAGE, PLANES = 16 << 10, 4
# The bus of every candidate, as the table has it.
BUS_BYTES_PER_S = 1.6e9
MIB, UNIT = 1 << 20, 4 << 10
MOST_DIES = 64
MOST_CHANNELS = 8
# A full drive is given about this number of superblocks, from blocks of one of these lengths.
SUPERBLOCKS = 1000
WORDLINES = (22, 44, 88, 176, 352, 704)
# Superblocks that collection and open streams occupy. Small copies were tried with 2, 6, 10 and 14
# of them on eight kinds of drives; with 6 the copies came nearest to their drives.
AT_WORK = 6
# A hybrid cache borrows at least this share of the capacity beside its own blocks.
LEAST_BORROWED = 0.005
# The fill alone does not show a hybrid cache's own part: it is tried at these multiples.
OWN_PARTS = (0.5, 1.7, 2.5)
# What the firmware keeps of the capacity.
SYSTEM_SHARE = 0.005
SATA_MOST = 600e6
# A value is no farther from what is usual, in spreads.
FARTHEST = 4.0
# The bytes folded at a time show in how long single writes wait, and no chapter compares that.
LEFT_AS_USUAL = ("step",)

Floats = NDArray[np.float64]


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """Limits, maps, small copies and the rest of a spec, as `twin.toml` has them."""
    return read_toml(TABLE)


def names() -> tuple[str, ...]:
    """The values that are searched, in their order."""
    return tuple(name for name in hypothesis.values() if name not in LEFT_AS_USUAL)


def factor_of(name: str) -> float:
    """What a value's unit is in seconds or bytes a second."""
    return hypothesis.values()[name].factor


def usual_values() -> dict[str, float]:
    """What is usual of the values that are the same for every drive."""
    rows = {name: hypothesis.values()[name] for name in names()}
    return {name: row.usual * row.factor for name, row in rows.items() if row.usual is not None}


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A kind of cache, how the drive writes past it, and the values that it uses.

    `limit`: what programs wait for, the flash or the firmware's core; `map`: where the map is, in
    DRAM or on flash and read on demand; `reclaims`: whether a superblock of the cache of which
    enough was overwritten is folded before older ones, and its room used again; `separates`:
    collection writes what it moves to superblocks of its own, and not beside what the host
    writes.
    """

    number: int
    kind: hypothesis.Structure
    limit: Limit
    uses: tuple[str, ...]
    map: str = "dram"
    reclaims: bool = True
    separates: bool = True

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def past(self) -> str:
        """How data past the cache is written; none where there is no cache."""
        return NONE if self.name == NONE else self.kind.past

    @property
    def by_core(self) -> bool:
        return self.limit == "core"

    @property
    def of_cache(self) -> int:
        """How many free values describe its cache."""
        return sum(name not in (*OF_CORE, "reach") for name in self.uses)

    @property
    def way(self) -> str:
        """Whether what is past the cache goes straight to native flash, or through the cache."""
        return "folded" if self.kind.is_staged else "direct"

    @property
    def group(self) -> str:
        """Structures that share a row of `calibration.toml`. A whole-drive cache has a row of its
        own: where it ends shows the spare flash, and later writes wait for folding. Two tiers have
        one too: where the first of them ends shows in speeds that may differ by little."""
        return self.name if self.name in (WHOLE_DRIVE, TIERS) else self.way


def structures() -> list[Structure]:
    """All that are known with their map in DRAM: first those that the flash limits."""
    return [
        Structure(
            number=number,
            kind=kind,
            limit=limit["name"],
            uses=(*(used for used in kind.uses if used in names()), *limit["uses"]),
        )
        for limit in table()["limits"]
        for number, kind in enumerate(hypothesis.structures())
        if kind.name not in limit["without"]
    ]


# Values that only some structures use.
OF_CORE = ("core_rate", "move")
OF_TIER, TIER_BITS = ("tier", "tier_speed"), 2
CACHES = ("cache", "static", *OF_TIER, "reserve", "rearm", "idle", "reach", *OF_CORE)
# Values that no test shows on a drive without SLC programs. The usual SLC rate is this multiple of
# the native one: an SLC program takes a quarter to a twentieth of the time and holds a third or a
# quarter of the data.
READS = ("slc_read", "native_read")
FLUSH = "flush"
SLC_ONLY, SLC_OVER_NATIVE = ("first_rate", "slc_read"), 3.0


@dataclass(frozen=True, kw_only=True)
class Space:
    """A structure with its cells, and where its values begin.

    `usual` has a value for each name, `free` the names that are searched. `against` is a misfit
    to begin with: twice the logarithm of how much likelier `discover` found another kind.
    `protected`: whether capacitors answer a flush from RAM. `victims`: how collection chooses them,
    where the run tells it.
    """

    structure: Structure
    cell: str
    usual: Mapping[str, float]
    free: tuple[str, ...]
    against: float = 0.0
    protected: bool = False
    victims: str | None = None

    @property
    def bits(self) -> int:
        return BITS[self.cell]

    @property
    def unseen(self) -> tuple[str, ...]:
        """Values of every such drive that no step of the run asks for."""
        own = self.structure.name != NONE
        every = (FLUSH, *(name for name in READS if own or name not in SLC_ONLY))
        return tuple(name for name in every if name not in self.free)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Rates of the flash that no host can see, because the link or the core was the limit all
        the time: a change of the series with them is by chance."""
        names_ = []
        if self.structure.by_core or self.usual["first_rate"] > self.usual["link"]:
            # A second tier's speed is a share of the first one's.
            names_ += ["first_rate", "tier_speed"]
        if self.structure.by_core and self.structure.way == "folded":
            names_.append("native_rate")
        return tuple(name for name in names_ if name in self.free)

    def values(self, z: Floats) -> dict[str, float]:
        """The values of a place, in bytes a second, seconds and shares."""
        values = dict(self.usual)
        for name, at in zip(self.free, z, strict=True):
            near = float(np.clip(at, -FARTHEST, FARTHEST))
            values[name] = self.usual[name] * math.exp(hypothesis.values()[name].spread * near)
        return values

    def with_dies(self, factor: float) -> Space:
        """This space with `factor` times the dies. Where the core is the limit, the rates of the
        flash behind it grow with the dies."""
        usual = {**self.usual, "dies": float(dies_of(self.usual["dies"] * factor))}
        if self.structure.by_core:
            folded = self.structure.way == "folded"
            for name in ("first_rate", *(["native_rate"] if folded else [])):
                usual[name] *= usual["dies"] / self.usual["dies"]
        return replace(self, usual=usual)

    def with_map(self, name: str) -> Space:
        """This space with its map in DRAM or on flash."""
        uses = {row["name"]: tuple(row["uses"]) for row in table()["maps"]}
        own = uses[self.structure.map]
        structure = replace(
            self.structure,
            map=name,
            uses=(*(used for used in self.structure.uses if used not in own), *uses[name]),
        )
        others = [free for free in self.free if free not in own]
        free = tuple(value for value in names() if value in (*others, *uses[name]))
        return replace(self, structure=structure, free=free)

    def with_reclaim(self, reclaims: bool) -> Space:
        """This space with or without the reclaim of what is overwritten in the cache."""
        return replace(self, structure=replace(self.structure, reclaims=reclaims))

    def with_separation(self, separates: bool) -> Space:
        """This space with or without superblocks that collection alone writes to."""
        return replace(self, structure=replace(self.structure, separates=separates))

    def is_core_of(self, space: Space) -> bool:
        """Whether this space is limited by a core, and `space` is of the same kind and limited by
        its flash. The place of their maps, their reclaim and their separation may differ."""
        same = (self.structure.number, self.cell) == (space.structure.number, space.cell)
        return same and self.structure.by_core and not space.structure.by_core

    def with_own_parts(self, z: Floats) -> list[Floats]:
        """The place `z`, and places with another own part that give the same fill: the cache
        borrows less by what it owns more, and folding begins that much sooner."""
        if not {"static", "reserve"} <= set(self.free):
            return [z]
        own, reserve = (self.free.index(name) for name in ("static", "reserve"))
        now, places = self.values(z), [z]
        for times in OWN_PARTS:
            share = times * now["static"]
            reserve_share = now["reserve"] + self.bits * (share - now["static"])
            if reserve_share > 0 and share + LEAST_BORROWED < now["cache"]:
                place = z.copy()
                place[own] = self.z_of("static", share)
                place[reserve] = self.z_of("reserve", reserve_share)
                places.append(place)
        return places

    def z_of(self, name: str, value: float) -> float:
        """The `z` of a value, clipped to the range that is searched."""
        z = math.log(value / self.usual[name]) / hypothesis.values()[name].spread
        return float(np.clip(z, -FARTHEST, FARTHEST))

    def at(self, name: str, z: float) -> float:
        """One value of a place."""
        return float(self.usual[name] * math.exp(hypothesis.values()[name].spread * z))


def space_of(
    structure: Structure,
    cell: str,
    usual: Mapping[str, float],
    *,
    rests: bool,
    reads: bool = True,
    syncs: bool = False,
) -> Space:
    """The values of a structure that a search varies. A run without a rest leaves `idle` at what is
    usual, one without a read the times of reads, and one without writes that wait for the flash
    the time of a flush."""
    not_always = (*CACHES, "dies")
    free = [name for name in names() if name not in not_always or name in structure.uses]
    if not rests:
        free = [name for name in free if name != "idle"]
    if not reads:
        free = [name for name in free if name not in READS]
    if not syncs:
        free = [name for name in free if name != FLUSH]
    if structure.name == NONE:
        free = [name for name in free if name not in SLC_ONLY]
    return Space(structure=structure, cell=cell, usual=usual, free=tuple(free))


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """The flash of a candidate."""

    dies: int
    channels: int
    wordlines: int
    blocks: int
    superblock: int
    write_buffer: int


def dies_of(value: float) -> int:
    """A power of two."""
    return int(2 ** np.clip(round(math.log2(max(value, 1.0))), 0, math.log2(MOST_DIES)))


def geometry(space: Space, values: Mapping[str, float], capacity: int, small: bool) -> Geometry:
    """Dies and blocks for the capacity, what the cache has of its own, and the spare flash."""
    dies, bits = dies_of(values["dies"]), space.bits
    raw = capacity * (1 + values["spare"] + SYSTEM_SHARE + bits * _own(space, values))
    row = dies * PLANES * PAGE
    full = _wordlines(raw, row * bits)
    wordlines = table()["small"]["wordlines"][space.cell] if small else full
    superblock = row * wordlines * bits
    return Geometry(
        dies=dies,
        channels=min(dies, MOST_CHANNELS),
        wordlines=wordlines,
        blocks=max(math.ceil(raw / superblock), 8),
        superblock=superblock,
        write_buffer=min(2 * row * bits, row * wordlines * 3 // 4) // UNIT * UNIT,
    )


def _wordlines(raw: float, wordline: int) -> int:
    wanted = raw / SUPERBLOCKS / wordline
    return min(WORDLINES, key=lambda count: abs(math.log(count / wanted)))


def _own(space: Space, values: Mapping[str, float]) -> float:
    """Blocks of the cache's own, as a share of the capacity in SLC mode."""
    if space.structure.name == STATIC:
        return values["cache"]
    return values["static"] if space.structure.name == HYBRID else 0.0


def small_spec(space: Space, values: Mapping[str, float], capacity: int, small: int) -> _core.Spec:
    """The spec of the drive's small copy; raises `BadSpecError` for values that make no drive."""
    drive, copy = geometry(space, values, capacity, False), geometry(space, values, small, True)
    # Superblocks at work are a larger share of the copy. More flash makes up for that.
    scale = small / capacity
    more = AT_WORK * (copy.superblock - drive.superblock * scale)
    if space.structure.map == "demand":
        more += _map_pool(copy, small, _entry_bytes(scale)) * copy.superblock
        more -= _map_pool(drive, capacity, _entry_bytes(1.0)) * drive.superblock * scale
    blocks = max(copy.blocks + round(more / copy.superblock), 8)
    rows = rows_of(space, values, small, _with_blocks(copy, blocks), scale=scale)
    return load(text_of(rows, head='id = "candidate"\nname = "a candidate of a fit"'))


def _entry_bytes(scale: float) -> int:
    """Bytes of a map entry of a copy of this scale."""
    rows = table()["map"]
    return int(
        np.clip(
            round(rows["entry_bytes"] / scale), *(rows["entry_bytes"], rows["most_entry_bytes"])
        )
    )


def _map_pool(flash: Geometry, capacity: int, entry_bytes: int) -> int:
    """Superblocks that hold a map on flash: twice its pages, and three that are written, collected
    and erased (`pool_superblocks` of the firmware)."""
    pages = capacity / UNIT / (UNIT // entry_bytes)
    row_units = PLANES * PAGE // UNIT
    units = flash.dies * flash.wordlines * row_units
    return math.ceil(pages / min(units // 2, units - 2 * row_units)) + 3


def _with_blocks(geometry: Geometry, blocks: int) -> Geometry:
    return Geometry(**{**vars(geometry), "blocks": blocks})


Rows = dict[str, dict[str, tuple[Any, str]]]


def rows_of(
    space: Space, values: Mapping[str, float], capacity: int, flash: Geometry, *, scale: float = 1.0
) -> Rows:
    """Every value of the spec by section and key, with a source where it is fixed."""
    fixed = table()["fixed"]
    rows: Rows = {
        section: {key: (row["value"], row["source"]) for key, row in values_.items()}
        for section, values_ in fixed.items()
    }

    def put(section: str, **pairs: Any) -> None:
        into = rows.setdefault(section, {})
        for key, value in pairs.items():
            into[key] = (value, "")

    row, bits = flash.dies * PLANES * PAGE, space.bits
    shorter = flash.wordlines / table()["erase"]["wordlines"]
    put("drive", capacity=f"{capacity // 512 * 512} B")
    put(
        "nand",
        channels=flash.channels,
        dies_per_channel=flash.dies // flash.channels,
        blocks_per_plane=flash.blocks,
        wordlines_per_block=flash.wordlines,
        cell=space.cell,
    )
    put(
        "nand.slc",
        tr=_ns(values["slc_read"]),
        tprog=_ns(_program_s(row, values["first_rate"], 1)),
        tbers=_ns(max(table()["erase"]["slc_us"] * shorter, 1.0) / 1e6),
    )
    put(
        "nand.native",
        tr=_ns(values["native_read"]),
        tprog=_ns(_program_s(row, values["native_rate"], bits)),
        tbers=_ns(max(table()["erase"]["native_us"] * shorter, 1.0) / 1e6),
    )
    put("ftl", system=_bytes(capacity * SYSTEM_SHARE))
    put("controller", command_time=_ns(values["command"]), write_buffer=_bytes(flash.write_buffer))
    put("controller", flush_time=_ns(values[FLUSH]), plp=space.protected)
    if space.victims is not None:
        put("gc", policy=space.victims)
    put("gc", separation="gc" if space.structure.separates else "none")
    if space.structure.by_core:
        drive = flash if scale == 1.0 else geometry(space, values, round(capacity / scale), False)
        program_s, move_s = _core_times(values, flash.wordlines, drive.wordlines)
        put("controller", program_time=_ns(program_s), move_time=_ns(move_s))
    put("map", residency=space.structure.map)
    if space.structure.map == "demand":
        entry = _entry_bytes(scale)
        reached = values["reach"] * capacity / (UNIT * (UNIT // entry))
        put(
            "map",
            entry=entry,
            cache=_bytes(UNIT * max(round(reached), table()["map"]["least_pages"])),
        )
    put("link", rate=f"{values['link']:.0f} B/s")
    if values["link"] > SATA_MOST:
        generation = next((g for g in (3, 4) if values["link"] < 0.9e9 * 2**g / 2), 5)
        put("link", kind="nvme", pcie_generation=generation, queues=8, queue_depth=1024)
    _put_cache(rows, space, values, capacity, scale, row)
    return rows


def flushed(space: Space, values: Mapping[str, float], pages: int) -> dict[str, Any]:
    """Settings of a drive whose flush programs this number of pages of the map's journal, in SLC
    mode, and takes all in all as long as with those that every candidate has."""
    if space.protected:
        return {}
    row = dies_of(values["dies"]) * PLANES * PAGE
    more = pages - table()["fixed"]["controller"]["flush_pages"]["value"]
    flush_s = values[FLUSH] - more * _program_s(row, values["first_rate"], 1)
    return {"controller.flush_pages": pages, "controller.flush_time": _ns(max(flush_s, 0.0))}


def cache_share(space: Space, values: Mapping[str, float]) -> float:
    """The cache that a drive of these values has, as a share of its capacity."""
    if space.structure.name == WHOLE_DRIVE:
        return 1 / space.bits
    if space.structure.name == STATIC:
        return values["cache"]
    # A borrowed cell holds one bit instead of `bits`: what is there bounds the cache.
    share = min(values["cache"], 0.95 * (1 + values["spare"]) / space.bits)
    if space.structure.name == HYBRID:
        share = max(share, values["static"] + LEAST_BORROWED)
    return share


def tier_share(space: Space, values: Mapping[str, float]) -> float:
    """The second tier of a drive with these values, as a share of its capacity. Its cells hold two
    bits instead of `bits`; both tiers borrow native blocks."""
    if space.structure.name != TIERS:
        return 0.0
    left = 0.95 * (1 + values["spare"]) / space.bits - cache_share(space, values)
    return max(min(values["tier"], 2 * left), LEAST_BORROWED)


def _tier_program_s(space: Space, values: Mapping[str, float], row: int) -> float:
    if space.structure.name != TIERS:
        return 0.0
    return _program_s(row, values["first_rate"] * values["tier_speed"], TIER_BITS)


def reserve_share(values: Mapping[str, float]) -> float:
    """The reserve of a drive with these values: no more than its spare flash allows."""
    return min(values["reserve"], 0.8 * values["spare"] + 0.05)


def _put_cache(
    rows: Rows, space: Space, values: Mapping[str, float], capacity: int, scale: float, row: int
) -> None:
    """The settings of the cache; `row`: bytes that all dies program at once in SLC mode."""
    own = values["static"] if space.structure.name == HYBRID else 0.0
    cache = cache_share(space, values)
    kind = space.structure.kind
    sizes = hypothesis.Cache(
        borrowed=_whole((max(cache - own, LEAST_BORROWED) if own else cache) * capacity),
        own=_whole((cache if kind.name == STATIC else own) * capacity),
        reserve=_whole(reserve_share(values) * capacity),
        rearm=_whole(min(values["rearm"], 1.0) * cache * capacity),
        idle_s=values["idle"] * scale,
        tier=_whole(tier_share(space, values) * capacity),
        tier_program_s=_tier_program_s(space, values, row),
    )
    for name, value in hypothesis.settings(kind, space.cell, sizes).items():
        section, _, key = name.rpartition(".")
        rows.setdefault(section, {})[key] = (value, "")
    if kind.name != NONE:
        share = table()["reclaim"]["share"] if space.structure.reclaims else 0
        rows["slc_cache"]["reclaim"] = (share, "")


def _core_times(values: Mapping[str, float], wordlines: int, of_drive: int) -> tuple[float, float]:
    """Seconds of the core for a page row programmed and for a unit moved. Blocks of the copy have
    `wordlines`, those of the drive itself `of_drive`.

    An erase takes the core as long as a row does. A cache block is erased each time that it was
    folded, and the copy's shorter blocks are erased more often: its moves take that much less.
    """
    program_s = PLANES * PAGE / values["core_rate"]
    more_s = program_s * (1 / wordlines - 1 / of_drive) / (PLANES * PAGE / UNIT)
    return program_s, max(values["move"] - more_s, 0.0)


def more_erases(space: Space, wordlines: int) -> float:
    """Erases for each programmed row that the small copy has beyond those of the drive, whose
    blocks have `wordlines`."""
    return max(1 / float(table()["small"]["wordlines"][space.cell]) - 1 / wordlines, 0.0)


def die_rate(cell: str) -> float:
    """Bytes a second that a usual die takes by itself; `cell` may be "slc"."""
    bits, row = BITS.get(cell, 1), PLANES * PAGE
    program_s = float(table()["program_us"][cell]) * 1e-6
    return bits * row / (program_s + bits * row / BUS_BYTES_PER_S)


def _program_s(row: int, rate: float, bits: int) -> float:
    """Seconds of a program where all dies take `rate` together; transfers are not part of it."""
    transfer_s = bits * PLANES * PAGE / BUS_BYTES_PER_S
    return row * bits / rate - transfer_s


def _ns(seconds: float) -> str:
    return f"{max(round(seconds * 1e9), 1)} ns"


def _whole(count: float) -> float:
    return float(max(int(count) // UNIT * UNIT, 0))


def _bytes(count: float) -> str:
    return f"{_whole(count):.0f} B"


SECTIONS = (
    *("drive", "nand", "nand.slc", "nand.native", "nand.tier", "nand.suspend", "ftl", "map"),
    *("slc_cache", "fold", "gc", "controller", "link"),
)


def text_of(rows: Rows, *, head: str) -> str:
    """The spec as TOML without origins, for a candidate."""
    lines = ["schema = 1", head, 'origin = "computed"', 'source = "drawn by flashtwin fit"']
    for section in SECTIONS:
        if section not in rows:
            continue
        lines.append(f"[{section}]")
        for key, (value, _) in rows[section].items():
            shown = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
            shown = shown or (f'"{value}"' if isinstance(value, str) else f"{value}")
            lines.append(f"{key} = {shown}")
    return "\n".join(lines) + "\n"
