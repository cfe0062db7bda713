"""A spec from what a label says: capacity, interface, cell type, dies, DRAM.

Everything else is what drives of the kind usually have, and is marked `prior`. The point is a drive
that can be simulated at once and made truer value by value; which values matter most for a drive
that was measured, a fit finds.

Sources of the priors: data sheets and ISSCC papers of flash of each kind (page 16 KiB; SLC program
200 us; TLC one-shot 1.1 to 1.8 ms; QLC 12.5 to 19 MB/s a die in retail drives; planar MLC 0.85 and
2.3 ms by page type), measured retail drives for caches and endurance.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Literal

from flashtwin.errors import USAGE, FlashtwinError

Interface = Literal["sata", "pcie3", "pcie4", "pcie5"]
CellType = Literal["slc", "mlc", "tlc", "qlc"]
INTERFACES: tuple[Interface, ...] = ("sata", "pcie3", "pcie4", "pcie5")
CELLS: tuple[CellType, ...] = ("slc", "mlc", "tlc", "qlc")

GIB = 1 << 30
PAGE = 16 << 10
UNIT = 4 << 10
# Share of the flash that is no user's: map, firmware, spare blocks.
SYSTEM_SHARE = 0.01
# Share of the flash that stays free when folding begins under pressure.
RESERVE_SHARE = 0.04
# Characters of a name, as the format has it.
MOST_NAME = 200
# Most dies that are made up; larger drives have larger ones.
DIES = 128
# Fewest blocks of a plane.
BLOCKS = 480
# Superblocks beside the data that a full drive needs: open ones, one being erased, the reserve.
AT_WORK = 8


@dataclass(frozen=True, kw_only=True)
class _Cell:
    """What flash of a kind usually is. Die bytes in native mode; times as a spec writes them."""

    bits: int
    die_bytes: int
    planes: int
    wordlines: int
    read: str
    program: str
    erase: str
    endurance: int


_CELLS: dict[CellType, _Cell] = {
    "slc": _Cell(
        bits=1,
        die_bytes=4 * GIB,
        planes=2,
        wordlines=128,
        read='"25 us"',
        program='"200 us"',
        erase='"3 ms"',
        endurance=60_000,
    ),
    "mlc": _Cell(
        bits=2,
        die_bytes=16 * GIB,
        planes=2,
        wordlines=256,
        read='["48 us", "64 us"]',
        program='["850 us", "2.3 ms"]',
        erase='"3 ms"',
        endurance=3_000,
    ),
    "tlc": _Cell(
        bits=3,
        die_bytes=64 * GIB,
        planes=4,
        wordlines=704,
        read='["45 us", "60 us", "75 us"]',
        program='"1.5 ms"',
        erase='"10 ms"',
        endurance=1_500,
    ),
    "qlc": _Cell(
        bits=4,
        die_bytes=128 * GIB,
        planes=4,
        wordlines=704,
        read='["60 us", "80 us", "100 us", "120 us"]',
        # 256 KiB a program of a die at 16 MB/s.
        program='"16 ms"',
        erase='"15 ms"',
        endurance=800,
    ),
}

_BUS: dict[Interface, str] = {
    "sata": "400 MT/s",
    "pcie3": "800 MT/s",
    "pcie4": "1600 MT/s",
    "pcie5": "2400 MT/s",
}


@dataclass(frozen=True, kw_only=True)
class Label:
    """What is printed on a drive or its box. `dies` and `cache_bytes` may be unknown.

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


@dataclass(frozen=True, kw_only=True)
class _Flash:
    channels: int
    dies_per_channel: int
    wordlines: int
    blocks: int
    superblock: int

    @property
    def raw(self) -> int:
        return self.blocks * self.superblock


def spec_text(label: Label) -> str:
    """The spec as TOML, origins and sources with it. Whether it is a drive, `load` tells."""
    _check(label)
    cell = _CELLS[label.cell]
    flash = _flash(label, cell)
    parts = [
        _head(label),
        _drive(label),
        _nand(label, cell, flash),
        _firmware(label, cell, flash),
        _controller(label, cell, flash),
        _link(label),
    ]
    return "\n".join(parts)


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
            hint="--dram none, or an NVMe interface",
            exit_code=USAGE,
        )
    if label.dies is not None and not 1 <= label.dies <= 1024:
        raise FlashtwinError(
            f"{label.dies} dies cannot be wired up",
            hint="dies are counted in the flash itself, not in packages; 1 to 1024",
            exit_code=USAGE,
        )


def _flash(label: Label, cell: _Cell) -> _Flash:
    """Dies of the usual size, or as many as the label says of the size that they must have."""
    needed = label.capacity_bytes * 1.02
    if label.dies is None:
        die = cell.die_bytes
        dies = 2 ** math.ceil(math.log2(max(1.0, needed / die)))
        while dies < 4 and die > GIB:
            die, dies = die // 2, dies * 2
        while dies > DIES:
            die, dies = die * 2, dies // 2
    else:
        dies = label.dies
        die = 2 ** math.ceil(math.log2(needed / dies))
    most = 4 if label.interface == "sata" or label.dram != "yes" else 8
    channels = max(count for count in (1, 2, 4, 8) if count <= most and dies % count == 0)
    # Small dies have small blocks: a drive of a few dozen superblocks would be another drive.
    wordlines = cell.wordlines
    while wordlines > 44 and die // (cell.planes * wordlines * cell.bits * PAGE) < BLOCKS:
        wordlines //= 2
    block = wordlines * cell.bits * PAGE
    blocks = die // (cell.planes * block)
    return _Flash(
        wordlines=wordlines,
        channels=channels,
        dies_per_channel=dies // channels,
        blocks=blocks,
        superblock=block * cell.planes * dies,
    )


