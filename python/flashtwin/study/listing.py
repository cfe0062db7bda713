"""The drives of the catalogue, a line each: what they are, how fast, how well validated.

Rates are those that `ranking` ships, counts of rows those of `catalogue.validated`; both are of
today's core and specs, or missing. A condition in SQL chooses among them (`where`), and any column
sorts. Invariant: nothing is simulated here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import msgspec

from flashtwin.catalogue import validated
from flashtwin.catalogue.loader import drive_ids, load
from flashtwin.catalogue.summary import summary, written
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.units import parse_size
from flashtwin.runs import query
from flashtwin.study import ranking

Dram = Literal["yes", "hmb", "none"]
_DRAM: dict[str, Dram] = {"dram": "yes", "hmb": "hmb"}
# The columns of a condition, as DuckDB has them.
COLUMNS = {
    "id": "VARCHAR",
    "name": "VARCHAR",
    "capacity_bytes": "BIGINT",
    "interface": "VARCHAR",
    "cell": "VARCHAR",
    "cache": "VARCHAR",
    "cache_bytes": "BIGINT",
    "dram": "VARCHAR",
    "cache_mb_s": "DOUBLE",
    "fill_mb_s": "DOUBLE",
    "read_mb_s": "DOUBLE",
    "small_read_mb_s": "DOUBLE",
    "small_write_mb_s": "DOUBLE",
    "rows": "BIGINT",
    "passed": "BIGINT",
    "validating": "BIGINT",
    "fitted": "BIGINT",
}


class Line(Document, frozen=True):
    """A drive; first what its `catalogue.summary` has. Rates are in MB/s, and None where no shipped
    result holds.

    `rows` are its published rows that count and were run, comparisons among them; `passed` of them
    pass, `validating` of those that pass rest on no assumed condition; `fitted` values of its spec
    were set by a published figure.
    """

    id: str
    name: str
    capacity_bytes: int
    cell: str
    cache: str
    interface: str
    dram: Dram
    cache_mode: str
    cache_bytes: int
    cache_mb_s: float | None
    fill_mb_s: float | None
    read_mb_s: float | None
    small_read_mb_s: float | None
    small_write_mb_s: float | None
    rows: int
    passed: int
    validating: int
    fitted: int

    def cells(self) -> dict[str, Any]:
        """The values for the columns of a condition; words are in small letters."""
        words = {"cache": self.cache_mode, "cell": self.cell.lower()}
        values = {**msgspec.structs.asdict(self), **words}
        return {name: values[name] for name in COLUMNS}


def listing(*, where: str | None = None, sort: str | None = None) -> list[Line]:
    """The drives of the catalogue, or those for which a condition holds; sorted by a column, with -
    in front for the other way round."""
    return chosen(every(), where=where, sort=sort)


def every() -> list[Line]:
    """All drives of the catalogue, by their ids."""
    rates, _ = ranking.current()
    counts = validated.counts()
    return [
        _line(drive, rates.get(drive), counts.get(drive, validated.NONE)) for drive in drive_ids()
    ]


def chosen(lines: list[Line], *, where: str | None, sort: str | None) -> list[Line]:
    """Those lines for which a condition holds, sorted."""
    if where is not None:
        tables = {"drives": (COLUMNS, [line.cells() for line in lines])}
        lines = [lines[number] for number in query.holding(where, "drives", tables)]
    return lines if sort is None else _sorted(lines, sort)


def _sorted(lines: Sequence[Line], sort: str) -> list[Line]:
    """Lines sorted by a column; those without a value come last in either direction."""
    column = sort.removeprefix("-")
    if column not in COLUMNS:
        raise FlashtwinError(
            f"--sort {sort}: there is no column {column}",
            hint=f"columns: {', '.join(COLUMNS)}",
            exit_code=USAGE,
        )
    known = [line for line in lines if line.cells()[column] is not None]
    known.sort(key=lambda line: line.cells()[column], reverse=sort.startswith("-"))
    return [*known, *(line for line in lines if line.cells()[column] is None)]


def _line(drive: str, stored: ranking.Stored | None, counts: validated.Counts) -> Line:
    spec = load(drive)
    values = {row["key"]: row["value"] for row in spec.values()}
    kind = values.get("link.kind", "sata")
    mode = values.get("slc_cache.mode", "none")
    results = {} if stored is None else stored.values
    rates: dict[str, Any] = {
        name: results.get(column.finding)
        for name, column in ranking.columns().items()
        if column.places
    }
    return Line(
        **asdict(summary(drive, spec)),
        interface=kind if kind == "sata" else f"pcie{values['link.pcie_generation']}",
        dram=_DRAM.get(values.get("map.residency", ""), "none"),
        cache_mode=mode,
        cache_bytes=_cache_bytes(values),
        rows=counts.rows,
        passed=counts.passed,
        validating=counts.validating,
        fitted=sum(row["origin"] == "fitted" for row in written(spec.values())),
        **rates,
    )


def _cache_bytes(values: dict[str, str]) -> int:
    """Its size on the empty drive; 0 of a cache that has no size, as one of the whole drive."""
    own, borrowed = (values.get(f"slc_cache.{key}", "0") for key in ("static_size", "size"))
    by_fill = values.get("slc_cache.size_by_fill", "").split(", ")[0]
    if by_fill.startswith("0 %: "):
        borrowed = by_fill.removeprefix("0 %: ")
    return sum(parse_size(size) for size in (own, borrowed) if size != "0")
