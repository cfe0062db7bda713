"""What is asked of the theory: laws at points, each with what has to come out and how closely.

Expected values come from the formulas where there is one. Where there is none (greedy, d-choices)
they are figures of an independent Monte-Carlo page map: 0.27 to 0.5 M user pages, 10 to 14
overwrites after a sequential fill, the second half measured, open and reserve blocks counted out of
the over-provisioning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from flashtwin import _core
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin_lab.theory import formulas
from flashtwin_lab.theory.formulas import HotCold

Parameters = Mapping[str, float | int | str]

SIMULATED = "simulated page map"
FORMULA = "formula"


@dataclass(frozen=True, kw_only=True)
class Point:
    """A law at one set of parameters.

    `expected` is none for the laws of caches and hosts, whose inputs are measured on the same
    drive: then `law` says which measurement finds both sides. `low` and `high` bound what has no
    exact form.
    """

    law: str
    parameters: Parameters
    tolerance: float
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    origin: str = FORMULA
    unit: str = "A"
    data: dict[str, Any] = field(default_factory=dict)


# rho -> A of greedy collection.
GREEDY_64 = {0.07: 7.03, 0.125: 4.40, 0.145: 3.91, 0.28: 2.41, 0.50: 1.68}
GREEDY_256 = {0.07: 7.65, 0.125: 4.62, 0.145: 4.08, 0.28: 2.47, 0.50: 1.71}
TEN_CHOICES_64 = {0.07: 7.34, 0.145: 4.04, 0.28: 2.47}
FIFO_AT = (0.07, 0.125, 0.145, 0.28, 0.50, 1.00)
RANDOM_AT = (0.125, 0.145, 0.28, 0.50, 1.00)
# (rho, share of the data, share of the writes) -> greedy in one stream, greedy with its own.
HOT_COLD = {
    (0.07, 0.2, 0.8): (7.42, 7.40),
    (0.145, 0.2, 0.8): (4.27, 4.20),
    (0.145, 0.1, 0.9): (4.93, 4.53),
    (0.28, 0.1, 0.9): (3.25, 2.87),
}
# (rho, share of TRIMs) -> greedy.
TRIMMED = {
    (0.07, 0.1): 3.02,
    (0.07, 0.2): 1.84,
    (0.145, 0.1): 2.36,
    (0.145, 0.2): 1.64,
    (0.28, 0.1): 1.81,
    (0.28, 0.2): 1.42,
}

CACHE_LAWS = (
    "staged",
    "staged, borrowed cells return",
    "direct, borrowed cells return",
    "onset of folding",
    "largest dynamic cache",
    "mean past the cache",
    "overwritten in the cache",
)

READ_MEAN = "mean of reads one at a time"
READ_DEVIATION = "deviation of reads one at a time"
# Shares of tR by which blocks and layers differ.
READ_VARIATION: Parameters = {"block": 0.04, "layer": 0.09}


def every() -> list[Point]:
    """All tables and laws."""
    return [*collection(), *caches(), *host()]


def collection() -> Iterator[Point]:
    """Write amplification under garbage collection."""
    for rho in FIFO_AT:
        yield uniform("fifo", rho, 64, formulas.fifo(rho), 0.01)
    for rho in RANDOM_AT:
        # A small block may lose all its valid data before it is drawn, and then costs nothing to
        # collect.
        pages = 64 if rho < 0.5 else 512
        yield uniform("random", rho, pages, formulas.random_victim(rho), 0.01)
    for pages, table in ((64, GREEDY_64), (256, GREEDY_256)):
        for rho, expected in table.items():
            yield uniform("greedy", rho, pages, expected, 0.02, SIMULATED)
    for rho, expected in TEN_CHOICES_64.items():
        yield uniform("d-choices", rho, 64, expected, 0.02, SIMULATED)
    for (rho, data, writes), (unseparated, separated) in HOT_COLD.items():
        split = HotCold(data=data, writes=writes)
        best = formulas.ideal_separation(rho, split)
        yield hot_cold("fifo", "none", rho, split, formulas.fifo_hot_cold(rho, split), FORMULA)
        yield hot_cold("greedy", "none", rho, split, unseparated, SIMULATED)
        yield hot_cold("greedy", "gc", rho, split, separated, SIMULATED)
        yield hot_cold("fifo", "oracle", rho, split, best.amplification, FORMULA)
    for (rho, trims), expected in TRIMMED.items():
        yield with_trims("greedy", rho, trims, expected, SIMULATED)
        yield with_trims("fifo", rho, trims, formulas.fifo(formulas.trimmed(rho, trims)), FORMULA)


def uniform(
    policy: str, rho: float, pages: int, expected: float, tolerance: float, origin: str = FORMULA
) -> Point:
    return Point(
        law=f"{policy}, uniform random writes",
        parameters={"policy": policy, "op": rho, "pages": pages},
        expected=expected,
        tolerance=tolerance,
        origin=origin,
    )


def hot_cold(
    policy: str, separation: str, rho: float, split: HotCold, expected: float, origin: str
) -> Point:
    streams = {"none": "one stream", "gc": "GC in its own", "oracle": "ideal separation"}
    return Point(
        law=f"{policy}, hot and cold data, {streams[separation]}",
        parameters={
            "policy": policy,
            "op": rho,
            "pages": 64,
            "separation": separation,
            "hot_data": split.data,
            "hot_writes": split.writes,
        },
        expected=expected,
        tolerance=0.03,
        origin=origin,
    )


def with_trims(policy: str, rho: float, trims: float, expected: float, origin: str) -> Point:
    return Point(
        law=f"{policy}, writes and TRIMs",
        parameters={"policy": policy, "op": rho, "pages": 64, "trims": trims},
        expected=expected,
        tolerance=0.03,
        origin=origin,
    )


def caches() -> Iterator[Point]:
    """The laws of SLC caches; both sides are measured on one drive."""
    for law in CACHE_LAWS:
        unit = {"onset of folding": "GB", "largest dynamic cache": "GB"}.get(law, "MB/s")
        if law == "overwritten in the cache":
            unit = "native programs a host byte"
        yield Point(law=law, parameters={"bits": 3}, tolerance=0.01, unit=unit)


def host() -> Iterator[Point]:
    """Little's law, the conservation of what is programmed, and how reads spread."""
    for depth, threads in ((1, 1), (16, 2), (32, 1)):
        parameters = {"depth": depth, "threads": threads}
        yield Point(law="Little's law", parameters=parameters, tolerance=0.001, unit="requests")
    for policy in ("greedy", "fifo"):
        yield Point(law="conservation", parameters={"policy": policy}, tolerance=0.0, unit="bytes")
    for law, tolerance in ((READ_MEAN, 0.005), (READ_DEVIATION, 0.05)):
        yield Point(law=law, parameters=READ_VARIATION, tolerance=tolerance, unit="us")


