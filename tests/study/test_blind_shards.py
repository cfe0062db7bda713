"""Campaigns in pieces: what was drawn is kept, joined and not drawn again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from flashtwin.errors import FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner.pool import Send, Work
from flashtwin_lab.blind import kinds, shards
from flashtwin_lab.blind.shards import Shard
from flashtwin_lab.proof import Predicted


@dataclass(frozen=True, kw_only=True)
class Drawn:
    name: str
    value: int


def _drawn(seed: int, number: int, _send: Send) -> Drawn:
    return Drawn(name=f"made up {number}", value=100 * seed + number)


def drives(path: Path, seed: int, count: int, kind: str = "made up") -> tuple[list[int], list[str]]:
    """All drives of the file, and those that were drawn."""
    names: list[str] = []
    shard = Shard(kind=kind, path=path, seed=seed, of_json=lambda fields: Drawn(**fields))
    works = [Work(call=partial(_drawn, seed, at), memory_bytes=1 << 20) for at in range(count)]
    rows = shard.drives(works, lambda _count, drive: names.append(drive.name))
    return sorted(row.value for row in rows), sorted(names)


@pytest.mark.full
def test_a_campaign_goes_on_and_joins_another_seed(tmp_path: Path) -> None:
    path = tmp_path / "drives.json"
    assert drives(path, 1, 2) == ([100, 101], ["made up 0", "made up 1"])
    assert drives(path, 1, 3) == ([100, 101, 102], ["made up 2"])
    assert drives(path, 2, 1) == ([100, 101, 102, 200], ["made up 0"])
    rows = json.loads(path.read_text())["drives"]
    assert {row["seed"] for row in rows} == {1, 2} and all(row["commit"] for row in rows)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 1, "kind": "fit", "drives": []}'])
def test_a_file_of_something_else_is_refused_and_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "drives.json"
    path.write_text(text)
    with pytest.raises(FlashtwinError) as caught:
        drives(path, 1, 1)
    assert caught.value.exit_code == 2 and path.read_text() == text


def test_a_folder_that_is_not_there_is_told_before_a_drive_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []
    monkeypatch.setattr(shards, "pooled", lambda *parts: begun.append(parts) or [])
    with pytest.raises(FlashtwinError, match="No such file"):
        drives(tmp_path / "none" / "drives.json", 1, 1)
    assert not begun


def test_drives_of_both_campaigns_are_read_as_they_were() -> None:
    ends = {"value": 2.0, "low": None, "high": 3.0}
    truth = {"visible": True, "structure": "static", "past": None, "begin_s": 1.0, "full_s": 2.0}
    fields: dict[str, Any] = {
        **{"name": "static 0", "effects": (), "truth": truth, "tests": ("a",), "cpu_s": 1.5},
        **{"likely": {"past": {"direct": 1.0}}, "said": {"past": None}},
        "rests": {"rest_begin": ends, "rest_full": None},
    }
    drive = kinds.of_json(fields)
    kept = json.loads(json.dumps({**asdict(drive), "measured": None}))
    del kept["measured"]
    assert asdict(kinds.of_json(kept)) == {**asdict(drive), "effects": [], "tests": ["a"]}
    fitted = Predicted(
        name="a 1",
        kind="static",
        structure="static, direct",
        ratios={"x": 1.0},
        held={"y": True},
        inside={"x": True},
        wide={"x": 1.2},
    )
    assert Predicted(**json.loads(json.dumps(asdict(fitted)))) == fitted


def test_a_campaign_that_is_stopped_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "drives.json"
    path.write_text(json.dumps({"schema": 1, "kind": "made up", "drives": []}))

    def stopped(_works: Any, ended: Any, _failed: Any) -> None:
        ended(1, Drawn(name="made up 0", value=100))
        raise Interrupted("stopped; nothing is kept of a blind campaign")

    monkeypatch.setattr(shards, "pooled", stopped)
    with pytest.raises(Interrupted, match=r"drives\.json so far: 1; the same command goes on"):
        drives(path, 1, 2)
    assert len(json.loads(path.read_text())["drives"]) == 1


def test_a_campaign_that_goes_on_has_only_the_drives_before_it_that_the_file_lacks(
    tmp_path: Path,
) -> None:
    path = tmp_path / "drives.json"
    rows = [
        {"seed": seed, "number": number, "drive": {}} for seed, number in ((1, 0), (1, 2), (2, 1))
    ]
    path.write_text(json.dumps({"schema": 1, "kind": "made up", "drives": rows}))
    assert shards.lacking(path, "made up", 1, 4) == [1, 3]
    assert shards.lacking(path, "made up", 2, 2) == [0]
    assert shards.lacking(None, "made up", 1, 2) == [0, 1]
    with pytest.raises(FlashtwinError):
        shards.lacking(path, "of another kind", 1, 4)
