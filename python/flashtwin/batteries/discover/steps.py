"""The steps of discover's tests: the state that a test begins at, and what it asks.

Whatever a test left behind, the next one begins at a state of its own. A cache that is to be full
when reads begin is filled by a measured write: a preparation without time leaves none behind.
"""

from __future__ import annotations

from collections.abc import Iterator

from flashtwin.batteries.base.writing import (
    BLOCK,
    DEPTH,
    MIB,
    SAMPLE_S,
    SAMPLE_S_LEAST,
    whole_blocks,
)
from flashtwin.batteries.discover import latency, places, rests
from flashtwin.batteries.discover.candidates import Facts, rest_seconds, span_share
from flashtwin.batteries.discover.tests import SINGLE_SHARE, Test
from flashtwin.model.step import Chain, Fill, Job, Rest, Run, Step, Trim
from flashtwin.model.target import DriveInfo

# Between TRIM of everything and what is written next the drive may erase.
SETTLE_S = 60.0
# Samples of a write of a test, and of single writes: the longest wait of each eighth of these is
# compared (`latency.PARTS`).
SAMPLES, SINGLE_SAMPLES = 800, 64
READ_BYTES = 4096
# So many reads let programs end that were under way.
WARM = 64
# The label of a rest ends with how long it was to be, in seconds.
RESTS_FOR = "rest-"
# Where the parts of a chain of reads stand: see `rung` and `_reads`.
BEFORE, RESTED, AFTER, LEVELS = 1, 2, 3, 5
OLDEST, TAKEN, PAST, SINGLE, MIXED = 1, 2, 3, 4, 5


def written(info: DriveInfo, share: float, stem: str, idle_s: float) -> Iterator[Step]:
    """A share of the capacity is written into an empty cache, and nothing rests. The drive is
    erased before; one that cannot be rests for `idle_s` instead."""
    if info.can.trim:
        yield Trim(label=f"{stem}/erase")
    seconds = SETTLE_S if info.can.trim else idle_s
    yield Rest(label=f"{stem}/settle", seconds=seconds)
    size = max(whole_blocks(info.capacity_bytes * min(share, 1.0)), MIB)
    job = Job(name="fill", rw="write", block_bytes=BLOCK, depth=DEPTH, size=size)
    yield Run(label=f"{stem}/full", jobs=(job,), sample_s=SAMPLE_S)


def rung(info: DriveInfo, share: float, ask: rests.Next, stem: str) -> Chain:
    """Reads, a rest, and reads; and, where a part was to be folded, reads of each region."""
    cached = (0.0, share)
    parts: list[Run | Rest] = [
        _reads(info, f"{stem}/warm", cached, WARM),
        _reads(info, f"{stem}/reads", cached, rests.READS),
        Rest(label=f"{stem}/{RESTS_FOR}{ask.rest_s:g}", seconds=ask.rest_s),
        _reads(info, f"{stem}/again", cached, rests.READS),
    ]
    if ask.stage == "part":
        step = share / places.REGIONS
        parts += [
            _reads(info, f"{stem}/warm-2", cached, WARM),
            *(
                _reads(info, f"{stem}/region-{at}", (at * step, at * step + step), places.READS)
                for at in range(places.REGIONS)
            ),
        ]
    return Chain(label=stem, parts=tuple(parts))


def _reads(info: DriveInfo, label: str, ends: tuple[float, float], count: int) -> Run:
    """Single reads between two shares of the capacity."""
    first, last = (whole_blocks(info.capacity_bytes * min(end, 1.0)) for end in ends)
    first = min(first, whole_blocks(info.capacity_bytes) - MIB)
    job = Job(
        name="read",
        rw="randread",
        block_bytes=READ_BYTES,
        depth=1,
        offset=first,
        size=max(last - first, MIB),
        io_bytes=count * READ_BYTES,
    )
    return Run(label=label, jobs=(job,), sample_s=SAMPLE_S)


