"""discover: what kind of cache a drive has, by the tests that show most, one after another.

After a fill several kinds of caches fit. Rests with single reads between them say when the drive
folds and how fast (`rests`), and reads of a write past the cache which data that holds (`places`).
`posterior` keeps candidates of each kind with probabilities and simulates them on a choice of tests
(`tests`): a second pass at once, writes after a rest at levels from an empty drive to a full one
that was overwritten. The one on which those that are left disagree most is run, until one kind is
probable enough or no test would tell more. Our own battery: no reviewer does this.

Invariants: what is decided follows from results alone, so a resumed run decides the same; the
inside of a twin is not looked at.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtwin.batteries.base.loads import Load, check_fits
from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import UsualTime, decimal, host_time, integer, parameter
from flashtwin.batteries.base.registry import Battery, Clause, Forecast, host_ns
from flashtwin.batteries.base.writing import BLOCK, DEPTH, whole_blocks
from flashtwin.batteries.base.writing import write as write_step
from flashtwin.batteries.discover.words import FILL, NAME, RESTS
from flashtwin.model.finding import Finding
from flashtwin.model.step import Fill, Mark, NotPossible, Purge, Rest, Result, Run
from flashtwin.model.units import readable_seconds

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer, Steps
    from flashtwin.batteries.discover.candidates import Facts
    from flashtwin.batteries.discover.posterior import Seen
    from flashtwin.batteries.discover.tests import Test
    from flashtwin.model.step import Step
    from flashtwin.model.target import DriveInfo

# What cannot be erased rests so long before it is written: its cache may be full.
IDLE = UsualTime(simulated_s=600.0, real_s=60.0)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the battery discover."""

    tests: int = parameter(8, integer(0, 20), "how many tests are run after the fill at most")
    probability: float = parameter(
        0.95, decimal(0.5, 0.9999), "a kind of cache this probable is known"
    )
    longest_s: float = parameter(
        600.0, decimal(0, 100_000), "the longest rest after which folding may begin, in s"
    )
    candidates: int = parameter(
        16, integer(4, 1000), "candidates of each kind that are simulated to begin with"
    )
    idle_s: float | None = IDLE.parameter("rest that empties the cache of what cannot be erased")
    host_us: float = host_time(5.0)


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """The fill; rests with reads between them; then the test that tells most, again and again."""
    check_fits(NAME, [Load(random=False, block_bytes=BLOCK, read_percent=0, depth=DEPTH)], info)
    purged = yield Purge(label=f"{NAME}/purge")
    if isinstance(purged, NotPossible):
        yield Rest(label=f"{NAME}/idle", seconds=IDLE.chosen(parameters.idle_s, info))
    answer = yield _fill(parameters, info)
    yield Mark(label=f"{FILL}/found")
    if not isinstance(answer, Result) or answer.cut:
        return
    from flashtwin.batteries.discover import reading

    facts = reading.facts_of(answer)
    if facts is None or reading.is_too_small(facts):
        return
    facts = yield from _rested(parameters, info, facts)
    if facts is not None:
        yield from _tested(parameters, info, facts)


def _rested(
    parameters: Parameters, info: DriveInfo, facts: Facts
) -> Generator[Step, Answer, Facts | None]:
    """The facts with what rests showed; none where the drive or a budget ended them."""
    from flashtwin.batteries.discover import reading, rests, steps

    rungs: tuple[rests.Rung, ...] = ()
    while ask := rests.following(rungs, facts.expected_s, parameters.longest_s):
        stem = f"{RESTS}/{len(rungs) + 1}-{ask.stage}"
        if ask.anew:
            idle_s = _emptied_s(parameters, info, reading.with_rests(facts, rungs))
            yield from steps.written(info, facts.cache_share, stem, idle_s)
        answer = yield steps.rung(info, facts.cache_share, ask, stem)
        if not isinstance(answer, Result) or answer.cut:
            return None
        rungs = (*rungs, reading.rung_of(answer))
    return reading.with_rests(facts, rungs)


def _emptied_s(parameters: Parameters, info: DriveInfo, facts: Facts) -> float:
    """How long a drive that cannot be erased rests until its cache is empty."""
    from flashtwin.batteries.discover import tests as known_tests
    from flashtwin.batteries.discover.candidates import rest_seconds

    idle_s = IDLE.chosen(parameters.idle_s, info)
    return (
        idle_s
        if facts.begin_s is None
        else max(idle_s, rest_seconds(facts, known_tests.level(100)))
    )


