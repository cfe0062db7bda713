"""Numbers, sizes and tables as they are printed."""

from __future__ import annotations

from typing import Any

import pytest

from flashtwin.cli import findings, terminal
from flashtwin.model.finding import Evidence, Finding, Interval

CELL = Evidence(battery="crystaldiskmark", label="x", axis="cell", start=0.0, end=0.0)


def finding(**fields: Any) -> Finding:
    plain = {"name": "cache_size", "variant": "1m-q1", "title": "Cache", "battery": "fill"}
    interval = Interval.of(fields.pop("low", None), fields.pop("high", None))
    return Finding(**{**plain, "value": 24.0, "unit": "GB", "interval": interval, **fields})


def cell(name: str, **fields: Any) -> Finding:
    where = {"battery": "crystaldiskmark", "variant": "RND4K-Q1T1", "evidence": CELL}
    return finding(name=name, **where, **fields)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "24 GB"),
        ({"low": 23.9, "high": 24.2}, "24.00 ± 0.20 GB"),
        ({"low": 23.9999, "high": 24.0001}, "24.00 ± 0.01 GB"),
        ({"low": 24.0, "high": 24.0}, "24 GB"),
        ({"value": 461.26, "low": 446.0, "high": 470.0}, "461.3 ± 15.3 MB/s"),
        ({"value": 0.0, "low": 0.0, "high": 1.5}, "0.000 ± 1.500 GB"),
        ({"value": None, "note": "no fold seen"}, "-"),
        ({"value": 0.33, "unit": ""}, "0.33"),
        ({"high": 25.5}, "24.00 ± 1.50 GB"),
        ({"value": "dynamic", "choices": ("static", "dynamic"), "unit": ""}, "dynamic"),
    ],
)
def test_a_value_with_its_interval(fields: dict[str, object], text: str) -> None:
    if "461" in text:
        fields = {**fields, "unit": "MB/s"}
    assert findings.value(finding(**fields)) == text


def test_drives_stand_side_by_side_and_notes_are_said_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_drive = {
        "one": [finding(note="careful"), cell("read")],
        "two": [finding(value=90.0, note="careful"), finding(name="mean", title="Mean")],
    }
    terminal.emit(*findings.tables(by_drive))
    lines = capsys.readouterr().out.splitlines()
    cache = next(line for line in lines if line.startswith("Cache"))
    assert cache.split() == ["Cache", "24", "GB", "[1]", "90", "GB", "[1]"]
    assert [line for line in lines if "careful" in line] == ["[1] careful"]
    mean = next(line for line in lines if line.startswith("Mean"))
    assert mean.split() == ["Mean", "24", "GB"]
    assert mean.index("24") > cache.index("90") - 4, "the value belongs to the second drive"
    assert "fill 1m-q1" in lines and "crystaldiskmark" in lines


def test_what_belongs_to_a_finding_stands_in_its_cell(capsys: pytest.CaptureFixture[str]) -> None:
    score = cell("read", title="RND4K Q1T1 read", unit="MB/s")
    latency = cell("read.latency", beside="read", value=110.0, unit="us")
    terminal.emit(*findings.tables({"one": [score, latency]}))
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split("  ", 1) == ["RND4K Q1T1 read", " 24 MB/s, 110 us"]


def test_a_pipe_gets_whole_lines_without_trailing_blanks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    long = "x" * 300
    table = terminal.table(["key", "text"], title="[nand]")
    table.add_row(terminal.cell("[slc]"), terminal.cell(long))
    terminal.emit(table)
    out = capsys.readouterr().out
    assert f"[slc]  {long}\n" in out.replace("   ", "  ")
    assert "[nand]" in out, "brackets are not markup"
    assert all(line == line.rstrip() for line in out.splitlines())


def test_a_narrow_place_wraps_and_loses_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table = terminal.table(["key", "text"])
    table.add_row(terminal.cell("k"), terminal.cell("word " * 30))
    terminal.emit(table)
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= 40
    assert out.count("word") == 30


def test_json_refuses_what_is_no_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        terminal.print_json({"value": float("nan")})
