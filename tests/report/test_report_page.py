"""The file: one, whole, the same each time, and safe whatever a run is called."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from changed_runs import rewrite
from made_runs import CELLS, HOST, Paper, _Clock, _manifest, _pass, make_run, two

from flashtwin import report
from flashtwin.batteries.base import registry
from flashtwin.batteries.base.present import Column, Fact, Place, Present, Section, Subject
from flashtwin.charts import assets, figures, tables
from flashtwin.charts.cells import Cell, Grid, Metric
from flashtwin.charts.curves import Phase
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.report import drives, endurance, page, provenance, template, xray
from flashtwin.report.drives import Contents
from flashtwin.runs import frames
from flashtwin.runs.compare.compare import compare
from flashtwin.runs.rundir import Run
from flashtwin.runs.writer import Writer

CELLS_SHOWN = "grid-crystaldiskmark"
EVIL = "<script>alert(1)</script>\"'&</style>\u2028"


class Elements(HTMLParser):
    """Tags, ids and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.data = ""
        self.words = ""
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.tags.append(tag)
        self._open.append("data" if found.get("id") == "data" else tag)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        self.references += [str(found[key]) for key in ("src", "href") if found.get(key)]

    def handle_data(self, text: str) -> None:
        if self._open and self._open[-1] == "data":
            self.data += text
        elif self._open and self._open[-1] not in ("script", "style"):
            self.words += text

    def handle_endtag(self, tag: str) -> None:
        if self._open:
            self._open.pop()


def data_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Elements(text).data)
    return found


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    return two(tmp_path_factory.mktemp("pair"))


@pytest.fixture(scope="module")
def text(pair: list[Run]) -> str:
    return page.render(pair)


def test_build_writes_one_file_and_says_where(pair: list[Run], tmp_path: Path) -> None:
    out = report.build(pair, tmp_path / "new" / "report.html")
    assert out == tmp_path / "new" / "report.html"
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]
    assert out.stat().st_size < 3_000_000


def test_the_same_runs_give_the_same_bytes(pair: list[Run], text: str) -> None:
    again = [Run(run.path) for run in pair]
    assert page.render(again) == text


def test_nothing_is_loaded(text: str) -> None:
    found = Elements(text)
    assert {ref[0] for ref in found.references} == {"#"}
    assert not set(found.tags) & {"link", "iframe", "img", "object", "embed"}
    assert "default-src 'none'" in text
    assert "unsafe-eval" not in text


def test_sections_in_order_and_ids_once(text: str) -> None:
    found = Elements(text)
    order = [
        "throughput",
        "grid-crystaldiskmark",
        "findings",
        "xray",
        "endurance",
        "specs",
        "method",
    ]
    order += ["host", "again"]
    assert [name for name in found.ids if name in order] == order
    assert len(found.ids) == len(set(found.ids))
    links = [ref[1:] for ref in found.references if len(ref) > 1]
    assert set(links) <= set(found.ids)


def test_what_is_folded_away_is_closed_where_it_ends(tmp_path: Path) -> None:
    """A page shows none of its own marks as text, and no part falls out of the fold around it."""
    run = make_run(tmp_path / "run", Paper(cells=CELLS[:2], xray=False))
    text = page.render([run])
    assert "Rate, IOPS</summary>" in text and "&lt;details" not in text
    assert text.count("<details") == text.count("</details>")


def test_every_chart_has_a_place_and_every_place_a_chart(text: str) -> None:
    places = {name.removeprefix("plot-") for name in Elements(text).ids if name.startswith("plot-")}
    data = data_of(text)
    on_paper = {f"paper-{group['id']}" for group in data["groups"]}
    assert places == set(data["panels"]) | on_paper


def test_every_chart_has_a_table_under_it(text: str) -> None:
    figures = re.findall(r"<figure.*?</figure>", text, re.S)
    assert len(figures) == 6
    # A table needs none under it.
    assert all(
        re.search(r"<details class=\"under\"[^>]*>.*<table", figure, re.S)
        for figure in figures
        if "tile-of-cells" not in figure
    )


@pytest.mark.full
def test_specifications_are_valid_vega_lite(pair: list[Run], text: str) -> None:
    """Altair checks against the schema, vl-convert compiles; the page does neither when built."""
    import altair as alt
    import vl_convert

    heat = figures.heat(Contents.of(pair).drives, ["RND4K", "RND64K"], "a map")
    for name, panel in [*data_of(text)["panels"].items(), ("heat", {"spec": heat})]:
        for spec in [panel["spec"]] if "spec" in panel else panel["specs"].values():
            alt.Chart.from_dict(spec)
            assert vl_convert.vegalite_to_vega(spec)["marks"], name


