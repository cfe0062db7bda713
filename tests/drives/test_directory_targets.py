"""A directory as a target: the size of its file, and what a killed run left in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from flashtwin.drives.consent import Consent
from flashtwin.drives.real import real_file
from flashtwin.errors import ENVIRONMENT, REFUSED, FlashtwinError
from flashtwin.runner.request import Request, targets_of

GIB = 1 << 30
pytest.importorskip("flashtwin._core")


def full(monkeypatch: pytest.MonkeyPatch, size: int, free: int) -> None:
    room = SimpleNamespace(total=size, free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: room)


@pytest.mark.parametrize(
    ("size", "free", "expected"),
    [(100 * GIB, 50 * GIB, 40 * GIB), (8 * GIB, 4 * GIB, 3 * GIB), (4 * GIB, 3 * GIB, 2 * GIB)],
)
def test_a_reserve_stays_free(
    size: int, free: int, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full(monkeypatch, size, free)
    assert real_file.room_in(tmp_path) == expected


def test_a_full_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full(monkeypatch, 10 * GIB, GIB)
    with pytest.raises(FlashtwinError) as caught:
        real_file.room_in(tmp_path)
    assert caught.value.exit_code == ENVIRONMENT
    assert caught.value.hint is not None and "--size" in caught.value.hint


def test_a_directory_needs_no_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full(monkeypatch, 100 * GIB, 50 * GIB)
    (target,) = targets_of(Request(targets=(str(tmp_path),)))
    assert target.form["size_bytes"] == 40 * GIB
    assert list(tmp_path.iterdir()) == []


def left(place: Path) -> Path:
    """The file of a run that was killed."""
    file = place / real_file.NAME
    made = real_file.create(file, 1 << 20)
    real_file._open_files.discard(made)
    os.close(made.handle)
    return file


@pytest.mark.parametrize(("answer", "stays"), [("remove", False), ("", True), ("yes", True)])
def test_what_a_killed_run_left_is_offered(answer: str, stays: bool, tmp_path: Path) -> None:
    file = left(tmp_path)
    request = Request(
        targets=(str(tmp_path),), size="1MiB", consent=Consent(ask=lambda question: answer)
    )
    if stays:
        with pytest.raises(FlashtwinError) as caught:
            targets_of(request)
        assert caught.value.exit_code == REFUSED
    else:
        targets_of(request)
    assert file.exists() is stays


def test_where_nobody_can_be_asked_it_stays(tmp_path: Path) -> None:
    file = left(tmp_path)
    with pytest.raises(FlashtwinError, match="is there already"):
        targets_of(Request(targets=(str(tmp_path),), size="1MiB"))
    assert file.exists()


def test_a_file_of_somebody_s_is_never_offered(tmp_path: Path) -> None:
    file = tmp_path / real_file.NAME
    file.write_text("mine")
    request = Request(
        targets=(str(tmp_path),), size="1MiB", consent=Consent(ask=lambda question: "remove")
    )
    with pytest.raises(FlashtwinError):
        targets_of(request)
    assert file.read_text() == "mine"
    with pytest.raises(FlashtwinError, match="not a file of flashtwin's"):
        real_file.remove_remains(file)
    assert file.read_text() == "mine"


def test_a_file_that_is_being_measured_is_not_offered(tmp_path: Path) -> None:
    made = real_file.create(tmp_path / real_file.NAME, 1 << 20)
    try:
        assert real_file.remains(tmp_path) is None
        with pytest.raises(FlashtwinError, match="is measuring"):
            real_file.remove_remains(made.path)
        assert made.path.exists()
    finally:
        real_file.remove(made)
