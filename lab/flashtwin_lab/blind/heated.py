"""Fills with the drive's temperature: does `slowed_by` name heat, and only where it was heat?

What: a drive of the prior is given a mass that warms as it writes. Half of the drives become hot
at some moment of the fill and their firmware slows them down: by one step until they have cooled,
or as far as holds the temperature. The other half warm up and are never slowed by it; whatever the
prior's host and a law of `negatives` do stands beside a temperature that has nothing to do with it.
Each fill is analysed with its temperature and without, as a user hands it over.

Invariants: bytes stay, only their time grows; a drive counts as slowed by heat where that made
`SLOWED_SAMPLES` samples at least a tenth slower; the same numbers give the same series.

Source of the numbers: ranges of this project. Consumer drives throttle at 65 to 85 °C and go on
some degrees below (their data sheets); sensors tell whole degrees and lag by seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.batteries.fill.causes import Degrees
from flashtwin.runner.pool import Send, Work
from flashtwin_lab.blind import detect, generate, judge, negatives
from flashtwin_lab.blind.judge import CampaignDocument, Row
from flashtwin_lab.blind.run import DRIVE_BYTES, named, pooled
from flashtwin_lab.blind.truth import Measured

Floats = NDArray[np.float64]
# Pieces of a series within which the temperature changes.
PIECES = 8_000
SLOWED_SAMPLES, SLOWER = 3, 0.9
# The controller's share of the heat, and the degrees within which a speed follows a temperature.
CONTROLLERS, FOLLOWS = 0.3, 4.0
# The least that a step leaves of the speed, and how much less than what cools the drive at last.
SLOWEST, COOLER = 0.2, 0.05
# The shares asked of heated fills with a temperature and without, and allowed of all others.
WITH, WITHOUT, WRONGLY = 0.9, 0.6, 0.02
HEAT, WITH_WARMTH = "throttling", ", with warmth"


@dataclass(frozen=True, kw_only=True)
class Warmed:
    """A fill with the temperature of each sample's end, and whether heat slowed it."""

    measured: Measured
    degrees: Floats
    is_slowed: bool
    law: str


@dataclass(frozen=True, kw_only=True)
class Named:
    """What was said to slow a fill, with its temperature and without (none: cannot tell)."""

    name: str
    law: str
    is_slowed: bool
    with_degrees: str | None
    without: str | None


@dataclass(frozen=True, kw_only=True)
class Heated:
    """Rows of the table, and every drive."""

    rows: tuple[Row, ...]
    drives: tuple[Named, ...]

    @property
    def missed(self) -> int:
        return sum(not row.passes for row in self.rows)

    def worst_lines(self) -> list[str]:
        """What was said of each kind of fill, the most frequent answer first."""
        lines = []
        for law in sorted({drive.law for drive in self.drives}):
            drives = [drive for drive in self.drives if drive.law == law]
            parts = [
                f"{words} {sum(getattr(drive, key) == HEAT for drive in drives)}"
                for key, words in (("with_degrees", "with a temperature"), ("without", "without"))
            ]
            lines.append(f"{law}: {len(drives)} fills, called heat {', '.join(parts)}")
        return lines

    def document(self) -> CampaignDocument:
        """As `flashtwin blind --json` prints it."""
        return CampaignDocument([row.document() for row in self.rows], missed=self.missed)


def campaign(count: int, seed: int, *, on_end: Callable[[int, str], None] | None = None) -> Heated:
    """Draw `count` fills, analyse each twice, and judge."""
    prior = generate.read_prior()
    works = [
        Work(call=partial(_drive, prior, seed, number), memory_bytes=DRIVE_BYTES)
        for number in range(count)
    ]
    drives = pooled(works, named(on_end))
    return Heated(rows=tuple(rows(drives)), drives=tuple(drives))


