"""How often a fit's intervals hold: drives of the fit's own kinds, with values that are known.

Each is a whole drive of the prior in `twin.toml` (a kind of cache, cells, every value), measured by
a host with noise, stalls and dips, once and twice, and fitted with its kind of cache known, but not
what limits its programs. What is compared is each value's interval with the value inside. Conformal
(Romano, Patterson and Candes 2019): so far as values lie outside of their intervals on drives of
one seed, in 95 % of them, intervals are made longer at both ends; `calibration.toml` has these
lengths. Coverage is told of other seeds.
"""

from __future__ import annotations

import math
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from flashtwin.catalogue.loader import BadSpecError, load
from flashtwin.errors import FlashtwinError
from flashtwin.hypothesis.structures import BITS, NONE, TIERS
from flashtwin.hypothesis.structures import values as values_of
from flashtwin.runner import request
from flashtwin.runner.events import Observer
from flashtwin.runner.target import Target
from flashtwin.runs.rundir import Run
from flashtwin.study.fit import candidate
from flashtwin.study.fit.candidate import Space
from flashtwin.study.fit.fit import LINKS, SLOWER, fit
from flashtwin_lab.blind import generate, kinds, strangers

CAPACITY = 8_000_000_000
SIMULATIONS = 300
HOLDS = 0.95
# Powers of two have logarithms that differ by as little.
EXACT = 1e-9
# The batteries that measure them: one fill, as many a review's drive has, or two, so that the run
# tells the host from the drive.
BATTERIES = {
    "once": "fill:patterns=128k-q32,passes=1",
    "twice": "fill:patterns=128k-q32,passes=1,discover:tests=0,longest_s=0",
}
# What is drawn, log-uniform: what a link carries of the most of its kind (525 to 550 MB/s of the
# catalogue's SATA drives, 3.3 to 3.5 GB/s of PCIe 3), rates over the link's and the cache's, shares
# of what can be lent. Where a core limits programs, the flash's own rates over that.
LINK_SHARE = (0.94, 1.0)
FIRST_OVER_LINK, NATIVE_OVER_FIRST = (0.3, 1.3), (0.15, 0.7)
FLASH_OVER_CORE, NATIVE_OVER_CORE = (1.2, 2.5), (0.4, 1.2)
CACHE_SHARE = (0.02, 0.8)
TLC = 0.65
DIES = (2, 4)
# No die takes data faster. In SLC mode: programs of 100 us on four planes, one after another. Of
# TLC dies shown at ISSCC until 2021 the fastest took 184 MB/s. QLC dies of 64 layers take 19 in
# retail drives; of newer ones three times that is assumed.
FASTEST_DIE = {"slc": 655e6, "tlc": 200e6, "qlc": 60e6}
# A drive of 8 GB is through a cache of half a percent within one sample of a fill. Caches that last
# for less than this do not count, and no second tier that is hardly slower than the first.
SHOWN_S = 0.3
# Other values are within so many spreads of what is usual.
FARTHEST = 2.0


@dataclass(frozen=True, kw_only=True)
class Held:
    """A value of a drawn drive: what it is, and the interval that was fitted, in its unit.

    `fills`: what it was measured by (`BATTERIES`); `way`: which drives it is like
    (`candidate.Structure.group`).
    """

    drive: int
    fills: str
    way: str
    name: str
    true: float
    low: float
    high: float

    @property
    def key(self) -> tuple[str, str, str]:
        """The intervals that one length of `calibration.toml` is for."""
        return self.fills, self.way, self.name

    @property
    def holds(self) -> bool:
        return self.low <= self.true <= self.high

    @property
    def beyond(self) -> float:
        """By how much of its logarithm the value is outside; less than 0 inside."""
        return max(math.log(self.low / self.true), math.log(self.true / self.high))


def drawn(seed: int, number: int) -> tuple[Space, Mapping[str, float]]:
    """A kind of drive and its values."""
    rng = np.random.default_rng((seed, number))

    def between(ends: tuple[float, float]) -> float:
        return float(np.exp(rng.uniform(np.log(ends[0]), np.log(ends[1]))))

    kinds = candidate.structures()
    structure = kinds[int(rng.integers(len(kinds)))]
    cell = "tlc" if rng.random() < TLC else "qlc"
    values = {
        name: usual
        * math.exp(values_of()[name].spread * float(np.clip(rng.normal(), -FARTHEST, FARTHEST)))
        for name, usual in candidate.usual_values().items()
    }
    dies = int(rng.choice(DIES))
    most = FASTEST_DIE["slc"] * dies
    values["dies"] = float(dies)
    values["link"] = float(rng.choice(LINKS[:2])) * between(LINK_SHARE)
    first = values["link"] * between(FIRST_OVER_LINK)
    first = min(first, most / FLASH_OVER_CORE[0] if structure.by_core else most)
    values["first_rate"], native = first, NATIVE_OVER_FIRST
    if structure.by_core:
        values["core_rate"] = first
        values["first_rate"] = min(first * between(FLASH_OVER_CORE), most)
        native = NATIVE_OVER_FIRST if structure.way == "direct" else NATIVE_OVER_CORE
    values["native_rate"] = min(first * between(native), FASTEST_DIE[cell] * dies)
    values["cache"] = between(CACHE_SHARE) / BITS[cell]
    return candidate.space_of(structure, cell, values, rests=True), values


