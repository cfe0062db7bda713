"""The list of drives: what a condition chooses, how it is sorted, what it says of validation."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from flashtwin.catalogue.loader import drive_ids
from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError
from flashtwin.study.listing import COLUMNS, Line, chosen, every
from flashtwin_lab.validation import records


@pytest.fixture(scope="module")
def lines() -> dict[str, Line]:
    return {line.id: line for line in every()}


def ids(lines: dict[str, Line], *, where: str | None = None, sort: str | None = None) -> list[str]:
    return [line.id for line in chosen([*lines.values()], where=where, sort=sort)]


def test_every_drive_is_listed_with_every_column(lines: dict[str, Line]) -> None:
    assert list(lines) == drive_ids()
    assert all(list(line.cells()) == list(COLUMNS) for line in lines.values())


@pytest.mark.parametrize(
    ("drive", "columns"),
    [
        ("bx500-240", {"interface": "sata", "dram": "none", "cache_bytes": 24 * 10**9}),
        ("bx500-240-nocache", {"cache": "whole-drive", "cache_bytes": 0, "cell": "tlc"}),
        ("samsung-860-qvo-1tb", {"cell": "qlc", "cache": "hybrid", "cache_bytes": 42 * 10**9}),
        ("kingston-nv2-1tb", {"interface": "pcie4", "dram": "hmb", "fitted": 8}),
        ("vertex320-240", {"cache": "none", "cache_bytes": 0, "cell": "mlc"}),
    ],
)
def test_what_a_drive_is(lines: dict[str, Line], drive: str, columns: dict[str, object]) -> None:
    cells = lines[drive].cells()
    assert {name: cells[name] for name in columns} == columns


def test_a_cache_that_shrinks_is_told_by_its_size_on_the_empty_drive(
    lines: dict[str, Line],
) -> None:
    assert lines["crucial-p1-1tb"].cache == "dynamic, 169 GB"
    assert lines["samsung-860-qvo-1tb"].cache == "hybrid, 6 GB + 36 GB"
    assert lines["hp-fx700-2tb"].cache == "dynamic, 54 GB"


def test_a_condition_that_holds_for_nothing_is_said() -> None:
    pytest.importorskip("duckdb")
    done = CliRunner().invoke(app, ["drives", "--where", "cell = 'QLC'"])
    assert done.exit_code == 0 and "no drive is one of these" in done.stderr
    done = CliRunner().invoke(app, ["drives", "--where", "cell = 'qlc'"])
    assert "hp-fx700-2tb" in done.stdout and "holds for" not in done.stderr


def test_a_condition_chooses_and_a_column_sorts(lines: dict[str, Line]) -> None:
    pytest.importorskip("duckdb")
    chosen = ids(lines, where="cell = 'qlc' and cache_bytes > 50e9", sort="-cache_bytes")
    assert chosen[:2] == ["sabrent-rocket-q-1tb", "team-mp44s-1tb"] and len(chosen) == 4
    assert ids(lines, where="validating > 0") == [
        drive for drive in drive_ids() if lines[drive].validating
    ]
    with pytest.raises(FlashtwinError, match="there is no column cel; did you mean cell") as raised:
        ids(lines, where="cel = 'qlc'")
    assert raised.value.hint is not None and "capacity_bytes" in raised.value.hint


def test_drives_without_a_value_come_last(lines: dict[str, Line]) -> None:
    rates = {"bx500-240": None, "545s-256": 500.0, "kingston-nv2-1tb": 2800.0}
    some = {drive: replace(lines[drive], cache_mb_s=rate) for drive, rate in rates.items()}
    assert ids(some, sort="cache_mb_s") == ["545s-256", "kingston-nv2-1tb", "bx500-240"]
    assert ids(some, sort="-cache_mb_s") == ["kingston-nv2-1tb", "545s-256", "bx500-240"]
    with pytest.raises(FlashtwinError, match="there is no column speed"):
        ids(some, sort="speed")


def test_rows_are_those_of_the_validation(lines: dict[str, Line]) -> None:
    bx500 = lines["bx500-240"]
    assert bx500.rows >= bx500.passed >= bx500.validating > 15
    market = lines["kingston-nv2-1tb"]
    assert (market.rows, market.passed, market.validating) == (12, 11, 0), (
        "its one other row is a miss"
    )
    record = records.stored()["kingston-nv2-1tb"]
    assert len(record.found) == market.rows
