"""A run as a fit reads it: its steps, scaled for a small drive, and the rates that it showed.

`chapters` has what the small drive is asked, `rates` what the run showed of each step. Only one
conclusion of the run's batteries is used: the rest after which the cache recovers, which a ladder
of rests brackets more closely than the few reads of a small copy could. Invariant: only what a host
sees is used, never the X-ray.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flashtwin.analysis.curve import Curve
from flashtwin.analysis.estimate import DEVIATIONS
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.hypothesis import distance
from flashtwin.model.findings import Findings
from flashtwin.model.series import Series
from flashtwin.model.step import Result
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.rundir import Run
from flashtwin.study.fit.chapters import Chapter, Reader
from flashtwin.study.fit.rates import BINS_FILL, Seen, binned

# The finding that says after which rest the cache recovers, whichever battery has it.
REST_FINDING = "rest_begin"
# The finding that says how likely the drive answers writes from RAM that outlasts a power cut.
PROTECTED_FINDING = "is_protected"
# The finding, one of each way, that says how likely collection chooses its victims so, in percent.
VICTIMS_FINDING = "policy"
BATTERIES = "fill,discover,crystaldiskmark,states,sync"
HINT = f"flashtwin test TARGET --battery {BATTERIES} measures what it takes"


@dataclass(frozen=True, kw_only=True)
class FoundRest:
    """The rest after which folding begins, as a battery found it, and the standard deviation of its
    logarithm."""

    seconds: float
    noise: float

    def apart(self, seconds: float) -> float:
        """The distance of another rest from this one, in units of the noise."""
        ratio = math.log(seconds / self.seconds)
        return float(distance.signed(np.asarray(ratio), self.noise))


@dataclass(frozen=True, kw_only=True)
class Observed:
    """A run as a fit takes it. `fill` is the curve of that whole fill of the erased drive whose
    rate varies least, because what another one has more comes from the host; `fills`: how many the
    run has. `fill_battery` is the battery of the first of them.

    `scale` is the small drive's capacity over the measured one's; `erased`: whether the target
    could be erased wherever the run asked for it; `found_rest`: the rest before folding, if a
    battery of the run found it; `protected`: whether one found that writes are answered from RAM
    that outlasts a power cut; `victims`: how collection chooses what it erases, where one found a
    way likelier than all others together.
    """

    name: str
    capacity_bytes: int
    small_bytes: int
    fill: Curve
    fills: int
    fill_battery: str
    chapters: tuple[Chapter, ...]
    fastest: float
    fastest_read: float
    left_out: tuple[str, ...]
    erased: bool
    found_rest: FoundRest | None = None
    protected: bool = False
    victims: str | None = None

    @property
    def scale(self) -> float:
        return self.small_bytes / self.capacity_bytes

    @property
    def fill_alone(self) -> Chapter:
        """The first chapter up to the end of its fill."""
        first = self.chapters[0]
        return Chapter(
            steps=first.steps[:1],
            seen=tuple(seen for seen in first.seen if seen.at == 0),
            requests=0.0,
        )

    @property
    def rests(self) -> bool:
        """Whether the run rested between writes."""
        return any(chapter.longest_rest_s > 0 for chapter in self.chapters)

    @property
    def has_requests(self) -> bool:
        """Whether the run read at random: the time of such a read shows where the map is."""
        return any(chapter.has_requests for chapter in self.chapters)

    @property
    def reads(self) -> bool:
        """True if the run tells how long a read takes: the fit compares one."""
        return any(chapter.reads for chapter in self.chapters)

    @property
    def has_syncs(self) -> bool:
        """True if the run has writes that waited for the flash."""
        return any(chapter.has_syncs for chapter in self.chapters)

    @property
    def collects(self) -> bool:
        """True if the run has writes to a drive all of which was written before."""
        return any(chapter.collects for chapter in self.chapters)

    @property
    def counts(self) -> float:
        """The number of independent values in the run."""
        of_steps = sum(seen.counts for chapter in self.chapters for seen in chapter.seen)
        return of_steps + (self.found_rest is not None)


def observed(
    run: Run, small_bytes: int, most_requests: float, most_of_chapter: float = math.inf
) -> Observed:
    """The run's chapters; raises `FlashtwinError` where no fill of an erased drive is in it."""
    capacity = int(run.target["capacity_bytes"])
    small_bytes = min(small_bytes, capacity)
    steps = list(_unchained(run))
    reader = Reader(
        run=run,
        capacity=capacity,
        scale=small_bytes / capacity,
        in_chains={
            (record.step, record.label): series for record, series in steps if series is not None
        },
    )
    parts = _parts([record for record, _ in steps])
    fills = [index for index, part in enumerate(parts) if reader.fill_of(part) is not None]
    if not fills:
        raise _no_fill(run, parts, reader)
    calmest, fill = min(
        ((index, curve) for index in fills if (curve := reader.fill_of(parts[index])) is not None),
        key=lambda pair: _varies(pair[1]),
    )
    order = [calmest, *(index for index in range(len(parts)) if index != calmest)]
    chapters, left_out, requests = [], [], 0.0
    for index in order:
        left = min(most_requests - requests, most_of_chapter)
        chapter = reader.chapter(parts[index], left)
        if chapter is None or not chapter.seen:
            left_out.append(parts[index][0].label)
            continue
        requests += chapter.requests
        chapters.append(chapter)
    chapters = _held_against_repeats(chapters)
    return Observed(
        name=str(run.target["name"]),
        capacity_bytes=capacity,
        small_bytes=small_bytes,
        fill=fill,
        fills=len(fills),
        fill_battery=parts[fills[0]][0].battery,
        chapters=tuple(chapters),
        fastest=max(reader.fastest, float(np.quantile(fill.rate, 0.98))),
        fastest_read=reader.fastest_read,
        left_out=tuple(left_out),
        erased=not any(
            record.kind == "purge" and record.not_possible is not None for record in run.steps
        ),
        found_rest=found_rest(run.findings),
        protected=_is_protected(run.findings),
        victims=_victims(run.findings),
    )


