"""What a listing keeps of runs: the listing with it is the one without it, whatever happens."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from changed_runs import rewrite
from stored_runs import store

from flashtwin.outputs import CACHE
from flashtwin.runs import listing, listing_index, outline
from flashtwin.runs.listing import Stored, stored
from flashtwin.runs.rundir import Run

NAMES = ("a", "b", "both/a", "both/b")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place of settled runs, with an index from the first run on."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.setattr(listing_index, "WORTH", 1)
    monkeypatch.setattr(listing_index, "SETTLED_NS", 0)
    for seed, name in enumerate(NAMES, 1):
        store(tmp_path / "place" / name, seed=seed)
    store(tmp_path / "place" / "stopped", state="interrupted")
    return tmp_path / "place"


@pytest.fixture
def read_anew(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs whose files a listing reads."""
    names: list[str] = []
    read = listing.looked_into

    def counted(folder: Path, stamp: listing_index.Stamp) -> Stored:
        names.append(folder.name)
        return read(folder, stamp)

    monkeypatch.setattr(listing, "looked_into", counted)
    return names


def without_index(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[Stored]:
    with monkeypatch.context() as patch:
        patch.setenv(CACHE, "off")
        return stored([place])


def index_of(place: Path) -> Path:
    (file,) = (place.parent / "cache" / listing_index.FOLDER).iterdir()
    return file


def test_a_second_listing_reads_no_run_and_says_the_same(
    place: Path, read_anew: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = stored([place])
    assert sorted(read_anew) == ["a", "a", "b", "b", "stopped"]
    read_anew.clear()
    second = stored([place])
    assert read_anew == [] and second == first == without_index(place, monkeypatch)
    assert [run.to_json() for run in second] == [run.to_json() for run in first]
    assert [run.key_text for run in second] == [run.key_text for run in first] != [""] * 5


def test_nothing_is_written_among_the_runs(place: Path) -> None:
    before = sorted(place.rglob("*"))
    stored([place])
    assert sorted(place.rglob("*")) == before


def label(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    rewrite(run, "manifest.json", {**manifest, "label": "called"})


def flip(run: Path) -> None:
    """A bit, with the file's length and times as they were."""
    file, about = run / "findings.json", (run / "findings.json").stat()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))


def lose_a_table(run: Path) -> None:
    (run / "series.parquet").unlink()


def another(run: Path) -> None:
    """Another run in its place."""
    shutil.rmtree(run)
    store(run, seed=77)


def gone(run: Path) -> None:
    shutil.rmtree(run)


@pytest.mark.parametrize("change", [label, flip, lose_a_table, another, gone])
def test_a_run_that_changed_is_read_anew(
    place: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    before = stored([place])
    change(place / "b")
    after = stored([place])
    assert after == without_index(place, monkeypatch) != before
    assert stored([place]) == after


def test_a_copy_is_read_anew_and_its_index_is_its_own(
    place: Path, read_anew: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored([place])
    copy = place.parent / "copy"
    shutil.copytree(place, copy)
    lose_a_table(copy / "a")
    read_anew.clear()
    runs = stored([copy])
    assert len(read_anew) == 5 and runs == without_index(copy, monkeypatch)
    assert runs[0].why == "series.parquet is missing"
    assert all(run.path.is_relative_to(copy) for run in stored([copy]))


def test_files_that_changed_just_now_are_not_kept(
    place: Path, read_anew: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing_index, "SETTLED_NS", 10**12)
    stored([place])
    read_anew.clear()
    stored([place])
    assert len(read_anew) == 5


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"bx500", b"bx501"),
        lambda data: b"\xff" * len(data),
        lambda data: b"0" * 64 + b"\n" + b"[" * 100_000,
    ],
)
def test_a_damaged_index_is_made_again(
    place: Path, read_anew: list[str], damage: Callable[[bytes], bytes]
) -> None:
    before = stored([place])
    file = index_of(place)
    file.write_bytes(damage(file.read_bytes()))
    assert stored([place]) == before
    read_anew.clear()
    assert stored([place]) == before and read_anew == []


def test_what_is_no_file_in_its_place_ends_no_listing(place: Path) -> None:
    before = stored([place])
    file = index_of(place)
    file.unlink()
    os.mkfifo(file)
    assert stored([place]) == before
    shutil.rmtree(file.parent)
    file.parent.write_text("mine")
    assert stored([place]) == before and file.parent.read_text() == "mine"


def test_the_index_is_that_of_a_place_however_it_is_spelled(
    place: Path, read_anew: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored([place])
    read_anew.clear()
    for folder, spelled in ((place, "."), (place.parent, "place"), (place, "../place")):
        monkeypatch.chdir(folder)
        runs = stored([Path(spelled)])
        assert read_anew == [] and runs[0].path == Path(spelled) / "a"


def test_a_finished_run_is_outlined_as_it_is_read(place: Path) -> None:
    for path in (*map(place.joinpath, NAMES), place / "stopped"):
        slow = listing._read(Run(path), listing.size_of(path))
        quick = listing.outlined(path, slow.bytes)
        assert (quick and quick[0]) == (slow if path.name != "stopped" else None)


@pytest.mark.parametrize(
    ("name", "value"),
    [("host.json", {"began": 3}), ("findings.json", {"schema": 1, "findings": [{"id": 3}]})],
)
def test_what_is_not_as_usual_has_no_outline(place: Path, name: str, value: Any) -> None:
    rewrite(place / "a", name, value)
    assert outline.of(place / "a") is None and outline.of(place / "b") is not None