_CLOSED: Mapping[str, Callable[[float], float]] = {
    "fifo": formulas.fifo,
    "random": formulas.random_victim,
}
# How far below FIFO collection by valid data may come: 12 % for 64 pages a block, and less for
# larger ones.
BELOW_FIFO = 0.12


def of_user(policy: str, rho: float, pages: int, trims: float = 0.0) -> Point:
    """A point of the user's. Without a closed form, FIFO's bounds it from above."""
    policies = _core.spec_words("gc.policy")
    if policy not in policies:
        raise FlashtwinError(
            f"no victim policy {policy}", hint=f"one of {', '.join(policies)}", exit_code=USAGE
        )
    if not 0.02 <= rho <= 4.0:
        raise FlashtwinError(
            f"an over-provisioning of {rho:g} cannot be tried",
            hint="write a share of the user's capacity from 0.02 to 4, e.g. --op 0.2",
            exit_code=USAGE,
        )
    if not 0.0 <= trims < 0.5:
        raise FlashtwinError(
            f"{trims:g} of the requests cannot be TRIMs",
            hint="write a share from 0 to 0.49; half and more leaves nothing on the drive",
            exit_code=USAGE,
        )
    if abs(100 * trims - round(100 * trims)) > 1e-9:
        raise FlashtwinError(
            f"a share of TRIMs of {trims:g} is not a whole percent, and only those can be drawn",
            hint=f"write --trims {round(100 * trims) / 100:g}",
            exit_code=USAGE,
        )
    effective = formulas.trimmed(rho, trims)
    parameters: dict[str, float | int | str] = {"policy": policy, "op": rho, "pages": pages}
    law = f"{policy}, uniform random writes"
    if trims:
        parameters["trims"] = trims
        law = f"{policy}, writes and TRIMs"
    if policy in _CLOSED:
        return Point(
            law=law,
            parameters=parameters,
            expected=_CLOSED[policy](effective),
            tolerance=0.03 if trims else 0.01,
        )
    bound = formulas.fifo(effective)
    return Point(
        law=law,
        parameters=parameters,
        low=1.0 + (bound - 1.0) * (1.0 - 2 * BELOW_FIFO),
        high=bound * 1.01,
        tolerance=0.0,
        origin="bounded by FIFO",
    )
