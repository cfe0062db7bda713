"""as_ssd: an AS-SSD-like test: four rows and a score for each size, copies, compression.

Trust P for the rows (in order in units of 16 MB; 4 KiB at random by one and by 64 threads; access
time: 4 KiB reads anywhere, 512 B writes within 1 GB) and the scores of reads and writes. How long
the random rows run, what the copies hold and how the total is made is general knowledge (M): it is
like the tool and not equal to it. The 545s review ran 1, 3, 5 and 10 GB, on an empty drive and on
one that was 83 % full. The host's time a command is a prior: 20 us for Windows and the tool.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.as_ssd.score import Row, cells_of, scores
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.files import Copies, Tree, copy_finding
from flashtwin.batteries.base.loads import KIB, Teller, cell_findings
from flashtwin.batteries.base.parameter import here, seconds_of
from flashtwin.batteries.base.registry import Part, host_ns, prepared_parts
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.step import Fill, Job, Mark, Purge, Rest, Run, Trim
from flashtwin.model.units import readable_size, show_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "as_ssd"
MIB = 1 << 20
GB = 10**9
UNIT = 16 * MIB
THREADS = 64
# The rows in the tool's order: sequential, 4K, 4K on 64 threads, access time.
ROWS = (
    Row(name="SEQ", random=False, block_bytes=UNIT),
    Row(name="4K", random=True, block_bytes=4 * KIB),
    Row(name="4K-64", random=True, block_bytes=4 * KIB, threads=THREADS),
    Row(name="ACC", random=True, block_bytes=4 * KIB),
)
TESTS = ("rows", "copy", "compression")
TREES = {
    "iso": Tree(files=2, bytes=1_050_000_000),
    "program": Tree(files=3000, bytes=1_400_000_000),
    "game": Tree(files=400, bytes=1_380_000_000),
}
TREE_TITLES = {"iso": "ISO", "program": "Program", "game": "Game"}
# The part of each file size that is written to learn how much compression brings.
COMPRESSED_BYTES = GB
# Of fewer units the first and the last weigh more than what compression brings.
FEWEST_COMPRESSED = 4
SAMPLE_S = 0.05


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase and fill; rows size by size, each on a file that was deleted; copies; compression."""
    offset = _offset(parameters, info)
    _check(parameters, info, offset)
    yield Purge(label=f"{NAME}/prepare/purge")
    if offset:
        yield Fill(label=f"{NAME}/prepare/fill", size=offset)
    if "rows" in parameters.tests:
        for size in parameters.sizes:
            yield from _rows(parameters, info, offset, size)
    if "copy" in parameters.tests:
        copies = _copies(parameters, info)
        for name in TREES:
            # What is duplicated has to be there before.
            yield copies.run(f"{NAME}/copy/{name}/source", name, "write")
            yield _rest(parameters, info, f"{NAME}/copy/{name}")
            yield copies.run(f"{NAME}/copy/{name}/duplicate", name, "duplicate")
            yield Mark(label=f"{NAME}/copy/{name}/found")
    if "compression" in parameters.tests:
        for percent in _percents(parameters):
            yield _rest(parameters, info, f"{NAME}/compression/{percent}")
            for way in ("write", "read"):
                yield _compressed(parameters, info, offset, percent, way)
            yield Mark(label=f"{NAME}/compression/{percent}/found")


def _rest(parameters: Any, info: DriveInfo, stem: str) -> Rest:
    return Rest(label=f"{stem}/rest", seconds=seconds_of(parameters, "settle_s", info))


def _offset(parameters: Any, info: DriveInfo) -> int:
    return int(info.capacity_bytes * parameters.fill_percent / 100) // MIB * MIB


def _check(parameters: Any, info: DriveInfo, offset: int) -> None:
    """Refuse sizes that hold no unit, or that the target has no room for."""
    most, least = max(parameters.sizes), min(parameters.sizes)
    fits = least >= UNIT and offset + _file(parameters, most, info) <= info.capacity_bytes
    if "rows" in parameters.tests and not fits:
        raise FlashtwinError(
            f"{NAME}: a test file of {readable_size(most if least >= UNIT else least)} does not fit"
            f" on {info.name}, or holds no unit of 16 MiB",
            hint=f"set {NAME}:sizes to less, or {NAME}:fill_percent",
            exit_code=USAGE,
        )
    if "copy" in parameters.tests:
        _copies(parameters, info).check(NAME)
    if "compression" in parameters.tests and info.capacity_bytes - offset < UNIT:
        raise FlashtwinError(
            f"{NAME}: {info.name} has no room for the compression test",
            hint=f"set {NAME}:tests=rows, or fill less",
            exit_code=USAGE,
        )


def _rows(parameters: Any, info: DriveInfo, offset: int, size: int) -> Steps:
    """Write the file in order and read it; the random rows; then delete the file."""
    stem = f"{NAME}/{show_size(size)}"
    yield Trim(label=f"{stem}/delete", offset=offset, size=_file(parameters, size, info))
    yield _rest(parameters, info, stem)
    sample_s = min(1.0, here(parameters, "seconds", info) / 60)
    for row, way in cells_of(ROWS):
        yield Run(
            label=f"{stem}/{row.name}/{way}",
            jobs=(_job(parameters, info, row, way, offset, size),),
            sample_s=SAMPLE_S if row.name == "SEQ" else sample_s,
        )
    yield Mark(label=f"{stem}/found")


