"""Whether a drive could take the bytes that its label rates it for, were they random writes.

The steady write amplification of random writes all over a full drive is that of first-in first-out
collection, A = 1/(1 - exp(-(1 + p)/A)) at an over-provisioning p (Desnoyers 2012); greedy
collection is up to 12 % below it. A label's TBW is of a client's mixture (JESD219), which amplifies
less: what is said here is how far the label lies from the worst load that a host can give.
Invariant: nothing is simulated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashtwin.catalogue.models import rated_bytes
from flashtwin.model.cells import BITS
from flashtwin.model.units import parse_size, readable_size

if TYPE_CHECKING:
    from flashtwin._core import Spec


def tbw_warning(spec: Spec) -> str | None:
    """A sentence where the label's TBW, amplified as random writes are, is more than the flash is
    rated for."""
    values = {row["key"]: str(row["value"]) for row in spec.values()}
    rated = rated_bytes(spec)
    if not rated or "nand.native.endurance" not in values:
        return None
    cycles = int(values["nand.native.endurance"])
    flash, usable = _flash_bytes(values)
    amplified = steady_amplification(usable / spec.capacity_bytes - 1)
    needed_cycles = rated * amplified / flash
    if needed_cycles <= cycles:
        return None
    takes = readable_size(int(flash * cycles / amplified))
    return (
        f"drive.rated_tbw is {readable_size(rated)}: as random writes all over a full drive, which "
        f"are programmed about {amplified:.1f} times, they would be {needed_cycles:,.0f} cycles of "
        f"the {cycles:,} that nand.native.endurance rates; the flash takes {takes} of such writes"
    )


def steady_amplification(spare: float) -> float:
    """The write amplification at an over-provisioning; without any, the largest that is told."""
    low, high = 1.0 + 1e-9, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        spare_there = -middle * math.log1p(-1 / middle) - 1
        low, high = (middle, high) if spare_there > spare else (low, middle)
    return low


def _flash_bytes(values: dict[str, str]) -> tuple[int, int]:
    """The flash in native mode, and what of it may hold data of the host: neither the system's, nor
    the cache's own, nor what collection keeps free."""
    bits = BITS[values["nand.cell"]]
    counts = ("channels", "dies_per_channel", "planes", "wordlines_per_block")
    wordlines = math.prod(int(values[f"nand.{key}"]) for key in counts)
    superblock = wordlines * bits * parse_size(values["nand.page_size"])
    # A spec writes 0 without a unit.
    system, own = (
        0 if values[key] == "0" else parse_size(values[key])
        for key in ("ftl.system", "slc_cache.static_size")
    )
    flash = superblock * int(values["nand.blocks_per_plane"])
    return flash, flash - system - own * bits - int(values["gc.low"]) * superblock
