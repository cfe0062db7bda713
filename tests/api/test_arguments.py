"""Whatever a program passes is taken, or refused as on the command line: with the parameter's name
and never by an exception from inside."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stored_runs import store
from thinning import thinned

import flashtwin as ft
from flashtwin.model.step import Rest

WRONG: dict[str, Any] = {
    "none": None,
    "number": 7,
    "negative": -1,
    "huge": 10**40,
    "fraction": 1.5,
    "nan": math.nan,
    "bytes": b"bx500-240",
    "empty text": "",
    "zero byte": "a\0b",
    "half a character": "a\ud800",
    "long": "x" * 5000,
    "word": "no-such-word",
    "list": [],
    "list of none": [None],
    "list of text": ["no-such-word"],
    "dict": {},
    "dict of numbers": {1: 2},
    "dict of none": {"fill": None},
    "object": object(),
    "type": int,
    "path": Path("nowhere/at/all"),
    "true": True,
    "array": np.arange(3),
}

QUICK: dict[str, Any] = {"battery": "fill:passes=1,patterns=1m-q1", "scale": "1/64"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with two stored runs, and no run that is made: what would begin one ends here."""
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "flashtwin-runs" / "a")
    store(tmp_path / "flashtwin-runs" / "b", seed=2)

    def nothing(*arguments: object, **options: object) -> None:
        raise ft.Interrupted("it would begin")

    monkeypatch.setattr("flashtwin.runner.request.run_tasks", nothing)
    monkeypatch.setattr("flashtwin.study.sweep.run.sweep", nothing)
    return tmp_path


def load() -> Any:
    return ft.load_run("a")


def several() -> Any:
    return ft.load_runs("flashtwin-runs")


def twin() -> Any:
    return ft.Twin("bx500-240", scale="1/64")


def recorded(path: Any) -> None:
    with twin().timeline(path):
        pass


# Of each call: how it is made with one argument in place of the right one, by its name.
CALLS: dict[str, tuple[Callable[[], Callable[..., Any]], dict[str, Any]]] = {
    "load_run": (lambda: ft.load_run, {"path": "a"}),
    "load_runs": (lambda: ft.load_runs, {"path": "flashtwin-runs"}),
    "resume": (lambda: ft.resume, {"run": "a", "report": True, "progress": False}),
    "submit": (lambda: ft.submit, {"run": "a", "drive": "x", "twin": True, "out": "f"}),
    "runs": (lambda: ft.runs, {"where": None, "sort": "-time", "limit": 1}),
    "sweep": (
        lambda: ft.sweep,
        {"drive": "bx500-240", "vary": {"op": ["7%"]}, "seed": 1, "firmware": (), "sets": None}
        | {"out": None, "jobs": 1, "cluster": None, "report": False, "progress": False, **QUICK},
    ),
    "Twin": (
        lambda: ft.Twin,
        {"drive": "bx500-240", "seed": 1, "firmware": (), "sets": None, "scale": "1/64"},
    ),
    "Twin.submit": (
        lambda: twin().submit,
        {"op": "write", "offset": 0, "size": 4096, "at_ns": 0, "sync": False}
        | {"compress_percent": 0, "handle": 0},
    ),
    "Twin.advance": (lambda: twin().advance, {"to_ns": None, "by_ns": 5}),
    "Twin.play": (
        lambda: twin().play,
        {"op": "write", "offset": [0], "size": 4096, "at_ns": None, "depth": 1, "sync": False}
        | {"compress_percent": 0, "handle": 0},
    ),
    "Twin.do": (lambda: twin().do, {"step": Rest(label="r", seconds=1.0)}),
    "Twin.precondition": (
        lambda: twin().precondition,
        {"passes": 0, "overwrites": 0.0, "block_size": 1 << 20, "overwrite_block_size": 4096}
        | {"offset": 0, "size": 1 << 20, "seed": 1, "handle": 0},
    ),
    "Twin.save": (lambda: twin().save, {"path": "drive.snap"}),
    "Run.conclude": (lambda: load().conclude, {"write": False}),
    "Run.smart": (lambda: load().smart, {"when": "after"}),
    "Run.result": (lambda: load().result, {"label": "fill/128k-q32/pass-1"}),
    "Run.percentiles": (
        lambda: load().percentiles,
        {"label": "fill/128k-q32/pass-1", "direction": "write", "shares": (50.0,)},
    ),
    "Run.report": (lambda: load().report, {"out": "page.html"}),
    "Run.export": (lambda: load().export, {"form": "csv", "out": "exported"}),
    "Run.chart": (lambda: load().chart, {"label": None, "over": "gb"}),
    "Run.latency_chart": (lambda: load().latency_chart, {"label": None}),
    "Runs.values": (lambda: several().values, {"finding": "cache_size"}),
    "Runs.report": (lambda: several().report, {"out": "page.html"}),
}


def refused(call: Callable[..., object], *words: Any, **options: Any) -> ft.FlashtwinError | None:
    """The error of a call, which is flashtwin's own; none where it was taken."""
    try:
        call(*words, **options)
    except ft.FlashtwinError as error:
        assert error.message and error.exit_code in (2, 3, 4), repr(error)
        return error
    except ft.Interrupted:
        return None
    return None


@pytest.mark.parametrize("name", thinned(CALLS, every=2))
def test_every_argument_is_taken_or_refused_by_name(here: Path, name: str) -> None:
    make, right = CALLS[name]
    for parameter in right:
        for kind, value in WRONG.items():
            error = refused(make(), **{**right, parameter: value})
            if kind == "object" and name != "Twin.play":
                assert error is not None, f"{name}({parameter}={kind})"
                assert parameter in error.message, error.message


@pytest.mark.parametrize("kind", WRONG)
def test_several_runs_are_refused_in_the_same_words(here: Path, kind: str) -> None:
    refused(ft.compare, WRONG[kind], "a")
    refused(ft.compare, "a", "b", fail_on=WRONG[kind])
    refused(ft.runs, WRONG[kind])
    refused(load().compare, WRONG[kind])
    refused(recorded, WRONG[kind])


TEST_WORDS = ("target", "battery", "size", "out", "seed", "firmware", "sets", "scale", "budget")
TEST_WORDS += ("preparation", "label", "report", "progress")


@pytest.mark.parametrize("parameter", TEST_WORDS)
def test_a_test_is_asked_for_or_refused(here: Path, parameter: str) -> None:
    right = {"target": "bx500-240", **QUICK, "progress": False, "report": False}
    for kind, value in WRONG.items():
        error = refused(ft.test, **{**right, parameter: value})
        if kind in ("object", "type", "bytes") and (parameter, kind) != ("progress", "type"):
            assert error is not None and parameter in error.message, (parameter, kind)


def test_names_that_are_none_and_numbers_that_are_too_many(here: Path) -> None:
    with pytest.raises(ft.UsageError, match="unexpected keyword argument 'colour'") as wrong:
        ft.load_run("a", colour="red")  # type: ignore[call-arg]
    assert "it takes path" in str(wrong.value.hint)
    with pytest.raises(ft.UsageError, match=r"seed is 1\.5, a float") as wrong:
        ft.Twin("bx500-240", seed=1.5)  # type: ignore[arg-type]
    assert wrong.value.hint == "Twin takes a whole number for seed"
    with pytest.raises(ft.UsageError, match="when is 'then', a str"):
        load().smart("then")
    with pytest.raises(ft.UsageError, match="limit is 0"):
        ft.runs(limit=0)
