"""The contents of a trace: which requests, in which order, on which places, how far apart in time.

The core reads the trace once, from a file or a pipe, in memory that its length does not change;
this module names what it counted and tells it in sentences. Invariant: what was estimated from a
sample of the places says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from flashtwin import _core
from flashtwin.fio.plan.traces import read_through, remarks
from flashtwin.load.words import Places, Profile, Side
from flashtwin.model.fio_job import Reading, Shape
from flashtwin.model.units import readable_seconds, readable_size, show_block, significant

TITLES = {"read": "reads", "write": "writes", "trim": "TRIMs"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the table of kinds, as text."""

    kind: str
    requests: str
    bytes: str
    median: str
    usual: str
    in_order: str


def profile(path: Path, reading: Reading | None = None) -> Profile:
    """Read a trace once; `FlashtwinError` names the line that is wrong."""
    profiled = read_through(path, reading or Reading(), Shape(), _core.profile_trace)
    return msgspec.convert({**profiled, "remarks": remarks(profiled)}, Profile)


def sentences(profiled: Profile, name: str) -> list[str]:
    """The trace in sentences, the most important first."""
    return [
        line
        for line in (
            _asked(profiled, name),
            _touched(profiled.load.places),
            _rewritten(profiled.load.places),
            _synced(profiled),
            _timed(profiled),
        )
        if line
    ]


def notes(profiled: Profile) -> list[str]:
    """Remarks that a reader of these figures needs."""
    places, notes = profiled.load.places, []
    if places.partial_writes:
        share = places.partial_writes / places.writes
        notes.append(
            f"{_percent(share)} of the writes of {show_block(places.bytes)} places cover them in"
            " part: a drive that maps such places has to read the rest first"
        )
    if places.sampled:
        notes.append("places and overwrites are estimated from a sample of the places")
    if places.not_followed:
        notes.append(
            f"{readable_size(places.not_followed)} lie beyond the first GiB of a request: no count"
            " of places has them"
        )
    return [*notes, *profiled.remarks]


def rows(profiled: Profile) -> list[Row]:
    """The kinds of requests side by side."""
    return [_row(kind, side, moved) for kind, side, moved in profiled.sides]


def _row(kind: str, side: Side, moved: int) -> Row:
    assert side.usual is not None and side.median_bytes is not None, "a kind without requests"
    size, share = side.usual
    return Row(
        kind=TITLES[kind],
        requests=f"{side.count:,}",
        bytes=readable_size(moved),
        median=show_block(side.median_bytes),
        usual=f"{show_block(size)} ({_percent(share)})",
        in_order=_percent(side.sequential_bytes / moved),
    )


def _asked(profiled: Profile, name: str) -> str:
    seconds, count = profiled.span_ns / 1e9, sum(profiled.ios)
    parts = [
        f"{readable_size(moved)} in {side.count:,} {TITLES[kind]}"
        for kind, side, moved in profiled.sides
    ]
    span = f" within {readable_seconds(seconds)}" if profiled.span_ns else ""
    disks = f" of {len(profiled.files)} files or disks" if len(profiled.files) > 1 else ""
    total = f"{count:,} request{'' if count == 1 else 's'}"
    moved = f": {_listed(parts)}" if parts else ""
    return f"{name} ({profiled.format}) has {total}{disks}{span}{moved}."


def _touched(places: Places) -> str:
    """The working set: what is touched at all, and what of it the writes touch."""

    def size(count: int) -> str:
        return readable_size(count * places.bytes)

    if not places.writes:
        return f"The reads touch {size(places.read)}." if places.read else ""
    times = significant(places.writes / places.written, 3)
    text = f"The writes touch {size(places.written)}, each place {times} times"
    hottest = dict(places.hottest)
    if places.writes > places.written and 100 in hottest:
        text += f"; the most written 10 % of it takes {_percent(hottest[100] / 1000)} of them"
    if places.read:
        text += f"; with the {size(places.read)} of the reads {size(places.touched)} are touched"
    return f"{text}."


def _rewritten(places: Places) -> str:
    if not places.overwrites or places.median_distance is None:
        return ""
    share = _percent(places.overwrites / places.writes)
    between = readable_size(places.median_distance, 2, binary=True)
    return (
        f"{share} of the writes replace what the trace had written before, half of these before"
        f" {between} or more of other data came between."
    )


def _synced(profiled: Profile) -> str:
    parts = []
    written = profiled.bytes[1]
    if profiled.flushes:
        each = (
            f", one for every {readable_size(written / profiled.flushes, 3)} written"
            if written
            else ""
        )
        parts.append(f"{profiled.flushes:,} flushes{each}")
    if profiled.load.fua:
        parts.append(f"{profiled.load.fua:,} writes with FUA")
    if parts:
        return f"It has {_listed(parts)}."
    return "Nothing in it asks for durability: no flush, no FUA." if written else ""


def _timed(profiled: Profile) -> str:
    if not profiled.span_ns:
        return "It has no times."
    idle = profiled.load.idle
    if not idle.count:
        return "There is no silence of a second in it."
    share = _percent(idle.total_ns / profiled.span_ns)
    longest = readable_seconds(idle.longest_ns / 1e9)
    return f"For {share} of the time nothing is asked for a second or longer, {longest} at most."


def _percent(share: float) -> str:
    return f"{significant(100 * share, 3)} %"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
