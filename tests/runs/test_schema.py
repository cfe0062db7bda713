"""docs/reference/schemas says what the files of a run hold, and stored runs keep to it."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from flashtwin.runs import schema
from flashtwin.runs.folders import read_plan, write_plan

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reference" / "schemas"
GOLDEN = ROOT / "tests" / "golden" / "runs"
RUNS = sorted(GOLDEN.iterdir())
FILES = {
    "manifest": "manifest.json",
    "findings": "findings.json",
    "host": "host.json",
    "summary": "summary.json",
}


@pytest.mark.parametrize("name", schema.FILES)
def test_the_schemas_are_those_of_the_code(name: str) -> None:
    page, text = PAGES / f"{name}.json", schema.json_schema(name)
    if os.environ.get("FLASHTWIN_BLESS"):
        page.write_text(text)
    assert page.read_text() == text


def test_the_page_names_every_schema_and_no_other() -> None:
    page = (PAGES.parent / "run.md").read_text()
    assert {at.stem for at in PAGES.glob("*.json")} == schema.FILES.keys()
    assert all(f"schemas/{name}.json" in page for name in schema.FILES)


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    page = json.loads((PAGES / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(page)
    return jsonschema.Draft202012Validator(page)


def valid(name: str, value: Any) -> None:
    validator(name).validate(value)


@pytest.mark.parametrize("run", RUNS, ids=lambda at: at.name)
def test_golden_runs_keep_to_them(run: Path) -> None:
    for name, file in FILES.items():
        if (run / file).exists():
            valid(name, json.loads((run / file).read_text()))
    for smart in run.glob("smart/*.json"):
        valid("smart", json.loads(smart.read_text()))
    for line in (run / "steps.jsonl").read_text().split("\n")[:-1]:
        valid("steps", json.loads(line))


def test_a_plan_keeps_to_its_schema(tmp_path: Path) -> None:
    tasks = [
        {
            "place": "a",
            "target": {"kind": "file", "path": "/x", "size_bytes": 1 << 30},
            "batteries": [{"name": "fill", "parameters": {}}],
            "budget_s": None,
        }
    ]
    write_plan(tmp_path, {"seed": 1, "command": ["flashtwin"], "tasks": tasks})
    valid("plan", read_plan(tmp_path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target": None}, "target is null, not an object"),
        ({"seed": 1.5}, "seed is a number, not a whole number"),
        ({"seed": -(1 << 61)}, "seed is less than -1152921504606846976"),
        ({"target": {"capacity_bytes": "1 GB"}}, "target.capacity_bytes is text, not a whole"),
        ({"batteries": [{}]}, "batteries lacks name"),
        ({"tables": {"series": 5}}, "tables is a whole number, not text"),
    ],
)
def test_what_does_not_fit_is_said_in_words(change: dict[str, Any], said: str) -> None:
    with pytest.raises(schema.SchemaError) as refused:
        schema.check({"target": {"name": "x"}, **change}, schema.Manifest)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": "red", "choices": ["green"]}, "value is none of green"),
        ({"value": "red"}, "value is text"),
        ({"means": "about"}, "means is 'about', which is none of its words"),
    ],
)
def test_a_finding_that_is_none(change: dict[str, Any], said: str) -> None:
    row = dict.fromkeys(("battery", "name", "variant", "title", "unit"), "x")
    with pytest.raises(schema.SchemaError, match=said):
        schema.check({"findings": [{**row, **change}]}, schema.Findings)
