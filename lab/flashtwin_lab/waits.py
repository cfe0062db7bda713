"""The longest wait of drives: `python -m flashtwin_lab.waits [DRIVE…] [--scale 1/16]`.

A drive is filled, rests for two hours and is written at random all over, 4 KiB at a depth of 32, a
quarter as much as it holds or for two hours: the load under which a cache that borrows blocks and a
collection that needs them stand in each other's way. The table has the longest write that the host
saw, and whether `check` foretells waits of the whole drive.

A smaller drive has smaller superblocks, first of all. A wait for collection or folding lasts as
long as a superblock takes, so that a whole drive waits longer by as much as its superblocks are
larger, at most. A drive that might then wait beyond its bound is measured again four times as
large, up to the whole one: the 860 QVO has waits of 2.6 s at 1/32 and of 0.16 s as it is, since
what its movers have under way fills its smaller superblocks.

`--page` measures the drives of the catalogue that are not of today's specs, keeps each in
waits.json as it comes, and writes docs/reference/waits.md of all; a call that was ended goes on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from flashtwin import _core
from flashtwin._core import Spec
from flashtwin.catalogue import validated
from flashtwin.catalogue.loader import BadSpecError, load, shipped_ids
from flashtwin.drives.twin import Twin
from flashtwin.model.histogram import bins_of, percentiles_of
from flashtwin.model.job import Job
from flashtwin.model.step import Fill, Rest, Result, Run
from flashtwin_lab.make import DOCS

# Drives are made smaller down to this, so that all of them take some minutes.
LEAST_BYTES = 16_000_000_000
# How long the drive rests, and how long it is written at random at most.
HOURS_S = 7200.0
# What the bound of the format is; see `controller.longest_wait`.
MOST_S = 2.0
KEPT = Path(__file__).with_name("waits.json")
PAGE = DOCS / "reference" / "waits.md"
AT_THE_TOP = """# The longest wait

What a host waits for at most, where a drive is full and has to make room under its hands. Made by
`flashtwin_lab.waits --page`, which fills each drive of the catalogue, made some times smaller,
lets it rest for two hours, and writes 4 KiB at random all over it at a depth of 32, a quarter as
much as it holds or for two hours. Smaller drives have smaller superblocks, and a host waits for one
to be emptied: *whole* is the longest wait by as much longer as the whole drive's superblocks are
larger, the most that it may be there. Where that is beyond the bound, a larger drive is measured.

A whole drive keeps the bound of two seconds (`controller.longest_wait`), or `flashtwin check` says
beforehand that it may not. Linux gives a command up after 30 seconds.

| drive | size | requests a second | 99.9 % are answered in | longest | whole | foretold |
|---|---|---|---|---|---|---|
"""


class Waited(msgspec.Struct, frozen=True, kw_only=True):
    """The waits of a drive under the load: `told` where a note names some beyond its bound,
    `foretold` where `check` warns of them. Superblocks of the whole drive are `larger` times as
    large. `model` and `spec` say of which core and of which values it is."""

    drive: str
    scale: str
    larger: float
    model: int
    spec: str
    iops: float
    p999_s: float
    longest_s: float
    told: bool
    foretold: bool

    @property
    def is_current(self) -> bool:
        """True where neither the drive's spec nor the core has changed since it was measured."""
        return validated.is_current(self.model, {self.drive: self.spec})

    @property
    def whole_s(self) -> float:
        """The longest wait of the whole drive, at most."""
        return self.longest_s * self.larger

    @property
    def is_kept_or_foretold(self) -> bool:
        """True where no wait is longer than the bound, or `check` warns that one may be."""
        return self.whole_s <= MOST_S or self.foretold


def small(drive: str) -> str:
    """The scale at which a drive of the catalogue is no smaller than need be."""
    smaller = 2 ** int(np.log2(load(drive).capacity_bytes / LEAST_BYTES))
    while True:
        try:
            load(drive, scale=f"1/{smaller}")
        except BadSpecError:
            smaller //= 2
        else:
            return f"1/{smaller}"


def _superblock(spec: Spec) -> float:
    """The number to which a superblock's size is proportional, where dies and pages stay."""
    values = {row["key"]: row["value"] for row in spec.values()}
    return float(values["nand.wordlines_per_block"])


