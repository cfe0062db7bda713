"""What a sweep is to do, and the file that says so: `sweep.json` in its directory.

Each point is resolved to a whole spec before the first one runs. A corner of the grid that is no
drive (a cache larger than the flash) is told then, and the others go on. Invariants: a directory
holds one sweep, and to go on with it under another plan, or after its drive has changed, is
refused; `sweep.json` depends on nothing but the plan.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from flashtwin import _core
from flashtwin.batteries.base import registry
from flashtwin.catalogue import shorthand
from flashtwin.catalogue.loader import BadSpecError, is_spec_text, load
from flashtwin.drives.twin import Twin, info_of
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.outputs import UNFINISHED, disk
from flashtwin.runner.batch import plain_name
from flashtwin.runner.estimate import Estimate, expected
from flashtwin.runs.folders import (
    FAILURES,
    POINTS,
    REPORT,
    SWEEP,
    TABLE,
    read_sweep,
    write_sweep,
)
from flashtwin.runs.listing import DEFAULT_PARENT
from flashtwin.runs.rundir import Run
from flashtwin.runs.storage import is_there
from flashtwin.runs.writer import abandoned, holds_a_run_only
from flashtwin.study.sweep.grid import Axis, Point, points

SCHEMA = 1
FILE = SWEEP


class PlanDocument(Document, frozen=True):
    """A `Plan` as it is stored and printed."""

    drive: str
    batteries: str
    axes: tuple[Axis, ...]
    seed: int
    sets: tuple[str, ...]
    firmware: tuple[str, ...]
    scale: str | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A drive, what varies, and the batteries that each point runs."""

    drive: str
    batteries: str
    axes: tuple[Axis, ...]
    seed: int = 1
    sets: tuple[str, ...] = ()
    firmware: tuple[str, ...] = ()
    scale: str | None = None

    def points(self) -> list[Point]:
        """The grid."""
        return points(self.axes)

    @property
    def name(self) -> str:
        """The name of the drive, as a directory can have it."""
        return plain_name("spec" if is_spec_text(self.drive) else Path(self.drive).stem)

    def default_out(self, now: datetime) -> Path:
        """Where the sweep goes if nobody says."""
        return DEFAULT_PARENT / f"{now:%Y%m%d-%H%M%S}-sweep-{self.name}"

    def document(self) -> PlanDocument:
        """What is stored and printed of it: the drive without where its file is."""
        drive = Path(self.drive).name
        return PlanDocument(**{**vars(self), "drive": drive})


@dataclass(frozen=True, kw_only=True)
class Order:
    """A point that can run anywhere: the whole spec as text, and the batteries.

    `command` does the same alone, without a path of this machine. `memory_bytes` is what its drive
    takes of the memory of the machine that runs it.
    """

    point: Point
    toml: str
    hash: str
    batteries: str
    seed: int
    command: tuple[str, ...] = ()
    memory_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A point without a result, and why. `ends`: every other point would fail the same way, so
    the sweep ends."""

    number: int
    name: str
    message: str
    hint: str | None = None
    ends: bool = False


def resolve(
    plan: Plan, expects: Callable[[Estimate], None] | None = None, at_once: int = 1
) -> tuple[list[Order], list[Failure]]:
    """Every point as an order, and those that are no drive.

    `expects` hears what a point takes where `at_once` of them run together, as soon as the first
    one is known: thousands of points are resolved in as many thousandths of a second. Raises the
    first point's error where not one of them is a drive, and on batteries that are none.
    """
    requests = registry.parse(plan.batteries)
    orders: list[Order] = []
    refused: list[Failure] = []
    first: FlashtwinError | None = None
    known: dict[tuple[str, ...], dict[str, str]] = {}
    for point in plan.points():
        try:
            spec = load(
                plan.drive,
                firmware=[*plan.firmware, *point.firmware],
                sets=_sets(plan, point, known),
                scale=plan.scale,
            )
        except FlashtwinError as error:
            first = first or error
            refused.append(_refused(point, error))
            continue
        if expects is not None and not orders:
            expects(expected(requests, Twin(spec), info_of(spec), at_once))
        orders.append(
            Order(
                point=point,
                toml=spec.to_toml(),
                hash=spec.hash,
                batteries=plan.batteries,
                seed=point.seed(plan.seed),
                command=_command(plan, point),
                memory_bytes=spec.memory_bytes,
            )
        )
    if first and not orders:
        if not refused or len(refused) == 1 or first.exit_code != USAGE:
            raise first
        raise FlashtwinError(
            f"none of the {len(refused)} points is a valid drive: {refused[0].message}",
            hint=refused[0].hint,
            exit_code=USAGE,
        ) from first
    return orders, refused


def _sets(plan: Plan, point: Point, known: dict[tuple[str, ...], dict[str, str]]) -> Sequence[str]:
    """The settings of a point, with shorthands as the keys that they stand for. Those follow
    from the drive without them, which is `known` from earlier points."""
    sets = [*plan.sets, *point.sets]
    if not shorthand.named(sets):
        return sets
    firmware, plain = [*plan.firmware, *point.firmware], shorthand.plain(sets)
    key = (*firmware, "", *plain)
    if key not in known:
        spec = load(plan.drive, firmware=firmware, sets=plain)
        known[key] = {row["key"]: row["value"] for row in spec.values()}
    return shorthand.expanded(sets, known[key])


def _refused(point: Point, error: FlashtwinError) -> Failure:
    """The first error of a point's spec, without its file and line."""
    message, hint = error.message, error.hint
    if isinstance(error, BadSpecError) and error.issues:
        issue = error.issues[0]
        message = f"{issue.key}: {issue.message}" if issue.key else issue.message
        hint = issue.hint
    return Failure(number=point.number, name=point.name, message=message, hint=hint)


