"""The command line in an empty directory, on stand-ins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from printed import DOCUMENTS, check
from stand_ins import install

from flashtwin.catalogue import validated
from flashtwin.cli.app import app
from flashtwin.study import ranking


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Result]]:
    """Run the command line within this process; what stand-ins said of specs is forgotten."""
    monkeypatch.chdir(tmp_path)
    install(lambda owner, name, value: monkeypatch.setattr(owner, name, value, raising=False))

    def invoked(*arguments: str) -> Result:
        done = CliRunner().invoke(app, list(arguments))
        if "--json" in arguments and done.exit_code in (0, 1) and done.stdout:
            check(done.stdout, *_documents(arguments))
        return done

    _forget_specs()
    yield invoked
    _forget_specs()


def _forget_specs() -> None:
    validated.spec_hash.cache_clear()
    ranking.current.cache_clear()


def _documents(arguments: Sequence[str]) -> list[str]:
    """What a command may print, by the names of its document."""
    joined = "-".join(arguments[:2])
    stem = joined if joined in DOCUMENTS else arguments[0]
    names = (
        stem,
        *(f"{stem}-{kind}" for kind in ("one", "theory", "knock-out", "catalogue", "labelled")),
    )
    return [name for name in names if name in DOCUMENTS]
