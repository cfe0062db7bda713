"""The drive that settles to published figures: searched on small copies, one value after another.

First how many dies share a stripe of parity, from what sequential writes cost; then how much flash
holds data and how large a superblock is, in turns, because each shifts the other; then how victims
are chosen. Rates are told by a byte's own time and a moved byte's, both of which follow from the
rates by least squares for whatever write amplification a candidate has, so that they are not
searched. Invariant: figures that are held out are not seen here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from flashtwin import _core
from flashtwin.catalogue.label import Programs, programs_at
from flashtwin.catalogue.loader import BadSpecError, load
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.hypothesis import settled
from flashtwin.model.units import parse_size
from flashtwin.study.fit.published import Figure, Published

UNIT = settled.UNIT
# A copy holds this at least: a smaller one has superblocks of too few pages.
COPY_BYTES = 2 << 30
# Sizes of a spec that are smaller in a copy.
SCALED = (
    "ftl.system",
    "slc_cache.size",
    "slc_cache.static_size",
    "slc_cache.rearm",
    "fold.reserve",
)
# Blocks have these wordlines times a power of two: steps of a fifth or less.
WORDLINES = (4, 5, 6, 7)
# Superblocks are looked for from this share of the label's to this multiple of it.
SMALLEST, LARGEST = 1 / 4, 4.0
# How victims may be chosen, the most usual first: another has to explain the figures better by
# this factor in the sum of squares.
POLICIES = ("greedy", "d-choices", "fifo", "cost-benefit")
BETTER = 1.5
# A stripe of parity costs one die's share: below this cost there is none.
LEAST_OVERHEAD = 0.012
# Flash that holds data is looked for between these multiples of the largest span.
LEAST_FLASH, MOST_FLASH = 1.015, 2.5
# A second search goes no farther than this from the first, in logarithms of the spare flash.
NEAR = 0.35
# An interval has the values whose misfit is below the best's plus this,
# in units of the noise.
INTERVAL = 3.84
# Noise of one figure, as a share, before its misfit says more: printed digits and copies.
NOISE = 0.015
# The least seconds that a byte costs.
LEAST_S = 1e-15

Tell = Callable[[int, str], None]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A candidate: `flash_bytes` hold data or wait for it, parity left out."""

    flash_bytes: float
    superblock_bytes: float
    stripe_dies: int = 0
    policy: str = "greedy"


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Seconds for a byte of single-page writes and for a moved one; and of long writes."""

    page_s: float | None = None
    move_s: float | None = None
    long_s: float | None = None
    long_move_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The best place, what rates say of times, and what fits no worse."""

    place: Place
    costs: Costs
    misfit: float
    flash: tuple[float, float]
    superblock: tuple[float, float] | None
    policies: Mapping[str, float]


