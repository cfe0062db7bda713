"""Campaigns in pieces: drives of several seeds in one file, drawn a few at a time.

What: `--append FILE` adds each drive to FILE as soon as it ends, with its seed, its number and the
commit of the code that judged it. Drives that FILE has of the same seed are not drawn again, so
that one that was stopped goes on; the table is that of all drives in FILE.

Why: drives of discover and fit take seconds to minutes each, and a table needs many of each kind.

Invariants: a file holds drives of one kind of campaign, and is whole after each of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from flashtwin import inputs, outputs
from flashtwin.cli.version import commit
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner.pool import Ended, Work
from flashtwin_lab.blind.run import pooled

SCHEMA = 1
MOST_BYTES = 256 << 20


@dataclass(frozen=True, kw_only=True)
class Shard:
    """The drives of a seed that are to be in a file (none: kept nowhere), of one `kind` of
    campaign; `of_json` makes a drive of what `asdict` made of it. A drive's name ends with its
    number."""

    kind: str
    path: Path | None
    seed: int
    of_json: Callable[[Mapping[str, Any]], Any]

    def drives(
        self,
        works: Sequence[Work],
        on_end: Callable[[int, Any], None] | None,
        failed: Callable[[Ended], Any] | None = None,
    ) -> list[Any]:
        """All drives of the file, once those of the works that it lacks have been added; the works
        are those of the drives from 0 on. `failed` is told the number of a drive that gave none."""
        if self.path is None:
            return pooled(works, on_end, failed)
        # A drive takes minutes, and none is to be lost for a folder that is not there.
        outputs.check(self.path)
        rows = _rows(self.path, self.kind, self.of_json)
        numbers = _lacking(rows, self.seed, len(works))

        def ended(count: int, drive: Any) -> None:
            number = int(drive.name.rpartition(" ")[2])
            row = {"seed": self.seed, "number": number, "commit": commit()}
            rows.append({**row, "drive": {**asdict(drive), "measured": None}})
            self._write(rows)
            if on_end is not None:
                on_end(count, drive)

        try:
            pooled([works[number] for number in numbers], ended, _numbered(failed, numbers))
        except Interrupted as stop:
            raise Interrupted(
                f"stopped; drives in {self.path} so far: {len(rows)}; the same command goes on"
            ) from stop
        return [_drive(row, self.of_json) for row in rows]

    def _write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        assert self.path is not None, "what is kept nowhere is not written"
        document = {"schema": SCHEMA, "kind": self.kind, "drives": rows}
        outputs.write(self.path, json.dumps(document, indent=1) + "\n")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A drive of a file: of which seed it has which number, and the commit of the code that judged
    it."""

    seed: int
    number: int
    commit: str
    drive: Any


def kept(path: Path, kind: str, of_json: Callable[[Mapping[str, Any]], Any]) -> list[Kept]:
    """The drives that a file has, in the order in which they were judged."""
    return [
        Kept(
            seed=row["seed"],
            number=row["number"],
            commit=row["commit"],
            drive=_drive(row, of_json),
        )
        for row in _rows(path, kind, of_json)
    ]


def lacking(path: Path | None, kind: str, seed: int, count: int) -> list[int]:
    """Which of the first `count` drives of a seed the file lacks; all where there is no file."""
    return _lacking([] if path is None else _rows(path, kind, dict), seed, count)


def _lacking(rows: Sequence[Mapping[str, Any]], seed: int, count: int) -> list[int]:
    there = {row["number"] for row in rows if row["seed"] == seed}
    return [number for number in range(count) if number not in there]


def _rows(
    path: Path, kind: str, of_json: Callable[[Mapping[str, Any]], Any]
) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    try:
        document = inputs.parse_json(inputs.read_regular(path, most_bytes=MOST_BYTES))
    except ValueError as error:
        raise _refused(f"{path} cannot be read: {error}") from error
    known = isinstance(document, dict) and document.get("schema") == SCHEMA
    if not known or document.get("kind") != kind:
        raise _refused(f"{path} holds no drives of blind's {kind}")
    try:
        rows = [dict(row) for row in document["drives"]]
        for row in rows:
            int(row["seed"]), int(row["number"])
            _drive(row, of_json)
    except (KeyError, TypeError, ValueError) as error:
        raise _refused(f"{path} has a drive that cannot be read: {error}") from error
    return rows


def _drive(row: Mapping[str, Any], of_json: Callable[[Mapping[str, Any]], Any]) -> Any:
    return of_json({key: row["drive"][key] for key in row["drive"] if key != "measured"})


def _refused(why: str) -> FlashtwinError:
    return FlashtwinError(
        why, hint="hand over another file, or one that --append made", exit_code=USAGE
    )


def _numbered(
    failed: Callable[[Ended], Any] | None, numbers: Sequence[int]
) -> Callable[[Ended], Any] | None:
    """`failed`, told the number of a drive instead of that of its work."""
    if failed is None:
        return None
    return lambda ended: failed(replace(ended, number=numbers[ended.number]))
