"""The release workflow: it names files and commands that are there, and every kind of wheel."""

from __future__ import annotations

import re
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


def test_what_does_not_build_yet_is_said_and_holds_up_nothing_else() -> None:
    """As long as the extension takes the server, whose sockets are Unix's."""
    optional = re.findall(r"continue-on-error: \$\{\{ (.*) \}\}", TEXT)
    server = (ROOT / "crates" / "serve" / "src").glob("*.rs")
    unix_alone = any("std::os::unix" in path.read_text() for path in server)
    assert optional == ["matrix.target == 'x86_64-pc-windows-msvc'"] * unix_alone


def test_sums_wait_for_everything() -> None:
    assert "needs: [wheels, sdist, pythons]" in TEXT
    assert "SHA256SUMS" in TEXT
