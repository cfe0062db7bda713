"""A drive drawn from the prior, its fill played in the core, and the truth about it.

Truth to the byte, from the X-ray of the undisturbed drive: the cache ends at the host bytes
acknowledged when the first byte is placed past it or folded to make room; cells have to come back
at the host bytes acknowledged when the native bytes still free fall to the reserve. Plateaus are
the stretches between these places that hold 2 % of the capacity and are 15 % from their neighbour.
What acknowledged data still lies in the write buffer counts as written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.analysis.curve import Curve
from flashtwin.catalogue.loader import load
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.hypothesis.small_drive import TRANSFER_US, SmallDrive, superblock_bytes
from flashtwin.hypothesis.structures import BITS
from flashtwin.inputs import read_toml
from flashtwin.model.job import Job, jobs_json
from flashtwin_lab.blind import disturb
from flashtwin_lab.blind.truth import Measured, Truth, fold_of, plateaus_of

PRIOR = Path(__file__).with_name("prior.toml")
MOST_BYTES = 1 << 20
BLOCK = 128 << 10
SAMPLE_NS = 4_000_000
GB = 1e9
# A cache counts as visible from this contrast and so many samples on, as none below the other.
CONTRAST, SAMPLES, NO_CONTRAST = 1.25, 3, 1.05
PASTS = (hypothesis.DIRECT, hypothesis.STAGED)
# Wordlines of a block of the small drive.
WORDLINES = 44

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What was drawn of a drive: its design, its spec's text with the sets, and its sizes.

    `inside`: all dies' rates in bytes a second (`first_rate`, `native_rate`), and where there is a
    cache of a size its share of the capacity (`cache`).
    """

    design: str
    text: str
    sets: tuple[str, ...]
    reserve: float
    capacity: float
    speed: float
    inside: Mapping[str, float]


def read_prior(path: Path | None = None) -> dict[str, Any]:
    """The prior as it stands in the file; raises `FlashtwinError` where it is none."""
    place = path or PRIOR
    prior = read_toml(place, most_bytes=MOST_BYTES)
    lacking = [
        key
        for key in ("ranges", "host", "designs", "effects", "targets", "drive")
        if key not in prior
    ]
    if lacking:
        raise FlashtwinError(
            f"{place} lacks {', '.join(lacking)}",
            hint="copy the sections from flashtwin_lab/blind/prior.toml",
            exit_code=USAGE,
        )
    return prior


def measured(prior: Mapping[str, Any], seed: int, number: int) -> Measured:
    """The drive `number` of a campaign: its series as a host would record it, and the truth."""
    rng = np.random.default_rng((seed, number))
    drawn = draw(prior, rng)
    spec = load(drawn.text, sets=drawn.sets)
    job = Job(
        name="fill",
        rw="write",
        block_bytes=BLOCK,
        depth=32,
        size=spec.capacity_bytes // BLOCK * BLOCK,
    )
    answer = _core.Twin(spec, seed=number + 1).run(jobs_json([job]), SAMPLE_NS, go_on)
    series, xray = answer["series"], answer["xray"]
    curve = Curve(dt=series["dt_ns"] / 1e9, size=series["bytes"].astype(np.float64))
    stretch = drawn.capacity / spec.capacity_bytes
    done = np.interp(xray["t_ns"], series["t_ns"] + series["dt_ns"], np.cumsum(series["bytes"]))
    ends = [place * stretch for place in ends_of(xray, done, drawn)]
    first = curve.mean_between(0.0, ends[0] / stretch if ends else curve.total_bytes)
    pace = drawn.speed / first
    host = Curve(dt=curve.dt * (stretch / pace), size=curve.size * stretch)
    knee = ends[0] if ends else None
    seen = disturb.disturbed(host, prior, rng, knee)
    return Measured(
        name=f"{drawn.design} {number}",
        t_ns=seen.t_ns,
        dt_ns=seen.dt_ns,
        bytes=seen.bytes,
        capacity_bytes=int(drawn.capacity * seen.label),
        truth=_truth(drawn, seen.undisturbed, ends, float(seen.dt_ns[0]) / 1e9),
        effects=seen.effects,
    )


def go_on(_bytes: int, _ns: int) -> bool:
    """A watch that stops nothing."""
    return True


def draw(prior: Mapping[str, Any], rng: np.random.Generator) -> Drawn:
    """A drive from the prior."""

    def value(key: str) -> float:
        low, high = prior["ranges"][key]
        if key in prior["log"]:
            return float(np.exp(rng.uniform(np.log(low), np.log(high))))
        return float(rng.uniform(low, high))

    designs = prior["designs"]
    weights = np.array([design["weight"] for design in designs], dtype=np.float64)
    design = designs[int(rng.choice(len(designs), p=weights / weights.sum()))]
    cell = str(rng.choice(["tlc", "qlc"], p=[0.65, 0.35]))
    bits = BITS[cell]
    capacity = prior["drive"]["simulated_gb"] * GB
    tprog = value("slc_tprog_us")
    native = tprog * value("native_ratio") * bits / 3
    # So much cache as a drive can lend: a cell of it holds one bit instead of `bits`.
    cache = min(value("cache_share"), 0.8 / bits) * capacity
    static, reserve = value("static_share") * capacity, value("reserve_share") * capacity
    uses = _uses(design)
    # Blocks of the cache's own hold one bit a cell, and the drive has them beside its capacity.
    own = static * bits if "static" in uses else 0.0
    tier = 0.0
    if "tier" in uses:
        # Both tiers are lent: what one holds the other cannot.
        cache = min(cache, 0.3 / bits * capacity)
        tier = min(value("tier_share") * capacity, 2 * (0.8 / bits * capacity - cache))
    sizes = hypothesis.Cache(
        borrowed=cache,
        own=static,
        reserve=reserve,
        tier=tier,
        tier_program_s=round(tprog * 2 * (native / tprog / bits) ** 0.5) / 1e6,
    )
    small = SmallDrive(
        cell=cell,
        capacity_bytes=capacity,
        raw_bytes=capacity * prior["drive"]["slack"] + own,
        wordlines=WORDLINES,
        slc_tprog_us=tprog,
        native_tprog_us=native,
        write_buffer_kib=1536,
        system_mb=100,
        rearm_bytes=0.1 * cache,
        id="blind",
        name="a drive drawn at random",
        source="drawn by flashtwin blind",
    )
    return Drawn(
        design=design["name"],
        text=small.text(prior["drive"].get("toml")),
        sets=_sets(design, cell, sizes),
        reserve=reserve if "reserve" in uses else 0.0,
        capacity=value("capacity_gb") * GB,
        speed=value("speed_mbs") * 1e6,
        inside=_inside(design["name"], tprog, native, bits, (cache, own / bits, capacity)),
    )