def _tested(parameters: Parameters, info: DriveInfo, facts: Facts) -> Steps:
    """Where the cache holds data, and then what tells most."""
    from flashtwin.batteries.discover import reading, steps
    from flashtwin.batteries.discover import tests as known_tests
    from flashtwin.batteries.discover.posterior import chosen

    seen: tuple[Seen, ...] = ()
    test: Test | None = known_tests.PAST
    while test is not None and len(seen) < parameters.tests:
        stem = f"{NAME}/{len(seen) + 1}-{test.name}"
        yield from steps.before(test, facts, stem, info, _emptied_s(parameters, info, facts))
        own_ns = host_ns(parameters, info)
        answer = yield steps.asked(info, facts, test, f"{stem}/write", own_ns)
        if not isinstance(answer, Result) or answer.cut:
            return
        facts = reading.with_programs(facts, answer) if test.reads else facts
        seen = (*seen, reading.seen_of(answer, test, facts))
        yield Mark(label=f"{stem}/found")
        if is_known(parameters, facts, seen, info):
            return
        choice = chosen(facts, seen, parameters.candidates, info.can)
        test = None if choice is None else known_tests.named(choice[0])


def is_known(parameters: Parameters, facts: Facts, seen: tuple[Seen, ...], info: DriveInfo) -> bool:
    """Whether the kind of cache, where it can be told, and what is past it are known well enough to
    stop."""
    from flashtwin.batteries.discover.posterior import posterior

    belief = posterior(facts, seen, parameters.candidates)
    parts = (0, 1) if info.can.whole_drive else (1,)
    return all(max(belief.by(part).values()) >= parameters.probability for part in parts)


def _fill(parameters: Parameters, info: DriveInfo) -> Run:
    size = whole_blocks(info.capacity_bytes)
    return write_step(FILL, info, offset=0, size=size, host_ns=host_ns(parameters, info))


def estimate(parameters: Parameters, info: DriveInfo) -> Forecast:
    """The fill, rests up to a tenth of the longest, and three tests after half fills; at most all
    rests, and all tests over the whole drive, each after a fill of its own."""
    fill: Step = _fill(parameters, info)
    quarter: Step = Fill(label=f"{NAME}/test", size=whole_blocks(info.capacity_bytes / 4))
    half: Step = Fill(label=f"{NAME}/half", size=whole_blocks(info.capacity_bytes / 2))
    rest = Rest(label=f"{RESTS}/rest", seconds=parameters.longest_s)
    # A ladder of rests lasts about three times as long as the last one.
    tenths = replace(rest, seconds=0.3 * rest.seconds)
    all_of_them = replace(rest, seconds=3.0 * rest.seconds)
    anew, test = Fill(label=f"{NAME}/anew"), Fill(label=f"{NAME}/test")
    purge = Purge(label=f"{NAME}/purge")
    idle = [] if info.can.purge else [replace(rest, seconds=IDLE.chosen(parameters.idle_s, info))]
    ladders = [*idle * 3, quarter, tenths]
    most_ladders = [*idle * 3, quarter, all_of_them, quarter, rest, quarter, rest]
    if not info.can.whole_drive:
        past = [*idle, quarter]
        return Forecast(
            expected=[purge, *idle, fill, *ladders, *past],
            most=[purge, *idle, fill, *most_ladders, rest, *past, rest, *past],
        )
    third: Step = replace(rest, seconds=rest.seconds / 3)
    most: list[Step] = [anew, rest, test] * parameters.tests
    return Forecast(
        expected=[purge, *idle, fill, *ladders, *[half, third, quarter] * 3],
        most=[purge, *idle, fill, *most_ladders, *most],
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
    if not info.can.purge:
        idle = readable_seconds(IDLE.chosen(parameters.idle_s, info))
        texts.append(f"nothing is erased: rests of {idle} (idle_s) have to empty the cache instead")
    if not info.can.whole_drive:
        texts.append(
            "writes a file, which takes no free space from the drive: when it folds and how data"
            " past the cache is written can be told, the kind of cache cannot"
        )
    elif not info.can.trim:
        texts.append("no TRIM here: only a full drive is tested")
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
    title="what kind of cache a drive has, by the tests that show most",
    trust="M",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    departs=departs,
    estimate=estimate,
    # Small drives are simulated and weighed between its tests: measured on bx500-240.
    thinks_s=26.0,
    present="flashtwin.batteries.discover.present",
    meanings=beside(__file__),
    follows=FOLLOWS,
)
