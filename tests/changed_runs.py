"""A run that somebody changed by hand, with checks and digests that are right again.

What tests change in a run is seen as damage at once; what they want to know is often what would
happen if flashtwin, or somebody who means harm, had written it so.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from flashtwin.runs import journal
from flashtwin.runs.rundir import FINDINGS, HOST, MANIFEST, seal_of
from flashtwin.runs.storage import digest_of, sealed_bytes

JOURNAL = "steps.jsonl"


def reseal(run: Path) -> None:
    """Make every check of a run directory right; what is no JSON object stays as it is."""
    manifest = _object((run / MANIFEST).read_bytes()) if (run / MANIFEST).is_file() else None
    if manifest is None:
        return
    manifest.pop("check", None)
    try:
        origin = journal.origin_of(manifest)
    except ValueError:
        return
    _chain(run / JOURNAL, origin)
    for name in (FINDINGS, HOST, "smart/before.json", "smart/after.json"):
        _seal(run / name, seal_of(name, origin))
    for kind, end in (("files", ""), ("tables", ".parquet")):
        told = manifest.get(kind)
        for name in told if isinstance(told, dict) else ():
            if (run / f"{name}{end}").is_file() and (run / f"{name}{end}").stat().st_size < 1 << 24:
                told[name] = digest_of((run / f"{name}{end}").read_bytes())
    (run / MANIFEST).write_bytes(sealed_bytes(manifest, MANIFEST))


def rewrite(run: Path, name: str, values: dict[str, Any]) -> None:
    """Another content of a JSON file of a run, as flashtwin would have written it."""
    (run / name).write_text(json.dumps(values))
    reseal(run)


def _chain(path: Path, origin: str) -> None:
    if not path.is_file() or path.stat().st_size > 1 << 24:
        return
    path.write_bytes(chained(path.read_bytes(), origin))


def chained(data: bytes, origin: str) -> bytes:
    """The text of a journal whose lines have the right checks."""
    made, before = [], origin
    *lines, last = data.split(b"\n")
    for line in lines:
        row = _object(line)
        if row is None:
            made.append(line + b"\n")
            continue
        row.pop("check", None)
        body = json.dumps(row, separators=(",", ":"), ensure_ascii=False)[:-1].encode(
            errors="surrogatepass"
        )
        before = digest_of(before.encode() + body)
        made.append(body + b',"check":"' + before.encode() + b'"}\n')
    return b"".join(made) + last


def _seal(path: Path, of: str) -> None:
    if not os.path.isfile(path) or path.stat().st_size > 1 << 24:
        return
    value = _object(path.read_bytes())
    if value is not None:
        try:
            path.write_bytes(sealed_bytes(value, of))
        except ValueError:
            return


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
