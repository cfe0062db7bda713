"""fio: the jobs of fio job files, one step for each group that a stonewall ends.

Nobody types its parameters: `flashtwin fio --out` makes them out of a job file, so that a run of
fio's jobs has a journal, can be gone on with and is listed, compared and exported like any other.
The groups follow one another. Invariant: the jobs are those of the job file as it was read; nothing
here adds to them or leaves any out.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller
from flashtwin.batteries.base.parameter import Kind, parameter
from flashtwin.batteries.base.registry import Part
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import parse_json
from flashtwin.model import histogram
from flashtwin.model.job import job_of
from flashtwin.model.step import Fill, Job, Result, Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import JobTotals
    from flashtwin.model.target import DriveInfo

NAME = "fio"
# Characters of the names of a group's jobs in its label.
LONGEST = 60


@dataclass(frozen=True, kw_only=True)
class Group:
    """Jobs that run beside each other; `label` is that of their step."""

    label: str
    jobs: tuple[Job, ...]


def titles(names: Sequence[Sequence[str]]) -> list[str]:
    """What groups whose jobs have these names are called: a number and the names."""
    return [
        f"{number} {'+'.join(dict.fromkeys(group))[:LONGEST]}".strip()
        for number, group in enumerate(names, start=1)
    ]


def labels(names: Sequence[Sequence[str]]) -> list[str]:
    """The labels of the steps of such groups."""
    return [f"{NAME}/{title}" for title in titles(names)]


def _parsed(text: str) -> tuple[Group, ...]:
    try:
        return tuple(
            Group(label=str(row["label"]), jobs=tuple(map(job_of, row["jobs"])))
            for row in parse_json(text.encode())
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("flashtwin fio JOBFILE --on TARGET --out DIR writes it") from error


def _plain(groups: Sequence[Group]) -> list[dict[str, Any]]:
    return [asdict(group) for group in groups]


def _as_json(groups: Sequence[Group | Mapping[str, Any]]) -> str:
    return json.dumps([asdict(row) if isinstance(row, Group) else row for row in groups])


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


_GROUPS = Kind(
    name="groups of jobs as JSON", parse=_parsed, show=_as_json, plain=_plain, accepts=_is_list
)
_LINES = Kind(
    name="lines of text as JSON",
    parse=lambda text: tuple(map(str, parse_json(text.encode()))),
    show=json.dumps,
    plain=list,
    accepts=_is_list,
)


_PARTS = Kind(
    name="parts of the drive as JSON",
    parse=lambda text: tuple((int(first), int(size)) for first, size in parse_json(text.encode())),
    show=json.dumps,
    plain=lambda parts: [list(part) for part in parts],
    accepts=_is_list,
)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The jobs, the job file that they come from, and what is laid out before them."""

    groups: tuple[Group, ...] = parameter((), _GROUPS, "the jobs; flashtwin fio --out makes them")
    file: tuple[str, ...] = parameter((), _LINES, "the lines of the job file that they come from")
    laid: tuple[tuple[int, int], ...] = parameter(
        (), _PARTS, "what holds data before the jobs: first byte and bytes of each part"
    )


def _laying(number: int) -> str:
    return f"{NAME}/files {number}"


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """What fio lays out before its jobs; then group after group, until a job ends all
    (exit_what=all)."""
    if not parameters.groups:
        raise FlashtwinError(
            "fio: there are no jobs",
            hint="flashtwin fio JOBFILE --on TARGET --out DIR runs a job file",
            exit_code=USAGE,
        )
    for number, (offset, size) in enumerate(parameters.laid, start=1):
        yield Fill(label=_laying(number), offset=offset, size=size)
    for group in parameters.groups:
        answer = yield Run(label=group.label, jobs=group.jobs)
        if isinstance(answer, Result) and any(row.get("ended_all") for row in answer.fio):
            return


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """The groups in their order; one that is too long for a budget begins all the same."""
    laying = tuple(_laying(number) for number in range(1, len(parameters.laid) + 1))
    return [
        Part(title=group.label, labels=(*(() if place else laying), group.label), begins=True)
        for place, group in enumerate(parameters.groups)
    ]


def conclude(record: Record) -> list[Finding]:
    """For each job its speed, requests a second and mean latency; for each group the tail
    latencies."""
    findings: list[Finding] = []
    groups: Sequence[Group] = record.parameters.groups
    titled = titles([[job.name for job in group.jobs] for group in groups])
    measured = [
        (group, title, result)
        for group, title in zip(groups, titled, strict=True)
        if (result := record.result(group.label))
    ]
    names = [name for group, _, _ in measured for name in {job.name for job in group.jobs}]
    for group, title, result in measured:
        for name in dict.fromkeys(job.name for job in result.jobs):
            rows = [job for job in result.jobs if job.name == name]
            variant = _variant(name if names.count(name) == 1 else f"{title}: {name}")
            findings += _of_job(group.label, variant, name, rows)
        for direction, counts in result.hist.items():
            findings += _tails(group.label, _variant(title), direction, counts)
    return findings


def _variant(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def _of_job(label: str, variant: str, name: str, rows: Sequence[JobTotals]) -> list[Finding]:
    """The copies of a job together: they run beside each other."""
    seconds = max(row.duration_ns for row in rows) / 1e9
    ios, moved = sum(row.ios for row in rows), sum(row.bytes for row in rows)
    waited_ns = sum(row.ios * row.latency_mean_ns for row in rows)
    values = (
        ("speed", "speed", moved / seconds / 1e6 if seconds else None, "MB/s"),
        ("iops", "requests a second", ios / seconds if seconds else None, "IOPS"),
        ("latency", "mean latency", waited_ns / ios / 1e3 if ios else None, "us"),
    )
    return [
        _finding(label, kind, variant, f"{name}, {title}", value, unit)
        for kind, title, value, unit in values
    ]


def _tails(label: str, variant: str, direction: str, counts: Any) -> list[Finding]:
    latencies = histogram.percentiles(counts, (99.0, 99.9)) if counts.sum() else {}
    return [
        _finding(
            label,
            f"{direction}.p{percent:g}",
            variant,
            f"{variant}, {direction}s, {percent:g} % are answered within",
            value / 1e3,
            "us",
        )
        for percent, value in latencies.items()
    ]


def _finding(
    label: str, name: str, variant: str, title: str, value: float | None, unit: str
) -> Finding:
    teller = Teller(battery=NAME, label=label, title=title, variant=variant, axis="cell")
    return teller.tell(name, "", unit, value, better="lower" if unit == "us" else "higher")


BATTERY = declared(
    __name__,
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.fio.present",
    program="flashtwin fio",
)
