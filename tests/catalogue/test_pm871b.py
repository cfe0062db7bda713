"""The PM871b's experiment: how much cache an overwritten file takes follows from the superblock.

A superblock of the cache is used again when nothing in it is valid, and nothing is copied to get
there. A file that is written five times over keeps the ends that it shares with its neighbours, a
superblock in all: a cache of C takes C / (file + superblock) files.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from thinning import thinned

import flashtwin as ft

CACHE, FILE = 1208e6, 100e6


@pytest.mark.parametrize(("wordlines", "blocks"), thinned([(128, 2730), (512, 682)], every=2))
def test_overwritten_files_take_a_superblock_more_each(
    tmp_path: Path, wordlines: int, blocks: int
) -> None:
    run = ft.test(
        "pm871b-128",
        battery="niobench:preset=repeats,iterations=14",
        sets={"nand.wordlines_per_block": wordlines, "nand.blocks_per_plane": blocks},
        out=tmp_path / "run",
        report=False,
    )
    superblock = wordlines * 16384 * 2 * 4
    expected = CACHE / (FILE + superblock) * FILE / 1e6
    assert run.findings["niobench.cache"].value == pytest.approx(expected, rel=0.03)
