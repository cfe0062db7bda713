"""The loads that an Iometer configuration asks for: the battery's, or jobs of fio.

As Iometer does it: the disk workers run at once, each its first assigned specification, then each
its second one, and so on; `Idle` and a worker without more do nothing meanwhile. Of a specification
with several rows each request draws one, by the row's share. A worker keeps its outstanding I/Os on
each of its targets. What the battery can say (one worker at a time, rows of one size, all at random
or in order) is a battery; the rest are jobs of fio: shares are `bssplit` and `rwmixread`, a part at
random is `percentage_random`, and a stonewall stands between what runs one after another.

Invariant: what would change the requests and cannot be asked for is refused with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from flashtwin.batteries.iometer import Access, parse_access
from flashtwin.batteries.iometer.grammar import COLUMNS, File, Line, Spec, Worker
from flashtwin.model.units import show_block, show_seconds, show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SECTOR = 512
MOST_DEPTH = 1024
# Jobs of one file; a cycling of many workers could ask for more than anybody runs.
MOST_JOBS = 2000
DEFAULT_DEPTH = 1
DEFAULT_SECONDS = 60
# A deviation of shares in percent that is rounding, and no other load.
ROUNDING = Fraction(1)
# Specifications that are assigned where a file does not say which; old versions have numbers.
_BY_DEFAULT = ("ALL", "DISK", "1", "2")
_NORMAL, _CYCLE_DEPTHS = ("NORMAL", "0"), ("CYCLE_OUTSTANDING_IOS", "6")
_HINT_NEW = "save the file anew with Iometer"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a file asks for: a battery as it is typed after --battery, or a job file of fio; and
    what of the file is left out of it."""

    battery: str | None
    jobs: str | None
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a specification, in whole percent and bytes."""

    line: Line
    size: int
    share: int
    reads: int
    random: int
    align: int

    @property
    def grain(self) -> int | None:
        """What its places are multiples of; none where that is a sector or its size, as usual."""
        return None if self.align in (0, SECTOR, self.size) else self.align


@dataclass(frozen=True, kw_only=True)
class Load:
    """A specification on one target of a worker, with so many requests outstanding."""

    worker: Worker
    spec: Spec
    rows: tuple[Row, ...]
    depths: tuple[int, ...]
    start: int
    size: int | None


@dataclass(kw_only=True)
class _Reader:
    """What of a file is read on the way to its loads."""

    file: File
    notes: list[str] = field(default_factory=list)
    rows: dict[int, tuple[Row, ...]] = field(default_factory=dict)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def asked(file: File, targets: Sequence[str] = ()) -> Asked:
    """The loads of a file; of several disks those on the named `targets` alone."""
    reader = _Reader(file=file)
    if not file.specs:
        file.end.refuse("there is no access specification", f"add one in Iometer; {_HINT_NEW}")
    cycling = _cycling(reader)
    seconds = _seconds(reader)
    steps = list(_steps(reader, _places(reader, targets), cycling))
    if not steps:
        file.end.refuse(
            "no worker of a disk has an access specification assigned",
            "assign one in Iometer and save the file anew",
        )
    battery = _battery(steps, seconds)
    ramp = file.ramp.numbers(1)[0] if file.ramp else 0
    if battery is None:
        return Asked(battery=None, jobs=_jobs(reader, steps, seconds, ramp), notes=reader.notes)
    if ramp:
        reader.note(f"the ramp of {ramp} s before each load is left out")
    return Asked(battery=battery, jobs=None, notes=reader.notes)


def _seconds(reader: _Reader) -> float | None:
    line = reader.file.run_time
    if line is None:
        return None
    hours, minutes, seconds = line.numbers(3)
    total = hours * 3600.0 + minutes * 60 + seconds
    if not total:
        reader.note("the run has no end there: each load runs for the battery's seconds")
    return total or None


def _cycling(reader: _Reader) -> tuple[int, ...]:
    """The depths that each load is run at, where the test type cycles through some."""
    kind = reader.file.test_type
    if kind is None or kind.text.upper() in _NORMAL:
        return ()
    if kind.text.upper() not in _CYCLE_DEPTHS:
        kind.refuse(
            f"the test type {kind.text[:60]} cannot be asked for here",
            "set cycling to Normal or to # Outstanding I/Os",
        )
    line = reader.file.cycling
    if line is None:
        kind.refuse("the file does not say which queue depths it cycles through", _HINT_NEW)
    start, end, step = line.numbers(3)
    exponential = line.text.upper().endswith("EXPONENTIAL")
    if not 1 <= start <= end <= MOST_DEPTH or step < (2 if exponential else 1):
        line.refuse(
            f"queue depths cannot go from {start} to {end} by {step}",
            f"depths rise from 1 or more to {MOST_DEPTH} at most",
        )
    depths = [start]
    while (depth := depths[-1] * step if exponential else depths[-1] + step) <= end:
        depths.append(depth)
    return tuple(depths)


def _places(reader: _Reader, wanted: Sequence[str]) -> list[tuple[Worker, int]]:
    """The workers of disks that count, each with its number of targets on the drive."""
    workers = []
    for worker in reader.file.workers:
        if worker.kind.startswith("DISK"):
            workers.append(worker)
        else:
            kind = worker.kind.removeprefix("NETWORK").strip() or "unknown kind"
            reader.note(f"{worker.name} is a network worker ({kind}) and is left out")
    if not reader.file.workers:
        _chosen(reader, {"": None}, wanted)
        reader.note("there is no worker: each specification is run by one")
        assigned = [spec.line for spec in reader.file.specs]
        return [(Worker(manager="", name="", assigned=assigned), 1)]
    places = {id(worker): _targets(worker, workers) for worker in workers}
    if any(worker.targets for worker in workers):
        for worker in workers:
            if not worker.targets:
                reader.note(f"{worker.name} has no target and does nothing")
                places[id(worker)] = {}
    every = {name: line for named in places.values() for name, line in named.items()}
    chosen = _chosen(reader, every, wanted)
    counts = [(worker, len(places[id(worker)].keys() & chosen)) for worker in workers]
    return [(worker, count) for worker, count in counts if count]


def _targets(worker: Worker, workers: Sequence[Worker]) -> dict[str, Line | None]:
    """The disks of a worker; those of another manager are in another machine."""
    several = len({other.manager for other in workers}) > 1
    named: dict[str, Line | None] = {line.text: line for line in worker.targets}
    named = named or {"": None}
    if not several:
        return named
    return {
        f"{worker.manager}: {name}" if name else worker.manager: line
        for name, line in named.items()
    }


def _chosen(reader: _Reader, every: Mapping[str, Line | None], wanted: Sequence[str]) -> set[str]:
    there = "; ".join(every)
    if not wanted:
        if len(every) > 1:
            line = [*every.values()][1] or reader.file.end
            line.refuse(
                f"the file has {len(every)} targets, and one drive is tested: {there}",
                "name the one that the drive stands for: --target NAME, several times for more",
            )
        return set(every)
    unknown = [name for name in wanted if name not in every]
    if unknown:
        reader.file.end.refuse(
            f"the target {unknown[0]!r} is not there: {there or 'the file names none'}",
            "name one that is",
        )
    return set(wanted)


def _steps(
    reader: _Reader, places: Sequence[tuple[Worker, int]], cycling: Sequence[int]
) -> Iterator[list[Load]]:
    """What runs at once, in the order of the file."""
    runs = [(worker, count, _assigned(reader, worker)) for worker, count in places]
    for place in range(max((len(specs) for _, _, specs in runs), default=0)):
        loads = []
        for worker, count, specs in runs:
            spec = specs[place] if place < len(specs) else None
            if spec is not None:
                loads += [_load(reader, worker, spec, cycling)] * count
        if loads:
            yield loads


def _assigned(reader: _Reader, worker: Worker) -> list[Spec | None]:
    file = reader.file
    if worker.assigned is None:
        specs: list[Spec | None] = [spec for spec in file.specs if spec.default in _BY_DEFAULT]
        if specs:
            reader.note(f"{worker.name} runs the specifications that are assigned by default")
        return specs
    if not worker.name:
        return [*file.specs]
    # A name that comes again replaces what stood before it, as in Iometer.
    by_name = {spec.name.casefold(): spec for spec in file.specs}
    chosen: list[Spec | None] = []
    for line in worker.assigned:
        spec = by_name.get(line.text.casefold())
        if spec is None and line.text.casefold() != "idle":
            line.refuse(
                f"the assigned specification {line.text!r} is not there", "assign one that is"
            )
        chosen.append(spec)
    return chosen


def _load(reader: _Reader, worker: Worker, spec: Spec, cycling: Sequence[int]) -> Load:
    if spec.line.number not in reader.rows:
        reader.rows[spec.line.number] = _rows(spec)
    size, start = None, 0
    if worker.disk is not None:
        sectors, first = worker.disk.numbers(2)
        size, start = sectors * SECTOR or None, first * SECTOR
        if start and size is None:
            worker.disk.refuse(
                f"a test file that begins at sector {first} and has no size cannot be asked for",
                "set its size, or the starting sector to 0",
            )
    return Load(
        worker=worker,
        spec=spec,
        rows=reader.rows[spec.line.number],
        depths=tuple(cycling) or (_depth(reader, worker),),
        start=start,
        size=size,
    )


def _depth(reader: _Reader, worker: Worker) -> int:
    line = worker.outstanding
    if line is None:
        return DEFAULT_DEPTH
    (depth,) = line.numbers(1)
    if not 1 <= depth <= MOST_DEPTH:
        line.refuse(
            f"{depth} outstanding I/Os cannot be asked for here", f"write 1 to {MOST_DEPTH}"
        )
    if line.text.upper().replace(" ", "").split(",")[1:2] == ["ENABLED"]:
        reader.note(f"{worker.name} does not open and close its target for its connection rate")
    return depth


def _rows(spec: Spec) -> tuple[Row, ...]:
    """The rows of a specification that is run, in which all else is as usual."""
    if not spec.rows:
        spec.line.refuse(f"{spec.name!r} has no row", "add one in Iometer")
    rows = tuple(_row(line) for line in spec.rows)
    total = sum(row.share for row in rows)
    if total != 100:
        spec.rows[-1].refuse(f"the rows of {spec.name!r} make {total} %", "they have to make 100")
    return tuple(row for row in rows if row.share)


def _row(line: Line) -> Row:
    values = dict(zip(COLUMNS, line.numbers(len(COLUMNS)), strict=True))
    for column, usual in (("delay", 0), ("burst", 1), ("reply", 0)):
        if values[column] != usual:
            line.refuse(
                f"{column} of {values[column]} cannot be asked for here",
                f"{column} has to be {usual}",
            )
    for column in ("% of size", "% reads", "% random"):
        if values[column] > 100:
            line.refuse(f"{column} of {values[column]} is above 100", _HINT_NEW)
    size = values["size"]
    try:
        parse_access(f"{size}-{values['% reads']}r-0x")
    except ValueError as error:
        line.refuse(
            f"{size} bytes with {values['% reads']} % of reads cannot be asked for here", str(error)
        )
    row = Row(
        line=line,
        size=size,
        share=values["% of size"],
        reads=values["% reads"],
        random=values["% random"],
        align=values["align"],
    )
    if row.grain is not None and (row.grain % SECTOR or row.random < 100):
        line.refuse(
            f"align of {row.grain} cannot be asked for here",
            f"align has to be 0, {SECTOR} or {size}; for requests at random a multiple of {SECTOR}",
        )
    return row


def _battery(steps: Sequence[Sequence[Load]], seconds: float | None) -> str | None:
    """The loads as the battery runs them: one after another, each at every depth."""
    accesses: list[Access] = []
    for loads in steps:
        access = _access(loads)
        if access is None:
            return None
        accesses.append(access)
    alike = {(loads[0].depths, loads[0].size) for loads in steps}
    if len(alike) > 1:
        return None
    ((depths, size),) = alike
    values = [
        f"access={'+'.join(str(access) for access in dict.fromkeys(accesses))}",
        f"depths={'+'.join(str(depth) for depth in depths)}",
    ]
    if seconds:
        values.append(f"seconds={show_seconds(seconds)}")
    if size:
        values.append(f"size={show_size(size)}")
    return f"iometer:{','.join(values)}"


def _access(loads: Sequence[Load]) -> Access | None:
    """The only load of a step, where it is one of the battery's."""
    (load, *more) = loads
    (row, *others) = load.rows
    if more or others or load.start or row.random not in (0, 100) or row.grain is not None:
        return None
    return Access(block_bytes=row.size, read_percent=row.reads, random=row.random == 100)