def measured(
    space: Space, values: Mapping[str, float], batteries: str, place: Path, seed: tuple[int, int]
) -> Run:
    """The run of such a drive behind a host of the prior with its noise, stalls and dips; raises
    `BadSpecError` where the values make no drive."""
    flash = candidate.geometry(space, values, CAPACITY, False)
    rows = candidate.rows_of(space, values, CAPACITY, flash)
    spec = load(candidate.text_of(rows, head='id = "drawn"\nname = "a drive drawn at random"'))
    prior = kinds.of_one_host(generate.read_prior(), np.random.default_rng((*seed, 1)))
    target = Target(name="drawn", make=partial(strangers.behind_a_host, spec, prior, seed[1]))
    wanted = request.Request(targets=(target,), batteries=batteries, out=place, kept=False)
    request.test(wanted, _unseen)
    return Run(place)


@contextmanager
def _unseen() -> Iterator[Callable[[str], Observer]]:
    yield lambda _name: Observer()


def shows_its_cache(space: Space, values: Mapping[str, float]) -> bool:
    """True if a fill of 8 GB can show where the drive's cache ends, and its first tier: it lasts
    `SHOWN_S`, and what comes after the first tier has at most `SLOWER` of its rate."""
    if space.structure.name == NONE:
        return True
    host = min(values["link"], values["core_rate"] if space.structure.by_core else np.inf)
    rate = min(host, values["first_rate"])
    if candidate.cache_share(space, values) * CAPACITY < SHOWN_S * rate:
        return False
    if space.structure.name != TIERS:
        return True
    return bool(min(host, values["first_rate"] * values["tier_speed"]) <= SLOWER * rate)


def held(seed: int, number: int, fills: str, *, simulations: int = SIMULATIONS) -> list[Held]:
    """Every interval of one drawn drive, fitted to a run of these `BATTERIES`; none where the
    values make no drive, or one whose fill does not show its cache."""
    space, values = drawn(seed, number)
    if not shows_its_cache(space, values):
        return []
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = measured(space, values, BATTERIES[fills], Path(folder) / "run", (seed, number))
        except BadSpecError:
            return []
        kinds = [
            (kind, space.cell)
            for kind in candidate.structures()
            if kind.number == space.structure.number
        ]
        try:
            twin = fit(run, simulations=simulations, kinds=kinds)
        except FlashtwinError:
            return []
    inside = {
        **values,
        "cache": candidate.cache_share(space, values),
        "reserve": candidate.reserve_share(values),
    }
    return [
        Held(
            drive=number,
            fills=fills,
            way=space.structure.group,
            name=name,
            true=inside[name],
            low=low,
            high=high,
        )
        for name, (low, high) in twin.fitted.intervals.items()
        # A drive that is limited by its flash has no times of a core to compare.
        if name in inside
    ]


Lengths = dict[tuple[str, str, str], float]


def longer(rows: Iterable[Held]) -> Lengths:
    """By how much of its logarithm each interval has to be longer at both ends, by fills, way and
    name."""
    beyond: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        beyond[row.key].append(row.beyond)
    return {key: _quantile(values) for key, values in sorted(beyond.items())}


def _quantile(values: Sequence[float]) -> float:
    """The conformal one; the largest where they are too few for it."""
    rank = min(math.ceil((len(values) + 1) * HOLDS), len(values))
    return max(sorted(values)[rank - 1], 0.0)


def held_by_others(rows: Sequence[Held]) -> int:
    """How many hold if each drive's intervals are as much longer as the other drives say."""
    count = 0
    for drive in {row.drive for row in rows}:
        lengths = longer(row for row in rows if row.drive != drive)
        own = [row for row in rows if row.drive == drive]
        count += sum(row.beyond <= lengths.get(row.key, 0.0) + EXACT for row in own)
    return count
