"""Every command that prints a table fits 80 columns, and on a wide terminal says more."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from msgspec import UNSET
from stored_runs import finding, store, usual

from flashtwin.cli import sweep_run as sweep
from flashtwin.cli.app import COMMANDS
from flashtwin.model.finding import Finding
from flashtwin.study.sweep.grid import axes
from flashtwin.study.sweep.plan import Plan
from flashtwin.study.sweep.run import Row, Sweep
from flashtwin_lab.validation import records
from flashtwin_lab.validation import validate as validate_module
from flashtwin_lab.validation.validate import Validation

Run = Callable[..., Result]
LONG_NAMES = {"one": "bx500-240-nocache", "two": "silicon-power-xd80-2tb"}
# Each prints a table or a page of text; what is measured comes from stored runs.
TABLES = [
    ("drives",),
    ("show", "bx500-240"),
    ("show", "bx500-240", "-v"),
    ("show", "bx500-240", "--all"),
    ("check", "bx500-240"),
    ("diff", "bx500-240", "bx500-240-nocache"),
    ("batteries",),
    ("batteries", "fill"),
    ("batteries", "crystaldiskmark"),
    ("batteries", "fill", "--on", "bx500-240"),
    ("explain",),
    ("explain", "fill.cache_size"),
    ("explain", "fill.cache_size", "--run", "one"),
    ("runs", "."),
    ("runs", "show", "one"),
    ("runs", "show", "one", "-v"),
    ("runs", "show", "one", "--all"),
    ("runs", "prune", ".", "--keep", "0", "--dry-run"),
    ("compare", "one", "two"),
    ("compare", "one", "two", "-v"),
    ("compare", "one", "two", "--all"),
    ("conclude", "one"),
    ("cache",),
]


def scored(scale: float) -> list[Finding]:
    """The cells of CrystalDiskMark and what a fill says, with names as long as they come."""
    cells = ("SEQ1M-Q8T1", "RND4K-Q1T1", "RND4K-Q32T16")
    of_cells = [
        row
        for cell in cells
        for way in ("read", "write", "mix")
        for row in (
            finding(f"crystaldiskmark.{way}[{cell}]", 12345.6 * scale, half=99.0, axis="cell"),
            finding(f"crystaldiskmark.{way}.latency[{cell}]", 15372.0 * scale, "us", axis="cell"),
        )
    ]
    note = "not found: the third plateau is slower (78.6 MB/s from 2.4 GB on), but not to the end"
    later = finding("fill.second_pass.speed_past_cache[128k-q32]", 461.2 * scale, half=0.5)
    return [*usual(24.0 * scale), later, finding("fill.one[1m-q1]", None, note=note), *of_cells]


@pytest.fixture
def stored(tmp_path: Path) -> None:
    """Two runs whose drives have the longest names of the catalogue."""
    for number, (folder, name) in enumerate(LONG_NAMES.items()):
        rates = (461.0,) * 10 + (90.0 + number,) * 10
        store(tmp_path / folder, target=name, findings=scored(1.0 + number), rates=rates)


def widest(done: Result) -> int:
    assert done.exit_code in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    assert lines
    return max(map(len, lines))


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_nothing_is_wider_than_80_columns(
    run: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert widest(run(*words)) <= 80


@pytest.mark.parametrize("columns", [80, pytest.param(140, marks=pytest.mark.full)])
def test_every_published_row_fits(run: Run, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what the shipped records say was found of all drives."""
    rows = tuple(
        row
        for record in records.stored().values()
        if record.sets is UNSET
        for row in records.judged_rows(record)
    )
    shown = Validation(rows=rows, waiting=0, outlived=())
    monkeypatch.setattr(validate_module, "validate", lambda *drives, **options: shown)
    monkeypatch.setenv("COLUMNS", str(columns))
    done = run("validate")
    assert len(rows) > 100
    assert widest(done) <= columns
    assert "34 % ± 15 %" in done.stdout and "fraction" not in done.stdout


def test_a_sweep_with_long_keys_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["slc_cache.size=6GB,24GB", "controller.program_time_row=1us,2us"]
    plan = Plan(drive="bx500-240", batteries="fill", axes=tuple(axes(words)))
    rows = []
    for point in plan.points():
        found = scored(1.0 + point.number)
        run = store(tmp_path / f"{point.number}", findings=found)
        by_id = {one.id: one for one in run.findings}
        rows.append(
            Row(number=point.number, settings=point.settings, run=run, failure=None, findings=by_id)
        )
    swept = Sweep(out=tmp_path, plan=plan, rows=tuple(rows), failures=(), repeated=0)
    monkeypatch.setenv("COLUMNS", "80")
    sweep.print_sweep(swept, tmp_path / "report.html", ())
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if not line.startswith("report:")]
    assert len(table) > len(rows) and max(map(len, table)) <= 80


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_help_of_a_command_fits_but_for_its_examples(
    run: Run, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run(command, "--help").stdout.partition("Examples:")[0]
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.usefixtures("stored")
def test_a_wide_terminal_is_used(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {}
    for columns in ("80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        shown[columns] = {words: run(*words).stdout for words in TABLES}
    compare, runs, drives = ("compare", "one", "two", "-v"), ("runs", "."), ("drives",)
    assert "intervals" not in shown["80"][compare] and "intervals" in shown["200"][compare]
    assert not re.search(r"(GB|MB/s)[ ,]", shown["80"][runs]), "a finding has a line of its own"
    assert "battery" not in shown["80"][runs] and "battery" in shown["200"][runs]
    assert "name" not in shown["80"][drives] and "name" in shown["200"][drives]


@pytest.mark.usefixtures("stored")
def test_ids_and_labels_are_not_broken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = run("drives").stdout
    assert all(f"\n{name} " in listed for name in LONG_NAMES.values())
    assert "crystaldiskmark:profile=real,loops=1,mix=off\n" in run("batteries").stdout
    compared = run("compare", "one", "two", "-v").stdout
    assert "\n  second_pass.speed_past_cache " in compared
    assert "\ncrystaldiskmark RND4K-Q32T16\n" in compared
    footnotes = run("runs", "show", "one", "-v").stdout.split("[2] not found: the")[1].splitlines()
    assert footnotes[0] == " third plateau is slower (78.6 MB/s from 2.4 GB on), but not"
    assert footnotes[1].strip() == "to the end", "a note is wrapped between words"