def _file(parameters: Any, size: int, info: DriveInfo) -> int:
    """The bytes of the test file that rows call by `size`, its own on the whole drive."""
    sizes = dict(zip(parameters.sizes, here(parameters, "sizes", info), strict=True))
    return max(int(sizes[size]) // UNIT, 1) * UNIT


def _job(parameters: Any, info: DriveInfo, row: Row, way: str, offset: int, size: int) -> Job:
    load = row.load(way)
    job = load.job_for(
        parameters,
        info,
        size=_file(parameters, size, info),
        seconds=here(parameters, "seconds", info),
        offset=offset,
        threads=row.threads,
    )
    if not row.random:
        return replace(job, runtime_s=None, io_bytes=job.size)
    if row.name == "ACC" and way == "read":
        return replace(job, offset=0, size=info.capacity_bytes // 4096 * 4096)
    if row.name == "ACC":
        return replace(job, block_bytes=512, size=min(job.size or 0, 1 << 30))
    return job


def _copies(parameters: Any, info: DriveInfo) -> Copies:
    return Copies(
        trees=TREES,
        info=info,
        offset=_offset(parameters, info),
        host_ns=host_ns(parameters, info),
    )


def _percents(parameters: Any) -> list[int]:
    return sorted({*range(0, 100, parameters.step_percent), 100})


def _compressed(parameters: Any, info: DriveInfo, offset: int, percent: int, way: str) -> Run:
    units = max(int(info.share_of(COMPRESSED_BYTES)) // UNIT, FEWEST_COMPRESSED)
    size = min(units, (info.capacity_bytes - offset) // UNIT) * UNIT
    job = ROWS[0].load(way).job_for(parameters, info, size=size)
    job = replace(job, offset=offset, runtime_s=None, io_bytes=size, compress_percent=percent)
    return Run(label=f"{NAME}/compression/{percent}/{way}", jobs=(job,), sample_s=SAMPLE_S)


def conclude(record: Record) -> list[Finding]:
    """Rows and scores of each size, the fall from least to largest, copies, the curve."""
    parameters: Any = record.parameters
    findings: list[Finding] = []
    if "rows" in parameters.tests:
        for size in parameters.sizes:
            rows = list(_row_findings(record, size))
            findings += rows + scores(NAME, rows, show_size(size))
        findings += _falls(parameters, findings)
    for name, title in TREE_TITLES.items() if "copy" in parameters.tests else ():
        findings += copy_finding(
            record,
            battery=NAME,
            label=f"{NAME}/copy/{name}/duplicate",
            name=f"copy.{name}",
            variant="",
            title=f"Copy {title}",
        )
    if "compression" in parameters.tests:
        findings += _curve(record)
    return findings


def _row_findings(record: Record, size: int) -> Iterator[Finding]:
    for row, way in cells_of(ROWS):
        label = f"{NAME}/{show_size(size)}/{row.name}/{way}"
        load = row.load(way)
        if row.name == "ACC" and way == "write":
            load = replace(load, block_bytes=512)
        variant, title = f"{row.name}-{show_size(size)}", f"{row.name} {way}, {show_size(size)}"
        teller = Teller(battery=NAME, label=label, title=title, variant=variant, axis="cell")
        yield from cell_findings(record, teller, load, way)


def _falls(parameters: Any, findings: list[Finding]) -> list[Finding]:
    """How much slower the largest file is read and written in order than the smallest."""
    least, most = show_size(min(parameters.sizes)), show_size(max(parameters.sizes))
    known = {(finding.name, finding.variant): finding for finding in findings}
    falls = []
    for way in ("read", "write") if least != most else ():
        first, last = known.get((way, f"SEQ-{least}")), known.get((way, f"SEQ-{most}"))
        if first is None or last is None or not first.number:
            continue
        assert last.evidence is not None, "a row rests on its step"
        title = f"Fall of sequential {way} from {least} to {most}"
        teller = Teller(battery=NAME, label=last.evidence.label, title=title)
        fall = 1 - (last.number or 0.0) / first.number
        falls.append(teller.tell(f"fall.{way}", "", "fraction", fall, better="lower"))
    return falls


def _curve(record: Record) -> list[Finding]:
    """The points of the compression curve, then the gain of compression over all of it."""
    points: list[Finding] = []
    for filling in _percents(record.parameters):
        for way in ("write", "read"):
            label = f"{NAME}/compression/{filling}/{way}"
            variant, title = f"{filling}%", f"SEQ {way}, {filling} % compressible"
            teller = Teller(battery=NAME, label=label, title=title, variant=variant, axis="cell")
            points += cell_findings(record, teller, ROWS[0].load(way), way)[:1]
    ends: Mapping[tuple[str, str], float] = {
        (point.name, point.variant): point.number or 0.0 for point in points
    }
    for way in ("write", "read"):
        if ends.get((way, "0%")) and (way, "100%") in ends:
            title = f"Speed of compressible data over that of random data, {way}"
            teller = Teller(battery=NAME, label=f"{NAME}/compression/100/{way}", title=title)
            gain = ends[way, "100%"] / ends[way, "0%"]
            points.append(teller.tell(f"gain.{way}", "", "", gain, better="higher"))
    return points


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """Departures: copies that are smaller, and a file that cannot be deleted."""
    departures = []
    if "copy" in parameters.tests:
        departures += _copies(parameters, info).departures("copies")
    if not info.can.trim:
        departures.append("the test file is overwritten: the target takes no TRIM")
    return departures


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The preparation, each size, the copies, the curve."""
    titles: dict[str, str] = {}
    if "rows" in parameters.tests:
        titles |= {show_size(size): show_size(size) for size in parameters.sizes}
    titles |= {test: test for test in TESTS[1:] if test in parameters.tests}
    return prepared_parts(NAME, titles)


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
    parts=parts,
)
