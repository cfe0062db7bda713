"""FLASHTWIN_CATALOGUE: drives of a user's folders, wherever a drive can be named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import flashtwin as ft
from flashtwin import _core
from flashtwin.catalogue import DRIVES, loader
from flashtwin.catalogue.loader import BadSpecError
from flashtwin.cli import completions
from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError

assert _core.load_spec, "these tests need the compiled part"

Make = Callable[..., Path]


def spec(drive: str, parent: str = "bx500-240") -> str:
    return f'schema = 1\nid = "{drive}"\nname = "Mine"\nextends = "{parent}"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes folders with a drive each and adds them to the catalogue."""
    added: list[str] = []

    def make(name: str, drive: str, text: str | None = None, *, within: str = ".") -> Path:
        file = tmp_path / name / within / f"{drive}.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text or spec(drive))
        added.append(str(tmp_path / name))
        monkeypatch.setenv("FLASHTWIN_CATALOGUE", os.pathsep.join(["", *added]))
        return file

    return make


def names(begun: str) -> list[str]:
    context = click.Context(app)
    return [item.value for item in completions.drives(context, click.Argument(["drive"]), begun)]


def test_drives_of_added_folders_are_the_catalogues(folder: Make, tmp_path: Path) -> None:
    folder("one", "zz-mine")
    folder("two", "zz-yours", within="drives")
    (tmp_path / "one" / "published.toml").write_text("")
    rows = {row.id: row for row in ft.drives()}
    assert rows["zz-mine"].capacity_bytes == rows["bx500-240"].capacity_bytes
    assert set(rows) == {*loader.shipped_ids(), "zz-mine", "zz-yours"}
    assert names("zz-") == ["zz-mine", "zz-yours", "zz-"]
    assert ft.Twin("zz-yours", scale="1/64").name == "zz-yours"
    shown = CliRunner().invoke(app, ["show", "zz-mine"])
    assert "(zz-mine), 240 GB" in shown.stdout


def test_a_drive_may_extend_one_of_another_folder(folder: Make, tmp_path: Path) -> None:
    folder("one", "zz-mine")
    folder("two", "zz-child", spec("zz-child", "zz-mine"))
    assert loader.load("zz-child").id == "zz-child"
    text = spec("text", "zz-mine")
    assert loader.load(text).id == "text"
    typed = tmp_path / "typed.toml"
    typed.write_text(text)
    assert loader.load(str(typed)).id == "text"


def test_a_test_of_an_added_drive_is_of_that_drive(folder: Make, tmp_path: Path) -> None:
    folder("one", "zz-mine")
    out = str(tmp_path / "run")
    words = ["--scale", "1/64", "--battery", "fill:patterns=1m-q1,passes=1", "--no-report", "-q"]
    runs = ["test", "zz-mine", *words, "--out", out]
    assert CliRunner().invoke(app, runs, catch_exceptions=False).exit_code == 0
    assert ft.load_run(out).target == "zz-mine"


def test_what_is_wrong_with_a_folder_is_said(
    folder: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHTWIN_CATALOGUE", str(tmp_path / "none"))
    with pytest.raises(FlashtwinError, match=r"names .*none, which is no folder") as raised:
        loader.drive_ids()
    assert raised.value.exit_code == 2
    assert "bx500-240" in names("bx5"), "a shell still completes what is shipped"
    second = folder("one", "bx500-240")
    with pytest.raises(FlashtwinError, match="has a drive bx500-240 already") as raised:
        loader.load("kingston-nv2-1tb")
    assert str(second) in raised.value.message and str(DRIVES) in raised.value.message


@pytest.mark.parametrize("called", ["Mine", "a b", "-x"])
def test_a_file_is_called_as_an_id(folder: Make, called: str) -> None:
    folder("one", called)
    with pytest.raises(FlashtwinError, match="cannot be called"):
        loader.drive_ids()


def test_a_bad_file_is_told_with_its_line(folder: Make) -> None:
    file = folder("one", "zz-mine", spec("other"))
    with pytest.raises(BadSpecError) as raised:
        ft.drives()
    (issue,) = raised.value.issues
    assert (issue.file, issue.line, issue.key) == (str(file), 2, "id")
    assert issue.hint == "write id = 'zz-mine'"
    file.write_text(spec("zz-mine") + "[nand]\nchanels = 4\n")
    with pytest.raises(BadSpecError) as raised:
        ft.drives()
    assert (raised.value.issues[0].file, raised.value.issues[0].line) == (str(file), 6)
