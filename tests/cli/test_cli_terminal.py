"""Numbers, sizes and tables as they are printed."""

from __future__ import annotations

from typing import Any

import pytest

from flashtwin.cli import findings, terminal
from flashtwin.model import text
from flashtwin.model.finding import Evidence, Finding, Interval

CELL = Evidence(battery="crystaldiskmark", label="x", axis="cell", start=0.0, end=0.0)


def finding(**fields: Any) -> Finding:
    plain = {"name": "cache_size", "variant": "1m-q1", "title": "Cache", "battery": "fill"}
    means = fields.pop("means", "estimate")
    interval = Interval.of(fields.pop("low", None), fields.pop("high", None), means)
    return Finding(**{**plain, "value": 24.0, "unit": "GB", "interval": interval, **fields})


def cell(name: str, **fields: Any) -> Finding:
    where = {"battery": "crystaldiskmark", "variant": "RND4K-Q1T1", "evidence": CELL}
    return finding(name=name, **where, **fields)


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, "24 GB"),
        ({"low": 23.9, "high": 24.2}, "24.00 ± 0.20 GB"),
        ({"low": 23.9999, "high": 24.0001}, "24.00 ± 0.01 GB"),
        ({"low": 24.0, "high": 24.0}, "24 GB"),
        ({"value": 461.26, "low": 446.0, "high": 470.0}, "461 ± 16 MB/s"),
        ({"value": 0.0, "low": 0.0, "high": 1.5, "means": "bound"}, "not seen (< 1.5 GB)"),
        ({"value": None, "note": "no fold seen"}, text.MISSING),
        (
            {"value": 258.0, "low": 124.0, "high": 258.0, "means": "range"},
            "258 (124.0 to 258.0) GB",
        ),
        ({"value": 258.0, "low": 258.0, "high": 258.0, "means": "range"}, "258 GB"),
        ({"value": 1.5, "low": 1.25, "means": "bound", "unit": "x"}, "1.5 (at least 1.250) x"),
        ({"value": 467.8, "low": 467.75, "means": "bound"}, "\u2265 467.7 GB"),
        ({"value": 0.783, "low": 0.7, "high": 0.86, "unit": "fraction"}, "78 \u00b1 9 %"),
        ({"value": None, "note": "cannot tell: too short"}, text.CANNOT_TELL),
        ({"value": 0.0874, "low": 0.0873, "high": 0.0875, "unit": "fraction"}, "8.740 ± 0.010 %"),
        ({"value": 15372.0, "unit": "us"}, "15.37 ms"),
        ({"value": 14144.0, "unit": "IOPS"}, "14,144 IOPS"),
        ({"value": 0.33, "unit": ""}, "0.33"),
        ({"high": 25.5}, "24.0 ± 1.5 GB"),
        ({"value": "dynamic", "choices": ("static", "dynamic"), "unit": ""}, "dynamic"),
    ],
)
def test_a_value_with_its_interval(fields: dict[str, object], shown: str) -> None:
    if "461" in shown:
        fields = {**fields, "unit": "MB/s"}
    assert findings.value(finding(**fields)) == shown


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


def grid(**scores: float) -> list[Finding]:
    """Scores by way, all of one cell, each with its latency."""
    return [
        one
        for way, score in scores.items()
        for one in (
            cell(
                way, title=f"RND4K Q1T1 {way}", unit="MB/s", value=score, low=score / 2, high=score
            ),
            cell(f"{way}.latency", beside=way, value=15372.0, unit="us"),
        )
    ]


def test_cells_make_a_block_for_each_unit_with_the_drives_side_by_side(
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_drive = {"one": grid(read=30.8, write=36.7), "two": grid(read=57.9)}
    terminal.emit(*findings.tables(by_drive))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    at = lines.index(["crystaldiskmark,", "MB/s"])
    assert lines[at + 1] == ["one", "two"] and lines[at + 2] == ["read", "write"] * 2
    assert lines[at + 3] == ["RND4K-Q1T1", "30.8", "36.7", "57.9"]
    assert ["RND4K-Q1T1", *["15.4", "ms"] * 3] in lines
    remark = "RND4K Q1T1 write: 18.4 to 36.7 MB/s over its runs, one"
    assert remark.split() in lines


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_drives_that_do_not_fit_beside_each_other_stand_under_each_other(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    note = "what the number rests on; and much more that explain tells " + "word " * 40
    own = [finding(note=note, low=23.0, high=25.0), *grid(read=30.8, write=36.7, mix=3.0)]
    terminal.emit(*findings.tables({f"a-drive-with-a-name-{n}": own for n in range(5)}))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum("a-drive-with-a-name-4" in line for line in lines) >= 3
    at = next(number for number, line in enumerate(lines) if line.startswith("[1]"))
    told = " ".join(line.strip() for line in lines[at:])
    assert told == f"[1] {note}".rstrip(), "a note is wrapped, and nothing of it is left out"


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


def test_a_checkout_names_its_commands_as_they_are_typed_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "flashtwin runs show ./flashtwin-runs/x; python/flashtwin stays"
    assert terminal.typed(text) == text
    monkeypatch.setenv("FLASHTWIN_TYPED", "./dev flashtwin")
    assert terminal.typed(text) == f"./dev {text}"
