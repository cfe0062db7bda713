"""Numbers, names and sentences: what the page says, checked word for word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_runs import Paper, make_run, two

from flashtwin.batteries.fill import parse_pattern
from flashtwin.charts import numbers
from flashtwin.model.finding import Finding, Interval
from flashtwin.report import about, page
from flashtwin.report.drives import Contents


def finding(value: float | None, low: float | None, high: float | None, unit: str) -> Finding:
    interval = Interval.of(low, high)
    return Finding(
        battery="fill", name="mean", title="t", value=value, unit=unit, interval=interval
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "shown"),
    [
        (23.9958, 23.995, 23.9967, "GB", ("24.00", "0.01", "GB", None)),
        (461.023, 460.97, 461.076, "MB/s", ("461.0", "0.1", "MB/s", None)),
        (144.006, 142.384, 145.628, "MB/s", ("144.0", "1.7", "MB/s", None)),
        (137.684, 123.881, 151.487, "MB/s", ("138", "14", "MB/s", None)),
        (2165.36, 2164.6, 2166.11, "s", ("2\u202f165", "1", "s", "36 min 5 s")),
        (0.328023, 0.327998, 0.328034, "fraction", ("32.80", "0.01", "%", None)),
        (0.0, 0.0, 0.151388, "GB", ("0", None, "GB", "at most 0.16 GB")),
        (15371.6, 15371.6, 15371.6, "us", ("15.37", None, "ms", None)),
        (88.755, 88.0, 90.0, "us", ("88.8", "1.3", "µs", None)),
        (11267.0, None, None, "IOPS", ("11\u202f267", None, "IOPS", None)),
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
    made = numbers.Shown.of(finding(value, low, high, unit))
    assert (made.value, made.interval, made.unit, made.beside) == shown


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
    said = page._facts(Contents.of(two(tmp_path)))
    text = " ".join(one.subject + one.text for one in said).replace("\u00a0", " ")
    assert text.startswith(
        "paper-a writes 24.0 GB at 461 MB/s, then 111 MB/s; from 192 GB on it folds, and 81.0 MB/s"
        " are left."
    )
    assert "paper-b writes 90.0 GB at 240 MB/s, then 97.0 MB/s. Its first plateau covers" in text
    assert "They" not in text
    assert text.endswith(
        "In CrystalDiskMark they differ most in RND4K Q1T1 read: 47.0 MB/s (paper-a) against"
        " 4.50 MB/s (paper-b), 10 times."
    )


def test_a_run_that_was_stopped_says_so(tmp_path: Path) -> None:
    paper = Paper(name="x", patterns=(), cells=(), state="interrupted")
    said = page._facts(Contents.of([make_run(tmp_path / "x", paper)]))
    assert [one.text for one in said] == [
        "The run of x was interrupted after 0 steps; what was done is shown."
    ]


def test_two_drives_of_one_name_are_told_apart(tmp_path: Path) -> None:
    small = Paper(name="same", patterns=(), cells=())
    runs = [make_run(tmp_path / place, small) for place in ("one", "two", "deep/one")]
    names = [drive.name for drive in Contents.of(runs).drives]
    assert names == ["same (one) #1", "same (two)", "same (one) #3"]


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
    drives, sections = about.specs_of(Contents.of(two(tmp_path)).drives)
    assert [drive.name for drive in drives] == ["paper-a", "paper-b"]
    rows = {f"{name}.{row.key}": row for name, rows in sections.items() for row in rows}
    assert [key for key, row in rows.items() if row.differs] == ["slc_cache.size"]
    size = rows["slc_cache.size"].cells[1]
    assert size is not None
    assert (size.value, size.origin, size.mark) == ("90 GB", "computed", "C")
    assert rows["nand.channels"].same


def test_what_a_target_could_not_do_is_said(tmp_path: Path) -> None:
    paper = Paper(name="probe", kind="file", patterns=("1m-q1",), passes=1, capacity=4, cells=())
    use = about.batteries(Contents.of([make_run(tmp_path / "x", paper)]).drives)[0]
    assert [text for text, _ in use.departs] == [
        "host takes 5 us a command",
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
