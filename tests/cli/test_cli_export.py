"""flashtwin export: where it writes, what it says, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from stored_runs import newer, store

from flashtwin.runs.writer import Writer

Run = Callable[..., Result]


def test_by_default_beside_us(run: Run, tmp_path: Path) -> None:
    store(tmp_path / "flashtwin-runs" / "mine")
    done = run("export", "mine", "--format", "csv")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("mine-csv: findings.csv, steps.csv, ")
    assert (tmp_path / "mine-csv" / "series.csv").exists()
    again = run("export", "mine", "--format", "csv")
    assert again.exit_code == 2 and "mine-csv is not empty" in again.stderr


def test_several_runs_get_a_directory_each(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        store(tmp_path / "both" / name)
    done = run("export", "both", "--format", "fio-json", "--out", "json", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0 and told["format"] == "fio-json"
    assert [row["directory"] for row in told["exports"]] == ["json/a", "json/b"]
    assert all(Path(file).exists() for row in told["exports"] for file in row["files"])


def test_an_unfinished_run_is_exported_as_far_as_it_is(run: Run, tmp_path: Path) -> None:
    store(tmp_path / "killed", close=False)
    done = run("export", "killed", "--format", "parquet", "--out", "out")
    assert done.exit_code == 0 and (tmp_path / "out" / "series.parquet").exists()


@pytest.mark.parametrize("form", ["csv", "parquet", "fio-json"])
def test_of_several_all_can_be_read_or_nothing_is_written(
    run: Run, tmp_path: Path, form: str
) -> None:
    for name in ("a", "b"):
        store(tmp_path / "both" / name)
    (tmp_path / "both" / "b" / "hist.parquet").write_bytes(b"")
    done = run("export", "both", "--format", form, "--out", "out")
    assert done.exit_code == 2 and "both/b/hist.parquet cannot be read" in done.stderr
    assert not (tmp_path / "out").exists()


def test_of_several_one_has_no_jobs(run: Run, tmp_path: Path) -> None:
    store(tmp_path / "both" / "a")
    target = {"name": "x", "kind": "twin", "capacity_bytes": 1}
    Writer(tmp_path / "both" / "b", {"target": target}, {}).close([], state="interrupted")
    done = run("export", "both", "--format", "fio-json", "--out", "out")
    assert done.exit_code == 0 and done.stdout.startswith("out/a: 001-fill")
    assert "both/b" in done.stderr and "error" not in done.stderr
    alone = run("export", "both/b", "--format", "fio-json", "--out", "none")
    assert alone.exit_code == 2 and "both/b: no step in which jobs ran" in alone.stderr
    assert "hint: csv and parquet" in alone.stderr and not (tmp_path / "none").exists()
    assert run("export", "both/b", "--format", "csv", "--out", "csv").exit_code == 0


@pytest.mark.parametrize("form", ["csv", "parquet", "fio-json", "openmetrics"])
@pytest.mark.parametrize("left", [(), ("steps.jsonl", "host.json"), ("steps.tables",)])
def test_a_directory_that_holds_no_run_yet(
    run: Run, tmp_path: Path, form: str, left: tuple[str, ...]
) -> None:
    (tmp_path / "r").mkdir()
    for name in left:
        (tmp_path / "r" / name).touch()
    done = run("export", "r", "--format", form)
    assert done.exit_code == 2 and "error: no run in r\nhint: give the directory" in done.stderr
    assert not list(tmp_path.glob("r-*"))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("a",), 2, "--format"),
        (("a", "--format", "xlsx"), 2, "xlsx"),
        (("nowhere", "--format", "csv"), 2, "no run in nowhere"),
        (("newer", "--format", "csv"), 3, "schema 99"),
        (("torn", "--format", "csv"), 2, "hist.parquet"),
    ],
)
def test_bad_input(run: Run, tmp_path: Path, words: tuple[str, ...], code: int, said: str) -> None:
    store(tmp_path / "a")
    newer(tmp_path / "newer")
    store(tmp_path / "torn")
    (tmp_path / "torn" / "hist.parquet").write_bytes(b"")
    done = run("export", *words)
    assert done.exit_code == code and said in done.stderr and done.stdout == ""
    assert not list(tmp_path.glob("*-csv"))
