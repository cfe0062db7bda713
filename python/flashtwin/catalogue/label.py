"""A spec from what a label says: capacity, interface, cell type, dies, DRAM.

Everything else is what drives of the kind usually have: `priors.toml` has the values with a source
each, or says that they are assumed, and they are marked `prior`; the cache and the rate past it are
the middle of what reviewed drives let one expect (`prediction`). The point is a drive that can be
simulated at once and made truer value by value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from flashtwin.catalogue import PRIORS
from flashtwin.catalogue.prediction import CACHE, RATE, Kind, makers, models, predictions
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import read_toml
from flashtwin.model.units import parse_seconds, parse_size, show_size

Interface = Literal["sata", "pcie3", "pcie4", "pcie5"]
CellType = Literal["slc", "mlc", "tlc", "qlc"]
INTERFACES: tuple[Interface, ...] = ("sata", "pcie3", "pcie4", "pcie5")
CELLS: tuple[CellType, ...] = ("slc", "mlc", "tlc", "qlc")

# In the order in which a spec has them.
SECTIONS = (
    *("drive", "nand", "nand.slc", "nand.native", "nand.suspend", "nand.variation", "ftl"),
    *("slc_cache", "fold", "gc", "errors", "errors.native", "controller", "map", "link"),
)
# By this comment editors find the schema of the format (its `$id`), check keys and complete them.
SCHEMA = "https://json.schemastore.org/flashtwin-drive.json"
THE_LABEL = ("datasheet", "the label")

MIB, GIB = 1 << 20, 1 << 30
UNIT = 4 << 10
# The longest name that the spec format allows, in characters.
MOST_NAME = 200
# Most dies that are assumed where the label states none; larger drives get larger dies.
DIES = 128
# The fewest blocks that a plane may have.
BLOCKS = 480
# A program whose usual time would miss the rate past the cache by no more than this keeps it.
AS_USUAL = 0.05
# Transfers a second on the bus of the flash, of a byte each.
TRANSFERS = {"MT/s": 1e6, "GT/s": 1e9}
# Superblocks beside the data that a full drive needs: open ones, one being erased, the reserve.
AT_WORK = 8


@dataclass(frozen=True, kw_only=True)
class Label:
    """The words and numbers on a drive's label or box. `controller` names the maker of the
    controller and `model` the controller; both may be unknown, as may `dies` and `cache_bytes`.

    `dram` is "yes", "none", or "hmb": no DRAM, but a piece of the host's memory. A cache of 0 bytes
    is none.
    """

    id: str
    name: str
    capacity_bytes: int
    interface: Interface
    cell: CellType
    dram: Literal["yes", "none", "hmb"]
    dies: int | None = None
    cache_bytes: int | None = None
    controller: str | None = None
    model: str | None = None

    @property
    def kind(self) -> Kind:
        """The class of the drive, by which others are like it."""
        return Kind(
            capacity=self.capacity_bytes,
            cell=self.cell,
            interface=self.interface,
            has_dram=self.dram == "yes",
            controller=self.controller or models().get(self.model or ""),
            model=self.model,
        )


@dataclass(frozen=True, kw_only=True)
class _Flash:
    """The flash of a drive; a program is what one die takes at once."""

    bits: int
    channels: int
    dies_per_channel: int
    wordlines: int
    blocks: int
    superblock: int
    program: int

    @property
    def raw(self) -> int:
        return self.blocks * self.superblock

    @property
    def dies(self) -> int:
        return self.channels * self.dies_per_channel


class _Values:
    """The values of a spec by section and key, each with its origin and source."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, tuple[Any, str, str]]] = {name: {} for name in SECTIONS}

    def usual(self, sections: dict[str, Any]) -> None:
        """Take the values of one section of the priors."""
        for section, values in sections.items():
            for key, row in values.items():
                origin = row.get("origin", "prior")
                self._rows[section][key] = (row["value"], origin, row["source"])

    def set(self, section: str, key: str, value: Any, origin: str, source: str) -> None:
        """Set a value that the label states or that is computed from it."""
        self._rows[section][key] = (value, origin, source)

    def __getitem__(self, key: tuple[str, str]) -> Any:
        return self._rows[key[0]][key[1]][0]

    def text(self, label: Label) -> str:
        """The text of the spec file."""
        import tomlkit

        document: Any = tomlkit.document()
        for line in _head(label):
            document.add(tomlkit.comment(line))
        document.add(tomlkit.nl())
        document["schema"] = 1
        document["id"] = label.id
        document["name"] = label.name
        for section, rows in self._rows.items():
            if not rows:
                continue
            table = tomlkit.table()
            for key, (value, origin, source) in rows.items():
                entry = tomlkit.inline_table()
                entry.update({"value": value, "origin": origin, "source": source})
                table.add(key, entry)
            parent, _, name = section.rpartition(".")
            (document[parent] if parent else document).add(name, table)
        return f"#:schema {SCHEMA}\n{tomlkit.dumps(document)}"


