"""The twin of a fit to published figures: its spec with origins, and every figure beside its own.

Figures that were held out are predicted here, after the search is over. A rate is what its write
amplification and the times of a byte and a moved byte say, which the spec has as the firmware's
times. Invariant: only what the table tells gets the origin `fitted`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from flashtwin.catalogue.label import spec_text
from flashtwin.catalogue.loader import load
from flashtwin.model.document import Document
from flashtwin.model.units import readable_number, readable_size
from flashtwin.study.fit import timed
from flashtwin.study.fit.published import Figure, Published, without_what_is_held_out
from flashtwin.study.fit.settling import LEAST_S, UNIT, Fit, Settling, rate_of

ROUNDED = "what is usual, rounded so that a small copy can be simulated"
# A way to choose victims that is less likely than this is not named.
LIKELY = 0.05
# How near the twin's rate has to come in time, in logarithms; how many times of a move are tried
# for that; and from where on a note says that it is off.
SAME_RATE, MOST_TRIED, TOLD_RATE = 0.02, 9, 0.05


class SettledValue(Document, frozen=True):
    """A value that was searched, and the least and the greatest that fit no worse; in bytes."""

    name: str
    title: str
    value: float
    low: float
    high: float


class PublishedFigure(Document, frozen=True):
    """A published figure and the twin's."""

    load: str
    kind: Literal["waf", "rate"]
    published: float
    twin: float | None
    off: float | None
    use: Literal["fit", "held out"]
    held: bool


class SettledDocument(Document, frozen=True):
    """flashtwin fit --published --json"""

    path: str
    values: list[SettledValue]
    policies: dict[str, float]
    figures: list[PublishedFigure]
    simulations: int
    notes: tuple[str, ...]
    toml: str


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A published figure and the twin's; none where nothing in the table tells it."""

    figure: Figure
    shown: float | None

    @property
    def off(self) -> float | None:
        """How far off the twin is, as a share of what was published."""
        return None if self.shown is None else self.shown / self.figure.value - 1

    @property
    def is_held(self) -> bool:
        """Whether it is as near as the table asks."""
        return self.off is not None and abs(self.off) <= self.figure.tolerance

    def document(self) -> PublishedFigure:
        """The row of what `--json` prints."""
        figure = self.figure
        return PublishedFigure(
            load=figure.title,
            kind="rate" if figure.is_rate else "waf",
            published=figure.value,
            twin=self.shown,
            off=self.off,
            use="held out" if figure.held_out else "fit",
            held=self.is_held,
        )

    def words(self) -> tuple[str, str, str]:
        """Published, the twin's, and how far off it is."""
        if self.shown is None or self.off is None:
            return self._text(self.figure.value), "", ""
        off = f"{100 * self.off:+.1f} %"
        return self._text(self.figure.value), self._text(self.shown), off

    def _text(self, value: float) -> str:
        if self.figure.is_rate:
            return f"{readable_number(value / 1e6, 3)} MB/s"
        return readable_number(value, 3)


@dataclass(frozen=True, kw_only=True)
class SettledTwin:
    """A spec, what was found, and the figures; `even_writes`: the bytes a second of even 4 KiB
    writes that the settled twin takes in time, where a rate of them was fitted to."""

    toml: str
    best: Fit
    rows: tuple[Compared, ...]
    notes: tuple[str, ...]
    simulations: int
    even_writes: float | None = None

    def sentence(self) -> str:
        """What was found, in one line."""
        flash, *others = self.values
        text = (
            f"flash that holds data {readable_size(flash.value)} "
            f"({readable_size(flash.low)} to {readable_size(flash.high)})"
        )
        for row in others:
            value, low, high = (
                readable_size(size, 3, binary=True) for size in (row.value, row.low, row.high)
            )
            text += f", superblock {value} ({low} to {high})"
        return text

    @property
    def values(self) -> list[SettledValue]:
        """What was searched, with what fits no worse."""
        place, (low, high) = self.best.place, sorted(self.best.flash)
        rows = [
            SettledValue(
                name="flash",
                title="flash that holds data",
                value=place.flash_bytes,
                low=low,
                high=high,
            )
        ]
        if self.best.superblock is not None:
            low, high = self.best.superblock
            rows.append(
                SettledValue(
                    name="superblock",
                    title="superblock",
                    value=place.superblock_bytes,
                    low=low,
                    high=high,
                )
            )
        return rows

    def document(self, path: Path) -> SettledDocument:
        """What `--json` prints, beside where the spec is."""
        return SettledDocument(
            path=str(path),
            values=self.values,
            policies=dict(self.best.policies),
            figures=[row.document() for row in self.rows],
            simulations=self.simulations,
            notes=self.notes,
            toml=self.toml,
        )


def fit_published(
    published: Published,
    *,
    seed: int = 1,
    tell: Callable[[int, str], None] = lambda _count, _label: None,
) -> SettledTwin:
    """Search the drive that settles to the figures, and predict those that were held out."""
    search = Settling(published=without_what_is_held_out(published), seed=seed, tell=tell)
    best = search.fitted()
    in_time = _in_time(published, search, best)
    toml = _toml(published, search, best, in_time.times)
    load(toml)
    rows = tuple(
        Compared(figure=figure, shown=_shown(figure, search.ratio(best.place, figure), best))
        for figure in published.figures
    )
    notes = (*_notes(best), *in_time.notes)
    return SettledTwin(
        toml=toml,
        best=best,
        rows=rows,
        notes=notes,
        simulations=search.done,
        even_writes=in_time.takes,
    )


