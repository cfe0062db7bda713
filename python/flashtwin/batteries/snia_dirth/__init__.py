"""snia_dirth: rate and latency by threads and queue depth, and the tail at three of these points.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P), which call it demand intensity and response time histogram. Purge; WIPC; 4 KiB
random requests with 32 threads at queue depth 32, a minute a round, until steady by both criteria
(`analysis.steady`); then each of 32, 16, 8, 6, 4, 2 and 1 threads by the same queue depths. Three
points of it are looked at again: the highest rate with a mean latency below 5 ms, one thread at
depth 1, and one halfway between their rates; an hour of writes before, and percentiles of ten
minutes. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.analysis.steady import window_of
from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, Load, Teller, check_fits, prepared, totals_of
from flashtwin.batteries.base.registry import PREPARATION, Forecast, Part
from flashtwin.batteries.base.rounds import Rounds
from flashtwin.batteries.base.tail import bins_in, tail_findings
from flashtwin.model.step import Mark, Result, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer, Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job, JobTotals
    from flashtwin.model.target import DriveInfo

NAME = "snia_dirth"
COUNTS = (32, 16, 8, 6, 4, 2, 1)
# The highest rate is looked for where the mean latency is below this.
LATENCY_NS = 5_000_000
POINTS = ("highest", "middle", "single")
TITLES = {
    "highest": "Highest rate within 5 ms",
    "middle": "Halfway",
    "single": "One at a time",
}

Place = tuple[int, int]


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Prepare, rounds until steady, the cells, the three points that they show."""
    rounds = _rounds(parameters)
    check_fits(NAME, [rounds.tracked], info)
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    yield from rounds.steps(lambda _: _busiest(parameters, info))
    cells: dict[Place, JobTotals] = {}
    for place in _places(parameters):
        answer: Answer = yield _cell_step(parameters, info, place)
        if isinstance(answer, Result) and answer.jobs[0].ios:
            cells[place] = answer.jobs[0]
    for point, place in points_of(cells).items():
        for step in _point_steps(parameters, info, point, place):
            answer = yield step
        if isinstance(answer, Result):
            yield Mark(label=f"{_point_label(point)}/found")


def _load(parameters: Any, depth: int) -> Load:
    return Load(random=True, block_bytes=4 * KIB, read_percent=parameters.read_percent, depth=depth)


def _rounds(parameters: Any) -> Rounds:
    load = _load(parameters, max(parameters.depths))
    return Rounds(battery=NAME, loads=[load], tracked=load, value=pts.rate, most=parameters.rounds)


def _job(parameters: Any, info: DriveInfo, place: Place, seconds: float, seed: int = 1) -> Job:
    threads, depth = place
    return _load(parameters, depth).job_for(
        parameters, info, seconds=seconds, name=_name(place), threads=threads, seed=seed
    )


def _busiest(parameters: Any, info: DriveInfo) -> Job:
    place = max(parameters.threads), max(parameters.depths)
    return _job(parameters, info, place, parameters.seconds)


def _places(parameters: Any) -> Iterator[Place]:
    """Threads and depths, the busiest first."""
    yield from ((t, d) for t in parameters.threads for d in parameters.depths)


def _name(place: Place) -> str:
    return f"T{place[0]}-Q{place[1]}"


def _cell_label(place: Place) -> str:
    return f"{NAME}/cells/{_name(place)}"


def _cell_step(parameters: Any, info: DriveInfo, place: Place) -> Run:
    """A cell; each draws addresses of its own."""
    seed = 1000 + 100 * place[0] + place[1]
    job = _job(parameters, info, place, parameters.seconds, seed)
    return Run(label=_cell_label(place), jobs=(job,), sample_s=parameters.seconds)


def _point_label(point: str) -> str:
    return f"{NAME}/points/{point}"


def _point_steps(parameters: Any, info: DriveInfo, point: str, place: Place) -> Iterator[Run]:
    """The busiest load for an hour, then the point."""
    seed = 2 * POINTS.index(point)
    before = replace(_busiest(parameters, info), runtime_s=parameters.before_s, seed=2000 + seed)
    yield Run(
        label=f"{NAME}/points/{point}-before",
        jobs=(before,),
        sample_s=max(parameters.before_s / 60, 0.01),
    )
    job = _job(parameters, info, place, parameters.point_s, 2001 + seed)
    sample_s = max(parameters.point_s / 60, 0.01)
    yield Run(label=_point_label(point), jobs=(job,), sample_s=sample_s)


