"""Habits of wording that make a sentence be read twice, counted by room: downwards only.

`habits.toml` has the counts that a room may have. One that has fewer now writes them down with
FLASHTWIN_BLESS=1, and no room may have more again.
"""

from __future__ import annotations

import io
import os
import re
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COUNTS = Path(__file__).with_name("habits.toml")
SO_MANY = re.compile(r"\bso (many|much|long)\b", re.I)
PYTHON = [
    *(path for path in sorted((ROOT / "python" / "flashtwin").iterdir()) if path.is_dir()),
    *(ROOT / name for name in ("lab", "tests", "fuzz")),
]
RUST = sorted((ROOT / "crates").iterdir())


def words_of(path: Path) -> tuple[list[str], list[str]]:
    """The comments and the docstrings of a file."""
    text = path.read_text()
    if path.suffix == ".rs":
        lines = [line.strip() for line in text.splitlines()]
        docs = [re.sub(r"^//[/!] ?", "", line) for line in lines if re.match(r"//[/!]", line)]
        return [line[2:].strip() for line in lines if re.match(r"//[^/!]", line)], docs
    comments, docs = [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append(token.string[1:].strip())
        elif token.type == tokenize.STRING and token.string.startswith('"""'):
            docs.append(token.string[3:-3].strip())
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
        count["what_whether"] += sum(text.startswith(("What", "Whether")) for text in comments)
    return dict(count)


def test_rooms_lose_habits_and_gain_none() -> None:
    now = {str(room.relative_to(ROOT)): counted(room) for room in (*PYTHON, *RUST) if room.is_dir()}
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
