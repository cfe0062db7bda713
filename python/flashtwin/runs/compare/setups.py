"""What was measured and how: the values in which the set-ups of runs differ.

A run's set-up is what its manifest says (target, spec value by value, seed, batteries with their
parameters, version) and of host.json what does not change from run to run on one machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import field

from flashtwin.model.document import Document
from flashtwin.runs.rundir import Run

# Keys of host.json that differ between any two runs: places and times.
VOLATILE = {"directory", "arguments", "began", "ended", "wall_s", "sessions", "process"} | {
    "memory_needed_bytes",
    "path",
    "file",
}
# Members of a twin's identity that its single values or another row show already.
_SHOWN_ELSEWHERE = {"values", "toml", "spec_toml"}


class Row(Document, frozen=True):
    """A value that differs between runs; none where a run does not have it."""

    section: str
    key: str
    values: tuple[str | None, ...]


class Setups(Document, frozen=True):
    """The rows that differ, and how many values are the same in all runs."""

    rows: tuple[Row, ...] = field(name="differences")
    same: int


def compare(runs: Sequence[Run]) -> Setups:
    """Compare every value of the runs' set-ups."""
    flat = [dict(_values(run)) for run in runs]
    keys = dict.fromkeys(key for values in flat for key in values)
    rows, same = [], 0
    for section, key in keys:
        values = tuple(setup.get((section, key)) for setup in flat)
        if len(set(values)) > 1:
            rows.append(Row(section=section, key=key, values=values))
        else:
            same += 1
    return Setups(rows=tuple(rows), same=same)


_Item = tuple[tuple[str, str], str]


def _values(run: Run) -> Iterator[_Item]:
    manifest, target = run.manifest, run.target
    yield ("run", "state"), run.state
    identity = target.get("identity") or {}
    for key, value in target.items():
        if key != "identity":
            yield ("target", key), _text(value)
    for key, value in identity.items():
        if key not in _SHOWN_ELSEWHERE:
            yield ("target", key), _text(value)
    for row in identity.get("values") or ():
        yield ("spec", str(row["key"])), _text(row.get("value"))
    yield ("run", "seed"), _text(manifest.get("seed"))
    yield ("run", "flashtwin"), _text(manifest.get("flashtwin"))
    yield from _batteries(manifest)
    for key, value in run.host.items():
        if key in VOLATILE:
            continue
        parts = value.items() if isinstance(value, dict) else [(None, value)]
        for part, text in parts:
            yield ("host", key if part is None else f"{key}.{part}"), _text(text)


def _batteries(manifest: Mapping[str, Any]) -> Iterator[_Item]:
    for battery in manifest.get("batteries") or ():
        yield ("battery", str(battery["name"])), "run"
        for key, value in (battery.get("parameters") or {}).items():
            yield ("battery", f"{battery['name']}.{key}"), _text(value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "+".join(value)
    return json.dumps(value, ensure_ascii=False, default=str)
