"""The analysis as a function: a series in, an answer out; ours, or another's from a file.

The interface that others can compete through: a Python file with

    def detect(t_ns, dt_ns, bytes, capacity_bytes) -> dict

whose arguments are three equally long arrays of int64 (begin and length of each sample, bytes in
it) and the capacity as the label says it. The answer may have `cache` (True, False, or None for
"cannot tell"), `cache_bytes`, `fold_bytes`, `tier_bytes` (where a second tier of the cache ends;
each [value, low, high] of a 95 % interval, or None),
`bound_bytes` (where no cache was seen: none larger than this is there), and `plateaus` (a list of
[start, end, speed, low, high] in bytes and bytes a second), and `probability` (that there is
a cache; from 0.95 on it is claimed, and without one every `cache` that is True is).
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashtwin.analysis import calibration
from flashtwin.analysis.curve import curve_of
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.shape import Plateau, shape_of
from flashtwin.batteries.fill.findings import analyse_fill
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin_lab.blind.truth import Measured

GB = 1e9


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What an analysis made of a series, in bytes and bytes a second."""

    cache: bool | None
    probability: float | None = None
    cache_bytes: Estimate | None = None
    fold_bytes: Estimate | None = None
    tier_bytes: Estimate | None = None
    bound_bytes: float | None = None
    plateaus: tuple[tuple[float, float, Estimate], ...] = ()


Detector = Callable[[Measured], Answer]


def findings_of(measured: Measured, **more: Any) -> dict[str, Finding]:
    """The battery's findings of a series by their name; `more` as `analyse_fill` takes it."""
    findings = analyse_fill(
        measured.t_ns,
        measured.dt_ns,
        measured.bytes,
        pattern="blind",
        label="blind",
        capacity_bytes=measured.capacity_bytes,
        **more,
    )
    return {finding.name: finding for finding in findings}


def ours(measured: Measured) -> Answer:
    """The findings of the battery fill, and the plateaus behind them."""
    curve = curve_of(measured.t_ns, measured.dt_ns, measured.bytes)
    shape = shape_of(curve)
    findings = findings_of(measured, shape=shape)
    size, fold, tier = findings["cache_size"], findings["fold_begin"], findings.get("tier_end")
    plateaus = tuple(_stretch(plateau) for plateau in shape.plateaus)
    if not size.value:
        high = size.interval.high if size.interval is not None else None
        return Answer(
            cache=None if size.value is None else False,
            bound_bytes=None if high is None else high * GB,
            plateaus=plateaus,
        )
    return Answer(
        cache=True,
        # Of a fill that begins as hardly any drive's does there is no probability, and no claim.
        probability=findings["cache_probability"].number or 0.0,
        cache_bytes=_estimate(size),
        fold_bytes=None if fold.value is None else _estimate(fold),
        tier_bytes=None if tier is None or tier.value is None else _estimate(tier),
        plateaus=plateaus,
    )


def _stretch(plateau: Plateau) -> tuple[float, float, Estimate]:
    return plateau.start, plateau.end, calibration.widened(plateau.speed, "speed")


def _estimate(finding: Finding) -> Estimate:
    """A place in bytes with its interval, both as a user sees them."""
    interval = finding.interval
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    assert isinstance(finding.value, float | int), "sizes are numbers"
    return Estimate(value=finding.value, low=low, high=high).scaled(GB)


def from_file(path: Path) -> Detector:
    """The function `detect` of a Python file, which is run: hand over only files you trust."""
    try:
        function = runpy.run_path(str(path)).get("detect")
    except (OSError, SyntaxError, ImportError) as error:
        raise FlashtwinError(f"--detector {path}: {error}", exit_code=USAGE) from error
    if not callable(function):
        raise FlashtwinError(
            f"--detector {path} has no function detect",
            hint="define detect(t_ns, dt_ns, bytes, capacity_bytes) and return a dict",
            exit_code=USAGE,
        )

    def detect(measured: Measured) -> Answer:
        return answer_of(
            function(measured.t_ns, measured.dt_ns, measured.bytes, measured.capacity_bytes)
        )

    return detect


def answer_of(document: Mapping[str, Any]) -> Answer:
    """An answer in the words of the interface; raises `FlashtwinError` where it is none."""
    try:
        return Answer(
            cache=document["cache"],
            probability=document.get("probability"),
            cache_bytes=_triple(document.get("cache_bytes")),
            fold_bytes=_triple(document.get("fold_bytes")),
            tier_bytes=_triple(document.get("tier_bytes")),
            bound_bytes=document.get("bound_bytes"),
            plateaus=tuple(
                (float(start), float(end), Estimate(value=value, low=low, high=high))
                for start, end, value, low, high in document.get("plateaus", ())
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FlashtwinError(
            f"a detector's answer cannot be read: {error}",
            hint="see the text of flashtwin_lab/blind/detect.py for its keys",
            exit_code=USAGE,
        ) from error


def _triple(value: Any) -> Estimate | None:
    if value is None:
        return None
    middle, low, high = value
    return Estimate(value=middle, low=low, high=high)
