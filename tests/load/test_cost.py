"""A trace's cost on a drive: the same for the same requests, and more for a careless change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from traces import database, iolog

from flashtwin.load import cost
from flashtwin.load.words import Cost
from flashtwin.runner.target import Variant

Run = Callable[..., Result]
SMALL = Variant(drive="crucial-p1-1tb", scale="1/64")


def costs(where: Path) -> Cost:
    return cost.cost(where, SMALL, "fresh")


def test_the_same_requests_cost_the_same_to_the_nanosecond(tmp_path: Path) -> None:
    first = costs(iolog(tmp_path / "a", database(1)))
    again = costs(iolog(tmp_path / "b", database(1)))
    changes = cost.changes([again], [first])
    assert all(change.after == change.before for change in changes)


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize(
    ("change", "measure"),
    [
        ({"syncs": 2}, "syncs"),
        ({"shift": 512}, "places written in part"),
        ({"piece": 512}, "requests"),
    ],
)
def test_a_careless_change_is_found(
    tmp_path: Path, seed: int, change: dict[str, int], measure: str
) -> None:
    base = costs(iolog(tmp_path / "main", database(seed)))
    after = costs(iolog(tmp_path / "pr", database(seed, **change)))
    worse = [row.measure for row in cost.changes([after], [base]) if row.is_worse(0.02)]
    assert measure in worse


def test_the_command_fails_beyond_its_limit(run: Run, tmp_path: Path) -> None:
    base = iolog(tmp_path / "main.iolog", database(1))
    twice = iolog(tmp_path / "pr.iolog", database(1, syncs=2))
    on = ("--on", "crucial-p1-1tb", "--scale", "1/64", "--state", "fresh")
    words = ("cost", str(twice), "--against", str(base), *on)
    failed = run(*words, "--fail-on", "2%", "--markdown", str(tmp_path / "comment.md"))
    assert failed.exit_code == 1 and "syncs on crucial-p1-1tb +100.00 %" in failed.stdout
    comment = (tmp_path / "comment.md").read_text()
    assert comment.startswith("More than 2 % above the base: ") and "| drive | measure |" in comment
    assert run(*words, "--fail-on", "100%").exit_code == 0
    same = run("cost", str(base), "--against", str(base), *on, "--fail-on", "0%", "--json")
    assert same.exit_code == 0 and json.loads(same.stdout)["worse"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fail-on", "2%"], "--fail-on judges a trace beside another one"),
        (["--state", "wet"], "there is no state 'wet'"),
        (["--event", "DQ"], "DQ is not one of blkparse's actions"),
    ],
)
def test_wrong_words_of_a_cost(run: Run, tmp_path: Path, words: list[str], message: str) -> None:
    trace = iolog(tmp_path / "a.iolog", database(1))
    done = run("cost", str(trace), "--on", "crucial-p1-1tb", "--scale", "1/64", *words)
    assert done.exit_code == 2 and message in done.stderr


def test_a_trace_beyond_the_drive_is_refused_by_line(run: Run, tmp_path: Path) -> None:
    trace = iolog(tmp_path / "far.iolog", iter([("write", 1 << 50, 4096)]))
    done = run("cost", str(trace), "--on", "crucial-p1-1tb", "--scale", "1/64")
    assert done.exit_code == 2 and "far.iolog:4" in done.stderr
    assert "hint: take a larger drive\n" in done.stderr