@dataclass(kw_only=True)
class Settling:
    """Simulates candidates for figures and remembers what they showed."""

    published: Published
    seed: int = 1
    tell: Tell = field(default=lambda _count, _label: None)
    done: int = 0
    _known: dict[tuple[object, ...], float] = field(default_factory=dict)

    @cached_property
    def values(self) -> dict[str, str]:
        """What the label lets one expect."""
        return settled.values_of(load(self.published.text))

    def _dies(self, place: Place) -> int:
        """Dies, in whole channels, as many as share a stripe where there is parity."""
        channels = int(self.values["nand.channels"])
        if not place.stripe_dies:
            return channels * int(self.values["nand.dies_per_channel"])
        return channels * max(round(place.stripe_dies / channels), 1)

    @cached_property
    def _program(self) -> int:
        """Bytes that one die programs at once."""
        page = bytes_of(self.values["nand.page_size"])
        return settled.bits_of(self.values) * page * int(self.values["nand.planes"])

    def program_bytes(self, place: Place) -> int:
        """Bytes that all dies program at once."""
        return self._dies(place) * self._program

    def programs(self, place: Place, rate: float) -> Programs:
        """Native programs that write so many bytes a second, the label's program the usual one."""
        return programs_at(
            rate,
            dies=self._dies(place),
            program_bytes=self._program,
            usual=self.values["nand.native.tprog"].split(", "),
            bus_rate=self.values["nand.bus_rate"],
        )

    def sets(self, place: Place) -> list[str]:
        """What of the label's spec a place changes."""
        dies, row = self._dies(place), self.program_bytes(place)
        wordlines = _wordlines(place.superblock_bytes / row)
        superblock = wordlines * row
        parity = dies / (dies - 1) if place.stripe_dies else 1.0
        system = bytes_of(self.values["ftl.system"])
        most = superblock // settled.bits_of(self.values) // 2
        buffer = max(min(bytes_of(self.values["controller.write_buffer"]), most), self._program)
        sets = {
            "nand.dies_per_channel": dies // int(self.values["nand.channels"]),
            "nand.wordlines_per_block": wordlines,
            "nand.blocks_per_plane": round((place.flash_bytes * parity + system) / superblock),
            "ftl.parity": "stripe" if place.stripe_dies else "none",
            "gc.policy": place.policy,
            "controller.write_buffer": f"{buffer // UNIT * UNIT} B",
        }
        return [f"{key}={value}" for key, value in sets.items()]

    def copy(self, place: Place) -> tuple[_core.Spec, float]:
        """The spec of a copy with as many superblocks and dies, and how many times smaller it is.

        Its dies have one plane and few wordlines; only sizes of superblocks count without time.
        """
        changed = dict(setting.split("=", 1) for setting in self.sets(place))
        full = {**self.values, **changed}
        wordlines, planes = int(full["nand.wordlines_per_block"]), int(full["nand.planes"])
        capacity = bytes_of(full["drive.capacity"])
        small = wordlines
        while small % 2 == 0 and small > max(WORDLINES):
            small //= 2
        scale = planes * wordlines / small
        while capacity / scale < COPY_BYTES and scale > planes:
            small, scale = 2 * small, scale / 2
        copied = {
            **changed,
            "nand.planes": 1,
            "nand.wordlines_per_block": small,
            "controller.write_buffer": f"{self._program // planes} B",
            "drive.capacity": f"{int(capacity / scale) // UNIT * UNIT} B",
        }
        for key in SCALED:
            copied[key] = f"{int(bytes_of(full[key]) / scale) // UNIT * UNIT} B"
        return load(self.published.text, sets=[f"{k}={v}" for k, v in copied.items()]), scale

    def ratio(self, place: Place, figure: Figure) -> float:
        """The write amplification that a place settles to; infinite where it is no drive."""
        key = (tuple(self.sets(place)), figure.pattern, figure.span_bytes)
        if key not in self._known:
            try:
                spec, scale = self.copy(place)
                settled.check(spec)
                self._known[key] = settled.amplification(
                    spec, figure.pattern, figure.span_bytes, scale=scale, seed=self.seed
                )
            except BadSpecError:
                self._known[key] = math.inf
            self.told(figure.title)
        return self._known[key]

    def told(self, title: str) -> None:
        """Count a simulation, and tell that it was made."""
        self.done += 1
        self.tell(self.done, title)

    def misfit(self, place: Place, figures: Sequence[Figure]) -> float:
        """The sum of squared distances of what is fitted to, in units of the noise."""
        ratios = [self.ratio(place, figure) for figure in figures]
        if not all(math.isfinite(ratio) for ratio in ratios):
            return math.inf
        costs = costs_of(figures, ratios)
        shown = [
            rate_of(figure, ratio, costs) if figure.is_rate else ratio
            for figure, ratio in zip(figures, ratios, strict=True)
        ]
        return sum(
            (math.log(value / figure.value) / NOISE) ** 2
            for figure, value in zip(figures, shown, strict=True)
            if value is not None
        )

    def fitted(self) -> Fit:
        """The drive that explains the figures best."""
        figures = self.published.fitted
        place = self._started(figures)
        zones = [figure for figure in figures if figure.pattern.kind == "zones"]
        spread = [figure for figure in figures if figure.is_random]
        if not spread and not zones:
            raise FlashtwinError(
                "the table has neither random writes nor zones: nothing tells the spare flash",
                hint="add a row with load uniform, parts, zipf or zones",
                exit_code=USAGE,
            )
        place = self._flash(place, spread or zones)
        superblock = None
        if zones:
            place, superblock = self._superblock(place, zones)
            place = self._flash(place, [*spread, *zones], again=True)
        place, policies = self._policy(place, figures)
        least = self.misfit(place, figures)
        return Fit(
            place=place,
            costs=costs_of(figures, [self.ratio(place, figure) for figure in figures]),
            misfit=least,
            flash=self._flash_interval(place, spread or zones),
            superblock=superblock,
            policies=policies,
        )

    def _started(self, figures: Sequence[Figure]) -> Place:
        """Where the search begins: the label's flash, and what sequential writes cost as parity."""
        over = [
            figure.value - 1
            for figure in figures
            if figure.pattern.kind == "sequential" and not figure.is_rate
        ]
        overhead = float(np.mean(over)) if over else 0.0
        dies = round(1 / overhead) + 1 if overhead > LEAST_OVERHEAD else 0
        raw = settled.superblock_bytes(self.values) * int(self.values["nand.blocks_per_plane"])
        place = Place(
            flash_bytes=raw - bytes_of(self.values["ftl.system"]),
            superblock_bytes=settled.superblock_bytes(self.values),
            stripe_dies=dies,
        )
        row = self.program_bytes(place)
        return replace(place, superblock_bytes=_wordlines(place.superblock_bytes / row) * row)

    def _flash(self, place: Place, figures: Sequence[Figure], *, again: bool = False) -> Place:
        """The flash that explains figures best, by golden sections of the spare's logarithm."""
        span = max(figure.span_bytes for figure in self.published.figures)

        def at(x: float) -> float:
            return self.misfit(replace(place, flash_bytes=span * (1 + math.exp(x))), figures)

        low, high, steps = math.log(LEAST_FLASH - 1), math.log(MOST_FLASH - 1), 8
        if again:
            middle = math.log(place.flash_bytes / span - 1)
            low, high, steps = middle - NEAR, middle + NEAR, 4
        x = _lowest(at, low, high, steps)
        return replace(place, flash_bytes=span * (1 + math.exp(x)))

    def _flash_interval(self, place: Place, figures: Sequence[Figure]) -> tuple[float, float]:
        """Flash whose misfit is not worse than chance allows, by steps of a percent."""
        least = self.misfit(place, figures)
        scatter = max(least / max(len(figures) - 1, 1), 1.0)
        ends = []
        for sign in (-1, 1):
            share = 0.0
            while share < 0.1:
                share += 0.01
                moved = replace(place, flash_bytes=place.flash_bytes * (1 + sign * share))
                if self.misfit(moved, figures) > least + INTERVAL * scatter:
                    break
            ends.append(place.flash_bytes * (1 + sign * share))
        return ends[0], ends[1]

    def _superblock(
        self, place: Place, figures: Sequence[Figure]
    ) -> tuple[Place, tuple[float, float]]:
        """The superblock that explains the zones best: every second step, then the steps beside;
        and how far it may be off, which is half a step at least."""
        row = self.program_bytes(place)
        ladder = [row * count for count in _ladder(place.superblock_bytes / row)]
        misfits = {size: self._with(place, size, figures) for size in ladder[::2]}
        at = ladder.index(min(misfits, key=lambda size: misfits[size]))
        for size in ladder[max(at - 1, 0) : at + 2]:
            misfits.setdefault(size, self._with(place, size, figures))
        best = min(misfits, key=lambda size: misfits[size])
        scatter = max(misfits[best] / max(len(figures) - 1, 1), 1.0)
        near = [
            at
            for at, size in enumerate(ladder)
            if misfits.get(size, math.inf) <= misfits[best] + INTERVAL * scatter
        ]
        least, most = (
            math.sqrt(ladder[at] * ladder[max(min(at + step, len(ladder) - 1), 0)])
            for at, step in ((near[0], -1), (near[-1], 1))
        )
        return replace(place, superblock_bytes=best), (least, most)

    def _with(self, place: Place, superblock: float, figures: Sequence[Figure]) -> float:
        return self.misfit(replace(place, superblock_bytes=superblock), figures)

    def _policy(self, place: Place, figures: Sequence[Figure]) -> tuple[Place, Mapping[str, float]]:
        """How victims are chosen, with probabilities: each with the flash that suits it."""
        spread = [figure for figure in figures if figure.is_random] or figures
        places = {place.policy: place}
        for policy in POLICIES:
            if policy not in places:
                there = replace(place, policy=policy)
                places[policy] = self._flash(there, spread, again=True)
        misfits = {policy: self.misfit(there, figures) for policy, there in places.items()}
        least = min(misfits.values())
        scatter = max(least / max(len(figures) - 2, 1), 1.0)
        weights = {name: math.exp(-(misfits[name] - least) / 2 / scatter) for name in misfits}
        total = sum(weights.values())
        chosen = min(misfits, key=lambda name: misfits[name])
        if misfits[place.policy] <= BETTER * least:
            chosen = place.policy
        return places[chosen], {name: weight / total for name, weight in weights.items()}


