"""Makes python/flashtwin/batteries/wafmap/responses.toml: write amplification of each firmware that
is weighed, under the battery's loads.

    .venv/bin/python -m flashtwin_lab.make.wafmap [SECONDS]

A small drive is simulated without time for every point of a grid: the share of the flash that holds
data, and of zones their size over a superblock's. Sizes are ratios there, so that the table serves
drives of all sizes. Each point is simulated several times with other seeds: the table has the mean,
and of zones how far one drive lies from it, for the order in which they are written decides how
they fall into superblocks. About forty minutes of a processor, shared by all there are; with
SECONDS it stops after about that long and goes on from there when it is called again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean
from typing import Any

import numpy as np
import tomlkit

from flashtwin import _core
from flashtwin.batteries.wafmap import responses
from flashtwin.catalogue.label import Label, spec_text
from flashtwin.catalogue.loader import load
from flashtwin.errors import DONE, INTERRUPTED
from flashtwin.hypothesis.settled import Pattern, amplification, zipf
from flashtwin.inputs import read_toml

# The simulated drive: dies of one plane, 384 units in a superblock, 400 superblocks for data.
DIES, WORDLINES, SUPERBLOCK, COUNT = 4, 8, 3 << 19, 400
UNIT = 4096
# Superblocks that firmware keeps to itself: free ones before collection begins, and open ones.
LOW = 4
RESERVED = LOW + 2
# Free ones that a separation into six classes needs beside these.
MORE = 6
# Drives of a point: with zones, and with single pages, which scatter by a percent.
SEEDS, SEEDS_OF_PAGES = 8, 3


def small_drive(dies: int, sets: Mapping[str, object]) -> _core.Spec:
    """The spec of a drive of dies of one plane without a cache."""
    label = Label(
        id="small",
        name="small",
        capacity_bytes=10**9,
        interface="pcie4",
        cell="tlc",
        dram="yes",
        dies=dies,
        cache_bytes=0,
    )
    geometry = {
        "nand.channels": dies,
        "nand.dies_per_channel": 1,
        "nand.planes": 1,
        "ftl.system": 0,
    }
    settings = [f"{key}={value}" for key, value in {**geometry, **sets}.items()]
    return load(spec_text(label), sets=settings)


def drive(policy: str, separation: str) -> _core.Spec:
    """The spec of the simulated drive."""
    capacity = int(SUPERBLOCK * COUNT * 0.97) // UNIT * UNIT
    sets = {
        "nand.wordlines_per_block": WORDLINES,
        "nand.blocks_per_plane": COUNT + RESERVED,
        "drive.capacity": f"{capacity} B",
        "gc.policy": policy,
        "gc.separation": separation,
        "gc.low": LOW,
        "gc.high": LOW + 2,
        "controller.write_buffer": "192 KiB",
    }
    if separation == "sepbit":
        # Six classes of data keep a superblock open each.
        sets |= {
            "gc.low": LOW + MORE,
            "gc.high": LOW + MORE + 2,
            "nand.blocks_per_plane": COUNT + RESERVED + MORE,
        }
    return small_drive(DIES, sets)


def point(firmware: tuple[str, str], kind: str, used: float, ratio: float, seed: int) -> float:
    """The write amplification of one drive at one point of the grid."""
    span = int(used * SUPERBLOCK * COUNT)
    pattern = Pattern(kind="uniform")
    if kind.startswith("zipf"):
        pattern = zipf(responses.THETA, int(kind.split()[1]))
    if kind == "zones":
        zone = int(ratio * SUPERBLOCK) // UNIT * UNIT
        pattern = Pattern(kind="zones", zone_bytes=zone, trimmed=False)
    return amplification(drive(*firmware), pattern, span, seed=seed)


def grid() -> dict[str, object]:
    """The points and the number of drives that the table was made with; where these change, the
    maker begins a new table."""
    return {
        "used": list(responses.USED),
        "zones_used": list(responses.ZONES_USED),
        "ratios": list(responses.RATIOS),
        "theta": responses.THETA,
        "drives": [SEEDS, SEEDS_OF_PAGES],
        "superblocks": COUNT,
    }


Points = list[tuple[float, float]]


def rows() -> Iterator[tuple[tuple[str, str], str, Points]]:
    """Firmware, name of a row and its points: shares of the flash, and zones over superblocks."""
    pages = ("uniform", *(f"zipf {count}" for count in responses.PAGES))
    for firmware in responses.FIRMWARES:
        for kind in pages:
            yield firmware, kind, [(used, 0.0) for used in responses.USED]
        for used in responses.ZONES_USED:
            yield firmware, f"zones {used:g}", [(used, ratio) for ratio in responses.RATIOS]


def made(row: tuple[tuple[str, str], str, Points]) -> dict[str, list[float]]:
    """A row's figures by their names in the table."""
    firmware, name, points = row
    if not name.startswith("zones"):
        seeds = range(SEEDS_OF_PAGES)
        figures = [fmean(point(firmware, name, *each, seed) for seed in seeds) for each in points]
        return {name: [round(figure, 3) for figure in figures]}
    drives = [[point(firmware, "zones", *each, seed) for seed in range(SEEDS)] for each in points]
    spread = np.log(np.array(drives)).std(axis=1, ddof=1)
    return {
        name: [round(fmean(each), 3) for each in drives],
        responses.spread_of(name): [round(float(each), 3) for each in spread],
    }


def main(words: list[str]) -> int:
    """Simulate the rows that the table lacks."""
    path, seconds = responses.RESPONSES, float(words[0]) if words else float("inf")
    table: dict[str, Any] = dict(read_toml(path)) if path.exists() else {}
    if table.get("grid") != grid():
        table = {"schema": 1, "grid": grid()}
    missing = [row for row in rows() if row[1] not in table.get(responses.name_of(row[0]), {})]
    began = time.monotonic()
    with ProcessPoolExecutor() as pool:
        for row, figures in zip(missing, pool.map(made, missing), strict=True):
            table.setdefault(responses.name_of(row[0]), {}).update(figures)
            _write(table)
            if time.monotonic() - began > seconds:
                pool.shutdown(cancel_futures=True)
                return INTERRUPTED
    return DONE


def _write(table: dict[str, Any]) -> None:
    head = "# Made by flashtwin_lab.make.wafmap; see there.\n\n"
    responses.RESPONSES.write_text(head + tomlkit.dumps(table))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
