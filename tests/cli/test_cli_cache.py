"""flashtwin cache: what is kept, and getting rid of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result as Ended

from flashtwin.drives.snapshots import Store, key_from
from flashtwin.model.series import Series
from flashtwin.model.step import Result

Run = Callable[..., Ended]


def kept(place: Path, seed: int, *, days: float) -> str:
    """A kept drive, which was used so long ago; its key."""
    steps = [{"step": "purge"}, {"step": "fill", "offset": 0}]
    of_drive = {"hash": "ab" * 32, "seed": seed, "model": 1}
    key = key_from("ab" * 32, seed, 1, steps)
    about = {"drive": "bx500-240", "took_s": 12.3, "steps": steps, **of_drive}
    result = Result(label="", start_ns=0, duration_ns=1, series=Series.empty())

    def save(path: Path) -> None:
        path.write_bytes(b"x" * 1_500_000)

    Store(place).keep(key, about, result, save)
    used = time.time() - days * 86_400
    os.utime(place / key / "about.json", (used, used))
    return key


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FLASHTWIN_CACHE", str(tmp_path / "kept"))
    monkeypatch.delenv("FLASHTWIN_CACHE_SIZE", raising=False)
    return tmp_path / "kept"


def test_nothing_is_kept(run: Run, place: Path) -> None:
    done = run("cache")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"0 drives, 0 B of 8 GB in {place}\n"
    assert json.loads(run("cache", "--json").stdout)["drives"] == []


def test_drives_are_listed_the_last_used_first(run: Run, place: Path) -> None:
    older, newer = kept(place, 1, days=40), kept(place, 2, days=2)
    lines = run("cache").stdout.splitlines()
    assert lines[2].split("  ")[0] == newer[:12] and lines[3].split("  ")[0] == older[:12]
    assert all(
        word in lines[2] for word in ("bx500-240", "purge, fill", "1.503 MB", "12 s", "2d ago")
    )
    assert lines[-1].startswith("2 drives, 3.0")
    told = json.loads(run("cache", "--json").stdout)
    assert told["bytes"] == sum(row["bytes"] for row in told["drives"]) > 3_000_000
    assert [row["steps"] for row in told["drives"]] == [["purge", "fill"]] * 2


def test_clearing_the_old_and_then_all(run: Run, place: Path) -> None:
    kept(place, 1, days=40)
    newer = kept(place, 2, days=2)
    done = run("cache", "clear", "--older-than", "30d")
    assert (done.exit_code, done.stdout) == (0, "removed 1 drive, 1.503 MB\n")
    assert [path.name for path in place.iterdir()] == [newer]
    told = json.loads(run("cache", "clear", "--json").stdout)
    assert [row["key"] for row in told["removed"]] == [newer]
    assert list(place.iterdir()) == []


def test_a_span_that_is_none(run: Run, place: Path) -> None:
    done = run("cache", "clear", "--older-than", "soon")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--older-than soon" in done.stderr and "hint: " in done.stderr


def test_switched_off(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHTWIN_CACHE", "off")
    assert "FLASHTWIN_CACHE is off" in run("cache").stdout
    assert json.loads(run("cache", "--json").stdout)["directory"] is None
    assert run("cache", "clear").stdout == "removed 0 drives, 0 B\n"
