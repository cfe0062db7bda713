"""How likely two runs measured drives that are built alike, with the findings that say so.

Bayes' rule over two hypotheses: the second drive is built as the first (controller, flash,
firmware), or it is another one that is sold as it or instead of it: other flash under one name, a
fake, a mistake. A finding is the ratio of two probabilities: of its difference between two
measurements of one drive (`[again]` in priors.toml beside its interval, with the tails of Student's
t with four degrees of freedom, as one number is easily wrong), and of its difference to another
drive. That is taken from the shipped results of the catalogue's drives with the same link, where
they have a speed of its kind, and from how far drives lie apart (`[apart]`).

Findings that tell of one thing rest on the same steps: they count as one (`_topic`), the mean of
their logarithms. Invariants: pure; no ratio is beyond
`most_factor`; nothing is told to be surer than `surest`; a finding of a battery that ran with other
parameters is not compared. Source of the numbers: priors.toml.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from flashtwin.analysis.estimate import DEVIATIONS
from flashtwin.catalogue import models
from flashtwin.catalogue.loader import load
from flashtwin.inputs import read_toml
from flashtwin.model.document import Document
from flashtwin.model.finding import LEFT_OUT, Finding
from flashtwin.model.text import plain
from flashtwin.model.units import readable_size
from flashtwin.runs.rundir import Run
from flashtwin.study import ranking

Says = Literal["for", "against", "nothing"]
_RATES = ("MB/s", "GB/s", "IOPS", "MB/J")
_TIMES = ("s", "ms", "us", "ns", "µs")
_SIZES = ("GB", "GiB", "MiB", "KiB", "bytes", "B")
# Of a measurement and not of the drive, or true of every drive of its size.
_OF_THE_DAY = frozenset(("energy", "warmest", "slowed_by_heat", "duration", LEFT_OUT))
# A ratio nearer to 1 than this says nothing.
_SILENT = 1.25


class Ground(Document, frozen=True, kw_only=True):
    """One thing that speaks for or against: by how much the odds change with it.

    `findings`: the ids of those that it is made of; `text`: both values and the difference.
    """

    about: str
    factor: float
    says: Says
    text: str
    findings: list[str]


class Judgement(Document, frozen=True, kw_only=True):
    """How likely the second drive is built as the first; `low` and `high` are that with the priors
    of a sceptic and of a believer."""

    name: str
    run: str
    prior: float
    likelihood: float
    low: float
    high: float
    grounds: list[Ground]
    notes: list[str]


class Same(Document, frozen=True, kw_only=True):
    """flashtwin same --json"""

    run: str
    drives: list[Judgement]


@cache
def priors() -> dict[str, Any]:
    """The beliefs before anything is compared."""
    return read_toml(Path(__file__).with_name("priors.toml"))


def judge(first: Run, second: Run, *, name: str, prior: float, notes: Sequence[str]) -> Judgement:
    """Hold the second run's drive against the first's."""
    pairs, departs = _pairs(first, second)
    grounds = [*_labels(first, second), *_words(pairs), *_quantities(first, second, pairs)]
    odds = math.prod(ground.factor for ground in grounds)
    believed = priors()
    if not pairs:
        departs.append("the runs have no finding in common: nothing but labels was compared")
    return Judgement(
        name=name,
        run=str(second.path),
        prior=prior,
        likelihood=_sure(prior, odds),
        low=_sure(min(believed["sceptic"], prior), odds),
        high=_sure(max(believed["believer"], prior), odds),
        grounds=sorted(grounds, key=lambda ground: -abs(math.log(ground.factor))),
        notes=[*notes, *departs, *_states(first, second)],
    )


def _sure(prior: float, odds: float) -> float:
    surest = float(priors()["surest"])
    after = prior / (1 - prior) * odds
    return min(max(after / (1 + after), 1 - surest), surest)


_Pairs = list[tuple[Finding, Finding]]


def _pairs(first: Run, second: Run) -> tuple[_Pairs, list[str]]:
    """The findings that both runs have a value of, and which batteries cannot be compared."""
    chosen = [
        {str(row["name"]): row.get("parameters") for row in run.manifest["batteries"]}
        for run in (first, second)
    ]
    unlike = [
        name for name in chosen[0] if name in chosen[1] and chosen[0][name] != chosen[1][name]
    ]
    seconds = dict(second.findings.items())
    pairs = [
        (finding, seconds[finding.id])
        for finding in first.findings
        if finding.id in seconds
        and finding.battery not in unlike
        and finding.name not in _OF_THE_DAY
        and finding.battery != "identity"
        and finding.value is not None
        and seconds[finding.id].value is not None
    ]
    notes = [f"{name} ran with other parameters and is not compared" for name in unlike]
    return pairs, notes


def _labels(first: Run, second: Run) -> Iterator[Ground]:
    """The drives' names and sizes, as they tell them."""
    believed = priors()["labels"]
    names = [str(run.host.get("device_model") or run.target["name"]) for run in (first, second)]
    known = [_drive_of(run, name) for run, name in zip((first, second), names, strict=True)]
    if all(known):
        alike = known[0] == known[1]
        fakes = "; a fake, or a drive with other flash, says so too" if alike else ""
        text = f"{names[0]} and {names[1]}{fakes}"
        yield _ground("the label", 1.0 if alike else 1 / believed["model"], text)
    if all(run.target.get("can", {}).get("whole_drive", True) for run in (first, second)):
        sizes = [int(run.target["capacity_bytes"]) for run in (first, second)]
        apart = abs(sizes[1] / sizes[0] - 1) > believed["capacity_share"] if sizes[0] else False
        text = " and ".join(readable_size(size) for size in sizes)
        yield _ground("the capacity", 1 / believed["capacity"] if apart else 1.0, text)


