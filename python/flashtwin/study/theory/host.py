"""Little's law on closed loops, and the conservation of what is programmed."""

from __future__ import annotations

from typing import Any

from flashtwin._core import Twin
from flashtwin.study.theory import drives
from flashtwin.study.theory.play import SECOND_NS, Sides, Watch, run

# Host bytes by where they were programmed first, and everything that is programmed besides.
HOST = ("slc_bytes", "tier_bytes", "direct_bytes")


def little(depth: int, threads: int, seed: int, watch: Watch) -> Sides:
    """Mean queue depth against rate times mean latency, over a mix of reads and writes."""
    twin = Twin(drives.cached(), seed)
    run(twin, watch, rw="write", block_bytes=131072, depth=8, size=4_000_000_000 // 4096 * 4096)
    job = {"rw": "randrw", "depth": depth, "threads": threads, "host_ns": 3000}
    mix: dict[str, Any] = {**job, "block_bytes": 4096, "size": 2_000_000_000 // 4096 * 4096}
    row = run(twin, watch, **mix, io_bytes=200 << 20)["jobs"][0]
    expected = row["ios"] / (row["duration_ns"] / 1e9) * row["latency_mean_ns"] / 1e9
    return Sides(expected=expected, found=row["mean_depth"])


def conservation(policy: str, seed: int, watch: Watch) -> Sides:
    """Every host byte is programmed once as host data: all of them, once nothing waits in RAM."""
    twin = Twin(drives.cached(f"gc.policy={policy}"), seed)
    # Whole mapping units: the last, partial one would be programmed whole.
    size = twin.capacity_bytes // drives.UNIT * drives.UNIT
    run(twin, watch, rw="write", block_bytes=1 << 20, depth=8, size=size)
    run(twin, watch, rw="randwrite", block_bytes=16384, depth=32, io_bytes=2 << 30, seed=seed)
    twin.flush()
    xray = twin.rest(SECOND_NS, SECOND_NS, watch)["xray"]
    counts = {name: int(column[-1]) for name, column in xray.items()}
    found = sum(counts.get(name, 0) for name in HOST)
    return Sides(expected=float(counts["host_bytes"]), found=float(found))
