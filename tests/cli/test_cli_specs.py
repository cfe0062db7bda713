"""`flashtwin diff` and `--scale` on the catalogue's own specs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from program import PROGRAM, environment, flashtwin

from flashtwin import _core
from flashtwin.catalogue.loader import load
from flashtwin.model.units import readable_size

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
    assert shown["memory_bytes"] == load("bx500-240", scale="1/16").memory_bytes
    assert (values["nand.wordlines_per_block"], values["nand.blocks_per_plane"]) == ("44", "496")


def test_what_a_drive_takes_of_memory_is_told(tmp_path: Path) -> None:
    shown = flashtwin("show", "bx500-240", "--scale", "1/16", "-v", cwd=tmp_path).stdout
    takes = readable_size(load("bx500-240", scale="1/16").memory_bytes, 3)
    assert f"takes {takes} of memory to simulate" in shown
    words = ("--scale", "1/16", "--battery", "fill:patterns=1m-q1,passes=1")
    done = flashtwin("test", "bx500-240", *words, "--json", cwd=tmp_path)
    (run,) = json.loads(done.stdout)["runs"]
    assert run["memory_bytes"] > load("bx500-240", scale="1/16").memory_bytes
    assert f"{readable_size(run['memory_bytes'], 3)} of memory" in done.stderr


def test_a_scale_that_cannot_be_had_names_the_nearest(tmp_path: Path) -> None:
    done = flashtwin("check", "bx500-240", "--scale", "1/7", cwd=tmp_path)
    assert done.returncode == 2
    assert "1/7 cannot be had" in done.stderr
    assert "hint: try --scale 1/4" in done.stderr


def test_check_warns_of_what_is_allowed_and_hardly_meant(tmp_path: Path) -> None:
    words = ("check", "bx500-240", "--set", "gc.low=4", "--set", "gc.high=4")
    done = flashtwin(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: gc.low and gc.high are both 4")
    answer = json.loads(flashtwin(*words, "--json", cwd=tmp_path).stdout)
    assert answer["ok"] and len(answer["warnings"]) == 1


LABEL = ("--capacity", "1 TB", "--interface", "pcie3", "--cell", "tlc", "--dram", "hmb")


def test_a_label_makes_a_drive_that_says_what_it_does_not_know(tmp_path: Path) -> None:
    done = flashtwin("new", "mine", *LABEL, "--dies", "16", cwd=tmp_path)
    assert (done.returncode, done.stdout.partition(":")[0]) == (0, "mine.toml")
    shown = json.loads(flashtwin("show", "mine.toml", "--json", cwd=tmp_path).stdout)
    rows = {row["key"]: row for row in shown["values"]}
    assert shown["capacity_bytes"] == 10**12
    assert rows["drive.capacity"]["origin"] == "datasheet"
    assert rows["map.residency"]["value"] == "hmb"
    assert rows["nand.native.tprog"]["origin"] == "prior"
    dies = int(rows["nand.channels"]["value"]) * int(rows["nand.dies_per_channel"]["value"])
    assert dies == 16


def test_new_never_writes_over_a_file_unasked(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("precious")
    done = flashtwin("new", "mine", *LABEL, cwd=tmp_path)
    assert done.returncode == 2
    assert "mine.toml is there already" in done.stderr
    assert (tmp_path / "mine.toml").read_text() == "precious"
    assert flashtwin("new", "mine", *LABEL, "--force", cwd=tmp_path).returncode == 0


def test_a_full_disk_leaves_no_half_of_a_spec(tmp_path: Path) -> None:
    """With --force what was there stays; without, nothing is in the way of the next try."""
    (tmp_path / "mine.toml").write_text("precious")
    for name in ("mine", "other"):
        done = subprocess.run(
            ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *PROGRAM, "new", name, *LABEL, "--force"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(PYTHONDONTWRITEBYTECODE="1"),
            check=False,
        )
        assert (done.returncode, done.stdout) == (3, ""), done.stderr
        assert f"cannot write {name}.toml: File too large" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    assert (tmp_path / "mine.toml").read_text() == "precious"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mine"], "--capacity is missing"),
        (["Mine!", *LABEL], "make an id"),
        (["mine", *LABEL, "--interface", "sata"], "no host memory buffer"),
        (["mine", *LABEL, "--dies", "0"], "0 dies"),
        (["mine", *LABEL, "--capacity", "12"], "12 bytes are no drive's capacity"),
        (["mine", *LABEL, "--capacity", "900000 TB"], "bytes are no drive's capacity"),
        (["mine", *LABEL, "--out", "mine.txt"], "does not end in .toml"),
        (["mine", *LABEL, "--out", "no/where.toml"], "cannot write"),
    ],
)
def test_what_new_refuses(tmp_path: Path, words: list[str], message: str) -> None:
    done = flashtwin("new", *words, cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert done.stdout == ""
    assert message in done.stderr
    assert list(tmp_path.glob("*.toml")) == []


@pytest.mark.parametrize("dram", ["hmb", "none", "yes"])
def test_the_drive_of_the_readme_can_be_had_smaller(tmp_path: Path, dram: str) -> None:
    """README: `flashtwin new mine …`, then `flashtwin test mine.toml --scale 1/16`."""
    label = ("--capacity", "1 TB", "--interface", "pcie3", "--cell", "qlc", "--dram", dram)
    assert flashtwin("new", "mine", *label, cwd=tmp_path).returncode == 0
    done = flashtwin("check", "mine.toml", "--scale", "1/16", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_turned_off_with_a_mechanism_is_told(tmp_path: Path) -> None:
    words = ("bx500-240", "--set", "slc_cache.mode=none")
    shown = flashtwin("show", *words, cwd=tmp_path)
    note = (
        "slc_cache.mode = none also turns off slc_cache.size (24 GB), slc_cache.when_full (staged)"
    )
    assert shown.returncode == 0 and f"note: {note}" in " ".join(shown.stdout.split())
    fill = ("--scale", "1/64", "--battery", "fill:patterns=1m-q1,passes=1,idle_s=0", "--no-report")
    tested = flashtwin("test", *words, *fill, "--json", "--out", "r", cwd=tmp_path)
    assert tested.returncode == 0, tested.stderr
    assert note in " ".join(tested.stderr.split())
    (run,) = json.loads(tested.stdout)["runs"]
    # One speed over the whole drive: no plateau of a cache before it.
    seen = {finding["id"]: finding["value"] for finding in run["findings"]}
    cache = [value for name, value in seen.items() if name.startswith("fill.cache_size")]
    assert cache and not any(cache), seen
