"""The longest wait of drives: `python -m flashtwin_lab.waits [DRIVE…] [--scale 1/16]`.

A drive is filled, rests for two hours and is written at random all over, 4 KiB at a depth of 32,
half as much as it holds: the load under which a cache that borrows blocks and a collection that
needs them stand in each other's way. The table has the longest write that the host saw, whether
the drive itself counted waits beyond `controller.longest_wait`, and whether `check` foretells them.
A smaller drive has the superblocks of the whole one, so that a victim takes as long, but fewer of
them: `--scale 1` tells what a whole drive does.

`--page` measures the drives of the catalogue that are not of today's specs, at 1/16, keeps each in
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
from flashtwin.catalogue import validated
from flashtwin.catalogue.loader import load, shipped_ids
from flashtwin.drives import untimed
from flashtwin.drives.twin import Twin
from flashtwin.model.histogram import bins_of, percentiles_of
from flashtwin.model.step import Fill, Rest, Result, Run
from flashtwin_lab.make import DOCS

SCALE = "1/16"
REST_S = 7200.0
# What the bound of the format is; see `controller.longest_wait`.
MOST_S = 2.0
KEPT = Path(__file__).with_name("waits.json")
PAGE = DOCS / "reference" / "waits.md"
AT_THE_TOP = f"""# The longest wait

What a host waits for at most, where a drive is full and has to make room under its hands. Made by
`flashtwin_lab.waits --page`, which fills each drive of the catalogue at {SCALE} of its size, lets
it rest for two hours, and writes 4 KiB at random all over it at a depth of 32, half as much as it
holds. A smaller drive has the superblocks of the whole one, so that to empty one takes as long, but
fewer of them.

A drive keeps its bound, `controller.longest_wait`, of two seconds here, or `flashtwin check` says
beforehand that it may not. Linux gives a command up after 30 seconds.

| drive | requests a second | 99.9 % are answered in | longest | told in the run | foretold |
|---|---|---|---|---|---|
"""


class Waited(msgspec.Struct, frozen=True, kw_only=True):
    """What a drive did under the load: `told` where a note names waits beyond its bound, `foretold`
    where `check` warns of them. `model` and `spec` say of which core and of which values it is."""

    drive: str
    model: int
    spec: str
    iops: float
    p999_s: float
    longest_s: float
    told: bool
    foretold: bool

    @property
    def is_current(self) -> bool:
        """Whether the drive would do the same today."""
        return validated.is_current(self.model, {self.drive: self.spec})

    @property
    def keeps_its_bound(self) -> bool:
        return self.longest_s <= MOST_S or self.foretold


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
        model=_core.MODEL,
        spec=validated.spec_hash(drive),
        iops=round(result.jobs[0].ios / (result.duration_ns / 1e9)),
        p999_s=round(float(latencies[99.9]) / 1e9, 6),
        longest_s=round(result.jobs[0].latency_max_ns / 1e9, 6),
        told="longest_wait" in (result.note or ""),
        foretold=any("may wait" in text for text in spec.warnings),
    )


def table(rows: Sequence[Waited]) -> Iterator[str]:
    """The lines of the table, the longest wait first."""
    yield f"{'drive':28} {'IOPS':>9} {'p99.9':>9} {'longest':>9}  beyond its bound, foretold"
    for row in sorted(rows, key=lambda row: -row.longest_s):
        beyond = "waits" if row.told else "-"
        foretold = "check warns" if row.foretold else "-"
        yield (
            f"{row.drive:28} {row.iops:9,.0f} {row.p999_s:7.3f} s {row.longest_s:7.3f} s"
            f"  {beyond}, {foretold}"
        )


def kept() -> list[Waited]:
    """The rows that are shipped."""
    return msgspec.json.decode(KEPT.read_bytes(), type=list[Waited]) if KEPT.exists() else []


def text() -> str:
    """The text of the page, of what is shipped, the longest wait first."""
    lines = (
        f"| `{row.drive}` | {row.iops:,.0f} | {row.p999_s * 1e3:,.1f} ms | "
        f"{row.longest_s * 1e3:,.0f} ms | {'yes' if row.told else ''} | "
        f"{'yes' if row.foretold else ''} |"
        for row in sorted(kept(), key=lambda row: (-row.longest_s, row.drive))
    )
    return AT_THE_TOP + "\n".join(lines) + "\n"


def make_page() -> list[Waited]:
    """Measure what is not of today, one drive after another, and keep each at once."""
    rows = {row.drive: row for row in kept() if row.is_current}
    for drive in shipped_ids():
        if drive in rows:
            continue
        rows[drive] = waited(drive)
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
    parser.add_argument("--scale", default=SCALE, help="how much smaller they are")
    parser.add_argument("--set", action="append", default=[], help="a value, as key=value")
    parser.add_argument("--page", action="store_true", help="write docs/reference/waits.md")
    asked = parser.parse_args()
    scale = None if asked.scale == "1" else asked.scale
    rows = make_page() if asked.page else []
    for drive in () if asked.page else asked.drives or shipped_ids():
        rows.append(waited(drive, scale, asked.set))
        print(f"{drive}: {rows[-1].longest_s:.3f} s", file=sys.stderr, flush=True)
    print("\n".join(table(rows)))
    return int(not all(row.keeps_its_bound for row in rows))


if __name__ == "__main__":
    sys.exit(main())
