"""import flashtwin as ft: runs, frames, comparisons, notebooks, and the examples of the docs."""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from stored_runs import newer, store, usual

import flashtwin as ft
from flashtwin.cli.app import app
from flashtwin.runner.events import Observer, Status

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / "reference" / "python.md", ROOT / "docs" / "guides" / "runs.md"]
BATTERY: dict[str, dict[str, object]] = {"fill": {"passes": 1, "patterns": ["1m-q1"]}}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> ft.Run:
    place = tmp_path_factory.mktemp("api")
    return ft.test("bx500-240", battery=BATTERY, scale="1/16", out=place / "run")


def test_a_test(measured: ft.Run) -> None:
    assert (measured.target, measured.state, measured.seed) == ("bx500-240", "finished", 1)
    cache = measured.findings["cache_size"]
    assert cache.value == pytest.approx(1.5, rel=0.02) and cache.unit == "GB"
    series = measured.series
    assert isinstance(series, pl.DataFrame) and series.height > 100
    assert series["bytes"].sum() == measured.steps["bytes"].sum() == measured.jobs["bytes"].sum()
    assert measured.xray["host_bytes"].max() == series["bytes"].sum()
    assert measured.per_gb.height == 15 and measured.hist.height > 3
    meter = measured.meter
    joules = (meter["watts"] * meter["dt_ns"]).sum() / 1e9
    told = measured.smart()["flashtwin"]["energy"]["energy_uj"] / 1e6
    assert joules == pytest.approx(told, rel=1e-3) and meter["celsius"].min() > 0
    assert measured.smart()["flashtwin"]["waf"]["total"] > 1
    shares = measured.percentiles("fill/1m-q1/pass-1")
    assert list(shares) == [50, 99, 99.9] and shares[50] > 1000
    assert measured.percentiles("fill/1m-q1/pass-1", "read") == {}
    assert (measured.path / "report.html").exists()


def test_the_same_bytes_as_the_command_line(measured: ft.Run, tmp_path: Path) -> None:
    words = ["test", "bx500-240", "--battery", "fill:passes=1,patterns=1m-q1", "--scale", "1/16"]
    done = subprocess.run(
        [sys.executable, "-m", "flashtwin.cli", *words, "--out", str(tmp_path / "run"), "-q"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for file in sorted((tmp_path / "run").rglob("*")):
        if file.is_file() and file.name != "host.json":
            mine = measured.path / file.relative_to(tmp_path / "run")
            assert mine.read_bytes() == file.read_bytes(), file.name


def test_what_cannot_be_tested(tmp_path: Path) -> None:
    out = tmp_path / "run"
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("bx501-240", {}),
        ("bx500-240", {"battery": "fil"}),
        ("bx500-240", {"battery": {"fill": {"passe": 1}}}),
        ("bx500-240", {"size": "4G"}),
        ("bx500-240", {"size": 10**9}),
        ("bx500-240", {"budget": "soon"}),
        ("bx500-240", {"budget": 0}),
        ("bx500-240", {"sets": {"no.key": 1}}),
        ("bx500-240", {"seed": -1}),
        ("bx500-240", {"seed": 1 << 63}),
        ("bx500-240", {"battery": {"fill": {"idle_s": 1e9}}}),
    ]
    for target, arguments in wrong:
        with pytest.raises(ft.FlashtwinError):
            ft.test(target, out=out, **arguments)
        assert not out.exists(), arguments


def test_stored_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "flashtwin-runs" / "a")
    assert ft.load_run("a").path == Path("flashtwin-runs/a")
    newer(tmp_path / "newer")
    for name in ("nowhere", "newer"):
        with pytest.raises(ft.FlashtwinError):
            ft.load_run(tmp_path / name)
    with pytest.raises(ft.FlashtwinError, match="no step is called x"):
        ft.load_run("a").percentiles("x")


def test_a_submission_is_that_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    host = {"device_model": "CT1000MX500SSD1"}
    run = ft.Run(stored=store(tmp_path / "run", target="probe", kind="file", host=host))
    folder = ft.submit(run)
    assert not folder.is_absolute() and folder.name.startswith("ct1000mx500ssd1-")
    words = ["submit", "run", "--out", "typed"]
    typed = CliRunner().invoke(app, words)
    assert typed.exit_code == 0, typed.output
    for file in (tmp_path / "typed").iterdir():
        assert (folder / file.name).read_bytes() == file.read_bytes(), file.name
    checked = CliRunner().invoke(app, ["check", "--catalogue", str(folder)])
    assert checked.exit_code == 0, checked.output
    with pytest.raises(ft.UsageError, match="is not empty"):
        ft.submit("run")
    named = ft.submit("run", drive="MX500", out=tmp_path / "named")
    assert '"name": "MX500"' in (named / "submission.json").read_text()


