"""A search in a database: processes share it, a killed one is gone on with, the answer stays."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from flashtwin.errors import FlashtwinError
from flashtwin.study.fit import shared

Floats = NDArray[np.float64]
NAMES = ("cache", "link")
BATCHES, POPULATION = 4, 6
SPAWN = multiprocessing.get_context("spawn")


def simulate(places: Sequence[Floats]) -> list[Floats]:
    """A place below 0 is no drive."""
    return [np.sin(place) / 3 if place[0] >= 0 else np.zeros(0) for place in places]


def batches() -> list[list[Floats]]:
    rng = np.random.default_rng(5)
    return [[rng.normal(0.5, 1.0, 2) for _ in range(POPULATION)] for _ in range(BATCHES)]


def search(database: str, count: int = BATCHES) -> tuple[list[list[Floats]], int]:
    """So many batches: what came of them, and how many places were simulated here."""
    part = shared.opened(database, "test", ["a search"])
    shown = [part.through(NAMES, places, simulate) for places in batches()[:count]]
    return shown, part.simulated


def take_part(database: str, together: Any, answers: Any) -> None:
    """A process on two cores, which waits with its first places until the other has some too."""
    os.cpu_count = lambda: 2  # type: ignore[assignment]
    part = shared.opened(database, "test", ["a search"])

    def slowly(places: Sequence[Floats]) -> list[Floats]:
        if part.simulated == 0:
            together.wait(timeout=120)
        return simulate(places)

    shown = [part.through(NAMES, places, slowly) for places in batches()]
    answers.put((shown, part.simulated))


def claim_and_die(database: str) -> None:
    part = shared.opened(database, "test", ["a search"])
    places = batches()[0]
    part._claim(part._entered(0, NAMES, places), [0, 1], late=False)


def same(first: list[list[Floats]], second: list[list[Floats]]) -> bool:
    return all(
        np.array_equal(a, b)
        for batch, again in zip(first, second, strict=True)
        for a, b in zip(batch, again, strict=True)
    )


ALONE = [simulate(places) for places in batches()]


@pytest.mark.full
def test_a_search_goes_on_where_it_was(tmp_path: Path) -> None:
    database = str(tmp_path / "fit.db")
    _, first = search(database, 1)
    shown, more = search(database)
    assert (first, more) == (POPULATION, POPULATION * (BATCHES - 1))
    assert same(shown, ALONE)
    again, more = search(database)
    assert more == 0 and same(again, ALONE)
    # Another search in the same database begins anew.
    other = shared.opened(database, "test", ["another search"])
    other.through(NAMES, batches()[0], simulate)
    assert other.simulated == POPULATION


@pytest.mark.full
def test_a_closed_search_is_one_file(tmp_path: Path) -> None:
    with closing(shared.opened(str(tmp_path / "fit.db"), "test", ["a search"])) as part:
        part.through(NAMES, batches()[0], simulate)
    assert [at.name for at in tmp_path.iterdir()] == ["fit.db"]


@pytest.mark.full
def test_places_of_a_process_that_died_are_simulated_again(tmp_path: Path) -> None:
    database = str(tmp_path / "fit.db")
    process = SPAWN.Process(target=claim_and_die, args=(database,))
    process.start()
    process.join()
    assert process.exitcode == 0
    shown, simulated = search(database, 1)
    assert simulated == POPULATION and same(shown, ALONE[:1])


@pytest.mark.full
def test_two_processes_share_a_search(tmp_path: Path) -> None:
    database, together, answers = str(tmp_path / "fit.db"), SPAWN.Barrier(2), SPAWN.Queue()
    processes = [
        SPAWN.Process(target=take_part, args=(database, together, answers)) for _ in range(2)
    ]
    for process in processes:
        process.start()
    parts = [answers.get(timeout=300) for _ in processes]
    for process in processes:
        process.join()
    assert all(same(shown, ALONE) for shown, _ in parts)
    # Each place once; that both had work is what the first places waited for.
    assert sum(simulated for _, simulated in parts) == POPULATION * BATCHES


def test_a_database_that_cannot_be_opened_is_refused_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(FlashtwinError, match="is no folder"):
        shared.opened(str(tmp_path / "none" / "fit.db"), "test", [])
    with pytest.raises(FlashtwinError) as refused:
        shared.opened("nothing://me:secret@host/fit", "test", [])
    assert "secret" not in f"{refused.value} {refused.value.hint}"


def test_without_optuna_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(FlashtwinError, match="needs Optuna") as refused:
        shared.opened("fit.db", "test", [])
    assert "flashtwin[fit]" in str(refused.value.hint)
