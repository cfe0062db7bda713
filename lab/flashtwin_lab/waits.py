"""The longest wait of drives: `python -m flashtwin_lab.waits [DRIVE…] [--scale 1/16]`.

A drive is filled, rests for two hours and is written at random all over, 4 KiB at a depth of 32,
half as much as it holds: the load under which a cache that borrows blocks and a collection that
needs them stand in each other's way. The table has the longest write that the host saw, whether
the drive itself counted waits beyond `controller.longest_wait`, and whether `check` foretells them.
A smaller drive has the superblocks of the whole one, so that a victim takes as long, but fewer of
them: `--scale 1` tells what a whole drive does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flashtwin.catalogue.loader import drive_ids, load
from flashtwin.drives import untimed
from flashtwin.drives.twin import Twin
from flashtwin.model.histogram import bins_of, percentiles_of
from flashtwin.model.step import Fill, Rest, Result, Run

SCALE = "1/16"
REST_S = 7200.0
# What the bound of the format is; see `controller.longest_wait`.
MOST_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Waited:
    """What a drive did under the load: `note` tells of waits beyond its bound."""

    drive: str
    iops: float
    p999_s: float
    longest_s: float
    note: str | None
    foretold: str | None


def waited(drive: str, scale: str | None = SCALE, sets: Sequence[str] = ()) -> Waited:
    """Fill a drive, let it rest, and write half as much as it holds at random."""
    spec = load(drive, sets=sets, scale=scale)
    twin = Twin(spec, seed=1).open()
    size = twin.info.capacity_bytes // 4096 * 4096
    job = untimed.writing(0, size, 4096, rw="randwrite", depth=32, io_bytes=size // 2, seed=1)
    for step in (Fill(label="full"), Rest(seconds=REST_S)):
        twin.do(step, lambda progress: True)
    result = twin.do(Run(label="random", jobs=(job,), sample_s=60.0), lambda progress: True)
    assert isinstance(result, Result), "a twin does everything"
    latencies = percentiles_of(bins_of(np.asarray(result.hist["write"])), [99.9])
    return Waited(
        drive=drive,
        iops=result.jobs[0].ios / (result.duration_ns / 1e9),
        p999_s=float(latencies[99.9]) / 1e9,
        longest_s=result.jobs[0].latency_max_ns / 1e9,
        note=result.note,
        foretold=next((text for text in spec.warnings if "may wait" in text), None),
    )


def table(rows: Sequence[Waited]) -> Iterator[str]:
    """The lines of the table, the longest wait first."""
    yield f"{'drive':28} {'IOPS':>9} {'p99.9':>9} {'longest':>9}  beyond its bound, foretold"
    for row in sorted(rows, key=lambda row: -row.longest_s):
        beyond = "waits" if row.note and "longest_wait" in row.note else "-"
        foretold = "check warns" if row.foretold else "-"
        yield (
            f"{row.drive:28} {row.iops:9,.0f} {row.p999_s:7.3f} s {row.longest_s:7.3f} s"
            f"  {beyond}, {foretold}"
        )


def main() -> int:
    """Print the table; a wait that no warning foretells makes the exit code 1."""
    parser = argparse.ArgumentParser(description="The longest wait of drives of the catalogue.")
    parser.add_argument("drives", nargs="*", help="these alone")
    parser.add_argument("--scale", default=SCALE, help="how much smaller they are")
    parser.add_argument("--set", action="append", default=[], help="a value, as key=value")
    asked = parser.parse_args()
    scale = None if asked.scale == "1" else asked.scale
    rows = []
    for drive in asked.drives or drive_ids():
        rows.append(waited(drive, scale, asked.set))
        print(f"{drive}: {rows[-1].longest_s:.3f} s", file=sys.stderr, flush=True)
    print("\n".join(table(rows)))
    return int(any(row.longest_s > MOST_S and not row.foretold for row in rows))


if __name__ == "__main__":
    sys.exit(main())
