"""What the live block looks like: on wide, narrow, low and plain terminals."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise

import pytest
from rich.console import Console

from flashtwin.cli import live, progress
from flashtwin.cli.live import Block, Line, sparkline
from flashtwin.model.finding import Finding
from flashtwin.runner.events import Status


def status(label: str = "fill/1m-q1/pass-1", rate: float = 461e6, **fields: object) -> Status:
    plain = {
        "target": "t",
        "battery": "fill",
        "kind": "run",
        "step": 1,
        "steps": 8,
        "bytes": 10,
        "drive_s": 1.0,
        "fraction": 0.25,
        "elapsed_s": 10.0,
        "eta_s": 30.0,
    }
    return Status(label=label, rate_bytes_s=rate, **{**plain, **fields})  # type: ignore[arg-type]


def found(number: int) -> Finding:
    name = f"f{number}"
    return Finding(battery="fill", name=name, title=f"Finding {number}", value=1.0, unit="GB")


def picture(
    lines: Sequence[Line], columns: int = 80, rows: int = 24, encoding: str = "utf-8"
) -> list[str]:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=columns, height=rows, force_terminal=True, color_system=None)
    block = Block(console)
    block.lines += lines
    with console.capture() as captured:
        console.print(block)
    return [line.rstrip() for line in captured.get().splitlines()]


def going(name: str, findings: int = 0, **fields: object) -> Line:
    line = Line(name=name)
    line.moved(status(**fields))  # type: ignore[arg-type]
    line.rates.extend([100e6, 461e6, 461e6, 0.0, 230e6])
    line.findings += [found(number) for number in range(findings)]
    return line


def test_one_run_with_its_rate_and_last_findings() -> None:
    seen = picture([going("bx500-240", findings=6)])
    assert seen[0].startswith("bx500-240 fill/1m-q1/pass-1  ")
    assert seen[0].endswith("25 %   30 s left")
    assert seen[1] == "          step 2 of 8  461 MB/s █▂██ ▄"
    assert seen[2:] == [f"          Finding {number}  1 GB" for number in (2, 3, 4, 5)]


def test_runs_that_wait_and_runs_that_are_over_have_a_line() -> None:
    over = going("b", findings=3)
    over.over = True
    seen = picture([going("long-name", findings=1), over, Line(name="c")])
    assert [line.split()[0] for line in seen] == ["long-name", "step", "Finding", "b", "c"]
    assert "done, 3 findings" in seen[3] and seen[3].endswith("100 %        10 s")
    assert "waits" in seen[4] and "0 %" in seen[4]
    # The columns of all runs stand under each other.
    assert seen[0].index("fill") == seen[3].index("done") == seen[4].index("waits")


@pytest.mark.parametrize("columns", [40, 60, 200])
@pytest.mark.parametrize("rows", [3, 6, 12, 50])
@pytest.mark.parametrize("count", [1, 4, 20])
def test_never_wider_or_higher_than_the_terminal(columns: int, rows: int, count: int) -> None:
    lines = [going(f"drive-{n}-with-a-long-name", findings=9) for n in range(count)]
    lines[-1].over = True
    seen = picture(lines, columns, rows)
    assert max(map(len, seen)) <= columns
    assert 0 < len(seen) <= rows
    if count > rows:
        assert seen[-1] == f"and {count - len(seen) + 1} more"


def test_without_unicode_there_is_no_graph() -> None:
    seen = picture([going("a")], encoding="ascii")
    assert seen[1] == "  step 2 of 8  461 MB/s"
    "\n".join(seen).encode("ascii")


def test_a_graph_begins_anew_with_each_step() -> None:
    line = going("a")
    line.moved(status("another"))
    assert list(line.rates)[1:] == []
    assert sparkline([]) == sparkline([5.0]) == sparkline([0.0, 0.0]) == ""
    assert sparkline([0.0, 4.0, 8.0]) == " ▄█"


def test_parts_of_about_the_same_length_have_no_steps() -> None:
    assert len(picture([going("validate", kind="part")])) == 1


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_lines_come_less_often_the_longer_it_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five seconds at first, then a twentieth of the time so far, at most three minutes."""
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    with progress.display(False) as shown:
        observer = shown.observer("probe")
        observer.found("fill", [found(1), found(2)])
        said: list[float] = []
        for tenth in range(4 * 36_000):
            clock.now = tenth / 10
            observer.progress(status(elapsed_s=clock.now))
            if capsys.readouterr().err:
                said.append(clock.now)
    assert said[:3] == [5.0, 10.0, 15.0]
    assert 60 < len(said) < 180
    gaps = [after - before for before, after in pairwise(said)]
    assert max(gaps) == pytest.approx(180.0, abs=0.2)
    assert live.RATES and all(gap >= 5.0 for gap in gaps)


def test_a_line_says_phase_share_rate_findings_and_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    with progress.display(False) as shown:
        observer = shown.observer("probe")
        observer.found("fill", [found(1)])
        observer.progress(status(elapsed_s=0.0))
        observer.noted("goes on after 3 steps that were done")
    assert capsys.readouterr().err.splitlines() == [
        "probe: fill/1m-q1/pass-1, 25 %, 461 MB/s, 1 finding, 30 s left",
        "probe: goes on after 3 steps that were done",
    ]


def test_of_parts_that_each_say_something_none_is_passed_over(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Lines of progress come now and then; what was found of each drive is said at once."""
    for each in (False, True):
        with progress.counted("blind --fit", 3, False, each=each) as told:
            for count in (1, 2, 3):
                told(count, f"drive {count}")
        lines = capsys.readouterr().err.splitlines()
        assert lines == ([f"blind --fit: drive {count}" for count in (1, 2, 3)] if each else [])
