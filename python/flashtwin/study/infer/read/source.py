"""The text of a file, a piece at a time: its encoding, its lines, and how long each may be.

A file of hundreds of megabytes is never in memory as a whole. Lines end at CR, LF or both, which is
also how progress on a terminal is written over and over. Encodings: UTF-8, UTF-16 with or without
a byte order mark (what PowerShell writes), and Windows-1252 where the bytes are no UTF-8; of that
only letters beyond ASCII depend on it, and no number.

Invariants: only regular files are opened, and no more than `MOST_BYTES` of them is read; a line
holds `LONGEST` characters at most; what is no text is refused by what it is.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from flashtwin.inputs import PACKED, InputError, open_regular, wide_encoding
from flashtwin.study.infer.samples import UnreadableError

MOST_BYTES = 256 << 20
LONGEST = 1 << 18
HEAD_BYTES = 1 << 16
PIECE = 1 << 16
SKETCHED = 400

_BINARY = (
    (b"PK\x03\x04", "a ZIP archive, which an Excel workbook is too", "unpack it, or save as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save it as CSV"),
    (b"%PDF", "a PDF", "hand over the numbers as CSV"),
    (b"\x89PNG", "a picture", "hand over the numbers as CSV"),
    (b"\xff\xd8\xff", "a picture", "hand over the numbers as CSV"),
    (b"PAR1", "a Parquet file", "write it as CSV"),
    (b"SQLite format 3", "an SQLite database", "write the table as CSV"),
    *(
        (mark, f"compressed by {kind}", f"unpack it: {unpack} FILE")
        for mark, (kind, unpack, _) in PACKED.items()
    ),
)
# Control characters that text has.
_USUAL = frozenset("\t\n\r\f\x1b\b")


class Source:
    """A file of text; everything is read of it again each time that it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        with self._opened() as raw:
            self._first_bytes = raw.read(HEAD_BYTES)
        self.encoding = _encoding_of(self._first_bytes)

    @cached_property
    def head(self) -> str:
        """The beginning of the text, in which a format is recognised."""
        decoder = io.TextIOWrapper(
            io.BytesIO(self._first_bytes), encoding=self.encoding, errors="replace"
        )
        text = decoder.read()
        strange = sum(1 for sign in text if sign < " " and sign not in _USUAL)
        if strange > 2 + len(text) // 500:
            raise UnreadableError("is no text", "hand over a log, a table or a report as text")
        return text

    @cached_property
    def sketch(self) -> str:
        """The beginning with the first characters of each line, in which patterns are looked for:
        a pattern may take long on a line that has no end."""
        return "\n".join(line[:SKETCHED] for line in self.first_lines)

    @cached_property
    def first_lines(self) -> list[str]:
        """The lines of the beginning; the last one may be cut short."""
        return self.head.split("\n")

    def pieces(self) -> Iterator[str]:
        """The text, with line feeds at the ends of lines."""
        with self._opened() as raw:
            text = io.TextIOWrapper(raw, encoding=self.encoding, errors="replace")
            left = MOST_BYTES
            while piece := text.read(PIECE):
                left -= len(piece)
                if left < 0:
                    raise InputError(self.path, f"it has more than {MOST_BYTES:,} bytes")
                yield piece

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number from 1 on."""
        number, rest = 0, ""
        for piece in self.pieces():
            lines = (rest + piece).split("\n")
            rest = lines.pop()
            for line in lines:
                number += 1
                yield number, _bounded(number, line)
            _bounded(number + 1, rest)
        if rest:
            yield number + 1, rest

    def _opened(self) -> io.BufferedReader:
        handle = open_regular(self.path)
        size = os.fstat(handle).st_size
        if size > MOST_BYTES:
            os.close(handle)
            raise InputError(
                self.path, f"it has {size:,} bytes, and may have {MOST_BYTES:,} at most"
            )
        return os.fdopen(handle, "rb")


def _bounded(number: int, line: str) -> str:
    if len(line) > LONGEST:
        raise too_long(number, LONGEST)
    return line


def too_long(number: int, most: int) -> UnreadableError:
    """The refusal of a line with more than `most` characters."""
    return UnreadableError(
        f"has a line of more than {most:,} characters, line {number}",
        "no program that infer reads writes such a line",
    )


def _encoding_of(first_bytes: bytes) -> str:
    for magic, kind, hint in _BINARY:
        if first_bytes.startswith(magic):
            raise UnreadableError(f"is {kind}", hint)
    encoding = wide_encoding(first_bytes)
    if encoding == "utf-32":
        raise UnreadableError("is UTF-32", "save it as UTF-8")
    if encoding is not None:
        return encoding
    if b"\x00" in first_bytes:
        raise UnreadableError("is no text", "hand over a log, a table or a report as text")
    try:
        first_bytes.decode()
    except UnicodeDecodeError as error:
        # The last character may be cut in two by the end of what was read.
        if error.start < len(first_bytes) - 4 or len(first_bytes) < HEAD_BYTES:
            return "cp1252"
    # A byte order mark is no part of the text.
    return "utf-8-sig"
