"""crystaldiskmark: CrystalDiskMark 9's cells, order and scoring.

Trust S: read in the tool's source. As the tool does it: the test file (1 GiB) is written once in
1 MiB blocks; then all reads, all writes, all mixes (R70/W30); each cell runs once unscored and then
its scored runs, 5 s each; 5 s of rest between cells. Score = the maximum over the scored runs in
MB/s of 10^6, latency = the minimum of their means. The threads of a sequential cell share one
stream. Profiles: the BX500 article's cells with its "2 x 1 GiB", and the tool's own Default, NVMe
and Real with 3 runs.

The variant `kdiskmark` is KDiskMark (trust S): mean instead of maximum, no unscored run, 5 runs,
MB/s as KiB/s / 1000 (2.34 % low), and a run ends after one pass over the file.

Where it departs is said by `departs`: no file system, no Windows. The host's time a command is a
prior: 30 us for Windows and the tool together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import Part, host_ns
from flashtwin.batteries.crystaldiskmark.score import DIRECTIONS, Cell, Direction, Scoring, score
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.step import Fill, Job, Mark, Purge, Rest, Result, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import ReadWrite
    from flashtwin.model.target import DriveInfo

MIB = 1 << 20
# The tool's own test file, and the smallest that it offers.
USUAL_SIZE, LEAST_SIZE = 1 << 30, 16 << 20
RUN_S = 5.0
REST_S = 5.0
# The unscored run of a cell.
WARM = "warm"


def _seq(block_bytes: int, depth: int) -> Cell:
    return Cell(sequential=True, block_bytes=block_bytes, depth=depth, threads=1)


def _rnd(depth: int, threads: int) -> Cell:
    return Cell(sequential=False, block_bytes=4096, depth=depth, threads=threads)


PROFILES: dict[str, tuple[Cell, ...]] = {
    "article": (_seq(MIB, 8), *(_rnd(1, threads) for threads in (1, 2, 4, 8, 16))),
    "default": (_seq(MIB, 8), _seq(MIB, 1), _rnd(32, 1), _rnd(1, 1)),
    "nvme": (_seq(MIB, 8), _seq(128 << 10, 32), _rnd(32, 16), _rnd(1, 1)),
    "real": (_seq(MIB, 1), _rnd(1, 1)),
}


def runs_of(parameters: Any) -> tuple[str, ...]:
    """The names of a cell's runs, the unscored one first."""
    usual = 5 if parameters.variant == "kdiskmark" else 2 if parameters.profile == "article" else 3
    scored = tuple(str(number + 1) for number in range(parameters.loops or usual))
    return scored if parameters.variant == "kdiskmark" else (WARM, *scored)


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Prepare, then every cell by direction."""
    offset = _place(parameters, info)
    yield Purge(label="cdm/purge")
    if offset:
        yield Fill(label="cdm/precondition", offset=0, size=offset)
        yield Rest(label="cdm/settle", seconds=parameters.settle_s)
    size = _size(parameters, info)
    yield Fill(label="cdm/prepare", offset=offset, size=size, block_bytes=MIB, depth=1)
    for number, (direction, cell) in enumerate(_grid(parameters)):
        if number:
            yield Rest(label=f"cdm/rest-{number}", seconds=REST_S)
        counted = False
        for name in runs_of(parameters):
            answer = yield _run(parameters, info, cell, direction, name, offset)
            if isinstance(answer, Result) and name != WARM:
                counted |= any(job.ios and job.duration_ns for job in answer.jobs)
        if counted:
            yield Mark(label=_mark(cell, direction))


def conclude(record: Record) -> list[Finding]:
    """Every cell whose runs are done; a run that a budget cut counts where no other does."""
    findings: list[Finding] = []
    scoring = Scoring(mean=record.parameters.variant == "kdiskmark")
    for direction, cell in _grid(record.parameters):
        if record.step(_mark(cell, direction)) is None:
            continue
        names = [name for name in runs_of(record.parameters) if name != WARM]
        steps = [record.step(_label(cell, direction, name)) for name in names]
        answered = [step for step in steps if step is not None and step.jobs]
        uncut = [(step.label, step.jobs[0]) for step in answered if not step.cut]
        if uncut:
            findings += score(cell, direction, uncut, scoring)
        elif answered:
            cut_run = [(answered[-1].label, answered[-1].jobs[0])]
            findings += [
                finding.noted("of one run") for finding in score(cell, direction, cut_run, scoring)
            ]
    return findings


def _mark(cell: Cell, direction: Direction) -> str:
    return f"{_cell(cell, direction)}/found"


def _label(cell: Cell, direction: Direction, name: str) -> str:
    return f"{_cell(cell, direction)}/{name}"


def _cell(cell: Cell, direction: Direction) -> str:
    return f"cdm/{cell}/{direction}"


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """A part a cell and direction: reading and writing of the first cells first, mixes last."""
    cells = PROFILES[parameters.profile]
    numbered = {
        (direction, cell): Part(
            title=f"{cell} {direction}",
            labels=(f"cdm/rest-{number}", _cell(cell, direction)),
        )
        for number, (direction, cell) in enumerate(_grid(parameters))
    }
    worth: list[tuple[Direction, Cell]] = [
        (way, cell) for cell in cells for way in DIRECTIONS if way != "mix"
    ]
    worth += [("mix", cell) for cell in cells]
    return [numbered[key] for key in worth if key in numbered]


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """How this run departs from CrystalDiskMark 9."""
    departures = []
    if parameters.size is None and (size := _size(parameters, info)) < USUAL_SIZE:
        took = units.readable_size(size, binary=True)
        departures.append(f"the test file has {took} instead of 1 GiB, as the target is small")
    if info.can.whole_drive:
        departures.append("the test file is a range of addresses: no file system between")
    else:
        departures.append("runs through fio on Linux, not through DiskSpd on Windows")
    if info.can.purge:
        full = parameters.fill_percent
        filled = f", then filled to {full:g} %" if full else ""
        departures.append(f"the drive is purged first{filled}")
    else:
        under = "the drive" if info.can.whole_drive else "the drive under the file"
        departures.append(f"{under} cannot be purged, so what it holds stays")
    if parameters.variant == "kdiskmark":
        departures.append(
            "scores as KDiskMark: the mean, no unscored run, KiB/s / 1000, one pass a run"
        )
    if parameters.profile == "article":
        departures.append("the BX500 article's cells, not one of the tool's own profiles")
    return departures


def _size(parameters: Any, info: DriveInfo) -> int:
    """The bytes of the test file, in whole MiB; of a small target a power of two that fits."""
    if parameters.size is not None:
        least: int = min(parameters.size, LEAST_SIZE)
        return max(int(here(parameters, "size", info)), least) // MIB * MIB
    free = info.capacity_bytes - _offset(parameters, info)
    size = max(int(info.share_of(USUAL_SIZE)), LEAST_SIZE)
    return min(size // MIB * MIB, 1 << max(free.bit_length() - 1, 0))


def _offset(parameters: Any, info: DriveInfo) -> int:
    """Where the test file begins: after what was filled, on a whole MiB."""
    return int(info.capacity_bytes * parameters.fill_percent / 100) // MIB * MIB


def _place(parameters: Any, info: DriveInfo) -> int:
    """Where the test file begins; refused where it does not fit."""
    offset = _offset(parameters, info)
    size = _size(parameters, info)
    if size < MIB:
        asked_for = size if parameters.size is None else parameters.size
        raise FlashtwinError(
            f"crystaldiskmark: a test file of {units.show_size(asked_for)} is too small",
            hint="set size to 1MiB or more; the tool itself begins at 16MiB",
            exit_code=USAGE,
        )
    if offset + size > info.capacity_bytes:
        room = units.readable_size(max(info.capacity_bytes - offset, 0))
        raise FlashtwinError(
            f"crystaldiskmark: a test file of {units.readable_size(size)} does not fit"
            f" on {info.name}{' past the filled part' if offset else ''}: {room} are left",
            hint="set crystaldiskmark:size to less, or make the target larger",
            exit_code=USAGE,
        )
    return offset


def _grid(parameters: Any) -> Iterator[tuple[Direction, Cell]]:
    """All reads, all writes, all mixes."""
    for direction in DIRECTIONS:
        if direction == "mix" and parameters.mix is None:
            continue
        for cell in PROFILES[parameters.profile]:
            yield direction, cell


def _run(
    parameters: Any,
    info: DriveInfo,
    cell: Cell,
    direction: Direction,
    name: str,
    offset: int,
) -> Run:
    size = _size(parameters, info)
    job = Job(
        name=str(cell),
        rw=_access(cell, direction),
        block_bytes=cell.block_bytes,
        depth=cell.depth,
        threads=cell.threads,
        offset=offset,
        size=size,
        io_bytes=size * cell.threads if parameters.variant == "kdiskmark" else None,
        runtime_s=info.share_of(RUN_S),
        read_percent=parameters.mix if direction == "mix" and parameters.mix else 50,
        host_ns=host_ns(parameters, info),
        shared_stream=cell.sequential and cell.threads > 1,
        seed=runs_of(parameters).index(name) + 1,
    )
    return Run(
        label=_label(cell, direction, name),
        jobs=(job,),
        sample_s=0.5,
        repeats=None if name == WARM else _cell(cell, direction),
    )


def _access(cell: Cell, direction: Direction) -> ReadWrite:
    if cell.sequential:
        return "rw" if direction == "mix" else direction
    if direction == "mix":
        return "randrw"
    return "randread" if direction == "read" else "randwrite"


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
    parts=parts,
    present="flashtwin.batteries.crystaldiskmark.present",
)
