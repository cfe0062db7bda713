"""The table of all options: by name or alias, and what was probably meant by a name in none.

Invariant: every option that fio 3.33 tells of (`--cmdhelp=all`) has exactly one row, and a name
stands in one row only; `tests/fio` asks fio.
"""

from __future__ import annotations

import difflib
from functools import cache

from flashtwin.fio.language import table_engines, table_output, table_rest, table_stream
from flashtwin.fio.language.option import Option

ROWS: tuple[Option, ...] = (
    *table_stream.ROWS,
    *table_output.ROWS,
    *table_rest.ROWS,
    *table_engines.ROWS,
)


@cache
def by_name() -> dict[str, Option]:
    """Rows by name and by alias."""
    found: dict[str, Option] = {}
    for row in ROWS:
        for name in (row.name, *row.aliases):
            assert name not in found, f"{name} stands in two rows"
            found[name] = row
    return found


def find(name: str) -> Option | None:
    """The row of an option, also by its alias."""
    return by_name().get(name)


def meant(name: str) -> str | None:
    """A hint for a name that fio does not know."""
    if name.lower() in by_name():
        return f"fio's options are in small letters: {name.lower()}"
    plain = name.replace("-", "_").lower()
    near = difflib.get_close_matches(plain, list(by_name()), n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else "fio 3.33 has no such option: fio --cmdhelp=all"