def test_more_drives_than_colours_and_shapes(tmp_path: Path) -> None:
    papers = [Paper(name=f"d{n}", patterns=("1m-q1",), passes=1, cells=()) for n in range(9)]
    runs = [make_run(tmp_path / paper.name, paper) for paper in papers]
    spec = figures.throughput(Contents.of(runs).drives, ["pass-1"], "gb")
    assert "var(--drive-7)" in json.dumps(spec)
    assert "var(--drive-8)" not in json.dumps(spec)
    assert len(page.render(runs)) < 4_000_000


def test_more_runs_than_a_page_draws_stand_in_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [Paper(name=f"d{n}", patterns=("1m-q1",), passes=1, cells=()) for n in range(7)]
    papers[6] = replace(papers[6], state="interrupted")
    runs = [make_run(tmp_path / paper.name, paper) for paper in papers]
    assert 'id="undrawn"' not in page.render(runs)
    monkeypatch.setattr(drives, "MOST_DRIVES", 4)
    text = page.render(runs)
    assert (
        "The table has all 7 runs. Curves, findings and set-ups are shown of the first 4, d0 to d3"
        in text
    )
    table = text[text.index('id="ranking"') :].partition("</table>")[0]
    assert all(f"d{n}</span>" in table for n in range(7)) and ">interrupted<" in table
    assert "drive of d5" not in text and text.count('<li class="drive"') == 4
    monkeypatch.setattr(drives, "MOST_CURVES", 2)
    assert "are shown of the first 2, d0 to d1" in page.render(runs)
    monkeypatch.setattr(drives, "MOST_CURVES", 0)
    assert "are shown of the first, d0: " in page.render(runs)


def test_more_runs_than_a_page_draws_are_counted_in_a_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [Paper(name=f"d{n}", patterns=("1m-q1",), passes=1, cells=()) for n in range(7)]
    runs = [make_run(tmp_path / paper.name, paper) for paper in papers]
    comparison = compare(runs)
    all_drawn = page.render(runs, comparison)
    monkeypatch.setattr(drives, "MOST_DRIVES", 3)
    text = page.render(runs, comparison)
    assert "The table has all 7 runs." in text and len(text) < len(all_drawn)
    counts = text[text.index('<ul class="counts">') :].partition("</ul>")[0]
    assert [f"d{n}</span>" in counts for n in range(7)] == [False] + [True] * 6
    assert "d2 against d0" in text and "d3 against d0" not in text
    monkeypatch.setattr(drives, "MOST_DRIVES", 1)
    alone = page.render(runs, comparison)
    assert 'id="differences"' in alone and "d1 against d0" not in alone


def test_whatever_a_run_says_is_text(tmp_path: Path) -> None:
    host = {**HOST, "processor": EVIL, EVIL: EVIL}
    run = make_run(tmp_path / "evil", Paper(name=EVIL, patterns=("1m-q1",), host=host))
    text = page.render([run])
    assert "<script>alert" not in text
    found = Elements(text)
    assert found.tags.count("script") == 4
    assert found.words.count("<script>alert(1)</script>") > 3
    assert data_of(text)["drives"][0]["name"] == EVIL


@pytest.mark.parametrize(
    ("paper", "there", "missing"),
    [
        (Paper(cells=()), {"findings", "throughput", "xray", "specs"}, {CELLS_SHOWN}),
        (Paper(patterns=()), {"findings", CELLS_SHOWN}, {"throughput", "xray"}),
        (Paper(xray=False), {"throughput", CELLS_SHOWN}, {"xray"}),
        (Paper(kind="file", xray=False, capacity=4), {"throughput", "specs"}, {"xray"}),
        (Paper(values=False), {"xray", "specs"}, set()),
        (Paper(passes=1, patterns=("1m-q1",)), {"throughput", "xray"}, set()),
        (Paper(patterns=(), cells=(), state="interrupted"), {"specs"}, {"findings", "throughput"}),
        (Paper(cells=(), state="failed"), {"throughput"}, {CELLS_SHOWN}),
        (Paper(host={}), {"throughput"}, {"host"}),
    ],
)
def test_what_is_lacking_leaves_its_section_out(
    paper: Paper, there: set[str], missing: set[str], tmp_path: Path
) -> None:
    ids = set(Elements(page.render([make_run(tmp_path / "run", paper)])).ids)
    assert there <= ids
    assert not missing & ids