def _jobs(
    reader: _Reader, steps: Sequence[Sequence[Load]], seconds: float | None, ramp: int
) -> str:
    """A job file of fio: what runs at once has no stonewall between it."""
    count = sum(len(load.depths) for loads in steps for load in loads)
    if count > MOST_JOBS:
        reader.file.end.refuse(
            f"the file asks for {count} jobs, and {MOST_JOBS} are possible",
            "take fewer workers or depths",
        )
    lines = [
        "[global]",
        "ioengine=libaio",
        "direct=1",
        "filename=iobw.tst",
        "norandommap=1",
        "time_based=1",
        f"runtime={seconds or DEFAULT_SECONDS:g}",
    ]
    if ramp:
        lines.append(f"ramp_time={ramp}")
    names: set[str] = set()
    for loads in steps:
        # All workers go to the next depth together.
        for turn in range(len(loads[0].depths)):
            for number, load in enumerate(loads):
                depth = load.depths[turn]
                first = number == 0 and bool(names)
                lines += ["", f"[{_name(load, depth, names)}]", *(["stonewall"] if first else [])]
                lines += [*_pattern(reader, load), f"iodepth={depth}", *_span(load)]
    return "\n".join([*lines, ""])


def _name(load: Load, depth: int, names: set[str]) -> str:
    words = f"{load.worker.manager} {load.worker.name} {load.spec.name} q{depth}"
    stem = re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-").lower()[:80]
    name, number = stem, 1
    while name in names:
        number += 1
        name = f"{stem}-{number}"
    names.add(name)
    return name


