"""The core of pages: native answers have the known hash, WebAssembly gives the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest
from questions import QUESTIONS, question

from flashtwin import _core
from flashtwin.charts import assets

HASHES = Path(__file__).with_name("hashes.json")
AGAIN = "after a change of results: FLASHTWIN_BLESS=1 .venv/bin/python -m pytest tests/play -k hash"


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_have_the_hash_that_they_had(name: str) -> None:
    answer = json.loads(_core.play(question(name)))
    assert "error" not in answer
    known = json.loads(HASHES.read_text()) if HASHES.exists() else {}
    if os.environ.get("FLASHTWIN_BLESS"):
        known = {**known, "model": _core.MODEL, name: answer["hash"]}
        HASHES.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    assert (known.get("model"), known.get(name)) == (_core.MODEL, answer["hash"]), AGAIN


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sets": ["slc_cache.size=1 EB"]}, "slc_cache.size"),
        ({"scale": "1/1000003"}, "1/1000003"),
        ({"steps": [{"fill": {"from": 0, "to": 2}}]}, "no share of a drive"),
        ({"steps": [{"melt": {}}]}, "unknown variant"),
        ({"spec": "schema = 1"}, "id"),
    ],
)
def test_what_cannot_be_answered_gets_a_sentence(change: dict[str, object], words: str) -> None:
    asked = json.loads(question("fill")) | change
    answer = json.loads(_core.play(json.dumps(asked)))
    assert list(answer) == ["error"]
    assert words in answer["error"]


def test_a_question_that_is_no_json_gets_a_sentence() -> None:
    assert "error" in json.loads(_core.play("fill it"))


@pytest.mark.full
@pytest.mark.parametrize("name", QUESTIONS)
def test_node_answers_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    core, asked = tmp_path / "core.wasm", tmp_path / "question.json"
    core.write_bytes(zlib.decompress(assets.CORE.read_bytes(), wbits=31))
    asked.write_text(question(name))
    script = Path(__file__).with_name("core.mjs")
    done = subprocess.run([node, script, core, asked], capture_output=True, text=True, check=True)
    assert done.stdout == _core.play(question(name))
