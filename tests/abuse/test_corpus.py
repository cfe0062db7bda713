"""The corpora of the readers in Python, replayed: an input that broke something stays mended."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parent.parent.parent / "fuzz"
TARGETS = runpy.run_path(str(FUZZ / "readers" / "targets.py"))["TARGETS"]
# How many inputs of each have to be right, or the corpus tests refusals alone.
RIGHT = {"jobfile": 4, "run": 4, "journal": 2}


@pytest.mark.parametrize("target", TARGETS)
def test_every_input_of_the_corpus_is_read_or_refused(target: str) -> None:
    right = 0
    for path in sorted((FUZZ / "corpus" / target).iterdir()):
        print(path)
        right += TARGETS[target](path.read_bytes())
    assert right >= RIGHT[target]
