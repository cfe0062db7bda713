"""Write amplification that a drive settles to under one load, simulated without time.

A load is written over a span again and again: evenly, in order, with hot and cold parts, or zone by
zone, where a zone is trimmed as it is begun and several are written side by side. Sizes are those
of a drive of the full size; a copy of it is simulated that is `scale` times smaller, with as many
superblocks, because only ratios of sizes count. Source of the loads: SSD-iq (PVLDB 18(11), 2025).
Invariant: time plays no part, so a drive whose state depends on it is refused.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, stdev
from typing import Literal

from flashtwin import _core
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.cells import BITS
from flashtwin.model.job import Job, jobs_json
from flashtwin.model.units import parse_size

UNIT = 4096
# A superblock of the copy holds this many bursts of one zone at least: finer turns change nothing.
BURSTS = 32
# Requests from one change between hot and cold parts to the next, as a share of the span.
TURN = 1 / 4096
# Passes over the span: before anything counts, and at most; each half of one is looked at.
LEAST_PASSES, MOST_PASSES = 2.5, 8.0
# It has settled once the mean of the last halves is known to this share.
STEADY, HALVES = 0.01, 4
# Classes into which the pages of a zipf distribution are put, each half as large as the next.
CLASSES = 14

Kind = Literal["uniform", "sequential", "parts", "zones"]


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """What is written: `parts` are shares of the span with their shares of the writes; `zone_bytes`
    and `active` say how large zones are and how many of them are written side by side, `trimmed`
    that each is trimmed as it is begun."""

    kind: Kind
    parts: tuple[tuple[float, float], ...] = ()
    zone_bytes: int = 0
    active: int = 1
    trimmed: bool = True


def zipf(theta: float, pages: int) -> Pattern:
    """Hot and cold parts that are written as pages of a zipf distribution are."""
    edges = [0.0, *(2.0 ** (at - CLASSES + 1) for at in range(CLASSES))]

    def below(share: float) -> float:
        """The share of the writes that the hottest pages get."""
        if abs(theta - 1) < 1e-9:
            return math.log1p(share * pages) / math.log1p(pages)
        return float(((1 + share * pages) ** (1 - theta) - 1) / ((1 + pages) ** (1 - theta) - 1))

    parts = tuple((high - low, below(high) - below(low)) for low, high in pairwise(edges))
    return Pattern(kind="parts", parts=parts)


def check(spec: _core.Spec) -> None:
    """Refuse a drive whose state depends on time, or that maps larger pieces than are written."""
    why = spec.precondition_refusal(True)
    if spec.map_unit_bytes > UNIT:
        why = "it maps larger pieces than 4 KiB (ftl.mapping_unit)"
    if why is not None:
        raise FlashtwinError(
            f"what {spec.id} settles to cannot be simulated without time: {why}",
            hint="take a drive without it, or change it with --set",
            exit_code=USAGE,
        )


def amplification(
    spec: _core.Spec, pattern: Pattern, span_bytes: int, *, scale: float = 1.0, seed: int = 1
) -> float:
    """Bytes programmed for a byte written, once a copy of the drive has settled; `spec` is that of
    the copy."""
    return settle(spec, pattern, span_bytes, scale=scale, seed=seed)[0]


def settle(
    spec: _core.Spec, pattern: Pattern, span_bytes: int, *, scale: float = 1.0, seed: int = 1
) -> tuple[float, _core.Twin]:
    """The write amplification, and the drive as it is then."""
    twin = _core.Twin(spec, seed)
    copy = replace(pattern, zone_bytes=_whole(pattern.zone_bytes / scale))
    span = _whole(span_bytes / scale)
    if pattern.kind == "zones":
        span = span // copy.zone_bytes * copy.zone_bytes
        if span // copy.zone_bytes <= copy.active:
            raise FlashtwinError(
                "there are no more zones than are written at once",
                hint="take smaller zones, or fewer at once",
                exit_code=USAGE,
            )
    _write(twin, [_job("write", 0, span)])
    if pattern.kind == "parts":
        # Hot data lies scattered among cold data, as what was written before has left it.
        _write(twin, [_job("randwrite", 0, span, span, seed)])
    burst = _whole(superblock_bytes(values_of(spec)) / BURSTS)
    writes = _bursts(copy, span, burst, random.Random(seed))
    ratios: list[float] = []
    while True:
        before = _counts(twin)
        _half_a_pass(twin, writes, span // 2)
        after = _counts(twin)
        ratios.append((after[1] - before[1]) / (after[0] - before[0]))
        passes = len(ratios) / 2
        last = ratios[-min(HALVES, len(ratios)) :]
        if passes >= MOST_PASSES or (passes > LEAST_PASSES and _is_steady(last)):
            return fmean(last), twin


# A write of a run of pages, or of as many bytes at random within a range; a zone that begins.
_Write = Job | tuple[int, int]


def _half_a_pass(twin: _core.Twin, writes: Iterator[_Write], count: int) -> None:
    """Write that many bytes of a load; what lies between two TRIMs is handed over together."""
    jobs: list[Job] = []
    while count > 0:
        write = next(writes)
        if isinstance(write, tuple):
            _write(twin, jobs)
            jobs = []
            twin.trim(*write, _go_on)
            continue
        jobs.append(write)
        assert write.io_bytes is not None, "a burst has a length"
        count -= write.io_bytes
    _write(twin, jobs)


def _bursts(pattern: Pattern, span: int, burst: int, chance: random.Random) -> Iterator[_Write]:
    match pattern.kind:
        case "uniform":
            return _random(((1.0, 1.0),), span, span // 8, chance)
        case "parts":
            return _random(pattern.parts, span, _whole(span * TURN), chance)
        case "sequential":
            return _zones(replace(pattern, zone_bytes=span, active=0), span, span, chance)
        case "zones":
            return _zones(pattern, span, burst, chance)


def _random(
    parts: Sequence[tuple[float, float]], span: int, turn: int, chance: random.Random
) -> Iterator[_Write]:
    """Each part in turns, whose lengths are drawn, so that parts do not stay side by side."""
    ranges, start = [], 0
    total = sum(share for share, _ in parts)
    weights = [weight for _, weight in parts]
    for share, _ in parts:
        size = max(_whole(span * share / total), UNIT)
        ranges.append((start, min(size, span - start)))
        start += size
    while True:
        offset, size = chance.choices(ranges, weights)[0]
        yield _job("randwrite", offset, size, turn, chance.getrandbits(32))


def _zones(pattern: Pattern, span: int, burst: int, chance: random.Random) -> Iterator[_Write]:
    """A burst of one of the active zones, drawn each time; with none active, the span in order."""
    count, zone = span // pattern.zone_bytes, pattern.zone_bytes
    if not pattern.active:
        while True:
            yield _job("write", 0, span)
    active: list[int] = []
    left = [0] * pattern.active
    while True:
        at = chance.randrange(pattern.active)
        if not left[at]:
            free = chance.choice([index for index in range(count) if index not in active])
            if len(active) < pattern.active:
                active += [-1] * (pattern.active - len(active))
            active[at], left[at] = free, zone
            if pattern.trimmed:
                yield free * zone, zone
        size = min(left[at], zone if pattern.active == 1 else burst)
        yield _job("write", active[at] * zone + zone - left[at], size)
        left[at] -= size


def _job(
    rw: Literal["write", "randwrite"], offset: int, size: int, moved: int = 0, seed: int = 1
) -> Job:
    return Job(
        name=rw,
        rw=rw,
        block_bytes=UNIT,
        offset=offset,
        size=size,
        io_bytes=moved or size,
        seed=seed,
    )


def _write(twin: _core.Twin, jobs: Sequence[Job]) -> None:
    if jobs:
        twin.precondition(jobs_json(jobs), _go_on)


def _go_on(_bytes: int, _ns: int) -> bool:
    return True


def _counts(twin: _core.Twin) -> tuple[int, int]:
    """Bytes from the host, and bytes programmed."""
    waf = twin.smart()["flashtwin"]["waf"]
    return int(waf["host_bytes"]), int(waf["programmed_bytes"])


def _is_steady(ratios: Sequence[float]) -> bool:
    mean, half = fmean(ratios), len(ratios) // 2
    drift = abs(fmean(ratios[:half]) - fmean(ratios[half:]))
    return drift <= 2 * STEADY * mean and stdev(ratios) <= STEADY * mean * len(ratios) ** 0.5


def _whole(count: float) -> int:
    """Bytes in whole units of the map."""
    return int(count) // UNIT * UNIT


def values_of(spec: _core.Spec) -> dict[str, str]:
    """The values of a spec by their keys."""
    return {row["key"]: row["value"] for row in spec.values()}


def bits_of(values: Mapping[str, str]) -> int:
    """Bits of a cell of native data."""
    return BITS[values["nand.cell"]]


def superblock_bytes(values: Mapping[str, str]) -> int:
    """Bytes that a superblock of a drive holds natively."""
    dies = int(values["nand.channels"]) * int(values["nand.dies_per_channel"])
    spanned = int(values["ftl.superblock_dies"]) or dies
    page = parse_size(values["nand.page_size"].replace(" ", ""))
    wordlines = int(values["nand.wordlines_per_block"])
    return spanned * int(values["nand.planes"]) * wordlines * bits_of(values) * page
