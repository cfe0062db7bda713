"""A drive to play with that is known at few positions, and Chromium."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "browser"))
from opened import CHROMIUM, MISSING, chromium

from flashtwin.catalogue.loader import load
from flashtwin.study import play

KNOWN = 3
# An eighth of the drive is filled whole in a second.
EIGHTH = "1/8"


@pytest.fixture(scope="session")
def game(tmp_path_factory: pytest.TempPathFactory) -> play.Game:
    """An eighth of a BX500 as it is and with two other caches."""
    spec = tmp_path_factory.mktemp("drive") / "eighth.toml"
    spec.write_text(load("bx500-240", scale=EIGHTH).to_toml())
    board = play.board(str(spec))
    return play.game(replace(board, choices=board.choices[:KNOWN]))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip(MISSING)
    with chromium() as started:
        yield started
