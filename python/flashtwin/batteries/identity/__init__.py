"""identity: what the drive is by its label and parts, and whether it meets its ratings.

Reviews begin with it (trust P): capacity and flash, cell type and dies, rated life, and figures
that follow; then what the maker rates as "up to" beside what was measured. As makers do, it
is measured where a drive is at its best: erased, 128 KiB in order at queue depth 32 over a test
file, then 4 KiB at random over it with eight threads of 32 requests. Ratings are those that the
catalogue has of the drive (`published.toml`), or those that are typed. The review of the Intel 545s
calls a drive that writes 495 of 500 MB/s one that meets its ratings: 95 % of each are asked for
here. The host's time a command is a prior: 5 us.

What the label says of a twin is its spec's, where a data sheet or a publication is its source.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.assumed import STATED, stated
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, Load, Teller, check_fits, over_time, rates_of
from flashtwin.batteries.base.loads import mean_rate as mean_of
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import with_mark
from flashtwin.catalogue.facts import Ratings, ratings_of
from flashtwin.model.cells import BITS
from flashtwin.model.finding import Finding
from flashtwin.model.step import Purge
from flashtwin.model.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.step import Job
    from flashtwin.model.target import DriveInfo

NAME = "identity"
GIB = 1 << 30
USUAL_SIZE, LEAST_SIZE = GIB, 64 << 20
LOADS = {
    "write": Load(random=False, block_bytes=128 * KIB, read_percent=0, depth=32),
    "read": Load(random=False, block_bytes=128 * KIB, read_percent=100, depth=32),
    "random_read": Load(random=True, block_bytes=4 * KIB, read_percent=100, depth=32),
    "random_write": Load(random=True, block_bytes=4 * KIB, read_percent=0, depth=32),
}
TITLES = {
    "write": "Sequential write",
    "read": "Sequential read",
    "random_read": "Random read",
    "random_write": "Random write",
}
# A drive that brings so much of a rating meets it.
MEETS = 0.95
VERDICTS = (
    "meets its ratings",
    "falls short of its ratings",
    "no ratings known",
    "no printed ratings",
)
DAYS_A_YEAR = 365
# As a spec has it where the label says nothing of a rated life.
UNKNOWN = "0"


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase; then write and read in order, read and write at random."""
    check_fits(NAME, list(LOADS.values()), replace(info, capacity_bytes=_size(parameters, info)))
    yield Purge(label=f"{NAME}/purge")
    for name in LOADS:
        yield from with_mark(over_time(f"{NAME}/{name}", _job(name, parameters, info)))


