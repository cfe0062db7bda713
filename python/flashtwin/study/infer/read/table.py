"""A table with a header: time and a rate, bytes and a rate, or bytes over time.

CSV of spreadsheets and scripts, and the tables of HWiNFO and of Windows' performance monitor: the
names of columns say what they are (`columns`). A rate is that of the interval before its time.

Invariants: what was left out of a row or at the end of a file is told in a note; temperatures are
those of samples of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from flashtwin.study.infer.read.cells import Numbers
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.clock import Clock
from flashtwin.study.infer.read.columns import Chosen, chosen_of
from flashtwin.study.infer.read.header import Column
from flashtwin.study.infer.read.layout import Block, Layout, blocks, layout_of
from flashtwin.study.infer.read.series import DOUBLED, Builder, Doubled
from flashtwin.study.infer.read.source import Source
from flashtwin.study.infer.read.totals import Amounts
from flashtwin.study.infer.samples import FEWEST, Floats, Samples, UnreadableError

# Reads beside the writes are told of from this share on, a depth from this share of the rows on.
READS_SHARE, DEPTH_SHARE = 0.01, 0.02
# Rows that repeat the one before are slips of a log up to this share, and jobs beyond it.
REPEATS_SHARE = 0.1
# The most depths that are told by name.
DEPTHS_TOLD = 6


def read(source: Source, choices: Choices) -> Samples:
    """The writes of a table."""
    layout = layout_of(source)
    first = next(_rows(source, layout), None)
    if first is None:
        raise UnreadableError("has no rows", f"at least {FEWEST} samples are needed")
    reading = _Reading(chosen_of(layout.names, first.rows[0], choices), choices)
    for block in _rows(source, layout):
        reading.add(block)
    return reading.samples()


def _rows(source: Source, layout: Layout) -> Iterator[Block]:
    """Blocks of rows, up to a header that is written once more at the end: HWiNFO does so, and
    writes the names of the sensors under it."""
    header, ended = list(layout.names), False
    for block in blocks(source, layout):
        at = next((i for i, row in enumerate(block.rows) if ended or row == header), None)
        if at is None:
            yield block
            continue
        if any(row[0] for row in block.rows[at:] if row != header):
            raise UnreadableError(
                f"has a second header in line {block.lines[at]}",
                "hand over one file a run, with --join",
            )
        ended = True
        if at:
            yield Block(rows=block.rows[:at], lines=block.lines[:at])


class _Reading:
    """A table as it is read."""

    def __init__(self, chosen: Chosen, choices: Choices) -> None:
        self._chosen, self._choices = chosen, choices
        self._numbers = Numbers(choices.decimal)
        self._builder, self._doubled = Builder(), Doubled() if choices.doubled else None
        self._rows = self._blank = self._repeats = self._zero_rates = 0
        self._last_row: list[str] | None = None
        self._done = self._counted = self._read_bytes = self._rate_sum = 0.0
        self._gaps = False
        self._depths: Counter[str] = Counter()
        time, factor = chosen.time, None if chosen.time is None else chosen.time.factor
        self._clock = Clock(self._numbers, factor, "time" if time is None else time.name)
        self._amounts = None
        if chosen.rate is None and chosen.amount is not None:
            self._amounts = Amounts(chosen.amount.name, self._builder)

    def add(self, block: Block) -> None:
        """Rows that follow those before."""
        block = self._without_repeats(self._without_blank(block))
        if not block.rows:
            return
        rate = self._column(block, self._chosen.rate)
        amount = self._column(block, self._chosen.amount)
        self._count_reads(block, rate)
        if self._chosen.depth is not None:
            self._depths.update(row[self._chosen.depth.at].strip() for row in block.rows)
        degrees = self._degrees(block)
        end = self._ends(block)
        self._rows += len(block.rows)
        if end is None:
            assert rate is not None and amount is not None, "the columns were chosen so"
            self._sized(rate, amount, degrees, block.lines)
        elif self._amounts is not None:
            assert amount is not None, "the columns were chosen so"
            self._amounts.add(end, amount, degrees)
        elif self._doubled is not None and rate is not None:
            if degrees is not None:
                raise UnreadableError(
                    "has temperatures in rows that are no samples of their own",
                    "write a row for each sample, or remove the column",
                )
            self._doubled.add(end, rate)
        elif rate is not None:
            self._builder.timed(end, rate, degrees)

    def samples(self) -> Samples:
        """All of it."""
        if self._rows < FEWEST:
            have = f"has {self._rows} row{'' if self._rows == 1 else 's'} with values"
            raise UnreadableError(have, f"at least {FEWEST} samples are needed")
        if self._doubled is not None:
            self._doubled.into(self._builder)
        columns, notes = self._chosen.text, list(self._chosen.notes)
        if self._repeats > REPEATS_SHARE * self._rows:
            raise UnreadableError(f"has {self._repeats} rows that come twice", DOUBLED)
        if self._repeats:
            rows = (
                "1 row that repeats" if self._repeats == 1 else f"{self._repeats} rows that repeat"
            )
            notes.append(f"{rows} the one before: left out")
        if self._amounts is not None:
            columns = f"{columns} ({self._amounts.finish()})"
        if self._gaps and self._chosen.degrees is not None:
            columns = f"{columns} ({self._chosen.degrees.name} has gaps: left out)"
        elif self._chosen.degrees is not None:
            columns = f"{columns}, {self._chosen.degrees.name}"
        if self._zero_rates:
            plural = "" if self._zero_rates == 1 else "s"
            notes.append(
                f"{self._zero_rates} row{plural} with bytes and a rate of 0: how long they took is "
                "not known, and their bytes count at the next rate"
            )
        if self._blank:
            plural = "" if self._blank == 1 else "s"
            notes.append(f"{self._blank} row{plural} without a value at the beginning: left out")
        reads = self._read_bytes > READS_SHARE * self._rate_sum
        samples = self._builder.samples(columns, notes=notes, reads=reads)
        return replace(samples, pattern=self._pattern())

    def _pattern(self) -> str | None:
        """Writes at depths that change, where a column says so."""
        least = max(DEPTH_SHARE * self._depths.total(), 2)
        depths = [text for text, rows in self._depths.items() if text and rows >= least]
        if len(depths) < 2:
            return None
        more = ", …" if len(depths) > DEPTHS_TOLD else ""
        return f"write at depths {', '.join(depths[:DEPTHS_TOLD])}{more} in turn"

    def _without_blank(self, block: Block) -> Block:
        """Counters of Windows have no value yet in their first row."""
        column = self._chosen.rate or self._chosen.amount
        if self._rows or column is None:
            return block
        values = (i for i, row in enumerate(block.rows) if row[column.at])
        first = next(values, len(block.rows))
        self._blank += first
        return Block(rows=block.rows[first:], lines=block.lines[first:])

    def _without_repeats(self, block: Block) -> Block:
        """A row at the time of the one before, and with all of its cells, was written twice; of
        several jobs in one log nearly all times come twice."""
        if self._chosen.time is None or self._doubled is not None:
            return block
        before = [self._last_row, *block.rows[:-1]]
        own = [i for i, row in enumerate(block.rows) if row != before[i]]
        self._last_row = block.rows[-1] if block.rows else self._last_row
        self._repeats += len(block.rows) - len(own)
        if len(own) == len(block.rows):
            return block
        return Block(rows=[block.rows[i] for i in own], lines=[block.lines[i] for i in own])

    def _column(self, block: Block, column: Column | None) -> Floats | None:
        """A column in bytes, or bytes a second."""
        if column is None:
            return None
        cells = [row[column.at] for row in block.rows]
        numbers = self._numbers.column(cells, block.lines, column.name)
        # A rate beyond all floats is refused with the others that no drive has.
        with np.errstate(over="ignore"):
            return numbers * (column.factor or 1.0)

    def _ends(self, block: Block) -> Floats | None:
        """Seconds at which the rows end; none where bytes and a rate say them."""
        time, date = self._chosen.time, self._chosen.date
        if time is not None:
            cells = [row[time.at] for row in block.rows]
            if date is not None:
                cells = [f"{row[date.at]} {row[time.at]}" for row in block.rows]
            return self._clock.seconds(cells, block.lines)
        interval_s = self._choices.interval_s
        if interval_s is None:
            return None
        first = self._rows + 1
        return np.arange(first, first + len(block.rows), dtype=np.float64) * interval_s

    def _sized(
        self, rate: Floats, done: Floats, degrees: Floats | None, lines: Sequence[int]
    ) -> None:
        """Bytes against a rate: together they say how long each took."""
        size = np.diff(done, prepend=self._done)
        self._done = float(done[-1])
        fewer = np.flatnonzero(size < 0)
        if fewer.size:
            raise UnreadableError(
                f"has fewer bytes in line {lines[fewer[0]]} than in the line before",
                "bytes are those since the start: hand over one file a run, with --join",
            )
        if np.any(rate < 0):
            raise UnreadableError(
                f"has a rate below 0 in line {lines[int(np.argmin(rate))]}", "correct the row"
            )
        moves = rate > 0
        self._zero_rates += int((~moves & (size > 0)).sum())
        if not moves.any():
            return
        # The bytes of rows at a rate of 0 count with the next row that has one, in this block or a
        # later one.
        moved = np.diff(done[moves], prepend=self._counted)
        self._counted = float(done[moves][-1])
        own = moved > 0
        self._builder.rated(
            moved[own], rate[moves][own], None if degrees is None else degrees[moves][own]
        )

    def _degrees(self, block: Block) -> Floats | None:
        """The temperatures of rows; none from the first on that has none, as of a meter that is
        asked seldom."""
        column = self._chosen.degrees
        if column is None or self._gaps:
            return None
        cells = [row[column.at] for row in block.rows]
        try:
            return self._numbers.any_column(cells, block.lines, column.name)
        except UnreadableError:
            self._gaps = True
            return None

    def _count_reads(self, block: Block, rate: Floats | None) -> None:
        column = self._chosen.reads
        if column is None or rate is None:
            return
        try:
            reads = self._column(block, column)
        except UnreadableError:
            return
        self._read_bytes += 0.0 if reads is None else float(reads.sum())
        self._rate_sum += float(rate.sum())
