"""Habits that make a reader read twice or jump, counted by room: downwards only.

Of wording: phrases in comments and docstrings. Of jumps, in what ships: imports within functions,
dataclasses that are built in one place, private functions of at most four lines with one caller.

`habits.toml` has the counts that a room may have. One that has fewer now writes them down with
FLASHTWIN_BLESS=1, and no room may have more again.
"""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COUNTS = Path(__file__).with_name("habits.toml")
SO_MANY = re.compile(r"\bso (many|much|long)\b", re.I)
WHAT = re.compile(r"(What|Whether)\b")
# Strings and comments of Python: a string without a prefix and of three quotes is a docstring.
STRING_OR_COMMENT = re.compile(
    r"""(?<!\w)\"{3}(?P<docstring>(?:[^\\]|\\.)*?)\"{3}|\"{3}(?:[^\\]|\\.)*?\"{3}"""
    r"""|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#(?P<comment>[^\n]*)""",
    re.S,
)
PYTHON = [
    *(path for path in sorted((ROOT / "python" / "flashtwin").iterdir()) if path.is_dir()),
    *(ROOT / name for name in ("lab", "tests", "fuzz")),
]
# Rooms whose jumps are counted: those that were read for it.
JUMPS = {
    *("api", "catalogue", "charts", "cli", "drives", "fio", "model", "report", "runner", "runs"),
}
RUST = sorted((ROOT / "crates").iterdir())


def words_of(path: Path) -> tuple[list[str], list[str]]:
    """The comments and the docstrings of a file."""
    text = path.read_text()
    if path.suffix == ".rs":
        lines = [line.strip() for line in text.splitlines()]
        docs = [re.sub(r"^//[/!] ?", "", line) for line in lines if re.match(r"//[/!]", line)]
        return [line[2:].strip() for line in lines if re.match(r"//[^/!]", line)], docs
    parts = list(STRING_OR_COMMENT.finditer(text))
    comments = [part["comment"].strip() for part in parts if part["comment"] is not None]
    docs = [part["docstring"].strip() for part in parts if part["docstring"] is not None]
    return comments, docs


def counted(room: Path) -> dict[str, int]:
    """The habits of a room."""
    count: Counter[str] = Counter(so_many=0, the_same=0, what_whether=0)
    paths = sorted(path for ending in ("py", "rs") for path in room.rglob(f"*.{ending}"))
    for path in paths:
        if "target" in path.parts or path == Path(__file__).resolve():
            continue
        comments, docs = words_of(path)
        count["so_many"] += sum(len(SO_MANY.findall(text)) for text in (*comments, *docs))
        count["the_same"] += sum(text.startswith("The same") for text in docs)
        count["what_whether"] += sum(bool(WHAT.match(text)) for text in comments)
    return dict(count)


def jumps(room: Path) -> dict[str, int]:
    """Where a reader of a room has to look elsewhere for little."""
    count: Counter[str] = Counter(inner_imports=0, built_once=0, short_helpers=0)
    for path in sorted(room.rglob("*.py")):
        names = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node, _ in nodes(path)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        for node, within in nodes(path):
            if isinstance(node, ast.Import | ast.ImportFrom):
                count["inner_imports"] += within
            elif isinstance(node, ast.FunctionDef):
                count["short_helpers"] += names[node.name] == 1 and is_short_helper(node)
            elif isinstance(node, ast.ClassDef):
                count["built_once"] += calls()[node.name] == 1 and is_dataclass(node)
    return dict(count)


@cache
def nodes(path: Path) -> list[tuple[ast.AST, bool]]:
    """All nodes of a file but `Load` and its like, each with whether it is within a function."""
    seen: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text()), False)]
    for node, within in seen:
        within = within or isinstance(node, ast.FunctionDef)
        for field in node._fields:
            value = getattr(node, field, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                    seen.append((child, within))
    return seen


def is_short_helper(function: ast.FunctionDef) -> bool:
    """A private function, not one that a decorator hands to others, of at most four lines."""
    private = function.name.startswith("_") and not function.name.startswith("__")
    body = function.body[ast.get_docstring(function) is not None :]
    return (
        private
        and not function.decorator_list
        and bool(body)
        and (body[-1].end_lineno or 0) - body[0].lineno < 4
    )


def is_dataclass(cls: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in cls.decorator_list)


@cache
def calls() -> Counter[str]:
    """How often each name is called in what ships."""
    return Counter(
        node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        for path in (ROOT / "python" / "flashtwin").rglob("*.py")
        for node, _ in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name)
    )


def all_of(room: Path) -> dict[str, int]:
    """Every habit of a room."""
    ships = room.parent == ROOT / "python" / "flashtwin" and room.name in JUMPS
    return {**counted(room), **(jumps(room) if ships else {})}


def test_rooms_lose_habits_and_gain_none() -> None:
    now = {str(room.relative_to(ROOT)): all_of(room) for room in (*PYTHON, *RUST) if room.is_dir()}
    if os.environ.get("FLASHTWIN_BLESS"):
        lines = [
            f'["{room}"]\n' + "".join(f"{habit} = {count}\n" for habit, count in of.items())
            for room, of in now.items()
            if any(of.values())
        ]
        COUNTS.write_text(
            "# What test_habits.py counts, by room; downwards only.\n" + "".join(lines)
        )
    allowed = tomllib.loads(COUNTS.read_text())
    more = [
        f"{room}: {habit} {count}, and {allowed.get(room, {}).get(habit, 0)} were there"
        for room, of in now.items()
        for habit, count in of.items()
        if count > allowed.get(room, {}).get(habit, 0)
    ]
    assert more == []
