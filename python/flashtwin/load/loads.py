"""Loads: what a host asks of a drive for years, as fio's jobs with what is written in a day.

A load is known by its name (`named/loads.toml`), written as a job file, or drawn from a trace: then
its jobs have the trace's sizes, the share of it that is in order, how its writes spread over what
it touches, and its syncs. Sizes of a job file are what a drive of the full size would get.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from flashtwin import inputs
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.script import script
from flashtwin.load.profile import profile
from flashtwin.load.words import Profile, Side
from flashtwin.model.fio_job import Reading
from flashtwin.model.units import parse_seconds, parse_size, readable_size

NAMED = Path(str(resources.files(__package__))) / "named"
DAY_S = 86_400.0
# The sizes that a job drawn from a trace has, the most frequent ones.
MOST_SIZES = 16
# The depth at which a trace's requests are drawn: it says when they came, not how many waited.
DEPTH = 8
MOST_RATE = (1 << 32) - 1
SECTOR_BYTES = 512
JOB_FILES = (".fio", ".ini", ".job")
# More than any link carries into a drive that is sold.
MOST_DRIVES_A_DAY = 10_000
_DRIVES = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?drives?")


@dataclass(frozen=True, kw_only=True)
class Load:
    """Jobs that run at once, and how much of them a day has.

    `per_day` is bytes that the host writes, or a share of the capacity where `of_capacity`;
    `active` the share of the time in which it writes, once in `period_s`. `sources`: where all of
    that comes from. Of a trace `reaches` says where its furthest request ends, and its line,
    `touches` how many bytes have a request.
    """

    name: str
    title: str
    jobs: tuple[FioJob, ...]
    per_day: float
    of_capacity: bool = False
    active: float = 1.0
    period_s: float = 3600.0
    sources: tuple[str, ...] = ()
    reaches: tuple[int, int] = (0, 0)
    touches: int = 0

    def bytes_a_day(self, capacity: int) -> float:
        """Bytes that the host writes in a day to a drive of a capacity."""
        return self.per_day * capacity if self.of_capacity else self.per_day


def names() -> list[str]:
    """The loads that are known by name."""
    return sorted(_rows())


def load(words: str, per_day: str | None = None, reading: Reading | None = None) -> Load:
    """The load that somebody names: one of ours, a job file that ends in .fio, or a trace, which is
    read as `reading` says."""
    path = Path(words)
    if words not in _rows() and not path.exists():
        raise _unknown(words)
    if words not in _rows() and path.suffix not in JOB_FILES:
        chosen = _of_trace(path, per_day, reading)
    elif reading is not None and reading != Reading():
        raise FlashtwinError(
            f"--format, --event and --disk say how a trace is read, and {words} is none",
            hint="leave them out, or name a trace",
            exit_code=USAGE,
        )
    else:
        chosen = _named(words) if words in _rows() else _of_file(path, per_day)
    if per_day is None:
        return chosen
    amount, of_capacity = _amount(per_day)
    sources = (f"{per_day} written a day: as asked, and not by the load", *chosen.sources)
    return replace(chosen, per_day=amount, of_capacity=of_capacity, sources=sources)


def _unknown(words: str) -> FlashtwinError:
    near = get_close_matches(words.lower(), names(), n=2, cutoff=0.5)
    there = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names())}"
    return FlashtwinError(
        f"{words} is neither a load by name nor a file",
        hint=f"{there}; or name a job file or a trace",
        exit_code=USAGE,
    )


@cache
def _rows() -> Mapping[str, Any]:
    return inputs.read_toml(NAMED / "loads.toml")


def _named(name: str) -> Load:
    row = _rows()[name]
    amount, of_capacity = _amount(row["per_day"])
    return Load(
        name=name,
        title=row["title"],
        jobs=tuple(script((str(NAMED / f"{name}.fio"),)).jobs),
        per_day=amount,
        of_capacity=of_capacity,
        active=float(row["active"]),
        period_s=parse_seconds(row["period"]),
        sources=tuple(row["sources"]),
    )


def _amount(text: str) -> tuple[float, bool]:
    """Bytes, or drives a day."""
    match = _DRIVES.fullmatch(text.strip())
    try:
        if not match:
            return float(parse_size(text)), False
        if not 0 < float(match[1]) <= MOST_DRIVES_A_DAY:
            raise ValueError(f"write above 0 and at most {MOST_DRIVES_A_DAY:,} drives")
    except ValueError as error:
        raise FlashtwinError(
            f"--per-day {text} is not an amount: {error}",
            hint='write a size, such as 50GB, or "0.5 drives"',
            exit_code=USAGE,
        ) from None
    return float(match[1]), True


def _of_file(path: Path, per_day: str | None) -> Load:
    if per_day is None:
        raise _no_day(path)
    jobs = tuple(script((str(path),)).jobs)
    return Load(
        name=path.name,
        title=path.name,
        jobs=jobs,
        per_day=0.0,
        sources=(f"the jobs of {path.name}, all at once",),
    )


def _no_day(path: Path) -> FlashtwinError:
    return FlashtwinError(
        f"{path} does not say how much of it a day has",
        hint="add --per-day, for example --per-day 50GB",
        exit_code=USAGE,
    )


def _of_trace(path: Path, per_day: str | None, reading: Reading | None) -> Load:
    profiled = profile(path, reading)
    if not profiled.bytes[1]:
        raise FlashtwinError(
            f"{path} writes nothing, and reads do not wear a drive",
            hint="take a trace with writes",
            exit_code=USAGE,
        )
    seconds = profiled.span_ns / 1e9
    touched = profiled.load.places.touched * profiled.load.places.bytes
    if not seconds and per_day is None:
        raise _no_day(path)
    return Load(
        name=path.name,
        title=f"the requests of {path.name}",
        jobs=tuple(script(_words(profiled)).jobs),
        per_day=profiled.bytes[1] / seconds * DAY_S if seconds else 0.0,
        active=_active(profiled),
        sources=(
            f"{path.name}: {readable_size(profiled.bytes[1])} written",
            "assumed: requests drawn with the trace's sizes, order, places and syncs, not itself"
            + (", FUA as a sync" if profiled.load.fua else ""),
            f"assumed: nothing but the {readable_size(touched, 3)} that it touches is ever asked"
            " for; a longer trace touches more",
            *(f"{path.name}: {text}" for text in profiled.remarks),
        ),
        reaches=max((file.end, file.line) for file in profiled.files),
        touches=touched,
    )


def _active(profiled: Profile) -> float:
    """The share of the time in which anything is asked for."""
    if not profiled.span_ns:
        return 1.0
    return max(1 - profiled.load.idle.total_ns / profiled.span_ns, 0.01)


def _words(profiled: Profile) -> list[str]:
    """Jobs in fio's words that ask for what a trace asks for."""
    places = profiled.load.places
    span = max(places.touched * places.bytes, 1 << 20)
    words = [
        "--ioengine=libaio",
        f"--iodepth={DEPTH}",
        "--time_based",
        "--runtime=1h",
        "--norandommap",
        f"--size={span}",
    ]
    # A request that misses the places at both of its ends lies anywhere.
    align = SECTOR_BYTES if places.partial_writes > profiled.ios[1] else places.bytes
    # Rates say how bytes are shared; fio has them in 32 bits.
    seconds = max(profiled.span_ns / 1e9, 1e-3, max(profiled.bytes) / MOST_RATE)
    for rw, side, moved in profiled.sides:
        in_order = round(100 * side.sequential_bytes / moved)
        words += [
            f"--name={rw}s",
            f"--rw=rand{rw}",
            f"--bssplit={_split(side)}",
            f"--blockalign={align}",
            f"--percentage_random={100 - in_order}",
            f"--rate={max(int(moved / seconds), 1)}",
        ]
        if zones := _zones(places.hottest):
            words.append(f"--random_distribution={zones}")
        if rw == "write" and (syncs := profiled.flushes + profiled.load.fua):
            words.append(f"--fsync={max(round(profiled.ios[1] / syncs), 1)}")
    return words


def _split(side: Side) -> str:
    """The most frequent sizes with their percentages, which have to make 100."""
    sizes = sorted(side.sizes.items(), key=lambda row: (-row[1], row[0]))[:MOST_SIZES]
    total = sum(count for _, count in sizes)
    shares = {size: max(round(100 * count / total), 1) for size, count in sizes}
    most = max(shares, key=lambda size: shares[size])
    shares[most] += 100 - sum(shares.values())
    return ":".join(f"{size}/{share}" for size, share in sorted(shares.items()))


def _zones(hottest: Sequence[tuple[int, int]]) -> str | None:
    """How writes spread, in whole percentages of the requests and of the places."""
    rows, before = [], (0, 0)
    for places, writes in [*hottest, (1000, 1000)]:
        of_places = round(places / 10) - before[0]
        of_writes = round(writes / 10) - before[1]
        if of_places < 1:
            continue
        before = (before[0] + of_places, before[1] + of_writes)
        rows.append((of_writes, of_places))
    if len(rows) < 2 or any(of_writes < 0 for of_writes, _ in rows):
        return None
    return "zoned:" + ":".join(f"{of_writes}/{of_places}" for of_writes, of_places in rows)
