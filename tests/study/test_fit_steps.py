"""What a fit takes of a run: chains part by part, short reads and writes, a rest that was found."""

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
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.findings import Findings
from flashtwin.model.fio_job import Fio, Pace, Syncs
from flashtwin.model.job import Job
from flashtwin.model.step import Chain, NotPossible, Purge, Rest, Result, Run, Step, Trim
from flashtwin.runner.replay import detail_of
from flashtwin.runs.journal import StepRecord, record_of
from flashtwin.study.fit import candidate, chapters
from flashtwin.study.fit.chapters import LEAST_IN_ORDER, MOST_OF_A_RATE, Chapter
from flashtwin.study.fit.observed import FoundRest, Observed, found_rest, observed
from flashtwin.study.fit.rates import LEAST_BIN, Seen
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
    "flush": 1e-3,
}
FULL = int(0.05 * CAPACITY) // MIB * MIB


class StepsOfATwin:
    """A run as a fit reads it: a twin's answers to these steps."""

    def __init__(self, spec: Any, steps: Sequence[Step]) -> None:
        drive = Twin(spec, seed=1).open()
        self.path = Path("steps")
        self.target = {"name": "a twin", "capacity_bytes": spec.capacity_bytes}
        self.findings = Findings()
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
def spec(space: candidate.Space) -> Any:
    flash = candidate.geometry(space, VALUES, CAPACITY, False)
    rows = candidate.rows_of(space, VALUES, CAPACITY, flash)
    return load(candidate.text_of(rows, head='id = "a"\nname = "a"'))


@pytest.fixture(scope="module")
def seen(spec: Any) -> Observed:
    """A fill, and rests of several lengths after the cache was written."""
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
    assert not chapter.has_requests and seen.rests


def test_a_bin_of_a_short_write_holds_several_superblocks(seen: Observed) -> None:
    (chapter,) = seen.chapters
    bins = {item.label: len(item.rate) for item in chapter.seen}
    assert bins["full"] == int(FULL / CAPACITY / LEAST_BIN)
    assert bins["short"] < bins["full"]


def test_reads_after_rests_tell_when_folding_begins(seen: Observed, space: candidate.Space) -> None:
    """A drive that folds within 20 s shows something else after 15 s than one that does after
    10 s, and after 30 s than one that does after 40 s."""
    at = space.free.index("idle")
    spread = hypothesis.values()["idle"].spread
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


def test_what_a_candidate_takes_is_told_by_the_clock(
    seen: Observed, space: candidate.Space
) -> None:
    ticks = iter((10.0, 16.0))
    search = Search(seen=seen, seed=1, cores=3, clock=lambda: next(ticks))
    assert search.seconds_each(space, seen.chapters) == 2.0
    assert search.done == 0


