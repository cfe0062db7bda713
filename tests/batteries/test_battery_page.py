"""docs/reference/batteries.md is made of the batteries: FLASHTWIN_BLESS=1 writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

from flashtwin.batteries.base import groups, registry
from flashtwin.batteries.base.registry import Battery

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "batteries.md"
TRUST = {"S": "the original's source", "P": "public descriptions", "M": "general knowledge"}
HEAD = """# Batteries

Made of the code (`FLASHTWIN_BLESS=1 pytest tests/batteries/test_battery_page.py`). Each battery
says clause by clause what its original does, who tells it, and what is done here where that is
something else. Trust: S, read in the tool's source; P, a public page or manual; M, general
knowledge, so that the battery is like it and not equal to it. `flashtwin batteries NAME --on
TARGET` says what one takes there, and `flashtwin explain` what a finding means.
"""


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', ' ') for cell in row)} |" for row in lines)


def of_battery(battery: Battery) -> list[str]:
    parts = [f"## {battery.name}", f"{battery.title}. Known from {TRUST[battery.trust]}."]
    clauses = [[row.says, row.source, row.here or "the same"] for row in battery.follows]
    if clauses:
        parts.append(table(["the original", "known from", "here"], clauses))
    rows = [[f"`{row.name}`", f"`{row.default}`", row.type, row.meaning] for row in battery.rows()]
    if rows:
        parts.append(table(["parameter", "default", "type", "meaning"], rows))
    presets = [
        [f"`{name}`", f"`{','.join(f'{key}={value}' for key, value in values.items())}`"]
        for name, values in battery.presets.items()
    ]
    if presets:
        parts.append(table(["preset", "sets"], presets))
    meanings = [
        [f"`{meaning.id}`", meaning.title] for meaning in registry.meanings_of(battery.name)
    ]
    if meanings:
        parts.append(table(["finding", "what it is"], meanings))
    return parts


def page() -> str:
    names = [
        [f"`{group.name}`", group.title, group.follows, f"`{' '.join(group.batteries)}`"]
        for group in groups.groups()
    ]
    parts = [HEAD, "## Groups", table(["group", "what it shows", "follows", "batteries"], names)]
    for name in registry.own():
        parts += of_battery(registry.get(name))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def test_the_page_is_that_of_the_code() -> None:
    text = page()
    if os.environ.get("FLASHTWIN_BLESS"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text


def test_every_battery_says_whom_it_follows() -> None:
    for name in set(registry.own()) - {"fio"}:
        assert registry.get(name).follows, name


def test_presets_are_values_that_a_battery_takes() -> None:
    for name in registry.own():
        for preset in registry.get(name).presets:
            (request,) = registry.parse(f"{name}:preset={preset}")
            # One of SNIA's two is the default, and has its name all the same.
            named = preset in ("client", "enterprise")
            assert named or request.plain() != registry.request(name).plain(), (name, preset)
