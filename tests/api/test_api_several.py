"""Several targets from Python, what is seen of a run on its way, and the kinds of errors."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from stored_runs import newer, store

import flashtwin as ft
from flashtwin.api import progress

PAIR = ["bx500-240", "bx500-240-nocache"]
PATH = os.pathsep.join(os.path.abspath(one) for one in sys.path if one)
QUICK: dict[str, Any] = {"battery": "fill:passes=1,patterns=1m-q1", "scale": "1/64"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> ft.Runs:
    return ft.test(PAIR, out=tmp_path_factory.mktemp("pair") / "runs", **QUICK)


def test_several_targets(pair: ft.Runs, tmp_path: Path) -> None:
    assert isinstance(pair, ft.Runs) and len(pair) == 2
    assert pair.keys() == PAIR and [run.target for run in pair] == PAIR
    assert pair[1] is pair["bx500-240-nocache"] and pair[:1] == (pair[0],)
    assert [name for name, _ in pair.items()] == PAIR
    with pytest.raises(KeyError, match="no run is called x"):
        pair["x"]
    assert (pair.path / "report.html").exists() and not (pair.path / "plan.json").exists()
    assert not (pair[0].path / "report.html").exists()
    table = pair.table()
    assert table.columns[:2] == ["run", "id"]
    assert table.height == sum(map(len, pair.findings.values()))
    assert pair.findings[PAIR[0]] == pair[0].findings and len(pair.values("mean")) == len(pair)
    assert all(name in str(pair) for name in PAIR)
    assert pair.compare().names == tuple(PAIR)
    assert pair.report(tmp_path / "page.html").exists()


def test_a_label_is_what_a_run_is_called(tmp_path: Path) -> None:
    """One drive twice with other values: on the page and beside each other by their labels."""
    quick: dict[str, Any] = {**QUICK, "scale": "1/64"}
    small, usual = (
        ft.test("bx500-240", out=tmp_path / label, label=label, sets=sets, **quick)
        for label, sets in (("8 GB", {"slc_cache.size": "8 GB"}), ("as sold", {}))
    )
    assert ft.compare(small, usual).names == ("8 GB", "as sold")
    page = (tmp_path / "8 GB" / "report.html").read_text()
    heading = page.partition("<h1")[2].partition("</h1>")[0]
    assert re.sub(r"<[^>]*>", "", heading).endswith("8 GB")
    words = small.stored.manifest["command"]
    assert words[words.index("--label") + 1] == "8 GB"


@pytest.mark.parametrize("labels", [["one"], ["one", "one"], ["one", " "], ["one", "x" * 41]])
def test_labels_that_are_refused(tmp_path: Path, labels: list[str]) -> None:
    with pytest.raises(ft.UsageError, match="label"):
        ft.test(PAIR, out=tmp_path / "run", label=labels, **QUICK)
    assert not (tmp_path / "run").exists()


def test_the_same_bytes_as_the_command_line_and_as_one_alone(pair: ft.Runs, tmp_path: Path) -> None:
    words = ["test", *PAIR, "--battery", QUICK["battery"], "--scale", "1/64", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "flashtwin.cli", *words, "--out", str(tmp_path / "runs")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for file in sorted((tmp_path / "runs").rglob("*")):
        if file.is_file() and file.name != "host.json":
            mine = pair.path / file.relative_to(tmp_path / "runs")
            assert mine.read_bytes() == file.read_bytes(), file.name
    alone = ft.test(PAIR[:1], out=tmp_path / "alone", report=False, **QUICK)
    assert isinstance(alone, ft.Runs) and alone[0].findings == pair[0].findings
    assert alone.path == alone[0].path == tmp_path / "alone"


def test_a_script_need_not_guard_itself(tmp_path: Path) -> None:
    """A spawned process runs the main module, which would begin everything anew."""
    script = tmp_path / "mine.py"
    script.write_text(
        "import flashtwin as ft\n"
        "print('begun')\n"
        f"runs = ft.test({PAIR!r}, battery='fill:passes=1,patterns=1m-q1', scale='1/64',"
        " out='runs')\n"
        "print(runs.keys())\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": PATH},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["begun", str(PAIR)] and done.stderr == ""


def test_a_notebook_shows_several(pair: ft.Runs, tmp_path: Path) -> None:
    html = pair._repr_html_()
    ids = dict.fromkeys(one.id for run in pair for one in run.findings)
    assert html.count("<tr") == len(ids) + 1
    assert "<th>bx500-240-nocache</th>" in html and " GB" in html
    assert re.search(r"0\.37\d* ± ", html), "a 64th of the cache of 24 GB"
    bundle = pair._repr_mimebundle_()
    assert bundle["text/html"] == html and bundle["text/plain"] == repr(pair)
    assert repr(pair).endswith("runs', bx500-240, bx500-240-nocache)")
    store(tmp_path / "<b>", target="<i>", findings=[])
    assert "<b>" not in ft.load_runs(tmp_path)._repr_html_()


def test_stored_runs_of_a_folder(pair: ft.Runs, tmp_path: Path) -> None:
    again = ft.load_runs(pair.path)
    assert again.keys() == PAIR and again[0].findings == pair[0].findings
    assert len(ft.load_runs(pair[0].path)) == 1
    with pytest.raises(ft.UsageError, match="no run in"):
        ft.load_runs(tmp_path)
    newer(tmp_path / "newer")
    with pytest.raises(ft.MachineError, match="schema 99"):
        ft.load_runs(tmp_path)


def test_a_callback_hears_each_run(tmp_path: Path) -> None:
    heard: list[ft.Status] = []
    ft.test(PAIR, out=tmp_path / "runs", progress=heard.append, report=False, **QUICK)
    assert {one.target for one in heard} == set(PAIR)
    for name in PAIR:
        mine = [one for one in heard if one.target == name]
        assert [one.fraction for one in mine] == sorted(one.fraction for one in mine)
        assert "fill/1m-q1/pass-1" in {one.label for one in mine}
        assert all(0 <= one.fraction <= 1 and one.battery == "fill" for one in mine)


@pytest.mark.parametrize(
    ("argument", "watched"),
    [pytest.param("", True, marks=pytest.mark.full), ("progress=True", False)],
)
def test_what_is_shown_where(tmp_path: Path, argument: str, watched: bool) -> None:
    """On a terminal the command line's block; in a pipe nothing (above), unless it is asked for."""
    code = (
        "import flashtwin as ft\n"
        "ft.test('bx500-240', battery='fill:passes=1,patterns=1m-q1', scale='1/64', out='r',"
        f" report=False, {argument})\n"
    )
    ours, theirs = pty.openpty()
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdout=pipe,
        stderr=theirs if watched else pipe,
        env=os.environ | {"TERM": "xterm", "PYTHONPATH": PATH},
    )
    os.close(theirs)
    shown = b""
    while watched:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    out, err = process.communicate(timeout=120)
    os.close(ours)
    assert process.returncode == 0 and out == b"", err
    text = (shown if watched else err).decode()
    assert "bx500-240: writes 3.75 GB" in text
    assert ("100 %" in text) == watched


