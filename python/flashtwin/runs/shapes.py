"""What the JSON files of a run have in them: the types that all readers take for granted.

A shape is a function that raises `ShapeError` where a value is another, with the name of the place
("target.identity"). Members that a shape does not name may hold anything: a newer or older writer's
are left alone. Invariant: whatever passes here can be counted with, shown and written again, so
that nobody further in checks once more; whole numbers fit into the columns of a table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from flashtwin.model.finding import AXES, BETTER, MEANS

# A column holds 63 bits; the sum of all jobs of a step has to fit as well.
MOST = 1 << 60
# Blocks, depths, threads: what a job asks for is computed with before anything bounds it.
MOST_ASKED = 1 << 50
# Characters of a wrong value that a message shows.
MOST_SHOWN = 40

Shape = Callable[[Any, str], None]


class ShapeError(ValueError):
    """A value is not what flashtwin writes; `at` is its place, and the text says what is there."""

    def __init__(self, at: str, value: Any) -> None:
        shown = json.dumps(value, ensure_ascii=False)
        shown = shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]}…"
        super().__init__(f"{at or 'it'} is {shown}")
        self.at = at


def anything(value: Any, at: str) -> None:
    """Whatever JSON can hold."""


def text(value: Any, at: str) -> None:
    """A string."""
    if not isinstance(value, str):
        raise ShapeError(at, value)


def flag(value: Any, at: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise ShapeError(at, value)


def number(value: Any, at: str) -> None:
    """A number, whole or not; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ShapeError(at, value)


