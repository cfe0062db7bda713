"""discover: what kind of cache a drive has, by the tests that tell most, one after another.

After a fill several kinds of caches fit. `posterior` keeps candidates of each with probabilities
and simulates them on a choice of tests: a second pass at once, a rest on the full drive, rests on a
drive that is half full, a burst of random writes, TRIM. The one on which those that are left
disagree most is run, until one kind is probable enough or no test would tell more. Our own battery:
no reviewer does this.

Invariants: what is decided follows from results alone, so a resumed run decides the same; the
inside of a twin is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.loads import Load, check_fits
from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import decimal, host_time, integer, parameter
from flashtwin.batteries.base.registry import Battery, Clause, Forecast, host_ns
from flashtwin.batteries.base.writing import (
    BLOCK,
    DEPTH,
    MIB,
    SAMPLE_S,
    SAMPLE_S_LEAST,
    whole_blocks,
)
from flashtwin.batteries.base.writing import write as write_step
from flashtwin.batteries.discover.words import FILL, NAME
from flashtwin.model.finding import Finding
from flashtwin.model.step import Fill, Job, Mark, Purge, Rest, Result, Run, Trim

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.batteries.discover.candidates import Facts, Test
    from flashtwin.batteries.discover.posterior import Seen
    from flashtwin.model.step import Step
    from flashtwin.model.target import DriveInfo

# A write of a test has about so many samples.
SAMPLES = 200


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the battery discover."""

    tests: int = parameter(6, integer(0, 20), "how many tests are run after the fill at most")
    probability: float = parameter(
        0.95, decimal(0.5, 0.9999), "a kind of cache this probable is known"
    )
    candidates: int = parameter(
        16, integer(4, 1000), "candidates of each kind that are simulated to begin with"
    )
    host_us: float = host_time(5.0)


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """The fill; then the test that tells most, again and again."""
    check_fits(NAME, [Load(random=False, block_bytes=BLOCK, read_percent=0, depth=DEPTH)], info)
    yield Purge(label=f"{NAME}/purge")
    answer = yield _fill(parameters, info)
    yield Mark(label=f"{FILL}/found")
    if not isinstance(answer, Result) or answer.cut:
        return
    from flashtwin.batteries.discover import reading
    from flashtwin.batteries.discover.posterior import chosen

    facts = reading.facts_of(answer)
    seen: tuple[Seen, ...] = ()
    while facts is not None and len(seen) < parameters.tests:
        if is_known(parameters, facts, seen):
            return
        choice = chosen(facts, seen, parameters.candidates, reading.possible(info))
        if choice is None:
            return
        test, stem = reading.test_of(choice[0]), f"{NAME}/{len(seen) + 1}-{choice[0]}"
        yield from _before(test, facts, stem, info)
        answer = yield _write(parameters, info, facts, test, f"{stem}/write")
        if not isinstance(answer, Result) or answer.cut:
            return
        seen = (*seen, reading.seen_of(answer, test, facts))
        yield Mark(label=f"{stem}/found")


def is_known(parameters: Parameters, facts: Facts, seen: tuple[Seen, ...]) -> bool:
    """Whether kind, past and rest are known well enough to stop."""
    from flashtwin.batteries.discover.posterior import posterior

    belief = posterior(facts, seen, parameters.candidates)
    rests = belief.even_in_rests()
    low, high = rests.quantiles([item.idle_s for item in rests.candidates], (0.1, 0.9))
    sure = all(max(belief.by(part).values()) >= parameters.probability for part in (0, 1))
    return sure and high <= 1.5 * low


def _fill(parameters: Parameters, info: DriveInfo) -> Run:
    size = whole_blocks(info.capacity_bytes)
    return write_step(FILL, info, offset=0, size=size, host_ns=host_ns(parameters, info))


