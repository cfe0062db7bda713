#!/usr/bin/env python3
"""A database that is written to until its drive goes away, and a look at what is left of it.

    commits.py write DATABASE TOLD   commits a row after the other; TOLD gets the number of each
    commits.py check DATABASE TOLD   fails where a row that was told is gone, or the file is broken

SQLite in WAL mode with synchronous=FULL, so that a commit that returned has been flushed. TOLD lies
on another drive: it is what a user has seen.
"""

import sqlite3
import sys
from pathlib import Path


def write(database: str, told: str) -> None:
    """Commit rows until the drive fails."""
    link = sqlite3.connect(database, isolation_level=None)
    link.execute("PRAGMA journal_mode=WAL")
    link.execute("PRAGMA synchronous=FULL")
    link.execute("CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, text TEXT)")
    (number,) = link.execute("SELECT coalesce(max(number), 0) FROM rows").fetchone()
    with open(told, "a", encoding="ascii") as out:
        while True:
            number += 1
            link.execute("INSERT INTO rows VALUES (?, ?)", (number, "x" * 500))
            print(number, file=out, flush=True)


def check(database: str, told: str) -> str | None:
    """What is wrong with the database; none where all is there."""
    path = Path(told)
    numbers = path.read_text(encoding="ascii").split() if path.exists() else []
    last_told = int(numbers[-1]) if numbers else 0
    if not Path(database).exists():
        return f"the database is gone, and {last_told} rows were told" if last_told else None
    link = sqlite3.connect(database)
    ((state,), *_) = link.execute("PRAGMA integrity_check").fetchall()
    if state != "ok":
        return str(state)
    if not link.execute("SELECT 1 FROM sqlite_master WHERE name = 'rows'").fetchone():
        return f"the table is gone, and {last_told} rows were told" if last_told else None
    count, last = link.execute("SELECT count(*), coalesce(max(number), 0) FROM rows").fetchone()
    if count != last:
        return f"{last - count} of {last} rows are missing"
    return f"{last_told - last} rows that were told are gone" if last < last_told else None


def main(argv: list[str]) -> str | None:
    """What to leave with: nothing, or what is wrong."""
    if len(argv) != 3 or argv[0] not in ("write", "check"):
        return __doc__
    try:
        return write(*argv[1:]) if argv[0] == "write" else check(*argv[1:])
    except sqlite3.Error as error:
        return f"SQLite: {error}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