class Notebook:
    """What IPython has of a cell, as far as it is used."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drawn: list[str] = []
        shell = SimpleNamespace(kernel=object())
        main, display = ModuleType("IPython"), ModuleType("IPython.display")
        main.get_ipython = lambda: shell  # type: ignore[attr-defined]
        display.HTML = lambda text: text  # type: ignore[attr-defined]
        display.display = self._display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", main)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def _display(self, text: str, *, display_id: bool) -> Any:
        assert display_id and not self.drawn, "one place in the cell"
        self.drawn.append(text)
        return SimpleNamespace(update=self.drawn.append)


def test_in_a_notebook_a_table_is_drawn_over_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(monkeypatch)
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    runs = ft.test(PAIR, out=tmp_path / "runs", report=False, **QUICK)
    first, last = notebook.drawn[0], notebook.drawn[-1]
    assert first.count("<tr>") == 2 and "waits" in first and "0%" in first
    assert last.count("done") == 2 and last.count("100%") == 2
    assert all(f"<td>{len(run.findings)} findings</td>" in last for run in runs)
    assert any("fill/1m-q1/pass-1" in one and "<progress" in one for one in notebook.drawn)
    drawn = len(notebook.drawn)
    ft.test(PAIR[0], out=tmp_path / "run", report=False, progress=False, **QUICK)
    assert len(notebook.drawn) == drawn


def test_errors_have_their_kinds(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    (tmp_path / "mine.bin").write_text("mine")
    (tmp_path / "bad.toml").write_text("schema = 1\n")
    wrong: list[tuple[Any, dict[str, Any], type[ft.FlashtwinError]]] = [
        ([], {}, ft.UsageError),
        (["bx500-240", "bx501-240"], {}, ft.UsageError),
        (str(tmp_path / "bad.toml"), {}, ft.UsageError),
        ("bx500-240", {"out": tmp_path / "full"}, ft.UsageError),
        (str(tmp_path / "mine.bin"), {"size": "64MiB"}, ft.RefusedError),
    ]
    for target, more, kind in wrong:
        with pytest.raises(kind) as raised:
            ft.test(target, **{"out": tmp_path / "out", **more})
        assert raised.value.exit_code == {ft.UsageError: 2, ft.RefusedError: 4}[kind]
        assert not (tmp_path / "out").exists()
    kinds = {2: ft.UsageError, 3: ft.MachineError, 4: ft.RefusedError, None: ft.UsageError}
    for code, kind in kinds.items():
        error = ft.FlashtwinError("said", hint="do", exit_code=code)
        assert type(error) is kind and (error.message, error.hint) == ("said", "do")
    assert type(ft.FlashtwinError("x", exit_code=1)) is ft.FlashtwinError
    assert issubclass(ft.UsageError, ft.FlashtwinError)


def test_a_comparison_shows_itself(pair: ft.Runs) -> None:
    html = pair.compare()._repr_html_()
    assert "<b>bx500-240-nocache</b> against <b>bx500-240</b>" in html and "<table" in html
    drawn = pair[0].chart()._repr_html_()
    assert "vegaEmbed" in drawn and "<script src" not in drawn
    assert "<table" in pair[0].series._repr_html_()
