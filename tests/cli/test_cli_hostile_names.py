"""Names that nobody of us chose: they are shown, and do nothing to a terminal or a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from stored_runs import finding, store

from flashtwin import outputs
from flashtwin.cli import terminal
from flashtwin.cli.app import app

Run = Callable[..., Result]

TITLE, CLEAR, TURN, C1 = "\x1b]0;mine\x07", "\x1b[2J", "\u202eevil", "\x9b31m"
NAME = f"ssd{TITLE}{CLEAR}{TURN}{C1}"
ACTIVE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LABEL = ("--capacity", "240 GB", "--interface", "sata", "--cell", "tlc", "--dram", "yes")


@pytest.fixture(name="run")
def real(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The command line beside a spec and a run with hostile names."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    assert call("new", "mine", *LABEL).exit_code == 0
    spec = tmp_path / "mine.toml"
    told = json.dumps(NAME).replace("\x9b", "\\u009b")
    spec.write_text(re.sub(r"(?m)^name = .*$", lambda _: f"name = {told}", spec.read_text()))
    hostile = [finding(f"fill.{NAME}[x]", 24.0, note=NAME), finding("=1+1", -5.0)]
    store(tmp_path / "run", findings=hostile)
    store(tmp_path / "other", findings=hostile, seed=2)
    return call


@pytest.mark.parametrize(
    "words",
    [
        ("show", "mine.toml"),
        ("check", "mine.toml"),
        ("diff", "mine.toml", "bx500-240"),
        ("runs",),
        ("runs", "show", "run"),
        ("compare", "run", "other", "--all"),
        ("show", NAME),
        ("report", NAME),
        ("explain", NAME),
        ("runs", "--where", f"name = '{NAME}"),
        ("fio", f"--name={NAME}", "--rw=read", "--size=1m", "--on", "mine.toml"),
        ("fio", f"--name={NAME}", "--rw=read", "--size=1m", "--on", "mine.toml", "--minimal"),
        ("fio", "--name=a", f"--{NAME}=1", "--on", "mine.toml"),
        ("export", "run", "--format", "csv", "--out", NAME.replace("/", "")),
    ],
    ids=lambda words: " ".join(words).replace(NAME, "NAME"),
)
def test_nothing_that_is_shown_moves_the_terminal(words: tuple[str, ...], run: Run) -> None:
    done = run(*words)
    assert "Traceback" not in done.output and done.exit_code in (0, 1, 2, 3, 4), done.output
    assert not ACTIVE.search(done.stdout) and not ACTIVE.search(done.stderr), done.output
    assert done.stdout or done.stderr


def test_json_means_what_it_meant(run: Run) -> None:
    done = run("runs", "show", "run", "--json")
    assert NAME in done.stdout.encode().decode("unicode_escape")
    assert NAME in json.dumps(json.loads(done.stdout)).encode().decode("unicode_escape")
    words = ("--rw=read", "--size=1m", "--on", "bx500-240", "--output-format=json")
    name = f"ssd{TURN}{C1}"
    answer = json.loads(run("fio", f"--name={name}", *words).stdout)
    assert answer["jobs"][0]["jobname"] == name


def test_a_job_s_name_is_text_without_controls(run: Run) -> None:
    words = ("--rw=read", "--size=1m", "--on", "bx500-240")
    for name, said, hint in (
        (f"a{CLEAR}", "the control character", "take it out"),
        ("a\udcff", "this is not text in UTF-8", "type it in UTF-8"),
    ):
        done = run("fio", f"--name={name}", *words)
        assert done.exit_code == 2 and said in done.stderr and f"hint: {hint}" in done.stderr


def test_half_a_character_is_shown_and_valid_json(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_json({"name": "a\udc80"})
    terminal.note("a\udc80")
    said = capsys.readouterr()
    assert json.loads(said.out) == {"name": "a\udc80"} and said.err == "a\\udc80\n"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("-5", "-5"),
        ("+5.0e-3", "+5.0e-3"),
        ("-7%", "-7%"),
        ("plain = text", "plain = text"),
        ("", ""),
    ],
)
def test_no_cell_is_a_formula(text: str, cell: str) -> None:
    assert outputs.csv_cell(text) == cell


def test_the_csv_of_an_export_has_no_formula(run: Run, tmp_path: Path) -> None:
    assert run("export", "run", "--format", "csv", "--out", "csv").exit_code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "csv" / "findings.csv").read_text())))
    assert {row["id"]: row["value"] for row in rows}["'=1+1"] == "-5.0"
