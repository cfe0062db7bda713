"""flashtwin runs: list, show, prune, their exit codes and what they say of bad input."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import fork_server
import pytest
from click.testing import CliRunner, Result
from processes import children, lives, wait_for
from program import PROGRAM, environment
from stored_runs import newer, store, usual
from thinning import thinned

from flashtwin.cli import runs
from flashtwin.cli.app import app
from flashtwin.runs import query
from flashtwin.runs.folders import write_plan

Run = Callable[..., Result]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The default place, as the command line runs in tmp_path."""
    place = tmp_path / "flashtwin-runs"
    store(place / "old", began="2026-01-03T00:00:00+00:00", findings=usual(cache=20.0))
    store(place / "new", began="2026-01-09T00:00:00+00:00", target="other", seed=2)
    store(place / "both" / "a", began="2026-01-05T00:00:00+00:00", state="interrupted")
    return place


@pytest.fixture
def quick_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judging process is forked and not started; without DuckDB there is none."""
    pytest.importorskip("duckdb")
    monkeypatch.setattr(query, "ask_child", fork_server.judge)


def listed(done: Result) -> list[str]:
    assert done.exit_code == 0, done.stderr
    return [row["path"].removeprefix("flashtwin-runs/") for row in json.loads(done.stdout)["runs"]]


def test_nothing_is_stored(run: Run) -> None:
    done = run("runs")
    assert (done.exit_code, done.stdout) == (0, "0 runs, 0 B\n")
    assert json.loads(run("runs", "--json").stdout) == {"runs": [], "total": 0}


def test_the_list(run: Run, place: Path) -> None:
    done = run("runs")
    lines = done.stdout.splitlines()
    assert done.exit_code == 0 and done.stderr == ""
    assert [line.split()[0] for line in lines[2:5]] == [
        "new",
        "both/a",
        "old",
    ]
    assert "cache_size 24 GB, speed_cache 461 MB/s" in lines[2]
    assert all(word in lines[3] for word in ("interrupted", "fill, crystaldiskmark", "kB"))
    assert lines[5].startswith("3 runs, ")
    assert run("runs", "list").stdout == done.stdout == run("runs", "flashtwin-runs").stdout


def test_on_a_narrow_terminal_a_run_has_a_name_a_date_and_what_was_found(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("runs").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["run", "started", "state", "findings"]
    assert "cache_size 24 GB" in lines[2] and "flashtwin-runs" not in "".join(lines)
    shown = run("runs", "show", lines[2].split()[0])
    assert shown.exit_code == 0, "the name that is listed is one that commands take"


def test_sorting_and_limits(run: Run, place: Path) -> None:
    def order(*more: str) -> list[str]:
        return listed(run("runs", "--json", *more))

    assert order() == ["new", "both/a", "old"]
    assert order("--sort", "time") == ["old", "both/a", "new"]
    assert order("--sort", "cache_size")[0] == "old"
    assert order("--sort", "-target")[0] == "new"
    assert order("--sort", "-seed", "--limit", "1") == ["new"]
    assert run("runs", "--limit", "1").stdout.splitlines()[-1].endswith("1 shown")
    assert json.loads(run("runs", "--json", "--limit", "2").stdout)["total"] == 3
    done = run("runs", "--sort", "cache_sise")
    assert done.exit_code == 2 and "no run has a finding of that name" in done.stderr


def test_conditions(run: Run, place: Path) -> None:
    pytest.importorskip("duckdb")
    assert listed(run("runs", "--json", "--where", "target like 'bx500%'")) == ["both/a", "old"]
    assert listed(run("runs", "--json", "--where", "cache_size < 21")) == ["old"]
    done = run("runs", "--where", "cache_sise < 21")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --where: ") and "\nhint: columns: path" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("quick_judge")
@pytest.mark.parametrize(
    ("condition", "said", "there"),
    thinned(
        [
            (condition, said, there)
            for there in ("no folder", "runs", "no run")
            for condition, said in (
                ("x(", "syntax error"),
                ("targt = 1", "there is no column targt; did you mean target"),
            )
        ],
        every=3,
    ),
)
def test_a_condition_that_is_none_is_refused_whatever_is_stored(
    run: Run, tmp_path: Path, there: str, condition: str, said: str
) -> None:
    if there != "no folder":
        (tmp_path / "flashtwin-runs").mkdir()
    if there == "runs":
        store(tmp_path / "flashtwin-runs" / "a")
    for words in (("runs",), ("runs", "prune", "--dry-run"), ("runs", "--json")):
        done = run(*words, "--where", condition)
        assert (done.exit_code, done.stdout) == (2, ""), words
        assert "error: --where: " in done.stderr and said in done.stderr
        assert "\nhint: columns: path, name, target" in done.stderr
    assert json.loads(run("runs", "--json", "--where", "seed = 99").stdout)["runs"] == []


@pytest.mark.usefixtures("quick_judge")
@pytest.mark.parametrize("condition", ["NULL", "'abc'", "seed, target", "SELECT true", "1/0"])
def test_prune_removes_nothing_where_the_condition_is_none(
    run: Run, place: Path, condition: str
) -> None:
    before = sorted(place.rglob("*"))
    done = run("runs", "prune", "--yes", "--where", condition)
    assert done.exit_code == 2 and done.stderr.startswith("error: --where: "), done.stderr
    assert sorted(place.rglob("*")) == before


def test_ctrl_c_is_heard_while_a_condition_is_judged(place: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    endless = "with recursive t(x) as (select 1 union all select x + 1 from t) select * from t"
    words = ["runs", "--where", f"exists ({endless} where x < 0)"]
    asked = subprocess.Popen(
        [*PROGRAM, *words], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    assert wait_for(lambda: bool(children(asked.pid)) or asked.poll() is not None)
    (judge,) = children(asked.pid)
    asked.send_signal(signal.SIGINT)
    _, said = asked.communicate(timeout=60)
    assert asked.returncode == 130 and "Traceback" not in said
    assert wait_for(lambda: not lives(judge))


def test_without_the_extra(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    done = run("runs", "--where", "true")
    assert done.exit_code == 3 and "hint: pip install 'flashtwin[query]'" in done.stderr


def test_what_is_no_run_is_listed_with_the_reason(run: Run, place: Path) -> None:
    newer(place / "newer")
    (place / "mine").mkdir()
    done = run("runs")
    assert done.exit_code == 0 and "3 runs" in done.stdout
    assert "2 folders that cannot be read as a run" in done.stdout
    assert "note: newer: " in done.stderr and "schema 99" in done.stderr
    assert "note: mine: it holds no run" in done.stderr


def test_thousands_of_runs_are_told_as_a_few_are(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = run("runs").stdout
    monkeypatch.setattr(runs, "RICH_ROWS", 1)
    assert run("runs").stdout == few
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, run("runs").stdout.splitlines())) <= 60


def test_a_place_that_is_none(run: Run) -> None:
    done = run("runs", "nowhere")
    assert done.exit_code == 2 and done.stderr.startswith("error: there is no nowhere\nhint: ")


def test_show(run: Run, place: Path) -> None:
    done = run("runs", "show", "old", "--all")
    assert done.exit_code == 0, done.stderr
    text = done.stdout
    for word in (
        "flashtwin-runs/old: bx500-240, finished",
        "battery fill",
        "passes=1",
        "fewer runs",
        "flashtwin test bx500-240",
        "fill/128k-q32/pass-1",
        "fill/128k-q32/purge: not possible, it is paper",
        "steps.jsonl",
        "cache_size",
    ):
        assert word in text, word
    (told,) = json.loads(run("runs", "show", str(place / "old"), "--json").stdout)["runs"]
    assert told["steps"][1]["label"] == "fill/128k-q32/pass-1"
    assert told["left_out"] == ["fill/128k-q32/purge: not possible, it is paper"]
    assert told["files"]["manifest.json"] == (place / "old" / "manifest.json").stat().st_size


def test_what_a_link_leads_to_does_not_belong_to_a_run(run: Run, place: Path) -> None:
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / "big").write_bytes(bytes(5_000_000))
    (place / "old" / "linked").symlink_to(place / "elsewhere")
    (shown,) = json.loads(run("runs", "show", str(place / "old"), "--json").stdout)["runs"]
    assert shown["files"]["linked"] == len(str(place / "elsewhere"))


def test_show_of_an_unfinished_run_and_of_none(run: Run, place: Path) -> None:
    store(place / "killed", close=False)
    done = run("runs", "show", "killed")
    assert done.exit_code == 0 and "cut off" in done.stdout
    assert "the run is not finished: 4 steps are done" in done.stdout
    missing = run("runs", "show", "nothing")
    assert missing.exit_code == 2 and "no run in nothing" in missing.stderr
    newer(place / "newer")
    assert run("runs", "show", "newer").exit_code == 3


def test_prune_says_and_then_does(run: Run, place: Path) -> None:
    done = run("runs", "prune", "--keep", "1", "--dry-run")
    assert done.exit_code == 0 and "would remove 2 runs, " in done.stdout
    assert "old " in done.stdout and "flashtwin-runs/new" not in done.stdout
    assert (place / "old").exists()
    asked = run("runs", "prune", "--keep", "1")
    assert asked.exit_code == 2 and "hint: --dry-run lists them" in asked.stderr
    assert (place / "old").exists()
    gone = json.loads(run("runs", "prune", "--keep", "1", "--yes", "--json").stdout)
    assert [row["path"] for row in gone["removed"]] == [
        "flashtwin-runs/old",
        "flashtwin-runs/both/a",
    ]
    assert gone["bytes"] == sum(row["bytes"] for row in gone["removed"]) > 0
    assert not gone["dry_run"] and not (place / "old").exists() and (place / "new").exists()
    assert run("runs", "prune", "--keep", "1", "--yes").stdout == "removed 0 runs, 0 B\n"


def test_prune_takes_targets_that_never_began(run: Run, place: Path) -> None:
    task = {"target": {"kind": "twin"}, "batteries": [{"name": "fill"}], "budget_s": None}
    rows = [{"place": name, **task} for name in ("a", "b")]
    write_plan(place / "both", {"seed": 1, "command": [], "tasks": rows})
    (row,) = json.loads(run("runs", "--where", "state = 'not begun'", "--json").stdout)["runs"]
    assert (row["path"], row["target"]) == ("flashtwin-runs/both", "b")
    dry = run("runs", "prune", "--keep", "0", "--dry-run")
    assert "both " in dry.stdout and "not begun" in dry.stdout
    assert "would remove 4 runs" in dry.stdout and (place / "both" / "plan.json").exists()
    assert run("runs", "prune", "--keep", "0", "--yes").exit_code == 0
    assert list(place.iterdir()) == []


def test_prune_asks_on_a_terminal(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flashtwin.cli import runs

    monkeypatch.setattr(runs, "_somebody_there", lambda: True)
    no = CliRunner().invoke(app, ["runs", "prune", "--keep", "2"], input="n\n")
    assert no.exit_code == 130 and (place / "old").exists()
    yes = CliRunner().invoke(app, ["runs", "prune", "--keep", "2"], input="y\n")
    assert yes.exit_code == 0 and not (place / "old").exists()


def test_prune_with_a_condition_and_an_age(run: Run, place: Path) -> None:
    pytest.importorskip("duckdb")
    done = run("runs", "prune", "--where", "state = 'interrupted'", "--yes")
    assert done.exit_code == 0 and "removed 1 run, " in done.stdout
    assert not (place / "both" / "a").exists() and (place / "old").exists()
    assert "0 runs" in run("runs", "prune", "--older-than", "900w", "--dry-run").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "prune without a choice would remove every run"),
        (("--older-than", "soon"), "--older-than soon is not a time"),
        (("--keep", "-1"), "--keep"),
    ],
)
def test_prune_refuses(run: Run, place: Path, words: tuple[str, ...], said: str) -> None:
    done = run("runs", "prune", *words)
    assert done.exit_code == 2 and said in done.stderr
    assert len(list(place.iterdir())) == 3


def test_a_list_of_runs_does_not_wait_for_numpy(tmp_path: Path) -> None:
    """Which takes longer to load than the list takes."""
    store(tmp_path / "runs" / "a")
    words = ["-X", "importtime", "-m", "flashtwin.cli", "runs", "list", str(tmp_path / "runs")]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert "1 run," in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "flashtwin.runs.query" in imported and "numpy" not in imported