def _size(parameters: Any, info: DriveInfo) -> int:
    """The bytes of the test file; the usual ones would overflow the cache of a scaled copy."""
    usual = max(int(info.share_of(USUAL_SIZE)), LEAST_SIZE)
    size = here(parameters, "size", info) or usual
    return int(min(size, info.capacity_bytes // 2))


def _job(name: str, parameters: Any, info: DriveInfo) -> Job:
    """A load over the test file; what is read has been written whole before."""
    load = LOADS[name]
    size, seconds = _size(parameters, info), here(parameters, "seconds", info)
    job = load.job_for(parameters, info, size=size, seconds=seconds)
    if name == "write":
        # Once over the file: a cache is not written past its end.
        return replace(job, runtime_s=None)
    return replace(job, threads=parameters.threads) if load.random else job


def conclude(record: Record) -> list[Finding]:
    """The label; what was measured, of each rating the share that was met, and the verdict."""
    label = ratings_of(str(record.info.identity.get("spec", ""))) or Ratings()
    rated = _ratings(record.parameters, label)
    findings = _of_label(record.info)
    shares: dict[str, float] = {}
    for name, load in LOADS.items():
        curve = rates_of(record, f"{NAME}/{name}")
        if curve is None:
            continue
        unit, scale = ("IOPS", 1.0) if load.random else ("MB/s", load.block_bytes / 1e6)
        teller = Teller(battery=NAME, label=f"{NAME}/{name}", title=TITLES[name])
        estimate = mean_of(curve).scaled(scale)
        findings.append(teller.tell(name, "at its best", unit, estimate, better="higher"))
        if name in rated:
            shares[name] = estimate.value / rated[name]
            findings.append(
                teller.tell(
                    f"{name}.rated",
                    "share of the rating",
                    "fraction",
                    shares[name],
                    beside=name,
                    better="higher",
                    note=_told(rated[name], unit, name, record.parameters, label),
                )
            )
    if len(shares) < len(rated):
        return findings
    return [*findings, _verdict(rated, shares, _unprinted(record.parameters, rated, label))]


def _ratings(parameters: Any, known: Ratings) -> dict[str, float]:
    """The ratings by name: those that are typed, else those of the catalogue."""
    rated = {
        name: getattr(parameters, name) if getattr(parameters, name) is not None else label
        for name, label in known.by_name().items()
    }
    return {name: value for name, value in rated.items() if value is not None}


def _told(rating: float, unit: str, name: str, parameters: Any, known: Ratings) -> str:
    """A rating, and where it comes from if neither the user nor an article states it."""
    text = f"rated {rating:,g} {unit}"
    typed = getattr(parameters, name) is not None
    return text if typed or known.source is None else f"{text} ({known.origin}: {known.source})"


def _unprinted(parameters: Any, rated: Mapping[str, float], known: Ratings) -> bool:
    """Whether a rating is used that nobody has typed and no publication prints."""
    typed = all(getattr(parameters, name) is not None for name in rated)
    return bool(rated) and not typed and known.origin not in STATED


def _verdict(rated: Mapping[str, float], shares: Mapping[str, float], unprinted: bool) -> Finding:
    short = [TITLES[name].lower() for name, share in shares.items() if share < MEETS]
    meets, misses, unknown, no_printed = VERDICTS
    note: str | None
    typing = "give them as identity:read=540,write=500, MB/s and IOPS"
    if unprinted:
        value, note = no_printed, f"no publication prints its ratings; {typing}"
    elif not rated:
        value, note = unknown, typing
    else:
        value = misses if short else meets
        note = f"{', '.join(short)} below {100 * MEETS:.0f} %" if short else None
    return Finding(
        battery=NAME,
        name="verdict",
        title="Verdict on the ratings",
        value=value,
        choices=VERDICTS,
        headline=bool(rated) and not unprinted,
        note=note,
    )


def _of_label(info: DriveInfo) -> list[Finding]:
    """What the drive is, where somebody says so, and what follows from that."""

    def finding(name: str, title: str, value: float | str, unit: str = "", **more: Any) -> Finding:
        return Finding(battery=NAME, name=name, title=title, value=value, unit=unit, **more)

    capacity, raw = info.capacity_bytes, info.raw_bytes
    findings = [finding("capacity", "Capacity", capacity / 1e9, "GB")]
    if raw:
        findings += [
            finding("raw", "Flash in it", raw / GIB, "GiB"),
            finding(
                "spare", "Flash beyond the capacity, as a share", raw / capacity - 1, "fraction"
            ),
        ]
    known = stated(info)
    if (cell := known.get("nand.cell", "")) in BITS:
        findings.append(finding("cell", "Cells", cell, choices=tuple(BITS)))
    dies = [_whole(known.get(f"nand.{key}")) for key in ("channels", "dies_per_channel")]
    if all(dies):
        findings.append(finding("dies", "Dies", math.prod(dies)))
    rated_life = known.get("drive.rated_tbw", UNKNOWN)
    if rated_life != UNKNOWN:
        life = parse_size(rated_life)
        findings.append(finding("tbw", "Rated life, bytes written", life / 1e12, "TB"))
        findings.append(finding("passes", "Rated life, in full writes", life / capacity))
        if years := _whole(known.get("drive.warranty_years")):
            daily = life / capacity / years / DAYS_A_YEAR
            findings.append(finding("dwpd", "Rated life, full writes a day", daily))
    return findings


def _whole(text: str | None) -> int:
    """A whole number of a spec; 0 where nobody states it."""
    return int(text) if text and text.isdecimal() else 0


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    present="flashtwin.batteries.identity.present",
)
