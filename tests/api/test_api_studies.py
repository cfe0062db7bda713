"""import flashtwin as ft: sweeps, validation, and what is stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import flashtwin as ft
import flashtwin_lab as lab
from flashtwin.cli.app import app

DRIVE = "bx500-240"
FILL = "fill:patterns=1m-q1,passes=1"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> ft.Sweep:
    place = tmp_path_factory.mktemp("sweep") / "s"
    vary = {"slc_cache.size": ["12GB", "24GB"]}
    return ft.sweep("bx500-240", vary, battery=FILL, scale="1/64", out=place, jobs=2, report=False)


def test_a_sweep_gives_its_points_in_the_order_of_the_grid(swept: ft.Sweep) -> None:
    assert [dict(point.settings) for point in swept] == [
        {"slc_cache.size": "12GB"},
        {"slc_cache.size": "24GB"},
    ]
    small, large = swept.values("cache_size")
    assert isinstance(small, float) and isinstance(large, float)
    assert large == pytest.approx(2 * small, rel=0.05)
    assert swept.values("no_such_finding") == [None, None] and swept.failures == ()
    assert (swept.path / "table.csv").exists() and not (swept.path / "report.html").exists()


def test_the_same_sweep_goes_on_and_runs_nothing_again(swept: ft.Sweep) -> None:
    again = ft.sweep(
        "bx500-240",
        {"slc_cache.size": "12GB,24GB"},
        battery=FILL,
        scale="1/64",
        out=swept.path,
        report=False,
    )
    assert again.repeated == 2 and again.points == swept.points


def test_a_point_that_is_no_drive_says_why(tmp_path: Path) -> None:
    vary = {"gc.low": [6, 1]}
    heard: list[ft.Status] = []
    done = ft.sweep(
        "bx500-240",
        vary,
        battery=FILL,
        scale="1/64",
        out=tmp_path,
        report=False,
        progress=heard.append,
    )
    assert [(status.step, status.steps, status.label) for status in heard] == [(1, 1, "gc.low=6")]
    assert done[0].run is not None and done[1].run is None
    assert "gc.low" in str(done[1].error) and done.failures == (done[1],)
    assert len(done[1].findings) == 0


def test_what_is_stored_is_listed_in_the_order_asked_for(swept: ft.Sweep) -> None:
    found = ft.runs(swept.path, sort="-cache_size")
    assert [run.findings["cache_size"].value for run in found] == swept.values("cache_size")[::-1]
    assert len(ft.runs(swept.path, limit=1)) == 1
    with pytest.raises(ft.FlashtwinError, match="no run has a finding of that name"):
        ft.runs(swept.path, sort="nothing")


def test_what_is_stored_is_printed_as_a_table_and_stays_a_list(
    swept: ft.Sweep, tmp_path: Path
) -> None:
    listed = ft.runs(swept.path, sort="cache_size")
    head, rule, *rows, total = str(listed).splitlines()
    assert head.split() == ["run", "started", "state", "target", "findings"] and set(rule) == {"─"}
    for run, row in zip(listed, rows, strict=True):
        assert row.startswith(run.name)
        assert f"cache_size {run.findings['cache_size'].value:.4g}" in row
    assert total == "2 runs" and str(listed[1:]).splitlines()[-1] == "1 run"
    assert isinstance(listed, list) and list(listed) == listed and repr(listed).startswith("[St")
    assert "<td>" in listed._repr_html_() and "cache_size" in listed._repr_html_()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("[")
    assert "manifest.json" in str(ft.runs(tmp_path)).splitlines()[-1]
    assert str(ft.drives()).splitlines()[0].split() == ["id", "name", "capacity", "cell", "cache"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ft.sweep(DRIVE, {"op": "7%..x"}), ["sweep", DRIVE, "--vary", "op=7%..x"]),
        (lambda: ft.sweep(DRIVE, {"op": [1, 1]}), ["sweep", DRIVE, "--vary", "op=1,1"]),
        (
            lambda: ft.sweep(DRIVE, {"op": [1]}, battery="fil"),
            ["sweep", DRIVE, "--vary", "op=1", "--battery", "fil"],
        ),
        (lambda: lab.validate("bx501-240"), ["validate", "bx501-240"]),
        (lambda: ft.runs("nowhere"), ["runs", "nowhere"]),
        (lambda: ft.runs(".", where="x = 1"), ["runs", ".", "--where", "x = 1"]),
        (lambda: ft.compare("nowhere", "there"), ["compare", "nowhere", "there"]),
        (lambda: ft.load_run("nowhere"), ["runs", "show", "nowhere"]),
        (lambda: ft.resume("nowhere"), ["test", "--resume", "nowhere"]),
        (lambda: ft.Twin("bx500-24"), ["show", "bx500-24"]),
        (lambda: ft.test(DRIVE, seed=-1), ["test", DRIVE, "--seed", "-1"]),
        (lambda: ft.test(DRIVE, seed=1 << 63), ["test", DRIVE, "--seed", str(1 << 63)]),
        (lambda: ft.Twin(DRIVE, sets={"op": "-1"}), ["show", DRIVE, "--set", "op=-1"]),
        (lambda: ft.Twin(DRIVE, scale="2"), ["show", DRIVE, "--scale", "2"]),
    ],
)
def test_a_wrong_argument_gets_the_message_of_the_command_line(
    call: Callable[[], object], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ft.FlashtwinError) as refused:
        call()
    message = [*str(refused.value).splitlines(), *getattr(refused.value, "__notes__", ())]
    done = CliRunner().invoke(app, words)
    typed = [line.removeprefix("error: bx500-240: ") for line in done.stderr.splitlines()]
    assert done.exit_code == refused.value.exit_code == 2
    assert {line.removeprefix("error: ") for line in typed} <= set(message) and typed


def test_a_spec_may_be_a_text(tmp_path: Path) -> None:
    head = 'schema = 1\nid = "mine"\nname = "Mine"\norigin = "prior"\nsource = "a test"\n'
    text = f'{head}extends = "bx500-240"\n[slc_cache]\nsize = "12 GB"\n'
    run = ft.test(text, battery=FILL, scale="1/64", out=tmp_path / "run", report=False)
    assert run.target == "mine" and "mine" in run.manifest["command"]
    assert ft.Twin(text, scale="1/64").name == "mine"
    with pytest.raises(ft.FlashtwinError, match="the text has 1 error"):
        ft.Twin(text.replace("12 GB", "12 GX"))
