"""What stands between a drive and its recorded series: the host, its journal, heat, a wrong label.

Each effect changes how long the bytes took and never how many there are, so that a place in bytes
stays true. Stalls, dips and heat belong to no plateau: `undisturbed` is the curve without them, on
which the true speeds are measured, drift and slow waves left in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.analysis.curve import Curve

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A recorded series, the factor of its label, the effects by name, and the calm curve."""

    t_ns: NDArray[np.int64]
    dt_ns: NDArray[np.int64]
    bytes: NDArray[np.int64]
    label: float
    effects: tuple[str, ...]
    undisturbed: Curve


class _Effects:
    """The prior's effects: whether each is drawn, and how strong."""

    def __init__(self, prior: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.rng = rng
        self._table: Mapping[str, Any] = prior["effects"]
        self.names = tuple(
            name for name, values in self._table.items() if rng.random() < values["share"]
        )

    def has(self, name: str) -> bool:
        return name in self.names

    def draw(self, name: str, key: str) -> float:
        low, high = self._table[name][key]
        return float(self.rng.uniform(low, high))


def disturbed(
    curve: Curve, prior: Mapping[str, Any], rng: np.random.Generator, knee: float | None
) -> Seen:
    """The curve as a host records it; `knee` is where the cache ends, in bytes."""
    effects = _Effects(prior, rng)
    sample = _sample_s(curve, prior, rng)
    shares = curve.bytes_at[:-1] / curve.total_bytes
    slowly = _waves(curve, prior, rng, effects, sample)
    if effects.has("drift"):
        slowly = slowly * (1.0 + effects.draw("drift", "size") * shares)
    undisturbed = Curve(dt=curve.dt / slowly, size=curve.size)
    speed = np.ones(len(curve))
    _host(undisturbed, effects, speed, sample)
    _heat(effects, speed, shares)
    if effects.has("hysteresis") and knee is not None:
        _rearmed(undisturbed, effects, speed, knee)
    dt = undisturbed.dt / speed
    _stalls(curve, effects, dt, knee)
    label = 1.0 + (effects.draw("wrong_label", "size") if effects.has("wrong_label") else 0.0)
    recorded = _recorded(Curve(dt=dt, size=curve.size), sample)
    return Seen(
        t_ns=recorded[0],
        dt_ns=recorded[1],
        bytes=recorded[2],
        label=label,
        effects=effects.names,
        undisturbed=undisturbed,
    )


def _sample_s(curve: Curve, prior: Mapping[str, Any], rng: np.random.Generator) -> float:
    host = prior["host"]
    drawn = float(rng.choice(host["sample_s"]))
    most, least = curve.total_s / host["least_samples"], curve.total_s / host["most_samples"]
    return float(np.clip(drawn, least, most))


def _waves(
    curve: Curve,
    prior: Mapping[str, Any],
    rng: np.random.Generator,
    effects: _Effects,
    sample: float,
) -> Floats:
    """Noise of each sample, and noise with a memory: a factor of the speed for each fine sample."""
    low, high = prior["ranges"]["noise"]
    count = int(curve.total_s / sample) + 2
    noise = rng.normal(0.0, float(np.exp(rng.uniform(np.log(low), np.log(high)))), count)
    if effects.has("correlated"):
        keeps = float(np.exp(-1.0 / effects.draw("correlated", "memory")))
        size = effects.draw("correlated", "size") * np.sqrt(1 - keeps**2)
        wave = np.zeros(count)
        for index, step in enumerate(rng.normal(0.0, size, count - 1)):
            wave[index + 1] = keeps * wave[index] + step
        noise = noise + wave
    sample_of = (curve.time_at[:-1] / sample).astype(np.int64)
    result: Floats = np.clip(1.0 + noise[sample_of], 0.5, 1.5)
    return result


def _host(curve: Curve, effects: _Effects, speed: Floats, sample: float) -> None:
    """A slow or fast beginning, and the journal's dips."""
    for name in ("slow_start", "burst_start"):
        if effects.has(name):
            until = effects.draw(name, "seconds")
            speed[curve.time_at[:-1] < until] *= effects.draw(name, "factor")
    if effects.has("dips"):
        every = effects.draw("dips", "every") * sample
        phase = (curve.time_at[:-1] + effects.rng.uniform(0, every)) % every
        speed[phase < sample] *= 1.0 - effects.draw("dips", "depth")


def _heat(effects: _Effects, speed: Floats, shares: Floats) -> None:
    """Slower for a part of each period, going down and up in ramps."""
    if not effects.has("throttle"):
        return
    begins, period = effects.draw("throttle", "begins"), effects.draw("throttle", "period")
    duty, factor = effects.draw("throttle", "duty"), effects.draw("throttle", "factor")
    ramp = max(effects.draw("throttle", "ramp") * duty, 1e-6)
    phase = ((shares - begins) % period) / period
    depth = np.clip(np.minimum(phase / ramp, (duty - phase) / ramp), 0.0, 1.0)
    depth[shares < begins] = 0.0
    speed *= 1.0 - (1.0 - factor) * depth


def _rearmed(curve: Curve, effects: _Effects, speed: Floats, knee: float) -> None:
    """Now and then after its end the cache takes data again for a moment, at the full speed."""
    fast = curve.mean_between(0.0, knee)
    rate = curve.mean_between(knee, min(knee * 1.2, curve.total_bytes))
    end = float(curve.seconds_to(np.array([knee]))[0])
    for _ in range(round(effects.draw("hysteresis", "times"))):
        begins = end + effects.rng.uniform(0.02, 0.3) * (curve.total_s - end)
        lasts = effects.draw("hysteresis", "seconds")
        inside = (curve.time_at[:-1] >= begins) & (curve.time_at[:-1] < begins + lasts)
        speed[inside] *= fast / max(rate, 1.0)


def _stalls(curve: Curve, effects: _Effects, dt: Floats, knee: float | None) -> None:
    if effects.has("stall"):
        place = effects.rng.uniform(0.0, curve.total_bytes)
        dt[_at(curve, place)] += effects.draw("stall", "seconds")
    if effects.has("stall_at_knee") and knee is not None:
        dt[_at(curve, knee)] += effects.draw("stall_at_knee", "seconds")


def _at(curve: Curve, place: float) -> int:
    return int(np.clip(np.searchsorted(curve.bytes_at, place) - 1, 0, len(curve) - 1))


def _recorded(
    curve: Curve, sample: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Equal samples of the host, whole bytes and nanoseconds; the last one may be shorter."""
    edges = np.append(np.arange(0.0, curve.total_s, sample), curve.total_s)
    if edges[-1] - edges[-2] < 1e-6:
        edges = np.delete(edges, -2)
    done = np.round(np.interp(edges, curve.time_at, curve.bytes_at)).astype(np.int64)
    at = np.round(edges * 1e9).astype(np.int64)
    return at[:-1], np.diff(at), np.diff(done)
