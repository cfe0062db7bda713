"""`flashtwin cache`: the preconditioned drives that are kept between runs."""

from __future__ import annotations

import time
from collections.abc import Sequence

from flashtwin.cli import terminal
from flashtwin.drives.snapshots import Entry, Store
from flashtwin.model import units
from flashtwin.model.document import Document


class Prepared(Document, frozen=True):
    """A drive that is kept."""

    key: str
    drive: str
    seed: int
    steps: list[str]
    bytes: int
    took_s: float
    used: int


class Cache(Document, frozen=True):
    """flashtwin cache --json"""

    directory: str | None
    limit_bytes: int
    bytes: int
    drives: list[Prepared]


class Cleared(Document, frozen=True):
    """flashtwin cache clear --json"""

    bytes: int
    removed: list[Prepared]


def show(as_json: bool) -> None:
    store = Store.from_environment()
    entries = store.entries() if store else []
    if as_json:
        terminal.print_json(
            Cache(
                directory=str(store.place) if store else None,
                limit_bytes=store.limit_bytes if store else 0,
                bytes=sum(entry.bytes for entry in entries),
                drives=[_prepared(entry) for entry in entries],
            )
        )
        return
    if store is None:
        terminal.emit(
            terminal.cell("no drives are kept: FLASHTWIN_CACHE is off, or there is no home")
        )
        return
    if entries:
        rows = [
            (
                entry.key[:12],
                entry.drive,
                entry.seed,
                ", ".join(entry.steps),
                units.readable_size(entry.bytes),
                f"{entry.took_s:.0f} s",
                units.readable_age(time.time() - entry.used),
            )
            for entry in entries
        ]
        columns = ["key", "drive", "seed", "prepared by", "size", "took", "used"]
        terminal.emit(terminal.table(columns, rows, right=["seed", "size", "took", "used"]))
    used_bytes, limit = sum(entry.bytes for entry in entries), store.limit_bytes
    summary = (
        f"{_drives(entries)}, {units.readable_size(used_bytes)} of {units.readable_size(limit)}"
    )
    terminal.emit(terminal.cell(f"{summary} in {store.place}"))


def clear(older_than: float | None, as_json: bool) -> None:
    store = Store.from_environment()
    removed = store.clear(unused_s=older_than or 0.0) if store else []
    freed = sum(entry.bytes for entry in removed)
    if as_json:
        rows = [_prepared(entry) for entry in removed]
        terminal.print_json(Cleared(bytes=freed, removed=rows))
        return
    terminal.emit(terminal.cell(f"removed {_drives(removed)}, {units.readable_size(freed)}"))


def _drives(entries: Sequence[Entry]) -> str:
    return "1 drive" if len(entries) == 1 else f"{len(entries)} drives"


def _prepared(entry: Entry) -> Prepared:
    return Prepared(
        key=entry.key,
        drive=entry.drive,
        seed=entry.seed,
        steps=list(entry.steps),
        bytes=entry.bytes,
        took_s=entry.took_s,
        used=round(entry.used),
    )