def _drive_of(run: Run, name: str) -> str:
    """The catalogue's id of a run's drive, or its model's name; nothing of a file on a drive that
    tells neither."""
    if run.is_simulated:
        return str(ranking.identity_of(run).get("spec") or "")
    model = str(run.host.get("device_model") or "")
    size = int(run.host.get("device_bytes") or run.target["capacity_bytes"])
    spec = models.of_model(model, size) if model else None
    return model.casefold() if spec is None else spec.id


def _words(pairs: _Pairs) -> Iterator[Ground]:
    """Choices, such as the design of a cache."""
    again = float(priors()["words"]["again"])
    for first, second in pairs:
        if first.choices:
            by_chance = 1 / len(first.choices)
            same = first.value == second.value
            factor = again / by_chance if same else (1 - again) / (1 - by_chance or 1.0)
            text = f"{first.value}, both" if same else f"{first.value} and {second.value}"
            yield _ground(first.title, _bounded(math.log(factor)), text, first.id)


def _quantities(first: Run, second: Run, pairs: _Pairs) -> Iterator[Ground]:
    """Numbers: those that tell of one thing count as one."""
    twins = first.is_simulated != second.is_simulated
    others = _others(first, second)
    groups: dict[str, list[tuple[Finding, Finding, float]]] = {}
    for base, other in pairs:
        evidence = base.evidence.label if base.evidence else ""
        topic = _topic(f"{base.id} {evidence}", _kind(base.unit))
        log = _log_factor(base, other, others.get(topic, ()), twins=twins)
        if log is not None:
            groups.setdefault(topic, []).append((base, other, log))
    for topic, rows in groups.items():
        base, other, _ = max(rows, key=lambda row: abs(row[2]))
        assert base.number and other.number
        difference = f"{other.number / base.number - 1:+.0%}"
        text = f"{base.title}, {plain(base)} and {plain(other)} ({difference})"
        text += f", and {len(rows) - 1} like it" if len(rows) > 1 else ""
        mean = sum(row[2] for row in rows) / len(rows)
        yield _ground(topic, _bounded(mean), text, *(row[0].id for row in rows))


def _bounded(log: float) -> float:
    """A factor of the odds by its logarithm, as large as that of any one finding may be."""
    most = math.log(priors()["most_factor"])
    return math.exp(min(max(log, -most), most))


def _ground(about: str, factor: float, text: str, *ids: str) -> Ground:
    says: Says = "for" if factor > 1 else "against"
    if 1 / _SILENT < factor < _SILENT:
        says = "nothing"
    return Ground(about=about, factor=factor, says=says, text=text, findings=[*ids])


def _kind(unit: str) -> str:
    for kind, units in (("rate", _RATES), ("time", _TIMES), ("size", _SIZES)):
        if unit in units:
            return kind
    return "other"


