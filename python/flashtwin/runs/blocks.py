"""What the steps of a run measured while it goes on: one file, `steps.tables`, a block a step.

The journal's line of a step says where its block lies and what its digest is (`Block`); a block has
all tables of the step (`_core.pack_tables`), without the number of the step. Invariants: a block is
written before its line, and blocks lie one after another in the order of the steps; what lies after
the last step of the journal is of a step that never ended, and the next one takes its place; a
block that is not what was written is never looked into.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin import _core, system
from flashtwin.model.lazy import Lazy
from flashtwin.model.step import NotPossible, Result
from flashtwin.outputs import disk
from flashtwin.runs import frames
from flashtwin.runs.frames import Table
from flashtwin.runs.journal import Block, StepRecord
from flashtwin.runs.storage import (
    TABLE_SHARE,
    damaged,
    digest_of,
    is_there,
    memory_bytes,
    open_file,
    remove_tree,
)

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

TABLES = "steps.tables"


class Blocks:
    """The file of a run, open; closed with the object."""

    def __init__(self, run: Path, descriptor: int) -> None:
        self.path = run / TABLES
        # A file object closes itself when it is collected.
        self._file = os.fdopen(descriptor, "rb", buffering=0)

    @classmethod
    def created(cls, run: Path) -> Blocks:
        """A new file, to write to; of two processes that make it at once, one is refused."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | system.BYTES
        return cls(run, os.open(run / TABLES, flags, 0o666))

    @classmethod
    def taken_up(cls, run: Path, *, repeatable: bool) -> Blocks:
        """The file of a run that is resumed, to write to. `repeatable`: the steps can be done
        again, so a missing file is made anew; otherwise it is refused."""
        path = run / TABLES
        with disk(path, "write"):
            if not repeatable:
                os.close(open_file(path))
            elif is_there(path) and not path.is_file():
                remove_tree(path)
            create = os.O_CREAT if repeatable else 0
            flags = os.O_RDWR | system.NOFOLLOW | system.NONBLOCK | system.BYTES
            return cls(run, os.open(path, flags | create, 0o666))

    @classmethod
    def of(cls, run: Path) -> Blocks:
        """The file of a run, to read from."""
        return cls(run, open_file(run / TABLES))

    def close(self) -> None:
        """Let the file go; safe to call twice."""
        self._file.close()

    def append(self, steps: Sequence[StepRecord], result: Result, *, durable: bool) -> Block:
        """Put the tables of the next step after those of `steps`."""
        tables = frames.of_result(len(steps), result)
        data = _core.pack_tables(
            [
                (name, [(key, values) for key, values in table.items() if key != "step"])
                for name, table in tables.items()
            ]
        )
        handle, begins = self._file.fileno(), _end(steps)
        with disk(self.path, "write"):
            try:
                written = 0
                while written < len(data):
                    written += system.write_at(handle, data[written:], begins + written)
                if durable:
                    system.sync_data(handle)
            except OSError:
                os.ftruncate(handle, begins)
                raise
        return Block(at=begins, bytes=len(data), sha256=digest_of(data))

    def cut(self, steps: Sequence[StepRecord]) -> None:
        """Keep the blocks of these steps and nothing after them."""
        with disk(self.path, "write"):
            os.ftruncate(self._file.fileno(), _end(steps))

    def read(self, record: StepRecord) -> dict[str, Table]:
        """The tables of a step, by name; none of one that was not possible."""
        if record.block is None:
            return {}
        whose = f"the tables of step {record.step}"
        data = self._bytes(record.block)
        if data is None:
            raise damaged(self.path, f"{whose} are missing")
        if digest_of(data) != record.block.sha256:
            raise damaged(self.path, f"{whose} are not what flashtwin wrote")
        try:
            tables = _core.unpack_tables(data, memory_bytes() // TABLE_SHARE // 8)
        except _core.TableError as error:
            raise damaged(self.path, f"{whose} are damaged: {error}") from error
        for name, table in tables.items():
            if name not in frames.SCHEMAS or not table:
                raise damaged(self.path, f"{whose} hold a table that no run has")
            height = len(next(iter(table.values())))
            columns = {"step": np.full(height, record.step, dtype=np.int64), **table}
            tables[name] = frames.checked(self.path, name, columns)
        return tables

    def _bytes(self, block: Block) -> bytes | None:
        """The block's bytes; none where the file is too short for them."""
        handle = self._file.fileno()
        with disk(self.path, "read"):
            size = os.fstat(handle).st_size
            if block.at + block.bytes > size or block.bytes > memory_bytes() // TABLE_SHARE:
                return None
            return system.read_at(handle, block.bytes, block.at)

    def joined(self, records: Iterable[StepRecord]) -> dict[str, Table]:
        """The tables of all these steps as one."""
        kinds: dict[str, list[Table]] = {name: [] for name in frames.SCHEMAS}
        for record in records:
            for name, table in self.read(record).items():
                of_kind = kinds[name]
                if frames.rows(table) and of_kind and table.keys() != of_kind[0].keys():
                    why = f"step {record.step} has other columns than the steps before"
                    raise damaged(self.path, why)
                of_kind += [table] if frames.rows(table) else []
        return {name: frames.join(name, tables) for name, tables in kinds.items()}


def answer_of(run: Path, record: StepRecord, tables: dict[str, Table]) -> Result | NotPossible:
    """The answer of a step, made of its line in the journal and its tables; that of a chain with
    its parts."""
    if record.not_possible is not None:
        return NotPossible(reason=record.not_possible)
    table = {name: tables.get(name) or frames.empty(name) for name in frames.SCHEMAS}
    result = Result(
        label=record.label,
        start_ns=record.start_ns,
        duration_ns=record.duration_ns,
        series=frames.series_of(table["series"], record.step),
        jobs=record.jobs,
        hist=frames.histograms(table["hist"], record.step),
        xray=frames.columns_of(table["xray"], record.step),
        meter=frames.columns_of(table["meter"], record.step),
        smart=record.smart,
        fio=tuple(record.fio),
        note=record.note,
        cut=record.cut,
    )
    step_tables = {name: frames.rows_of(table[name], record.step) for name in frames.OPTIONAL}
    if not len(step_tables["parts"]["start_ns"]):
        return result
    labels = [part.get("label", "") for part in record.detail.get("parts", ())]
    try:
        return replace(result, parts=tuple(frames.parts_of(result, labels, step_tables)))
    except ValueError as error:
        raise damaged(run, f"step {record.step}: {error}") from error


def _end(steps: Sequence[StepRecord]) -> int:
    """Where the blocks of these steps end."""
    return max((step.block.at + step.block.bytes for step in steps if step.block), default=0)
