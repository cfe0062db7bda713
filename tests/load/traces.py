"""Traces of programs that write to a disk, as fio's iologs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

RECORD, RECORDS = 4096, 400


def iolog(where: Path, requests: Iterator[tuple[str, int, int]]) -> Path:
    """A trace of (read, write, trim or sync; offset; length)."""
    lines = ["fio version 2 iolog", "/dev/data add", "/dev/data open"]
    for kind, offset, length in requests:
        lines.append(f"/dev/data {kind} {offset} {length}")
    where.write_text("\n".join([*lines, "/dev/data close", ""]))
    return where


def database(seed: int, *, syncs: int = 1, shift: int = 0, piece: int = 4 * RECORD) -> Iterator:
    """A log that is synced after each commit, and pages that are written in batches.

    `syncs` for each commit, `shift` bytes by which pages miss their places, `piece` bytes of a
    batch's requests.
    """
    for number in range(RECORDS):
        yield "write", number * RECORD, RECORD
        for _ in range(syncs):
            yield "sync", 0, 0
        if number % 8 == 7:
            first = (1 << 26) + (number * 7919 + seed * 104729) % 4096 * RECORD
            for at in range(0, 4 * RECORD, piece):
                yield "write", first + at + shift, piece
