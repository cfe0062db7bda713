"""Makes docs/reference/validation.md: `.venv/bin/python -m flashtwin_lab.make.validation`.

It runs what `flashtwin validate` runs for every drive whose shipped record is of another model of
the core or of another spec, or is not there, keeps what was measured of changed specs, and writes
validation/records.json, the counts that `flashtwin drives` tells, and the page. All drives
take some four minutes on two cores. Ids of drives: those again. `--changes` measures of all or
these drives what the rest of the page is of: mechanisms switched off, fitted numbers raised and
rows left out of the fit, and the market's drives from their labels alone; `--labels` these only,
`--untried` only the mechanisms that the page lists as not tried. Changes take an hour: what is
measured is written a few changes at a time, and a call that was ended goes on where it was.

tests/study/test_validation_page.py says where the page is no longer of today's core, specs or rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import partial

from flashtwin import _core
from flashtwin.catalogue import validated
from flashtwin.cli import progress
from flashtwin_lab.make import DOCS
from flashtwin_lab.validation import fit, knockouts, labels, records, sections
from flashtwin_lab.validation.changes import batched, lacking_of, tried
from flashtwin_lab.validation.page import page
from flashtwin_lab.validation.records import Record, family_name
from flashtwin_lab.validation.validate import validate

PAGE = DOCS / "reference" / "validation.md"
SHOW = partial(progress.observers, False)
# Mechanisms that are switched off before what they gave is written.
AT_ONCE = 4


def main() -> None:
    """Measure what does not hold any more, then write records and page."""
    parser = argparse.ArgumentParser(description="Makes docs/reference/validation.md.")
    parser.add_argument("drives", nargs="*", help="these alone, and again")
    parser.add_argument("--changes", action="store_true", help="also of changed specs")
    parser.add_argument("--labels", action="store_true", help="drives from their labels again")
    parser.add_argument("--untried", action="store_true", help="also of what was not tried")
    asked = parser.parse_args()
    names = {family_name(family) for family in records.families()}
    shipped = records.stored() if records.RECORDS.exists() else {}
    held = {name: of for name, of in shipped.items() if of.is_of_todays_specs or name in names}
    families = [
        family for family in records.families() if not asked.drives or {*asked.drives} & {*family}
    ]
    lacking = [
        family
        for family in families
        if family_name(family) not in held or not held[family_name(family)].is_current
    ]
    if asked.drives and not asked.changes:
        lacking = families
    if lacking:
        held |= _as_they_are(lacking)
    _write(held)
    for measured in _of_changes(asked, families, held):
        held |= measured
        _write(held)


def _write(held: Mapping[str, Record]) -> None:
    records.RECORDS.write_bytes(records.encoded(held))
    validated.DATA.write_bytes(counts())
    PAGE.write_text(text())


def _as_they_are(families: list[tuple[str, ...]]) -> dict[str, Record]:
    done = validate([drive for family in families for drive in family], SHOW)
    return {
        family_name(family): records.record_of(
            [pair for pair in done.found if set(pair[0].asked_of) <= set(family)]
        )
        for family in families
    }


def _of_changes(
    asked: argparse.Namespace, families: list[tuple[str, ...]], held: Mapping[str, Record]
) -> Iterator[dict[str, Record]]:
    """Knock-outs, fits and labels that were asked for and are not of today, as they are measured;
    `held` grows with what is taken."""
    for family in families if asked.changes or asked.untried else ():
        changes = lacking_of(knockouts.changes_of([family]), held)
        for some in batched(changes.items(), AT_ONCE):
            yield tried(dict(some), held, SHOW)
        if asked.changes:
            yield from fit.fits(family, held, SHOW)
    if asked.changes or asked.labels:
        yield labels.from_labels(_market(families), SHOW)


def _market(families: list[tuple[str, ...]]) -> list[str]:
    return [drive for family in families for drive in family if drive in labels.market()]


def counts() -> bytes:
    """What the catalogue tells of each drive, of the records that are shipped."""
    shipped = records.stored()
    return validated.encoded(
        records.counted(shipped[family_name(family)]) for family in records.families()
    )


def text() -> str:
    """The text of the page, of what is shipped."""
    shipped = records.stored()
    base = [shipped[family_name(family)] for family in records.families()]
    rows = [row for record in base for row in records.judged_rows(record)]
    return page(rows, [sections.moved_section(rows), *_sections(shipped)])


def _sections(shipped: dict[str, Record]) -> Iterator[str]:
    yield sections.models_section(shipped, _core.MODEL)
    knocked = knockouts.knocked_out(shipped)
    yield sections.knock_out_section(knocked, knockouts.untried(shipped))
    yield sections.left_out_section(shipped)
    yield sections.label_section(shipped)


if __name__ == "__main__":
    main()
