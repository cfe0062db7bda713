"""A wheel as a release has it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A wheel as a release has it; three minutes of a processor where nothing is built."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "dev", "wheel", "--out", out], cwd=ROOT, check=True)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out, check=True)
    (made,) = out.glob("*.whl")
    yield made
