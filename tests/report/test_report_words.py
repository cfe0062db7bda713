"""Numbers, names and sentences: what the page says, checked word for word."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_runs import Paper, make_run, two

from flashtwin.batteries.base.present import Tile
from flashtwin.batteries.fill import parse_pattern
from flashtwin.charts import numbers
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.findings import Findings
from flashtwin.model.text import Shown
from flashtwin.report import drives as drives_module
from flashtwin.report import masthead, provenance
from flashtwin.report.drives import Contents
from flashtwin.report.page import render


def finding(value: float | None, low: float | None, high: float | None, unit: str) -> Finding:
    interval = Interval.of(low, high, "estimate" if value else "bound")
    return Finding(
        battery="fill", name="mean", title="t", value=value, unit=unit, interval=interval
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "shown"),
    [
        (23.9958, 23.995, 23.9967, "GB", ("24.00", "± 0.01", "GB", None)),
        (461.023, 460.97, 461.076, "MB/s", ("461.0", "± 0.1", "MB/s", None)),
        (144.006, 142.384, 145.628, "MB/s", ("144.0", "± 1.7", "MB/s", None)),
        (137.684, 123.881, 151.487, "MB/s", ("138", "± 14", "MB/s", None)),
        (2165.36, 2164.6, 2166.11, "s", ("2,165", "± 1", "s", "36 min 5 s")),
        (0.328023, 0.327998, 0.328034, "fraction", ("32.80", "± 0.01", "%", None)),
        (0.999072, 0.99291, 1.0, "fraction", ("99.9", "(99.2 to 100.0)", "%", None)),
        (0.0, 0.0, 0.151388, "GB", ("not seen", None, "", "< 0.16 GB")),
        (15371.6, 15371.6, 15371.6, "us", ("15.37", None, "ms", None)),
        (88.755, 88.0, 90.0, "us", ("88.8", "± 1.3", "µs", None)),
        (11267.0, None, None, "IOPS", ("11,267", None, "IOPS", None)),
        (None, None, None, "GB", (numbers.MISSING, None, "", None)),
    ],
)
def test_findings_are_shown_with_the_digits_that_they_have(
    value: float | None,
    low: float | None,
    high: float | None,
    unit: str,
    shown: tuple[str, str | None, str, str | None],
) -> None:
    made = Shown.of(finding(value, low, high, unit))
    assert (made.value, made.spread, made.unit, made.beside) == shown


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 3, "0"),
        (9.996, 3, "10.0"),
        (-3.14159, 3, "\u22123.14"),
        (float("nan"), 3, numbers.MISSING),
    ],
)
def test_significant_digits(value: float, digits: int, text: str) -> None:
    assert numbers.significant(value, digits) == text


def test_arrays_are_short_numbers() -> None:
    values = [0.123456, -98765.4, 461.0, 1e-7 / 3, 2.0e17, 0.0, float("nan"), float("inf")]
    assert numbers.compact(values, 3) == [0.123, -98800, 461, 3.33e-8, 2e17, 0, None, None]
    assert json.dumps(numbers.compact([0.3, 1e6 / 3], 4)) == "[0.3, 333300]"


def test_the_summary_says_what_the_findings_say(tmp_path: Path) -> None:
    said = masthead.facts(Contents.of(two(tmp_path)))
    text = " ".join(one.subject + one.text for one in said).replace("\u00a0", " ")
    assert text.startswith(
        "paper-a writes 24.0 GB at 461 MB/s, then 111 MB/s; from 192 GB on it has to fold, and "
        "81.0 MB/s are left."
    )
    assert "paper-b writes 90.0 GB at 240 MB/s, then 97.0 MB/s. That is 32." in text
    assert "They" not in text
    assert text.endswith(
        "In CrystalDiskMark they differ most in RND4K Q1T1 read: 47.0 MB/s (paper-a) against"
        " 4.50 MB/s (paper-b), 10 times."
    )


def test_a_run_that_was_stopped_says_so(tmp_path: Path) -> None:
    paper = Paper(name="x", patterns=(), cells=(), state="interrupted")
    drives = Contents.of([make_run(tmp_path / "x", paper)]).drives
    assert masthead.unfinished(drives) == [
        "The run of x was interrupted after 0 steps; what was done is shown."
    ]


def test_two_drives_of_one_name_are_told_apart(tmp_path: Path) -> None:
    small = Paper(name="same", patterns=(), cells=())
    runs = [make_run(tmp_path / place, small) for place in ("one", "two", "deep/one")]
    names = [drive.name for drive in Contents.of(runs).drives]
    assert names == ["same (one) #1", "same (two)", "same (one) #3"]


def test_variants_of_a_drive_are_called_by_what_was_set(tmp_path: Path) -> None:
    plain = Paper(name="same", patterns=(), cells=())
    variants = [
        plain,
        replace(plain, options=("--firmware", "slc-off")),
        replace(plain, options=("--set", "slc_cache.size=8GB", "--set", "gc.low=6")),
    ]
    runs = [make_run(tmp_path / str(number), paper) for number, paper in enumerate(variants)]
    names = [drive.name for drive in Contents.of(runs).drives]
    assert names == ["same", "same slc-off", "same cache 8 GB, gc.low 6"]


def test_every_finding_is_in_a_table_once(tmp_path: Path) -> None:
    contents = Contents.of(two(tmp_path))
    shown = [
        finding.id
        for table in contents.tables
        for part in table.parts
        for row in part.rows
        for finding in row.findings.values()
    ]
    shown += [finding.id for grid in contents.grids for finding in grid.values.values()]
    every = [finding.id for drive in contents.drives for finding in drive.findings]
    assert sorted(shown) == sorted(every)


def test_specs_say_where_they_differ(tmp_path: Path) -> None:
    drives, sections = provenance.specs_of(Contents.of(two(tmp_path)).drives)
    assert [drive.name for drive in drives] == ["paper-a", "paper-b"]
    rows = {f"{name}.{row.key}": row for name, rows in sections.items() for row in rows}
    assert [key for key, row in rows.items() if row.differs] == ["slc_cache.size"]
    size = rows["slc_cache.size"].cells[1]
    assert size is not None
    assert (size.value, size.origin, size.mark) == ("90 GB", "computed", "C")
    assert rows["nand.channels"].same


def test_what_a_target_could_not_do_is_said(tmp_path: Path) -> None:
    paper = Paper(name="probe", kind="file", patterns=("1m-q1",), passes=1, capacity=4, cells=())
    use = provenance.batteries(Contents.of([make_run(tmp_path / "x", paper)]).drives)[0]
    assert [text for text, _ in use.departs] == [
        "host takes 5 µs a command",
        "purge was not possible: a file cannot be erased",
    ]


@pytest.mark.parametrize(
    ("variant", "title"),
    [
        ("128k-q32", "128 KiB, queue depth 32"),
        ("1m-q1", "1 MiB, queue depth 1"),
    ],
)
def test_patterns_have_titles(variant: str, title: str) -> None:
    assert parse_pattern(variant).title == title


def masthead_of(path: Path, *papers: Paper) -> str:
    """The one sentence of a page of these drives."""
    runs = [make_run(path / paper.name, paper) for paper in papers]
    return masthead.verdict(Contents.of(runs)).replace("\u00a0", " ")


SLOW_FILL = Paper(name="paper-b", fold=240, fast=240, slow=60, folding=60, rate4k=47)


def test_a_page_of_one_drive_says_its_cache(tmp_path: Path) -> None:
    assert masthead_of(tmp_path, Paper()) == "Writes 24.0 GB at 461 MB/s, then 111 MB/s."


def test_each_of_two_drives_gets_what_it_is_better_at(tmp_path: Path) -> None:
    other = Paper(name="paper-b", cache=90, fold=240, fast=240, slow=97, folding=97, rate4k=9)
    text = masthead_of(tmp_path, Paper(rate4k=99), other)
    assert re.fullmatch(
        r"paper-b writes 3\.8 times more before its speed drops; "
        r"paper-a (read|write)s 4 KiB 11 times faster\.",
        text,
    )
    assert len(text.split()) <= masthead.MOST_WORDS


def test_what_differs_by_less_than_a_tenth_is_no_difference(tmp_path: Path) -> None:
    alike = Paper(name="paper-b", slow=112)
    assert masthead_of(tmp_path, Paper(), alike) == "No difference of 10 % was seen."


def test_a_cache_counts_in_the_verdict(tmp_path: Path) -> None:
    """Three times the cache at the same speeds is a difference, and so is a cache beside none."""
    small = Paper(name="paper-b", cache=8)
    assert "paper-a has an SLC cache 3.0 times larger" in masthead_of(tmp_path, Paper(), small)
    none = Paper(name="paper-c", cache=0, fast=111)
    text = masthead_of(tmp_path / "none", Paper(), none)
    assert "paper-a alone shows an SLC cache" in text


def test_of_many_drives_the_best_are_named(tmp_path: Path) -> None:
    text = masthead_of(tmp_path, Paper(), SLOW_FILL, Paper(name="paper-c", slow=60, rate4k=200))
    assert text.startswith("paper-a writes fastest past its cache and fills soonest; paper-c ")
    assert len(text.split()) <= masthead.MOST_WORDS


def test_values_whose_intervals_meet_are_not_ranked(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / paper.name, paper) for paper in (Paper(), SLOW_FILL)]
    known = Contents.of(runs)
    assert "faster in its cache" in masthead.verdict(known)
    wide = [
        replace(finding, interval=Interval.of(1.0, 1e6, "estimate"))
        for finding in known.drives[0].findings
        if finding.value is not None
    ]
    drives = (replace(known.drives[0], findings=Findings(wide)), known.drives[1])
    batteries = tuple(
        drives_module._section(section.battery, drives) for section in known.batteries
    )
    unsure = Contents(drives=drives, batteries=batteries)
    text = masthead.verdict(unsure)
    assert text == "No difference beyond the uncertainty of the values was seen."


@pytest.mark.parametrize(
    ("papers", "text"),
    [
        ((Paper(),), "simulated"),
        ((Paper(kind="file", xray=False),), "measured"),
        ((Paper(), Paper(name="b", kind="file", xray=False)), "simulated and measured"),
    ],
)
def test_a_page_says_whether_it_is_simulated(
    papers: tuple[Paper, ...], text: str, tmp_path: Path
) -> None:
    runs = [make_run(tmp_path / paper.name, paper) for paper in papers]
    assert masthead.kinds(Contents.of(runs).drives) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(12.34, "12.3\u00a0s"), (60, "1:00"), (2165.2, "36:05"), (3723, "1:02:03")],
)
def test_times_are_those_of_a_clock(seconds: float, text: str) -> None:
    assert numbers.clock(seconds) == text


def test_of_two_drives_the_better_tile_says_by_how_much(tmp_path: Path) -> None:
    rows = masthead.tiles(Contents.of(two(tmp_path)))
    leads = [{one.tile.title: one.ratio for one in row} for row in rows]
    assert [lead["Speed in the cache"] for lead in leads] == ["1.9\u00d7", ""]
    assert [lead["SLC cache"] for lead in leads] == ["", "3.8\u00d7"]
    assert [lead["4 KiB QD1 read / write"] for lead in leads] == ["10\u00d7 / 10\u00d7", ""]


def test_the_method_lists_only_what_applied(tmp_path: Path) -> None:
    """A battery that a stopped run did not come to, and a simulated host's time on a real one."""
    drives = Contents.of([make_run(tmp_path / "x", Paper(name="x", cells=()))]).drives
    manifest = drives[0].run.manifest
    manifest["batteries"][0]["parameters"]["host_us"] = 5.0
    manifest["batteries"].append({"name": "crystaldiskmark", "parameters": {"mix": 70}})
    for can, listed in (({"host_time": True}, True), ({"host_time": False}, False)):
        manifest["target"]["can"] = can
        uses = provenance.batteries(drives)
        assert [use.name for use in uses] == ["fill"]
        assert ("host" in " ".join(row.name for row in uses[0].parameters)) == listed