def _varies(fill: Curve) -> float:
    """By how much the rate of a fill changes from bin to bin, all in all, in its logarithm."""
    return float(np.abs(np.diff(binned(fill, BINS_FILL))).sum())


def _held_against_repeats(chapters: Sequence[Chapter]) -> list[Chapter]:
    """The chapters; where the run has a test twice, from the same state on, by how much the answers
    differ is noise: it is not the drive that made one of them so."""
    answers: dict[object, list[Seen]] = {}
    for chapter in chapters:
        for seen in chapter.seen:
            answers.setdefault(_asked(chapter, seen), []).append(seen)
    return [
        replace(
            chapter,
            seen=tuple(_with_spread(seen, answers[_asked(chapter, seen)]) for seen in chapter.seen),
        )
        for chapter in chapters
    ]


def _asked(chapter: Chapter, seen: Seen) -> object:
    """All that was done to the erased drive up to a step, and which rates of that are compared."""
    before = tuple(
        step if step is None or not step[0] else step[0] for step in chapter.steps[: seen.at + 1]
    )
    return before, seen.until, len(seen.rate)


def _with_spread(seen: Seen, repeats: Sequence[Seen]) -> Seen:
    """Rates whose noise has in it how much those of repeats differ."""
    if len(repeats) < 2:
        return seen
    spread = np.std([each.rate for each in repeats], axis=0, ddof=1)
    return replace(seen, noise=tuple(np.hypot(seen.noise, spread).tolist()))


def found_rest(findings: Findings) -> FoundRest | None:
    """The rest before folding, if a finding has it with an interval that has two ends."""
    finding = findings.get(REST_FINDING)
    if finding is None or not isinstance(finding.value, float) or finding.value <= 0:
        return None
    ends = finding.interval
    if ends is None or ends.means != "estimate" or not ends.low or not ends.high:
        return None
    noise = math.log(ends.high / ends.low) / (2 * DEVIATIONS)
    return FoundRest(seconds=finding.value, noise=noise) if noise > 0 else None


def _is_protected(findings: Findings) -> bool:
    """True if the battery sync gave capacitors against a power cut more than 50 %."""
    finding = findings.get(PROTECTED_FINDING)
    return finding is not None and isinstance(finding.value, float) and finding.value > 0.5


def _victims(findings: Findings) -> str | None:
    """The way to choose victims to which the battery wafmap gave more than 50 %."""
    for finding in findings.all(VICTIMS_FINDING):
        if isinstance(finding.value, float) and finding.value > 50:
            return finding.variant
    return None


def _no_fill(run: Run, parts: list[list[StepRecord]], reader: Reader) -> FlashtwinError:
    cut = [
        record.label
        for part in parts
        for record in part
        if record.cut and record.kind == "run" and reader.is_whole_write(record)
    ]
    why = (
        f"a budget ended {cut[0]}, so that no fill is whole"
        if cut
        else "it holds no whole sequential write of an erased drive"
    )
    return FlashtwinError(f"{run.path} cannot be fitted: {why}", hint=HINT, exit_code=USAGE)


def _unchained(run: Run) -> Iterator[tuple[StepRecord, Series | None]]:
    """A run's steps; a chain is replaced by its parts, each with its series."""
    for record in run.steps:
        details: Sequence[Mapping[str, Any]] = record.detail.get("parts") or ()
        if record.kind != "chain" or record.not_possible is not None or record.cut or not details:
            yield record, None
            continue
        answer = run.result(record.step)
        assert isinstance(answer, Result), "a chain that was carried out has a result"
        for detail, part in zip(details, answer.parts, strict=True):
            kind = "run" if detail.get("jobs") else "rest"
            yield (
                replace(
                    record,
                    label=part.label,
                    kind=kind,
                    duration_ns=part.duration_ns,
                    jobs=part.jobs,
                    detail=detail,
                ),
                part.series,
            )


def _parts(steps: Sequence[StepRecord]) -> list[list[StepRecord]]:
    """Steps grouped from one erase of the drive to the next; a failed purge begins no group."""
    parts: list[list[StepRecord]] = []
    for record in steps:
        if record.kind in ("mark", "ask"):
            continue
        if record.kind == "purge" and record.not_possible is None:
            parts.append([])
        elif parts:
            parts[-1].append(record)
        elif record.kind in ("run", "fill"):
            # A drive that was never erased counts as fresh at the run's beginning.
            parts.append([record])
    return [part for part in parts if part]
