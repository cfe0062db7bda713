"""SQLite and PostgreSQL on ext4 on a served drive: they survive power cuts, and a liar is found."""

from __future__ import annotations

import sqlite3

import pytest
from databases import Database, PostgreSQL, SQLite, cut_often, lacking_for, open_folder
from served import served

from flashtwin.drives.serving import Worse


def skip_without(database: Database) -> None:
    if names := lacking_for(database):
        pytest.skip(f"{database.name} is left out: this machine lacks {', '.join(names)}")


def cut(
    database: Database, cuts: int, *, is_timed: bool = False, worse: Worse | None = None
) -> int:
    skip_without(database)
    with (
        served(is_timed=is_timed, worse=worse or Worse()) as drive,
        open_folder() as place,
    ):
        return sum(1 for _ in cut_often(drive, database, place, cuts))


def test_every_commit_survives_ten_cuts() -> None:
    assert cut(SQLite(), 10) == 10


@pytest.mark.full
@pytest.mark.parametrize("database", [SQLite(), PostgreSQL()], ids=lambda it: it.name)
def test_every_commit_survives_a_hundred_cuts(database: Database) -> None:
    assert cut(database, 100, is_timed=True) == 100


@pytest.mark.parametrize(
    "database",
    [SQLite(), pytest.param(PostgreSQL(), marks=pytest.mark.full)],
    ids=lambda it: it.name,
)
def test_a_drive_that_ignores_flushes_fails(database: Database) -> None:
    """The tests above can fail: commits are gone, or the database or the file system is broken."""
    skip_without(database)
    with pytest.raises((AssertionError, sqlite3.Error)):
        cut(database, 10, worse=Worse(flush_ignored=True))
