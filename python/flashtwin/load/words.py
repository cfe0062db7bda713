"""The words of loads as types: a trace's profile, its cost, years under a load.

They are what `--json` prints, so this module loads nothing that simulates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

KINDS = ("read", "write", "trim")


def middle(classes: Sequence[tuple[int, int]], share: float) -> int | None:
    """The value below which a share of the counts lies; classes ascend."""
    total, seen = sum(count for _, count in classes), 0
    for value, count in classes:
        seen += count
        if count and seen >= share * total:
            return value
    return None


class Side(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The requests of one kind: how many have each size in bytes, and how many begin where one of
    the last of their kind ended."""

    sizes: dict[int, int]
    sequential: int
    sequential_bytes: int

    @property
    def count(self) -> int:
        """How many requests there are."""
        return sum(self.sizes.values())

    @property
    def median_bytes(self) -> int | None:
        """The size of the request in the middle, none without requests."""
        return middle(sorted(self.sizes.items()), 0.5)

    @property
    def usual(self) -> tuple[int, float] | None:
        """The most frequent size, and its share of the requests."""
        if not self.sizes:
            return None
        size = max(self.sizes, key=lambda size: (self.sizes[size], -size))
        return size, self.sizes[size] / self.count


class Idle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Silences of a second and more."""

    count: int
    total_ns: int
    longest_ns: int


class Places(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The places of `bytes` that requests touch; `sampled`: estimated from a sample of them.

    `touched`, `written` and `read` count different places, the others count each request's places
    anew. `distances` has the overwrites by the bytes that were written in between: place n from
    2^(n-1) to below 2^n. `hottest` has pairs in thousandths: the most written share of the written
    places, and its share of the writes.
    """

    bytes: int
    sampled: bool
    touched: int
    written: int
    read: int
    writes: int
    partial_writes: int
    overwrites: int
    reads: int
    reads_of_written: int
    distances: list[int]
    hottest: list[tuple[int, int]]
    not_followed: int

    @property
    def median_distance(self) -> int | None:
        """The median of the bytes that the host writes between two writes of a place, as the
        lower end of its class; none without overwrites."""
        classes = [(1 << place - 1 if place else 0, n) for place, n in enumerate(self.distances)]
        return middle(classes, 0.5)


