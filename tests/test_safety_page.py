"""docs/concepts/safety.md: each promise has a test, and each test that it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "concepts" / "safety.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows() -> list[tuple[str, str]]:
    """Promise and tests of every row of the page's tables."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(promise, tests) for promise, tests in cells if promise != "promise"]


def test_every_promise_names_a_test() -> None:
    assert len(rows()) > 20
    assert [promise for promise, tests in rows() if not NAMED.findall(tests)] == []


def test_every_named_test_exists() -> None:
    named = [one for _, tests in rows() for one in NAMED.findall(tests)]
    there = {
        (file, node.name)
        for file in {file for file, _ in named}
        if (ROOT / file).is_file()
        for node in ast.parse((ROOT / file).read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    assert [f"{file}::{name}" for file, name in named if (file, name) not in there] == []
