"""Each command through click's runner: what is on stdout, what on stderr, and the exit code."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from stored_runs import finding, store

from flashtwin.catalogue.facts import Fact, KnownMiss
from flashtwin.cli import app as app_module
from flashtwin.cli.completions import VARIABLE
from flashtwin_lab.validation import knockouts
from flashtwin_lab.validation import validate as validate_module
from flashtwin_lab.validation.changes import KnockOut
from flashtwin_lab.validation.knockouts import Broken, KnockedOut
from flashtwin_lab.validation.rows import TwinValues, judge
from flashtwin_lab.validation.validate import Validation

Run = Callable[..., Result]
COMMANDS = (
    "drives",
    "show",
    "new",
    "check",
    "diff",
    "batteries",
    "test",
    "review",
    "sweep",
    "report",
    "conclude",
    "runs",
    "compare",
    "export",
    "explain",
    "fio",
    "icf",
    "timeline",
    "validate",
    "blind",
    "infer",
    "fit",
    "smart",
    "identify",
    "doctor",
    "cache",
    "completions",
    "help",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0
    assert f"flashtwin {command}" in done.stdout.partition("Examples:")[2]
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_the_help_lists_every_command_and_the_exit_codes(run: Run) -> None:
    done = run("--help")
    assert done.exit_code == 0
    assert all(f"\n  {command} " in done.stdout for command in COMMANDS)
    assert "70 a fault of flashtwin's own, 130 interrupted." in " ".join(done.stdout.split())
    assert "..." not in done.stdout.partition("Commands:")[2].partition("Examples:")[0]


def test_drives(run: Run) -> None:
    done = run("drives")
    assert done.exit_code == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("bx500-240 "))
    assert "240 GB" in line and "TLC" in line and "dynamic, 24 GB" in line
    rows = json.loads(run("drives", "--json").stdout)["drives"]
    assert {"id", "name", "capacity_bytes", "cell", "cache"} <= set(rows[0])
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)


def test_show_groups_by_table_and_gives_origin_and_source(run: Run) -> None:
    short = run("show", "bx500-240", "--firmware", "slc-off")
    assert len(short.stdout.splitlines()) < 10 and "[nand.slc]" not in short.stdout
    done = run("show", "bx500-240", "--firmware", "slc-off", "-v")
    assert done.exit_code == 0
    assert "[nand.slc]" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("tprog"))
    assert line.split(maxsplit=4) == ["tprog", "404.8", "us", "fitted", "source of nand.slc.tprog"]
    shown = json.loads(run("show", "bx500-240", "--json").stdout)
    assert shown["capacity_bytes"] == 240 * 10**9
    assert shown["values"][2]["origin"] == "fitted"


def test_show_keeps_defaults_of_the_format_for_those_who_ask(run: Run) -> None:
    short, whole = run("show", "bx500-240", "-v"), run("show", "bx500-240", "--all")
    assert "[compression]" not in short.stdout
    said = "1 of 6 values are at the format's default: --all shows them"
    assert short.stdout.splitlines()[-1] == said
    assert "[compression]" in whole.stdout and said not in whole.stdout
    keys = [row["key"] for row in json.loads(run("show", "bx500-240", "--json").stdout)["values"]]
    assert "compression.rate" in keys


def test_show_of_an_unknown_drive_gives_the_nearest(run: Run) -> None:
    done = run("show", "bx500")
    assert (done.exit_code, done.stdout) == (2, "")
    said = "error: no drive bx500 in the catalogue\nhint: did you mean bx500-240"
    assert done.stderr.startswith(said)


def test_check_of_a_good_spec(run: Run) -> None:
    done = run("check", "bx500-240")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "240 GB" in done.stdout


def test_check_tells_all_errors_each_with_its_hint(run: Run) -> None:
    done = run("check", "bx500-240", "--set", "bad=1")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "--set: bad: m",
        "hint: h",
        "a.toml:3: gc: n",
        "hint: i",
        "error: bx500-240 has 2 errors",
    ]


def test_check_as_json_is_pure_also_of_a_bad_spec(run: Run) -> None:
    done = run("check", "bx500-240", "--set", "bad=1", "--json")
    assert (done.exit_code, done.stderr) == (2, "")
    told = json.loads(done.stdout)
    assert told["ok"] is False
    assert [error["line"] for error in told["errors"]] == [None, 3]


def test_batteries(run: Run) -> None:
    done = run("batteries")
    assert done.exit_code == 0
    assert {"fill", "crystaldiskmark"} <= {line.split()[0] for line in done.stdout.splitlines()}
    one = run("batteries", "fill")
    assert "patterns" in one.stdout and "128k-q32+1m-q1" in one.stdout
    told = json.loads(run("batteries", "crystaldiskmark", "--json").stdout)
    assert {"profile", "size", "loops"} <= {row["name"] for row in told["parameters"]}


def test_an_unknown_battery(run: Run) -> None:
    done = run("batteries", "fil")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "fill" in done.stderr and "hint: " in done.stderr


def test_conclude(run: Run, tmp_path: Path) -> None:
    store(tmp_path / "a")
    done = run("conclude", str(tmp_path / "a"))
    assert done.exit_code == 0
    gone = next(line for line in done.stdout.splitlines() if "latency" in line)
    assert gone.split()[:1] == ["crystaldiskmark.read.latency[SEQ1M-Q8T1]"]
    assert gone.rstrip().endswith("not there") and "findings changed" in done.stdout
    assert run("conclude", str(tmp_path / "a"), "--write").exit_code == 0
    assert "nothing changed" in run("conclude", str(tmp_path / "a")).stdout
    assert run("conclude", str(tmp_path / "b")).exit_code == 2


def test_explain_says_all_that_a_run_says_of_a_finding(run: Run, tmp_path: Path) -> None:
    """A table has the note; what the value rests on is here too."""
    note = "none seen; a first plateau would show from 0.1 GB on"
    store(tmp_path / "a", findings=[finding("fill.cache_size[1m-q1]", 0.0, "GB", note=note)])
    shown = run("runs", "show", "a", "-v").stdout
    assert f"[1] {note}\n" in shown
    done = run("explain", "fill.cache_size", "--run", "a")
    assert done.exit_code == 0 and note in done.stdout
    assert "fill.cache_size[1m-q1]: 0 GB\n" in done.stdout
    assert "rests on fill/128k-q32/pass-1, 0 to 1e-09 GB" in done.stdout
    assert run("explain", "fill.cache_size[1m-q1]", "--run", "a").exit_code == 0
    assert run("explain", "fill.cache_size[4k-q1]", "--run", "a").exit_code == 2
    assert run("explain", "power.idle", "--run", "a").exit_code == 2
    assert run("explain", "--run", "a").exit_code == 2


def test_explain(run: Run) -> None:
    done = run("explain", "fill.cache_size[1m-q1]")
    assert done.exit_code == 0
    assert "How it is found:" in done.stdout
    assert run("explain", "nothing.like.it").exit_code == run("explain", "").exit_code == 2
    assert "fill.cache_size[*]" in run("explain").stdout
    assert (
        json.loads(run("explain", "crystaldiskmark.read[RND4K-Q1T1]", "--json").stdout)["id"]
        == "crystaldiskmark.*[*]"
    )


def test_test_of_one_drive(run: Run, tmp_path: Path) -> None:
    done = run("test", "bx500-240", "--battery", "fill", "--out", "here", "--seed", "5")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].startswith("It is full after ") and max(map(len, lines)) <= 100
    assert [line.partition(":")[0] for line in lines[2:]] == ["How sure", "Next", "Page"]
    assert lines[0].startswith("bx500-240 (simulated): writes 24.0 GB at 461 MB/s, then 111 MB/s")
    assert lines[-1] == "Page: here/report.html"
    verbose = run("test", "--resume", "here", "-v").stdout
    assert "fill 128k-q32" in verbose and verbose.endswith("\n".join(lines) + "\n")
    manifest = json.loads((tmp_path / "here" / "manifest.json").read_text())
    assert manifest["seed"] == 5
    assert manifest["command"] == [
        "flashtwin", "test", "bx500-240", "--battery", "fill", "--seed", "5"
    ]  # fmt: skip
    assert "bx500-240: writes " in done.stderr


def test_test_of_several_drives_has_a_run_each_and_one_report(run: Run, tmp_path: Path) -> None:
    pair = ("bx500-240", "bx500-240-nocache")
    done = run("test", *pair, "--battery", "fill:patterns=1m-q1", "--out", "both")
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == [*pair, "report.html"]
    begins = [line.partition(":")[0] for line in done.stdout.splitlines()[:2]]
    assert begins == list(pair), "a line a drive"


def test_test_as_json_is_one_object_and_quiet_is_quiet(run: Run) -> None:
    done = run("test", "bx500-240", "--battery", "fill:patterns=1m-q1", "--json", "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    (one,) = told["runs"]
    assert one["target"] == "bx500-240"
    assert "fill.cache_size[1m-q1]" in {finding["id"] for finding in one["findings"]}
    assert Path(told["report"]).is_file()
    assert Path(told["report"]).parent == Path(one["directory"])
    assert one["directory"].startswith("flashtwin-runs/")


def test_twice_the_same_drive_has_a_column_each(run: Run) -> None:
    done = run("test", "bx500-240", "bx500-240", "--battery", "fill:patterns=1m-q1", "--json", "-q")
    assert [one["target"] for one in json.loads(done.stdout)["runs"]] == [
        "bx500-240", "bx500-240~2"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["bx500-24"], 2, "did you mean bx500-240"),
        (["no-such-thing"], 2, "no drive no-such-thing in the catalogue"),
        (["./new.bin"], 2, "its size is not given"),
        (["bx500-240", "--size", "4GB"], 2, "--size is for files"),
        (["bx500-240", "--size", "4G"], 2, "4GB for powers of 1000"),
        (["./new.bin", "--size", "64MiB", "--set", "a=1"], 2, "change simulated drives"),
        (["bx500-240", "--battery", "fil"], 2, "did you mean fill"),
        (["bx500-240", "--battery", "fill:pases=2"], 2, "did you mean passes"),
        (["bx500-240", "--set", "bad=1"], 2, "hint: i"),
        (["bx500-240", "--seed", "x"], 2, "--seed"),
        (["bx500-240", "--nothing"], 2, "hint: flashtwin test --help"),
        ([], 2, "TARGET"),
        (["/dev/loop-none/x", "--size", "1GB"], 2, "is not a directory"),
        # A device that is not there: a file of its name would lie in memory, and be measured.
        (["/dev/sd-none", "--size", "1GB"], 4, "there is no device /dev/sd-none"),
        (["/dev", "--size", "1GB"], 4, "there is no device /dev/flashtwin-target.bin"),
        (["bx500-240", "--battery", ""], 2, "there is no battery ''"),
    ],
)
def test_what_is_refused_before_anything_runs(
    run: Run, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    done = run("test", *arguments)
    assert (done.exit_code, done.stdout) == (code, ""), done.stderr
    assert said in done.stderr
    assert "error: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_block_device_is_refused_with_its_own_code(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import stat

    real = os.lstat

    class Block:
        st_mode = stat.S_IFBLK | 0o660

    def lstat(path: object) -> object:
        return Block() if str(path) == "/dev/sdz" else real(path)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "lstat", lstat)
    for more in ([], ["--size", "4GB"]):
        done = run("test", "/dev/sdz", *more)
        assert (done.exit_code, done.stdout) == (4, "")
        assert "block device" in done.stderr and "hint: " in done.stderr


def test_an_existing_directory_is_not_written_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("mine")
    done = run("test", "bx500-240", "--out", "full")
    assert done.exit_code == 2
    assert "error: full is not empty" in done.stderr
    assert (tmp_path / "full" / "notes").read_text() == "mine"


def test_report_anew(run: Run, tmp_path: Path) -> None:
    run("test", "bx500-240", "bx500-240-nocache", "--battery", "fill:patterns=1m-q1", "--out", "r")
    (tmp_path / "r" / "report.html").unlink()
    done = run("report", "r")
    assert (done.exit_code, done.stdout) == (0, "r/report.html\n"), done.stderr
    assert (tmp_path / "r" / "report.html").read_text() == "<html>2</html>"
    told = json.loads(run("report", "r/bx500-240", "--out", "one.html", "--json").stdout)
    assert told == {"report": "one.html", "runs": ["r/bx500-240"]}
    (tmp_path / "flashtwin-runs").mkdir()
    (tmp_path / "r").rename(tmp_path / "flashtwin-runs" / "r")
    assert run("report", "r").stdout == "flashtwin-runs/r/report.html\n"
    assert run("report", "nowhere").exit_code == 2


def fact(**fields: Any) -> Fact:
    return Fact(**{"drives": ("bx500-240",), "test": "t", "metric": "m", **fields})


def validation(*values: float) -> Validation:
    known = KnownMiss(drive="bx500-240", test="t", metric="k", why="a reason")
    rows = [
        judge(fact(value=100, tolerance=0.03, unit="MB/s"), TwinValues(cells={"": value}))
        for value in values
    ]
    listed = fact(metric="k", kind="qualitative", low=0.1, high=0.2)
    rows.append(judge(listed, TwinValues(cells={"Q1T1": 0.5}, also={"1m-q1": 0.15}), (known,)))
    return Validation(rows=tuple(rows), waiting=2, outlived=())


def test_validate_says_pass_known_and_miss(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate_module, "validate", lambda *a, **b: validation(101.0, 110.0))
    done = run("validate", "bx500-240")
    assert done.exit_code == 1
    lines = [line.strip() for line in done.stdout.splitlines()]
    miss = next(line for line in lines if line.endswith("miss"))
    assert miss.split() == ["m", "100", "MB/s", "±", "3", "%", "110", "+10.0", "%", "miss"]
    listed = next(line for line in lines if line.endswith("known"))
    assert listed.split() == ["k", "0.1", "to", "0.2", "0.5", "+150.0", "%", "known"]
    assert "worst: Q1T1; 1m-q1 0.15" in lines
    assert "bx500-240: t" in lines
    assert "known: bx500-240: k: a reason" in done.stdout
    assert "validation: 1 of 3 pass, 1 known, 1 missed" in done.stdout
    assert "2 published rows have no battery yet" in done.stdout


def test_validate_as_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate_module, "validate", lambda *a, **b: validation(101.0))
    done = run("validate", "bx500-240", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert set(told) == {"rows", "missed"}
    assert told["missed"] == 0
    assert [row["verdict"] for row in told["rows"]] == ["pass", "known"]


def knocked_out() -> KnockedOut:
    mechanism = KnockOut(name="read-ahead", without="nothing is read ahead", sets=("a=0",))
    broken = Broken(fact=fact(value=100, tolerance=0.03, unit="MB/s"), found=None)
    return KnockedOut(mechanism=mechanism, drives=("bx500-240",), tried=6, broken=(broken,))


def test_a_knock_out_says_which_rows_break(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dataclasses.replace(knocked_out(), broken=())
    monkeypatch.setattr(knockouts, "knock_out", lambda *a, **b: [knocked_out(), whole])
    done = run("validate", "bx500-240", "--knock-out")
    assert done.exit_code == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines() if line]
    assert lines[0] == "without read-ahead (bx500-240): nothing is read ahead"
    assert lines[1] == "breaks: t: m: nothing, published 100 MB/s"
    assert lines[3] == "none of 6 rows breaks"
    both = run("validate", "bx500-240", "--knock-out", "--set", "a=1")
    assert both.exit_code == 2 and "sets values itself" in both.stderr


def test_validate_writes_a_page(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def all_of(drives: tuple[str, ...], *_: object, **__: object) -> Validation:
        asked.append(tuple(drives))
        return validation(101.0)

    monkeypatch.setattr(validate_module, "validate", all_of)
    assert run("validate", "--page", "page.md").exit_code == 0
    assert (
        "| t: m | 100 MB/s | 101 | +1.0 % | 3 % | validation | pass |"
        in (tmp_path / "page.md").read_text()
    )
    assert {"bx500-240", "545s-256", "wd-sn580-1tb"} <= set(asked[0]), "without a drive: all"
    assert run("validate", "bx500-240", "--page", "no/page.md").exit_code == 3
    assert len(asked) == 1, "a page that cannot be written is refused before anything runs"


def test_validate_refuses_drives_about_which_nothing_is_known(run: Run) -> None:
    done = run("validate", "nothing-40")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no drive nothing-40 in the catalogue" in done.stderr


def test_an_interrupted_run_says_what_was_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from flashtwin.model.target import Interrupted
    from flashtwin.runner import request

    def stopped(*arguments: object, **more: object) -> None:
        raise Interrupted("stopped; what was finished is in here")

    monkeypatch.setattr(request, "run_tasks", stopped)
    done = run("test", "bx500-240", "--out", "here")
    assert (done.exit_code, done.stdout) == (130, "")
    assert "interrupted: stopped; what was finished is in here" in done.stderr


def test_no_command_is_a_usage_error_with_the_help(run: Run) -> None:
    done = run()
    assert done.exit_code == 2
    assert "Commands:" in done.stderr
    assert app_module.app.name == "flashtwin"


def test_findings_are_told_also_where_the_page_cannot_be_made(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    import flashtwin.report
    from flashtwin.errors import FlashtwinError

    def full(*arguments: object, **more: object) -> None:
        raise FlashtwinError("cannot write here/report.html: No space left", exit_code=3)

    monkeypatch.setattr(flashtwin.report, "build", full)
    done = run("test", "bx500-240", "--battery", "fill:patterns=1m-q1", "--out", "here")
    assert done.exit_code == 3 and "No space left" in done.stderr
    assert "writes 24.0 GB" in done.stdout and "Page:" not in done.stdout
    told = run("test", "--resume", "here", "--json")
    assert told.exit_code == 3 and json.loads(told.stdout)["report"] is None


def test_a_report_is_left_out_where_none_is_wanted(run: Run, tmp_path: Path) -> None:
    asked = ("test", "bx500-240", "--battery", "fill:patterns=1m-q1", "--no-report")
    done = run(*asked, "--out", "here")
    assert done.exit_code == 0 and "24.0 GB" in done.stdout and "Page:" not in done.stdout
    told = run("test", "--resume", "here", "--no-report", "--json")
    assert told.exit_code == 0 and json.loads(told.stdout)["report"] is None
    assert not list(Path("here").rglob("report.html"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_s_script_asks_the_program(run: Run, shell: str) -> None:
    done = run("completions", shell)
    assert done.exit_code == 0 and f"_FLASHTWIN_COMPLETE={shell}_complete" in done.stdout
    assert run("completions", "tcsh").exit_code == 2


@pytest.mark.parametrize(
    ("words", "begun", "told"),
    [
        (["com"], "com", {"compare", "completions"}),
        (["test"], "bx500-240-n", {"bx500-240-nocache"}),
        (["test", "--battery"], "fill,cry", {"fill,crystaldiskmark"}),
        (["test"], "--res", {"--resume"}),
        (["runs", "show"], "a", {"a-run"}),
        (["test", "--resume"], "a-", {"a-run"}),
        (["explain"], "fill.cache_s", {"fill.cache_size"}),
    ],
)
def test_what_a_shell_completes(
    words: list[str], begun: str, told: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "flashtwin-runs" / "a-run")
    asks = ShellComplete(app_module.app, {}, "flashtwin", VARIABLE)
    before = words if words[-1] != begun else words[:-1]
    items = asks.get_completions(before, begun)
    assert {item.value for item in items if item.type == "plain"} == told


def test_help_has_commands_and_the_pages_that_come_with_the_program(run: Run) -> None:
    assert "fio-options" in run("help").stdout
    assert run("help", "test").stdout.startswith("Usage: flashtwin test")
    assert "| `bs`, `blocksize` |" in run("help", "fio-options").stdout
    assert "## fill.fold_begin[*]: " in run("help", "findings").stdout
    done = run("help", "nothing")
    assert done.exit_code == 2 and "fio-options" in done.stderr
    package = Path(app_module.__file__).parents[1]
    pages = [
        f"{at.name}: {line.strip()}"
        for at in package.rglob("*.py")
        for line in re.findall(r"(?:help|hint)=.*docs/.*", at.read_text())
    ]
    assert not pages, "help names pages that are not in the wheel"


def test_a_command_of_another_package_that_does_not_load_says_which(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = EntryPoint(name="mend", value="nowhere.to.be:found", group="flashtwin.commands")
    plain = EntryPoint(name="plain", value="os:sep", group="flashtwin.commands")
    points = {"mend": broken, "plain": plain}
    monkeypatch.setattr(app_module, "_points", lambda: points)
    for name, why in (("mend", "cannot be loaded"), ("plain", "is no command of click")):
        done = CliRunner().invoke(app_module.app, [name])
        assert done.exit_code == 3 and why in done.stderr and "pip uninstall" in done.stderr
        assert why in " ".join(CliRunner().invoke(app_module.app, ["--help"]).stdout.split())
