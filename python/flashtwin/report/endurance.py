"""What a run cost the drive: write amplification by cause, life, energy, from its SMART data.

Only a twin tells all of this; it counts from the drive's first day, so a run on a new twin is
counted whole. It explains and is no finding. Runs from before SMART data were kept have no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashtwin.charts import numbers
from flashtwin.model import units
from flashtwin.report.drives import Drive
from flashtwin.runs.frames import CAUSES

SAVED = "saved by compression"
# A ratio below this says nothing but that it is small.
LEAST = 0.001


@dataclass(frozen=True, kw_only=True)
class Row:
    """A number of every drive, as text; `part`: it is one of those that the row above sums up."""

    title: str
    cells: tuple[str, ...]
    part: bool = False


def rows_of(drives: Sequence[Drive]) -> tuple[list[Drive], list[Row]]:
    """The drives with such data, and the rows in which at least one of them has a number."""
    lives = [(drive, drive.run.smart("after").get("flashtwin")) for drive in drives]
    with_counters = [drive for drive, counters in lives if counters]
    known: list[dict[str, Any]] = [counters for _, counters in lives if counters]
    rows = [
        _sizes("written by the host", known, "waf", "host_bytes"),
        _sizes("programmed", known, "waf", "programmed_bytes"),
        _row(
            "write amplification (WAF)", "", known, lambda counters: _of(counters, "waf", "total")
        ),
        *_causes(known),
        *_life(known),
        _row("mean power", "W", known, lambda counters: _over(counters, "energy", "mean_mw", 1e3)),
        _row("MB a joule", "", known, lambda counters: _of(counters, "energy", "mb_per_joule")),
    ]
    return with_counters, [
        row for row in rows if any(cell != numbers.MISSING for cell in row.cells)
    ]


def _life(known: Sequence[Mapping[str, Any]]) -> list[Row]:
    def of(name: str) -> Callable[[Mapping[str, Any]], float | None]:
        return lambda counters: _of(counters, "endurance", name)

    return [
        _row("life used", "%", known, of("percent_used")),
        _sizes("TBW at this WAF: capacity x cycles / WAF", known, "endurance", "tbw_bytes"),
        _sizes("TBW at this wear: host bytes / life used", known, "endurance", "tbw_by_wear_bytes"),
        _sizes("TBW of the label", known, "endurance", "rated_tbw_bytes"),
        _row("full writes a day (DWPD) at this WAF", "", known, of("dwpd")),
        _row("full writes a day (DWPD) of the label", "", known, of("rated_dwpd")),
    ]


def _causes(known: Sequence[Mapping[str, Any]]) -> list[Row]:
    """A row for each cause for which any of the drives has programmed flash."""
    shares: list[dict[str, float]] = [
        counters.get("waf", {}).get("by_cause") or {} for counters in known
    ]
    names = dict.fromkeys(name for share in shares for name, value in share.items() if value)
    order = [name for name in CAUSES if name in names] + sorted(names.keys() - CAUSES.keys())
    rows = [
        Row(
            title=CAUSES.get(name, name),
            cells=tuple(_text(share.get(name), "") for share in shares),
            part=True,
        )
        for name in order
    ]
    saved = tuple(_saved(counters) for counters in known)
    return [*rows, Row(title=SAVED, cells=saved, part=True)]


def _saved(counters: Mapping[str, Any]) -> str:
    """What compression saved of the sum of the causes; nothing where it is only rounding."""
    waf = counters.get("waf", {})
    saved = sum((waf.get("by_cause") or {}).values()) - (waf.get("total") or 0.0)
    return f"\N{MINUS SIGN}{numbers.significant(saved)}" if saved >= LEAST else numbers.MISSING


def _row(
    title: str,
    unit: str,
    known: Sequence[Mapping[str, Any]],
    value: Callable[[Mapping[str, Any]], float | None],
) -> Row:
    return Row(title=title, cells=tuple(_text(value(counters), unit) for counters in known))


def _sizes(title: str, known: Sequence[Mapping[str, Any]], section: str, name: str) -> Row:
    """Bytes, each in the unit that suits it."""
    counts = [_of(counters, section, name) for counters in known]
    texts = [units.readable_size(count) if count else numbers.MISSING for count in counts]
    return Row(title=title, cells=tuple(texts))


def _text(value: float | None, unit: str) -> str:
    if not value:
        return numbers.MISSING
    if value < LEAST and not unit:
        return f"below {LEAST}"
    return f"{numbers.significant(value)} {unit}".strip()


def _of(counters: Mapping[str, Any], section: str, name: str) -> float | None:
    value = counters.get(section, {}).get(name)
    return float(value) if isinstance(value, int | float) else None


def _over(counters: Mapping[str, Any], section: str, name: str, scale: float) -> float | None:
    value = _of(counters, section, name)
    return None if value is None else value / scale
