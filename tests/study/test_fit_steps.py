"""What a fit takes of a run's steps: chains part by part, short reads, short writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.job import Job
from flashtwin.model.step import Chain, NotPossible, Purge, Rest, Result, Run, Step, Trim
from flashtwin.runner.replay import detail_of
from flashtwin.runs.journal import StepRecord, record_of
from flashtwin.study.fit import candidate
from flashtwin.study.fit.observed import LEAST_BIN, Chapter, Observed, observed
from flashtwin.study.fit.trials import Search

MIB = 1 << 20
CAPACITY = 2_000_000_000
IDLE_S = 20.0
VALUES = {
    "first_rate": 300e6,
    "native_rate": 140e6,
    "link": 550e6,
    "cache": 0.1,
    "static": 0.016,
    "reserve": 0.03,
    "rearm": 0.1,
    "spare": 0.12,
    "dies": 2.0,
    "idle": IDLE_S,
    "slc_read": 35e-6,
    "native_read": 60e-6,
    "command": 6e-6,
}
FULL = int(0.05 * CAPACITY) // MIB * MIB


class StepsOfATwin:
    """A run as a fit reads it: a twin's answers to these steps."""

    def __init__(self, spec: Any, steps: Sequence[Step]) -> None:
        drive = Twin(spec, seed=1).open()
        self.path = Path("steps")
        self.target = {"name": "a twin", "capacity_bytes": spec.capacity_bytes}
        self.answers: list[Result] = []
        self.steps: list[StepRecord] = []
        for number, step in enumerate(steps):
            answer = drive.do(step, lambda _progress: True)
            assert not isinstance(answer, NotPossible), answer
            kind = type(step).__name__.lower()
            self.answers.append(answer)
            self.steps.append(record_of(number, "test", step.label, kind, answer, detail_of(step)))

    def series(self, step: int) -> Any:
        return self.answers[step].series

    def result(self, step: int) -> Result:
        return self.answers[step]


def write(label: str, size: int, **more: Any) -> Run:
    fields: dict[str, Any] = {"block_bytes": 128 << 10, "depth": 32, **more}
    return Run(label=label, jobs=(Job(name="w", rw="write", size=size, **fields),), sample_s=0.01)


def reads(label: str, count: int) -> Run:
    job = Job(name="r", rw="randread", block_bytes=4096, depth=1, size=FULL, io_bytes=4096 * count)
    return Run(label=label, jobs=(job,), sample_s=0.5)


def rest(seconds: float) -> Chain:
    parts = (reads("warm", 64), reads("before", 32), Rest(label="rest", seconds=seconds))
    return Chain(label=f"rest-{seconds:g}", parts=(*parts, reads("after", 32)))


RESTS = (5.0, 15.0, 30.0, 6.0)


@pytest.fixture(scope="module")
def space() -> candidate.Space:
    (kind,) = [
        row
        for row in candidate.structures()
        if (row.name, row.past, row.limit) == ("dynamic", "direct", "flash")
    ]
    return candidate.space_of(kind, "tlc", VALUES, rests=True)


@pytest.fixture(scope="module")
def seen(space: candidate.Space) -> Observed:
    """A fill, and rests of several lengths after the cache was written."""
    flash = candidate.geometry(space, VALUES, CAPACITY, False)
    rows = candidate.rows_of(space, VALUES, CAPACITY, flash)
    spec = load(candidate.text_of(rows, head='id = "a"\nname = "a"'))
    whole = spec.capacity_bytes // MIB * MIB
    short = write("short", 4 * FULL // 5, offset=FULL)
    steps: list[Step] = [Purge(), write("fill", whole), Trim(), write("full", FULL)]
    run: Any = StepsOfATwin(spec, [*steps, *(rest(seconds) for seconds in RESTS), short])
    return observed(run, CAPACITY // 2, 1e6)


def rests_of(chapter: Chapter) -> list[float]:
    return [step[1] / 1e9 for step in chapter.steps if step is not None and not step[0]]


def test_a_chain_is_played_part_by_part(seen: Observed) -> None:
    (chapter,) = seen.chapters
    assert rests_of(chapter) == pytest.approx([seconds * seen.scale for seconds in RESTS])
    assert chapter.longest_rest_s == max(RESTS)
    after = [item for item in chapter.seen if item.label == "after"]
    assert len(after) == len(RESTS)
    # What follows the chains is seen too.
    assert any(item.label == "short" for item in chapter.seen)


def test_few_reads_are_as_many_and_count_less(seen: Observed) -> None:
    (chapter,) = seen.chapters
    played = [json.loads(step[0]) for step in chapter.steps if step is not None and step[0]]
    counts = {jobs[0]["io_bytes"] // 4096 for jobs in played if jobs[0]["rw"] == "randread"}
    assert counts == {64, 32}
    noise = {item.label: item.noise for item in chapter.seen}
    assert noise["after"] > noise["warm"] > noise["full"]
    # The first few reads after a write wait for what is left of it: those are not compared.
    assert [item.label for item in chapter.seen].count("warm") == len(RESTS) - 1
    # So few tell nothing of dies, or of where the map is.
    assert not chapter.has_reads and seen.rests


def test_a_bin_of_a_short_write_holds_several_superblocks(seen: Observed) -> None:
    (chapter,) = seen.chapters
    bins = {item.label: len(item.rate) for item in chapter.seen}
    assert bins["full"] == int(FULL / CAPACITY / LEAST_BIN)
    assert bins["short"] < bins["full"]


def test_reads_after_rests_tell_when_folding_begins(seen: Observed, space: candidate.Space) -> None:
    """A drive that folds within 20 s shows something else after 15 s than one that does after
    10 s, and after 30 s than one that does after 40 s."""
    at = space.free.index("idle")
    spread = candidate.table()["values"]["idle"]["spread"]
    places = []
    for seconds in (IDLE_S, 10.0, 40.0):
        place = np.zeros(len(space.free))
        place[at] = np.log(seconds / IDLE_S) / spread
        places.append(place)
    here, sooner, later = Search(seen=seen, seed=1).misfits(space, places, seen.chapters)
    assert here.total < min(sooner.total, later.total) - 3.84


def test_candidates_are_the_same_on_any_number_of_cores(
    seen: Observed, space: candidate.Space
) -> None:
    places = [np.full(len(space.free), 0.1 * number) for number in range(4)]
    alone, side_by_side = (
        Search(seen=seen, seed=1, cores=cores).misfits(space, places, seen.chapters)
        for cores in (1, 3)
    )
    assert alone == side_by_side
    for one_core, three_cores in zip(alone, side_by_side, strict=True):
        assert np.array_equal(one_core.apart, three_cores.apart)


def test_a_chain_that_was_cut_ends_the_chapter(seen: Observed, space: candidate.Space) -> None:
    flash = candidate.geometry(space, VALUES, CAPACITY, False)
    rows = candidate.rows_of(space, VALUES, CAPACITY, flash)
    spec = load(candidate.text_of(rows, head='id = "a"\nname = "a"'))
    whole = spec.capacity_bytes // MIB * MIB
    run: Any = StepsOfATwin(spec, [write("fill", whole), rest(1.0), write("again", FULL)])
    run.steps[1] = replace(run.steps[1], cut=True)
    (chapter,) = observed(run, CAPACITY // 2, 1e6).chapters
    assert {item.label for item in chapter.seen} == {"fill"} and len(chapter.steps) == 1
