"""The command line in an empty directory, on stand-ins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from stand_ins import install

from flashtwin.cli.app import app


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Run the command line within this process."""
    monkeypatch.chdir(tmp_path)
    install(lambda owner, name, value: monkeypatch.setattr(owner, name, value, raising=False))
    return lambda *arguments: CliRunner().invoke(app, list(arguments))