def waited(drive: str, scale: str, sets: Sequence[str] = ()) -> Waited:
    """Fill a drive, let it rest, and write it at random for a while."""
    whole = load(drive, sets=sets)
    spec = whole if scale == "1" else load(drive, sets=sets, scale=scale)
    twin = Twin(spec, seed=1).open()
    size = twin.info.capacity_bytes // 4096 * 4096
    job = Job(
        name="random",
        rw="randwrite",
        block_bytes=4096,
        depth=32,
        size=size,
        io_bytes=size // 4,
        runtime_s=HOURS_S,
    )
    for step in (Fill(label="full"), Rest(seconds=HOURS_S)):
        twin.do(step, lambda progress: True)
    result = twin.do(Run(label="random", jobs=(job,), sample_s=60.0), lambda progress: True)
    assert isinstance(result, Result), "a twin does everything"
    latencies = percentiles_of(bins_of(np.asarray(result.hist["write"])), [99.9])
    return Waited(
        drive=drive,
        scale=scale,
        larger=_superblock(whole) / _superblock(spec),
        model=_core.MODEL,
        spec=validated.spec_hash(drive),
        iops=round(result.jobs[0].ios / (result.duration_ns / 1e9)),
        p999_s=round(float(latencies[99.9]) / 1e9, 6),
        longest_s=round(result.jobs[0].latency_max_ns / 1e9, 6),
        told="longest_wait" in (result.note or ""),
        foretold=any("may wait" in text for text in whole.warnings),
    )


def larger_until_kept(drive: str) -> Waited:
    """Measure a drive, four times as large each time, until it keeps its bound or is whole."""
    smaller = int(small(drive).removeprefix("1/"))
    while True:
        row = waited(drive, f"1/{smaller}" if smaller > 1 else "1")
        if row.is_kept_or_foretold or smaller == 1:
            return row
        smaller = max(1, smaller // 4)


def table(rows: Sequence[Waited]) -> Iterator[str]:
    """The lines of the table, the longest wait first."""
    yield f"{'drive':28} {'IOPS':>9} {'p99.9':>9} {'longest':>9} {'whole':>9}  told, foretold"
    for row in sorted(rows, key=lambda row: -row.whole_s):
        beyond = "waits" if row.told else "-"
        foretold = "check warns" if row.foretold else "-"
        yield (
            f"{row.drive:28} {row.iops:9,.0f} {row.p999_s:7.3f} s {row.longest_s:7.3f} s "
            f"{row.whole_s:7.3f} s"
            f"  {beyond}, {foretold}"
        )


def kept() -> list[Waited]:
    """The rows that are shipped."""
    return msgspec.json.decode(KEPT.read_bytes(), type=list[Waited]) if KEPT.exists() else []


def text() -> str:
    """The text of the page, of what is shipped, the longest wait first."""
    lines = (
        f"| `{row.drive}` | {row.scale} | {row.iops:,.0f} | {row.p999_s * 1e3:,.1f} ms | "
        f"{row.longest_s * 1e3:,.0f} ms | {row.whole_s * 1e3:,.0f} ms | "
        f"{'yes' if row.foretold else ''} |"
        for row in sorted(kept(), key=lambda row: (-row.whole_s, row.drive))
    )
    return AT_THE_TOP + "\n".join(lines) + "\n"


def make_page() -> list[Waited]:
    """Measure what is not of today, one drive after another, and keep each at once."""
    rows = {row.drive: row for row in kept() if row.is_current}
    for drive in shipped_ids():
        if drive in rows:
            continue
        rows[drive] = larger_until_kept(drive)
        print(f"{drive}: {rows[drive].longest_s:.3f} s", file=sys.stderr, flush=True)
        in_order = [rows[drive] for drive in sorted(rows)]
        encoded = msgspec.json.format(msgspec.json.encode(in_order), indent=1)
        KEPT.write_bytes(encoded + b"\n")
    PAGE.write_text(text())
    return list(rows.values())


def main() -> int:
    """Print the table; a wait that no warning foretells makes the exit code 1."""
    parser = argparse.ArgumentParser(description="The longest wait of drives of the catalogue.")
    parser.add_argument("drives", nargs="*", help="these alone")
    parser.add_argument("--scale", help="how much smaller they are; 1 for whole drives")
    parser.add_argument("--set", action="append", default=[], help="a value, as key=value")
    parser.add_argument("--page", action="store_true", help="write docs/reference/waits.md")
    asked = parser.parse_args()
    rows = make_page() if asked.page else []
    for drive in () if asked.page else asked.drives or shipped_ids():
        rows.append(waited(drive, asked.scale or small(drive), asked.set))
        print(f"{drive}: {rows[-1].longest_s:.3f} s", file=sys.stderr, flush=True)
    print("\n".join(table(rows)))
    return int(not all(row.is_kept_or_foretold for row in rows))


if __name__ == "__main__":
    sys.exit(main())