def _shown(figure: Figure, ratio: float, best: Fit) -> float | None:
    return rate_of(figure, ratio, best.costs) if figure.is_rate else ratio


def _notes(best: Fit) -> tuple[str, ...]:
    notes = []
    likely = [
        f"{name} {readable_number(100 * share, 2)} %"
        for name, share in sorted(best.policies.items(), key=lambda item: -item[1])
        if share >= LIKELY
    ]
    notes.append(f"how victims are chosen: {', '.join(likely)}")
    if best.superblock is None:
        notes.append("no load of zones in the table: the superblock stays what is usual")
    if best.costs.page_s is None:
        notes.append("no rate of random writes in the table: the twin's rates are the label's")
    return tuple(notes)


@dataclass(frozen=True, kw_only=True)
class _InTime:
    """The firmware's and the flash's times, and what the settled twin takes in time of even writes
    beside what the figures say; none where no rate of even writes was fitted to."""

    times: Mapping[str, Any]
    takes: float | None = None
    wanted: float | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for the user where the twin's rate in time is not the one that is wanted."""
        if self.takes is None or self.wanted is None:
            return ()
        if self.off <= TOLD_RATE:
            return ()
        takes, wanted = (
            f"{readable_number(rate / 1e6, 3)} MB/s" for rate in (self.takes, self.wanted)
        )
        why = (
            "its flash and its collection take longer for a move than the table says"
            if self.takes < self.wanted
            else "its flash is faster than the firmware's times of the table let it be"
        )
        return (f"in time the settled twin takes {takes} of even writes, not {wanted}: {why}",)

    @property
    def off(self) -> float:
        """How far the twin's rate is off in time, up or down, in logarithms."""
        assert self.takes is not None and self.wanted is not None, "both are rates"
        return abs(math.log(self.takes / self.wanted))


def _in_time(published: Published, search: Settling, best: Fit) -> _InTime:
    """The times with which the twin takes, in time, what the figures say of even writes.

    The firmware's time for a move is what is left of its cost once the flash has read and
    programmed it: it is searched for.
    """
    times = _times(search, best)
    uniform = [figure for figure in published.fitted if figure.pattern.kind == "uniform"]
    figures = [figure for figure in uniform if figure.is_rate]
    if "controller.move_time" not in times or not figures:
        return _InTime(times=times)
    # The load under which most is moved tells most of a move.
    figure = max(figures, key=lambda each: search.ratio(best.place, each))
    wanted = rate_of(figure, search.ratio(best.place, figure), best.costs)
    most_ns = float(str(times["controller.move_time"]).split()[0])

    def moved_in(share: float) -> _InTime:
        search.told(f"{figure.title}, in time")
        own = {**times, "controller.move_time": f"{round(most_ns * share)} ns"}
        text = _toml(published, search, best, own)
        takes = timed.settled_rate(text, figure.span_bytes, search.seed)
        return _InTime(times=own, takes=takes, wanted=wanted)

    def is_slow(each: _InTime) -> bool:
        return each.takes is not None and wanted is not None and each.takes < wanted

    tried, (low, high) = [moved_in(1.0)], (0.0, 1.0)
    if is_slow(tried[0]):
        # As fast as its flash lets it be.
        tried.append(moved_in(0.0))
    while len(tried) in range(2, MOST_TRIED) and not is_slow(tried[1]):
        if min(each.off for each in tried) <= SAME_RATE:
            break
        middle = (low + high) / 2
        tried.append(moved_in(middle))
        low, high = (low, middle) if is_slow(tried[-1]) else (middle, high)
    return min(tried, key=lambda each: each.off)


def _toml(published: Published, search: Settling, best: Fit, times: Mapping[str, Any]) -> str:
    """The label's spec with what the figures tell in it."""
    source = f"fitted to published figures: {published.source}"
    sets = dict(setting.split("=", 1) for setting in search.sets(best.place))
    changed = {key: int(value) if value.isdigit() else value for key, value in sets.items()}
    # Blocks are counted in superblocks of this size, whether the table tells it or not.
    untold = () if best.superblock is not None else ("nand.wordlines_per_block",)
    label = replace(published.label, id=f"{published.label.id}-fitted")
    text = spec_text(
        label,
        changes={
            key: (value, "prior", ROUNDED) if key in untold else (value, "fitted", source)
            for key, value in {**changed, **times}.items()
        },
    )
    schema, _, rest = text.partition("\n")
    lines = (f"Then fitted by `flashtwin fit --published`: {published.source}", *_notes(best))
    return "\n".join([schema, *(f"# {line}" for line in lines), rest])


def _times(search: Settling, best: Fit) -> dict[str, Any]:
    """The firmware's and the flash's times that rates tell, as a spec has them, and how many
    programs are in hand."""
    times: dict[str, Any] = {}
    costs = best.costs
    if costs.page_s is not None and costs.move_s is not None:
        times["controller.command_time"] = f"{max(round(costs.page_s * UNIT * 1e9), 1)} ns"
        times["controller.move_time"] = f"{round(costs.move_s * UNIT * 1e9)} ns"
    if costs.long_s is not None:
        programs = search.programs(best.place, 1 / max(costs.long_s, LEAST_S))
        times["controller.native_programs"] = programs.in_hand
        times["nand.native.tprog"] = programs.written
    return times