def test_a_killed_run_is_shown_as_far_as_it_came(tmp_path: Path) -> None:
    """Its tables are not joined yet, and there are no findings."""
    import shutil

    from flashtwin.model.series import Series
    from flashtwin.model.step import Result
    from flashtwin.runs.blocks import Blocks

    whole = make_run(tmp_path / "whole", Paper(patterns=("1m-q1",), cells=()))
    lines = (whole.path / "steps.jsonl").read_text().splitlines(keepends=True)
    killed = tmp_path / "killed"
    shutil.copytree(whole.path, killed)
    manifest = json.loads((killed / "manifest.json").read_text())
    (killed / "steps.jsonl").write_text("".join(lines[:1]))
    rewrite(killed, "manifest.json", {**manifest, "state": "running", "steps": []})
    for name in ("series", "hist", "xray"):
        (killed / f"{name}.parquet").unlink()
    (killed / "findings.json").unlink()
    quiet = Result(label="purge", start_ns=0, duration_ns=0, series=Series.empty())
    Blocks.created(killed).append([], quiet, durable=False)
    text = page.render([Run(killed)])
    assert "was cut off after 1 steps" in text
    assert "cut off</span>" in text


def test_no_run_is_an_error_with_a_hint() -> None:
    with pytest.raises(FlashtwinError, match="no run to report on") as caught:
        page.render([])
    assert caught.value.hint


def test_endurance_is_told_by_cause_and_only_where_there_are_numbers(
    pair: list[Run], text: str, tmp_path: Path
) -> None:
    told, rows = endurance.rows_of(Contents.of(pair).drives)
    assert [drive.name for drive in told] == ["paper-a", "paper-b"]
    cells = {row.title: row.cells[0] for row in rows}
    assert cells["write amplification (WAF)"] == "1.75" and cells["folding"] == "0.500"
    assert cells["life used"] == "12.5 %" and cells["mean power"] == "0.870 W"
    assert sum(float(row.cells[0]) for row in rows if row.part) == 1.75
    assert "wear levelling" not in cells and "TBW of the label" not in cells
    assert "MB a joule" in Elements(text).words
    mute = page.render([make_run(tmp_path / "mute", Paper(xray=False))])
    assert "endurance" not in Elements(mute).ids


def test_defaults_of_the_format_stand_apart(pair: list[Run], text: str) -> None:
    assert "1 values at the default of the format" not in text
    assert "All 6 values that a spec gives" in text
    assert "1 value at the default of the format" in text
    _, sections = provenance.specs_of(Contents.of(pair).drives)
    assert [row.key for rows in sections.values() for row in rows if row.unwritten] == ["rate"]


def test_what_compression_saved_is_taken_off_the_causes() -> None:
    told = {"waf": {"total": 0.75, "by_cause": {"slc": 1.0, "gc": 0.25}}}
    drive: Any = SimpleNamespace(run=SimpleNamespace(smart=lambda _: {"flashtwin": told}))
    cells = {row.title: row.cells[0] for row in endurance.rows_of([drive])[1] if row.part}
    assert cells["saved by compression"] == "\N{MINUS SIGN}0.500"
    assert list(cells) == ["host data to SLC", "garbage collection", "saved by compression"]


def test_every_cause_of_the_xray_is_in_one_area() -> None:
    parts = [part for _, parts in xray.TOGETHER.values() for part in parts]
    alone = [name for name in xray.CAUSES if name not in xray.TOGETHER]
    assert sorted(alone + parts) == sorted(frames.CAUSES)
    columns = {column: np.array([0, 1]) for column in frames.PROGRAMMED.values()}
    columns |= {"t_ns": np.array([0, 1]), frames.SAVED_BYTES: np.array([0, 2])}
    assert list(frames.programmed_bytes(columns)) == [0, len(frames.CAUSES) - 2]


def test_power_and_temperature_are_drawn_and_tabled(pair: list[Run], text: str) -> None:
    data = data_of(text)
    assert list(data["gauges"]) == ["cache", "free", "waf", "power", "heat"]
    fill = data["xray"][0]
    # 461 MB/s at 2 nJ a byte, and 1 W.
    assert fill["power"][1] == pytest.approx(1.922, rel=0.01)
    assert fill["heat"][-1] == 40
    one = xray.insides_of(Contents.of(pair))[0]
    assert one.joules is not None and one.mb_per_joule is not None
    assert one.watts == pytest.approx(one.joules / one.seconds[-1])
    assert one.mb_per_joule == pytest.approx(240_000 / one.joules, rel=0.01)
    assert xray.table(one)[0]["watts"] == pytest.approx(1.92, rel=0.02)


