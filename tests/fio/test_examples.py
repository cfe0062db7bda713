"""The job files under examples/: fio takes them, a twin runs them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from real_fio import accepts

from flashtwin.cli.app import app

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "fio").glob("*.fio"))
SMALL = ("--on", "bx500-240", "--scale", "1/16")


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_fio_and_a_twin_read_it(path: Path, tmp_path: Path) -> None:
    taken, said = accepts(path.read_text(), tmp_path)
    assert taken, said
    done = CliRunner().invoke(app, ["fio", str(path), *SMALL, "--parse-only"])
    assert done.exit_code == 0, done.output


@pytest.mark.full
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_twin_runs_it(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["fio", str(path), *SMALL, "--output-format=json"])
    assert done.exit_code == 0, done.output
    jobs = json.loads(done.stdout)["jobs"]
    assert jobs and all(job["read"]["total_ios"] + job["write"]["total_ios"] > 0 for job in jobs)
