"""The page of a trace: what is asked for over time, how large requests are, what is overwritten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flashtwin.charts import figures
from flashtwin.load.profile import TITLES, notes, rows, sentences
from flashtwin.load.words import Profile
from flashtwin.model.units import readable_size, show_block, significant
from flashtwin.report.answer import Answer, Figure, Table

# Sizes of requests that a figure shows, the most frequent ones.
MOST_SIZES = 12


def of_profile(profiled: Profile, name: str) -> Answer:
    """The page of a trace."""
    return Answer(
        kind="Trace",
        title=name,
        sentences=sentences(profiled, name),
        figures=tuple(_figures(profiled)),
        tables=tuple(_tables(profiled)),
        notes=notes(profiled),
    )


def _figures(profiled: Profile) -> Iterator[Figure]:
    kinds = [kind for kind, _, _ in profiled.sides]
    lines = [TITLES[kind] for kind in kinds]
    if profiled.span_ns:
        width_s = profiled.load.window_ns / 1e9
        points = [
            {
                "x": round(n * width_s, 6),
                "y": round(moved / width_s / 1e6, 4),
                "line": TITLES[kind],
                "n": n,
            }
            for kind in kinds
            for n, moved in enumerate(getattr(profiled.load.windows, f"{kind}_bytes"))
        ]
        yield Figure(
            title="What is asked for over time",
            lines=lines,
            chart=figures.overlaid(points, lines, "time (s)"),
        )
    yield _sizes(profiled, lines)
    places = profiled.load.places
    if places.overwrites:
        yield _distances(places.distances)


def _sizes(profiled: Profile, lines: Sequence[str]) -> Figure:
    """The sizes that most requests have, as shares of their kind."""
    totals: dict[int, int] = {}
    for _, side, _ in profiled.sides:
        for size, count in side.sizes.items():
            totals[size] = totals.get(size, 0) + count
    shown = sorted(sorted(totals, key=lambda size: -totals[size])[:MOST_SIZES])
    bars = []
    for kind, side, _ in profiled.sides:
        for size in shown:
            percent = 100 * side.sizes.get(size, 0) / side.count
            shares = {"y": round(percent, 3), "shown": f"{significant(percent, 3)} %"}
            bars.append({"x": show_block(size), "line": TITLES[kind], **shares})
    axis = figures.words_axis("bytes", [show_block(size) for size in shown])
    title = "How large requests are"
    return Figure(title=title, lines=lines, chart=figures.side_by_side(bars, lines, axis, "%"))


def _distances(distances: Sequence[int]) -> Figure:
    """Overwrites by what was written in between."""
    there = [place for place, count in enumerate(distances) if count]
    total, words, bars = sum(distances), [], []
    for place in range(there[0], there[-1] + 1):
        word = readable_size(1 << place - 1, 3, binary=True) if place else "0 B"
        percent = 100 * distances[place] / total
        shares = {"y": round(percent, 3), "shown": f"{significant(percent, 3)} %"}
        words.append(word)
        bars.append({"x": word, "line": "overwrites", **shares})
    axis = figures.words_axis("written in between, at least", words)
    return Figure(
        title="What is written between two writes of a place",
        lines=("overwrites",),
        chart=figures.side_by_side(bars, ("overwrites",), axis, "%"),
    )


def _tables(profiled: Profile) -> Iterator[Table]:
    yield Table(
        title="Requests",
        head=("kind", "requests", "data", "median", "most frequent", "in order"),
        rows=[
            (row.kind, row.requests, row.bytes, row.median, row.usual, row.in_order)
            for row in rows(profiled)
        ],
    )
    places = profiled.load.places
    touched = {
        "touched": places.touched,
        "written": places.written,
        "read": places.read,
    }
    yield Table(
        title="Places",
        head=("places", "size"),
        rows=[(name, readable_size(count * places.bytes)) for name, count in touched.items()],
    )
    if places.hottest:
        yield Table(
            title="Where the writes go",
            head=("most written places", "share of the writes"),
            rows=[(f"{a / 10:g} %", f"{b / 10:g} %") for a, b in places.hottest],
        )
    if places.overwrites:
        yield Table(
            title="Written between two writes of a place",
            head=("at least", "overwrites"),
            rows=[
                (readable_size(1 << place - 1 if place else 0, 3, binary=True), f"{count:,}")
                for place, count in enumerate(places.distances)
                if count
            ],
        )