def rows(drives: Sequence[Named]) -> Iterator[Row]:
    """What was reached of each target."""
    hot = [drive for drive in drives if drive.is_slowed]
    for key, words, share in (
        ("with_degrees", "with a temperature", WITH),
        ("without", "without one", WITHOUT),
    ):
        told = sum(getattr(drive, key) == HEAT for drive in hot)
        yield Row(
            finding=f"heat is named, {words}",
            target=f"{share:.0%} of the fills that it slowed",
            found=f"{told} of {len(hot)}",
            n=len(hot),
            passes=judge.reaches(told, len(hot), share),
        )
    others = [drive for drive in drives if not drive.is_slowed]
    for key, words in (("with_degrees", "with a temperature"), ("without", "without one")):
        wrong = sum(getattr(drive, key) == HEAT for drive in others)
        yield Row(
            finding=f"heat is named where there was none, {words}",
            target=f"at most {WRONGLY:.0%}",
            found=f"{wrong} of {len(others)}",
            n=len(others),
            passes=not judge.excluded(wrong, len(others), WRONGLY),
        )


def _drive(prior: Mapping[str, Any], seed: int, number: int, _send: Send) -> Named:
    return answered(warmed(prior, seed, number))


def answered(drive: Warmed) -> Named:
    """What the battery's analysis says of a fill, with its temperature and without."""
    series = drive.measured
    ends = (series.t_ns + series.dt_ns - series.t_ns[0]) / 1e9

    def said(warm: Degrees | None) -> str | None:
        value = detect.findings_of(series, warm=warm)["slowed_by"].value
        return None if value is None else str(value)

    return Named(
        name=series.name,
        law=drive.law,
        is_slowed=drive.is_slowed,
        with_degrees=said(Degrees(at_s=ends, degrees=drive.degrees)),
        without=said(None),
    )


def warmed(prior: Mapping[str, Any], seed: int, number: int) -> Warmed:
    """The fill `number`: even ones become hot."""
    never = {**prior["effects"]["throttle"], "share": 0.0}
    effects = {**prior["effects"], "throttle": never}
    drive = generate.measured({**prior, "effects": effects}, seed, number)
    rng = np.random.default_rng((seed, number, 5))
    if number % 2 == 0:
        return _hot(drive, rng)
    names = ("nothing", *(name for name in negatives.LAWS if name != "heat that stays"))
    law = str(rng.choice(names))
    if law != "nothing":
        of_its_kind = list(negatives.LAWS).index(law) + len(negatives.LAWS) * number
        drive = negatives.negative(drive, seed, of_its_kind)
    return _cool(drive, law, rng)


@dataclass(frozen=True, kw_only=True)
class _Mass:
    """Degrees at rest, those that full speed leads to in the end, and the seconds on the way;
    where the firmware slows the drive down and lets it go, and what speed it leaves. `by_rate`: how
    much less a drive heats itself where it is slower by itself, past its cache."""

    rest: float
    most: float
    seconds: float
    hot: float
    cool: float
    left: float
    by_rate: float


