"""The page of the validation: what was found of each row, as Markdown.

`page` writes docs/reference/validation.md from rows that were judged; which of them are there, the
caller says: all of the shipped records (flashtwin_lab.make.validation), or those of a run
(`flashtwin validate --page`). Invariant: nothing is judged or measured here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from flashtwin import _core
from flashtwin.catalogue import facts
from flashtwin.catalogue.facts import Fact
from flashtwin.catalogue.loader import load
from flashtwin.catalogue.summary import written
from flashtwin.model.units import readable_number
from flashtwin_lab.validation.metrics import measure_of
from flashtwin_lab.validation.records import facts_by_row, families
from flashtwin_lab.validation.rows import Row, count

HEAD = """# Validation

Every published figure of the catalogue's drives, and what their twins do. Made by
`flashtwin_lab.make.validation`, which runs what `flashtwin validate` runs; `flashtwin validate
DRIVE` does it again, `flashtwin validate --page FILE` writes such a page. Measured with model
{model} of the core.

**No twin of the catalogue has been checked on hardware**: no drive of a kind that is simulated here
was measured by us. Published figures are all that they are held against. Three drives that are
not in the catalogue are held against raw data: see *Held against hardware*.

A row is *validation* if the source states the conditions that decide it, and *calibration* if one
of them is assumed (for the market's fills always: no review says at which queue depth it wrote), or
if a label's figure set a value of the spec.
*computed* and *shown* rows, which follow from others or come of synthetic traces, count nowhere. A
row that has fitted a value shows that a mechanism can do what was measured, and validates nothing;
where a drive has more rows than fitted values, the others could have been missed. *known* is a miss
whose mechanism was tried: see the end of each section. [Calibration](../concepts/calibration.md)
says how values were found and what would falsify them.

## Drives

Rows are those whose battery exists, without variants (other readings of what a source leaves open),
which are judged as rows of their own in the sections. `fitted` counts values of the spec that were
set by a published figure.

| drive | rows | fitted | validation | calibration | known | missed | not counted | on hardware |
|---|---|---|---|---|---|---|---|---|
"""


HARDWARE = """
## Held against hardware

SSD-iq (PVLDB 18(11), 2025) published raw data of data-centre drives, of one with what its own NAND
counters say. `flashtwin fit --published NAME` makes their twins from some of the rows and predicts
the others; [a twin from published figures](../concepts/fit.md#from-published-figures) has each row
and why it is missed.

| drive | cell | fitted to | held out |
|---|---|---|---|
| `micron-7450-pro-960` | WAF by its own counters | 7 of 7 within 5 % | 11 of 11 within 10 % |
| `micron-7450-pro-960` | settled rate, by formula | 6 of 6 within 15 % | 7 of 7 within 15 % |
| `sk-hynix-pe8110-960` | settled rate, by formula | 8 of 8 within 15 % | 13 of 13 within 15 % |
| `solidigm-d7-p5520-1920` | settled rate, by formula | 6 of 8 within 15 % | 4 of 13 within 15 % |
| `micron-7450-pro-960` | even writes, in time | 1 of 1 within 15 % | none |
| `sk-hynix-pe8110-960` | even writes, in time | 0 of 1 within 15 % | none |
| `solidigm-d7-p5520-1920` | even writes, in time | 1 of 1 within 15 % | none |
| `micron-7450-pro-960` | offered writes saturate at | none | 0 of 1 within 15 % |
| `sk-hynix-pe8110-960` | offered writes saturate at | none | 1 of 1 within 15 % |
| `solidigm-d7-p5520-1920` | offered writes saturate at | none | 0 of 1 within 15 % |
"""
# Requests of 4 KiB a second that each drive took at most when 99 % writes were offered to it. The
# raw data of the same source has a sixth of that; docs/concepts/fit.md says why.
SATURATES = {
    "micron-7450-pro-960": 112e3,
    "sk-hynix-pe8110-960": 75e3,
    "solidigm-d7-p5520-1920": 116e3,
}


KINDS = """
## Kinds of rows

Articles measured one drive in many ways, reviews of the market's drives filled them once, of
synchronous writes others have a rate, sometimes of several writers or with latencies, labels are
what is printed of a drive as sold, and a few reviews print rates at several queue depths. `fitted`
are values of those drives' specs that were set by a published figure, of whichever kind.

"""


def page(rows: Iterable[Row], sections: Sequence[str] = ()) -> str:
    """The text of the page; `sections` come after those of the drives."""
    by_drive = {name: list(group) for name, group in groupby(_sorted(rows), _family_of)}
    lines = [_line(family, rows) for family, rows in by_drive.items()]
    totals = _totals([row for rows in by_drive.values() for row in rows])
    parts = [_section(family, rows) for family, rows in by_drive.items()]
    text = HEAD.format(model=_core.MODEL) + "\n".join([*lines, totals]) + "\n"
    text += HARDWARE + KINDS + _by_source([row for of in by_drive.values() for row in of])
    return text + "".join([*parts, *sections]).rstrip() + "\n"


def fitted_values(drive: str) -> list[tuple[str, str, str]]:
    """Key, value and source of each fitted value of a drive."""
    values = written(load(drive).values())
    return [
        (row["key"], row["value"], row["source"]) for row in values if row["origin"] == "fitted"
    ]


def called(fact: Fact, variant: str = "") -> str:
    """A row in words: the test and what is measured; for a repeated test only the latter."""
    test = "" if fact.test.startswith("the same") else f"{fact.test}: "
    name = f"{test}{fact.metric}"
    return f"{name} ({variant})" if variant else name


def published_text(fact: Fact) -> str:
    """The published value with its unit, or the bounds."""
    if fact.target is not None:
        return f"{readable_number(fact.target)} {fact.unit}".rstrip()
    low, high = fact.low, fact.high
    if low is None and high is None:
        return "-"
    if low is None or high is None:
        return (
            f"at least {readable_number(low)}"
            if high is None
            else f"at most {readable_number(high)}"
        )
    return f"{readable_number(low)} to {readable_number(high)}"


def error_text(error: float | None) -> str:
    """A relative error in percent; bounds that are kept have none."""
    # Adding 0.0 takes the sign from what rounds to nothing.
    return "-" if error is None else f"{round(error * 100, 1) + 0.0:+.1f} %"


def kind_of(fact: Fact) -> str:
    """The kind that a row counts as."""
    if fact.kind in facts.UNCOUNTED:
        return fact.kind
    return "calibration" if fact.calibration else "validation"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; a bar within a cell would end it."""
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |\n" for row in rows)


def _sorted(rows: Iterable[Row]) -> list[Row]:
    """Rows by family, in the order of the files."""
    place = {drive: number for number, family in enumerate(families()) for drive in family}
    return sorted(rows, key=lambda row: place[row.fact.asked_of[0]])


def _family_of(row: Row) -> tuple[str, ...]:
    return next(family for family in families() if row.fact.asked_of[0] in family)


def _line(family: Sequence[str], rows: Sequence[Row]) -> str:
    fitted = len({(key, value) for drive in family for key, value, _ in fitted_values(drive)})
    name = ", ".join(f"`{drive}`" for drive in family)
    return f"| {name} | {_numbers(rows, str(fitted))} | no |"


def _totals(rows: Sequence[Row]) -> str:
    drives = {drive for row in rows for drive in _family_of(row)}
    fitted = len({(drive, key) for drive in drives for key, _, _ in _own_fitted(drive)})
    return f"| all | {_numbers(rows, str(fitted))} | none |"


def _by_source(rows: Sequence[Row]) -> str:
    """Rows by where they come from, beside the values that were fitted."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if not row.variant and row.fact.kind not in facts.UNCOUNTED:
            groups.setdefault(source_of(row.fact), []).append(row)
    lines = []
    for name, of in groups.items():
        drives = {drive for row in of for drive in row.fact.measured_on}
        fitted = {(drive, *value[:2]) for drive in drives for value in fitted_values(drive)}
        verdicts = [sum(row.verdict == verdict for row in of) for verdict in _VERDICTS]
        numbers = (len(drives), len(of), *verdicts, len(fitted))
        lines.append((name, *map(str, numbers)))
    return table(("rows of", "drives", "rows", "pass", "known", "missed", "fitted"), lines)


_VERDICTS = ("pass", "known", "miss")


def source_of(fact: Fact) -> str:
    """Where a row comes from."""
    if fact.kind == "sync":
        return "synchronous writes"
    if fact.kind == "label":
        return "labels"
    if fact.test == facts.CURVE_TEST:
        return "rates by queue depth"
    return "the market's fills" if fact.test == facts.FILL_TEST else "articles"


def _own_fitted(drive: str) -> list[tuple[str, str, str]]:
    """Fitted values of a drive that no drive before it in its family has."""
    family = next(family for family in families() if drive in family)
    before = {row[:2] for other in family[: family.index(drive)] for row in fitted_values(other)}
    return [row for row in fitted_values(drive) if row[:2] not in before]


def _numbers(rows: Sequence[Row], fitted: str) -> str:
    own = [row for row in rows if not row.variant]
    counted = count(own)
    known = sum(of["known"] for of in counted.values())
    missed = sum(of["miss"] for of in counted.values())
    uncounted = sum(row.fact.kind in facts.UNCOUNTED for row in own)
    passes = [f"{of['pass']} of {sum(of.values())}" for of in counted.values()]
    numbers = (str(len(own)), fitted, *passes, str(known), str(missed), str(uncounted))
    return " | ".join(numbers)


def _section(family: Sequence[str], rows: Sequence[Row]) -> str:
    """The rows of a family, what is known missed, and what waits for a battery."""
    title = ", ".join(load(drive).name for drive in family)
    sources = dict.fromkeys(source for drive in family if (source := facts.sources(drive)))
    parts = [f"\n## {title}\n", f"\n{'; '.join(sources)}. Not checked on hardware.\n"]
    for drive, of_drive in groupby(rows, lambda row: row.fact.drive):
        head = ("row", "published", "found", "error", "tolerance", "kind", "verdict")
        parts += [f"\n`{drive}`:\n\n", table(head, map(_cells, of_drive))]
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict == "known" and row.why:
            reasons.setdefault(row.why, []).append(f"{row.fact.drive}: {_short(row)}")
    if reasons:
        parts.append("\nKnown misses, with the mechanism that was tried and what it gave:\n\n")
        parts += [f"- {'; '.join(names)}: {why}.\n" for why, names in reasons.items()]
    waiting = [
        f"{fact.drive}: {called(fact)}"
        for fact in facts.facts_for(family, facts_by_row().values())
        if measure_of(fact) is None
    ]
    if waiting:
        parts.append("\nPublished, and no battery measures it yet:\n\n")
        parts += [f"- {name}\n" for name in waiting]
    return "".join(parts)


def _cells(row: Row) -> tuple[str, ...]:
    fact = row.fact
    tolerance = "-" if fact.tolerance is None else f"{fact.tolerance * 100:g} %"
    cell = f"; worst cell: {row.cell}" if row.cell and not _is_reported(fact) else ""
    stand_ins = [twin for twin in fact.twins if twin not in fact.drives]
    cell += f"; measured on {', '.join(stand_ins)}" if stand_ins else ""
    return (
        called(fact, row.variant) + cell,
        published_text(fact),
        _found(row),
        _error(row),
        tolerance,
        kind_of(fact),
        row.verdict,
    )


def _is_reported(fact: Fact) -> bool:
    """Whether a row only reports what is found, and asks nothing of it."""
    return fact.target is None and fact.low is None and fact.high is None


def _found(row: Row) -> str:
    """What was found; for a row that is only reported, every cell."""
    if not _is_reported(row.fact):
        return readable_number(row.measured)
    cells = {row.cell: row.measured, **row.also}
    return "; ".join(f"{name}: {readable_number(value)}" for name, value in cells.items())


def _error(row: Row) -> str:
    fact = row.fact
    if _is_reported(fact):
        return "-"
    return error_text(row.error) if fact.target is not None or row.error else "within"


def _short(row: Row) -> str:
    return f"{row.fact.metric} ({row.variant})" if row.variant else row.fact.metric
