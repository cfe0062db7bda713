"""discover's rests: what a ladder of them asks next, and what reads after them say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flashtwin import _core
from flashtwin.batteries.discover import places, rests
from flashtwin.batteries.discover.rests import Rung
from flashtwin.catalogue.loader import load
from flashtwin.model.job import Job, jobs_json

CACHED_NS, SLOW_NS = 50_000.0, 80_000.0
EXPECTED_S = 40.0


def _climbed(answer: Callable[[rests.Next], Rung], longest_s: float = 600.0) -> list[Rung]:
    """All rungs that are asked for of a drive that answers so."""
    rungs: list[Rung] = []
    while ask := rests.following(rungs, EXPECTED_S, longest_s):
        rungs.append(answer(ask))
        assert len(rungs) < 60, "a ladder ends"
    return rungs


def _drive(begin_s: float, takes_s: float) -> Callable[[rests.Next], Rung]:
    """A drive in closed form: from `begin_s` on it folds, oldest data first, for `takes_s`; while
    it does, reads wait; afterwards the data is read from slower cells."""

    def answer(ask: rests.Next) -> Rung:
        folded = min(max((ask.rest_s - begin_s) / takes_s, 0.0), 1.0)
        busy = 4.0 if 0 < folded < 1 else 1.0
        after = CACHED_NS + (SLOW_NS - CACHED_NS) * folded
        # The reads of a region are spread over it.
        inside = np.clip(folded * places.REGIONS - np.arange(places.REGIONS), 0.0, 1.0)
        levels = CACHED_NS + (SLOW_NS - CACHED_NS) * inside
        return Rung(
            stage=ask.stage,
            rest_s=ask.rest_s,
            before_ns=CACHED_NS,
            after_ns=after * busy,
            levels=tuple(levels) if ask.stage == "part" else (),
        )

    return answer


@pytest.mark.parametrize("begin_s", [0.027, 0.05, 0.2, 0.9, 7.3, 61.0, 290.0])
@pytest.mark.parametrize("takes_s", [0.5, 45.0, 400.0])
def test_a_ladder_of_rests_brackets_when_folding_begins_and_how_long_it_takes(
    begin_s: float, takes_s: float
) -> None:
    found = rests.folding(_climbed(_drive(begin_s, takes_s)))
    assert found.begin is not None and found.begin.low is not None and found.begin.high is not None
    assert found.begin.low <= begin_s <= found.begin.high < 1.15 * found.begin.low
    full = rests.full(found)
    if takes_s >= 45:
        assert full is not None and full.low is not None and full.high is not None
        assert full.low <= begin_s + takes_s <= full.high
        assert full.value == pytest.approx(begin_s + takes_s, rel=0.2)


def test_a_drive_that_folds_within_the_shortest_rest_has_a_bound_alone() -> None:
    folding = rests.folding(_climbed(_drive(0.004, 45.0)))
    assert folding.begin is not None
    assert (folding.begin.low, folding.begin.high) == (0.0, rests.SHORTEST_S)
    assert folding.takes is not None and folding.takes.value == pytest.approx(45.0, rel=0.2)


def test_a_drive_that_never_folds_is_asked_up_to_the_longest_rest_and_not_told() -> None:
    rungs = _climbed(_drive(1e9, 10.0), longest_s=100.0)
    found = rests.folding(rungs)
    assert found.begin is None and found.takes is None
    assert 50 < max(rung.rest_s for rung in rungs) <= 100 and found.longest_s <= 100


def test_a_stall_of_the_host_is_not_taken_for_folding() -> None:
    plain, asked = _drive(50.0, 40.0), []

    def answer(ask: rests.Next) -> Rung:
        asked.append(ask)
        rung = plain(ask)
        return replace(rung, after_ns=1e9) if len(asked) == 3 else rung

    found = rests.folding(_climbed(answer))
    assert asked[3].rest_s == asked[2].rest_s, "what is seen once is tried again"
    assert found.begin is not None and found.begin.value == pytest.approx(50, rel=0.1)


def _before_a_busy_host(seed: int) -> rests.Folding:
    """A drive that folds after 30 s, before a host with which one reading in four takes up to three
    times as long, before a rest as after it."""
    plain, rng = _drive(30.0, 40.0), np.random.default_rng(seed)

    def late() -> float:
        return float(rng.uniform(1.3, 3.0)) if rng.random() < 0.25 else float(rng.normal(1, 0.05))

    def answer(ask: rests.Next) -> Rung:
        rung = plain(ask)
        return replace(rung, before_ns=rung.before_ns * late(), after_ns=rung.after_ns * late())

    return rests.folding(_climbed(answer))


def test_reads_of_a_busy_host_are_seldom_taken_for_folding() -> None:
    """Two late readings in a row come to pass: of 200 such hosts 86 were told a rest that was too
    short, as a host was that shared its two cores with six others. Now 29 are."""
    told = [_before_a_busy_host(seed) for seed in range(20)]
    early = [found for found in told if found.begin is not None and found.begin.value < 25]
    assert len(early) <= 4
    assert all(found.scatter > rests.BEGUN for found in told if found.begin is None)


def test_a_rest_that_took_longer_than_it_was_to_is_still_the_one_that_is_repeated() -> None:
    """A real host wakes up late: 2.05 s became 2.09 s, and the next ones of a second ladder."""
    plain, rng, asked = _drive(30.0, 40.0), np.random.default_rng(3), []

    def answer(ask: rests.Next) -> Rung:
        asked.append(ask.rest_s)
        late = replace(ask, rest_s=ask.rest_s * (1 + rng.uniform(0, 0.06)))
        return replace(plain(late), asked_s=ask.rest_s)

    found = rests.folding(_climbed(answer))
    assert found.begin is not None and found.begin.value == pytest.approx(30, rel=0.08)
    assert max(asked.count(rest_s) for rest_s in asked) == 2


@pytest.mark.parametrize("after", [2, 5, 9])
def test_data_that_was_folded_while_a_run_was_interrupted_is_written_anew(after: int) -> None:
    """A run on a file goes on hours later: its data is read from slower cells before any rest."""
    plain, asked, folded = _drive(50.0, 40.0), [], [False]

    def answer(ask: rests.Next) -> Rung:
        asked.append(ask)
        folded[0] = (folded[0] or len(asked) == after + 1) and not ask.anew
        slow = replace(plain(ask), before_ns=SLOW_NS, after_ns=SLOW_NS)
        return slow if folded[0] else plain(ask)

    found = rests.folding(_climbed(answer))
    assert asked[after + 1].anew and asked[after + 1].rest_s == asked[after].rest_s
    assert found.begin is not None and found.begin.value == pytest.approx(50, rel=0.1)
    assert sum(ask.anew for ask in asked) == 4, "the first, the second ladder, the part, and it"


def test_what_is_asked_next_follows_from_the_answers_alone() -> None:
    rungs = _climbed(_drive(20.0, 60.0))
    for count in range(len(rungs)):
        ask = rests.following(rungs[:count], EXPECTED_S, 600.0)
        assert ask is not None
        assert (ask.stage, ask.rest_s) == (rungs[count].stage, rungs[count].rest_s)


def _small(*sets: str) -> _core.Spec:
    return load("bx500-240", scale="1/176", sets=("fold.idle_after=2 s", *sets))


def _reads(twin: Any, low: float, high: float, count: int = 64) -> float:
    capacity = twin.capacity_bytes
    job = Job(
        name="read",
        rw="randread",
        block_bytes=4096,
        depth=1,
        offset=int(low * capacity) // 4096 * 4096,
        size=int((high - low) * capacity) // 4096 * 4096,
        io_bytes=count * 4096,
    )
    series = twin.run(jobs_json([job]), 1_000_000_000, lambda *_: True)["series"]
    return places.mean_wait(series)


def test_reads_of_a_simulated_drive_wait_after_a_rest_in_which_it_folds() -> None:
    """As the host sees it: nothing before 2 s of rest, folding after."""
    spec = _small()
    after = {}
    for rest_s in (1.9, 2.1):
        twin = _core.Twin(spec, seed=1)
        size = spec.capacity_bytes // 20 // (128 << 10) * (128 << 10)
        job = Job(name="write", rw="write", block_bytes=128 << 10, depth=32, size=size)
        twin.run(jobs_json([job]), 1_000_000_000, lambda *_: True)
        share = size / spec.capacity_bytes
        _reads(twin, 0.0, share)
        before = _reads(twin, 0.0, share, rests.READS)
        twin.rest(int(rest_s * 1e9), int(rest_s * 1e9), lambda *_: True)
        after[rest_s] = _reads(twin, 0.0, share, rests.READS) / before
    assert after[1.9] < rests.BEGUN < after[2.1]
