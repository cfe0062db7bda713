"""`flashtwin timeline`: what it says and refuses; the same words give the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from printed import check

from flashtwin.cli.app import app

SMALL = ("bx500-240", "--scale", "1/64", "--battery", "fill:passes=2,patterns=128k-q32")


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def timeline(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["timeline", *SMALL, "--quiet", *arguments])


def recorded(*arguments: str) -> dict[str, int | str]:
    done = timeline("--json", *arguments)
    assert done.exit_code == 0, done.stderr
    value: dict[str, int | str] = json.loads(done.stdout)
    check(done.stdout, "timeline")
    return value


def test_the_same_words_give_the_same_bytes() -> None:
    one = recorded("--from", "200ms", "--for", "50ms", "--out", "one.pftrace")
    two = recorded("--from", "200ms", "--for", "50ms", "--out", "two.pftrace")
    assert Path("one.pftrace").read_bytes() == Path("two.pftrace").read_bytes()
    assert {**one, "path": ""} == {**two, "path": ""}
    assert (one["from_ns"], one["to_ns"]) == (200_000_000, 250_000_000)
    assert one["bytes"] == Path("one.pftrace").stat().st_size


@pytest.mark.full
def test_a_longer_stretch_has_more_and_ends_with_the_battery() -> None:
    short = recorded("--for", "50ms")
    long = recorded("--for", "1h")
    assert int(short["slices"]) * 10 < int(long["slices"])
    assert int(long["to_ns"]) < 3600 * 10**9
    assert Path("bx500-240.pftrace").stat().st_size == long["bytes"]


def test_a_step_is_where_the_stretch_counts_from() -> None:
    rest = recorded("--step", "fill/128k-q32/rest-1", "--for", "40s")
    fill = recorded("--step", "fill/128k-q32/pass-1", "--for", "40s")
    assert rest["step"] == "fill/128k-q32/rest-1"
    assert int(rest["from_ns"]) > int(fill["from_ns"])
    assert 0 < int(rest["slices"]) < int(fill["slices"])


def test_what_cannot_be_is_refused_and_leaves_no_file() -> None:
    no_step = timeline("--step", "fill/128k-q32/pass-9")
    assert no_step.exit_code == 2
    assert "there is no step" in no_step.stderr and "fill/128k-q32/pass-1" in no_step.stderr
    late = timeline("--from", "10h")
    assert late.exit_code == 2
    assert "before the stretch began" in late.stderr and "hint: begin earlier" in late.stderr
    assert list(Path().iterdir()) == []
