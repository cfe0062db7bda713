"""`flashtwin diff` and `--scale` on the catalogue's own specs."""

from __future__ import annotations

import json
from pathlib import Path

from program import flashtwin

from flashtwin import _core

assert _core.load_spec, "these tests need the compiled part"


def test_two_drives_differ_where_their_firmware_does(tmp_path: Path) -> None:
    done = flashtwin("diff", "bx500-240", "bx500-240-nocache", "--json", cwd=tmp_path)
    assert done.returncode == 0
    told = json.loads(done.stdout)
    rows = {row["key"]: row for row in told["differences"]}
    assert (rows["slc_cache.mode"]["first"], rows["slc_cache.mode"]["second"]) == (
        "dynamic",
        "whole-drive",
    )
    assert not any(key.startswith(("nand.", "drive.", "link.")) for key in rows)
    assert told["first"]["hash"] != told["second"]["hash"]
    table = flashtwin("diff", "bx500-240", "bx500-240-nocache", cwd=tmp_path).stdout
    assert "write-through" in table
    assert max(map(len, table.splitlines())) <= 100


def test_a_drive_does_not_differ_from_itself(tmp_path: Path) -> None:
    done = flashtwin("diff", "bx500-240", "bx500-240", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("bx500-240 and bx500-240 are the same drive")


def test_an_unknown_drive_cannot_be_compared(tmp_path: Path) -> None:
    done = flashtwin("diff", "bx500-240", "bx500-241", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean bx500-240" in done.stderr


def test_a_smaller_drive_keeps_its_ratios(tmp_path: Path) -> None:
    shown = json.loads(
        flashtwin("show", "bx500-240", "--scale", "1/16", "--json", cwd=tmp_path).stdout
    )
    values = {row["key"]: row["value"] for row in shown["values"]}
    assert shown["capacity_bytes"] == 15_000_000_000
    assert (values["nand.wordlines_per_block"], values["nand.blocks_per_plane"]) == ("44", "496")


def test_a_scale_that_cannot_be_had_names_the_nearest(tmp_path: Path) -> None:
    done = flashtwin("check", "bx500-240", "--scale", "1/7", cwd=tmp_path)
    assert done.returncode == 2
    assert "1/7 cannot be had" in done.stderr
    assert "hint: try --scale 1/4" in done.stderr
