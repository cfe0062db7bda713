"""The drives on which the theory is tried, and how a job is played on them through the core.

Nothing is in them but what the law speaks of. For collection: one die of one bit a cell, pages of
one mapping unit, no cache, and times so short that they decide nothing. For caches: a small TLC
drive with fine superblocks, so that where a rate changes is found to a fraction of a percent. The
laws speak of bytes and of programs, so they read the core's own answers and not the results of a
battery.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.catalogue.loader import load

if TYPE_CHECKING:
    from flashtwin._core import Spec, Twin

UNIT = 4096

_COMMON = """
schema = 1
id = "theory"
name = "a drive for a law"
origin = "computed"
source = "built for a law of the theory"
"""

_PAGE_MAP = """
[drive]
capacity = "{capacity} B"

[nand]
channels = 1
dies_per_channel = 1
planes = 1
blocks_per_plane = {blocks}
wordlines_per_block = {pages}
page_size = "4 KiB"
cell = "slc"
bus_rate = "1600 MT/s"
cache_program = false

[nand.slc]
tr = "1 us"
tprog = "1 us"
tbers = "1 us"
endurance = 100000

[nand.native]
tr = "1 us"
tprog = "1 us"
tbers = "1 us"
endurance = 100000

[ftl]
mapping_unit = "4 KiB"
system = 0

[map]
residency = "dram"

[slc_cache]
mode = "none"
size = 0
static_size = 0
when_full = "direct"
rearm = 0

[fold]
idle_after = "never"
reserve = 0
pace = 0
path = "controller"

[gc]
low = 3
high = 3
reserve = 2

[controller]
command_time = 0
write_buffer = "64 KiB"
acknowledge = "write-back"
gather = true
gather_time = "100 ms"
overlap = true
read_priority = true
read_ahead_streams = 0
read_ahead = 0

[link]
rate = "600 MB/s"
queue_depth = 32
"""

_CACHED = """
[drive]
capacity = "20 GB"

[nand]
channels = 2
dies_per_channel = 1
planes = 4
blocks_per_plane = 1280
wordlines_per_block = 44
page_size = "16 KiB"
cell = "tlc"
bus_rate = "400 MT/s"
cache_program = false

[nand.slc]
tr = "35 us"
tprog = "400 us"
tbers = "300 us"
endurance = 40000

[nand.native]
tr = ["45 us", "60 us", "75 us"]
tprog = "4.3 ms"
tbers = "600 us"
endurance = 1500

[ftl]
mapping_unit = "4 KiB"
system = "100 MB"

[map]
residency = "dram"

[slc_cache]
mode = "dynamic"
size = "2 GB"
static_size = 0
when_full = "staged"
rearm = "200 MB"

[fold]
idle_after = "30 s"
reserve = "1 GB"
pace = 1.5
path = "controller"

[gc]
low = 4
high = 6
reserve = 3

[controller]
command_time = "6 us"
write_buffer = "1536 KiB"
acknowledge = "write-back"
gather = true
gather_time = "100 ms"
overlap = true
read_priority = true
read_ahead_streams = 4
read_ahead = "512 KiB"

[link]
rate = "545 MB/s"
queue_depth = 32
"""


def page_map(
    blocks: int, pages: int, user_units: int, policy: Mapping[str, str | float | int]
) -> Spec:
    """A page map of `blocks` superblocks of `pages` units, `user_units` of which a host sees."""
    text = _PAGE_MAP.format(capacity=user_units * UNIT, blocks=blocks, pages=pages)
    return _checked(text, [f"{key}={value}" for key, value in policy.items()])


def cached(*sets: str) -> Spec:
    """The small TLC drive: 20 GB, 2 GB of dynamic cache, staged, folding below 1 GB free."""
    return _checked(_CACHED, sets)


def _checked(text: str, sets: Sequence[str]) -> Spec:
    return load(_COMMON + text, sets=sets)


SAMPLE_NS = 20 * 10**6
SECOND_NS = 10**9

# Bytes and nanoseconds of the job so far; false stops it.
Watch = Callable[[int, int], bool]
Xray = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The value that a law predicts and the value measured on the drive, in the law's unit."""

    expected: float
    measured: float


def run(twin: Twin, watch: Watch, *, sample_ns: int = SAMPLE_NS, **job: Any) -> Any:
    """Run a job to its end and return the core's answer."""
    return twin.run(json.dumps([{"name": "theory", **job}]), sample_ns, watch)


def last(xray: Xray, name: str) -> float:
    """The value of a counter at the end of a result."""
    return float(xray[name][-1])


def now(twin: Twin, watch: Watch, name: str) -> float:
    """The value of a counter now."""
    return last(twin.rest(1, 1, watch)["xray"], name)