def test_runs_from_before_energy_was_counted_have_no_such_chart(pair: list[Run]) -> None:
    insides = xray.insides_of(Contents.of(pair))
    old = [
        replace(
            one,
            counts={**one.counts, "energy_uj": one.counts["energy_uj"] * 0},
            gauges={name: one.gauges[name] for name in one.gauges if name != "temperature_mc"},
        )
        for one in insides
    ]
    assert all("power" not in columns for columns in xray.payload(old))
    assert old[0].joules is old[0].watts is old[0].mb_per_joule is None
    assert xray.table(old[0])[0]["watts"] is None


def test_causes_that_share_a_colour_are_added_and_absent_ones_are_not_named(
    pair: list[Run], text: str
) -> None:
    insides = xray.insides_of(Contents.of(pair))
    assert [cause["id"] for cause in data_of(text)["causes"]] == list(xray.causes_of(insides))
    named = {"slc", "direct", "fold", "gc", "pad", "parity", "upkeep", "map"}
    assert set(xray.causes_of(insides)) == named
    assert "journal and recovery" not in Elements(text).words
    second = next(one for one in insides if one.phase.name == "pass-2")
    assert second.total("upkeep_bytes") == pytest.approx(second.total("host_bytes") * 3 / 4000)


def test_every_pass_stands_under_its_own_heading(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", Paper(patterns=("1m-q1",), passes=3, cells=()))
    (group,) = Contents.of([run]).tables
    assert {part.title: [row.title for row in part.rows][-1] for part in group.parts} == {
        "First pass, from empty": "SLC cache as a share of the raw flash",
        "Second pass, on the full drive": "Mean speed",
        "Third pass, on the full drive": "Mean speed",
    }


def test_a_first_pass_that_found_data_is_not_called_one_from_empty(tmp_path: Path) -> None:
    file = Paper(patterns=("1m-q1",), passes=2, cells=(), kind="file")
    (group,) = Contents.of([make_run(tmp_path / "run", file)]).tables
    assert [part.title for part in group.parts] == ["First pass", "Second pass"]


@pytest.mark.parametrize("place", ["kept", "full/kept"])
def test_templates_are_compiled_once_where_that_can_be_kept(
    place: str, pair: list[Run], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").write_text("no folder")
    monkeypatch.setattr(template, "COMPILED", tmp_path / place)
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    for _ in range(2):
        template.environment.cache_clear()
        assert page.render(pair) == text
    assert (tmp_path / place).is_dir() == (place == "kept")
    template.environment.cache_clear()


class MadeUp(Present):
    """Shows a table, a grid, the curve of a step with a place in it, a sentence and a number."""

    title = "Made up"

    def section(self, subjects: Sequence[Subject]) -> Section:
        columns = {one.index: tuple(one.findings) for one in subjects}
        values = {(one.index, "big", "go", "lag"): one.findings[0] for one in subjects}
        metric = Metric(id="lag", title="Lag", unit="us", column="lag_us", drawn="dots")
        grid = Grid(
            id="made-up",
            title="Made up cells",
            cells=(Cell(id="big", title="Big <cell>"),),
            ways={"go": "Go"},
            metrics=(metric,),
            values=values,
        )
        return Section(tables=(tables.table("Made up", "one way", columns),), grids=(grid,))

    def phases(self, subject: Subject) -> list[Phase]:
        (label,) = subject.labels
        group = {"group": "made-up/all", "group_title": "All of it"}
        return [Phase(label=label, **group, name="only", title="the only one")]

    def places(self, subject: Subject) -> list[Place]:
        return [Place(label=subject.labels[0], gb=2.0, text="it gives in")]

    def facts(self, subjects: Sequence[Subject]) -> list[Fact]:
        return [Fact(text=f"{len(subjects)} of them lag.")]

    def columns(self, subject: Subject) -> list[Column]:
        return [Column(title="Typical lag", finding=subject.findings[0], better="lower")]


def made_up(path: Path, lag: float) -> Run:
    """A run of a battery that nobody knows: one step and two findings."""
    paper = Paper(name=path.name, patterns=(), cells=())
    asked = {**_manifest(paper), "batteries": [{"name": "made-up", "parameters": {}}]}
    writer = Writer(path, asked, HOST)
    answer = _pass(paper, _Clock(), 1)
    writer.step(battery="made-up", label="made-up/step", kind="run", answer=answer)
    words = {"battery": "made-up", "unit": "us"}
    found = [
        Finding(**words, name="lag", title="lag of <it>", value=lag),
        Finding(**words, name="most", title="most lag", value=None, note="not seen"),
    ]
    return writer.close(found, state="finished")


def test_a_battery_says_what_a_page_shows_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = ModuleType("made_up_present")
    module.PRESENT = MadeUp()
    monkeypatch.setitem(sys.modules, "made_up_present", module)
    battery = replace(registry.get("fill"), name="made-up", present="made_up_present")
    monkeypatch.setattr(registry, "get", lambda name: battery)
    runs = [made_up(tmp_path / name, lag) for name, lag in (("a", 30.0), ("b", 20.0), ("c", 25.0))]
    text = page.render(runs)
    found, data = Elements(text), data_of(text)
    assert "grid-made-up" in found.ids and "plot-made-up-lag-go" in found.ids
    for words in ("3 of them lag.", "Lag of <it>", "Made up cells", "Big <cell>", "All of it"):
        assert words in found.words
    assert {(one["label"], one["text"]) for one in data["places"]} == {
        ("made-up/step", "it gives in")
    }
    assert data["groups"] == [{"id": "made-up/all", "title": "All of it"}]
    ranking = re.search(r'id="ranking".*?</table>', text, re.S)
    assert ranking and "Typical lag" in ranking[0]
    assert re.findall(r"<b>(.*?)</b>", ranking[0]) == ["20 µs"]
    alone = page.render(runs[:1])
    assert "<dt>Typical lag</dt><dd><span>30 <small>µs</small></span></dd>" in alone


def test_a_battery_that_is_not_here_gets_a_plain_table(tmp_path: Path) -> None:
    text = page.render([made_up(tmp_path / "a", 30.0)])
    found = Elements(text)
    assert "Made-up" in found.words and "Lag of <it>" in found.words and "30" in found.words
    assert {"findings", "throughput"} & set(found.ids) == {"findings"}


def test_drives_stand_among_the_twins_with_what_their_own_run_found(pair: list[Run]) -> None:
    text = page.render(pair, ranks=True)
    found = Elements(text)
    assert "ranked" in found.ids
    assert len(found.ids) == len(set(found.ids))
    section = text[text.index('id="ranked"') :]
    section = section[: section.index("</section>")]
    assert "ADATA XPG SX8200 Pro" in section, "a twin of the catalogue"
    own = [row for row in re.findall(r"<tr>.*?</tr>", section, re.S) if "<b>" in row]
    assert len(own) == len(pair)
    for run in pair:
        (mean,) = [row.number for row in run.findings if row.id == "fill.mean[1m-q1]"]
        assert mean is not None
        assert any(f"{mean:.4g}" in row for row in own)
    assert "ranked" not in Elements(page.render(pair)).ids


def test_a_report_loads_no_analysis_and_no_thread_for_each_core(tmp_path: Path) -> None:
    """A third of what a page cost: modules that only other commands use, and OpenBLAS's threads."""
    make_run(tmp_path / "run")
    unwanted = ("flashtwin.batteries.fill.notes", "flashtwin.analysis.shape", "flashtwin.study")
    code = (
        "import os, sys\nfrom flashtwin import cli\nsys.argv = ['flashtwin', 'report', 'run']\n"
        "try:\n    cli.program()\nexcept SystemExit: pass\n"
        f"print([name for name in {unwanted!r} if name in sys.modules],"
        " len(os.listdir('/proc/self/task')), 'numpy' in sys.modules)"
    )
    settings = {name: value for name, value in os.environ.items() if "BLAS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=settings,
        check=True,
    )
    assert done.stdout.splitlines() == ["run/report.html", "[] 1 True"]


def test_data_of_a_page_are_json_that_ends_no_element() -> None:
    """Also numpy's numbers that are floats of Python's; of what is neither it says so."""
    value = {"mean": np.float64(1.5), "none": float("nan"), "text": "</script>"}
    assert json.loads(assets.json_text(value)) == {"mean": 1.5, "none": None, "text": "</script>"}
    assert "<" not in assets.json_text(value)
    with pytest.raises(TypeError):
        assets.json_text({"series": np.arange(2)})


def test_signs_of_what_is_packed_are_those_that_the_page_reads() -> None:
    (signs,) = re.findall(r'const SIGNS = "(.+)";', assets.text_of("unpack.js"))
    for data in (b"", b"\0", bytes(range(256)) * 5, b"\xff" * 7):
        digits = [signs.index(sign) for sign in assets.in_signs(data)]
        digits += [84] * (-len(digits) % 5)
        words = zip(*[iter(digits)] * 5, strict=True)
        numbers = [sum(digit * 85 ** (4 - at) for at, digit in enumerate(word)) for word in words]
        assert b"".join(number.to_bytes(4, "big") for number in numbers)[: len(data)] == data
    assert len(set(signs)) == 85 and not set(signs) & set("<>&\"'`\\")
