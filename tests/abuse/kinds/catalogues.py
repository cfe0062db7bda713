"""Folders that `FLASHTWIN_CATALOGUE` adds, whose `published.toml` means harm."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mutate import of_bytes
from sandbox import Sandbox, program

_DRIVE = 'schema = 1\nid = "mine"\nname = "Mine"\nextends = "bx500-240"\n'
_HEAD = '[sources]\nreview = "A review, 2026"\n[[drive]]\nid = "mine"\nsource = "review"\n'
_ROW = (
    '[[outcome]]\ndrive = "mine"\ntest = "fill"\nmetric = "speed"\nvalue = 450\n'
    'unit = "MB/s"\ntolerance = 0.05\nconditions = { state = "published: erased" }\n'
)
_VALUES = (
    *("[]", "{}", "true", "nan", "-inf", "1e999", "-1e15", "2001-01-01", '""', '"\\u001b[31m"'),
    *("9" * 5000, "0x" + "f" * 5000, "[" * 3000 + "]" * 3000, '"' + "a" * 20_000 + '"'),
)


def added(arguments: Sequence[str]) -> object:
    """The program with the folder added to the catalogue."""
    os.environ["FLASHTWIN_CATALOGUE"] = "added"
    return program(arguments)


def case(box: Sandbox) -> None:
    """One file, and a command that reads it."""
    (box.inside / "added").mkdir()
    box.write("added/mine.toml", _DRIVE)
    box.write("added/published.toml", _text(box))
    words = (
        ("check", "--catalogue", "added"),
        ("drives",),
        ("drives", "--json"),
        ("show", "mine"),
    )
    box.call(*box.rng.choice(words), work=added)


def _text(box: Sandbox) -> bytes:
    rng, text = box.rng, _HEAD + _ROW
    match rng.randrange(5):
        case 0:
            return of_bytes(rng, text.encode())
        case 1:
            lines = text.splitlines()
            at = rng.choice([n for n, line in enumerate(lines) if " = " in line])
            lines[at] = f"{lines[at].split(' = ')[0]} = {rng.choice(_VALUES)}"
            return "\n".join(lines).encode()
        case 2:
            return (text + ".".join("a" * rng.choice((60, 900, 20_000))) + " = 1\n").encode()
        case 3:
            return (_HEAD + _ROW * rng.choice((500, 10_001, 30_000))).encode()
        case _:
            rows = "".join(f'[[drive]]\nid = "d{n}"\nsource = "x"\n' for n in range(9000))
            return (_HEAD + rows + _ROW.replace("mine", "d8999") * 9000).encode()
