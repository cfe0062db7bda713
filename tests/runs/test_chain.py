"""A chain of many small parts in a run: few files, and each part's own numbers back again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.series import COLUMNS
from flashtwin.model.step import Chain, Job, NotPossible, Rest, Result, Run
from flashtwin.runs.rundir import Run as Stored
from flashtwin.runs.writer import Writer

PARTS = 500


def parts_asked(count: int) -> tuple[Run | Rest, ...]:
    """Reads and writes in turns, of which every tenth is a rest."""
    made: list[Run | Rest] = []
    for number in range(count):
        job = Job(
            name=f"job {number}",
            rw="write" if number % 2 else "randread",
            block_bytes=4096 << number % 3,
            depth=1 + number % 4,
            io_bytes=(1 + number % 5) << 16,
        )
        rest = Rest(label=f"part {number}", seconds=0.01)
        run = Run(label=f"part {number}", jobs=(job,), sample_s=0.001)
        made.append(rest if number % 10 == 9 else run)
    return tuple(made)


def same(one: Result, other: Result) -> None:
    for name in ("label", "start_ns", "duration_ns", "jobs"):
        assert getattr(one, name) == getattr(other, name)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one.series, name), getattr(other.series, name))
    for mine, theirs in ((one.hist, other.hist), (one.xray, other.xray), (one.meter, other.meter)):
        names = {name for name, values in mine.items() if len(values)}
        assert names == {name for name, values in theirs.items() if len(values)}
        for name in names:
            np.testing.assert_array_equal(mine[name], theirs[name])


def run_of(path: Path, answers: dict[str, Result], asked: tuple[Run | Rest, ...]) -> Writer:
    target = {"name": "twin", "kind": "twin", "capacity_bytes": 1 << 34, "identity": {}}
    writer = Writer(path, {"target": target}, {})
    parts = [{"label": part.label} for part in asked]
    for label, answer in answers.items():
        chain = bool(answer.parts)
        writer.step(
            battery="b",
            label=label,
            kind="chain" if chain else "run",
            answer=answer,
            detail={"parts": parts} if chain else {},
        )
    return writer


@pytest.mark.parametrize("state", ["finished", pytest.param("interrupted", marks=pytest.mark.full)])
def test_the_parts_of_a_chain_are_what_single_steps_are(tmp_path: Path, state: str) -> None:
    spec, asked = load("bx500-240", scale="1/64"), parts_asked(PARTS)
    with closing(Twin(spec).open()) as chained, closing(Twin(spec).open()) as alone:
        live = chained.do(Chain(label="c", parts=asked), lambda progress: True)
        single = [alone.do(part, lambda progress: True) for part in asked]
    assert isinstance(live, Result)
    writer = run_of(tmp_path / "run", {"before": plain(single[0]), "c": live}, asked)
    run = writer.close([], state=state)  # type: ignore[arg-type]
    assert len(list(run.path.iterdir())) <= 12
    stored = Stored(run.path).result(1)
    assert isinstance(stored, Result) and len(stored.parts) == len(live.parts) == PARTS
    for kept, at_once, step in zip(stored.parts, live.parts, single, strict=True):
        assert isinstance(step, Result)
        same(kept, step)
        same(at_once, step)
    same(replace(stored, parts=()), replace(live, parts=()))
    first = Stored(run.path).result(0)
    assert isinstance(first, Result) and first.parts == ()


def plain(answer: Result | NotPossible) -> Result:
    assert isinstance(answer, Result)
    return answer


def test_parts_that_are_not_those_of_the_step_are_refused(tmp_path: Path) -> None:
    asked = parts_asked(3)
    with closing(Twin(load("bx500-240", scale="1/64")).open()) as twin:
        live = plain(twin.do(Chain(label="c", parts=asked), lambda progress: True))
    run = run_of(tmp_path / "run", {"c": live}, asked[:2]).close([])
    with pytest.raises(FlashtwinError, match="its parts do not add up to the step"):
        run.result(0)
