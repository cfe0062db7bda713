"""`flashtwin demo` and the lines that it prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from program import flashtwin

from flashtwin.cli import demo_run as demo
from flashtwin.report import summary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))
from made_runs import Paper, make_run


@pytest.mark.full
def test_the_demo_prints_five_lines_and_makes_a_page(tmp_path: Path) -> None:
    done = flashtwin("demo", cwd=tmp_path, HOME=str(tmp_path / "nobody"))
    assert done.returncode == 0, done.stderr
    *_, page = lines = done.stdout.splitlines()
    assert len(lines) == 5 and max(map(len, lines[:4])) <= 100
    assert all("full in" in line and "4 KiB" in line for line in lines[:2])
    assert Path(page.removeprefix("Page: ")).is_file()
    assert not (tmp_path / "nobody").exists(), "nothing is kept in the user's cache"


def test_a_line_a_drive_then_how_sure_and_what_next(tmp_path: Path) -> None:
    runs = [
        make_run(tmp_path / "a", Paper(name="fast")),
        make_run(tmp_path / "b", Paper(name="slow", cache=12, rate4k=20)),
    ]
    lines = summary.lines(runs, then="buy it", page=Path("/x/report.html"))
    assert lines[0] == (
        "fast: writes 24.0 GB at 461, then 111 MB/s; 4 KiB 47.0 / 94.0 MB/s; full in 36 min"
    )
    assert lines[1].startswith("slow: writes 12.0 GB at ")
    assert lines[2].startswith("How sure: simulated; 95 % intervals: SLC cache ±")
    assert lines[3:] == ["Next: buy it", "Page: /x/report.html"]


def test_one_drive_has_two_of_the_five_lines(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", Paper(name="fast"))
    first, second, *others = summary.lines([run], then="buy it", page=Path("p.html"))
    assert first == "fast (simulated): writes 24.0 GB at 461 MB/s, then 111 MB/s"
    assert second.startswith("It is full after ") and "reads 4 KiB at" in second
    assert [line.partition(":")[0] for line in others] == ["How sure", "Next", "Page"]


@pytest.mark.parametrize("letters", [10, 40, 46])
def test_a_line_says_that_a_drive_is_a_smaller_copy(tmp_path: Path, letters: int) -> None:
    """However long its name is: "simulated" goes before that does."""
    paper = Paper(name="x" * letters, options=("--scale", "1/16"))
    first, *_ = summary.lines([make_run(tmp_path / "a", paper)], then="go on", page=None)
    assert first.startswith(f"{'x' * letters}, scale 1/16") and len(first) <= 100
    assert ("(simulated)" in first) == (letters < 40)


def test_a_long_sentence_makes_way_for_a_short_one_and_is_not_cut(tmp_path: Path) -> None:
    paper = Paper(name="x" * 30, cache=274.877906944 / 3, options=("--scale", "1/16"))
    first, *_ = summary.lines([make_run(tmp_path / "a", paper)], then="go on", page=None)
    assert ": all as SLC, 91.6 GB at " in first and first.endswith(" then 111 MB/s")


@pytest.mark.parametrize("count", [1, 2, pytest.param(6, marks=pytest.mark.full)])
def test_no_line_is_wider_than_100_columns(tmp_path: Path, count: int) -> None:
    long = "a drive whose maker likes names that go on and on, with a remark behind it as well"
    runs = [make_run(tmp_path / str(at), Paper(name=f"{long} {at}")) for at in range(count)]
    lines = summary.lines(runs, then="go on", page=None)
    assert max(map(len, lines)) <= 100 and len(lines) == max(count, 2) + 2
    assert all(line.startswith("a drive whose maker") for line in lines[:count])


def test_a_run_of_which_nothing_was_concluded_has_a_line(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", Paper(name="cut", values=False, patterns=(), cells=()))
    first, *others = summary.lines([run], then="go on", page=None)
    assert first == "cut (simulated): nothing was concluded"
    assert others == [
        "How sure: simulated; none of these numbers has an interval",
        "Next: go on",
    ]


def test_drives_and_batteries_of_the_demo_are_there() -> None:
    from flashtwin.batteries.base import registry
    from flashtwin.catalogue.loader import shipped_ids

    assert set(demo.DRIVES) <= set(shipped_ids())
    assert [request.name for request in registry.parse(demo.BATTERIES)] == [
        "fill",
        "crystaldiskmark",
    ]
