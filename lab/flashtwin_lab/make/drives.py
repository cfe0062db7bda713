"""Makes docs/reference/drives.md of the catalogue: `.venv/bin/python -m flashtwin_lab.make.drives`.

tests/catalogue/test_market.py says where the page is no longer what the catalogue says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtwin.catalogue import facts
from flashtwin.catalogue.loader import load, shipped_ids
from flashtwin.catalogue.summary import summary, written
from flashtwin.model.units import readable_size
from flashtwin_lab.make import DOCS

if TYPE_CHECKING:
    from flashtwin._core import Spec

PAGE = DOCS / "reference" / "drives.md"
HEAD = """# The drives of the catalogue

Made by `flashtwin_lab.make.drives` from the specs in `python/flashtwin/catalogue/drives/` and what
was published about them. Each is a simulated drive *after* a product. None of them has been checked
on hardware. `flashtwin show DRIVE -v` has every value with origin and source, `flashtwin validate
DRIVE` runs what was published about it, and [the validation](validation.md) has what came of it.

`rows` counts published figures, comparisons of two drives among them. `fitted` counts the values
that were set by one of them, and its source says which. Such a row shows that a mechanism can do
what was measured, and validates nothing; where a drive has more rows than fitted values, the others
could have been missed.

| drive | capacity | cells | SLC cache | rows | fitted |
|---|---|---|---|---|---|
"""


def page() -> str:
    """The text of the page."""
    drives = {name: load(name) for name in shipped_ids()}
    lines = [_line(name, spec) for name, spec in drives.items()]
    sections = [_section(name, spec) for name, spec in drives.items()]
    return HEAD + "\n".join(lines) + "\n" + "".join(sections)


def _line(name: str, spec: Spec) -> str:
    about = summary(name, spec)
    rows = [fact for fact in facts.published() if name in fact.drives and fact.kind != "computed"]
    cells = (
        f"`{name}`",
        readable_size(about.capacity_bytes),
        about.cell,
        about.cache,
        str(len(rows)),
        str(len(_fitted(spec))),
    )
    return f"| {' | '.join(cells)} |"


def _section(name: str, spec: Spec) -> str:
    """What was published about a drive, and which values were set by it."""
    lines = [
        "",
        f"## {spec.name}",
        "",
        f"`{name}`. {facts.sources(name) or 'Nothing published'}.",
        "",
    ]
    rows = facts.facts_for([name], facts.of_market())
    if rows:
        lines += ["| measured by reviewers | |", "|---|---|"]
        lines += [f"| {fact.metric} | {fact.value:,g} {fact.unit} |" for fact in rows]
        lines += ["", f"{_sentence(rows[0].note)}", ""] if rows[0].note else [""]
    fitted = _fitted(spec)
    if fitted:
        lines += ["| fitted | value | to what |", "|---|---|---|"]
        lines += [f"| `{key}` | {value} | {source} |" for key, value, source in fitted]
    return "\n".join(lines).rstrip() + "\n"


def _fitted(spec: Spec) -> list[tuple[str, str, str]]:
    """Key, value and source of each fitted value."""
    values = written(spec.values())
    rows = [row for row in values if row["origin"] == "fitted"]
    return [(row["key"], row["value"], row["source"]) for row in rows]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


if __name__ == "__main__":
    PAGE.write_text(page())