def _span(load: Load) -> list[str]:
    if load.size is None:
        return ["size=100%"]
    return [f"offset={load.start}", f"size={load.size}"] if load.start else [f"size={load.size}"]


def _pattern(reader: _Reader, load: Load) -> list[str]:
    """Direction, sizes and order of a specification."""
    reads = Fraction(sum(row.share * row.reads for row in load.rows), 100)
    ways = [way for way, share in (("read", reads), ("write", 100 - reads)) if share]
    weights = {way: [(row, _weight(row, way)) for row in load.rows] for way in ways}
    randoms = {way: _random(load, weights[way]) for way in ways}
    is_random = any(randoms.values())
    name = ways[0] if len(ways) == 1 else "rw"
    lines = [f"rw={'rand' if is_random else ''}{name}"]
    if len(ways) > 1:
        lines.append(f"rwmixread={_rounded(reader, load, 'the share of reads', [reads])[0]}")
    lines.append(_sizes(reader, load, weights))
    if is_random and any(share < 100 for share in randoms.values()):
        values = [randoms.get(way, 100) for way in ("read", "write")]
        shares = _rounded(reader, load, "the share at random", values)
        lines.append(f"percentage_random={','.join(map(str, shares))}")
    grains = {row.grain for row in load.rows if row.grain is not None}
    if len(grains) > 1 or (grains and len(load.rows) > 1):
        load.rows[-1].line.refuse(
            f"{load.spec.name!r} has rows of several alignments",
            "align all of them to sectors or to their sizes",
        )
    if len({row.size for row in load.rows}) > 1 and any(row.align > SECTOR for row in load.rows):
        reader.note(f"{load.spec.name}: requests are aligned to the smallest of its sizes")
    return [*lines, *(f"blockalign={grain}" for grain in grains)]