def between(least: int, most: int) -> Shape:
    """A whole number from `least` to `most`."""

    def check(value: Any, at: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ShapeError(at, value)

    return check


def of(*words: str) -> Shape:
    """One of some words."""

    def check(value: Any, at: str) -> None:
        if value not in words:
            raise ShapeError(at, value)

    return check


def maybe(shape: Shape) -> Shape:
    """That, or null."""
    return lambda value, at: None if value is None else shape(value, at)


def rows(shape: Shape) -> Shape:
    """An array of such values."""

    def check(value: Any, at: str) -> None:
        if not isinstance(value, list):
            raise ShapeError(at, value)
        for item in value:
            shape(item, at)

    return check


def named(shape: Shape = anything) -> Shape:
    """An object with any names and such values."""

    def check(value: Any, at: str) -> None:
        if not isinstance(value, dict):
            raise ShapeError(at, value)
        for name, item in value.items():
            shape(item, f"{at}.{name}".strip("."))

    return check


def record(needs: Mapping[str, Shape], may: Mapping[str, Shape] | None = None) -> Shape:
    """An object that has all that it `needs`, and where it has what it `may`, of that shape."""
    optional = may or {}

    def check(value: Any, at: str) -> None:
        if not isinstance(value, dict):
            raise ShapeError(at, value)
        for name, shape in needs.items():
            shape(value.get(name), f"{at}.{name}".strip("."))
        for name, shape in optional.items():
            if name in value:
                shape(value[name], f"{at}.{name}".strip("."))

    return check


WHOLE = between(0, MOST)
_ASKED = between(0, MOST_ASKED)
_SOME = between(1, MOST_ASKED)
_DIGESTS = named(text)
_BATTERY = record({"name": text}, {"parameters": maybe(named()), "departs": maybe(rows(text))})
_IDENTITY = record(
    {}, {"values": maybe(rows(record({"key": text}))), "toml": maybe(text), "hash": text}
)
_TARGET = record(
    {},
    {
        "name": text,
        "kind": text,
        "capacity_bytes": maybe(WHOLE),
        "virtual_time": flag,
        "identity": maybe(_IDENTITY),
    },
)
MANIFEST = record(
    {"target": _TARGET},
    {
        "state": text,
        "flashtwin": text,
        "seed": between(-MOST, (1 << 63) - 1),
        "batteries": maybe(rows(_BATTERY)),
        "command": maybe(rows(text)),
        "budget": record({"seconds": number}),
        "tables": _DIGESTS,
        "files": _DIGESTS,
        "steps": maybe(rows(named())),
    },
)
_LEFT = record({"path": text, "size_bytes": WHOLE, "mark": maybe(text)})
_SESSION = record({}, {"began": text, "wall_s": number})
HOST = record(
    {},
    {
        "began": text,
        "wall_s": number,
        "sessions": rows(_SESSION),
        "path": text,
        "redone": rows(text),
        "file": maybe(_LEFT),
    },
)
_EVIDENCE = record(
    {"battery": text, "label": text, "axis": of(*AXES), "start": number, "end": number}
)
OLDER_FINDING = record(
    {"id": text, "title": text, "battery": text, "value": maybe(number), "unit": text},
    {
        "low": maybe(number),
        "high": maybe(number),
        "evidence": maybe(_EVIDENCE),
        "note": maybe(text),
    },
)


def _finding(value: Any, at: str) -> None:
    """A choice has the words that its value may be; a quantity has a number, or none."""
    _FINDING(value, at)
    choices = value.get("choices")
    (maybe(of(*choices)) if choices else maybe(number))(
        value.get("value"), f"{at}.value".strip(".")
    )


_FINDING = record(
    {**dict.fromkeys(("battery", "name", "variant", "title", "unit"), text)},
    {
        **dict.fromkeys(("low", "high"), maybe(number)),
        "means": maybe(of(*MEANS)),
        "choices": rows(text),
        "beside": maybe(text),
        "better": maybe(of(*BETTER)),
        "headline": flag,
        "evidence": maybe(_EVIDENCE),
        "note": maybe(text),
    },
)
FINDING = _finding
_COUNTS = named(maybe(number))
SMART = record(
    {},
    {
        "flashtwin": maybe(
            record(
                {},
                {
                    "waf": record({}, {"by_cause": maybe(_COUNTS)}),
                    "endurance": named(),
                    "energy": named(),
                },
            )
        )
    },
)
_JOB = record(
    {},
    {
        "name": text,
        "rw": text,
        "block_bytes": _SOME,
        **dict.fromkeys(("depth", "threads"), _SOME),
        **dict.fromkeys(("offset", "host_ns", "think_ns", "read_percent"), _ASKED),
        "compress_percent": _ASKED,
        **dict.fromkeys(("size", "io_bytes", "rate_bytes_s"), maybe(_ASKED)),
        "runtime_s": maybe(number),
        "ramp_s": number,
        "seed": between(0, 1 << 64),
        **dict.fromkeys(("shared_stream", "sync"), flag),
    },
)
_PART = record({}, {"label": text, "jobs": rows(_JOB), "sample_s": number, "seconds": number})
_DETAIL = record(
    {},
    {
        "jobs": rows(_JOB),
        "parts": rows(_PART),
        "sample_s": number,
        "seconds": number,
        "offset": _ASKED,
        "size": maybe(_ASKED),
        "block_bytes": _SOME,
        "depth": _SOME,
    },
)
_TOTALS = record(
    {
        "name": text,
        **dict.fromkeys(("ios", "bytes", "duration_ns"), WHOLE),
        **dict.fromkeys(("latency_min_ns", "latency_max_ns"), WHOLE),
        **dict.fromkeys(("latency_mean_ns", "mean_depth"), number),
    },
    {"errors": WHOLE},
)
STEP = record(
    {
        "step": WHOLE,
        **dict.fromkeys(("battery", "label", "kind"), text),
        **dict.fromkeys(("start_ns", "duration_ns"), WHOLE),
        "jobs": rows(_TOTALS),
    },
    {
        **dict.fromkeys(("note", "not_possible"), maybe(text)),
        "detail": _DETAIL,
        "smart": named(),
        "cut": flag,
        "tables": _DIGESTS,
        "block": maybe(record({"at": WHOLE, "bytes": WHOLE, "sha256": text})),
    },
)
_TWIN = record({"kind": of("twin"), "name": text, "toml": text, "seed": between(0, (1 << 63) - 1)})
_FILE = record({"kind": of("file"), "path": text, "size_bytes": WHOLE})


def _form(value: Any, at: str) -> None:
    """The form of a target, from which another process makes it."""
    named()(value, at)
    (_FILE if value.get("kind") == "file" else _TWIN)(value, at)


# A target that never began, as it is listed.
_TASK = record(
    {
        "place": text,
        "target": record({"kind": text}),
        "batteries": rows(record({"name": text})),
        "budget_s": maybe(number),
    }
)
# What it takes to begin it.
_WHOLE_TASK = record(
    {"target": _form, "batteries": rows(record({"name": text, "parameters": named()}))}
)
PLAN = record({"tasks": rows(_TASK)})
WHOLE_PLAN = record(
    {"seed": between(0, (1 << 63) - 1), "command": rows(text), "tasks": rows(_WHOLE_TASK)}
)
