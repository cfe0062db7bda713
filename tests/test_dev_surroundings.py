"""`./dev` of a fresh checkout in bad surroundings, as a process: a sentence, code 3, nothing half
installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("dev", "requirements.lock", "pyproject.toml", "lab/pyproject.toml")
PYTHON = getattr(sys, "_base_executable", sys.executable)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What `./dev` reads before it builds, in a folder of this test."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def programs(folder: Path, *names: str) -> str:
    """A PATH with these programs alone: links to the real ones, and to nothing where there is none
    (a cargo that no test here comes to call)."""
    folder.mkdir()
    for name in names:
        real = shutil.which(name) or shutil.which(name, path=str(ROOT / ".tools" / "bin"))
        (folder / name).symlink_to(real or "/bin/true")
    return str(folder)


def demo(checkout: Path, path: str, **more: str) -> subprocess.CompletedProcess[str]:
    home = {"HOME": str(checkout / "home"), "UV_CACHE_DIR": str(checkout / "cache")}
    return subprocess.run(
        [PYTHON, checkout / "dev", "demo"],
        env={"PATH": path, **home, **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("there", "sentence", "command"),
    [
        ((), "cargo is lacking", "install Rust 1.88 or later"),
        (("cargo",), "a C compiler is lacking", "apt-get install -y gcc libc6-dev"),
    ],
)
def test_what_lacks_is_said_before_anything_is_fetched(
    checkout: Path, there: tuple[str, ...], sentence: str, command: str
) -> None:
    done = demo(checkout, programs(checkout / "bin", *there))
    assert (done.returncode, done.stdout) == (3, "")
    assert sentence in done.stderr and command in done.stderr
    assert "Traceback" not in done.stderr
    assert not (checkout / ".venv").exists()


def test_a_proxy_that_breaks_off_leaves_nothing_that_passes_for_installed(
    checkout: Path, proxy: str
) -> None:
    path = programs(checkout / "bin", "cargo", "cc", "uv")
    broken = {"HTTPS_PROXY": proxy, "HTTP_PROXY": proxy, "UV_HTTP_RETRIES": "0"}
    done = demo(checkout, path, **broken)
    assert (done.returncode, done.stdout) == (3, "")
    assert "uv could not install requirements.lock; is there a network?" in done.stderr
    assert "when it is called again" in done.stderr and "Traceback" not in done.stderr
    assert list((checkout / ".venv").rglob("numpy")) == []
    assert not list((checkout / ".venv").glob("*.stamp"))