def _command(plan: Plan, point: Point) -> tuple[str, ...]:
    words = ["flashtwin", "test", Path(plan.drive).name, "--battery", plan.batteries]
    words += [
        part for setting in (*plan.firmware, *point.firmware) for part in ("--firmware", setting)
    ]
    words += [part for setting in (*plan.sets, *point.sets) for part in ("--set", setting)]
    words += ["--scale", plan.scale] if plan.scale is not None else []
    return (*words, "--seed", str(point.seed(plan.seed)))


# What lies at a point's place: nothing, its finished run, what an earlier attempt at it left, or
# something else, which is neither believed nor removed.
Lying = Literal["nothing", "finished", "begun", "another"]
_HALF_WRITTEN = re.compile(
    rf"\.({'|'.join(map(re.escape, (SWEEP, TABLE, FAILURES, REPORT)))})\.[0-9a-f]{{12}}"
    + re.escape(UNFINISHED)
)


def lying_at(place: Path, order: Order) -> Lying:
    """What lies at the place of a point. Its run is known by its drive (the hash of the resolved
    spec), its seed and its batteries with their parameters, as the manifest says them; the name of
    a folder proves nothing."""
    if not is_there(place):
        return "nothing"
    try:
        run = Run(place)
        is_its_run = _identity_of(run.manifest) == _wanted(order)
        if not is_its_run:
            return "another"
        if run.finished and _is_of_today(run):
            return "finished"
        return "begun" if holds_a_run_only(place) else "another"
    except (FlashtwinError, OSError):
        return "begun" if _has_hardly_begun(place) else "another"


def _wanted(order: Order) -> tuple[Any, ...]:
    requests = registry.parse(order.batteries)
    batteries = [{"name": row.name, "parameters": _as_read(row.plain())} for row in requests]
    return "twin", order.hash, order.seed, batteries


def _identity_of(manifest: Mapping[str, Any]) -> tuple[Any, ...]:
    target = manifest["target"]
    rows = manifest.get("batteries")
    batteries = [
        {"name": row.get("name"), "parameters": row.get("parameters")}
        for row in (rows if isinstance(rows, list) else ())
    ]
    return target["kind"], target["identity"].get("hash"), manifest.get("seed"), batteries


def _is_of_today(run: Run) -> bool:
    """Whether the core of today simulated it, and its findings are those that it wrote."""
    with contextlib.suppress(FlashtwinError):
        return bool(run.target["identity"].get("model") == _core.MODEL and run.findings is not None)
    return False


def _has_hardly_begun(place: Path) -> bool:
    """Whether a worker was killed before it wrote a manifest: nothing is lost with it."""
    return holds_a_run_only(place) and (not any(place.iterdir()) or abandoned(place))


def unfinished(out: Path, orders: Sequence[Order]) -> list[Order]:
    """The points without a finished run. Refused is to go on where something else than a point's
    run lies at its place."""
    places = [place_of(out, order.point) for order in orders]
    lying = [lying_at(place, order) for place, order in zip(places, orders, strict=True)]
    others = [place for place, state in zip(places, lying, strict=True) if state == "another"]
    if not others:
        return [order for order, state in zip(orders, lying, strict=True) if state != "finished"]
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    raise FlashtwinError(
        f"{others[0]}{more} is not the run of that point: another drive, seed or battery, no run"
        " that can be read, or one with something else beside it",
        hint="move it out of the sweep's folder; the same command then measures the point anew",
        exit_code=USAGE,
    )


def place_of(out: Path, point: Point) -> Path:
    """The run directory of a point."""
    words = plain_name(point.name.replace(", ", "+").replace(" ", "").replace("/", "-"))
    return out / POINTS / f"{point.number:04}-{words[:120]}"


def claim(out: Path, plan: Plan, orders: Sequence[Order]) -> None:
    """Begin a sweep in `out`, or find that the same sweep has begun there."""
    hashes = [order.hash for order in orders]
    plan_json = {"schema": SCHEMA, **msgspec.to_builtins(plan.document()), "hashes": hashes}
    file = out / FILE
    if is_there(file):
        _same(file, read_sweep(out), plan_json)
        return
    with disk(out, "create"):
        out.mkdir(parents=True, exist_ok=True)
        if any(not is_half_written(inside) for inside in out.iterdir()):
            raise FlashtwinError(
                f"{out} is not empty and holds no sweep",
                hint="choose another directory with --out",
                exit_code=USAGE,
            )
    # Written before the first point runs: without it the directory could not be resumed.
    write_sweep(out, plan_json)


def is_half_written(path: Path) -> bool:
    """Whether a file is what a sweep that was killed left of one that it was writing."""
    return bool(_HALF_WRITTEN.fullmatch(path.name)) and path.is_file() and not path.is_symlink()


def _same(file: Path, there: dict[str, Any], asked_now: dict[str, Any]) -> None:
    """Refuse to go on where the plan in the file differs from the one that is asked for now."""
    now = _as_read(asked_now)
    others = [key for key in now if there.get(key) != now[key]]
    if not others:
        return
    if others == ["hashes"]:
        raise FlashtwinError(
            f"the drives of the sweep in {file.parent} have changed since it began",
            hint="their specs changed, or flashtwin did; make a new sweep with another --out",
            exit_code=USAGE,
        )
    raise FlashtwinError(
        f"{file.parent} holds another sweep: {', '.join(others)} differ",
        hint="give the same arguments to go on with it, or another --out",
        exit_code=USAGE,
    )


def _as_read(value: Any) -> Any:
    """A value as it would come back from JSON: tuples as lists."""
    if isinstance(value, dict):
        return {key: _as_read(item) for key, item in value.items()}
    return [_as_read(item) for item in value] if isinstance(value, list | tuple) else value