def spec_text(
    label: Label,
    *,
    without: Collection[str] = (),
    changes: Mapping[str, tuple[Any, str, str]] | None = None,
) -> str:
    """The spec as TOML, origins and sources with it. Whether it is a drive, `load` tells.

    `without`: ids of drives whose reviews are not used; `changes`: values by key that are known
    better, with origin and source.
    """
    _check(label)
    expected = {item.title: item.middle for item in predictions(label.kind, without=without)}
    priors = read_toml(PRIORS)
    values = _Values()
    values.usual(priors["any"])
    values.usual(priors["cell"][label.cell])
    if label.interface != "sata":
        values.usual(priors["interface"]["nvme"])
        generation = int(label.interface.removeprefix("pcie"))
        values.set("link", "pcie_generation", generation, *THE_LABEL)
    values.usual(priors["interface"][label.interface])
    values.usual(priors["dram"][label.dram])
    capacity = label.capacity_bytes // 512 * 512
    values.set("drive", "capacity", _size(capacity), *THE_LABEL)
    flash = _flash(label, values, parse_size(priors["dies"][label.cell]))
    _set_flash(values, label, flash, expected.get(RATE))
    _set_firmware(values, label, flash, priors["shares"], expected)
    values.set(
        "controller",
        "write_buffer",
        _size(_buffer(flash)),
        "prior",
        "assumed: two programs for each die, and less than a superblock of the cache",
    )
    for key, row in (changes or {}).items():
        section, _, name = key.rpartition(".")
        values.set(section, name, *row)
    return values.text(label)


def _check(label: Label) -> None:
    if not label.name.isprintable() or len(label.name) > MOST_NAME:
        raise FlashtwinError(
            f"{label.name[:40]!r} cannot be the name of a drive",
            hint=f"a name is at most {MOST_NAME} characters that print",
            exit_code=USAGE,
        )
    if not 10**9 <= label.capacity_bytes <= 10**15:
        raise FlashtwinError(
            f"{label.capacity_bytes} bytes are no drive's capacity",
            hint='write it as the label does, for example --capacity "1 TB"',
            exit_code=USAGE,
        )
    if label.dram == "hmb" and label.interface == "sata":
        raise FlashtwinError(
            "a SATA drive has no host memory buffer",
            hint="write --dram none, or name an NVMe interface with --interface",
            exit_code=USAGE,
        )
    if label.dies is not None and not 1 <= label.dies <= 1024:
        raise FlashtwinError(
            f"a drive cannot have {label.dies} dies",
            hint="give 1 to 1024; a package of flash holds several dies",
            exit_code=USAGE,
        )
    _check_controller(label)


def _check_controller(label: Label) -> None:
    """Refuse a controller that no reviewed drive has: it would not change the prediction."""
    if label.controller is not None and label.controller not in makers():
        raise FlashtwinError(
            f"no drive with a controller of {label.controller!r} was reviewed",
            hint=f"one of {', '.join(makers())}, or leave it out",
            exit_code=USAGE,
        )
    if label.model is None:
        return
    if label.model not in models():
        raise FlashtwinError(
            f"no drive with the controller {label.model!r} was reviewed",
            hint=f"one of {', '.join(models())}, or leave it out",
            exit_code=USAGE,
        )
    if label.controller not in (None, models()[label.model]):
        raise FlashtwinError(
            f"{label.model} is a controller of {models()[label.model]}, not of {label.controller}",
            hint="leave one of them out",
            exit_code=USAGE,
        )


