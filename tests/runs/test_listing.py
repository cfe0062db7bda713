"""Whatever lies among the runs is listed, with its state and never an error."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from changed_runs import rewrite
from stored_runs import finding, newer, store

from flashtwin.errors import FlashtwinError
from flashtwin.runs.listing import StoredRuns, stored
from flashtwin.runs.rundir import find_runs
from flashtwin.runs.summary import key_findings
from flashtwin.runs.writer import Writer


def names(place: Path) -> dict[str, tuple[str, str | None]]:
    found = stored([place])
    return {str(run.path.relative_to(place)): (run.state, run.why) for run in found}


def test_a_run_in_a_line(tmp_path: Path) -> None:
    run = store(tmp_path / "a", seed=7)
    (found,) = stored([tmp_path])
    assert (found.state, found.why, found.is_run, found.group) == ("finished", None, True, None)
    assert (found.target, found.batteries, found.seed) == (
        "bx500-240",
        ("fill", "crystaldiskmark"),
        7,
    )
    assert found.spec == "07" + "ab" * 31 and found.steps == 4 and found.wall_s == 12.5
    assert found.started is not None and found.started.isoformat() == "2026-01-15T10:15:00+00:00"
    files = [at for at in run.path.rglob("*") if at.is_file()]
    assert found.bytes == sum(at.stat().st_size for at in files) > 1000
    assert [one.id for one in key_findings(found.findings, 2)] == [
        "fill.cache_size[128k-q32]",
        "fill.speed_cache[128k-q32]",
    ]


def test_what_a_run_was_called_stands_behind_its_target(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store(tmp_path / name)
    manifest = json.loads((tmp_path / "a/manifest.json").read_text())
    rewrite(tmp_path / "a", "manifest.json", {**manifest, "label": "8 GB of cache"})
    runs = StoredRuns(stored([tmp_path]))
    assert [run.label for run in runs] == ["8 GB of cache", ""]
    assert str(runs).count("bx500-240: 8 GB of cache ") == 1 == str(runs).count("bx500-240  ")


def test_key_findings_of_a_battery_that_nobody_knows(tmp_path: Path) -> None:
    store(tmp_path / "a", findings=[finding("x.none", None), finding("x.b", 1.0)])
    (found,) = stored([tmp_path])
    assert [one.id for one in key_findings(found.findings)] == ["x.b"]


def test_every_state(tmp_path: Path) -> None:
    for state in ("finished", "interrupted", "failed"):
        store(tmp_path / state, state=state)
    store(tmp_path / "killed", close=False)
    writer = Writer(tmp_path / "going", {"target": {"name": "x", "kind": "twin"}}, {})
    newer(tmp_path / "newer")
    (tmp_path / "foreign" / "deep").mkdir(parents=True)
    (tmp_path / "foreign" / "deep" / "thesis.txt").write_text("mine")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "host.json").write_text("{}")
    store(tmp_path / "torn")
    (tmp_path / "torn" / "manifest.json").write_text('{"schema": 1, "sta')
    store(tmp_path / "poor")
    (tmp_path / "poor" / "series.parquet").unlink()
    store(tmp_path / "dumb")
    rewrite(tmp_path / "dumb", "findings.json", {"schema": 1, "findings": [{"id": 3}]})
    store(tmp_path / "odd")
    rewrite(tmp_path / "odd", "manifest.json", {"schema": 1, "target": ["a"]})
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "report.html").write_text("<html>")
    os.symlink(tmp_path / "finished", tmp_path / "link")
    found = names(tmp_path)
    writer.close([])
    told = {name: state for name, (state, _) in found.items()}
    assert told == {
        "finished": "finished",
        "interrupted": "interrupted",
        "failed": "failed",
        "killed": "cut off",
        "going": "under way",
        "newer": "unreadable",
        "foreign": "no run",
        "half": "no run",
        "torn": "unreadable",
        "poor": "unreadable",
        "dumb": "unreadable",
        "odd": "unreadable",
    }
    why = {name: text for name, (_, text) in found.items()}
    assert why["half"] == "manifest.json is missing" and why["foreign"] == "it holds no run"
    assert "schema 99" in str(why["newer"]) and why["poor"] == "series.parquet is missing"
    assert "malformed" in str(why["dumb"]) and "is not what flashtwin writes" in str(why["odd"])
    assert why["finished"] is None and "manifest.json" in str(why["torn"])


def test_several_targets_and_the_same_place_twice(tmp_path: Path) -> None:
    store(tmp_path / "both" / "a")
    store(tmp_path / "both" / "b")
    (tmp_path / "both" / "report.html").write_text("<html>")
    store(tmp_path / "c")
    assert list(names(tmp_path)) == ["both/a", "both/b", "c"]
    found = stored([tmp_path, tmp_path / "both", tmp_path / "c"])
    assert len(found) == 3
    assert [run.group for run in found] == [tmp_path / "both", tmp_path / "both", None]
    assert [run.group for run in stored([tmp_path / "both"])] == [None, None]


def test_a_place_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name, said in (("nothing", "there is no"), ("file", "is not a directory")):
        with pytest.raises(FlashtwinError, match=said) as refused:
            stored([tmp_path / name])
        assert refused.value.exit_code == 2 and refused.value.hint


@pytest.fixture
def place_of_nobody() -> Iterator[Path]:
    """A place that another user may look into, as whom the test goes on if it is root's."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "flashtwin-runs")
        Path(folder).chmod(0o755)
        yield place
        os.seteuid(os.getuid())
        for path in Path(folder).rglob("*"):
            path.chmod(0o755)


def as_nobody() -> None:
    if os.getuid() == 0:
        os.seteuid(65534)


def test_a_folder_that_may_not_be_looked_into_hides_no_other(place_of_nobody: Path) -> None:
    place = place_of_nobody
    for name in ("a", "b", "c", "both/a", "both/b", "listed"):
        store(place / name)
    (place / "both" / "a").chmod(0o311)
    (place / "b").chmod(0)
    (place / "listed").chmod(0o744)
    (place / "c" / "findings.json").chmod(0)
    (place / "deep" / "er").mkdir(parents=True)
    (place / "deep" / "er").chmod(0)
    as_nobody()
    found = names(place)
    assert {name: state for name, (state, _) in found.items()} == {
        "a": "finished",
        "b": "unreadable",
        "both/a": "unreadable",
        "both/b": "finished",
        "c": "unreadable",
        "deep/er": "unreadable",
        "listed": "unreadable",
    }
    reasons = {name: str(why) for name, (_, why) in found.items()}
    for name in ("b", "both/a", "c", "deep/er", "listed"):
        assert "Permission denied" in reasons[name], reasons
    text = str(StoredRuns(stored([place])))
    assert f"note: {place / 'b'}: it cannot be looked into: Permission denied" in text


def test_a_place_that_may_not_be_looked_into_is_a_sentence(place_of_nobody: Path) -> None:
    store(place_of_nobody / "a")
    place_of_nobody.chmod(0)
    as_nobody()
    with pytest.raises(FlashtwinError, match="Permission denied") as refused:
        stored([place_of_nobody])
    assert refused.value.exit_code == 3
    with pytest.raises(FlashtwinError, match="Permission denied"):
        find_runs(place_of_nobody)