def test_a_chain_that_was_cut_ends_the_chapter(seen: Observed, spec: Any) -> None:
    whole = spec.capacity_bytes // MIB * MIB
    run: Any = StepsOfATwin(spec, [write("fill", whole), rest(1.0), write("again", FULL)])
    run.steps[1] = replace(run.steps[1], cut=True)
    (chapter,) = observed(run, CAPACITY // 2, 1e6).chapters
    assert {item.label for item in chapter.seen} == {"fill"} and len(chapter.steps) == 1


def test_the_rest_that_a_battery_found_counts_where_rests_are_compared(
    seen: Observed, space: candidate.Space
) -> None:
    """A small copy's few reads after each rest tell it from a longer one by the next rest only."""
    at = space.free.index("idle")
    spread = hypothesis.values()["idle"].spread
    places = [np.zeros(len(space.free)), np.zeros(len(space.free))]
    places[1][at] = np.log(1.2) / spread

    def misfits(found: FoundRest | None, chapters: Any) -> list[float]:
        trials = Search(seen=replace(seen, found_rest=found), seed=1)
        return [item.data for item in trials.misfits(space, places, chapters)]

    found = FoundRest(seconds=IDLE_S, noise=0.03)
    here, longer = misfits(found, seen.chapters)
    alone_here, alone_longer = misfits(None, seen.chapters)
    assert here == pytest.approx(alone_here)
    assert longer - alone_longer > 25
    fill = [replace(seen.chapters[0], longest_rest_s=0.0)]
    assert misfits(found, fill) == misfits(None, fill)


def test_a_found_rest_has_an_interval_with_two_ends() -> None:
    ends = Interval(low=18.0, high=22.0)
    finding = Finding(
        battery="any", name="rest_begin", title="a rest", value=20.0, unit="s", interval=ends
    )
    found = found_rest(Findings([finding]))
    assert found is not None and found.seconds == 20.0
    assert found.noise == pytest.approx(0.0512, rel=0.01)
    for value, interval in (
        (None, ends),
        (20.0, None),
        (20.0, Interval(low=15.0, high=None)),
        (20.0, Interval(low=15.0, high=25.0, means="bound")),
    ):
        other = Findings([replace(finding, value=value, interval=interval)])
        assert found_rest(other) is None, (value, interval)
    assert found_rest(Findings()) is None


def at_random(label: str, share: float) -> Run:
    job = Job(
        name="r",
        rw="randwrite",
        block_bytes=4096,
        depth=32,
        size=CAPACITY // MIB * MIB // 2,
        io_bytes=int(share * CAPACITY) // 4096 * 4096,
    )
    return Run(label=label, jobs=(job,), sample_s=0.05)


def test_a_short_write_after_random_ones_says_only_where_collection_was(spec: Any) -> None:
    """It is slow until collection has caught up: for 2.2 s of 2.7 s on the PM871b's twin, and for
    all of it on a small copy, which made two dies of its four."""
    whole = spec.capacity_bytes // MIB * MIB
    short, long = (int(share * CAPACITY) // MIB * MIB for share in (0.03, 0.1))
    assert short < LEAST_IN_ORDER * CAPACITY < long

    def compared(*later: Step) -> set[str]:
        run: Any = StepsOfATwin(spec, [Purge(), write("fill", whole), *later])
        (chapter,) = observed(run, CAPACITY // 2, 1e6).chapters
        return {item.label for item in chapter.seen} - {"fill"}

    assert compared(at_random("over", 0.02), write("after", short)) == {"over"}
    assert compared(at_random("over", 0.02), write("after", long)) == {"over", "after"}
    assert compared(at_random("over", 0.02), Trim(), write("after", short)) == {"over", "after"}
    assert compared(write("long", long), write("after", short)) == {"long", "after"}
    assert compared(at_random("over", 0.02), at_random("again", 0.02)) == {"over", "again"}


def test_a_small_file_that_is_written_again_and_again_is_not_compared(spec: Any) -> None:
    """The copy's cache has fewer superblocks, so that the file stays in it at another size."""
    whole = spec.capacity_bytes // MIB * MIB
    small, large = (int(share * CAPACITY) // MIB * MIB for share in (0.03, 0.1))

    def again(label: str, size: int) -> Run:
        job = Job(name="w", rw="write", block_bytes=MIB, depth=8, size=size, io_bytes=3 * size)
        return Run(label=label, jobs=(job,), sample_s=0.05)

    steps = [Purge(), write("fill", whole), again("small", small), again("large", large)]
    run: Any = StepsOfATwin(spec, [*steps, write("once", small)])
    (chapter,) = observed(run, CAPACITY // 2, 1e6).chapters
    assert {item.label for item in chapter.seen} == {"fill", "large", "once"}


FIO = Fio(time_based=True, random_map=False, syncs=Syncs(fdatasync_every=1))


def synced(label: str, fio: Fio = FIO, **more: Any) -> Run:
    fields: dict[str, Any] = {"block_bytes": 4096, "depth": 1, "size": FULL, "runtime_s": 2.0}
    job = Job(name="s", rw="randwrite", fio=fio, **{**fields, **more})
    return Run(label=label, jobs=(job,), sample_s=0.1)


def test_writes_that_wait_tell_what_a_flush_takes(spec: Any) -> None:
    whole = spec.capacity_bytes // MIB * MIB
    steps = [Purge(), write("fill", whole), Purge(), write("file", FULL), Rest(seconds=5.0)]
    run: Any = StepsOfATwin(spec, [*steps, synced("4k"), synced("8k", block_bytes=8192)])
    seen = observed(run, CAPACITY // 2, 1e6)
    assert seen.has_syncs and not seen.protected
    assert {item.label for item in seen.chapters[1].seen} == {"file", "4k", "8k"}
    space = space_of_waits(seen)
    at, spread = space.free.index("flush"), hypothesis.values()["flush"].spread
    places = []
    for seconds in (VALUES["flush"], 0.6e-3, 1.6e-3):
        place = np.zeros(len(space.free))
        place[at] = np.log(seconds / VALUES["flush"]) / spread
        places.append(place)
    here, quicker, slower = Search(seen=seen, seed=1).misfits(space, places, seen.chapters)
    assert here.total < min(quicker.total, slower.total) - 3.84
    assert "flush" not in space.unseen


def space_of_waits(seen: Observed) -> candidate.Space:
    (kind,) = [
        row
        for row in candidate.structures()
        if (row.name, row.past, row.limit) == ("dynamic", "direct", "flash")
    ]
    return candidate.space_of(kind, "tlc", VALUES, rests=True, syncs=seen.has_syncs)


def test_jobs_that_keep_a_pace_end_the_chapter(spec: Any) -> None:
    """A small copy has no pace that would be as far from its limit."""
    whole = spec.capacity_bytes // MIB * MIB
    paced = replace(FIO, pace=Pace(bytes_s=(0, 10**7, 0)))
    steps = [Purge(), write("fill", whole), synced("4k"), synced("paced", paced), synced("again")]
    run: Any = StepsOfATwin(spec, steps)
    (chapter,) = observed(run, CAPACITY // 2, 1e6).chapters
    assert {item.label for item in chapter.seen} == {"fill", "4k"}


def test_a_drive_that_answers_from_protected_ram_is_fitted_as_one(spec: Any) -> None:
    whole = spec.capacity_bytes // MIB * MIB
    run: Any = StepsOfATwin(spec, [Purge(), write("fill", whole), synced("4k")])
    for probability in (0.2, 0.9):
        found = Finding(battery="sync", name="is_protected", title="", value=probability)
        run.findings = Findings([found])
        seen = observed(run, CAPACITY // 2, 1e6)
        space = replace(space_of_waits(seen), protected=seen.protected)
        flash = candidate.geometry(space, VALUES, CAPACITY, False)
        rows = candidate.rows_of(space, VALUES, CAPACITY, flash)
        assert rows["controller"]["plp"][0] == (probability > 0.5)


@pytest.mark.parametrize(
    ("shares", "victims"),
    [({"greedy": 10.0, "fifo": 90.0}, "fifo"), ({"greedy": 30.0, "fifo": 30.0}, None)],
)
def test_victims_are_chosen_as_a_battery_found_it_or_left_open(
    spec: Any, shares: dict[str, float], victims: str | None
) -> None:
    run: Any = StepsOfATwin(spec, [Purge(), write("fill", spec.capacity_bytes // MIB * MIB)])
    run.findings = Findings(
        Finding(battery="wafmap", name="policy", variant=way, title="", value=share)
        for way, share in shares.items()
    )
    seen = observed(run, CAPACITY // 2, 1e6)
    space = replace(space_of_waits(seen), victims=seen.victims)
    flash = candidate.geometry(space, VALUES, CAPACITY, False)
    policy, source = candidate.rows_of(space, VALUES, CAPACITY, flash)["gc"]["policy"]
    assert seen.victims == victims
    assert policy == victims if victims else source.startswith("assumed")


def test_many_random_writes_of_one_rate_are_cut_and_end_the_chapter(spec: Any) -> None:
    whole, block = spec.capacity_bytes // MIB * MIB, 4096

    def timed(label: str) -> Run:
        fields: dict[str, Any] = {"size": FULL, "runtime_s": 2.0}
        job = Job(name="w", rw="randwrite", block_bytes=block, depth=32, **fields)
        return Run(label=label, jobs=(job,), sample_s=0.05)

    run: Any = StepsOfATwin(spec, [Purge(), write("fill", whole), timed("one"), timed("two")])
    wrote = sum(total.ios for total in run.steps[2].jobs)
    assert wrote / 2 > MOST_OF_A_RATE
    (chapter,) = observed(run, CAPACITY // 2, 1e6).chapters
    last = chapter.steps[-1]
    assert last is not None
    assert json.loads(last[0])[0]["io_bytes"] == MOST_OF_A_RATE * block
    assert [item.label for item in chapter.seen][-1] == "one"


def random_then_filled(share: float) -> list[Step]:
    """Random writes of a share of the erased drive, a whole fill over them, and random writes."""
    whole = CAPACITY // MIB * MIB
    fields: dict[str, Any] = {"block_bytes": 4096, "depth": 32}

    def at_random(label: str, size: float) -> Run:
        job = Job(name="w", rw="randwrite", io_bytes=int(size) // 4096 * 4096, **fields)
        return Run(label=label, jobs=(job,), sample_s=0.1)

    return [
        Purge(),
        at_random("first", share * CAPACITY),
        write("filled", whole),
        at_random("dirty", 0.1 * CAPACITY),
    ]


# So slow that a write of a tenth lasts for long enough to be sure of its rate.
SLOW = {**VALUES, "native_rate": 15e6}


def flat_spec(*, separates: bool) -> Any:
    """A drive without a cache, of the fit's own kinds."""
    return candidate.small_spec(flat_space(separates=separates), SLOW, CAPACITY, CAPACITY)


def flat_space(*, separates: bool) -> candidate.Space:
    (kind,) = [row for row in candidate.structures() if row.name == "none"]
    space = candidate.space_of(kind, "tlc", SLOW, rests=False)
    return space.with_separation(separates)


def test_a_run_tells_whether_collection_writes_beside_the_host() -> None:
    """Where moved data lies beside what the host wrote, a fill over random data leaves superblocks
    that hold some of both, and the next random writes pay for it at once."""
    share, misfits = 0.6, dict[tuple[bool, bool], float]()
    for true in (True, False):
        run: Any = StepsOfATwin(flat_spec(separates=true), random_then_filled(share))
        fill: Any = StepsOfATwin(flat_spec(separates=true), [Purge(), write("fill", CAPACITY)])
        run.steps, run.answers = joined(fill, run)
        seen = observed(run, CAPACITY, 1e6)
        assert seen.collects
        dirty = [row for chapter in seen.chapters for row in chapter.seen if row.label == "dirty"]
        assert len(dirty) == 1
        for guess in (True, False):
            space = flat_space(separates=guess)
            search = Search(seen=seen, seed=1, cores=1)
            (tried,) = search.misfits(space, [np.zeros(len(space.free))], seen.chapters)
            misfits[true, guess] = tried.data
    assert misfits[True, True] < misfits[True, False] - 10, misfits
    assert misfits[False, False] < misfits[False, True] - 10, misfits


def joined(*runs: Any) -> tuple[list[StepRecord], list[Result]]:
    """The steps of runs, one after the other."""
    answers = [answer for run in runs for answer in run.answers]
    records = [record for run in runs for record in run.steps]
    return [replace(record, step=at) for at, record in enumerate(records)], answers


def test_random_writes_before_a_fill_are_shortened_and_still_use_up_the_flash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chapters, "MOST_BEFORE_FILL", 30_000)
    run: Any = StepsOfATwin(flat_spec(separates=True), random_then_filled(0.6))
    fill: Any = StepsOfATwin(flat_spec(separates=True), [Purge(), write("fill", CAPACITY)])
    run.steps, run.answers = joined(fill, run)
    _, chapter = observed(run, CAPACITY // 2, 1e6).chapters
    jobs = [json.loads(step[0])[0] for step in chapter.steps if step is not None and step[0]]
    first, rest = jobs[0], jobs[1]
    assert first["block_bytes"] < rest["block_bytes"]
    assert first["rw"] == rest["rw"] == "randwrite"
    assert first["io_bytes"] + rest["io_bytes"] == pytest.approx(0.3 * CAPACITY, rel=0.01)
    assert first["io_bytes"] / first["block_bytes"] < 0.3 * CAPACITY / 4096 / 2
    # The writes after it are repeated whole, and only the fill is not compared.
    assert [item.label for item in chapter.seen] == ["first", "dirty"]


def test_what_differs_between_two_fills_of_one_drive_is_noise(spec: Any) -> None:
    whole = spec.capacity_bytes // MIB * MIB
    one: Any = StepsOfATwin(spec, [Purge(), write("one", whole), Purge(), write("two", whole)])
    quiet = observed(one, CAPACITY // 2, 1e6)
    last = one.answers[-1]
    dt = last.series.dt_ns.copy()
    late = np.cumsum(last.series.bytes) > 0.8 * whole
    dt[late] = (dt[late] * 1.3).astype(np.int64)
    ends = np.cumsum(dt)
    series = replace(last.series, dt_ns=dt, t_ns=ends - dt)
    one.answers[-1] = replace(last, series=series, duration_ns=int(ends[-1]))
    slowed = observed(one, CAPACITY // 2, 1e6)
    for chapter in range(2):
        calm, noisy = (np.array(run.chapters[chapter].seen[0].noise) for run in (quiet, slowed))
        bins = np.arange(calm.size) / calm.size
        assert np.all(noisy[bins > 0.82] > 0.15), "a third slower in one of them"
        assert noisy[bins < 0.78] == pytest.approx(calm[bins < 0.78], abs=1e-3)
    # Away from the slow part the answers count as before.
    rate = np.array(slowed.chapters[0].seen[0].rate)
    off = rate + np.where(np.arange(rate.size) == 10, 0.1, 0.0)
    assert abs(slowed.chapters[0].seen[0].apart(off)[10]) > 0.9 * abs(
        quiet.chapters[0].seen[0].apart(np.array(quiet.chapters[0].seen[0].rate) + off - rate)[10]
    )


def test_what_all_rates_of_a_short_write_have_in_common_counts_less() -> None:
    seen = Seen(label="w", at=0, rate=(1.0,) * 8, noise=(0.05,) * 8, counts=8.0, common=0.1)
    alone = replace(seen, common=0.0)
    rate = np.array(seen.rate)
    both = rate + 0.1
    # A value of variance 0.05^2 / 8 + 0.1^2, in closed form.
    wanted = 0.1**2 / (0.05**2 / 8 + 0.1**2)
    assert float(np.sum(np.square(seen.apart(both)))) == pytest.approx(wanted, rel=0.06)
    assert float(np.sum(np.square(alone.apart(both)))) == pytest.approx(32.0, rel=0.06)
    in_turn = rate + np.tile((0.05, -0.05), 4)
    assert seen.apart(in_turn) == pytest.approx(alone.apart(in_turn))


def test_a_stall_in_a_write_is_not_its_speed(spec: Any) -> None:
    """A host that stops for 5 s amid a write of seconds; a drive that is slower there counts."""
    whole = spec.capacity_bytes // MIB * MIB
    steps = [Purge(), write("fill", whole), write("again", FULL)]
    run: Any = StepsOfATwin(
        spec, [replace(step, sample_s=0.005) if isinstance(step, Run) else step for step in steps]
    )
    before = observed(run, CAPACITY // 2, 1e6).chapters[0].seen[-1]
    last = run.answers[-1]
    at = len(last.series.bytes) // 2
    columns = {name: np.insert(value, at, value[at]) for name, value in vars(last.series).items()}
    stall = 5_000_000_000
    columns["bytes"][at] = columns["ios"][at] = 0
    columns["dt_ns"][at] = stall
    columns["t_ns"][at + 1 :] += stall
    stalled = replace(last, series=type(last.series)(**columns))
    run.answers[-1] = stalled
    after = observed(run, CAPACITY // 2, 1e6).chapters[0].seen[-1]
    assert after.label == before.label == "again"
    assert after.rate == pytest.approx(before.rate, abs=0.02)