def _head(label: Label) -> tuple[str, ...]:
    return (
        f"{label.name}: made by `flashtwin new` from what its label says. Values from the",
        "label have the origin `datasheet`; all others are what drives of the kind usually have",
        "(`prior`); a source that begins with `assumed` has nothing published behind it. Replace",
        "them by what is known, and say where it comes from.",
    )


def _flash(label: Label, values: _Values, usual_die: int) -> _Flash:
    """Dies of the usual size, or as many as the label says of the size that they must have."""
    bits, planes = CELLS.index(label.cell) + 1, values["nand", "planes"]
    page = parse_size(values["nand", "page_size"])
    die, dies = _dies(label, usual_die)
    most = 4 if label.interface == "sata" or label.dram != "yes" else 8
    channels = max(count for count in (1, 2, 4, 8) if count <= most and dies % count == 0)
    # Small dies have small blocks: a drive of a few dozen superblocks would be another drive.
    wordlines = values["nand", "wordlines_per_block"]
    while wordlines > 44 and die // (planes * wordlines * bits * page) < BLOCKS:
        wordlines //= 2
    block = wordlines * bits * page
    return _Flash(
        bits=bits,
        channels=channels,
        dies_per_channel=dies // channels,
        wordlines=wordlines,
        blocks=die // (planes * block),
        superblock=block * planes * dies,
        program=planes * bits * page,
    )


def _dies(label: Label, usual_die: int) -> tuple[int, int]:
    """Bytes of a die, and how many of them."""
    needed = label.capacity_bytes * 1.02
    if label.dies is not None:
        return 2 ** math.ceil(math.log2(needed / label.dies)), label.dies
    die = usual_die
    dies = 2 ** math.ceil(math.log2(max(1.0, needed / die)))
    while dies < 4 and die > GIB:
        die, dies = die // 2, dies * 2
    while dies > DIES:
        die, dies = die * 2, dies // 2
    return die, dies


def _set_flash(values: _Values, label: Label, flash: _Flash, rate: float | None) -> None:
    """Dies and blocks, and as many programs in hand as a `rate` past the cache needs, if one is
    expected."""
    known = label.dies is not None
    dies = (
        ("datasheet", "the label")
        if known
        else ("prior", "as many dies of a usual size as the capacity needs")
    )
    values.set("nand", "cell", label.cell, *THE_LABEL)
    values.set("nand", "channels", flash.channels, *dies)
    values.set("nand", "dies_per_channel", flash.dies_per_channel, *dies)
    fits = ("prior", "what the dies hold, in blocks small enough for a drive of their size")
    values.set("nand", "wordlines_per_block", flash.wordlines, *fits)
    values.set("nand", "blocks_per_plane", flash.blocks, *fits)
    if rate is not None:
        _set_programs(values, flash, rate)


def _set_programs(values: _Values, flash: _Flash, rate: float) -> None:
    """Limit the native programs in hand to those that write at the rate."""
    usual = values["nand.native", "tprog"]
    usual = usual if isinstance(usual, list) else [usual]
    programs = programs_at(
        rate,
        dies=flash.dies,
        program_bytes=flash.program,
        usual=usual,
        bus_rate=values["nand", "bus_rate"],
    )
    expected = (
        f"{rate / 1e6:.0f} MB/s, the middle of what reviewed drives let one expect past the cache"
    )
    if programs.in_hand:
        source = f"computed: {expected}, in programs that take nand.native.tprog each"
        values.set("controller", "native_programs", programs.in_hand, "prior", source)
    if programs.times != usual:
        at_work = f"{programs.in_hand} in hand at a time" if programs.in_hand else "on all dies"
        source = f"computed: programs {at_work} take {expected}; usual: {' and '.join(usual)}"
        values.set("nand.native", "tprog", programs.written, "prior", source)


class Programs(NamedTuple):
    """How many native programs dies have in hand at once, 0 for no limit, and how long they take,
    with a time for each page where pages are programmed one by one."""

    in_hand: int
    times: list[str]

    @property
    def written(self) -> str | list[str]:
        """The times as a spec has them."""
        return self.times if self.times[1:] else self.times[0]


