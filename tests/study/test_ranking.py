"""The ranking among the catalogue's twins: places, what is left out, and what is shipped."""

from __future__ import annotations

import msgspec
import pytest

from flashtwin import _core
from flashtwin.catalogue.loader import drive_ids, load
from flashtwin.model.finding import Finding
from flashtwin.study import ranking
from flashtwin.study.ranking import Stored, columns

MEAN, READ = "fill.mean[1m-q1]", "crystaldiskmark.read[RND4K-Q1T1]"


def stored(spec: str, mean: float, read: float, model: int = _core.MODEL) -> Stored:
    return Stored(name=spec, model=model, spec=spec, values={MEAN: mean, READ: read})


def finding(battery: str, name: str, variant: str, value: float) -> Finding:
    return Finding(battery=battery, name=name, variant=variant, title="", value=value, unit="MB/s")


FOUND = [
    finding("fill", "mean", "1m-q1", 300.0),
    finding("crystaldiskmark", "read", "RND4K-Q1T1", 20.0),
    finding("power", "idle", "", 1.0),
]


@pytest.fixture
def twins(monkeypatch: pytest.MonkeyPatch) -> None:
    results = {
        "slow": stored("a", 100, 30),
        "same": stored("b", 300, 20),
        "fast": stored("c", 900, 60),
    }
    monkeypatch.setattr(ranking, "current", lambda: (results, 2))


@pytest.mark.usefixtures("twins")
def test_a_place_is_one_more_than_the_drives_that_are_faster() -> None:
    row = ranking.ranked("mine", FOUND)
    assert row is not None
    places = {placed.column.finding: placed for placed in row.places}
    assert (places[MEAN].place, places[MEAN].of, places[MEAN].best) == (2, 4, "fast")
    assert (places[READ].place, places[READ].best_value) == (3, 60)
    assert set(places) == {MEAN, READ}, "what a run did not find is not ranked"
    assert (row.twins, row.left_out) == (("slow", "same", "fast"), 2)


@pytest.mark.usefixtures("twins")
def test_a_drive_is_not_ranked_against_its_own_result() -> None:
    row = ranking.ranked("same", FOUND, "b")
    assert row is not None
    assert row.twins == ("slow", "fast")
    assert row.places[0].of == 3
    assert ranking.ranked("other", [finding("power", "idle", "", 1.0)]) is None


def test_results_of_another_core_or_spec_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    drive = drive_ids()[0]
    spec = load(drive).hash
    rows = {drive: stored(spec, 1, 1), "gone": stored(spec, 1, 1)}
    monkeypatch.setattr(ranking, "stored", lambda: rows)
    ranking.current.cache_clear()
    assert ranking.current() == ({drive: rows[drive]}, 1)
    for other in (stored("0", 1, 1), stored(spec, 1, 1, model=_core.MODEL - 1)):
        monkeypatch.setattr(ranking, "stored", lambda row=other: {drive: row})
        ranking.current.cache_clear()
        assert ranking.current() == ({}, 1)
    ranking.current.cache_clear()


def test_what_is_shipped_is_read_as_it_was_written() -> None:
    results = ranking.stored()
    assert set(results) <= set(drive_ids()) and len(results) > 15
    assert ranking.encoded(results) == ranking.RESULTS.read_bytes()
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"x": {"name": "x"}}', type=dict[str, Stored])
    known = {column.finding for column in columns().values()}
    for name, row in results.items():
        assert set(row.values) <= known, name
        assert {MEAN, READ} <= set(row.values), name


@pytest.mark.full
def test_the_shipped_results_hold() -> None:
    """Not in every run of the tests: whoever changes a spec need not run all drives at once."""
    holds, left_out = ranking.current()
    assert left_out == 0 and set(holds) == set(drive_ids()), "run flashtwin_lab.make.ranking"