def _uses(design: Mapping[str, Any]) -> set[str]:
    """Which values mean anything in a design."""
    if "sets" in design:
        text = " ".join(design["sets"])
        return {name for name in ("static", "reserve", "tier") if f"{{{name}}}" in text}
    of = hypothesis.structure(design["structure"], design["past"])
    # A static cache is all in blocks of its own.
    return {*of.uses, *(["static"] if of.name == hypothesis.STATIC else [])}


def _sets(design: Mapping[str, Any], cell: str, sizes: hypothesis.Cache) -> tuple[str, ...]:
    """The settings of a design; in a prior's own words where it has some."""
    if "sets" not in design:
        return hypothesis.sets(
            hypothesis.structure(design["structure"], design["past"]), cell, sizes
        )
    paces = {past: hypothesis.pace(hypothesis.structure("dynamic", past), cell) for past in PASTS}
    holes = {
        "cache": f"{sizes.borrowed:.0f} B",
        "static": f"{sizes.own:.0f} B",
        "reserve": f"{sizes.reserve:.0f} B",
        "tier": f"{sizes.tier:.0f} B",
        "tier_tprog": f"{sizes.tier_program_s * 1e6:.0f} us",
        "freeing": f"{paces[hypothesis.DIRECT]:.3f}",
        "staging": f"{paces[hypothesis.STAGED]:.3f}",
    }
    return tuple(line.format(**holes) for line in design["sets"])


def _inside(
    design: str, tprog: float, native: float, bits: int, sizes: tuple[float, float, float]
) -> dict[str, float]:
    """Rates with transfers, and the cache's share as the drive has it and as the spec asks for it;
    times in us, sizes of cache, own part and drive in bytes."""
    cache, own, capacity = sizes
    row = superblock_bytes(1)
    rates = {
        "first_rate": row / (tprog + TRANSFER_US) * 1e6,
        "native_rate": row * bits / (native + bits * TRANSFER_US) * 1e6,
    }
    if design in ("none", "whole-drive"):
        return rates
    parts = 0.0 if design == "static" else cache, own
    held = sum(whole_superblocks(part) for part in parts if part > 0.0)
    return {**rates, "cache": held / capacity, "asked_cache": sum(parts) / capacity}


def whole_superblocks(cache_bytes: float) -> float:
    """What a drive makes of a cache that its spec asks for: the nearest number of superblocks."""
    superblock = superblock_bytes(WORDLINES)
    return max(int(cache_bytes / superblock + 0.5), 1) * superblock


def drive(
    prior: Mapping[str, Any], rng: np.random.Generator
) -> tuple[str, _core.Spec, Mapping[str, float]]:
    """A drive from the prior as it is: its design, its spec, and what is inside."""
    drawn = draw(prior, rng)
    return drawn.design, load(drawn.text, sets=drawn.sets), drawn.inside


def ends_of(xray: Mapping[str, NDArray[np.int64]], host: Floats, drawn: Drawn) -> list[float]:
    """Where the cache ends and where cells have to come back, in simulated bytes acknowledged."""
    if drawn.design == "none":
        return []
    past = (xray["direct_bytes"] > 0) | (xray["fold_bytes"] > 0)
    if not past.any():
        return []
    ends = [float(host[int(past.argmax())])]
    short = (xray["native_free_bytes"] <= drawn.reserve) & past
    if drawn.reserve > 0 and short.any():
        ends.append(float(host[int(short.argmax())]))
    return ends


def _truth(drawn: Drawn, curve: Curve, ends: list[float], sample_s: float) -> Truth:
    places = [0.0, *ends, curve.total_bytes]
    plateaus = plateaus_of(curve, [pair for pair in pairwise(places) if pair[1] > pair[0]])
    return Truth(
        design=drawn.design,
        visible=visible(curve, ends, sample_s) if ends else False,
        cache_bytes=ends[0] if ends else None,
        fold_bytes=fold_of(curve, ends),
        plateaus=tuple(plateaus),
    )


def visible(curve: Curve, ends: list[float], sample_s: float) -> bool | None:
    """Whether a host can see the cache end; none where that lies below what it can resolve."""
    seconds = float(curve.seconds_to(np.array([ends[0]]))[0])
    after = ends[1] if len(ends) > 1 else curve.total_bytes
    contrast = curve.mean_between(0.0, ends[0]) / curve.mean_between(ends[0], after)
    if contrast < NO_CONTRAST:
        return False
    return True if seconds >= SAMPLES * sample_s and contrast >= CONTRAST else None
