"""A twin fitted to a run: what it recovers of a drive whose inside is known; what is refused."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flashtwin as ft
from flashtwin import _core, report
from flashtwin.analysis.curve import Curve
from flashtwin.catalogue.loader import load
from flashtwin.cli.fit import command
from flashtwin.errors import FlashtwinError
from flashtwin.load import drawn
from flashtwin.model.job import Job, jobs_json
from flashtwin.report.drives import Contents
from flashtwin.runner.pool import Ended
from flashtwin.runner.target import Variant
from flashtwin.runs.compare.compare import compare
from flashtwin.runs.fitted import twin_of, with_twins
from flashtwin.runs.rundir import Run
from flashtwin.runs.storage import remove_tree
from flashtwin.study.fit import beside, candidate, intervals, search
from flashtwin.study.fit import fit as fitting
from flashtwin.study.fit.observed import observed
from flashtwin.study.fit.rates import binned, curve_of_columns
from flashtwin.study.fit.trials import Search, Tried
from flashtwin_lab import coverage, proof
from flashtwin_lab.make import fit as page

CAPACITY = 4_000_000_000
SMALL = 1_000_000_000
TRUE = {
    "first_rate": 300e6,
    "native_rate": 140e6,
    "link": 550e6,
    "cache": 0.2,
    "static": 0.016,
    "reserve": 0.03,
    "rearm": 0.1,
    "spare": 0.12,
    "dies": 2.0,
    "idle": 20.0,
    "slc_read": 35e-6,
    "native_read": 60e-6,
    "command": 6e-6,
    "flush": 1e-3,
}


def structure(name: str, past: str, limit: str = "flash") -> candidate.Structure:
    wanted = (name, past, limit)
    return next(row for row in candidate.structures() if (row.name, row.past, row.limit) == wanted)


KINDS = [(structure("dynamic", "direct"), "tlc")]
# The seconds that fits have told.
FORETOLD: list[float] = []


@pytest.fixture(scope="module")
def space() -> candidate.Space:
    return candidate.space_of(structure("dynamic", "direct"), "tlc", TRUE, rests=False)


@pytest.fixture(scope="module")
def spec_text(space: candidate.Space) -> str:
    """A drive of 1 GB with the true values."""
    flash = candidate.geometry(space, TRUE, CAPACITY, False)
    rows = candidate.rows_of(space, TRUE, CAPACITY, flash)
    return candidate.text_of(rows, head='id = "true"\nname = "a drive whose inside is known"')


@pytest.fixture(scope="module")
def measured(spec_text: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    place = tmp_path_factory.mktemp("fit") / "run"
    ft.test(
        spec_text,
        battery="fill:patterns=128k-q32,passes=1,sample_s=20ms",
        out=place,
        report=False,
        progress=False,
    )
    return Run(place)


@contextmanager
def smaller_copies() -> Iterator[None]:
    """Fits simulate copies of `SMALL` bytes in here, and no test after it does."""
    with pytest.MonkeyPatch.context() as patch:
        small = {**candidate.table()["small"], "least_bytes": SMALL, "bytes_per_die": SMALL // 2}
        table = {**candidate.table(), "small": small}
        patch.setattr(candidate, "table", lambda: table)
        yield


@pytest.fixture(scope="module")
def twin(measured: Run) -> fitting.Twin:
    """What a fit finds that searches the true kind alone, with few simulated drives."""
    with smaller_copies():
        return fitting.fit(measured, simulations=300, kinds=KINDS, foretell=FORETOLD.append)


def test_a_fill_gives_cache_and_rates_back(twin: fitting.Twin) -> None:
    for name in ("first_rate", "native_rate", "cache"):
        low, high = twin.fitted.intervals[name]
        assert low <= TRUE[name] <= high, (name, low, high)
        # Without what calibration adds at both ends.
        longer = np.exp(2 * intervals.longer_log(twin.seen, twin.fitted.space.structure, name))
        assert high / low / longer < 1.25, (name, low, high)
    # A fill asks for no read, and never rests.
    assert not {"slc_read", "native_read", "idle"} & set(twin.fitted.intervals)
    assert twin.fitted.values["native_read"] == pytest.approx(60e-6)


def test_a_fit_tells_once_what_it_takes(twin: fitting.Twin) -> None:
    (seconds,) = FORETOLD
    assert seconds > 0 and twin.fitted.simulations >= 300


def test_drives_that_the_run_leaves_possible_stand_beside_the_spec(
    twin: fitting.Twin, tmp_path: Path
) -> None:
    twin.write(tmp_path / "mine.toml")
    written = json.loads((tmp_path / "mine.posterior.json").read_text())
    assert written["hash"] == load(str(tmp_path / "mine.toml")).hash
    assert sum(row["weight"] for row in written["drives"]) == pytest.approx(1.0)
    assert {key for row in written["drives"] for key in row["sets"]} >= {"nand.native.tprog"}
    # A flush that programs more pages of the journal takes as long all in all.
    pages = {row["sets"].get("controller.flush_pages", 1) for row in written["drives"]}
    assert pages == {0, 1, 2}
    posterior = drawn.posterior_of(Variant(drive=str(tmp_path / "mine.toml")))
    assert posterior is not None
    assert "controller.flush_pages" in posterior.keys and "gc.policy" not in posterior.keys
    for share in (0.1, 0.5, 0.9):
        sets = tuple(posterior.at(share, ()))
        Variant(drive=str(tmp_path / "mine.toml"), sets=sets).spec()


def test_a_candidate_far_from_the_truth_fits_worse(measured: Run, space: candidate.Space) -> None:
    trials = Search(seen=observed(measured, SMALL, 1e6), seed=1)
    near = np.zeros(len(space.free))
    far = near.copy()
    far[space.free.index("cache")] = 1.5
    here, there = trials.misfits(space, [near, far], trials.seen.chapters)
    assert here.data < 0.2 * there.data


def test_what_a_drive_without_a_cache_does_not_use_is_not_fitted() -> None:
    """It programs nothing in SLC mode: any rate of that would fit as well."""
    none = candidate.space_of(structure("none", "none"), "tlc", TRUE, rests=True)
    assert not {"first_rate", "slc_read"} & set(none.free) and "native_rate" in none.free
    flash = candidate.geometry(none, TRUE, SMALL, False)
    texts = [
        candidate.text_of(
            candidate.rows_of(none, {**TRUE, "first_rate": rate}, SMALL, flash),
            head='id = "none"\nname = "without a cache"',
        )
        for rate in (200e6, 800e6)
    ]
    assert texts[0] != texts[1]
    assert proof.rates(load(texts[0])) == proof.rates(load(texts[1]))


def test_the_spec_says_what_was_fitted_and_what_is_usual(twin: fitting.Twin) -> None:
    drive: dict[str, Any] = tomllib.loads(twin.toml)
    assert load(twin.toml).capacity_bytes == CAPACITY // 512 * 512
    assert drive["slc_cache"]["size"]["origin"] == "fitted"
    assert "95 % from" in drive["slc_cache"]["size"]["source"]
    assert drive["nand"]["native"]["tr"]["origin"] == "prior"
    assert "not determined" in drive["nand"]["native"]["tr"]["source"]
    assert drive["fold"]["idle_after"]["origin"] == "prior"
    assert any("no rest was tested" in note for note in twin.notes)


def test_the_twin_is_measured_by_the_same_fill_and_stands_beside_the_run(
    measured: Run, twin: fitting.Twin, tmp_path: Path
) -> None:
    assert with_twins([measured]) == [measured]
    place = beside.measure(measured, twin)
    assert place == measured.path.resolve().with_name("run-twin")
    shown = twin_of(measured)
    assert shown is not None and shown.target["kind"] == "twin"
    assert [step.label for step in shown.steps] == [step.label for step in measured.steps]
    # Its page has both curves, and one run is held against its twin.
    both = with_twins([measured])
    assert [curve.drive for curve in Contents.of(both).curves] == [0, 1]
    page = report.build(both, tmp_path / "page.html").read_text()
    assert str(shown.target["name"]) in page
    (pair,) = compare(both).pairs
    assert pair.run == shown and len(pair.curves) == 1
    # A second fit takes the place of the first one's run; nothing else is written over.
    assert beside.measure(measured, twin) == place
    assert with_twins([measured, shown]) == [measured, shown]
    manifest = place / "manifest.json"
    manifest.unlink()
    with pytest.raises(FlashtwinError, match="no twin of run"):
        beside.measure(measured, twin)
    assert twin_of(measured) is None
    remove_tree(place)
    # One that was killed before it wrote a manifest is nobody else's.
    place.mkdir()
    (place / "steps.tables").touch()
    beside.check(measured)
    remove_tree(place)


def test_a_run_without_a_fill_is_refused(spec_text: str, tmp_path: Path) -> None:
    ft.test(
        spec_text,
        battery="crystaldiskmark:loops=1,mix=off,profile=real,size=64MiB",
        out=tmp_path / "run",
        report=False,
        progress=False,
    )
    with pytest.raises(FlashtwinError, match="no whole sequential write"):
        fitting.fit(Run(tmp_path / "run"))


def test_a_fill_that_a_budget_ended_is_refused(spec_text: str, tmp_path: Path) -> None:
    ft.test(
        spec_text,
        battery="fill:patterns=128k-q32,passes=1",
        budget="15s",
        out=tmp_path / "run",
        report=False,
        progress=False,
    )
    with pytest.raises(FlashtwinError, match="a budget ended"):
        fitting.fit(Run(tmp_path / "run"))


def test_a_target_that_could_not_be_erased_is_named(measured: Run, twin: fitting.Twin) -> None:
    assert twin.seen.erased and not any("erased" in note for note in twin.notes)
    never = replace(twin.seen, erased=False)
    notes = fitting._notes(measured, never, twin.fitted)
    assert any("could not be erased" in note for note in notes)


def test_kinds_that_fit_as_well_are_named_once(measured: Run, twin: fitting.Twin) -> None:
    """Beside the best one those that the noise does not tell from it, and no worse ones."""
    own, cell, least = twin.fitted.rivals[0]
    hybrid, staged = structure("hybrid", "direct"), structure("dynamic", "staged")
    rivals = [(hybrid, cell, 3.0), (hybrid, cell, 4.0), (own, cell, 1.0), (own, "qlc", 4.9)]
    rivals.append((staged, cell, 5.1))
    near = [(kind, bits, least + above) for kind, bits, above in rivals]
    fitted = replace(twin.fitted, near=5.0, rivals=(twin.fitted.rivals[0], *near))
    note = f"fits as well: hybrid, direct, {cell}; dynamic, direct, qlc"
    assert note in fitting._notes(measured, twin.seen, fitted)
    alone = fitting._notes(measured, twin.seen, replace(fitted, near=0.0))
    assert not any("fits as well" in line for line in alone)


def test_a_link_carries_what_a_small_cache_takes(twin: fitting.Twin) -> None:
    """One of 3 % on NVMe is two samples of a fill, and the link was taken to be SATA's."""
    slow = replace(twin.seen, fastest=340e6, fastest_read=0.0)
    assert fitting._link(slow, 330e6) == 550e6
    assert fitting._link(slow, 1475e6) == 3500e6
    # What a read reached is what the link carries, and no cache is faster.
    assert fitting._link(replace(slow, fastest_read=340e6), 330e6) == pytest.approx(347e6, rel=0.01)