def test_a_group_without_a_fill_has_a_sentence_too() -> None:
    """Its first numbers: of one drive two, of several the first that all of them have."""
    score = Tile(title="Score", value="144", unit="points")
    worst = Tile(title="99.99 %", value="14.5", unit="ms")
    tiles = {"a": [score, worst], "b": [worst]}
    drives = tuple(SimpleNamespace(name=name, index=n) for n, name in enumerate(tiles))
    contents: Any = SimpleNamespace(
        drives=drives,
        columns=list,
        alone=lambda drive: "",
        tiles=lambda drive: tiles[drive.name],
    )
    assert masthead.verdict(contents) == "99.99 %: a 14.5 ms, b 14.5 ms."
    contents.drives = drives[:1]
    assert masthead.verdict(contents) == "Score: 144 points; 99.99 %: 14.5 ms."


def test_a_second_pass_without_a_size_of_the_cache_tells_nothing_of_a_cache(tmp_path: Path) -> None:
    contents = Contents.of([make_run(tmp_path / "run", Paper(patterns=("1m-q1",), cells=()))])
    (section,) = contents.batteries
    (subject,) = section.subjects
    for size, said in ((None, "Written once more, the mean"), (0.0, "no cache shows")):
        findings = [
            replace(finding, value=size, interval=None)
            if finding.name == "second_pass.cache_size"
            else finding
            for finding in subject.findings
        ]
        facts = section.present.facts([replace(subject, findings=Findings(findings))])
        (told,) = [fact.text for fact in facts if "once more" in fact.text]
        assert said in told and ("cache" in told) == (size is not None)


