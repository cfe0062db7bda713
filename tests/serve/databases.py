"""Databases on ext4 on a served drive: the power goes, and every commit that was told is there.

`./dev cuts` cuts the power under each database as often as in virtual time:

    python tests/serve/databases.py [--seed N] [--cuts M]

A round attaches the drive, has the file system and the database recover, checks both and that no
commit is missing, lets a writer commit rows, and takes the power in its midst.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Protocol

from block_devices import attached, check_ext4, format_ext4, lacking, mounted
from processes import children, lives, wait_for
from served import Served, served

# The most rows that are committed before the power goes; the writer goes on until it fails.
MOST_COMMITS = 40
# PostgreSQL does not run as root.
SERVANT = "nobody"
POSTGRES_HOMES = Path("/usr/lib/postgresql")
SQLITE = Path(__file__).resolve().parents[2] / "examples" / "crash" / "commits.py"
POSTGRES_BEGIN = """
CREATE TABLE IF NOT EXISTS rows (number bigint PRIMARY KEY, text text);
CREATE EXTENSION IF NOT EXISTS amcheck;
"""
POSTGRES_ROW = """
INSERT INTO rows SELECT coalesce(max(number), 0) + 1, repeat('x', 500) FROM rows RETURNING number;
"""
# A writer has more rows to commit than it comes to before it fails.
POSTGRES_ROWS = 5000


class Session(Protocol):
    """A database that has recovered."""

    def rows(self) -> int:
        """How many rows there are, numbered from 1; raises where anything is broken."""

    def writer(self) -> subprocess.Popen[str]:
        """Commits one row after the other, and prints the number of each that was told."""


class Database(Protocol):
    """A database whose files lie in a folder."""

    name: str

    def lacking(self) -> list[str]:
        """What this machine lacks for it, by name."""

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Session]:
        """Run it on the folder, which may hold nothing yet."""
        ...


class SQLite:
    """In WAL mode, synchronous=FULL."""

    name = "SQLite"

    def lacking(self) -> list[str]:
        return []

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Session]:
        yield _File(folder / "table.db")


class _File:
    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> int:
        if not self._path.exists():
            return 0
        link = sqlite3.connect(self._path)
        try:
            assert link.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            names = link.execute("SELECT name FROM sqlite_master").fetchall()
            if ("rows",) not in names:
                return 0
            count, last = link.execute("SELECT count(*), max(number) FROM rows").fetchone()
        finally:
            link.close()
        assert count == (last or 0)
        return int(count)

    def writer(self) -> subprocess.Popen[str]:
        return _printing(
            [sys.executable, "-S", "-E", str(SQLITE), "write", str(self._path), "/dev/stdout"]
        )


class PostgreSQL:
    """With checksums; a server for each round, which ends with the power."""

    name = "PostgreSQL"

    def lacking(self) -> list[str]:
        names = ("initdb", "postgres", "psql", "pg_isready", "pg_amcheck")
        return [name for name in names if _postgres(name) is None]

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Session]:
        data = folder / "data"
        if not (data / "PG_VERSION").exists():
            shutil.rmtree(data, ignore_errors=True)
            data.mkdir(mode=0o700)
            shutil.chown(data, SERVANT)
            _asked("initdb", "-D", data, "--data-checksums", "--wal-segsize=1", "-U", "postgres")
        with tempfile.TemporaryDirectory(prefix="flashtwin-pg-") as link:
            shutil.chown(link, SERVANT)
            with _postmaster(data, Path(link)):
                yield _Cluster(Path(link))


class _Cluster:
    def __init__(self, link: Path) -> None:
        self._link = link
        self._where = ("-h", str(link), "-U", "postgres")

    def rows(self) -> int:
        if self._ask("SELECT to_regclass('rows')") == "":
            return 0
        if self._ask("SELECT count(*) FROM pg_extension WHERE extname = 'amcheck'") == "1":
            _asked("pg_amcheck", "--heapallindexed", *self._where, "postgres")
        counts = self._ask("SELECT count(*), coalesce(max(number), 0) FROM rows")
        count, _, last = counts.partition("|")
        assert count == last
        return int(count)

    def _ask(self, query: str) -> str:
        return _asked("psql", *self._where, "-X", "-A", "-t", "-c", query).strip()

    def writer(self) -> subprocess.Popen[str]:
        script = self._link / "writer.sql"
        script.write_text(POSTGRES_BEGIN + POSTGRES_ROW * POSTGRES_ROWS)
        words = ("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", str(script))
        return _printing([str(_postgres("psql")), *self._where, *words])


def _postgres(name: str) -> Path | None:
    """One of its programs, which Debian does not put on the path."""
    homes = sorted(POSTGRES_HOMES.glob("*/bin"), key=lambda home: int(home.parent.name))
    path = os.pathsep.join([*map(str, reversed(homes)), os.environ.get("PATH", os.defpath)])
    where = shutil.which(name, path=path)
    return None if where is None else Path(where)


def _asked(name: str, *words: str | Path) -> str:
    """What one of its programs prints, which has to end well."""
    done = subprocess.run(
        [str(_postgres(name)), *map(str, words)],
        user=SERVANT,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def _postmaster(data: Path, link: Path) -> Iterator[None]:
    """The server, killed at the end, with its children, as the power would."""
    log = link / "log"
    settings = ("max_connections=10", "shared_buffers=8MB", "listen_addresses=")
    words = [word for setting in settings for word in ("-c", setting)]
    with log.open("wb") as out:
        server = subprocess.Popen(
            [str(_postgres("postgres")), "-D", str(data), "-k", str(link), *words],
            user=SERVANT,
            cwd="/",
            stdout=out,
            stderr=out,
        )
    ready = [str(_postgres("pg_isready")), "-q", "-h", str(link)]
    try:
        began = wait_for(
            lambda: subprocess.run(ready, check=False).returncode == 0 or server.poll() is not None
        )
        assert began and server.poll() is None, log.read_text(errors="replace")
        yield
    finally:
        workers = children(server.pid)
        server.kill()
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        server.wait(30)
        wait_for(lambda: not any(map(lives, workers)), 30)


def _printing(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def commit_until_cut(drive: Served, session: Session, commits: int) -> int:
    """Take the power after some commits, while the writer goes on; the last that was told."""
    told = 0
    with session.writer() as writer:
        assert writer.stdout is not None
        try:
            for line in islice(writer.stdout, commits):
                told = int(line)
            drive.order("cut", off_s=0)
            for line in writer.stdout:
                told = int(line)
        finally:
            writer.kill()
    return told


def cut_often(
    drive: Served, database: Database, place: Path, cuts: int, seed: int = 1
) -> Iterator[int]:
    """The number of each cut, once it is survived."""
    chance = random.Random(seed)
    with attached(drive, place / "file") as loop:
        format_ext4(loop)
    told = 0
    for number in range(cuts + 1):
        with attached(drive, place / "file") as loop:
            check_ext4(loop)
            with mounted(loop, place / "mounted") as folder, database.opened(folder) as session:
                kept = session.rows()
                assert kept >= told, f"{told - kept} commits are gone after cut {number}"
                if number < cuts:
                    told = commit_until_cut(drive, session, chance.randint(1, MOST_COMMITS))
                    assert told > kept, f"nothing was committed before cut {number + 1}"
        if number:
            yield number


DATABASES: tuple[Database, ...] = (SQLite(), PostgreSQL())


def lacking_for(database: Database) -> list[str]:
    """What this machine lacks to cut the power under a database."""
    return [*lacking(), *database.lacking()]


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder of its own that the servant of a database may pass through."""
    with tempfile.TemporaryDirectory(prefix="flashtwin-cuts-", dir="/tmp") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev cuts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cuts", type=int, default=1000)
    asked = parser.parse_args(argv)
    for database in DATABASES:
        if names := lacking_for(database):
            print(f"cuts: {database.name} is left out, this machine lacks {', '.join(names)}")
            continue
        number = 0
        try:
            with served() as drive, open_folder() as place:
                for number in cut_often(drive, database, place, asked.cuts, asked.seed):
                    if number % 10 == 0:
                        print(f"cuts: {database.name} survived {number}", file=sys.stderr)
        except (AssertionError, sqlite3.Error) as error:
            print(f"cuts: {database.name}, after {number} cuts: {error}", file=sys.stderr)
            return 1
        print(f"cuts: {database.name} survived {number} power cuts, every commit is there")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
