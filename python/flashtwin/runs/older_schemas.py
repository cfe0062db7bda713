"""What older schemas wrote, as today's has it: the one place that knows their forms.

Until schema 3 a finding's id was all that told its name and variant, and its `low` and `high` said
nothing of what they mean. What follows from an id is read out of it here, and nowhere else. The
tables of a run that is not finished were Parquet files in `parts`, one a step and kind: from schema
3 on the journal's line of a step says which it has and what is in them; before that the series of a
step that was possible is there, and the others may be. What a step repeats stood in its label alone
until steps said it (`Run.repeats`), which not all runs of schema 4 do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flashtwin.runs import frames
from flashtwin.runs.frames import Table, rows
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.storage import damaged, is_there

# The first schema whose findings say in fields what their ids are made of.
TYPED = 4
_CELL = re.compile(r"cdm\.(?P<cell>.+)\.(?P<way>read|write|mix)(?P<aspect>\.latency|\.iops)?")
_LOOP = re.compile(r"(?P<cell>cdm/.+)/\d+")
# Last words of names whose findings stand beside another finding.
_ASPECT = re.compile(r"(?P<name>.+)\.(most|efficiency)")


# What says most about a drive, the first variant of each; and where more or less is better though
# the unit does not say so.
_HEADLINES = {
    "fill": ("cache_size", "speed_cache", "speed_past_cache", "mean"),
    "crystaldiskmark": ("read", "write"),
}
_UNCHANGED = ("battery", "title", "value", "low", "high", "unit", "evidence", "note")
_HEAD_CELLS = ("SEQ1M-Q8T1", "RND4K-Q1T1")
_BETTER = {"cache_size": "higher", "fold_begin": "higher"}


def capabilities(target: Mapping[str, Any]) -> dict[str, bool]:
    """What conclusions need to know of a drive, from a manifest that names only its kind."""
    virtual = bool(target.get("virtual_time", target.get("kind") == "twin"))
    return {"whole_drive": target.get("kind") != "file", "virtual_time": virtual}


def findings(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of an older findings.json in the form of schema 4."""
    converted = [_finding(row) for row in rows]
    first: dict[tuple[str, str], str] = {}
    for row in converted:
        first.setdefault((row["battery"], row["name"]), row["variant"])
    return [{**row, "headline": _is_headline(row, first)} for row in converted]


def _is_headline(row: Mapping[str, Any], first: Mapping[tuple[str, str], str]) -> bool:
    battery, name, variant = row["battery"], row["name"], row["variant"]
    heads = _HEAD_CELLS if battery == "crystaldiskmark" else (first[battery, name],)
    return name in _HEADLINES.get(battery, ()) and variant in heads


def _finding(row: Mapping[str, Any]) -> dict[str, Any]:
    battery = row["battery"]
    unchanged = {key: row.get(key) for key in _UNCHANGED}
    cell = _CELL.fullmatch(row["id"])
    if battery == "crystaldiskmark" and cell:
        way, aspect = cell["way"], cell["aspect"] or ""
        place = {"name": way + aspect, "variant": cell["cell"], "beside": way if aspect else None}
    else:
        stem, _, variant = row["id"].partition("[")
        name = "" if stem == battery else stem.removeprefix(f"{battery}.")
        beside = _ASPECT.fullmatch(name) if battery == "power" else None
        place = {
            "name": name,
            "variant": variant.removesuffix("]"),
            "beside": beside and beside["name"],
        }
    better = _BETTER.get(str(place["name"]).rpartition(".")[2])
    better = "lower" if battery == "waf" else better
    return {**unchanged, **place, "means": _means(row), "better": better}


def _means(row: Mapping[str, Any]) -> str | None:
    if row.get("low") is None and row.get("high") is None:
        return None
    # A fill that shows no cache: how large a cache could be without showing.
    unseen = row["battery"] == "fill" and row["unit"] == "GB" and row["value"] == 0
    if row["battery"] == "waf" or unseen:
        return "bound"
    return "range" if row["battery"] == "crystaldiskmark" else "estimate"


def repeats(record: StepRecord) -> str:
    """What a step measures once more, where its line does not say so: runs of CrystalDiskMark
    repeat their cell."""
    loop = _LOOP.fullmatch(record.label)
    return loop["cell"] if loop else record.label


def joined(run: Path, name: str, records: Iterable[StepRecord]) -> Table:
    """The tables of the journal's steps as one, without those of a step that never ended."""
    tables: list[Table] = []
    for record in records:
        place = run / "parts" / f"{record.step:05}.{name}.parquet"
        digests = record.tables
        if digests is None:
            needed = name == "series" and record.not_possible is None
            if not (needed or is_there(place)):
                continue
        elif name not in digests:
            continue
        table = frames.read(place, name, None if digests is None else digests[name])
        if tables and rows(table) and table.keys() != tables[0].keys():
            raise damaged(place, "its columns are not those of the steps before")
        tables += [table] if rows(table) else []
    return frames.join(name, tables)