def _weight(row: Row, way: str) -> int:
    return row.share * (row.reads if way == "read" else 100 - row.reads)


def _random(load: Load, weights: Sequence[tuple[Row, int]]) -> Fraction:
    """The share at random of one direction; fio draws it without a look at the size."""

    def share(rows: Iterable[tuple[Row, int]]) -> Fraction:
        counted = [(row, weight) for row, weight in rows if weight]
        total = sum(weight for _, weight in counted)
        return Fraction(sum(row.random * weight for row, weight in counted), total)

    mean = share(weights)
    for size in {row.size for row, weight in weights if weight}:
        of_size = share((row, weight) for row, weight in weights if row.size == size)
        if abs(of_size - mean) > ROUNDING:
            load.rows[-1].line.refuse(
                f"{load.spec.name!r} has {show_block(size)} at {float(of_size):g} % random and"
                f" all sizes at {float(mean):g} %: one load cannot have both",
                "give its rows one % random, or make a specification of each",
            )
    return mean


def _sizes(reader: _Reader, load: Load, weights: Mapping[str, Sequence[tuple[Row, int]]]) -> str:
    """`bs` or `bssplit`: once, or for reads and writes apart where they differ."""
    splits = []
    for rows in weights.values():
        shares: dict[int, int] = {}
        for row, weight in rows:
            if weight:
                shares[row.size] = shares.get(row.size, 0) + weight
        total = sum(shares.values())
        percents = [Fraction(100 * weight, total) for weight in shares.values()]
        rounded = _rounded(reader, load, "the share of a size", percents, total=100)
        splits.append({size: share for size, share in zip(shares, rounded, strict=True) if share})
    if all(len(split) == 1 for split in splits):
        blocks = [show_block(size) for split in splits for size in split]
        return f"bs={','.join(dict.fromkeys(blocks))}"
    texts = (
        ":".join(f"{show_block(size)}/{share}" for size, share in split.items()) for split in splits
    )
    return f"bssplit={','.join(dict.fromkeys(texts))}"


def _rounded(
    reader: _Reader,
    load: Load,
    quantity: str,
    percents: Sequence[Fraction | int],
    total: int | None = None,
) -> list[int]:
    """Whole percents, as fio has them, that make up `total`; a note where that changes them."""
    rounded = [int(percent) for percent in percents]
    if total is None:
        rounded = [round(percent) for percent in percents]
    else:
        # What is missing goes to those that lost most.
        order = sorted(range(len(rounded)), key=lambda place: rounded[place] - percents[place])
        for place in order[: total - sum(rounded)]:
            rounded[place] += 1
    if any(rounded[place] != percent for place, percent in enumerate(percents)):
        reader.note(f"{load.spec.name}: {quantity} is rounded to whole percents")
    return rounded
