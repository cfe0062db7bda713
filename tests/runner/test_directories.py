"""Where the runs of targets go."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from flashtwin.runner.batch import default_out, directories


def test_directories() -> None:
    out = Path("out")
    assert directories(["x"], out) == [out]
    assert directories(["a", "b", "a", "a"], out) == [out / n for n in ("a", "b", "a~2", "a~3")]
    assert directories(["/mnt/d/my file.bin", "../.."], out) == [
        out / "my-file.bin",
        out / "target",
    ]


def test_two_runs_within_a_second_have_a_place_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    at = datetime(2024, 5, 6, 7, 8, 9)
    for name in ("20240506-070809-a+b", "20240506-070809-a+b~2", "20240506-070809-a+b~3"):
        place = default_out(["a", "b"], at)
        assert place == Path("flashtwin-runs") / name
        place.mkdir(parents=True)