def test_the_table_of_several_drives_tells_a_long_fill_in_minutes(tmp_path: Path) -> None:
    paper = Paper(patterns=("1m-q1",), cells=())
    contents = Contents.of([make_run(tmp_path / str(n), paper) for n in range(3)])
    (fill,) = [column for column in masthead.ranking(contents) if column.title == "Time to fill"]
    seconds = contents.drives[0].findings["duration"].number
    assert seconds and seconds > 60
    assert set(fill.texts.values()) == {numbers.clock(seconds)}


def test_a_page_promises_the_same_bytes_of_twins_alone(tmp_path: Path) -> None:
    papers = {"twin": Paper(cells=()), "file": Paper(cells=(), kind="file", xray=False)}
    pages = {kind: render([make_run(tmp_path / kind, paper)]) for kind, paper in papers.items()}
    assert "give the same bytes" in pages["twin"] and "differ from run to run" not in pages["twin"]
    assert "give the same bytes" not in pages["file"] and "differ from run to run" in pages["file"]


def test_a_page_tells_of_a_host_what_a_reader_wants() -> None:
    host = {
        "cpus": 2,
        "file": {"path": "/a", "mark": "0f"},
        "process": 7,
        "arguments": ["test"],
        "sessions": [{"wall_s": 1.0}, {"wall_s": 2.0}],
        "began": "2026-01-15T10:15:00+00:00",
    }
    run = SimpleNamespace(host=host, is_simulated=False)
    rows = provenance.hosts([SimpleNamespace(run=run)])  # type: ignore[list-item]
    assert {row.name: row.texts[0] for row in rows} == {
        "CPUs": "2",
        "sessions": "2",
        "began": "2026-01-15 10:15:00 UTC",
    }
