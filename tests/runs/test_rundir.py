"""The run directory: round trip, same bytes, and every way in which one can be broken."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from changed_runs import reseal, rewrite

from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.histogram import BUCKETS
from flashtwin.model.series import COLUMNS, READ, WRITE, Series
from flashtwin.model.step import JobTotals, NotPossible, Result
from flashtwin.runs import frames
from flashtwin.runs.rundir import Run, find_runs
from flashtwin.runs.storage import digest_of
from flashtwin.runs.writer import Writer

TARGET = {"name": "paper", "kind": "twin", "capacity_bytes": 10**9, "identity": {}}
FINDING = Finding(
    battery="fill",
    name="cache_size",
    variant="1m-q1",
    title="cache size",
    value=24.0,
    unit="GB",
    interval=Interval(low=23.5, high=24.5),
    evidence=Evidence(battery="fill", label="fill/1m-q1/pass-1", axis="bytes", start=0.0, end=24e9),
    note="of 240 GB — “dynamic”",
)


def result(label: str, *, rows: int = 4, start_ns: int = 5) -> Result:
    columns = {name: np.arange(rows, dtype=np.int64) + i for i, name in enumerate(COLUMNS)}
    columns["direction"] = np.full(rows, WRITE, dtype=np.int64)
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    counts[[3, 700, BUCKETS - 1]] = [1, 2**40, 7]
    job = JobTotals(
        name="write",
        ios=4,
        bytes=4096,
        duration_ns=10,
        latency_mean_ns=0.1 + 0.2,
        latency_min_ns=1,
        latency_max_ns=9,
        mean_depth=1.5,
    )
    return Result(
        label=label,
        start_ns=start_ns,
        duration_ns=100,
        series=Series(**columns),
        jobs=(job,),
        hist={"write": counts},
        xray={"t_ns": np.array([50, 100]), "host_bytes": np.array([2**40, 2**41])},
        note="as asked",
    )


def write(path: Path) -> Writer:
    writer = Writer(path, {"target": TARGET, "seed": 1}, {"machine": "here"})
    writer.step(battery="fill", label="a", kind="run", answer=result("a"), detail={"sample_s": 1})
    writer.step(battery="fill", label="b", kind="purge", answer=NotPossible(reason="a file"))
    quiet = Result(label="c", start_ns=105, duration_ns=0, series=Series.empty())
    writer.step(battery="cdm", label="c", kind="rest", answer=quiet)
    writer.step(battery="cdm", label="d", kind="run", answer=result("d", rows=2, start_ns=105))
    return writer


def same(one: Result, other: object) -> None:
    assert isinstance(other, Result)
    for name in ("label", "start_ns", "duration_ns", "jobs", "note"):
        assert getattr(one, name) == getattr(other, name)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one.series, name), getattr(other.series, name))
    for mine, theirs in ((one.hist, other.hist), (one.xray, other.xray)):
        assert set(mine) == set(theirs)
        for key, value in mine.items():
            np.testing.assert_array_equal(value, theirs[key])


def test_what_was_written_is_read(tmp_path: Path) -> None:
    run = write(tmp_path / "run").close([FINDING])
    assert run.state == "finished" and run.finished
    assert run.target == TARGET and run.host == {"machine": "here"}
    assert run.manifest["steps"] == [
        {"step": 0, "battery": "fill", "label": "a", "kind": "run"},
        {"step": 1, "battery": "fill", "label": "b", "kind": "purge"},
        {"step": 2, "battery": "cdm", "label": "c", "kind": "rest"},
        {"step": 3, "battery": "cdm", "label": "d", "kind": "run"},
    ]
    assert run.findings == [FINDING]
    same(result("a"), run.result(0))
    assert run.result(1) == NotPossible(reason="a file")
    assert len(run.series(2).t_ns) == 0 and run.xray(2) == {} and run.hist(2) == {}
    same(result("d", rows=2, start_ns=105), run.result(3))
    assert run.steps[0].detail == {"sample_s": 1}
    assert run.step("d") == run.steps[3] and run.step("nowhere") is None
    assert len(run.series(3).only(READ).t_ns) == 0
    assert sorted(at.name for at in run.path.iterdir()) == [
        "findings.json",
        "hist.parquet",
        "host.json",
        "manifest.json",
        "meter.parquet",
        "per_gb.parquet",
        "series.parquet",
        "steps.jsonl",
        "summary.json",
        "xray.parquet",
    ]


def test_the_same_values_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name).close([FINDING]).path for name in ("1", "2"))
    for at in first.iterdir():
        assert at.read_bytes() == (second / at.name).read_bytes(), at.name


def test_a_run_without_any_step_can_be_read(tmp_path: Path) -> None:
    run = Writer(tmp_path / "run", {"target": TARGET}, {}).close([])
    assert run.steps == [] and run.findings == []
    assert frames.rows(run.table("series")) == frames.rows(run.table("hist")) == 0


def test_a_killed_run_keeps_every_step_that_ended(tmp_path: Path) -> None:
    writer = write(tmp_path / "run")
    with (tmp_path / "run" / "steps.jsonl").open("ab") as journal:
        journal.write(b'{"step":4,"battery":"fi')
    with (tmp_path / "run" / "steps.tables").open("ab") as tables:
        tables.write(b"half a block")
    run = Run(tmp_path / "run")
    assert run.state == "running" and not run.finished
    assert [record.label for record in run.steps] == ["a", "b", "c", "d"]
    same(result("a"), run.result(0))
    same(result("d", rows=2, start_ns=105), run.result(3))
    assert run.findings == []
    assert frames.rows(run.table("series")) == 6
    writer.close([])


def test_the_journal_is_on_disk_as_each_step_ends(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run", {"target": TARGET}, {})
    journal = tmp_path / "run" / "steps.jsonl"
    assert journal.read_bytes() == b""
    for number in range(3):
        answer = result(f"step {number}")
        writer.step(battery="fill", label=answer.label, kind="run", answer=answer)
        lines = journal.read_text().splitlines()
        assert [json.loads(line)["label"] for line in lines] == [
            f"step {n}" for n in range(number + 1)
        ]
    writer.close([])


def test_leaving_by_an_exception_closes_the_run_as_failed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="on purpose"), write(tmp_path / "run"):
        raise RuntimeError("on purpose")
    run = Run(tmp_path / "run")
    assert run.state == "failed"
    same(result("a"), run.result(0))


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FlashtwinError, match="is not empty") as error:
        Writer(tmp_path, {"target": TARGET}, {})
    assert error.value.exit_code == 2 and "--out" in (error.value.hint or "")
    assert [at.name for at in tmp_path.iterdir()] == ["mine.txt"]


def test_a_place_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file, not a directory")
    with pytest.raises(FlashtwinError, match="cannot create") as error:
        Writer(tmp_path / "file" / "run", {"target": TARGET}, {})
    assert error.value.exit_code == 3 and error.value.hint


def test_a_full_disk_is_one_sentence_and_keeps_what_was_finished(tmp_path: Path) -> None:
    """A file-size limit stands for the full disk: the same errors, and no root needed."""
    script = textwrap.dedent(
        """
        import resource, sys
        from pathlib import Path
        from test_rundir import TARGET, result
        from flashtwin.errors import FlashtwinError
        from flashtwin.runs.writer import Writer
        writer = Writer(Path(sys.argv[1]), {"target": TARGET}, {})
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
        try:
            for number in range(100):
                writer.step(battery="x", label=f"s{number}", kind="run", answer=result("r"))
        except FlashtwinError as error:
            print(error.exit_code, error.message, error.hint, sep="|")
            try:
                writer.close([])
            except FlashtwinError as error:
                print("close", error.exit_code)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        env=os.environ
        | {
            "PYTHONPATH": ":".join([str(Path(__file__).parent), *sys.path]),
            # Under the limit Python would leave cut-off .pyc files behind for everybody.
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    code, message, hint = done.stdout.splitlines()[0].split("|")
    assert code == "3" and "steps.jsonl" in message and "--resume" in hint
    run = Run(tmp_path / "run")
    labels = [record.label for record in run.steps]
    assert 5 < len(labels) < 100 and labels == [f"s{n}" for n in range(len(labels))]
    assert len(run.series(len(labels) - 1).t_ns) == 4
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 6000


def spoil(path: Path, how: str) -> None:
    manifest = json.loads((path / "manifest.json").read_text())
    journal = path / "steps.jsonl"
    lines = journal.read_bytes().split(b"\n")
    match how:
        case "no manifest":
            (path / "manifest.json").unlink()
        case "manifest cut":
            (path / "manifest.json").write_text('{"schema": 1,')
        case "manifest list":
            (path / "manifest.json").write_text("[]")
        case "newer":
            (path / "manifest.json").write_text(json.dumps(manifest | {"schema": 9}))
        case "odd schema":
            (path / "manifest.json").write_text(json.dumps(manifest | {"schema": "one"}))
        case "no journal":
            journal.unlink()
        case "journal cut":
            journal.write_bytes(journal.read_bytes()[:-9])
        case "journal line":
            journal.write_bytes(b"\n".join([lines[0], b"{}", *lines[2:]]))
        case "journal order":
            journal.write_bytes(b"\n".join([lines[1], lines[0], *lines[2:]]))
        case "journal types":
            row = json.loads(lines[0]) | {"start_ns": "soon"}
            journal.write_bytes(b"\n".join([json.dumps(row).encode(), *lines[1:]]))
        case "job types":
            row = json.loads(lines[0])
            row["jobs"][0]["bytes"] = None
            journal.write_bytes(b"\n".join([json.dumps(row).encode(), *lines[1:]]))
        case "target" | "batteries":
            (path / "manifest.json").write_text(json.dumps(manifest | {how: 5}))
        case "identity":
            manifest["target"]["identity"] = "x"
            (path / "manifest.json").write_text(json.dumps(manifest))
        case "no series":
            (path / "series.parquet").unlink()
        case "series cut":
            whole = (path / "series.parquet").read_bytes()
            (path / "series.parquet").write_bytes(whole[: len(whole) // 2])
        case "series other":
            shutil.copy(path / "hist.parquet", path / "series.parquet")
        case "series without a digest":
            del manifest["tables"]["series"]
            (path / "manifest.json").write_text(json.dumps(manifest))
        case "no findings":
            (path / "findings.json").unlink()
        case "findings row":
            (path / "findings.json").write_text('{"schema": 1, "findings": [{"id": "x"}]}')
        case "newer findings":
            (path / "findings.json").write_text('{"schema": 9, "findings": []}')


@pytest.mark.parametrize(
    ("how", "message", "exit_code"),
    [
        ("no manifest", "holds no manifest.json", 2),
        ("manifest cut", "manifest.json cannot be read", 2),
        ("manifest list", "holds no JSON object", 2),
        ("newer", "has schema 9; this flashtwin reads 1", 3),
        ("odd schema", "schema 'one' is not a number", 2),
        ("no journal", "steps.jsonl cannot be read as part of a run: the file is missing", 2),
        ("journal cut", "its last line breaks off", 2),
        (
            "journal line",
            "steps.jsonl:2 cannot be read as part of a run: the line is not a step",
            2,
        ),
        ("journal order", "steps.jsonl:1 cannot be read as part of a run: the line is step 1", 2),
        (
            "journal types",
            "steps.jsonl:1 cannot be read as part of a run: the line is not a step",
            2,
        ),
        ("job types", "the line is not a step (jobs.bytes is null, not a whole number)", 2),
        ("target", "its target is not what flashtwin writes", 2),
        ("batteries", "its batteries is not what flashtwin writes", 2),
        ("identity", "its target.identity is not what flashtwin writes", 2),
        ("no series", "series.parquet cannot be read as part of a run: the file is missing", 2),
        ("series cut", "series.parquet cannot be read", 2),
        ("series other", "column t_ns is missing", 2),
        ("series without a digest", "manifest.json cannot be read as part of a run: it has no", 2),
        ("no findings", "findings.json cannot be read", 2),
        ("findings row", "a finding is malformed", 2),
        ("newer findings", "has schema 9", 3),
    ],
)
def test_a_damaged_run_is_one_sentence(
    tmp_path: Path, how: str, message: str, exit_code: int
) -> None:
    path = write(tmp_path / "run").close([FINDING]).path
    spoil(path, how)
    reseal(path)
    with pytest.raises(FlashtwinError) as error:
        run = Run(path)
        _ = (run.manifest, run.steps, run.findings, run.series(0), run.xray(0), run.hist(0))
    assert message in error.value.message and error.value.hint
    assert error.value.exit_code == exit_code


def test_runs_are_found_in_a_directory_or_under_it(tmp_path: Path) -> None:
    write(tmp_path / "both" / "b").close([])
    write(tmp_path / "both" / "a").close([])
    (tmp_path / "both" / "report.html").write_text("")
    assert [run.path.name for run in find_runs(tmp_path / "both")] == ["a", "b"]
    assert [run.path.name for run in find_runs(tmp_path / "both" / "a")] == ["a"]
    write(tmp_path / "single").close([])
    names = [run.path.name for run in find_runs(tmp_path)]
    assert names == ["a", "b", "single"], "runs of several drives lie in a directory of their own"
    (tmp_path / "empty").mkdir()
    for place in ("empty", "nowhere"):
        with pytest.raises(FlashtwinError, match="no run in"):
            find_runs(tmp_path / place)
    with pytest.raises(FlashtwinError, match="no run in"):
        _ = Run(tmp_path / "nowhere").manifest


def test_smart_data_is_kept_before_and_after(tmp_path: Path) -> None:
    writer = write(tmp_path / "run")
    writer.smart("before", {"power_on_time": {"hours": 0}})
    writer.smart("after", {"power_on_time": {"hours": 7}})
    run = writer.close([])
    assert [run.smart(when)["power_on_time"]["hours"] for when in ("before", "after")] == [0, 7]
    assert write(tmp_path / "mute").close([]).smart("after") == {}


def test_a_table_that_is_not_what_was_written_is_not_looked_into(tmp_path: Path) -> None:
    """What has a digest is held against it before anything in it is trusted."""
    run = write(tmp_path / "run").close([FINDING])
    path, rng = run.path / "series.parquet", random.Random(1)
    whole = path.read_bytes()
    for _ in range(50):
        data = bytearray(whole)
        at = rng.randrange(len(data))
        data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        with pytest.raises(
            FlashtwinError, match="its contents are not what flashtwin wrote"
        ) as refused:
            Run(run.path).series(0)
        assert refused.value.exit_code == 2
    path.write_bytes(whole)
    assert len(Run(run.path).series(0).t_ns) == 4


def test_a_damaged_table_whose_digest_is_right_is_one_sentence(tmp_path: Path) -> None:
    """Who means harm writes the digest too; lengths in a file are then anybody's."""
    path = write(tmp_path / "run").close([FINDING]).path / "series.parquet"
    whole, rng, refused = path.read_bytes(), random.Random(2), 0
    for _ in range(400):
        data = bytearray(whole)
        data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.choice((len(data), rng.randrange(len(data))))])
        try:
            table = frames.read(path, "series", digest_of(path.read_bytes()))
            assert len({len(column) for column in table.values()}) == 1
        except FlashtwinError as error:
            refused += "cannot be read as part of a run: " in error.message
    assert refused > 200


def test_a_target_without_a_name_has_that_of_its_directory(tmp_path: Path) -> None:
    path = write(tmp_path / "run").close([FINDING]).path / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["target"]["name"]
    rewrite(path.parent, "manifest.json", manifest)
    assert Run(path.parent).target == {**TARGET, "name": "run"}


def test_a_step_of_an_unfinished_run_is_read_without_the_others(tmp_path: Path) -> None:
    write(tmp_path / "run").close([], state="interrupted")
    last = Run(tmp_path / "run").steps[3].block
    assert last is not None
    with (tmp_path / "run" / "steps.tables").open("r+b") as tables:
        tables.truncate(last.at)
    run = Run(tmp_path / "run")
    first = run.result(0)
    assert isinstance(first, Result) and len(first.series.t_ns) == 4
    assert isinstance(run.result(1), NotPossible)
    with pytest.raises(FlashtwinError, match="the tables of step 3 are missing"):
        run.result(3)
