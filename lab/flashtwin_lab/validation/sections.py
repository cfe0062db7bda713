"""Sections of the page of the validation that tell of changed specs.

What each mechanism is needed for, how far each row is off when it is left out of the fit, and how
far a drive would be off that was written from its label alone. Invariant: nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

from flashtwin.catalogue.facts import FILL_TEST, Fact
from flashtwin.model.units import readable_number
from flashtwin_lab.validation import fit, labels
from flashtwin_lab.validation.knockouts import Broken, KnockedOut
from flashtwin_lab.validation.page import called, error_text, published_text, table
from flashtwin_lab.validation.records import (
    Record,
    facts_by_row,
    families,
    family_name,
    judged_rows,
)
from flashtwin_lab.validation.rows import Row, judge

MOVED = Path(__file__).with_name("moved.toml")
# A value that a refit moves by less is said to stay.
LEAST_MOVE = 0.0005

_EARLIER = """
## Specs that were changed

What follows is of specs that differ from the catalogue's in a value each. Some of it was measured
with model {models} of the core, and the rows above with model {model}:
`flashtwin_lab.make.validation --changes` measures it again.
"""

_MOVED = """
## Rows that moved

When specs were last changed under this model of the core, these rows moved by more than a third of
their tolerance (of a tenth, where a row has bounds).

"""

_KNOCK_OUTS = """
## Knock-outs

Each mechanism switched off, one at a time, on every drive that has it, with all else as it is.
A row is listed if it passes with the mechanism and not without it. Rows of long plans are tried
where the mechanism is theirs (`validation/knockouts.toml`), the market's drives at an eighth
of their size. `flashtwin validate DRIVE --knock-out` does it again.

"""

_LEFT_OUT = """
## Rows left out of the fit

How far off each row would be if it had not taken part in the fit. Every fitted number of a spec was
raised a little to see which rows it moves; then all fitted numbers were found again from the other
rows (least squares, each error over its tolerance), and the row that was left out was measured on a
twin with these values. A row without which a number cannot be found at all is *fixed by this row
alone*: it shows what the mechanism can do, and predicts nothing. Rows that no fitted number moves
are not listed: they owe nothing to the fit. Rows with bounds take no part. A number that the other
rows hardly hold goes as far as it is let, half as much again or two thirds.
"""

_LABELS = """
## Drives from their labels alone

The market's drives as `flashtwin new` writes them from capacity, interface, cells, DRAM, and the
maker and model of the controller, filled as reviewers filled them, at an eighth of their size: how
far off a twin is that nobody fitted. The cache and the rate past it are what the other drives let
one expect; the drive's own review is left out.

"""


def models_section(records: Mapping[str, Record], model: int) -> str:
    """Which models the records of changed specs are of, where one is not of this model."""
    base = {family_name(family) for family in families()}
    models = sorted({of.model for name, of in records.items() if name not in base})
    earlier = [str(of) for of in models if of != model]
    return _EARLIER.format(models=" and ".join(earlier), model=model) if earlier else ""


class Moved(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row, what it gave before specs were changed, and the value of a spec that moves it."""

    drive: str
    test: str
    metric: str
    was: float
    why: str
    variant: str = ""

    @property
    def row(self) -> tuple[str, str, str, str]:
        return self.drive, self.test, self.metric, self.variant


def moved() -> list[Moved]:
    """The rows of moved.toml."""
    return msgspec.toml.decode(MOVED.read_bytes(), type=dict[str, list[Moved]])["moved"]


def moved_section(rows: Iterable[Row]) -> str:
    """The table of the rows that moved when specs were last changed."""
    by_row = {(row.fact.drive, row.fact.test, row.fact.metric, row.variant): row for row in rows}
    lines = []
    for entry in moved():
        row = by_row[entry.row]
        figures = (readable_number(entry.was), readable_number(row.measured))
        name = called(row.fact, row.variant)
        lines.append((entry.drive, name, published_text(row.fact), *figures, entry.why))
    return _MOVED + table(("drive", "row", "published", "was", "now", "by what"), lines)


def knock_out_section(
    knocked: Iterable[KnockedOut], untried: Mapping[tuple[str, ...], Sequence[str]]
) -> str:
    """The table of the knock-outs, and which were not tried."""
    by_mechanism: dict[str, list[KnockedOut]] = {}
    for row in knocked:
        by_mechanism.setdefault(f"{row.mechanism.name}: {row.mechanism.without}", []).append(row)
    lines = [
        ("" if number else title, *line)
        for title, rows in by_mechanism.items()
        for number, line in enumerate(_knocked_lines(rows))
    ]
    head = ("mechanism", "drive", "rows tried", "rows that break without it")
    lacking = [f"- {_names(family)}: {'; '.join(names)}\n" for family, names in untried.items()]
    rest = "".join(["\nNot tried on these drives yet:\n\n", *lacking]) if lacking else ""
    made = table(head, lines) if lines else ""
    return _KNOCK_OUTS + made + rest if made or rest else ""


def _knocked_lines(rows: Sequence[KnockedOut]) -> Iterator[tuple[str, str, str]]:
    """Drives, rows tried and what broke: a line a family, those where nothing did together."""
    for row in rows:
        if row.broken:
            texts = "; ".join(broken_text(broken) for broken in row.broken)
            yield _names(row.drives), str(row.tried), texts
    unmoved = [row for row in rows if not row.broken]
    if unmoved:
        drives = [drive for row in unmoved for drive in row.drives]
        yield _names(drives), str(sum(row.tried for row in unmoved)), "none"


