"""The small drive on which a candidate is simulated, as the text of a spec.

All of it but a structure's settings: its flash, as large as the capacity and what it holds besides,
its programs, its buffer. Invariant: bytes of a superblock follow from this geometry alone, so that
whoever counts a cache in superblocks counts as the core does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashtwin.hypothesis.structures import BITS
from flashtwin.inputs import read_toml

TEXT = Path(__file__).with_name("small_drive.toml")
DIES, PLANES, PAGE_BYTES = 2, 4, 16 << 10
BUS_BYTES_PER_S = 1.6e9
# A page of each plane of a die on the bus, in microseconds.
TRANSFER_US = PLANES * PAGE_BYTES / BUS_BYTES_PER_S * 1e6


def superblock_bytes(wordlines: int, bits: int = 1) -> int:
    """What a superblock holds; of one bit a cell it is one in SLC mode."""
    return DIES * PLANES * wordlines * PAGE_BYTES * bits


@dataclass(frozen=True, kw_only=True)
class SmallDrive:
    """A small drive without its cache. `raw_bytes` is all of its flash, natively; times are in
    microseconds, `system_mb` what the firmware keeps for itself."""

    cell: str
    capacity_bytes: float
    raw_bytes: float
    wordlines: int
    slc_tprog_us: float
    native_tprog_us: float
    write_buffer_kib: int
    system_mb: int
    rearm_bytes: float
    idle: str = "30 s"
    id: str = "candidate"
    name: str = "a candidate"
    source: str = "drawn by flashtwin"

    def text(self, template: str | None = None) -> str:
        """The spec; `template` is another text with these holes, or some of them."""
        superblock = superblock_bytes(self.wordlines, BITS[self.cell])
        return (template or _text()).format(
            id=self.id,
            name=self.name,
            source=self.source,
            capacity=int(self.capacity_bytes),
            blocks=math.ceil(self.raw_bytes / superblock),
            wordlines=self.wordlines,
            cell=self.cell,
            slc_tprog=f"{self.slc_tprog_us:.0f}",
            native_tprog=f"{self.native_tprog_us:.0f}",
            system=self.system_mb,
            rearm=f"{self.rearm_bytes:.0f}",
            idle=self.idle,
            write_buffer=self.write_buffer_kib,
        )


@cache
def _text() -> str:
    text = read_toml(TEXT)["toml"]
    assert isinstance(text, str), "the small drive is a text with holes"
    return text
