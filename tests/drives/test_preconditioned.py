"""Snapshots of twins, and preconditioned drives that are kept: the results are the same."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from thinning import thinned

from flashtwin import _core
from flashtwin.catalogue.loader import load
from flashtwin.drives.snapshots import ABOUT, ARRAYS, DRIVE, RESULT, Store
from flashtwin.drives.twin import Twin
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.series import COLUMNS
from flashtwin.model.step import Fill, Flush, Job, Mark, Purge, Rest, Result, Run, Step, Trim
from flashtwin.model.target import Progress
from flashtwin.outputs import CACHE
from flashtwin.runner.events import Observer
from flashtwin.runner.run import run_batteries
from flashtwin.runner.target import Variant, twin_target

SCALE = "1/16"
WRITES = Job(name="w", rw="randwrite", block_bytes=4096, depth=8, io_bytes=1 << 28, seed=3)
STEPS: tuple[Step, ...] = (
    Purge(label="purge"),
    Fill(label="fill", size=4 << 30),
    Mark(label="mark"),
    Rest(label="rest", seconds=20.0),
    Trim(label="trim", offset=1 << 30, size=1 << 28),
    Flush(label="flush"),
    Run(label="writes", jobs=(WRITES,), sample_s=0.1),
    Fill(label="again", size=1 << 30),
)


def go(_: Progress) -> bool:
    return True


@pytest.fixture(scope="module")
def spec() -> _core.Spec:
    return load("bx500-240", scale=SCALE)


def told(result: object) -> dict[str, object]:
    """A result as plain values."""
    assert isinstance(result, Result)
    arrays = {
        "series": {name: getattr(result.series, name) for name in COLUMNS},
        "hist": result.hist,
        "xray": result.xray,
    }
    return {
        "label": result.label,
        "times": (result.start_ns, result.duration_ns),
        "jobs": result.jobs,
        **{
            part: {name: (np.asarray(data).dtype.str, data.tolist()) for name, data in of.items()}
            for part, of in arrays.items()
        },
    }


def whole(twin: Twin, steps: tuple[Step, ...] = STEPS) -> list[object]:
    return [*(told(twin.do(step, go)) for step in steps), twin.smart()]


def store(place: Path, **more: float) -> Store:
    return Store(place, worth_s=0.0, limit_bytes=int(more.get("limit_bytes", 10**9)))


def test_a_loaded_twin_goes_on_as_the_saved_one(spec: _core.Spec, tmp_path: Path) -> None:
    twin = Twin(spec, seed=5).open()
    for step in STEPS:
        twin.do(step, go)
    twin.save(tmp_path / "a.snap")
    copy = Twin.load(spec, tmp_path / "a.snap")
    copy.save(tmp_path / "b.snap")
    assert (tmp_path / "a.snap").read_bytes() == (tmp_path / "b.snap").read_bytes()
    assert whole(copy) == whole(twin)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.snap", "b.snap"]


def test_what_cannot_be_saved_or_loaded_says_why(spec: _core.Spec, tmp_path: Path) -> None:
    twin, path = Twin(spec).open(), tmp_path / "a.snap"
    twin.save(path)
    other = load("bx500-240", scale=SCALE, sets=["gc.low=5"])
    with pytest.raises(FlashtwinError, match="another drive") as raised:
        Twin.load(other, path)
    assert raised.value.exit_code == USAGE
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FlashtwinError, match="cut short"):
        Twin.load(spec, path)
    for missing in (tmp_path / "none.snap", tmp_path):
        with pytest.raises(FlashtwinError, match="cannot read") as raised:
            Twin.load(spec, missing)
        assert raised.value.exit_code == ENVIRONMENT
    with pytest.raises(FlashtwinError, match="No such file") as raised:
        twin.save(tmp_path / "no" / "a.snap")
    assert raised.value.exit_code == ENVIRONMENT


def test_a_full_disk_leaves_what_was_there(spec: _core.Spec, tmp_path: Path) -> None:
    place = tmp_path / "a.snap"
    place.write_text("before")
    twin, (_, most) = Twin(spec).open(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, most))
    try:
        with pytest.raises(FlashtwinError, match="File too large") as raised:
            twin.save(place)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert raised.value.exit_code == ENVIRONMENT
    assert place.read_text() == "before"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.full
def test_results_are_the_same_with_drives_that_are_kept(spec: _core.Spec, tmp_path: Path) -> None:
    expected = whole(Twin(spec).open())
    kept = store(tmp_path)
    assert whole(Twin(spec, store=kept).open()) == expected
    # Purge, fill, rest, trim, flush; what follows the measurement is none of them.
    entries = {entry.steps for entry in kept.entries()}
    names = ("purge", "fill", "rest", "trim", "flush")
    assert entries == {names[: n + 1] for n in range(len(names))}
    assert whole(Twin(spec, store=kept).open()) == expected
    assert len(kept.entries()) == 5


def test_a_kept_drive_is_loaded_and_not_made_again(spec: _core.Spec, tmp_path: Path) -> None:
    kept = store(tmp_path)
    whole(Twin(spec, store=kept).open())
    heard: list[Progress] = []
    twin = Twin(spec, store=kept).open()
    for step in STEPS[:6]:
        twin.do(step, lambda progress: heard.append(progress) is None)
    assert heard == []


@pytest.mark.full
def test_a_part_of_the_way_is_enough(spec: _core.Spec, tmp_path: Path) -> None:
    kept = store(tmp_path)
    whole(Twin(spec, store=kept).open(), STEPS[:2])
    assert whole(Twin(spec, store=kept).open()) == whole(Twin(spec).open())


def test_another_seed_step_or_spec_is_another_drive(spec: _core.Spec, tmp_path: Path) -> None:
    kept = store(tmp_path)
    steps: tuple[Step, ...] = (Fill(label="a", size=1 << 28),)
    whole(Twin(spec, store=kept).open(), steps)
    whole(Twin(spec, store=kept).open(), (Fill(label="other name", size=1 << 28),))
    assert len(kept.entries()) == 1
    whole(Twin(spec, store=kept, seed=2).open(), steps)
    whole(Twin(spec, store=kept).open(), (Fill(label="a", size=1 << 29),))
    whole(Twin(load("bx500-240", scale=SCALE, sets=["gc.low=5"]), store=kept).open(), steps)
    assert len(kept.entries()) == 4


@pytest.mark.parametrize(
    "damage", thinned(["snapshot", "result", "arrays", "empty", "cut", "gone"], every=5)
)
def test_damaged_entries_are_made_again(spec: _core.Spec, tmp_path: Path, damage: str) -> None:
    kept = store(tmp_path)
    whole(Twin(spec, store=kept).open(), STEPS[:3])
    twin = Twin(spec, store=kept).open()
    if damage == "gone":
        twin.do(STEPS[0], go)
        twin.do(STEPS[1], go)
        kept.clear()
        assert told(twin.do(STEPS[3], go)) == whole(Twin(spec).open(), STEPS[:4])[3]
        return
    for entry in kept.entries():
        name = {"snapshot": DRIVE, "result": "result.json"}.get(damage, ARRAYS)
        before = (entry.place / name).read_bytes()
        left = {"empty": b"", "cut": before[: len(before) // 2]}.get(damage, b"damaged")
        (entry.place / name).write_bytes(left)
    assert whole(twin) == whole(Twin(spec).open())


def altered(place: Path, how: str, other: Path) -> None:
    """Do to an entry what somebody may do to a file of a cache."""
    about, result, drive = place / ABOUT, place / RESULT, place / DRIVE
    match how:
        case "faster result":
            plain = json.loads(result.read_text())
            result.write_text(json.dumps(plain | {"duration_ns": plain["duration_ns"] // 2}))
        case "faster result, with its digest":
            plain = json.loads(result.read_text())
            result.write_text(json.dumps(plain | {"duration_ns": plain["duration_ns"] // 2}))
            told_by = json.loads(about.read_text())
            data = result.read_bytes()
            told_by["files"][RESULT] = {
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
            about.write_text(json.dumps(told_by))
        case "one bit of the drive":
            data = bytearray(drive.read_bytes())
            data[len(data) // 2] ^= 1
            drive.write_bytes(data)
        case "another entry":
            shutil.rmtree(place)
            shutil.copytree(other, place)
        case "pipes":
            for file in (about, result, drive):
                file.unlink()
                os.mkfifo(file)
        case "a pipe in its place":
            shutil.rmtree(place)
            os.mkfifo(place)
        case "deep":
            about.write_text("[" * 100_000)
        case "long numbers":
            about.write_text('{"seed": ' + "9" * 5000 + "}")
        case "no number":
            about.write_text(about.read_text().replace('"took_s": ', '"took_s": NaN, "x": '))
        case "a list":
            result.write_text("[]")
        case "nothing of it":
            about.unlink()


@pytest.mark.parametrize(
    "how",
    thinned(
        [
            *("faster result", "another entry", "pipes", "faster result, with its digest", "deep"),
            *("a pipe in its place", "one bit of the drive", "a list", "long numbers"),
            *("no number", "nothing of it"),
        ],
        every=3,
    ),
)
def test_an_altered_entry_changes_no_result_and_is_named(
    small_fill: tuple[_core.Spec, Path, list[object]], tmp_path: Path, how: str
) -> None:
    spec, made, expected = small_fill
    shutil.copytree(made, tmp_path / "cache", copy_function=shutil.copy)
    last = next(e for e in store(tmp_path / "cache").entries() if len(e.steps) == 2)
    first = next(e for e in store(tmp_path / "cache").entries() if len(e.steps) == 1)
    altered(last.place, how, first.place)
    listed = {entry.key for entry in store(tmp_path / "cache").entries()}
    assert listed <= {first.key, last.key}
    twin = Twin(spec, store=store(tmp_path / "cache")).open()
    assert whole(twin, SMALL) == expected
    (remark,) = twin.remarks()
    assert remark.startswith(f"the kept drive {last.place} is damaged (")
    assert remark.endswith("), and is made again") and "\n" not in remark
    kept = store(tmp_path / "cache")
    assert all(kept.find(entry.key) for entry in kept.entries()) and kept.remarks() == []


SMALL = (Purge(label="purge"), Fill(label="fill", size=1 << 28), Flush(label="end"))


@pytest.fixture(scope="module")
def small_fill(
    spec: _core.Spec, tmp_path_factory: pytest.TempPathFactory
) -> tuple[_core.Spec, Path, list[object]]:
    """A store with a drive after a purge and after a fill, and the results without a store."""
    made = tmp_path_factory.mktemp("kept")
    whole(Twin(spec, store=store(made)).open(), SMALL[:2])
    return spec, made, whole(Twin(spec).open(), SMALL)


def test_clearing_removes_entries_that_nobody_can_use(
    small_fill: tuple[_core.Spec, Path, list[object]], tmp_path: Path
) -> None:
    shutil.copytree(small_fill[1], tmp_path / "cache")
    kept = store(tmp_path / "cache")
    for entry in kept.entries():
        (entry.place / ABOUT).write_text("{}")
    (tmp_path / "cache" / "mine.txt").write_text("mine")
    assert kept.entries() == [] == kept.clear()
    assert [path.name for path in kept.place.iterdir()] == ["mine.txt"]


def test_a_run_says_which_kept_drive_was_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.setattr("flashtwin.drives.snapshots.WORTH_S", 0.0)
    heard: list[str] = []

    class Hears(Observer):
        def noted(self, text: str) -> None:
            heard.append(text)

    def run(name: str) -> bytes:
        target = twin_target(Variant(drive="bx500-240", scale="1/32"))
        fill = [("fill", {"patterns": "1m-q1", "passes": "1"})]
        done = run_batteries(target.make(), fill, tmp_path / name, observer=Hears())
        return (done.path / "findings.json").read_bytes()

    before = run("a")
    for result in (tmp_path / "cache").glob(f"*/{RESULT}"):
        result.write_text("{}")
    heard.clear()
    assert run("b") == before
    assert any("is damaged" in text and text.endswith("is made again") for text in heard)


def test_those_used_longest_ago_go_first(spec: _core.Spec, tmp_path: Path) -> None:
    kept = store(tmp_path)
    for number in range(3):
        size = (number + 1) << 28
        whole(Twin(spec, store=kept).open(), (Fill(label="a", size=size),))
    for age, entry in enumerate(kept.entries()):
        os.utime(entry.place / ABOUT, (time.time() - 1000 * (age + 1),) * 2)
    newest, middle, oldest = kept.entries()
    assert kept.find(oldest.key) is not None
    two = oldest.bytes + newest.bytes + middle.bytes // 2
    store(tmp_path, limit_bytes=two)._make_room()
    assert [entry.key for entry in kept.entries()] == [oldest.key, newest.key]
    assert [entry.key for entry in kept.clear(unused_s=500.0)] == [newest.key]
    (tmp_path / ".x.1.part").mkdir()
    assert [entry.key for entry in kept.clear()] == [oldest.key]
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_stops_nobody(spec: _core.Spec, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    steps = STEPS[:2]
    assert whole(Twin(spec, store=store(tmp_path / "file" / "x")).open(), steps) == whole(
        Twin(spec).open(), steps
    )


def test_the_environment_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE, "OFF")
    assert Store.from_environment() is None
    monkeypatch.setenv(CACHE, str(tmp_path))
    monkeypatch.setenv("FLASHTWIN_CACHE_SIZE", "1GB")
    found = Store.from_environment()
    assert found and (found.place, found.limit_bytes) == (tmp_path, 10**9)
    monkeypatch.delenv(CACHE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = Store.from_environment()
    assert found and found.place == tmp_path / "flashtwin"
    monkeypatch.setenv("FLASHTWIN_CACHE_SIZE", "1G")
    with pytest.raises(FlashtwinError, match="FLASHTWIN_CACHE_SIZE"):
        Store.from_environment()


def test_a_user_without_a_home_keeps_no_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs as a user that nobody knows."""
    for name in (CACHE, "XDG_CACHE_HOME", "FLASHTWIN_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert Store.from_environment() is None
    monkeypatch.setenv(CACHE, "~nobody-here/x")
    with pytest.raises(FlashtwinError, match="FLASHTWIN_CACHE=~nobody-here/x"):
        Store.from_environment()


def test_run_directories_are_the_same_byte_for_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from flashtwin.batteries.base.registry import parse

    monkeypatch.setattr("flashtwin.drives.snapshots.WORTH_S", 0.0)
    asked = parse("crystaldiskmark:profile=real,size=64MiB,loops=1,fill_percent=20,mix=off")

    def run(name: str, cache: str) -> dict[str, bytes]:
        monkeypatch.setenv(CACHE, cache)
        target = twin_target(Variant(drive="bx500-240", scale="1/64"))
        run_batteries(target.make(), asked, tmp_path / name, seed=1)
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        names = {str(path.relative_to(tmp_path / name)): path for path in files}
        return {name: path.read_bytes() for name, path in names.items() if name != "host.json"}

    cache = str(tmp_path / "cache")
    without, first, second = run("off", "off"), run("first", cache), run("second", cache)
    kept = json.loads(next((tmp_path / "cache").rglob(ABOUT)).read_text())
    assert kept["drive"] == "bx500-240"
    assert without == first == second
