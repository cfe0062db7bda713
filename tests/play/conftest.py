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

from flashtwin.study import play

KNOWN = 3


@pytest.fixture(scope="session")
def game() -> play.Game:
    """A BX500 as it is and with two other caches."""
    board = play.board("bx500-240")
    return play.game(replace(board, choices=board.choices[:KNOWN]))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip(MISSING)
    with chromium() as started:
        yield started