def _value(key: str, value: str, origin: str, source: str) -> str:
    return f'{key} = {{ value = {value}, origin = "{origin}", source = "{source}" }}'


def _size(count: int) -> str:
    return '"0 B"' if count == 0 else f'"{count // UNIT * 4} KiB"'


def _sold(count: int) -> str:
    """In powers of 1000, as labels have it, where that is exact."""
    for unit, factor in (("TB", 10**12), ("GB", 10**9)):
        if count % factor == 0:
            return f'"{count // factor} {unit}"'
    return f'"{count} B"'


def _head(label: Label) -> str:
    return f"""# {label.name}: made by `flashtwin new` from what its label says. Values from the
# label have the origin `datasheet`; all others are what drives of the kind usually have (`prior`).
# Replace them by what is known, and say where it comes from.

schema = 1
id = "{label.id}"
name = {_quoted(label.name)}
origin = "prior"
source = "usual for {label.cell.upper()} drives with {label.interface} links"
"""


def _quoted(text: str) -> str:
    """A TOML string, with whatever stands in it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _drive(label: Label) -> str:
    capacity = _sold(label.capacity_bytes // 512 * 512)
    return f"[drive]\n{_value('capacity', capacity, 'datasheet', 'the label')}\n"


def _nand(label: Label, cell: _Cell, flash: _Flash) -> str:
    said = label.dies is not None
    dies = ("datasheet", "dies of the label") if said else ("prior", "dies of the usual size")
    return f"""[nand]
{_value("channels", str(flash.channels), *dies)}
{_value("dies_per_channel", str(flash.dies_per_channel), *dies)}
planes = {cell.planes}
blocks_per_plane = {flash.blocks}
wordlines_per_block = {flash.wordlines}
page_size = "16 KiB"
{_value("cell", f'"{label.cell}"', "datasheet", "the label")}
bus_rate = "{_BUS[label.interface]}"
cache_program = true

[nand.slc]
tr = "25 us"
tprog = "200 us"
tbers = "3 ms"
endurance = 40000

[nand.native]
tr = {cell.read}
tprog = {cell.program}
tbers = {cell.erase}
endurance = {cell.endurance}
"""


def _firmware(label: Label, cell: _Cell, flash: _Flash) -> str:
    system = _system(label, flash)
    # What folding may use up before it begins; the rest is held for the end of a fill.
    reserve = min(int(flash.raw * RESERVE_SHARE), (flash.raw - system - label.capacity_bytes) // 2)
    reserve = max(reserve, 0)
    cache = _cache_bytes(label, cell, flash)
    known = label.cache_bytes is not None
    origin = ("datasheet", "the label") if known else ("prior", "a tenth of the capacity")
    mode = "dynamic" if cache else "none"
    idle = '"5 s"' if cache else '"never"'
    pace = f"{1 / (cell.bits - 1):.3f}" if cache else "0"
    return f"""[ftl]
mapping_unit = "4 KiB"
system = {_size(system)}

[slc_cache]
mode = "{mode}"
{_value("size", _size(cache) if cache else "0", *origin)}
static_size = 0
when_full = "direct"
rearm = {_size(cache // 10) if cache else "0"}

[fold]
idle_after = {idle}
reserve = {_size(reserve) if cache else "0"}
pace = {pace}
path = "controller"

[gc]
low = 4
high = 5
reserve = 3
"""


def _system(label: Label, flash: _Flash) -> int:
    """What the firmware keeps, as long as the capacity still fits."""
    spare = flash.raw - label.capacity_bytes - AT_WORK * flash.superblock
    return max(0, min(int(flash.raw * SYSTEM_SHARE), spare // 2))


def _cache_bytes(label: Label, cell: _Cell, flash: _Flash) -> int:
    if cell.bits == 1:
        return 0
    if label.cache_bytes is not None:
        return label.cache_bytes
    return min(label.capacity_bytes // 10, flash.raw // cell.bits // 2)


def _controller(label: Label, cell: _Cell, flash: _Flash) -> str:
    programs = cell.planes * cell.bits * PAGE
    dies = flash.channels * flash.dies_per_channel
    # Two programs a die, and less than a superblock in SLC mode.
    slc_superblock = flash.superblock // cell.bits
    buffer = min(2 * programs * dies, slc_superblock // 4)
    buffer = max(buffer, programs) // UNIT * UNIT
    command = "6 us" if label.interface == "sata" else "1500 ns"
    text = f"""[controller]
command_time = "{command}"
write_buffer = {_size(buffer)}
acknowledge = "write-back"
gather = true
gather_time = "100 ms"
overlap = true
read_priority = true
read_ahead_streams = 4
read_ahead = "1 MiB"
"""
    if label.dram == "yes":
        return text
    residency = "hmb" if label.dram == "hmb" else "demand"
    residency_line = _value("residency", f'"{residency}"', "datasheet", "the label")
    hmb = 'hmb = "64 MiB"\n' if residency == "hmb" else ""
    return f'{text}\n[map]\n{residency_line}\ncache = "1 MiB"\n{hmb}'


def _link(label: Label) -> str:
    if label.interface == "sata":
        source = "SATA 6 Gb/s after coding and framing"
        return f"""[link]
{_value("rate", '"550 MB/s"', "prior", source)}
{_value("queue_depth", "32", "datasheet", "NCQ of the SATA standard")}
"""
    generation = label.interface.removeprefix("pcie")
    return f"""[link]
{_value("kind", '"nvme"', "datasheet", "the label")}
{_value("pcie_generation", generation, "datasheet", "the label")}
pcie_lanes = 4
rate = 0
queues = 8
queue_depth = 1024
"""
