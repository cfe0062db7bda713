"""Iometer configurations, and runs whose SMART and host data anybody may have written."""

from __future__ import annotations

import json
import shutil
from typing import Any

from changed_runs import reseal
from mutate import ROOT, number, of_bytes, of_lines, of_numbers, text
from sandbox import Sandbox

# A string of its test is a file of Iometer.
_ICF_TEST = ROOT / "tests" / "batteries" / "test_icf.py"
_READERS: tuple[tuple[str, ...], ...] = (
    ("submit", "run", "--twin", "--out", "folder"),
    ("submit", "run", "--twin", "--drive", "A drive", "--out", "folder", "--json"),
    ("runs", "show", "run"),
    ("runs", "show", "run", "--json"),
    ("report", "run"),
    ("conclude", "run"),
    ("runs", "list", ".", "--json"),
)


def icf(box: Sandbox) -> None:
    """A file that was right, changed, and read."""
    content = box.rng.choice(_files())
    for _ in range(box.rng.choice((1, 1, 2, 4))):
        content = box.rng.choice((of_lines, of_numbers))(box.rng, content)
    data = content.encode(errors="replace")
    box.write("x.icf", of_bytes(box.rng, data) if box.rng.random() < 0.3 else data)
    words = ("icf", "x.icf", *box.rng.choice(((), ("--json",), ("--target", text(box.rng)))))
    box.call(*words)


def _files() -> list[str]:
    import ast

    constants = (
        node.value
        for node in ast.walk(ast.parse(_ICF_TEST.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return [value for value in constants if value.startswith("Version") and "\n" in value]


def smart(box: Sandbox) -> None:
    """A run with other values in its SMART data, or in what is known of the host, all of whose
    checks are right."""
    shutil.copytree(box.prepared / "run", box.inside / "run")
    names = ("host.json", "smart/after.json", "smart/before.json")
    path = box.inside / "run" / box.rng.choice(names)
    value = json.loads(path.read_bytes()) if path.is_file() else {}
    for _ in range(box.rng.choice((1, 2, 5))):
        value = _changed(box, value)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value))
    reseal(box.inside / "run")
    for words in box.rng.sample(_READERS, 2):
        box.call(*words)


def _changed(box: Sandbox, value: Any) -> Any:
    """A value with another one somewhere in it."""
    rng = box.rng
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        return {**value, key: _changed(box, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        return [*value[:at], _changed(box, value[at]), *value[at + 1 :]]
    odd = (None, True, [], {}, [[]], -1, 1 << 70, 1e300, {"raw": {"value": "x"}})
    return rng.choice((*odd, text(rng), number(rng), [number(rng)] * 3, box.canary()))
