"""DiskSpd's XML (-Rxml) with a row for each interval (-D): requests a second times their size.

A target says how it was written: at random, in order, or with reads beside.

Invariants: an entity or a document type is refused, since DiskSpd writes none; one time span and
one block size, or the user says it.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from xml.parsers import expat

import numpy as np

from flashtwin.study.infer.read.cells import number_of
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.series import Builder
from flashtwin.study.infer.read.source import Source
from flashtwin.study.infer.samples import (
    FEWEST,
    NoWritesError,
    OpenError,
    Samples,
    UnreadableError,
)

MEASURE = "diskspd -D1000 -Rxml"
DEEPEST, MOST_ROWS = 64, 1 << 22


def recognise(source: Source) -> bool:
    """A document of results."""
    head = source.head.lstrip()
    return head.startswith("<") and "<Results" in head[:4096]


def read(source: Source, choices: Choices) -> Samples:
    """The writes of all targets."""
    document = _Document()
    # The text is decoded: what it says of its encoding is no longer so.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = document.begin
    parser.EndElementHandler = document.end
    parser.CharacterDataHandler = document.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        for piece in source.pieces():
            parser.Parse(piece.encode(), False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise UnreadableError(f"is XML that cannot be read: {error}", f"as of {MEASURE}") from None
    return document.samples(choices)


def _refuse_doctype(*_: object) -> None:
    raise UnreadableError("is XML with a document type", f"DiskSpd writes none: {MEASURE}")


class _Document:
    """What is read of the document: rows of the time span, and sizes of blocks."""

    def __init__(self) -> None:
        self._path: list[str] = []
        self._text = ""
        self._blocks: set[float] = set()
        # Targets that ask at random or in order, and shares of writes in percent.
        self._at_random: set[bool] = set()
        self._write_shares: set[float] = set()
        # Milliseconds, writes and reads a second of one interval after another.
        self._rows = array("d")
        self._spans = 0

    @property
    def _count(self) -> int:
        return len(self._rows) // 3

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if len(self._path) == DEEPEST:
            raise UnreadableError("is XML that is nested too deep", f"as of {MEASURE}")
        self._path.append(name)
        self._text = ""
        if self._path[-2:] == ["Results", "TimeSpan"]:
            self._spans += 1
        if self._path[-3:] == ["TimeSpan", "Iops", "Bucket"]:
            keys = ("SampleMillisecond", "Write", "Read")
            values = [number_of(attributes.get(key, "")) for key in keys]
            if any(value is None or value < 0 for value in values) or self._count > MOST_ROWS:
                raise UnreadableError(
                    f"has an interval {self._count + 1} that is none of DiskSpd's",
                    f"as of {MEASURE}",
                )
            self._rows.extend(value or 0.0 for value in values)

    def text(self, data: str) -> None:
        """Text of an element."""
        if len(self._text) < 64:
            self._text += data[:64]

    def end(self, name: str) -> None:
        """An element ends."""
        value = number_of(self._text.strip()) if "Target" in self._path else None
        if value is not None and name == "BlockSize" and value > 0:
            self._blocks.add(value)
        elif value is not None and name in ("Random", "RandomRatio", "StrideSize"):
            self._at_random.add(name != "StrideSize" and value > 0)
        elif value is not None and name == "WriteRatio":
            self._write_shares.add(value)
        self._path.pop()
        self._text = ""

    def _pattern(self) -> str | None:
        """How the targets write, in fio's words: the one that is least of a fill; none where they
        do not say it."""
        if not self._at_random:
            return None
        mixed = any(0 < share < 100 for share in self._write_shares)
        return f"{'rand' if any(self._at_random) else ''}{'rw' if mixed else 'write'}"

    def samples(self, choices: Choices) -> Samples:
        """The rows as a series."""
        if self._spans > 1:
            raise UnreadableError(
                f"has {self._spans} time spans", "hand over a document for each, with --join"
            )
        if self._count < FEWEST:
            raise UnreadableError(
                f"has {self._count} intervals: totals are no series", f"measure with {MEASURE}"
            )
        table = np.array(self._rows).reshape(-1, 3)
        if not np.any(table[:, 1] > 0):
            raise NoWritesError("has reads alone", "infer reads what was written: diskspd -w100")
        sizes = {float(choices.block_bytes)} if choices.block_bytes else self._blocks
        if len(sizes) != 1:
            known = ", ".join(f"{size:,.0f}" for size in sorted(sizes)) or "none"
            raise OpenError(
                f"has several sizes of blocks, or none: {known}", "say which with --block-size"
            )
        (block,) = sizes
        builder = Builder()
        builder.begin(0.0)
        builder.timed(table[:, 0] * 1e-3, table[:, 1] * block)
        series = builder.samples(
            f"writes a second of {block:,.0f} bytes (DiskSpd)",
            reads=bool(np.any(table[:, 2] > 0)),
        )
        return replace(series, pattern=self._pattern())