def costs_of(figures: Sequence[Figure], ratios: Sequence[float]) -> Costs:
    """What a byte and a moved byte cost, by least squares of relative errors."""
    rows = {"page": [], "long": []}  # type: dict[str, list[tuple[float, float]]]
    for figure, ratio in zip(figures, ratios, strict=True):
        if figure.is_rate:
            rows["page" if figure.is_random else "long"].append((ratio - 1, figure.value))
    page, long = _line(rows["page"]), _line(rows["long"])
    return Costs(page_s=page[0], move_s=page[1], long_s=long[0], long_move_s=long[1])


def _line(rows: Sequence[tuple[float, float]]) -> tuple[float | None, float | None]:
    """`1/rate = a + b * (waf - 1)`, neither below zero; of one row `b` is `a`."""
    if not rows:
        return None, None
    moved = np.array([extra for extra, _ in rows])
    rate = np.array([value for _, value in rows])
    if float(np.ptp(moved)) < 0.02:
        cost = float(np.mean(1 / (rate * (1 + moved))))
        return cost, cost
    matrix = np.stack([rate, rate * moved], axis=1)
    (own, each), *_ = np.linalg.lstsq(matrix, np.ones(len(rows)), rcond=None)
    if each < 0:
        return float(np.mean(1 / rate)), 0.0
    if own < 0:
        return 0.0, float(np.mean(1 / (rate * np.maximum(moved, 1e-3))))
    return float(own), float(each)


def rate_of(figure: Figure, ratio: float, costs: Costs) -> float | None:
    """Bytes a second at a write amplification; none where the table tells no cost of the kind."""
    own, each = (
        (costs.page_s, costs.move_s) if figure.is_random else (costs.long_s, costs.long_move_s)
    )
    if own is None or each is None:
        return None
    return 1 / max(own + each * (ratio - 1), LEAST_S)


def _wordlines(wanted: float) -> int:
    """The nearest that halves down to a few wordlines, so that small copies can be had."""
    return min(_options(), key=lambda count: abs(math.log(count / max(wanted, 1e-9))))


def _ladder(usual: float) -> list[int]:
    """Wordlines of a block that are tried about a usual number."""
    return [count for count in _options() if SMALLEST <= count / usual <= LARGEST]


def _options() -> list[int]:
    return sorted(base << power for base in WORDLINES for power in range(12))


def _lowest(of: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """Where a function with one valley is lowest, by golden sections."""
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = of(left), of(right)
    for _ in range(steps):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = of(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = of(right)
    return left if at_left < at_right else right


def bytes_of(text: str) -> int:
    """A size of a spec; `0` has no unit."""
    return 0 if text == "0" else parse_size(text.replace(" ", ""))
