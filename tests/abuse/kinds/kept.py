"""Kept drives that somebody altered: no result changes, nothing waits, and the damage is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mutate import of_bytes
from sandbox import Sandbox, program

from kinds.prepared import TWIN, contents

_FILL = ("test", *TWIN, "--battery", "fill:patterns=1m-q1,passes=1", "--out", "run")
_MOST_BYTES = 1 << 26


def prepare(folder: Path) -> None:
    """`cache`: the drives of a short run, and `run`: the run itself, with which they were made."""
    code = "import sys; from kinds.kept import cached; cached(sys.argv[1:])"
    words = [sys.executable, "-c", code, *_FILL, "--quiet"]
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path}
    subprocess.run(words, cwd=folder, check=True, capture_output=True, env=environment)


def cached(arguments: Sequence[str]) -> object:
    """The program with the cache beside it, which keeps drives that took no time, too."""
    from flashtwin.drives import snapshots

    os.environ["FLASHTWIN_CACHE"] = "cache"
    snapshots.WORTH_S = 0.0
    return program(arguments)


def case(box: Sandbox) -> None:
    """A run with a cache of which some files are not what was written."""
    shutil.copytree(box.prepared / "cache", box.inside / "cache")
    files = sorted(path for path in (box.inside / "cache").rglob("*") if path.is_file())
    for path in box.rng.sample(files, box.rng.randrange(1, 4)):
        box.rng.choice((_other_bytes, _other_value, _other_node, _of_another))(box, path)
    box.call("cache", work=cached, codes=(0,))
    box.call(*_FILL, work=cached, codes=(0,))
    run = box.inside / "run"
    if (run / "manifest.json").exists() and contents(run) != contents(box.prepared / "run"):
        box.fail("a kept drive that was altered changed a run")
    box.call("cache", "clear", work=cached, codes=(0,))


def _other_bytes(box: Sandbox, path: Path) -> None:
    if path.is_file():
        data = path.read_bytes()
        path.write_bytes(of_bytes(box.rng, data))


def _other_value(box: Sandbox, path: Path) -> None:
    """Another number in JSON text, or text that readers choke on."""
    path = path.with_name(box.rng.choice(("about.json", "result.json")))
    texts = ("[" * 100_000, '{"seed": ' + "9" * 5000 + "}", '{"a": NaN}', "[]", "null", "")
    if box.rng.random() < 0.4 or not path.is_file():
        path.unlink(missing_ok=True)
        path.write_text(box.rng.choice(texts))
        return
    value = _object(path.read_bytes())
    for key in [key for key in value if isinstance(value[key], int)]:
        value[key] = box.rng.choice((0, -1, value[key] // 2, 1 << 70, 1.5))
    path.write_text(json.dumps(value))


def _object(data: bytes) -> dict[str, object]:
    """What a file that another change may have damaged holds."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _other_node(box: Sandbox, path: Path) -> None:
    path.unlink(missing_ok=True)
    match box.rng.randrange(4):
        case 0:
            os.mkfifo(path)
        case 1:
            path.mkdir()
        case 2:
            path.symlink_to(box.canary())
        case _:
            path.symlink_to("/dev/zero")


def _of_another(box: Sandbox, path: Path) -> None:
    """The file of another entry in its place."""
    others = sorted(other for other in path.parent.parent.glob(f"*/{path.name}") if other != path)
    if others and path.is_file():
        other = box.rng.choice(others)
        if other.is_file() and other.stat().st_size < _MOST_BYTES:
            shutil.copyfile(other, path)
