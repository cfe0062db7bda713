"""Damaged runs: each command that reads runs answers, or says what is wrong with them."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import mutate
from damage import read_case, resume_case
from sandbox import Sandbox

from kinds.prepared import differences

_READERS: tuple[tuple[str, ...], ...] = (
    ("runs", "show", "run"),
    ("runs", "show", "run", "--json"),
    ("runs", "list", "."),
    ("runs", "list", ".", "--json"),
    ("runs", "list", ".", "--where", "seed > 0"),
    ("runs", "prune", ".", "--dry-run"),
    ("report", "run"),
    ("report", "run", "--json"),
    ("compare", "run", "whole"),
    ("compare", "whole", "run", "--json"),
    ("export", "run", "--format", "csv", "--out", "a"),
    ("export", "run", "--format", "parquet", "--out", "b"),
    ("export", "run", "--format", "fio-json", "--out", "c"),
    ("fio", "--convert", "run"),
    ("test", "--resume", "run"),
)


def case(box: Sandbox) -> None:
    """A finished run, damaged, and some of the commands, or all readers at once."""
    if box.rng.random() < 0.2:
        box.call("runs", work=lambda arguments: read_case(box.seed))
        return
    shutil.copytree(box.prepared / _of_twin_or_file(box, 0.2, "run"), box.inside / "run")
    os.symlink(box.prepared / "run", box.inside / "whole")
    damage(box.rng, box.inside / "run")
    for words in box.rng.sample(_READERS, box.rng.choice((1, 1, 2))):
        box.call(*words)


def resumed(box: Sandbox) -> None:
    """A run that was stopped, damaged, and gone on with: equal, and it is said."""
    if box.rng.random() < 0.6:
        box.call("test", "--resume", work=lambda arguments: resume_case(box.seed))
        return
    name = _of_twin_or_file(box, 0.1, box.rng.choice(("early", "late")))
    shutil.copytree(box.prepared / name, box.inside / "run")
    damage(box.rng, box.inside / "run")
    if name == "file":
        return _resumed_on_a_file(box)
    ended = box.call("test", "--resume", "run", "--quiet")
    wrong = differences(box.inside / "run", box.prepared / "run") if ended.code == 0 else ""
    if wrong and not ended.stderr.strip():
        box.fail(f"a damaged run was gone on with in silence and differs in {wrong}")


def _of_twin_or_file(box: Sandbox, share: float, twin: str) -> str:
    """Which prepared run a case is of."""
    return "file" if box.rng.random() < share and (box.prepared / "file").exists() else twin


def _resumed_on_a_file(box: Sandbox) -> None:
    """What was measured of a file is kept as it was or missed aloud, and the file goes.

    --quiet leaves the note on missing steps to host.json, which the report shows.
    """
    ended = box.call("test", "--resume", "run", "--quiet")
    if (box.inside / "probe.bin").exists():
        box.fail("a run that was gone on with left its file")
    if ended.code != 0 or ended.stderr.strip():
        return
    before = (box.prepared / "file" / "steps.jsonl").read_bytes()
    kept = (box.inside / "run" / "steps.jsonl").read_bytes().startswith(before)
    if not kept and not json.loads((box.inside / "run" / "host.json").read_bytes()).get("redone"):
        box.fail("a damaged run on a file was gone on with in silence, and its steps differ")


def damage(rng: random.Random, run: Path) -> None:
    """Change a file, take it away, or put something else in its place."""
    files = sorted(path for path in run.rglob("*") if path.is_file())
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        # What is a folder or a pipe by now, or a link to somewhere, is left at that.
        path = rng.choice([one for one in files if _is_file(one)] or [run / "new"])
        draw = rng.random()
        data = path.read_bytes() if path.exists() else b""
        if draw < 0.35:
            path.write_bytes(mutate.of_bytes(rng, data))
        elif draw < 0.7 and path.suffix in (".json", ".jsonl"):
            text = data.decode("utf-8", "surrogateescape")
            changed = rng.choice((mutate.of_numbers, mutate.of_lines))(rng, text)
            path.write_bytes(changed.encode("utf-8", "surrogateescape"))
        else:
            _replace(rng, path, files)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _replace(rng: random.Random, path: Path, files: list[Path]) -> None:
    path.unlink(missing_ok=True)
    kind = rng.randrange(7)
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        path.symlink_to(rng.choice(("/dev/zero", "/dev/full", "nowhere", path.name, "/")))
    elif kind == 3:
        other = rng.choice(files)
        path.write_bytes(other.read_bytes() if _is_file(other) else b"")
    elif kind == 4:
        path.write_bytes(b"")
    elif kind == 5:
        path.write_bytes(
            rng.choice((b"[" * 10**5, b'{"a":' * 10**4, b"NaN", b'"\\ud800"', b"[1e999]"))
        )
