"""Where the runs of targets go."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from flashtwin.runner.targets import default_out, directories


def test_directories() -> None:
    out = Path("out")
    assert directories(["x"], out) == [out]
    assert directories(["a", "b", "a", "a"], out) == [out / n for n in ("a", "b", "a~2", "a~3")]
    assert directories(["/mnt/d/my file.bin", "../.."], out) == [
        out / "my-file.bin",
        out / "target",
    ]
    at = datetime(2024, 5, 6, 7, 8, 9)
    assert default_out(["a", "b"], at) == Path("flashtwin-runs/20240506-070809-a+b")