def test_a_simulated_run_is_submitted_where_that_is_meant(tmp_path: Path) -> None:
    run = ft.Run(stored=store(tmp_path / "run"))
    with pytest.raises(ft.UsageError, match="run of a twin"):
        ft.submit(run, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    folder = ft.submit(run, twin=True, out=tmp_path / "out-simulated")
    assert folder == tmp_path / "out-simulated" and (folder / "findings.json").exists()
    stopped = store(tmp_path / "stopped", state="interrupted", kind="file")
    with pytest.raises(ft.FlashtwinError, match="not finished"):
        ft.submit(stopped.path, drive="MX500", out=tmp_path / "never")


def test_comparisons(tmp_path: Path) -> None:
    store(tmp_path / "a")
    other = ft.Run(stored=store(tmp_path / "b", findings=usual(cache=20.0)))
    done = ft.compare(tmp_path / "a", other, fail_on=["5%", "speed_cache=1%"])
    assert done.failed and not ft.compare(other, str(tmp_path / "a"), fail_on="1%").failed
    table = done.table()
    assert table.height == 6
    assert table.filter(pl.col("verdict") == "worse")["id"].to_list() == [
        "fill.cache_size[128k-q32]",
        "fill.cache_size[1m-q1]",
    ]
    html = done._repr_html_()
    assert "2 of 6 findings differ; beyond a limit" in html and "<table" in html
    assert other.compare(ft.load_run(tmp_path / "a")).names == done.names[::-1]


def test_notebooks(measured: ft.Run, tmp_path: Path) -> None:
    bundle = measured._repr_mimebundle_()
    assert bundle["text/plain"] == repr(measured)
    html = bundle["text/html"]
    assert "<svg" in html and html.count("<tr") == len(measured.findings) + 1
    bare = ft.Run(stored=store(tmp_path / "a", rates=(100.0,) * 4, target="<b>"))
    assert "<svg" not in bare._repr_html_() and "&lt;b&gt;" in bare._repr_html_()
    assert "bx500-240" in ft.drives()._repr_html_()
    finding = replace(measured.findings[0], note="a < b")
    html = finding._repr_html_()
    assert finding.id in html and finding.title in html and "a &lt; b" in html


def test_charts(measured: ft.Run, tmp_path: Path) -> None:
    for chart in (
        measured.chart(),
        measured.chart("fill/1m-q1/pass-1", over="s"),
        measured.latency_chart(),
    ):
        drawn = chart.altair().to_dict(validate=True)
        assert drawn["mark"] == chart.to_dict()["mark"]
    rows = pl.DataFrame(measured.chart().rows)
    assert rows["x"].max() == pytest.approx(14.99, rel=1e-3)
    mean = measured.findings["mean"].value
    # The mean over the data is the harmonic one of even pieces.
    pieces = rows.with_columns(pl.col("x").diff().fill_null(pl.col("x").first()).alias("gb"))
    seconds = (pieces["gb"] * 1000 / pieces["mb_s"]).sum()
    assert pieces["gb"].sum() * 1000 / seconds == pytest.approx(mean, rel=1e-3)
    with pytest.raises(ft.FlashtwinError, match="no step nothing"):
        measured.chart("nothing")
    bare = ft.Run(stored=store(tmp_path / "a", rates=(100.0,) * 4))
    with pytest.raises(ft.FlashtwinError, match="no step of this run has a curve"):
        bare.chart()
    assert max(row["percent"] for row in bare.latency_chart().rows) == pytest.approx(100)


def test_many_lines_stay_within_what_a_notebook_can_hold(tmp_path: Path) -> None:
    run = ft.Run(stored=store(tmp_path / "a", rates=(100.0,) * 20_000))
    assert len(run.chart().rows) <= 5000


def test_the_interface_is_what_it_says() -> None:
    assert sorted(dir(ft)) == sorted(ft.__all__)
    for name in ft.__all__:
        assert getattr(ft, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = ft.nothing  # type: ignore[attr-defined]
    import flashtwin.model.drive  # noqa: F401 - it must not hide the call

    assert "bx500-240" in [drive.id for drive in ft.drives()]


def test_importing_costs_nothing() -> None:
    code = "import flashtwin, sys; print({m.partition('.')[0] for m in sys.modules})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not any(name in told.stdout for name in ("numpy", "polars", "altair", "click"))


def test_a_room_is_imported_without_the_interface() -> None:
    """`from flashtwin import _core` asks the package first, which may not answer with all of it."""
    code = "import sys, flashtwin.runs.storage; sys.exit('flashtwin.api' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom flashtwin.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'polars', 'duckdb', 'altair', 'rich') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page, each with its place in it as blank lines before."""
    text = page.read_text()
    found = []
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
        found.append("\n" * text[: match.start(1)].count("\n") + match[1])
    return found


def takes_long(block: str) -> bool:
    """A validation is of drives at their full size."""
    return "lab.validate(" in block


@pytest.mark.parametrize(
    "page", [pytest.param(PAGES[0], marks=pytest.mark.full), PAGES[1]], ids=lambda page: page.name
)
def test_the_examples_of_the_docs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(page, [block for block in blocks(page) if not takes_long(block)])


@pytest.mark.full
def test_the_long_examples_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGES[0]
    long = [block for block in blocks(page) if takes_long(block)]
    assert long
    run_blocks(page, ["import flashtwin as ft", *long])


def run_blocks(page: Path, examples: list[str]) -> None:
    """Blocks run one after another; a line that ends in `# -> text` has to come to that text."""
    names: dict[str, Any] = {}
    for block in examples:
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            _, arrow, told = lines[(statement.end_lineno or 1) - 1].partition("  # -> ")
            if not arrow:
                exec(compile(ast.Module([statement], []), str(page), "exec"), names)
                continue
            assert isinstance(statement, ast.Expr), f"{page.name}:{statement.lineno}"
            value = eval(compile(ast.Expression(statement.value), str(page), "eval"), names)
            assert str(value) == told, f"{page.name}:{statement.lineno}"


class _Stops(Observer):
    """Ctrl-C as the third step begins."""

    begun = 0

    def began(self, status: Status) -> None:
        self.begun += 1
        if self.begun == 3:
            os.kill(os.getpid(), signal.SIGINT)


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "battery": "crystaldiskmark:profile=real,loops=1,size=64MiB,mix=off",
        "scale": "1/64",
        "report": False,
    }
    whole = ft.test("bx500-240", out=tmp_path / "whole", **asked)
    with pytest.raises(ft.Interrupted):
        ft.test("bx500-240", out=tmp_path / "run", observer=_Stops(), **asked)
    stopped = ft.load_run(tmp_path / "run")
    assert stopped.state == "interrupted"
    run = ft.resume(stopped, report=False)
    assert isinstance(run, ft.Run)
    assert run.state == "finished" and run.findings == whole.findings
    names = sorted(path.name for path in whole.path.iterdir())
    assert names == sorted(path.name for path in run.path.iterdir())
    for name in ("manifest.json", "steps.jsonl", "findings.json", "series.parquet", "xray.parquet"):
        assert (run.path / name).read_bytes() == (whole.path / name).read_bytes(), name
    again = ft.resume(tmp_path / "run")
    assert isinstance(again, ft.Run) and again.state == "finished"
    # A folder of several: the one that is finished, and one that was stopped.
    shutil.copytree(run.path, tmp_path / "both" / "a")
    with pytest.raises(ft.Interrupted):
        ft.test("bx500-240", out=tmp_path / "both" / "b", observer=_Stops(), **asked)
    both = ft.resume(tmp_path / "both")
    assert isinstance(both, ft.Runs) and both.keys() == ["a", "b"]
    assert both["b"].state == "finished" and both["b"].findings == whole.findings
    assert (tmp_path / "both" / "report.html").exists()


def test_what_print_shows(measured: ft.Run, tmp_path: Path) -> None:
    """A reader at a prompt sees what was found, and how two runs differ."""
    shown = str(measured)
    assert shown.startswith(f"{measured.target}: finished, seed ")
    assert "Size of the SLC cache" in shown and "GB" in shown
    assert "cache_size" in str(measured.findings) and len(measured.table()) == len(
        measured.findings
    )
    first = measured.findings[0]
    assert str(first).startswith(f"{first.id}  ") and str(first).endswith(f" {first.unit}")
    other = ft.test(
        "bx500-240",
        battery="fill:passes=1,patterns=1m-q1",
        scale="1/64",
        firmware="slc-off",
        out=tmp_path / "other",
        report=False,
        progress=False,
    )
    done = ft.compare(measured, other)
    lines = str(done).splitlines()
    assert " against " in lines[0] and "findings differ" in lines[0]
    assert any(" to " in line and "%" in line and "cache_size" in line for line in lines[1:])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": "soon"}, ["--budget", "soon"]),
        ({"budget": 0}, ["--budget", "0"]),
        ({"size": "4G"}, ["--size", "4G"]),
        ({"battery": "fil"}, ["--battery", "fil"]),
        ({"battery": {"fill": {"patterns": "1m"}}}, ["--battery", "fill:patterns=1m"]),
        ({"firmware": "slc-of"}, ["--firmware", "slc-of"]),
        ({"sets": ["slc_cache.sie=8GB"]}, ["--set", "slc_cache.sie=8GB"]),
        ({"sets": {"slc_cache.sie": "8GB"}}, ["--set", "slc_cache.sie=8GB"]),
        ({"scale": "3"}, ["--scale", "3"]),
    ],
)
def test_a_wrong_argument_gets_the_message_of_the_command_line(
    options: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ft.FlashtwinError) as refused:
        ft.test("bx500-240", progress=False, **options)
    told = [*str(refused.value).splitlines(), *getattr(refused.value, "__notes__", ())]
    done = CliRunner().invoke(app, ["test", "bx500-240", *words])
    assert done.exit_code == 2
    typed = [line.removeprefix("error: bx500-240: ") for line in done.stderr.splitlines()]
    assert {line.removeprefix("error: ") for line in typed} <= set(told) and typed


def test_a_seed_is_a_whole_number() -> None:
    with pytest.raises(ft.FlashtwinError, match="seed is 'one', a str"):
        ft.test("bx500-240", seed="one", progress=False)  # type: ignore[arg-type]
