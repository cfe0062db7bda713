"""The command line in an empty directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from printed import check

from flashtwin.cli.app import app


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Run the command line within this process; JSON is held against its type."""
    monkeypatch.chdir(tmp_path)

    def invoked(*words: str) -> Result:
        done = CliRunner().invoke(app, list(words))
        if "--json" in words and done.stdout:
            check(done.stdout, words[0])
        return done

    return invoked
