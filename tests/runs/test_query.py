"""Conditions over runs: what they see, what they may not do, and what a wrong one is told."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import fork_server
import pytest
from stored_runs import finding, store, usual

from flashtwin.errors import FlashtwinError
from flashtwin.runs import query
from flashtwin.runs.condition import COLUMNS
from flashtwin.runs.listing import Stored, stored
from flashtwin.runs.query import matching as where
from flashtwin.runs.query import short_names

pytest.importorskip("duckdb")
# The judging process as users start it.
STARTED = query.ask_child


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judging process has imported DuckDB when it is asked."""
    monkeypatch.setattr(query, "ask_child", fork_server.judge)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Stored]:
    place = tmp_path_factory.mktemp("runs")
    store(place / "a", seed=1, findings=usual(cache=24.0))
    store(place / "b", seed=2, target="bx500-240-nocache", findings=usual(cache=0.0, speed=250.0))
    store(place / "c", seed=3, target="other", began="2026-06-01T00:00:00+00:00", findings=[])
    return stored([place])


def test_a_condition_over_runs_reads_no_finding(
    runs: list[Stored], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stored, "finding_rows", None)
    assert told(runs, "seed >= 2 and target like 'other'") == "c"


def told(runs: list[Stored], condition: str) -> str:
    return "".join(run.path.name for run in where(runs, condition))


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("target like 'bx500%'", "ab"),
        ("seed >= 2", "bc"),
        ("name = 'a' or path like '%/c'", "ac"),
        ("cache_size > 20", "a"),
        ("cache_size_low > 23.8 and cache_size_unit = 'GB'", "a"),
        ("cache_size is null", "c"),
        ("struct_extract(runs, 'cache_size') > 20", "a"),
        ("CACHE_SIZE_1M_Q1 = 25", "a"),
        ('"fill.cache_size[1m-q1]".value = 25', "a"),
        ('"fill.speed_cache[128k-q32]".high < 300', "b"),
        ("read_seq1m_q8t1 between 500 and 600", "ab"),
        ("started > '2026-03-01'", "c"),
        ("battery like '%fill%' and state = 'finished' and steps = 4", "abc"),
        ("exists (select 1 from findings f where f.run = path and f.value is null)", "ab"),
        ("seed = 1 -- the first", "a"),
        ("bytes > 0 and capacity_bytes = 240000000000 and kind = 'twin'", "abc"),
        ("false", ""),
        ("target = 'cache_size > 20' or seed IN (2)", "b"),
        ("not (target is null) AND seed*2 = 4", "b"),
        ('"seed" = 3 and flashtwin is not null', "c"),
    ],
)
def test_conditions(runs: list[Stored], condition: str, names: str) -> None:
    assert told(runs, condition) == names


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("targett = 'x'", "targett"),
        ("target = ", "syntax error"),
        ("1; drop table runs", "syntax error"),
        ("1 = 1) ; (select 1", "--where"),
        ("sum(seed) > 1", "aggregates"),
        ("seed = 'x'", "Could not convert"),
        ("exists (select 1 from read_text('/etc/passwd'))", "disabled by configuration"),
        ("NULL", "gives nothing (NULL), and a condition is true or false"),
        ("'abc'", "gives text (VARCHAR), and a condition is true or false"),
        ("seed", "gives BIGINT, and a condition is true or false"),
        ("nullif(1, 1)", "gives INTEGER"),
        ("seed, target", "more than one column"),
        ("(seed, true)", "more than one column"),
        ("SELECT true", "syntax error"),
        ("(select true from range(2))", "More than one row"),
        ("true) or (true", "syntax error"),
        ("true as x", "syntax error"),
        ("true from runs", "syntax error"),
        ("seed > 0 limit 1", "syntax error"),
        ("true; select true", "syntax error"),
        ("true /*", "unterminated"),
        ("", "without selection list"),
        ("row_number() over () > 0", "window functions"),
        ("*", "a condition is true or false"),
        ("(" * 3000 + "true" + ")" * 3000, "Max expression depth"),
        ("target = '\0'", "'\\x00' is not part of a condition"),
        ("target = '\ud800'", "'\\ud800' is not part of a condition"),
        ("target = '\x1b[31m'", "'\\x1b' is not part of a condition"),
        ("true or " * 10_000 + "true", "a condition of 80004 characters"),
        ("len(range(1000000000)) > 1", "more than 1024 MiB of memory"),
        ("length(repeat('x', 2000000000)) > 1", "more than 1024 MiB of memory"),
    ],
)
def test_what_is_wrong_is_said_with_the_columns(
    runs: list[Stored], condition: str, said: str
) -> None:
    with pytest.raises(FlashtwinError) as refused:
        where(runs, condition)
    assert said in refused.value.message and "\n" not in refused.value.message
    assert refused.value.exit_code == 2 and refused.value.hint
    assert refused.value.hint.startswith("columns: path, name, target")
    assert "cache_size" in refused.value.hint