def programs_at(
    rate: float, *, dies: int, program_bytes: int, usual: list[str], bus_rate: str
) -> Programs:
    """Native programs that write at a rate in bytes a second.

    A program is in hand while its data is sent and while the die programs. Few of them make few
    rates, so that the time of a program is changed where its usual one misses the rate. With a
    program on each die the next one's data is sent meanwhile, and there is no limit. Of several
    usual times each is a program of its own; `program_bytes` are what they write together.
    """
    number, _, unit = bus_rate.partition(" ")
    transfer_s = program_bytes / (float(number) * TRANSFERS[unit])
    times = [parse_seconds(time) for time in usual]
    in_hand = max(round(rate * (sum(times) + transfer_s) / program_bytes), 1)
    if in_hand < dies:
        needed_s = in_hand * program_bytes / rate - transfer_s
    else:
        in_hand, needed_s = 0, dies * program_bytes / rate
    longer = needed_s / sum(times)
    if abs(longer - 1) <= AS_USUAL:
        return Programs(in_hand, usual)
    return Programs(in_hand, [f"{max(round(time * longer * 1e6), 1)} us" for time in times])


def _set_firmware(
    values: _Values,
    label: Label,
    flash: _Flash,
    shares: dict[str, float],
    expected: Mapping[str, float],
) -> None:
    spare = flash.raw - label.capacity_bytes
    # What the firmware keeps, as long as the capacity still fits.
    room = (spare - AT_WORK * flash.superblock) // 2
    system = max(0, min(int(flash.raw * shares["system"]), room)) // MIB * MIB
    system_source = (
        f"assumed: {shares['system']:.0%} of the flash for map, firmware and spare blocks"
    )
    values.set("ftl", "system", _size(system), "prior", system_source)
    cache, origin = _cache(label, flash, expected.get(CACHE), shares["slc_cache"])
    borrowed = ("prior", "assumed: the cells of the cache are borrowed from free native blocks")
    values.set("slc_cache", "mode", *(("dynamic", *borrowed) if cache else ("none", *origin)))
    values.set("slc_cache", "size", _size(cache), *origin)
    rearm_source = "assumed: a tenth of the cache takes writes again during a fill"
    values.set("slc_cache", "rearm", _size(cache // 10), "prior", rearm_source)
    idle = ("prior", "assumed; reviewed drives begin within a second of rest or only after an hour")
    values.set("fold", "idle_after", "5 s" if cache else "never", *idle)
    # What folding may use up before it begins; the rest is held for the end of a fill.
    reserve = max(min(int(flash.raw * shares["reserve"]), (spare - system) // 2), 0)
    reserve_source = (
        f"assumed: {shares['reserve']:.0%} of the flash is free when folding begins under pressure"
    )
    reserve = reserve // MIB * MIB if cache else 0
    values.set("fold", "reserve", _size(reserve), "prior", reserve_source)
    pace = round(1 / (flash.bits - 1), 3) if cache else 0
    values.set("fold", "pace", pace, "prior", "computed: folding frees what the host writes")


def _cache(
    label: Label, flash: _Flash, expected: float | None, share: float
) -> tuple[int, tuple[str, str]]:
    """The size of the SLC cache in bytes, with its origin and source."""
    if flash.bits == 1:
        return 0, ("prior", "SLC flash needs no cache")
    if label.cache_bytes is not None:
        return label.cache_bytes, THE_LABEL
    source = "the middle of what reviewed drives of its kind let one expect"
    if expected is None:
        expected = label.capacity_bytes * share
        source = f"assumed: {share:.0%} of the capacity; too few drives of its cells were reviewed"
    cache = min(int(expected) // MIB * MIB, flash.raw // flash.bits // 2)
    return cache, ("prior", source)


def _buffer(flash: _Flash) -> int:
    """Two programs a die, and less than a superblock in SLC mode."""
    most = flash.superblock // flash.bits // 4
    return max(min(2 * flash.program * flash.dies, most), flash.program) // UNIT * UNIT


def _size(count: int) -> str:
    """The shortest exact spelling with a blank before the unit, as specs have it."""
    return re.sub(r"(?=[A-Z])", " ", show_size(count), count=1)