def _before(test: Test, facts: Facts, stem: str, info: DriveInfo) -> Iterator[Step]:
    from flashtwin.batteries.discover.candidates import SETTLE_S, rest_seconds

    first = stem.startswith(f"{NAME}/1-")
    if test.half or not first:
        # Whatever a test left behind, the next one begins at a state of its own.
        share = 0.5 if test.half else 1.0
        yield Trim(label=f"{stem}/erase")
        yield Rest(label=f"{stem}/settle", seconds=SETTLE_S)
        yield Fill(label=f"{stem}/fill", size=whole_blocks(info.capacity_bytes * share))
    if test.trims:
        yield Trim(label=f"{stem}/trim")
    if test.random:
        yield _overwrite(info, f"{stem}/overwrite")
    if test.rest_s:
        yield Rest(label=f"{stem}/rest", seconds=rest_seconds(facts, test))


def _overwrite(info: DriveInfo, label: str) -> Run:
    """Random writes all over the drive."""
    from flashtwin.batteries.discover.candidates import RANDOM_SHARE

    job = Job(
        name="overwrite",
        rw="randwrite",
        block_bytes=4096,
        depth=DEPTH,
        size=whole_blocks(info.capacity_bytes),
        io_bytes=whole_blocks(info.capacity_bytes * RANDOM_SHARE),
    )
    return Run(label=label, jobs=(job,), sample_s=SAMPLE_S)


def _write(parameters: Parameters, info: DriveInfo, facts: Facts, test: Test, label: str) -> Run:
    """The write that a test ends with."""
    from flashtwin.batteries.discover.candidates import span_share

    capacity = whole_blocks(info.capacity_bytes)
    share = span_share(facts.cache_share, test)
    size = max(whole_blocks(capacity * share), MIB)
    expected_s = facts.fill_s * share / SAMPLES
    job = Job(
        name="write",
        rw="write",
        block_bytes=BLOCK,
        depth=1 if test.single else DEPTH,
        offset=whole_blocks(capacity / 2) if test.half else 0,
        size=size,
        host_ns=host_ns(parameters, info),
    )
    sample = min(max(round(expected_s, 3), SAMPLE_S_LEAST), SAMPLE_S)
    return Run(label=label, jobs=(job,), sample_s=sample)


def estimate(parameters: Parameters, info: DriveInfo) -> Forecast:
    """The fill and two tests of a quarter of the drive after half fills; at most all tests over the
    whole drive, each after a fill of its own."""
    fill: Step = _fill(parameters, info)
    quarter = Fill(label=f"{NAME}/test", size=whole_blocks(info.capacity_bytes / 4))
    rest = Rest(label=f"{NAME}/rest", seconds=600)
    half = Fill(label=f"{NAME}/half", size=whole_blocks(info.capacity_bytes / 2))
    anew, test = Fill(label=f"{NAME}/anew"), Fill(label=f"{NAME}/test")
    most: list[Step] = [anew, rest, test] * parameters.tests
    purge = Purge(label=f"{NAME}/purge")
    return Forecast(
        expected=[purge, fill, half, rest, quarter, half, rest, quarter],
        most=[purge, fill, *most],
    )


def conclude(record: Record) -> list[Finding]:
    """The kind of cache with the probabilities of all, and the rest that it needs."""
    if record.result(FILL) is None:
        return []
    from flashtwin.batteries.discover import reading

    return reading.findings(record)


def departs(parameters: Parameters, info: DriveInfo) -> list[str]:
    """What this target cannot do."""
    texts = []
    if not info.can.trim:
        texts.append(
            "no TRIM here: neither TRIM nor a half full drive is tested; rests are on a full one"
        )
    if not info.can.whole_drive:
        texts.append("writes a file: the drive under it is as full and as tired as it is")
    return texts


FOLLOWS = (
    Clause(
        says="the next test is the one on which what still fits disagrees most",
        source="our own",
    ),
    Clause(
        says="speeds, sizes and rests are those of simulated drives of 1 GB, stretched",
        source="our own",
    ),
)

BATTERY = Battery(
    name=NAME,
    title="what kind of cache a drive has, by the tests that tell most",
    trust="M",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    departs=departs,
    estimate=estimate,
    present="flashtwin.batteries.discover.present",
    meanings=beside(__file__),
    follows=FOLLOWS,
)
