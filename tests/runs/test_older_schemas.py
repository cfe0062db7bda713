"""Runs of every schema that was ever written are read; those of the last one are gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fakes import FakeDrive

from flashtwin import report
from flashtwin.errors import FlashtwinError
from flashtwin.runner.run import run_batteries
from flashtwin.runs import listing
from flashtwin.runs.rundir import SCHEMA, Run

GOLDEN = Path(__file__).parents[1] / "golden" / "runs"
SCHEMAS = [str(number) for number in range(1, SCHEMA + 1)]


def test_there_is_a_golden_run_of_every_schema() -> None:
    assert sorted(at.name for at in GOLDEN.iterdir()) == SCHEMAS
    for schema in SCHEMAS:
        for name in ("finished", "interrupted", "killed"):
            assert Run(GOLDEN / schema / name).manifest["schema"] == int(schema)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_finished_run_of_a_twin(schema: str) -> None:
    run = Run(GOLDEN / schema / "finished")
    assert run.finished and run.target["name"] == "bx500-240" and not run.under_way
    found = {one.id: one for one in run.findings}
    assert found["fill.mean[1m-q1]"].value == pytest.approx(110.8, abs=0.1)
    assert found["crystaldiskmark.write[RND4K-Q1T1]"].unit == "MB/s"
    fill = run.step("fill/1m-q1/pass-1")
    assert fill is not None and fill.jobs[0].bytes == int(run.series(fill.step).bytes.sum())
    assert int(run.hist(fill.step)["write"].sum()) == fill.jobs[0].ios
    assert int(run.xray(fill.step)["host_bytes"][-1]) >= fill.jobs[0].bytes
    assert len(run.table("per_gb")["step"]) >= 15
    assert run.smart("after")["power_on_time"]["hours"] >= 0
    assert [step["label"] for step in run.manifest["steps"]] == [one.label for one in run.steps]


@pytest.mark.parametrize("name", ["interrupted", "killed"])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_run_that_was_stopped(schema: str, name: str) -> None:
    run = Run(GOLDEN / schema / name)
    assert run.state == {"interrupted": "interrupted", "killed": "running"}[name]
    assert [one.label for one in run.steps][-1] == "cdm/RND4K-Q1T1/read/warm"
    read = run.step("cdm/SEQ1M-Q1T1/read/1")
    assert read is not None and (read.step, read.jobs[0].ios) == (3, 2574)
    assert int(run.series(read.step).bytes.sum()) == read.jobs[0].bytes == 2574 << 20
    assert int(run.hist(read.step)["read"].sum()) == 2574
    assert int(run.xray(read.step)["host_bytes"][-1]) == 2574 << 20
    seq = [
        "crystaldiskmark.read[SEQ1M-Q1T1]",
        "crystaldiskmark.read.latency[SEQ1M-Q1T1]",
        "crystaldiskmark.read.iops[SEQ1M-Q1T1]",
    ]
    assert [one.id for one in run.findings] == (seq if name == "interrupted" else [])


@pytest.mark.parametrize("name", ["finished", "interrupted", "killed"])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_they_are_listed_and_reported(tmp_path: Path, schema: str, name: str) -> None:
    place = tmp_path / "run"
    shutil.copytree(GOLDEN / schema / name, place)
    (one,) = listing.stored([place])
    assert one.state == ("cut off" if name == "killed" else name)
    page = report.build([Run(place)], tmp_path / "page.html")
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["interrupted", "killed"])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_only_the_last_schema_is_gone_on_with(tmp_path: Path, schema: str, name: str) -> None:
    place = tmp_path / "run"
    shutil.copytree(GOLDEN / schema / name, place)
    if int(schema) < SCHEMA:
        with pytest.raises(FlashtwinError, match="was begun by an older flashtwin") as refused:
            run_batteries(FakeDrive(), None, place)
        assert refused.value.exit_code == 2 and "begin it anew" in str(refused.value.hint)
        assert json.loads((place / "manifest.json").read_text())["schema"] == int(schema)
        return
    try:
        assert run_batteries(FakeDrive(), None, place).finished
    except FlashtwinError as error:
        # A battery may change within a schema; then the journal is of other steps.
        assert "asks for" in error.message