def before(test: Test, facts: Facts, stem: str, info: DriveInfo, idle_s: float) -> Iterator[Step]:
    """The state that a test begins at."""
    if test.reads:
        yield from written(info, facts.cache_share * places.PAST[1], stem, idle_s)
        return
    if info.can.trim:
        yield Trim(label=f"{stem}/erase")
        yield Rest(label=f"{stem}/settle", seconds=SETTLE_S)
    if test.level > 0:
        yield Fill(label=f"{stem}/fill", size=whole_blocks(info.capacity_bytes * test.level))
    if test.overwrites:
        yield _overwrite(info, test, f"{stem}/overwrite")
    seconds = rest_seconds(facts, test)
    if seconds and test.level > 0:
        yield Rest(label=f"{stem}/rest", seconds=seconds)


def _overwrite(info: DriveInfo, test: Test, label: str) -> Run:
    """Random writes all over the drive."""
    job = Job(
        name="overwrite",
        rw="randwrite",
        block_bytes=4096,
        depth=DEPTH,
        size=whole_blocks(info.capacity_bytes),
        io_bytes=max(whole_blocks(info.capacity_bytes * test.overwrites), MIB),
    )
    return Run(label=label, jobs=(job,), sample_s=SAMPLE_S)


def asked(info: DriveInfo, facts: Facts, test: Test, label: str, host_ns: int) -> Run | Chain:
    """What a test asks at its state."""
    if test.reads:
        return _placed(info, facts, label, host_ns)
    capacity = whole_blocks(info.capacity_bytes)
    share = span_share(facts.cache_share, test)
    job = Job(
        name="write",
        rw="write",
        block_bytes=BLOCK,
        depth=DEPTH,
        offset=whole_blocks(capacity * test.level) if test.level < 1.0 else 0,
        size=max(whole_blocks(capacity * share), MIB),
        host_ns=host_ns,
    )
    return Run(label=label, jobs=(job,), sample_s=_sample_s(facts.fill_s * share, SAMPLES))


def _sample_s(seconds: float, samples: int) -> float:
    """How long a sample is for that many of them, within what a step may ask."""
    return min(max(round(seconds / samples, 3), SAMPLE_S_LEAST), SAMPLE_S)


def _placed(info: DriveInfo, facts: Facts, label: str, host_ns: int) -> Chain:
    """Reads of three regions of a write past the cache; then single writes after it, and single
    writes within it with reads among them."""
    size = facts.cache_share
    regions = (places.OLDEST, places.TAKEN, places.PAST)
    reads = [
        _reads(info, f"{label}-{at}", (size * low, size * high), places.PAST_READS)
        for at, (low, high) in enumerate(regions)
    ]
    capacity = whole_blocks(info.capacity_bytes)
    written = whole_blocks(min(size * places.PAST[1], 1.0 - SINGLE_SHARE) * capacity)
    size_bytes = max(whole_blocks(capacity * SINGLE_SHARE), MIB)
    job = Job(
        name="single",
        rw="write",
        block_bytes=BLOCK,
        depth=1,
        offset=written,
        size=size_bytes,
        host_ns=host_ns,
    )
    warm = _reads(info, f"{label}-warm", (0.0, size * places.PAST[1]), WARM)
    # None of it is faster than the first plateau: on a small drive it ends within a second or two.
    fastest_s = facts.fill_s * size_bytes / capacity
    single = Run(
        label=f"{label}-single", jobs=(job,), sample_s=_sample_s(fastest_s, SINGLE_SAMPLES)
    )
    both = Job(
        name="mixed",
        rw="randrw",
        block_bytes=latency.BLOCK,
        depth=1,
        size=max(whole_blocks(capacity * min(size * places.PAST[1], 1.0)), MIB),
        io_bytes=latency.MIXED * latency.BLOCK,
        read_percent=latency.READ_PERCENT,
        host_ns=host_ns,
    )
    mixed = Run(label=f"{label}-mixed", jobs=(both,), sample_s=SAMPLE_S)
    return Chain(label=label, parts=(warm, *reads, single, mixed))