def test_where_the_spec_cannot_be_written_nothing_is_searched(
    measured: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a search began")

    monkeypatch.setattr(fitting, "fit", never)
    there = tmp_path / "there.toml"
    there.write_text("")
    cases = [(tmp_path / "no" / "a.toml", 3), (tmp_path / "a.txt", 2), (there, 2)]
    for path, code in cases:
        with pytest.raises(FlashtwinError) as refused:
            command.main([str(measured.path), "-o", str(path)], standalone_mode=False)
        assert refused.value.exit_code == code and refused.value.hint, path
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(FlashtwinError, match="Permission denied") as refused:
        command.main([str(measured.path), "-o", str(tmp_path / "a.toml")], standalone_mode=False)
    assert refused.value.exit_code == 3


def test_the_twin_is_judged_by_what_it_predicts() -> None:
    near = proof.Predicted(
        name="a 1",
        kind="dynamic",
        structure="dynamic, direct",
        ratios=dict(zip(proof.NEAR, (1.04, 0.8, 1.0, 1.2), strict=True)),
        held={"cache": True},
        inside=dict.fromkeys(proof.NEAR, True),
        wide=dict.fromkeys(proof.NEAR, 1.5),
    )
    far = replace(near, ratios={**near.ratios, "fill at 50 % full": 1.06}, held={"cache": False})
    assert list(near.right.values()) == [True, True, True, True]
    assert list(far.right.values()) == [False, True, True, True]
    rows = {row.finding: row for row in proof.rows([near] * 4 + [far] * 16)}
    assert not rows["twin: fill at 50 % full"].passes and rows["twin: web server's mix"].passes
    assert rows["twin: all four"].found == "4 of 20"
    assert rows["90 % interval: web server's mix"].found == (
        "20 of 20; median a factor of 1.50 wide"
    )
    assert rows["twin: intervals of cache and rates"].found == "4 of 20"
    few = {row.finding: row.found for row in proof.rows([near])}
    assert few["twin: all four"] == "1 of 1 (fewer than 19)"


def test_a_drive_that_cannot_be_fitted_is_a_line_and_counts_as_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 1 GB the prior's drives are none: their specs are refused, in workers."""
    monkeypatch.setattr(proof, "CAPACITY_GB", 1)
    told: list[tuple[int, str]] = []
    done = proof.proof(2, 3, simulations=1, on_end=lambda count, text: told.append((count, text)))
    assert [count for count, _ in told] == [1, 2]
    assert sorted(text for _, text in told) == sorted(drive.told for drive in done.drives)
    assert [drive.name.rpartition(" ")[2] for drive in done.drives] == ["0", "1"]
    for drive in done.drives:
        assert "could not be fitted: " in drive.told and "drive.capacity" in drive.told
        assert not any(drive.right.values())
    assert done.missed == len(done.rows) == 5
    assert [row.found for row in done.rows] == ["0 of 2 (fewer than 19)"] * 5
    assert len(done.worst_lines()) >= 3


def test_a_worker_that_is_killed_or_breaks_is_one_drive_that_was_not_fitted() -> None:
    killed = proof._why(Ended(number=3, exit_code=-9))
    broke = proof._why(Ended(number=3, mistake="Traceback:\n  here\nZeroDivisionError: by zero\n"))
    assert "killed" in killed and broke == "ZeroDivisionError: by zero"


def tried(total: float) -> Tried:
    return Tried(z=(), data=total, total=total, apart=np.zeros(0))


def test_a_kind_with_more_values_takes_strong_evidence() -> None:
    """By Bayes' criterion a value is worth the logarithm of the number of measured values, here
    5.0; strong evidence is 6 beyond that, and the misfit counts by half."""
    counts = 150.0
    dynamic, hybrid = (
        candidate.space_of(structure(name, "direct"), "tlc", TRUE, rests=True)
        for name in ("dynamic", "hybrid")
    )

    def chosen(simple: float, rich: float) -> str:
        pairs = [(hybrid, [tried(rich)]), (dynamic, [tried(simple)])]
        return search._simplest(pairs, counts)[0].structure.name

    assert chosen(121.0, 100.0) == "dynamic"
    assert chosen(123.0, 100.0) == "hybrid"
    assert chosen(90.0, 100.0) == "dynamic"
    # Where twice the noise is left, it takes twice as much.
    assert chosen(343.0, 300.0) == "dynamic"
    assert chosen(345.0, 300.0) == "hybrid"


def test_a_twin_that_is_the_drive_predicts_it(space: candidate.Space) -> None:
    small = 300_000_000
    rows = candidate.rows_of(space, TRUE, small, candidate.geometry(space, TRUE, small, True))
    spec = load(candidate.text_of(rows, head='id = "a"\nname = "a"'))
    first, again = proof.rates(spec), proof.rates(spec)
    assert first == again and set(first) == set(proof.NEAR)
    assert first["steady 4 KiB random write"] < first["fill at 50 % full"]


def held(drive: int, low: float, high: float, true: float = 1.0) -> coverage.Held:
    return coverage.Held(
        drive=drive, fills="once", way="direct", name="cache", true=true, low=low, high=high
    )


def test_intervals_get_as_much_longer_as_19_of_20_drives_ask() -> None:
    rows = [held(drive, 1.1, 1.2) for drive in range(38)] + [held(38, 2.0, 3.0)]
    (length,) = coverage.longer(rows).values()
    assert length == pytest.approx(np.log(1.1))
    assert coverage.held_by_others(rows) == 38
    # Nothing gets shorter; of few drives the farthest counts.
    assert set(coverage.longer([held(0, 0.5, 2.0)]).values()) == {0.0}
    assert set(coverage.longer([held(0, 0.5, 2.0), held(1, 0.4, 0.5)]).values()) == {np.log(2.0)}


def test_drives_of_a_coverage_are_drives_of_their_kind() -> None:
    drives = [coverage.drawn(3, number) for number in range(40)]
    assert {space.structure.way for space, _ in drives} == {"direct", "folded"}
    for space, values in drives:
        for name, mode in (("first_rate", "slc"), ("native_rate", space.cell)):
            assert values[name] <= coverage.FASTEST_DIE[mode] * values["dies"], name
        if space.structure.by_core:
            assert values["first_rate"] > 1.15 * values["core_rate"]
    space, values = coverage.drawn(3, 0)
    again, same_values = coverage.drawn(3, 0)
    assert (space, values) == (again, same_values)
    flash = candidate.geometry(space, values, coverage.CAPACITY, False)
    rows = candidate.rows_of(space, values, coverage.CAPACITY, flash)
    spec = load(candidate.text_of(rows, head='id = "a"\nname = "a"'))
    assert spec.capacity_bytes == coverage.CAPACITY // 512 * 512


# A drive whose core is the limit: 140 us a page row, 18 us a unit moved; its flash could do more.
BY_CORE = {**TRUE, "first_rate": 700e6, "native_rate": 300e6, "core_rate": 470e6, "move": 18e-6}


def core_space() -> candidate.Space:
    kind = structure("dynamic", "staged", "core")
    return candidate.space_of(kind, "tlc", BY_CORE, rests=False)


def text_of_core(capacity: int) -> str:
    flash = candidate.geometry(core_space(), BY_CORE, capacity, False)
    rows = candidate.rows_of(core_space(), BY_CORE, capacity, flash)
    return candidate.text_of(rows, head='id = "core"\nname = "a drive that its core limits"')


def test_a_small_copy_is_as_slow_as_the_drive_that_its_core_limits() -> None:
    """Its blocks are short, and each erase takes the core as long as a row: without what makes up
    for that it is 4 to 12 % off."""
    drive = load(text_of_core(4 * SMALL))
    copy = candidate.small_spec(core_space(), BY_CORE, 4 * SMALL, SMALL)
    block = 128 << 10

    def fill(spec: Any) -> np.ndarray:
        size = spec.capacity_bytes // block * block
        job = Job(name="fill", rw="write", block_bytes=block, depth=32, size=size)
        ((step,),) = _core.simulate([(spec, 1, [(jobs_json([job]), 1_000_000)])], 1)
        return binned(curve_of_columns(step["series"]), 24)

    apart = fill(copy) - fill(drive)
    # Not by a bin in which the cache ends, of which the superblocks differ.
    assert np.quantile(np.abs(apart), 0.8) < 0.03
    assert fill(copy)[0] == pytest.approx(np.log(470e6), abs=0.03)


ON_FLASH = {**TRUE, "reach": 0.03}


def rates_by_span(spec: Any) -> dict[str, float]:
    """Logarithms of the rates of random requests within a fiftieth and all of a full drive."""
    capacity, block = spec.capacity_bytes, 128 << 10
    steps: list[Any] = []
    names = []
    for way, depth in (("randread", 1), ("randread", 16), ("randwrite", 4)):
        for share in (0.02, 1.0):
            names.append(f"{way} {depth} {share}")
            size = int(capacity * share) // block * block
            job: Any = {"rw": way, "block_bytes": 4096, "depth": depth, "size": size}
            # What is read first brings the pages of the map in.
            for seed in (1, 2):
                row = Job(name="at random", io_bytes=4096 * 3000, seed=seed, **job)
                steps.append((jobs_json([row]), 1_000_000))
    fill = Job(name="fill", rw="write", block_bytes=block, depth=32, size=capacity // block * block)
    (shown,) = _core.simulate([(spec, 1, [(jobs_json([fill]), 1_000_000), *steps])], 1)
    return {
        name: float(binned(curve_of_columns(step["series"]), 1)[0])
        for name, step in zip(names, shown[2::2], strict=True)
    }


def test_a_small_copy_has_its_map_on_flash_in_the_same_share() -> None:
    """What the controller's RAM reaches is read at once in the drive and in its copy; beyond that
    both wait for the map."""
    space = candidate.space_of(structure("dynamic", "direct"), "tlc", ON_FLASH, rests=False)
    space = space.with_map("demand")
    assert "reach" in space.free and "reach" not in space.with_map("dram").free
    flash = candidate.geometry(space, ON_FLASH, CAPACITY, False)
    rows = candidate.rows_of(space, ON_FLASH, CAPACITY, flash)
    drive = load(candidate.text_of(rows, head='id = "a"\nname = "a"'))
    copy = candidate.small_spec(space, ON_FLASH, CAPACITY, SMALL)
    of_drive, of_copy = rates_by_span(drive), rates_by_span(copy)
    for name, rate in of_drive.items():
        assert of_copy[name] == pytest.approx(rate, abs=0.06), name
    for name in ("randread 1", "randread 16", "randwrite 4"):
        assert of_drive[f"{name} 1.0"] < of_drive[f"{name} 0.02"] - 0.15, name
    # With its map in DRAM a drive of the same flash waits for nothing.
    whole = rates_by_span(candidate.small_spec(space.with_map("dram"), ON_FLASH, CAPACITY, SMALL))
    assert whole["randread 1 1.0"] == pytest.approx(whole["randread 1 0.02"], abs=0.03)


def test_a_candidate_may_reclaim_what_is_overwritten_or_not(twin: fitting.Twin) -> None:
    """A file of half the cache that is rewritten at random stays in a cache that reclaims; a fill
    does not show it, and the twin of a fill alone says so."""
    values = {**candidate.usual_values(), "cache": 0.05, "idle": 30.0}
    values |= {"first_rate": 400e6, "native_rate": 40e6, "link": 500e6, "dies": 2.0}
    space = candidate.space_of(structure("static", "direct"), "tlc", values, rests=False)
    size = int(0.025 * SMALL) // 4096 * 4096
    job = Job(name="a", rw="randwrite", block_bytes=4096, depth=32, size=size, io_bytes=8 * size)
    rates = {}
    for reclaims in (True, False):
        of = space.with_reclaim(reclaims)
        spec = candidate.small_spec(of, values, SMALL, SMALL)
        (shown,) = _core.simulate([(spec, 1, [(jobs_json([job]), 1_000_000)])], 1)
        rates[reclaims] = float(binned(curve_of_columns(shown[0]["series"]), 4)[-1])
    assert rates[True] > rates[False] + 0.3, rates
    spec = tomllib.loads(twin.toml)
    assert spec["slc_cache"]["reclaim"]["origin"] == "prior"
    assert any("overwritten in the cache" in note for note in twin.notes)


def test_what_small_copies_show_by_chance_counts_as_noise(
    measured: Run, space: candidate.Space
) -> None:
    """Distances shrink by what copies differ that no host could tell apart, those of a place that
    was simulated before as those of one that is simulated after."""
    seen = observed(measured, SMALL, 1e6)
    search_ = Search(seen=seen, seed=1)
    place = np.full(len(space.free), 0.3)
    (before,) = search_.misfits(space, [place], seen.chapters)
    search_.take_chaos(space, place)
    (after,) = search_.misfits(space, [place], seen.chapters)
    again = search_.taken_again(before)
    assert again == after and np.array_equal(again.apart, after.apart)
    assert 0 < after.data < before.data
    assert 0 < search_.counts < seen.counts


def test_steps_that_another_chapter_begins_with_are_simulated_once(
    measured: Run, space: candidate.Space
) -> None:
    seen = observed(measured, SMALL, 1e6)
    (fill,) = seen.chapters
    longer = replace(fill, steps=(*fill.steps, ("", 1_000_000)))
    z = [np.zeros(len(space.free))]
    (both,) = Search(seen=seen, seed=1).misfits(space, z, [fill, longer])
    (alone,) = Search(seen=seen, seed=1).misfits(space, z, [fill])
    assert np.array_equal(both.apart, np.tile(alone.apart, 2))


@pytest.mark.parametrize(
    ("rates", "step"),
    [
        ([230.0] * 5 + [160.0] * 60, (5, 230.0, 160.0)),
        ([230.0] * 60 + [160.0] * 5, (60, 230.0, 160.0)),
        # No step, one of a few percent, and one upwards.
        ([230.0, 231.0] * 30, None),
        ([230.0] * 30 + [225.0] * 30, None),
        ([160.0] * 30 + [230.0] * 30, None),
        # Many speeds are no two tiers.
        ([230.0 + 60.0 * (at % 7) / 7 for at in range(70)], None),
    ],
)
def test_a_fill_shows_where_a_first_tier_ends(
    rates: list[float], step: tuple[int, float, float] | None
) -> None:
    rng = np.random.default_rng(2)
    size = np.array(rates) * rng.normal(1.0, 0.002, len(rates))
    found = fitting._step_within(Curve(dt=np.ones(len(rates)), size=size), float(size.sum()))
    if step is None:
        assert found is None
        return
    assert found is not None
    count, before, after = step
    assert found.place == pytest.approx(float(size[:count].sum()))
    assert (found.before, found.after) == pytest.approx((before, after), rel=0.005)


@pytest.mark.full
def test_a_fill_does_not_tell_a_core_from_slower_flash_and_says_so(tmp_path: Path) -> None:
    ft.test(
        text_of_core(SMALL),
        battery="fill:patterns=128k-q32,passes=1,sample_s=5ms",
        out=tmp_path / "run",
        report=False,
        progress=False,
    )
    kinds = [(structure("dynamic", "staged", limit), "tlc") for limit in ("flash", "core")]
    with smaller_copies():
        twin = fitting.fit(Run(tmp_path / "run"), simulations=150, kinds=kinds)
    fitted = twin.fitted
    assert not fitted.limit_known
    assert any("what programs wait for" in note for note in twin.notes)
    low, high = fitted.intervals["cache"]
    assert low <= BY_CORE["cache"] <= high
    # The core's times are no finding then, and the flash may be as fast as it is.
    assert not {"core_rate", "move"} & set(fitted.intervals)
    for name in ("first_rate", "native_rate"):
        low, high = fitted.intervals.get(name, (0.0, np.inf))
        assert low <= BY_CORE[name] <= high, name


def recovered(drive: str, batteries: str, place: Path) -> fitting.Twin:
    """A twin of a catalogue's drive, at 1/16, by these batteries."""
    ft.test(drive, battery=batteries, scale="1/16", out=place, report=False, progress=False)
    twin = fitting.fit(Run(place), simulations=300)
    print(*(row for row in twin.rows()), *twin.notes, *twin.fitted.rivals, sep="\n")
    return twin


@pytest.mark.full
def test_what_the_bx500_hides_is_recovered(tmp_path: Path) -> None:
    """Kind, cache and core, as the catalogue has them. Fill and discover do not tell where the map
    is: the time of a moved unit has that of the map's pages in it, some 3 %."""
    batteries = "fill:patterns=128k-q32,passes=1,discover"
    twin = recovered("bx500-240", batteries, tmp_path / "run")
    space, intervals = twin.fitted.space, twin.fitted.intervals
    assert (space.structure.name, space.structure.past) == ("dynamic", "staged")
    assert space.cell == "tlc" and not twin.fitted.map_known
    low, high = intervals["cache"]
    assert low <= 0.1 <= high and high / low < 1.2, (low, high)
    assert "idle" in intervals and (space.structure.by_core or not twin.fitted.limit_known)
    for name, value in {"idle": 30.0, "core_rate": 475e6, "move": 1.03 * 19.4e-6}.items():
        low, high = intervals.get(name, (value, value))
        assert low <= value <= high, (name, low, high)
    # A read may read the map first, so that nobody knows what one takes of the flash.
    assert not {"slc_read", "native_read"} & set(intervals)


ALL = "fill:patterns=128k-q32,passes=1,discover,crystaldiskmark:loops=1,mix=off,states:fills=1"


@pytest.mark.full
def test_what_the_bx500_hides_is_recovered_with_its_map(tmp_path: Path) -> None:
    """Requests tell its map on flash and its core, whose times the fill then says."""
    twin = recovered("bx500-240", ALL, tmp_path / "run")
    kind, intervals = twin.fitted.space.structure, twin.fitted.intervals
    assert (kind.name, kind.past, kind.limit, kind.map) == ("dynamic", "staged", "core", "demand")
    assert twin.fitted.space.cell == "tlc" and twin.fitted.limit_known and twin.fitted.map_known
    inside = {
        "dies": 4.0,
        "cache": 0.1,
        "idle": 30.0,
        # 64 KiB a row in 138 us; 19.4 us a unit.
        "core_rate": 475e6,
        "move": 19.4e-6,
        # 35 us, and what a bus of 400 MT/s takes longer for 4 KiB than a candidate's.
        "slc_read": 42.7e-6,
    }
    for name, value in inside.items():
        low, high = intervals[name]
        assert low <= value <= high, (name, low, high)
    # 1 GiB of 240 GB. All requests of this run lie beyond it, so that only a bound can be told.
    low, high = intervals.get("reach", (0.0, 1.0))
    assert low <= 0.0045 <= high


@pytest.mark.full
def test_what_the_pm871b_hides_is_recovered(tmp_path: Path) -> None:
    """But the core's time a unit moved, which is none and far from usual, and the time to read a
    native page: how much of its test file is read there jumps from one small copy to the next."""
    twin = recovered("pm871b-128", ALL, tmp_path / "run")
    kind, intervals = twin.fitted.space.structure, twin.fitted.intervals
    assert (kind.name, kind.past, kind.limit, kind.map) == ("static", "direct", "core", "dram")
    assert twin.fitted.space.cell == "tlc" and twin.fitted.map_known
    inside = {
        "dies": 4.0,
        "cache": 0.0094,
        "idle": 5.0,
        "native_rate": 167e6,
        "spare": 0.037,
        # 32 KiB a row in 74 us.
        "core_rate": 443e6,
    }
    assert not twin.fitted.space.structure.reclaims
    for name, value in inside.items():
        low, high = intervals[name]
        assert low <= value <= high, (name, low, high)


@pytest.mark.full
def test_two_fitted_drives_predict_what_no_fit_saw() -> None:
    done = proof.proof(2, 3)
    assert len(done.drives) == 2
    # How victims are chosen decides what a write that waits takes on a full drive, and no run of
    # these batteries tells it: how often its interval holds is told of many drives (fit.md).
    synced = "sync 4 KiB write"
    loads = [name for name in proof.NEAR if name != synced]
    right = [all(drive.right[name] for name in loads) for drive in done.drives]
    assert any(right), done.worst_lines()
    assert all(drive.wide[synced] > 1 for drive in done.drives)


UNUSUAL = {
    # Its first tier lasts for 6.7 s: what ends within two seconds may be a burst of the host.
    ("tiers", "direct"): {
        **{"first_rate": 120e6, "native_rate": 25e6, "dies": 1.0},
        **{"cache": 0.1, "reserve": 0.03, "tier": 0.15},
    },
    # Behind this reserve a full drive has nothing left to borrow: there a cache that has
    # blocks of its own is another than one that has none on more flash.
    ("hybrid", "fold-first"): {"cache": 0.12, "reserve": 0.11, "static": 0.04, "rearm": 0.0},
}
# A step of these programs of all dies: single writes wait longer for one than for staging.
STEP = "32 MiB"


@pytest.mark.full
@pytest.mark.parametrize(("name", "past"), UNUSUAL)
def test_a_kind_that_few_drives_have_is_recovered(tmp_path: Path, name: str, past: str) -> None:
    """Fill and discover of a drive of 8 GB: its twin has the same kind of cache."""
    capacity = 8_000_000_000
    true = {
        **candidate.usual_values(),
        **{"first_rate": 480e6, "native_rate": 150e6, "link": 550e6, "idle": 8.0},
        **{"spare": 0.12, "dies": 4.0, "tier_speed": 0.5},
        **UNUSUAL[name, past],
    }
    space = candidate.space_of(structure(name, past), "tlc", true, rests=True)
    flash = candidate.geometry(space, true, capacity, False)
    rows = candidate.rows_of(space, true, capacity, flash)
    if past == "fold-first":
        rows["fold"]["step"] = (STEP, "")
    ft.test(
        candidate.text_of(rows, head='id = "true"\nname = "a drive of a rare kind"'),
        battery="fill:patterns=128k-q32,passes=1,discover",
        out=tmp_path / "run",
        report=False,
        progress=False,
    )
    twin = fitting.fit(Run(tmp_path / "run"), simulations=400)
    fitted = twin.fitted.space
    assert (fitted.structure.name, fitted.structure.past, fitted.cell) == (name, past, "tlc")
    intervals = twin.fitted.intervals
    for value in ("cache", *(["tier"] if name == "tiers" else [])):
        low, high = intervals[value]
        assert low <= true[value] <= high, (value, low, high)
    # Of eleven drives with tiers that calibrate the fit, one makes this interval as long as that of
    # no measurement. Then the twin has what the fill shows at once.
    rate, shown = true["native_rate"], twin.fitted.values["native_rate"]
    low, high = intervals.get("native_rate", (shown / 1.05, shown * 1.05))
    assert low <= rate <= high, (low, high)
    spec = tomllib.loads(twin.toml)
    if name == "tiers":
        assert spec["nand"]["tier"]["bits"]["value"] == 2
    else:
        assert spec["slc_cache"]["mode"]["value"] == name
        assert spec["slc_cache"]["when_full"]["value"] == past


def test_the_page_shows_the_fitted_drives_as_they_are_kept() -> None:
    assert page.block(proof.kept(page.KEPT)) in page.PAGE.read_text()