def _names(drives: Iterable[str]) -> str:
    return ", ".join(f"`{drive}`" for drive in drives)


def _row_name(fact: Fact) -> str:
    """A row in words; a whole fill of the market's drives needs no test before it."""
    return fact.metric if fact.test == FILL_TEST else called(fact)


def broken_text(row: Broken) -> str:
    """A broken row: what is found, and what is published."""
    value = "nothing" if row.found is None else readable_number(row.found)
    drive = f"{row.fact.drive}, " if row.fact.is_comparison else ""
    return f"{drive}{_row_name(row.fact)}: {value}, published {published_text(row.fact)}"


def left_out_section(records: Mapping[str, Record]) -> str:
    """What each row would be if it had not taken part in the fit, by family."""
    parts = [part for family in families() for part in _fit_of(family, records)]
    lacking = [
        f"- {_names(family)}: {_counted(len(numbers), 'fitted number')}\n"
        for family in families()
        if (numbers := _numbers(family)) and len(fit.raised_in(family, records)) < len(numbers)
    ]
    rest = ["\nNot tried on these drives yet:\n\n", *lacking] if lacking else []
    return "".join([_LEFT_OUT, *parts, *rest]) if parts else ""


def _numbers(family: tuple[str, ...]) -> list[fit.Value]:
    return [value for value in fit.fitted(family) if value.is_number]


def label_section(records: Mapping[str, Record]) -> str:
    """The market's drives from their labels alone."""
    rows = [
        row
        for drive in labels.market()
        if (record := records.get(labels.record_name(drive))) and record.is_of_todays_specs
        for row in judged_rows(record)
    ]
    if not rows:
        return ""
    metrics = dict.fromkeys(row.fact.metric for row in rows)
    summary = [_label_summary(metric, rows) for metric in metrics]
    head = ("row", "drives", "within its tolerance", "within a factor of 1.5", "middle error")
    lines = [
        (
            f"`{row.fact.drive}`",
            row.fact.metric,
            published_text(row.fact),
            readable_number(row.measured),
            error_text(row.error),
        )
        for row in rows
    ]
    columns = ("drive", "row", "published", "from the label", "error")
    return _LABELS + table(head, summary) + "\n" + table(columns, lines)


def _label_summary(metric: str, rows: Sequence[Row]) -> tuple[str, ...]:
    of_metric = [row for row in rows if row.fact.metric == metric]
    factors = [
        row.measured / row.fact.value
        for row in of_metric
        if row.measured is not None and row.fact.value
    ]
    near = sum(1 / 1.5 <= factor <= 1.5 for factor in factors)
    middle = median(factors) - 1 if factors else None
    passes = sum(row.verdict == "pass" for row in of_metric)
    return metric, str(len(of_metric)), str(passes), str(near), error_text(middle)


def _fit_of(family: tuple[str, ...], records: Mapping[str, Record]) -> Iterator[str]:
    base = records.get(family_name(family))
    raised = fit.raised_in(family, records)
    if base is None or not raised or len(raised) < len(_numbers(family)):
        return
    rows = fit.left_out(family, base, raised)
    facts = facts_by_row()
    lines = [_fit_line(family, facts[row.row], row, records) for row in rows]
    others = len([row for row in base.found if not facts[row.row].is_comparison]) - len(
        [row for row in rows if not facts[row.row].is_comparison]
    )
    fitted, unmoved = _counted(len(raised), "fitted number"), _counted(others, "outcome")
    yield f"\n{_names(family)}: {fitted}; {unmoved} unmoved by them.\n"
    choices = [value for value in fit.fitted(family) if not value.is_number]
    if choices:
        texts = [f"`{value.key}` = {value.text} ({value.source})" for value in choices]
        yield f"Fitted choices, which stay as they are: {'; '.join(texts)}.\n"
    if lines:
        head = ("row left out", "published", "error", "what the other rows ask for", "error then")
        yield "\n" + table(head, lines)


def _error_then(row: Row) -> str:
    return "nothing found" if row.error is None else error_text(row.error)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count or 'no'} {noun}s"


def _fit_line(
    family: tuple[str, ...], fact: Fact, row: fit.LeftOut, records: Mapping[str, Record]
) -> tuple[str, ...]:
    name = (f"{fact.drive}: " if len(family) > 1 else "") + _row_name(fact)
    within_fit = records[family_name(family)].rows()[row.row]
    error = error_text(judge(fact, within_fit.values).error)
    if row.alone:
        keys = ", ".join(f"`{value.key}`" for value in row.alone)
        return name, published_text(fact), error, f"{keys}: fixed by this row alone", "-"
    moves = ", ".join(
        f"`{value.key}` {error_text(factor - 1)}"
        for value, factor in row.factors.items()
        if abs(factor - 1) >= LEAST_MOVE
    )
    refitted = records.get(fit.record_name(family, row.row))
    is_same = refitted is not None and refitted.sets == fit.refit(family, row).sets
    after = refitted.rows()[row.row] if refitted is not None and is_same else None
    if after is None:
        by_slopes = (row.expected or 0.0) * (fact.tolerance or 1.0)
        then = f"about {error_text(by_slopes)}, by the slopes"
    else:
        then = _error_then(judge(fact, after.values))
    return name, published_text(fact), error, moves or "the same", then