@pytest.mark.parametrize(
    "condition",
    [
        "exists (with recursive t(x) as (select 1 union all select x + 1 from t) select * from t"
        " where x < 0)",
        "(select count(*) from generate_series(1, 1000000000000)) > 0",
    ],
)
def test_a_condition_that_does_not_end_is_told_so(
    runs: list[Stored], condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "MOST_S", 1)
    with pytest.raises(
        FlashtwinError, match="judging the condition takes longer than 1 s"
    ) as refused:
        where(runs, condition)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("cache_size > 1e300", ""),
        ("nullif(true, true)", ""),
        ("cache_size >= 0", "ab"),
        ("'nan'::double > 1", "abc"),
    ],
)
def test_what_is_neither_true_nor_false_does_not_hold(
    runs: list[Stored], condition: str, names: str
) -> None:
    assert told(runs, condition) == names


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("targett = 'x'", "there is no column targett; did you mean target"),
        ("Cache_Sise > 1", "there is no column Cache_Sise; did you mean cache_size"),
        ("zzz = 1", "there is no column zzz"),
        (
            '"fill.cache_sise[1m-q1]".value > 1',
            'there is no "fill.cache_sise[1m-q1]"; did you mean "fill.cache_size[1m-q1]"',
        ),
        ("fill.cache_size > 1", '"double quotes", as in "fill.cache_size[128k-q32]".value'),
    ],
)
def test_a_name_that_is_none_is_told_with_its_neighbours(
    runs: list[Stored], condition: str, said: str
) -> None:
    with pytest.raises(FlashtwinError) as refused:
        where(runs, condition)
    assert said in refused.value.message
    assert "did you mean" in said or "did you mean" not in refused.value.message


def test_without_runs_a_condition_is_still_checked() -> None:
    assert where([], "target = 'x' and seed > 1") == []
    with pytest.raises(FlashtwinError, match="cache_size"):
        where([], "cache_size > 1")


def test_short_names_that_would_be_taken(tmp_path: Path) -> None:
    odd = [
        finding("fill.bytes[a]", 1.0),
        finding("x.mean", 2.0),
        finding("y.mean", 3.0),
        finding("x.mean_low", 4.0),
    ]
    store(tmp_path / "a", findings=odd)
    runs = stored([tmp_path])
    names = short_names(runs)
    assert names["fill.bytes[a]"] == ("fill_bytes", "bytes_a") and names["x.mean"] == ("mean",)
    assert names["y.mean"] == ("y_mean",) and names["x.mean_low"] == ("x_mean_low",)
    assert told(runs, "fill_bytes = 1 and mean = 2 and y_mean = 3 and x_mean_low = 4") == "a"
    assert {one for columns in names.values() for one in columns}.isdisjoint(COLUMNS)


def test_without_duckdb(runs: list[Stored], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(FlashtwinError, match="DuckDB, which is not installed") as refused:
        where(runs, "true")
    assert refused.value.exit_code == 3 and refused.value.hint == "pip install 'flashtwin[query]'"


@pytest.mark.full
def test_runs_of_hundreds_of_findings_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB takes more memory for them, also as its process ends: it crashed at the bound then."""
    monkeypatch.setattr(query, "ask_child", STARTED)
    names = [f"finding {number}" for number in range(120)]
    kinds = {"value": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE", "unit": "VARCHAR"}
    shape = {
        "cache_size": "DOUBLE",
        **{f"{name} {part}": kind for name in names for part, kind in kinds.items()},
        **dict.fromkeys(names, kinds),
    }
    finding = {"value": 1.0, "low": 0.9, "high": 1.1, "unit": "GB"}
    rows = [
        {
            "cache_size": float(size),
            **{f"{name} {part}": value for name in names for part, value in finding.items()},
            **dict.fromkeys(names, finding),
        }
        for size in (30, 10)
    ]
    assert query.holding("cache_size > 20", "runs", {"runs": (shape, rows)}) == [0]


def test_a_condition_fills_in_the_findings_that_it_names(
    runs: list[Stored], monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[str] = []
    judge = query.ask_child
    monkeypatch.setattr(query, "ask_child", lambda text: questions.append(text) or judge(text))
    assert told(runs, "cache_size > 20") == "a"
    assert "cache_size_low" not in questions[0] and "speed_cache" not in questions[0]


def test_findings_of_one_id_are_no_fault(tmp_path: Path) -> None:
    row = finding("a.b.c", 3.0)
    other = replace(row, battery="a.b", name="c", value=4.0)
    store(tmp_path / "run", findings=[row, other])
    assert told(stored([tmp_path]), '"a.b.c".value = 3') == "run"
