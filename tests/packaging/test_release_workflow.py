"""The release workflow: it names files and commands that are there, and every kind of wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / ".github" / "workflows" / "release.yml").read_text()
TARGETS = (
    *("aarch64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"),
    *("x86_64-apple-darwin", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"),
)


def test_files_and_commands_that_it_names_are_there() -> None:
    for command in re.findall(r"run: \./dev (\w+)", TEXT):
        assert f'        "{command}": {command},' in (ROOT / "dev").read_text()
    for path in re.findall(r"(?:-r|python) ((?:\.ci|backend)/\S+)", TEXT):
        assert (ROOT / path).exists(), path
    options = set(re.findall(r"(?<=\s)--[a-z]+", " ".join(re.findall(r"release\.py (.*)", TEXT))))
    release = (ROOT / "backend" / "release.py").read_text()
    assert all(f'"{option}"' in release for option in options)


@pytest.mark.parametrize("target", TARGETS)
def test_every_system_has_its_wheel(target: str) -> None:
    assert f"target: {target}," in TEXT


def test_no_wheel_may_fail_and_each_is_played_where_it_can() -> None:
    assert "continue-on-error" not in TEXT
    assert TEXT.count("flashtwin demo --out demo") == 2, "wheels of other systems, and each Python"


def test_only_linux_compiles_what_only_linux_has() -> None:
    manifest = tomllib.loads((ROOT / "crates" / "python" / "Cargo.toml").read_text())
    assert "flashtwin-serve" not in manifest["dependencies"]
    everywhere = [
        path for path in (ROOT / "crates").glob("*/src/**/*.rs") if "serve" not in path.parts
    ]
    unix = [path for path in everywhere if "std::os::unix" in path.read_text()]
    assert [str(path) for path in unix if path.parts[-3] != "soak"] == []


def test_sums_wait_for_everything() -> None:
    assert "needs: [wheels, files, sdist, pythons]" in TEXT
    assert "SHA256SUMS" in TEXT


def test_files_are_measured_where_nobody_of_us_can() -> None:
    job = re.split(r"(?m)^  (?=[a-z]+:$)", TEXT)
    (files,) = [text for text in job if text.startswith("files:")]
    for system in ("macos-15", "windows-2025"):
        assert f"runner: {system}," in files
    for path in re.findall(r"cp (\S+)", files):
        assert (ROOT / path).exists(), path


# These have something of Linux alone, behind a refusal elsewhere or a look at what there is.
LINUX_ALONE = {
    "cli/serve_run.py",
    "drives/control.py",
    "drives/device/facts.py",
    "drives/device/purge.py",
    "drives/nbd.py",
    "drives/real/launch.py",
    "load/record.py",
    "system.py",
}


@pytest.mark.full
@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_nothing_else_uses_what_a_system_lacks(platform: str, tmp_path: Path) -> None:
    """mypy knows which functions of the standard library a system has."""
    words = ["mypy", "--platform", platform, "--cache-dir", str(tmp_path), "python"]
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    pattern = r"(?m)^python/flashtwin/(\S+?):\d+: error: Module has no attribute.*$"
    used = set(re.findall(pattern, done.stdout))
    assert used and used <= LINUX_ALONE, done.stdout
