"""What runs were told to take and what they took: `./dev bench --estimates [--json] [BATTERY…]`.

Every battery that is expected to take more than ten seconds on one of two twins is run there, and
the wall time is set beside what was told before it. Said is what a user reads; right is within a
factor of two. Without names the batteries that would take more than `MOST_S` are left out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.runner.estimate import Estimate, expected
from flashtwin.runner.run import run_batteries

DRIVES = ("bx500-240", "samsung-980-1tb")
LEAST_S, MOST_S, FACTOR = 10.0, 300.0, 2.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One battery on one drive, in seconds."""

    drive: str
    battery: str
    told_s: float
    at_most_s: float
    took_s: float

    @property
    def is_right(self) -> bool:
        """Whether what was told is within a factor of two of what it took."""
        return self.told_s / FACTOR <= self.took_s <= self.told_s * FACTOR

    @property
    def holds(self) -> bool:
        """Whether it took no more than the most that was told."""
        return self.took_s <= self.at_most_s


def told(drive: str, battery: str) -> Estimate | None:
    """What a battery is expected to take; none where it does not suit the drive."""
    twin = Twin(load(drive), seed=1)
    try:
        return expected(registry.parse(battery), twin, twin.info)
    except FlashtwinError:
        return None


def measured(drive: str, battery: str, takes: Estimate) -> Row:
    """Run it and look at the clock on the wall."""
    twin = Twin(load(drive), seed=1)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        run_batteries(twin, registry.parse(battery), Path(place) / "run")
    return Row(
        drive=drive,
        battery=battery,
        told_s=round(takes.wall_s, 1),
        at_most_s=round(takes.most_wall_s, 1),
        took_s=round(time.monotonic() - began, 1),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("batteries", nargs="*", metavar="BATTERY")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    most_s = float("inf") if words.batteries else MOST_S
    rows = []
    for drive in DRIVES:
        for battery in words.batteries or registry.names():
            takes = told(drive, battery)
            if takes is None or not LEAST_S <= takes.wall_s <= most_s:
                continue
            rows.append(measured(drive, battery, takes))
            if not words.json:
                row = rows[-1]
                print(f"{drive:18}{battery:18}told {row.told_s:6.1f} s, took {row.took_s:6.1f} s")
    right, hold = sum(row.is_right for row in rows), sum(row.holds for row in rows)
    if words.json:
        answer = {"rows": [asdict(row) for row in rows], "within_twice": right, "at_most": hold}
        print(json.dumps(answer, indent=2))
    else:
        print(f"{right} of {len(rows)} within a factor of two, {hold} within the most told")


if __name__ == "__main__":
    main()
