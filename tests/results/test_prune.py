"""Which runs go, and that nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from stored_runs import newer, store

from flashtwin.errors import FlashtwinError
from flashtwin.results.listing import stored
from flashtwin.results.prune import chosen, remove
from flashtwin.results.writer import Writer

NOW = datetime(2026, 2, 1, tzinfo=UTC)


def day(number: int) -> str:
    return f"2026-01-{number:02}T12:00:00+00:00"


def made(place: Path) -> None:
    for number in (3, 9, 21, 30):
        store(place / f"day{number}", began=day(number))


@pytest.mark.parametrize(
    ("keep", "days", "names"),
    [
        (0, None, [3, 9, 21, 30]),
        (1, None, [3, 9, 21]),
        (4, None, []),
        (9, None, []),
        (0, 10, [3, 9, 21]),
        (3, 10, [3]),
        (0, 365, []),
    ],
)
def test_what_goes(tmp_path: Path, keep: int, days: int | None, names: list[int]) -> None:
    made(tmp_path)
    older = None if days is None else timedelta(days=days)
    going = chosen(stored([tmp_path]), keep=keep, older=older, now=NOW)
    assert [run.path.name for run in going] == [f"day{number}" for number in names]


def test_only_runs_go_and_none_under_way(tmp_path: Path) -> None:
    made(tmp_path)
    newer(tmp_path / "newer")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    store(tmp_path / "killed", close=False)
    writer = Writer(tmp_path / "going", {"target": {"name": "x", "kind": "twin"}}, {})
    for run in chosen(stored([tmp_path]), now=NOW):
        remove(run)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["going", "mine", "newer"]
    writer.close([])


def test_a_run_that_is_begun_meanwhile_stays(tmp_path: Path) -> None:
    store(tmp_path / "a", close=False)
    (run,) = chosen(stored([tmp_path]), now=NOW)
    with (tmp_path / "a" / "steps.jsonl").open("ab") as journal:
        from flashtwin.results import lock

        lock.hold(journal.fileno(), run.path)
        with pytest.raises(FlashtwinError, match="is being written"):
            remove(run)
    assert (tmp_path / "a" / "manifest.json").exists()


def test_the_folder_of_several_targets_goes_with_its_last_run(tmp_path: Path) -> None:
    for name in ("both/a", "both/b", "mine/a"):
        store(tmp_path / name)
    (tmp_path / "both" / "report.html").write_text("<html>")
    (tmp_path / "mine" / "report.html").write_text("<html>")
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    going = chosen(stored([tmp_path]), now=NOW)
    remove(going[0])
    assert (tmp_path / "both" / "report.html").exists()
    for run in going[1:]:
        remove(run)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == [
        "notes.txt",
        "report.html",
    ]


def test_what_lies_beside_a_place_is_not_ours(tmp_path: Path) -> None:
    store(tmp_path / "a")
    (tmp_path / "report.html").write_text("mine")
    for run in chosen(stored([tmp_path / "a"]), now=NOW):
        remove(run)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
