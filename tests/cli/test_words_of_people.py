"""What people type and what a run proposes next, without a long run."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from flashtwin.cli import advice
from flashtwin.cli.app import app
from flashtwin.model.finding import Finding

GB = 10**9


def test_a_spec_of_this_folder_is_named_without_its_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = 'schema = 1\nid = "mine"\nname = "Mine"\nextends = "bx500-240"\n'
    Path("mine.toml").write_text(spec)
    done = CliRunner().invoke(app, ["show", "mine"])
    assert done.exit_code == 0 and done.output.startswith("Mine (mine)")


@pytest.mark.parametrize(
    ("cache_gb", "seconds", "text"),
    [
        (None, 60.0, "68 GB are free: --size 32GB --battery fill"),
        (3.0, 60.0, "flashtwin runs show"),
        (3.0, 2.5, "68 GB are free: --size 32GB --battery fill"),
    ],
)
def test_a_file_that_showed_no_cache_or_took_seconds_is_followed_by_a_larger_one(
    cache_gb: float | None,
    seconds: float,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def finding(name: str, value: float | None, unit: str) -> Finding:
        return Finding(battery="fill", name=name, title="t", value=value, unit=unit)

    findings = [
        finding("cache_size", cache_gb, "GB"),
        finding("duration", seconds, "s"),
        finding("mean", 400.0, "MB/s"),
    ]
    run = SimpleNamespace(
        is_simulated=False,
        host={"path": str(tmp_path / "probe")},
        target={"capacity_bytes": 4 * GB},
        findings=findings,
        path=tmp_path / "run",
    )
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=68 * GB))
    line = advice.after([run])  # type: ignore[list-item]
    assert line.startswith(text)
    assert ("would show a cache up to 30 GB" in line) == text.startswith("68")