def _hot(drive: Measured, rng: np.random.Generator) -> Warmed:
    """A drive that is slowed down from some moment on."""
    hot, rest = rng.uniform(65.0, 85.0), rng.uniform(28.0, 45.0)
    cool, most = hot - rng.uniform(2.0, 12.0), hot + rng.uniform(3.0, 40.0)
    # A step of the firmware leaves as little as cools the drive; where none does it holds.
    enough = ((cool - rest) / (most - rest) - CONTROLLERS) / (1 - CONTROLLERS) - COOLER
    holds = bool(rng.random() < 0.25) or enough < SLOWEST
    left = rng.uniform(SLOWEST, min(max(enough, SLOWEST), 0.75))
    begins = rng.uniform(0.02, 0.6) * float(drive.dt_ns.sum()) / 1e9
    mass = _Mass(
        rest=rest,
        most=most,
        seconds=-begins / float(np.log(1 - (hot - rest) / (most - rest))),
        hot=hot,
        cool=cool,
        left=SLOWEST if holds else left,
        by_rate=rng.uniform(0.0, 0.5),
    )
    dt, size = _pieces(drive)
    factor, degrees = _slowed(dt, size, mass, holds)
    seen = dt / factor
    slow = np.minimum.reduceat(factor, np.arange(0, dt.size, max(dt.size // drive.bytes.size, 1)))
    law = "heat that holds a temperature" if holds else "heat in turns"
    recorded = _recorded(drive, seen, size)
    slowed_s = float(seen[factor < SLOWER].sum())
    sample_s = float(np.median(recorded.dt_ns)) / 1e9
    is_slowed = bool((slow < SLOWER).any()) and slowed_s >= SLOWED_SAMPLES * sample_s
    read = _sensor(recorded, np.cumsum(seen), degrees, rng)
    if not is_slowed:
        law = "a warm drive that is not slowed"
    return Warmed(measured=recorded, degrees=read, is_slowed=is_slowed, law=law)


def _cool(drive: Measured, law: str, rng: np.random.Generator) -> Warmed:
    """A drive that warms up as it writes, and is slowed by something else."""
    rest = rng.uniform(28.0, 45.0)
    total = float(drive.dt_ns.sum()) / 1e9
    most = rest + rng.uniform(5.0, 40.0)
    mass = _Mass(
        rest=rest,
        most=most,
        seconds=rng.uniform(0.03, 0.5) * total,
        hot=np.inf,
        cool=rest,
        left=1.0,
        by_rate=rng.uniform(0.0, 1.0),
    )
    dt, size = _pieces(drive)
    _, degrees = _slowed(dt, size, mass, False)
    read = _sensor(drive, np.cumsum(dt), degrees, rng)
    return Warmed(measured=drive, degrees=read, is_slowed=False, law=f"{law}{WITH_WARMTH}")


def _pieces(drive: Measured) -> tuple[Floats, Floats]:
    """Seconds and bytes of the pieces of a series' samples."""
    parts = max(1, -(-PIECES // drive.bytes.size))
    return (
        np.repeat(drive.dt_ns / 1e9 / parts, parts),
        np.repeat(drive.bytes.astype(np.float64) / parts, parts),
    )


def _slowed(dt: Floats, size: Floats, mass: _Mass, holds: bool) -> tuple[Floats, Floats]:
    """The factor of the speed of each piece, and the degrees at its end."""
    rate = size / dt
    written = np.minimum(rate / max(float(np.quantile(rate, 0.98)), 1.0), 1.0)
    works = 1.0 - mass.by_rate * (1.0 - written)
    factors, degrees = np.ones(dt.size), np.empty(dt.size)
    now, factor, slowed = mass.rest, 1.0, False
    for index in range(dt.size):
        if holds:
            over = (now - mass.hot) / FOLLOWS
            factor = float(np.clip(1.0 - over * (1.0 - mass.left), mass.left, 1.0))
        else:
            slowed = now > mass.cool if slowed else now >= mass.hot
            factor = mass.left if slowed else 1.0
        # Some of the heat is the controller's, whatever it writes.
        power = CONTROLLERS + (1.0 - CONTROLLERS) * works[index] * factor
        towards = mass.rest + (mass.most - mass.rest) * power
        lasts = dt[index] / factor
        now += (towards - now) * (1.0 - float(np.exp(-lasts / mass.seconds)))
        factors[index], degrees[index] = factor, now
    return factors, degrees


def _recorded(drive: Measured, dt: Floats, size: Floats) -> Measured:
    """The slower series in samples as long as they were."""
    time_at = np.concatenate(([0.0], np.cumsum(dt)))
    done_at = np.concatenate(([0.0], np.cumsum(size)))
    sample = float(drive.dt_ns[0]) / 1e9
    edges = np.append(np.arange(0.0, time_at[-1] - 1e-6, sample), time_at[-1])
    done = np.round(np.interp(edges, time_at, done_at)).astype(np.int64)
    at = np.round(edges * 1e9).astype(np.int64)
    return replace(drive, t_ns=at[:-1], dt_ns=np.diff(at), bytes=np.diff(done))


def _sensor(drive: Measured, time_at: Floats, degrees: Floats, rng: np.random.Generator) -> Floats:
    """Whole degrees at the end of each sample: some seconds late, and told now and then."""
    ends = np.cumsum(drive.dt_ns) / 1e9
    every, late = float(rng.choice([1.0, 2.0, 5.0, 10.0])), rng.uniform(0.0, 5.0)
    told_at = np.floor(ends / every) * every - late
    return np.round(np.interp(told_at, time_at, degrees))
