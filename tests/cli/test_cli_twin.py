"""The program on true twins: the main job, its sameness, its stop, and what is wrong with specs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from processes import reached
from program import begun, flashtwin

from flashtwin import _core

assert _core.load_spec, "these tests need the compiled part"

SHORT = "crystaldiskmark:profile=real,mix=off,loops=1,size=64MiB"


def contents(run: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name != "host.json"
    }


def test_two_drives_from_words_to_a_report(tmp_path: Path) -> None:
    pair = ["bx500-240", "bx500-240-nocache"]
    done = flashtwin("test", *pair, "--battery", SHORT, "--out", "r", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [run["target"] for run in told["runs"]] == pair
    score = {
        run["target"]: {finding["id"]: finding["value"] for finding in run["findings"]}
        for run in told["runs"]
    }
    write = "crystaldiskmark.write[RND4K-Q1T1]"
    assert score["bx500-240"][write] > 5 * score["bx500-240-nocache"][write]
    page = (tmp_path / "r" / "report.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    manifest = (tmp_path / "r" / "bx500-240" / "manifest.json").read_text()
    assert str(tmp_path) not in manifest
    assert json.loads(manifest)["command"][:4] == ["flashtwin", "test", *pair]


def test_drives_are_prepared_without_time_where_that_is_asked_for(tmp_path: Path) -> None:
    battery = ("--scale", "1/64", "--battery", "waf:fills=50,size=16MiB,settle_s=1")

    def tested(drive: str, way: str, *more: str) -> subprocess.CompletedProcess[str]:
        words = ("test", drive, *battery, "--preparation", way, "--no-report", *more)
        return flashtwin(*words, "--out", way, cwd=tmp_path)

    # Its state depends on time: asked for by name it is refused, left to us it takes its time.
    refused = tested("bx500-240-nocache", "untimed")
    assert refused.returncode == 2 and not (tmp_path / "untimed").exists()
    assert "controller.acknowledge" in refused.stderr and "auto" in refused.stderr
    left = tested("bx500-240-nocache", "auto")
    assert left.returncode == 0 and "prepared in its time" in left.stderr
    done = tested("bx500-240", "untimed", "--set", "map.residency=dram")
    assert done.returncode == 0, done.stderr
    shown = flashtwin("runs", "show", "untimed", "-v", cwd=tmp_path).stdout
    assert "preparation" in shown and "--preparation untimed" in shown


def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    battery = f"fill:patterns=1m-q1,passes=1,{SHORT}"
    for name in "ab":
        words = ("test", "bx500-240", "--scale", "1/64", "--battery", battery, "--quiet")
        done = flashtwin(*words, "--out", name, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    one, other = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert "series.parquet" in one and "xray.parquet" in one
    pages = {name for name in one if name.endswith(".html")}
    assert {name: data for name, data in one.items() if name not in pages} == {
        name: data for name, data in other.items() if name not in pages
    }


@pytest.mark.parametrize(
    "targets",
    [
        ["bx500-240"],
        pytest.param(["bx500-240", "bx500-240-nocache"], marks=pytest.mark.full),
    ],
)
def test_ctrl_c_ends_with_130_and_keeps_what_is_done(tmp_path: Path, targets: list[str]) -> None:
    battery = f"{SHORT},fill:passes=9"
    process = begun("test", *targets, "--battery", battery, "--out", "r", cwd=tmp_path)
    places = [tmp_path / "r" / name for name in targets] if len(targets) > 1 else [tmp_path / "r"]
    _wait_for_a_fill(places, process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, ""), err
    assert "error: interrupted: stopped; what was finished is in r" in err
    assert "Traceback" not in err
    for place in places:
        manifest = json.loads((place / "manifest.json").read_text())
        assert manifest["state"] == "interrupted"
        findings = json.loads((place / "findings.json").read_text())["findings"]
        assert "crystaldiskmark.write[RND4K-Q1T1]" in {finding["id"] for finding in findings}


def _wait_for_a_fill(places: list[Path], process: subprocess.Popen[str]) -> None:
    """Until each run has come to its fills: the journal names the purge before the first."""
    journals = [place / "steps.jsonl" for place in places]
    reached(
        process,
        lambda: all(path.exists() and '"fill/' in path.read_text() for path in journals),
    )


def spec(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "mine.toml"
    head = ["schema = 1", 'id = "mine"', 'name = "Mine"', 'extends = "bx500-240"']
    head += ['origin = "user"', 'source = "a test"']
    path.write_text("\n".join([*head, *lines, ""]))
    return path


def test_a_spec_of_ones_own_is_a_target(tmp_path: Path) -> None:
    spec(tmp_path, "[slc_cache]", 'size = "12 GB"')
    assert flashtwin("check", "mine.toml", cwd=tmp_path).returncode == 0
    shown = json.loads(flashtwin("show", "mine.toml", "--json", cwd=tmp_path).stdout)
    values = {row["key"]: row for row in shown["values"]}
    assert values["slc_cache.size"]["value"] == "12 GB"
    assert values["slc_cache.size"]["origin"] == "user"
    words = ("test", "mine.toml", "--scale", "1/64", "--battery", "fill:patterns=1m-q1,passes=1")
    done = flashtwin(*words, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    found = {finding["id"]: finding["value"] for finding in run["findings"]}
    assert found["fill.cache_size[1m-q1]"] == pytest.approx(12 / 64, rel=0.03)


BAD = {
    "unknown key": (["[nand]", "plains = 4"], "nand.plains"),
    "missing unit": (["[slc_cache]", "size = 24"], "slc_cache.size"),
    "wrong unit": (["[nand.slc]", 'tprog = "404 GB"'], "nand.slc.tprog"),
    "capacity larger than the flash": (["[drive]", 'capacity = "300 GB"'], "drive.capacity"),
    "zero dies": (["[nand]", "dies_per_channel = 0"], "nand.dies_per_channel"),
    "cache larger than the drive": (["[slc_cache]", 'size = "250 GB"'], "slc_cache.size"),
    "contradictory policies": (
        ["[slc_cache]", 'size = "24 GB"', 'mode = "none"'],
        "slc_cache.size",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_spec_says_where_what_and_what_to_change(tmp_path: Path, name: str) -> None:
    lines, key = BAD[name]
    path = spec(tmp_path, *lines)
    done = flashtwin("check", "mine.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    said = done.stderr.splitlines()
    number = 1 + path.read_text().splitlines().index(lines[1])
    where = [line for line in said if line.startswith(f"mine.toml:{number}: {key}")]
    assert where, done.stderr
    assert said[said.index(where[0]) + 1].startswith("hint: ")
    run = flashtwin("test", "mine.toml", "--out", "r", cwd=tmp_path)
    assert run.returncode == 2 and not (tmp_path / "r").exists()
    told = json.loads(flashtwin("check", "mine.toml", "--json", cwd=tmp_path).stdout)
    assert told["ok"] is False and number in [error["line"] for error in told["errors"]]


def test_all_errors_of_a_file_come_at_once(tmp_path: Path) -> None:
    lines = ["[nand]", "plains = 4", "channels = 0", "[slc_cache]", "size = 24", 'odd = "x"']
    spec(tmp_path, *lines)
    done = flashtwin("check", "mine.toml", cwd=tmp_path)
    assert done.returncode == 2
    for key in ("nand.plains", "nand.channels", "slc_cache.size", "slc_cache.odd"):
        assert f": {key}: " in done.stderr
    assert done.stderr.splitlines()[-1] == "error: mine.toml has 4 errors"


def test_a_profile_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = flashtwin("show", "bx500-240", "--firmware", "slc-of", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "slc-off" in done.stderr


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "first-steps.md"


def test_the_spec_of_the_guide_is_right(tmp_path: Path) -> None:
    text = GUIDE.read_text().partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "mine.toml").write_text(text)
    done = flashtwin("check", "mine.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "twice the cache" in done.stdout
