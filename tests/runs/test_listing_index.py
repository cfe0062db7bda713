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
from flashtwin.runs import listing, listing_index
from flashtwin.runs.listing import Stored, stored
from flashtwin.runs.rundir import Run
from flashtwin.runs.writer import store_findings

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


@pytest.fixture
def read_whole(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs whose manifest a listing reads from its first byte on."""
    names: list[str] = []
    manifest = Run.manifest.func

    def counted(run: Run) -> dict[str, Any]:
        names.append(run.path.name)
        return manifest(run)

    monkeypatch.setattr(Run, "manifest", property(counted))
    monkeypatch.setenv(CACHE, "off")
    return names


def summarised(run: Path) -> Stored | None:
    return listing.summarised(run, listing_index.Stamp.of(run))


def test_a_summary_says_what_the_run_says(place: Path) -> None:
    for path in (*map(place.joinpath, NAMES), place / "stopped"):
        read = listing._read(Run(path), listing.size_of(path))
        assert summarised(path) == (read if path.name != "stopped" else None)


def test_finished_runs_are_listed_without_their_manifests(
    place: Path, read_whole: list[str]
) -> None:
    runs = stored([place])
    assert set(read_whole) == {"stopped"}
    assert runs[0].findings["cache_size"].value == 24.0 and runs[0].steps == 4


def test_a_copy_of_a_run_is_listed_by_its_summary(place: Path, read_whole: list[str]) -> None:
    for folder, copy in (("copied", shutil.copy2), ("new", shutil.copyfile)):
        shutil.copytree(place / "a", place.parent / folder / "a", copy_function=copy)
        (run,) = stored([place.parent / folder])
        assert run.state == "finished" and read_whole == []


def damage_summary(run: Path) -> None:
    data = bytearray((run / "summary.json").read_bytes())
    data[len(data) // 2] ^= 1
    (run / "summary.json").write_bytes(data)


def lose_summary(run: Path) -> None:
    (run / "summary.json").unlink()


def take_another(run: Path) -> None:
    shutil.copy(run.parent / "b" / "summary.json", run / "summary.json")


def conclude_half(run: Path) -> None:
    """The summary as it was before other findings were stored."""
    kept = (run / "summary.json").read_bytes()
    store_findings(Run(run), [])
    (run / "summary.json").write_bytes(kept)


@pytest.mark.parametrize(
    "change", [damage_summary, lose_summary, take_another, conclude_half, label]
)
def test_a_run_whose_summary_is_not_its_own_is_read(
    place: Path, read_whole: list[str], change: Callable[[Path], None]
) -> None:
    change(place / "a")
    described = stored([place])[0]
    assert read_whole[0] == "a" and described.state == "finished"
    assert described == listing._read(Run(place / "a"), described.bytes)


@pytest.mark.parametrize("name", ["manifest.json", "findings.json"])
def test_damage_beside_a_sound_summary_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = place / "a" / name
    about = file.stat()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    # Until its time of change is later than that of the summary, by the clock of the file system.
    while file.stat().st_ctime_ns <= (place / "a" / "summary.json").stat().st_ctime_ns:
        file.write_bytes(data)
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    described = without_index(place, monkeypatch)[0]
    assert described.state == "unreadable" and name in str(described.why)


def test_other_findings_come_with_another_summary(place: Path, read_whole: list[str]) -> None:
    store_findings(Run(place / "a"), [])
    read_whole.clear()
    described = stored([place])[0]
    assert described.findings == [] and "a" not in read_whole


def test_a_host_that_is_not_as_usual_is_told_of_the_run(place: Path) -> None:
    rewrite(place / "a", "host.json", {"began": 3})
    assert summarised(place / "a") is None and summarised(place / "b") is not None
