"""The small pictures beside the drives' names: their first phase as a path, and their shapes.

They are drawn here and not by the scripts, so that the head of the page is whole at once, also on
paper. Coordinates are in a box of `WIDTH` by `HEIGHT`; all drives share one scale.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flashtwin.report.curves import Curve
from flashtwin.report.view import Drive

WIDTH, HEIGHT = 220, 44
STEPS = 110
# A shape for each drive in a box of 12 by 12, in the order of `charts.SHAPES`.
SHAPES = (
    "M6 1a5 5 0 1 0 0 10a5 5 0 1 0 0-10z",
    "M1.5 1.5h9v9h-9z",
    "M6 .8L11.4 10.6H.6z",
    "M6 .4L11.2 6L6 11.6L.8 6z",
    "M4.2 .8h3.6v3.4h3.4v3.6H7.8v3.4H4.2V7.8H.8V4.2h3.4z",
    "M6 11.2L.6 1.4H11.4z",
)


def sparks(drives: Sequence[Drive], lines: Sequence[Curve]) -> dict[int, str]:
    """A path for each drive that has a curve: speed over data done."""
    first: dict[int, Curve] = {}
    for curve in lines:
        first.setdefault(curve.drive.index, curve)
    if not first:
        return {}
    end = max(float(curve.done[-1]) for curve in first.values())
    means = {index: _means(curve, end) for index, curve in first.items()}
    top = max(float(np.max(values)) for _, values in means.values())
    return {index: _path(x, values / top) for index, (x, values) in means.items()}


def _means(curve: Curve, end: float) -> tuple[list[float], np.ndarray]:
    steps = max(round(STEPS * float(curve.done[-1]) / end), 2)
    edges = np.linspace(0, curve.done[-1], steps + 1)
    seconds = np.interp(edges, curve.done, curve.seconds)
    rates = np.diff(edges) / np.maximum(np.diff(seconds), 1e-12)
    return [float(x) for x in (edges[1:] + edges[:-1]) / 2 / end], rates


def _path(x: Sequence[float], shares: np.ndarray) -> str:
    points = [
        f"{at * WIDTH:.1f} {HEIGHT - 2 - (HEIGHT - 4) * float(share):.1f}"
        for at, share in zip(x, shares, strict=True)
    ]
    return "M" + "L".join(points)