class Windows(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Requests and bytes in each window of `window_ns`."""

    read_ios: list[int]
    read_bytes: list[int]
    write_ios: list[int]
    write_bytes: list[int]
    trim_ios: list[int]
    trim_bytes: list[int]
    flushes: list[int]


class Load(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a trace loads a drive. `between_flushes` has the times between flushes by the bytes that
    were written in them, in the classes of `Places.distances`."""

    read: Side
    write: Side
    trim: Side
    fua: int
    between_flushes: list[int]
    idle: Idle
    window_ns: int
    windows: Windows
    places: Places


class File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file or disk of the trace: where its furthest request ends (in `line`), and its longest
    request in bytes."""

    name: str
    end: int
    line: int
    longest: int


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A trace: its requests widened to whole sectors; triples are reads, writes and trims.

    `earlier`: requests whose time is before that of the request before them, the first in line
    `first_earlier`; `unended`: the last line, where the file ends without ending it; `remarks`:
    what of all that an answer about the trace has to mention."""

    format: str
    ios: tuple[int, int, int]
    bytes: tuple[int, int, int]
    flushes: int
    span_ns: int
    longest: tuple[int, int, int]
    unaligned: int
    left_out: int
    late: int
    earlier: int
    first_earlier: int
    unended: int | None
    remarks: list[str]
    files: list[File]
    load: Load

    @property
    def sides(self) -> Iterator[tuple[str, Side, int]]:
        """The kinds that there are, each with its name and its bytes."""
        sides = (self.load.read, self.load.write, self.load.trim)
        for kind, side, moved in zip(KINDS, sides, self.bytes, strict=True):
            if side.sizes:
                yield kind, side, moved


class Recorded(Struct, frozen=True, kw_only=True):
    """What was recorded of a host, and how. `left_out`: requests that this way does not see;
    `instead_of`: the finer ways, and why each was not taken; `code`: with which the recorded
    command ended."""

    file: str
    way: str
    title: str
    seconds: float
    interrupted: bool
    code: int | None
    reads: int
    read_bytes: int
    writes: int
    write_bytes: int
    trims: int
    trim_bytes: int
    flushes: int
    left_out: list[str]
    instead_of: list[str]

    @property
    def write_bytes_a_day(self) -> float:
        """The bytes that a day of it writes."""
        return self.write_bytes / self.seconds * 86_400 if self.seconds else 0.0


class Kind(Struct, frozen=True, kw_only=True):
    """Requests of one kind: how many, their bytes, and what a thread waited for them, in ns."""

    count: int
    bytes: int
    waited_ns: int
    p50_ns: int
    p99_ns: int
    p999_ns: int


class Cost(Struct, frozen=True, kw_only=True):
    """The cost of a trace on a drive.

    `reads_of_nothing`: reads that met no data, which cost a drive next to nothing.
    `partial_writes`: writes of 4 KiB places that cover a part of them. `remarks`: oddities of the
    trace.

    `time_ns`: from the first request to the last answer. `programmed_bytes`: what the flash took,
    with everything that the drive did later because of it; `hash`: of the drive's spec.
    """

    trace: str
    drive: str
    state: str
    hash: str
    model: int
    time_ns: int
    reads_of_nothing: int
    partial_writes: int
    host_bytes: int
    programmed_bytes: int
    read: Kind
    write: Kind
    trim: Kind
    sync: Kind
    remarks: list[str]

    @property
    def requests(self) -> int:
        """Reads, writes and TRIMs."""
        return self.read.count + self.write.count + self.trim.count

    @property
    def waf(self) -> float | None:
        """Bytes programmed for a byte that the host wrote."""
        return self.programmed_bytes / self.host_bytes if self.host_bytes else None


class Change(Struct, frozen=True, kw_only=True):
    """A figure of a trace beside that of its base; `ratio` is none where the base has none."""

    drive: str
    measure: str
    unit: str
    before: int
    after: int
    ratio: float | None

    def is_worse(self, share: float) -> bool:
        """True where it grew by more than a share."""
        return self.after > self.before * (1 + share)


class Interval(Struct, frozen=True, kw_only=True):
    """A value with the bounds between which it lies with 90 %."""

    value: float
    low: float
    high: float


class Latency(Struct, frozen=True, kw_only=True):
    """How long requests of a kind waited in the steady state, in ns."""

    kind: str
    count: int
    p50_ns: int
    p99_ns: int
    p999_ns: int


class Cycles(Struct, frozen=True, kw_only=True):
    """Program and erase cycles in one mode, of the superblocks that were ever used in it: their
    mean, the most, and what they are rated for."""

    superblocks: int
    mean: float
    most: int
    rated: int


class Aged(Struct, frozen=True, kw_only=True):
    """A drive after years of a load: the share of its rated life that is used, its spare blocks in
    percent, its cycles by mode (slc, native, tier: the second tier of a cache).

    `smart`: what `smartctl --json` would print of it. Times above a temperature are not in it.
    """

    years: float
    used: float
    spare_percent: int
    read_only: bool
    cycles: dict[str, Cycles]
    smart: dict[str, Any]


class Stage(Struct, frozen=True, kw_only=True):
    """A stage of a life, which was simulated in its time: years after the first write, share of the
    rated life that is used, WAF, the share of the rated life that a year like it takes, the refresh
    of resting data in it, and the wait of writes at 99 %, none where nothing waited."""

    years: float
    used: float
    waf: float
    wear: float
    refresh: float
    write_p99_ns: int | None


class Lifetime(Struct, frozen=True, kw_only=True):
    """Years of a load on a drive.

    `years`: until the rated cycles are used up; `wear`: the share that each mode of the cells has
    in that; `warranty_years`: until the written bytes that the maker rates the drive for are used
    up, none where nobody printed them. `aged`: the drive after the years that were asked about, or
    as far as it lived; `stages`: between them it was jumped; `repeated`: how many times as much was
    repeated as was simulated; `jump_error`: the share of the years that jumps may have got wrong;
    `drift_p99`: the most that neighbouring stages differ by in that wait; `refused`: why nothing
    was repeated, so that the years are what the simulated wear comes to. `ended`: it took no writes
    any more.
    `scale_error`: how far the copy of half the size differs in WAF.
    """

    drive: str
    name: str
    load: str
    title: str
    full: float
    capacity_bytes: int
    per_day_bytes: float
    waf: Interval
    years: Interval
    wear: dict[str, float]
    flash_per_day_bytes: float
    warranty_years: float | None
    aged: Aged | None
    stages: list[Stage]
    repeated: float
    jump_error: float
    drift_p99: float
    refused: str | None
    ended: bool
    scale_error: float
    kept_up: float
    steady: bool
    by_cause: dict[str, float]
    latencies: list[Latency]
    watts: float
    draws: list[float]
    assumed: list[str]
    sources: list[str]


class Member(Struct, frozen=True, kw_only=True):
    """A drive of a fleet: what its host writes in a day, what that costs it, and how long its rated
    cycles last; none where nothing wears."""

    per_day_bytes: float
    waf: float
    years: float | None


class Fleet(Struct, frozen=True, kw_only=True):
    """Drives of one model, each with a day of its own and drawn over what is not known of it.

    `spread`: 90 % of the hosts write between the load divided by it and the load times it.
    `ended`: how many have used up their rated cycles after the years that were asked about.
    `lives`: how many were simulated; `error`: the most by which the years of drives that share
    lives differ from their own, none where each drive lived its own.
    """

    name: str
    title: str
    full: float
    per_day_bytes: float
    spread: float
    ended: Interval
    lives: int
    error: float | None
    drives: list[Member]
    assumed: list[str]
    sources: list[str]


class Rested(Struct, frozen=True, kw_only=True):
    """Bursts of a load after a rest each: how fast they go in, and what its writes wait."""

    rest_s: float
    bytes_s: float
    p50_ns: int
    p99_ns: int
    p999_ns: int


class Rests(Struct, frozen=True, kw_only=True):
    """How long a drive has to rest between bursts of a load.

    `needed_s`: the shortest of the rests after which bursts go in at nine tenths of the fastest at
    least, and the shortest and the longest of those that copies and drawn drives need.
    """

    name: str
    title: str
    full: float
    burst_bytes: float
    rests: list[Rested]
    needed_s: Interval
    scale: int
    assumed: list[str]
    sources: list[str]
