"""`flashtwin fit --published`: a twin from a table of what somebody else measured of a drive.

The table names the drive by its label and says what it settled to: write amplification by the
drive's own counters, or its write rate, under loads over a part of it (`hypothesis.settled`). Rows
that are held out are not looked at while values are searched; they are predicted. What such figures
tell is searched: how much flash holds data, how large a superblock is, how victims are chosen, and,
of rates, what the firmware takes for a write and for a move. All else is what `new` writes.
Invariant: a value that the table does not tell stays what the label let one expect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from flashtwin.catalogue import SETTLED
from flashtwin.catalogue.label import CellType, Interface, Label, spec_text
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.hypothesis.settled import Pattern, zipf
from flashtwin.inputs import read_toml
from flashtwin.model.units import parse_size

SCHEMA = 1
PAGE_BYTES = 4096
# How far a predicted figure may be off and still counts as held, where a table does not say.
TOLERANCE = 0.1


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure: a load, the span that is written, and what the drive settled to."""

    load: Literal["uniform", "sequential", "zipf", "parts", "zones"]
    span: str
    waf: float | None = None
    write: str | None = None
    theta: float | None = None
    parts: tuple[tuple[float, float], ...] = ()
    zone: str | None = None
    active: int = 1
    use: Literal["fit", "held out"] = "fit"
    tolerance: float = TOLERANCE