def points_of(cells: Mapping[Place, JobTotals]) -> dict[str, Place]:
    """Where the rate is highest within the latency, where least is asked, and halfway between.

    Halfway is the cell whose rate is nearest to the middle of both; of equal ones the quicker.
    """
    if not cells:
        return {}
    least = min(cells, key=lambda place: (place[0] * place[1], place))
    within = [place for place in cells if cells[place].latency_mean_ns < LATENCY_NS] or [least]
    best = max(within, key=lambda place: (pts.rate(cells[place]), -place[0] * place[1]))
    middle = (pts.rate(cells[best]) + pts.rate(cells[least])) / 2
    half = min(
        within,
        key=lambda place: (
            abs(pts.rate(cells[place]) - middle),
            cells[place].latency_mean_ns,
        ),
    )
    return {"highest": best, "middle": half, "single": least}


def estimate(parameters: Any, info: DriveInfo) -> Forecast:
    """The usual rounds; the points are taken to be the busiest."""
    rounds = _rounds(parameters)
    before = list(prepared(f"{NAME}/prepare", parameters.fills))
    after = [_cell_step(parameters, info, place) for place in _places(parameters)]
    busiest = next(_places(parameters))
    for point in POINTS:
        after += _point_steps(parameters, info, point, busiest)
    return rounds.forecast(lambda _: _busiest(parameters, info), before, after)


def conclude(record: Record) -> list[Finding]:
    """Whether the rounds were steady, all cells, and the three points with their tails."""
    rounds = _rounds(record.parameters)
    values = rounds.values_of(record)
    if not values:
        return []
    window = window_of(values)
    label = rounds.label(len(values), rounds.tracked)
    title = f"{rounds.tracked.access} with the most outstanding, steady"
    findings = pts.steadiness(NAME, label, values, window, title=title)
    cells = {
        place: totals
        for place in _places(record.parameters)
        if (totals := totals_of(record, _cell_label(place))) is not None
    }
    for place, totals in cells.items():
        findings += _cell(record.parameters, place, totals)
    for point, place in points_of(cells).items():
        findings += _point(record, point, place)
    return pts.marked(findings, values, window)


def _cell(parameters: Any, place: Place, totals: JobTotals) -> list[Finding]:
    """Speed, latency and rate of a cell."""
    load = _load(parameters, place[1])
    way = load.way_name
    title, label = f"{load.access} {place[0]} threads Q{place[1]}", _cell_label(place)
    teller = Teller(battery=NAME, label=label, title=title, variant=_name(place), axis="cell")
    rate = pts.rate(totals)
    return [
        teller.tell(way, "", "MB/s", rate * load.block_bytes / 1e6),
        teller.tell(f"{way}.latency", "latency", "us", pts.latency_us(totals), beside=way),
        teller.tell(f"{way}.iops", "rate", "IOPS", rate, beside=way),
    ]


def _point(record: Record, point: str, place: Place) -> list[Finding]:
    """The rate and the percentiles of a point."""
    label = _point_label(point)
    result, totals = record.result(label), totals_of(record, label)
    if result is None or totals is None:
        return []
    title = f"{TITLES[point]} ({_name(place)})"
    teller = Teller.of(record, NAME, label, title, point)
    findings = [teller.tell("rate", "rate", "IOPS", pts.rate(totals), headline=point == "highest")]
    findings.append(
        teller.tell("latency", "mean latency", "us", pts.latency_us(totals), beside="rate")
    )
    for direction in ("read", "write"):
        bins = bins_in([result], direction)
        if bins:
            variant = f"{point}-{direction}"
            findings += tail_findings(replace(teller, variant=variant), bins, headline="")
    return findings


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The preparation, round after round, the cells, then each point."""
    rounds = pts.round_parts(NAME, parameters.rounds)
    cells = Part(
        title="cells", labels=(f"{NAME}/cells",), needs=(PREPARATION, "round 1"), begins=True
    )
    points = [
        Part(
            title=TITLES[point],
            labels=(_point_label(point), f"{_point_label(point)}-before"),
            needs=(PREPARATION, "round 1", cells.title),
            begins=True,
        )
        for point in POINTS
    ]
    return [*rounds, cells, *points]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=pts.departs,
    parts=parts,
    estimate=estimate,
)