def _topic(name: str, kind: str) -> str:
    """By which findings count as one: all speeds of one direction and order, as a latency is one
    over a rate, and all else of a battery, as a cache's share is its size."""
    text = name.lower()
    if kind not in ("rate", "time"):
        return text.partition(".")[0]
    order = "random" if re.search(r"rnd|rand|4k", text) else "sequential"
    is_read = re.search(r"(?<![a-z])(rand)?read", text) is not None
    return f"read, {order}" if is_read else f"write, {order}"


def _log_factor(
    base: Finding, other: Finding, others: Sequence[float], *, twins: bool
) -> float | None:
    """The logarithm of the ratio of both probabilities; none where there is nothing to compare."""
    first, second = base.number, other.number
    if first is None or second is None or first <= 0 or second <= 0 or base.unit != other.unit:
        return None
    believed, kind = priors(), _kind(base.unit)
    squares = believed["again"][kind] ** 2 + (believed["again"]["twin"] ** 2 if twins else 0.0)
    spread = math.sqrt(squares + _of_interval(base) ** 2 + _of_interval(other) ** 2)
    apart = math.log(second / first)
    again = _student(apart, spread)
    # One that is in no catalogue, and each of the catalogue, measured as exactly.
    by_chance = [_student(apart, math.hypot(believed["apart"][kind], spread))]
    # A rate that is larger is a time that is shorter.
    by_chance += [_student(apart - (-at if kind == "time" else at), spread) for at in others]
    return math.log(again * len(by_chance) / sum(by_chance))


def _of_interval(finding: Finding) -> float:
    """The standard deviation of the logarithm that an interval leaves; an open one leaves none."""
    value, low, high = finding.number, finding.low, finding.high
    if not value or low is None or high is None or low <= 0 or high <= low:
        return 0.0
    return math.log(high / low) / 2 / DEVIATIONS


def _student(at: float, spread: float) -> float:
    """The density of Student's t with four degrees of freedom."""
    tails: float = (1 + (at / spread) ** 2 / 4) ** -2.5
    return 0.375 / spread * tails


def _others(first: Run, second: Run) -> dict[str, list[float]]:
    """How far the catalogue's other drives of one link lie from the first run's: the logarithms of
    the ratios of what is shipped of them, by what it tells of."""
    own = [ranking.identity_of(run) for run in (first, second)]
    link = _link_of(first) or _link_of(second)
    # Results of an older core say as well how far drives lie apart.
    shipped = ranking.stored()
    hashes = {str(identity.get("hash")) for identity in own}
    drives = [
        row.values
        for name, row in shipped.items()
        if row.spec not in hashes and link in ("", _link(name))
    ]
    known = shipped.get(str(own[0].get("spec")))
    values = {**(known.values if known else {})}
    values |= {finding.id: finding.number for finding in first.findings if finding.number}
    apart: dict[str, list[float]] = {}
    for column in ranking.columns().values():
        if value := values.get(column.finding):
            apart.setdefault(_topic(column.finding, _kind(column.unit)), []).extend(
                math.log(row[column.finding] / value)
                for row in drives
                if row.get(column.finding, 0) > 0
            )
    return apart


@cache
def _link(drive: str) -> str:
    rows = {row["key"]: str(row["value"]) for row in load(drive).values()}
    return rows.get("link.interface") or rows.get("link.kind") or ""


def _link_of(run: Run) -> str:
    """sata or nvme, as far as a run tells it."""
    rows = ranking.identity_of(run).get("values")
    for row in rows if isinstance(rows, list) else ():
        if row.get("key") in ("link.interface", "link.kind"):
            return str(row["value"])
    link = f"{run.host.get('device', '')} {run.host.get('device_link', '')}".lower()
    if "nvme" in link or "pcie" in link:
        return "nvme"
    return "sata" if "sata" in link else ""


def _states(first: Run, second: Run) -> Iterator[str]:
    """Reasons for a difference between the measurements that are not the drives'."""
    for run in (first, second):
        if not run.finished:
            yield f"{run.path.name} is not finished: what it has is compared"
        if not run.target.get("can", {}).get("writes", True):
            yield f"{run.path.name} was only read: --destroy-data has a device measured in full"
            continue
        unerased = [step.label for step in run.steps if step.kind == "purge" and step.not_possible]
        if unerased:
            yield f"{run.path.name} was not erased before: a used drive is slower than an empty one"
    kinds = {bool(run.target.get("can", {}).get("whole_drive", True)) for run in (first, second)}
    if len(kinds) > 1:
        yield "one is a whole drive and the other a file: file system and place differ"