class Described(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The drive, by what `flashtwin new` is told of a label."""

    id: str
    capacity: str
    interface: Interface
    cell: CellType
    dram: Literal["yes", "none", "hmb"]
    name: str | None = None
    controller: str | None = None
    controller_model: str | None = None
    dies: int | None = None
    slc_cache: str | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of published figures."""

    schema: int
    source: str
    drive: Described
    figure: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A row, read: `value` is a write amplification, or bytes a second."""

    title: str
    pattern: Pattern
    span_bytes: int
    is_rate: bool
    value: float
    held_out: bool
    tolerance: float

    @property
    def is_random(self) -> bool:
        """Whether single pages are written, which the firmware's time a command limits."""
        return self.pattern.kind in ("uniform", "parts")


@dataclass(frozen=True, kw_only=True)
class Published:
    """A table, read: the drive as its label lets one expect it, and the figures."""

    source: str
    label: Label
    figures: tuple[Figure, ...]

    @cached_property
    def text(self) -> str:
        """The spec that the label alone gives."""
        return spec_text(self.label)

    @property
    def fitted(self) -> tuple[Figure, ...]:
        """The figures that are not held out."""
        return tuple(figure for figure in self.figures if not figure.held_out)


def find(word: str) -> Path:
    """The file that is named, or the shipped table of a drive."""
    shipped = {path.stem: path for path in sorted(SETTLED.glob("*.toml"))}
    if Path(word).exists():
        return Path(word)
    if word not in shipped:
        raise FlashtwinError(
            f"there is no file {word}, and no table of that name",
            hint=f"name a file, or one of {', '.join(shipped)}",
            exit_code=USAGE,
        )
    return shipped[word]


def read(path: Path) -> Published:
    """The table of a file; `FlashtwinError` says which row is wrong."""
    try:
        table = msgspec.convert(read_toml(path), Table, strict=False)
    except msgspec.ValidationError as error:
        raise _wrong(path, str(error)) from None
    if table.schema != SCHEMA:
        raise _wrong(path, f"schema {table.schema} is not known")
    capacity = _size(path, "drive.capacity", table.drive.capacity)
    label = Label(
        id=table.drive.id,
        name=table.drive.name or table.drive.id,
        capacity_bytes=capacity,
        interface=table.drive.interface,
        cell=table.drive.cell,
        dram=table.drive.dram,
        dies=table.drive.dies,
        cache_bytes=_cache(path, table.drive.slc_cache),
        controller=table.drive.controller,
        model=table.drive.controller_model,
    )
    figures = tuple(
        _figure(path, f"figure {number}", row, capacity)
        for number, row in enumerate(table.figure, 1)
    )
    if not any(not figure.held_out for figure in figures):
        raise _wrong(path, "no figure is there to be fitted to")
    return Published(source=table.source, label=label, figures=figures)


def _cache(path: Path, text: str | None) -> int | None:
    """The size of the SLC cache; 0 for none, nothing where the label does not say."""
    if text is None or text == "0":
        return None if text is None else 0
    return _size(path, "drive.slc_cache", text)


def _figure(path: Path, place: str, row: Row, capacity: int) -> Figure:
    span = _span(path, place, row.span, capacity)
    if (row.waf is None) == (row.write is None):
        raise _wrong(path, f"{place} has to have either waf or write")
    if row.waf is not None and not 0.5 <= row.waf <= 1000:
        raise _wrong(path, f"{place}: a write amplification of {row.waf:g} is none")
    if not 0 < row.tolerance < 1:
        raise _wrong(path, f"{place}: the tolerance is a share between 0 and 1")
    rate = None if row.write is None else _size(path, f"{place}.write", _without_time(row.write))
    value = float(row.waf or 0.0) if rate is None else float(rate)
    if value <= 0:
        raise _wrong(path, f"{place}: nothing was written")
    pattern, title = _pattern(path, place, row, span)
    return Figure(
        title=f"{title} over {row.span}",
        pattern=pattern,
        span_bytes=span,
        is_rate=row.waf is None,
        value=value,
        held_out=row.use == "held out",
        tolerance=row.tolerance,
    )


def _pattern(path: Path, place: str, row: Row, span: int) -> tuple[Pattern, str]:
    """The load of a row, and its name."""
    if row.load == "zipf":
        if row.theta is None or not 0 <= row.theta <= 3:
            raise _wrong(path, f"{place}: zipf needs its theta, from 0 to 3")
        return zipf(row.theta, span // PAGE_BYTES), f"zipf {row.theta:g}"
    if row.load == "parts":
        if len(row.parts) < 2 or not all(0 < size <= 1 and to >= 0 for size, to in row.parts):
            raise _wrong(path, f"{place}: parts are pairs, a share of the span and of the writes")
        title = ", ".join(f"{100 * to:g} % to {100 * size:g} %" for size, to in row.parts)
        return Pattern(kind="parts", parts=row.parts), title
    if row.load == "zones":
        zone = _size(path, f"{place}.zone", row.zone or "")
        if zone < (1 << 20) or not 1 <= row.active < span // zone:
            raise _wrong(path, f"{place}: there have to be more zones than are written at once")
        title = f"zones of {row.zone}, {row.active} at a time"
        return Pattern(kind="zones", zone_bytes=zone, active=row.active), title
    return Pattern(kind=row.load), row.load


def _span(path: Path, place: str, text: str, capacity: int) -> int:
    """Bytes, or a percentage of the capacity."""
    if text.endswith("%"):
        try:
            span = int(capacity * float(text[:-1]) / 100)
        except ValueError:
            raise _wrong(path, f"{place}: {text} is no percentage") from None
    else:
        span = _size(path, f"{place}.span", text)
    if not (1 << 28) <= span <= capacity:
        raise _wrong(path, f"{place}: {text} is less than 256 MiB or more than the drive holds")
    return span // PAGE_BYTES * PAGE_BYTES


def _without_time(rate: str) -> str:
    return rate.removesuffix("/s")


def _size(path: Path, place: str, text: str) -> int:
    try:
        return parse_size(text.replace(" ", ""))
    except ValueError as error:
        raise _wrong(path, f"{place}: {error}") from None


def _wrong(path: Path, why: str) -> FlashtwinError:
    return FlashtwinError(
        f"{path} is no table of published figures: {why}",
        hint="a figure has load, span, and either waf or write",
        exit_code=USAGE,
    )


def without_what_is_held_out(published: Published) -> Published:
    """The table as a search sees it."""
    return replace(published, figures=published.fitted)
