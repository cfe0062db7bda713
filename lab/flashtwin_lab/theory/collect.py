"""Write amplification of a page map in its steady state, as its X-ray counts it.

The drive is filled in order, overwritten for so long that it forgets how, and overwritten again
while it is measured. Invariant: what collection keeps free and what is open is taken out of the
over-provisioning, for every law counts only blocks that can hold data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin._core import Twin
from flashtwin.runs.frames import programmed_bytes
from flashtwin_lab.theory import drives, formulas
from flashtwin_lab.theory.drives import Watch, run
from flashtwin_lab.theory.points import Point

# Collection begins below so many free superblocks and ends there; two pools need more of them.
GOAL = {"none": 3, "gc": 3, "oracle": 6}
# The mean number of free superblocks lies so much below the goal.
BELOW_GOAL = 0.5
# Overwrites of the user's units before it is measured, and while it is.
OVERWRITES = 6
# Victims drawn at random vary much in valid data, so more overwrites are averaged.
BLOCKS = {64: 4096, 256: 2048}
CHANCE = 2
# Of the drive's own time: thousands of samples in a run.
SAMPLE_NS = 10**7


def measure(point: Point, seed: int, watch: Watch) -> float:
    """The write amplification A measured at a point."""
    parameters = point.parameters
    pages, rho = int(parameters["pages"]), float(parameters["op"])
    blocks = BLOCKS.get(pages, max(1024, 262_144 // pages))
    # Flash without data: half of each open superblock, and the free superblocks that collection
    # keeps.
    separation = str(parameters.get("separation", "gc"))
    idle = 0.5 * _streams(separation) + GOAL[separation] - BELOW_GOAL
    user = int((blocks - idle) * pages / (1.0 + rho))
    spec = drives.page_map(blocks, pages, user, _policy(parameters, rho))
    twin = Twin(spec, seed)
    run(twin, watch, sample_ns=SAMPLE_NS, rw="write", block_bytes=64 * drives.UNIT, depth=8)
    overwrites = OVERWRITES * (CHANCE if parameters["policy"] == "random" else 1)
    size = user * drives.UNIT * 2 * overwrites
    writes = {**_writes(parameters), "io_bytes": size, "seed": seed}
    return _second_half(run(twin, watch, sample_ns=SAMPLE_NS, **writes)["xray"])


def _second_half(xray: Mapping[str, NDArray[np.int64]]) -> float:
    """Bytes programmed over bytes from the host, from the middle of a run to its end."""
    host = xray["host_bytes"]
    middle = int(np.searchsorted(host, (int(host[0]) + int(host[-1])) // 2))
    programmed = programmed_bytes(xray)
    return int(programmed[-1] - programmed[middle]) / (int(host[-1]) - int(host[middle]))


def _streams(separation: str) -> int:
    """Superblocks that are open at a time, half full in the mean."""
    return {"none": 1, "gc": 2, "oracle": 4}[separation]


def _policy(parameters: Mapping[str, Any], rho: float) -> dict[str, str | float | int]:
    policy: dict[str, str | float | int] = {"gc.policy": parameters["policy"]}
    separation = str(parameters.get("separation", "gc"))
    policy |= {"gc.low": GOAL[separation], "gc.high": GOAL[separation]}
    if separation != "gc":
        policy["gc.separation"] = separation
    if separation == "oracle":
        split = formulas.HotCold(
            data=float(parameters["hot_data"]), writes=float(parameters["hot_writes"])
        )
        best = formulas.ideal_separation(rho, split)
        policy["gc.hot_share"] = round(split.data, 3)
        policy["gc.hot_pool"] = round(best.hot * split.data / (1.0 + rho), 3)
    return policy


def _writes(parameters: Mapping[str, Any]) -> dict[str, Any]:
    job: dict[str, Any] = {"rw": "randwrite", "block_bytes": drives.UNIT, "depth": 32}
    if trims := round(100 * float(parameters.get("trims", 0.0))):
        job["trim_percent"] = trims
    if "hot_data" in parameters:
        data, writes = round(100 * parameters["hot_data"]), round(100 * parameters["hot_writes"])
        job["zones"] = [
            {"access_percent": writes, "size_percent": data},
            {"access_percent": 100 - writes, "size_percent": 100 - data},
        ]
    return job
