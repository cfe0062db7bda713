"""Which runs go, and that nothing else does."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from changed_runs import reseal
from stored_runs import newer, store

from flashtwin.errors import FlashtwinError
from flashtwin.runner.request import Request
from flashtwin.runs import folders, lock
from flashtwin.runs.listing import chosen, files_of_others, left_files, remove, stored
from flashtwin.runs.writer import Writer

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
        from flashtwin.runs import lock

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


def test_what_somebody_put_into_a_run_stays(tmp_path: Path) -> None:
    store(tmp_path / "a")
    (tmp_path / "a" / "notes.txt").write_text("mine")
    for run in chosen(stored([tmp_path]), now=NOW):
        remove(run)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["notes.txt"]
    assert [run.state for run in stored([tmp_path])] == ["no run"]


def test_what_lies_beside_a_place_is_not_ours(tmp_path: Path) -> None:
    store(tmp_path / "a")
    (tmp_path / "report.html").write_text("mine")
    for run in chosen(stored([tmp_path / "a"]), now=NOW):
        remove(run)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def planned(place: Path, *names: str) -> None:
    """The plan of several targets, as a run of them leaves it when it is killed."""
    rows = [
        {
            "place": name,
            "target": {"kind": "twin", "name": name, "toml": "", "seed": 1},
            "batteries": [{"name": "fill", "parameters": {}}],
            "budget_s": None,
        }
        for name in names
    ]
    folders.write_plan(place, {"seed": 1, "command": [], "tasks": rows})


def test_targets_that_never_began_are_listed_and_go(tmp_path: Path) -> None:
    place = tmp_path / "runs"
    store(place / "ab" / "a", state="interrupted")
    planned(place / "ab", "a", "b")
    (place / "ab" / "b").mkdir(parents=True)
    (place / "ab" / "b" / "steps.tables").touch()
    planned(place / "cd", "c", "d")
    (place / "foreign").mkdir()
    (place / "foreign" / "plan.json").write_text('{"format_version": "1.2"}')
    told = {run.path.relative_to(place).as_posix(): run for run in stored([place])}
    assert {name: run.state for name, run in told.items()} == {
        "ab": "not begun",
        "ab/a": "interrupted",
        "cd": "not begun",
        "foreign": "no run",
    }
    assert (told["ab"].target, told["cd"].target) == ("b", "c+d")
    assert told["cd"].batteries == ("fill",) and told["cd"].bytes > 100 and told["cd"].started
    going = chosen(list(told.values()), now=datetime.now(UTC) + timedelta(days=1))
    assert [run.path.name for run in going] == ["a", "ab", "cd"]
    for run in going:
        remove(run)
    assert [path.name for path in place.iterdir()] == ["foreign"]
    assert (place / "foreign" / "plan.json").exists()


@pytest.mark.parametrize("first", ["run", "plan"])
def test_what_goes_leaves_the_plan_too(tmp_path: Path, first: str) -> None:
    """Whoever removes a run does not want it begun again by a later --resume."""
    place = tmp_path / "ab"
    store(place / "a", state="interrupted")
    (place / "report.html").write_text("<html>")
    planned(place, "a", "b")
    found = stored([tmp_path])
    order = sorted(found, key=lambda run: (run.state == "not begun") == (first == "run"))
    remove(order[0])
    rows = folders.read_plan(place)["tasks"]
    assert [row["place"] for row in rows] == ["b" if first == "run" else "a"]
    remove(order[1])
    assert list(tmp_path.iterdir()) == []


def test_nothing_goes_of_several_targets_under_way(tmp_path: Path) -> None:
    """The one that is finished neither: the report of all is still to be made."""
    place = tmp_path / "abc"
    store(place / "a")
    planned(place, "a", "b", "c")
    before = chosen(stored([tmp_path]), now=NOW + timedelta(days=9999))
    with lock.holding(place, folders.PLAN):
        assert {run.state for run in stored([tmp_path])} == {"finished", "under way"}
        assert chosen(stored([tmp_path]), now=NOW + timedelta(days=9999)) == []
        for run in before:
            with pytest.raises(FlashtwinError, match=r"is being written|another process"):
                remove(run)
        with pytest.raises(FlashtwinError, match="another process is writing"):
            folders.forget(place, others=True)
    assert len(chosen(stored([tmp_path]), now=NOW + timedelta(days=9999))) == 2
    assert (place / "a" / "manifest.json").exists() and (place / "plan.json").exists()


def test_a_plan_that_points_elsewhere_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "steps.tables").touch()
    planned(tmp_path / "runs" / "x", "../../mine")
    (run,) = stored([tmp_path / "runs"])
    assert run.state == "no run" and chosen([run], now=NOW) == []
    folders.forget(tmp_path / "runs" / "x", others=True)
    assert (tmp_path / "mine" / "steps.tables").exists()


def swept(place: Path) -> None:
    (place / "points").mkdir(parents=True)
    asked = {"schema": 1, "drive": "x", "batteries": "fill", "seed": 1, "axes": [], "hashes": []}
    folders.write_sweep(place, asked)
    (place / "table.csv").write_text("point\n")


def test_a_sweep_goes_with_its_last_point_and_not_while_it_is_carried_out(tmp_path: Path) -> None:
    place = tmp_path / "sweep"
    swept(place)
    swept(tmp_path / "none")
    for name in ("0000-a", "0001-b"):
        store(place / "points" / name)
    late = NOW + timedelta(days=9999)
    with lock.holding(place, "sweep.json"):
        assert [run.path.name for run in chosen(stored([tmp_path]), now=late)] == ["none"]
    told = {run.path.name: run.state for run in stored([tmp_path])}
    assert told == {"0000-a": "finished", "0001-b": "finished", "none": "not begun"}
    for run in chosen(stored([tmp_path]), keep=1, now=late):
        remove(run)
    assert [path.name for path in tmp_path.iterdir()] == ["none"]
    for run in chosen(stored([tmp_path]), now=late):
        remove(run)
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_a_killed_run_goes_with_it(tmp_path: Path) -> None:
    """Only the file that bears the run's marks: another may lie at its path by now, and the run
    may be a copy."""
    probe, other = tmp_path / "probe", tmp_path / "other"
    for path in (probe, other):
        path.write_bytes(b"x" * 4096)
    try:
        os.setxattr(probe, "user.flashtwin", b"mark-of-the-run")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    for name, path in (("killed", probe), ("foreign", other), ("copy", probe)):
        run = tmp_path / "runs" / name
        store(run, state="interrupted")
        host = json.loads((run / "host.json").read_text())
        row = {"path": str(path), "size_bytes": 4096, "mark": "mark-of-the-run"}
        (run / "host.json").write_text(json.dumps({**host, "file": row}))
        reseal(run)
    about = (tmp_path / "runs" / "killed").stat()
    os.setxattr(probe, "user.flashtwin.run", f"{about.st_dev:x}:{about.st_ino:x}".encode())
    going = chosen(stored([tmp_path / "runs"]), now=datetime.now(UTC) + timedelta(days=1))
    files = {run.path.name: left_files(run) for run in going}
    assert files == {"killed": [probe], "foreign": [], "copy": []}
    others = {run.path.name: files_of_others(run) for run in going}
    assert others == {"killed": [], "foreign": [], "copy": [probe]}
    for run in sorted(going, key=lambda run: run.path.name):
        remove(run)
        assert probe.exists() == (run.path.name in ("copy", "foreign"))
    assert other.exists()


def test_what_the_same_command_began_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = Request(targets=("/mnt/ssd/probe",), batteries="fill", size="4GB")
    assert asked.unfinished() is None
    command = ["flashtwin", "test", "probe", "--battery", "fill", "--size", "4GB", "--seed", "1"]
    for name, state in (("1-old", "interrupted"), ("2-cut", "interrupted"), ("3-done", "finished")):
        store(Path("flashtwin-runs") / name, state=state)  # type: ignore[arg-type]
        manifest = Path("flashtwin-runs") / name / "manifest.json"
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "command": command}))
        reseal(manifest.parent)
    assert asked.unfinished() == Path("flashtwin-runs/2-cut")
    assert replace(asked, size="8GB").unfinished() is None
