"""flashtwin compare: tables, JSON, the page, exit codes, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from stored_runs import finding, newer, store, usual

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path) -> None:
    store(tmp_path / "before")
    store(tmp_path / "same", seed=2)
    store(tmp_path / "after", findings=usual(cache=21.0), rates=(461.0,) * 10 + (90.0,) * 40)


def test_what_differs(run: Run) -> None:
    done = run("compare", "before", "after", "-v")
    assert (done.exit_code, done.stderr) == (0, "")
    for text in (
        "set-up: the same in all of its",
        "bx500-240 (after) against bx500-240 (before)",
        "fill.cache_size[128k-q32]",
        "-12.5 %",
        "apart",
        "worse",
        "findings: 2 worse, 3 same, 1 no value",
        "fill/128k-q32/pass-1, up to 46",
        "\u2588",
    ):
        assert text in done.stdout, text
    assert "fill.speed_cache" not in done.stdout
    assert "fill.speed_cache" in run("compare", "before", "after", "--all").stdout


def test_nothing_differs(run: Run) -> None:
    done = run("compare", "before", "same", "--fail-on", "0%")
    assert done.exit_code == 0 and "5 same, 1 no value" in done.stdout
    assert "set-up: seed 1 against 2" in done.stdout and "\u2588" not in done.stdout


def test_without_v_the_answer_fits_a_screen(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdicts, the findings that differ most by their titles, the curve, the set-up."""
    many = [finding(f"fill.speed_{number}", float(number), "MB/s") for number in range(1, 40)]
    store(tmp_path / "many", findings=many)
    store(tmp_path / "half", findings=[replace(row, value=row.number / 2) for row in many])
    monkeypatch.setenv("COLUMNS", "80")
    for words in (("before", "after"), ("many", "half")):
        lines = run("compare", *words).stdout.splitlines()
        assert len(lines) < 24 and max(map(len, lines)) <= 80
        assert "against" in lines[0] and "worse" in lines[0]
        assert lines[-1].startswith("-v shows every difference")


@pytest.mark.parametrize(
    ("limits", "code"),
    [(["5%"], 1), (["13%"], 0), (["cache_size=10%"], 1), (["speed_cache=1%"], 0), ([], 0)],
)
def test_exit_codes(run: Run, limits: list[str], code: int) -> None:
    words = [word for limit in limits for word in ("--fail-on", limit)]
    done = run("compare", "before", "after", *words)
    assert done.exit_code == code, done.stderr
    assert ("beyond its limit of" in done.stdout) is (code == 1)
    told = json.loads(run("compare", "before", "after", *words, "--json").stdout)
    assert told["failed"] is (code == 1)


def test_better_does_not_fail(run: Run) -> None:
    assert run("compare", "after", "before", "--fail-on", "1%").exit_code == 0


def test_the_page(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def build(runs: object, out: Path, *, comparison: object) -> Path:
        asked["comparison"] = comparison
        return out

    monkeypatch.setattr("flashtwin.report.build", build)
    done = run("compare", "before", "after", "--out", "page.html")
    assert done.exit_code == 0 and done.stdout.endswith("page: page.html\n")
    assert asked["comparison"] is not None


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("before",), 2, "one run alone cannot be compared"),
        (("before", "nowhere"), 2, "no run in nowhere"),
        (("before", "./before"), 2, "is given twice"),
        (("before", "after", "--fail-on", "much"), 2, "--fail-on much is not a limit"),
        (("before", "after", "--fail-on", "mean=5%"), 2, "no finding of these runs"),
        ((), 2, "Missing argument"),
    ],
)
def test_bad_input(run: Run, words: tuple[str, ...], code: int, said: str) -> None:
    done = run("compare", *words)
    assert done.exit_code == code and said in done.stderr and done.stdout == ""


def test_a_run_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    newer(tmp_path / "newer")
    done = run("compare", "before", "newer")
    assert done.exit_code == 3 and "schema 99" in done.stderr
    (tmp_path / "after" / "series.parquet").write_bytes(b"no table")
    torn = run("compare", "before", "after")
    assert torn.exit_code == 2 and "series.parquet" in torn.stderr


def test_a_run_that_was_killed_is_compared_as_far_as_it_is(run: Run, tmp_path: Path) -> None:
    store(tmp_path / "killed", close=False)
    done = run("compare", "before", "killed")
    assert done.exit_code == 0 and "6 not measured" in done.stdout


def test_a_run_that_broke_off_does_not_pass(run: Run, tmp_path: Path) -> None:
    store(tmp_path / "killed", close=False)
    store(tmp_path / "stopped", findings=usual()[:2], state="interrupted")
    done = run("compare", "before", "stopped", "--fail-on", "5%")
    assert done.exit_code == 1, done.stderr
    assert "fill.cache_size[1m-q1], not measured in this run" in done.stdout
    named = run("compare", "before", "stopped", "--fail-on", "speed_cache=5%")
    assert named.exit_code == 0
    assert run("compare", "before", "killed", "--fail-on", "5%").exit_code == 1
    store(tmp_path / "other", findings=[])
    empty = run("compare", "before", "other", "--fail-on", "5%")
    assert empty.exit_code == 2 and "--fail-on tests nothing" in empty.stderr


def test_runs_without_a_curve_in_common_are_compared_by_their_findings(
    run: Run, tmp_path: Path
) -> None:
    """Two of CrystalDiskMark alone, or one that was stopped before its fill."""
    store(tmp_path / "short", rates=())
    for words in (("before", "short"), ("short", "before"), ("before", "short", "-v")):
        done = run("compare", *words)
        assert done.exit_code == 0, done.stderr
        assert "against" in done.stdout
