"""Synthetic application traces: what programs ask a drive for, as mixes with published sizes.

The originals are recorded and closed, so these are "-like": the parts, their order, bytes read and
written and the scoring are the published ones where there are any, the mixes (sizes, order, depth)
are made up once and frozen in a `mixes.toml` beside each battery, with a source each. A part has a
stream of reads and one of writes, which are processes of fio's that keep step by `flow`, or it is a
copy (`base.files`). Nothing thinks where an original counts only the time in which requests are
outstanding; where it counts seconds, a program computes between requests.

Invariant: what is asked for follows from the mixes, the parameters and the capacity alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, log, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flashtwin.batteries.base.files import Copies, CopyWay, Tree, smaller
from flashtwin.batteries.base.parameter import (
    UsualTime,
    choice,
    decimal,
    host_time,
    integer,
    parameter,
)
from flashtwin.batteries.base.registry import Part, host_ns, prepared_parts
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import read_toml
from flashtwin.model.finding import Better, Evidence, Finding
from flashtwin.model.fio_job import Blocks, Fio, Flow, Think
from flashtwin.model.step import Fill, Job, Mark, Purge, Rest, Run
from flashtwin.model.units import parse_block

if TYPE_CHECKING:
    from flashtwin.batteries.base.present import Present
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

MIB = 1 << 20
MB = 10**6
BLOCK = 4096
SAMPLE_S = 0.5
SHARE_MOST = 0.8
LEAST_SPAN = 32 * MIB
WEIGHT_MOST = 1000
FLOW_SLEEP_NS = 1_000_000
SETTLE = UsualTime(simulated_s=300.0, real_s=10.0)
Scoring = Literal["both", "bandwidth", "time"]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of every battery of traces."""

    passes: int = parameter(1, integer(1, 9), "how often all parts are played, one after another")
    state: str = parameter(
        "fresh",
        choice("fresh", "steady"),
        "fresh: erased, then what is read is written; steady: everything is written twice before",
    )
    fill_percent: float = parameter(
        0.0, decimal(0, 95), "how much of the drive is full of other data; parts lie behind it"
    )
    settle_s: float | None = SETTLE.parameter("rest before the first part")
    host_us: float = host_time(20.0)


@dataclass(frozen=True, kw_only=True)
class Stream:
    """One direction of a part: bytes, % of them at random places, outstanding, sizes with %.

    `think_us`: what the program computes after each request.
    """

    mb: int
    random: int
    depth: int
    sizes: tuple[tuple[int, int], ...]
    think_us: int = 0

    @staticmethod
    def of(row: Mapping[str, Any]) -> Stream:
        """A stream as a file of mixes has it: `sizes = "4k/60:64k/40"`."""
        pairs = (pair.split("/") for pair in row["sizes"].split(":"))
        sizes = tuple((parse_block(size), int(percent)) for size, percent in pairs)
        if sum(percent for _, percent in sizes) != 100:
            raise ValueError(f"the shares of {row['sizes']} do not add up to 100 %")
        return Stream(**{**row, "sizes": sizes})

    @property
    def requests(self) -> float:
        """About as many requests as it takes."""
        return self.mb * MB / (sum(size * percent for size, percent in self.sizes) / 100)

    def job(self, way: Literal["read", "write"], *, offset: int, span: int, share: float) -> Job:
        """The stream as a process of fio's over the span."""
        sizes = Blocks(least=min(self.sizes)[0], most=max(self.sizes)[0], split=self.sizes)
        rw: Any = way if self.random == 0 else f"rand{way}"
        return Job(
            name=way,
            rw=rw,
            block_bytes=sizes.most,
            depth=self.depth,
            offset=offset,
            size=span,
            io_bytes=max(int(self.mb * MB * share) // BLOCK * BLOCK, sizes.most),
            fio=Fio(
                blocks=(sizes, sizes, sizes) if len(self.sizes) > 1 else None,
                random_percent=(self.random, self.random, self.random)
                if self.random
                else (100, 100, 100),
                random_map=self.random == 0,
                think=Think(ns=self.think_us * 1000) if self.think_us else None,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Mix:
    """A part: two streams over `span_mb`, or a copy of a tree."""

    name: str
    title: str
    source: str
    span_mb: int = 0
    reads: Stream | None = None
    writes: Stream | None = None
    copy: str = ""
    way: CopyWay = "write"

    @staticmethod
    def of(row: Mapping[str, Any]) -> Mix:
        """A part as a file of mixes has it."""
        streams = {way: Stream.of(row[way]) for way in ("reads", "writes") if way in row}
        return Mix(**{**row, **streams})


@dataclass(frozen=True, kw_only=True)
class Traces:
    """The parts of a battery in their order, the trees that are copied, and how it is scored."""

    battery: str
    title: str
    mixes: tuple[Mix, ...]
    trees: Mapping[str, Tree]
    scoring: Scoring = "both"

    @staticmethod
    def beside(module: str, battery: str, title: str, scoring: Scoring = "both") -> Traces:
        """Those of the mixes.toml beside a battery's module, which passes its `__file__`; `title`
        is what a page calls the battery."""
        rows = read_toml(Path(module).with_name("mixes.toml"))
        return Traces(
            battery=battery,
            title=title,
            mixes=tuple(Mix.of(row) for row in rows["part"]),
            trees={name: Tree(**tree) for name, tree in rows.get("trees", {}).items()},
            scoring=scoring,
        )

    def functions(self) -> dict[str, Any]:
        """What the battery of these traces does, by the names of `Battery`."""
        return {
            "parameters": Parameters,
            "measure": self.measure,
            "conclude": self.conclude,
            "departs": self.departs,
            "parts": self.parts,
            "present": self.present,
        }

    def present(self) -> Present:
        """How a page shows them."""
        from flashtwin.batteries.base.presents import TracesPresent

        return TracesPresent(self)

    def measure(self, parameters: Parameters, info: DriveInfo) -> Steps:
        """Bring the drive to its state, write what is read, rest; then pass after pass."""
        place = _Place.of(self, parameters, info)
        place.check()
        stem = f"{self.battery}/prepare"
        yield Purge(label=f"{stem}/purge")
        if parameters.state == "steady":
            for number in (1, 2):
                yield Fill(label=f"{stem}/all-{number}")
        else:
            if place.offset:
                yield Fill(label=f"{stem}/fill", size=place.offset)
            yield Fill(label=f"{stem}/data", offset=place.offset, size=place.span)
        yield Rest(label=f"{stem}/settle", seconds=SETTLE.chosen(parameters.settle_s, info))
        for number in range(1, parameters.passes + 1):
            for mix in self.mixes:
                yield place.run(self.label(mix, number), mix)
            yield Mark(label=f"{self.battery}/pass-{number}/found")

    def label(self, mix: Mix, number: int) -> str:
        """The step of a part in a pass."""
        return f"{self.battery}/pass-{number}/{mix.name}"

    def conclude(self, record: Record) -> list[Finding]:
        """Each part over all passes in which it was played; the whole once every part was played
        in every pass."""
        played = [self._played(record, mix) for mix in self.mixes]
        findings = [finding for part in played if part.seconds for finding in part.findings(self)]
        if all(part.passes == record.parameters.passes for part in played):
            findings += self._whole(played)
        return findings

    def _played(self, record: Record, mix: Mix) -> Played:
        numbers = range(1, record.parameters.passes + 1)
        steps = [record.step(self.label(mix, number)) for number in numbers]
        ended = [step for step in steps if step is not None and step.jobs and step.duration_ns]
        jobs = [job for step in ended for job in step.jobs]
        return Played(
            mix=mix,
            label=ended[-1].label if ended else "",
            passes=len(ended),
            bytes=sum(job.bytes for job in jobs),
            requests=sum(job.ios for job in jobs),
            waited_s=fsum(job.ios * job.latency_mean_ns for job in jobs) / 1e9,
            seconds=sum(step.duration_ns for step in ended) / 1e9,
        )

    def _whole(self, played: Sequence[Played]) -> list[Finding]:
        """Bandwidth and access time over everything, and the score."""
        if self.scoring == "time":
            return []
        label = played[-1].label
        rates = [part.bytes / part.seconds / MB for part in played]
        bandwidth = sum(part.bytes for part in played) / sum(part.seconds for part in played) / MB
        access_s = fsum(part.waited_s for part in played) / sum(part.requests for part in played)
        totals = [
            self.finding("bandwidth", "Bandwidth", "MB/s", bandwidth, label),
            self.finding("access", "Mean access time", "us", access_s * 1e6, label),
        ]
        score = sqrt(bandwidth / access_s)
        if self.scoring == "bandwidth":
            score = exp(fsum(map(log, rates)) / len(rates))
        points = self.finding("score", "Score", "points", score, label, better="higher")
        return [*totals, replace(points, headline=True, note="of synthetic traces")]

    def finding(
        self,
        name: str,
        title: str,
        unit: str,
        value: float,
        label: str,
        *,
        mix: Mix | None = None,
        better: Better | None = None,
    ) -> Finding:
        """A finding of a part, or of all."""
        return Finding(
            battery=self.battery,
            name=name,
            variant="" if mix is None else mix.name,
            title=title if mix is None else f"{mix.title}: {title.lower()}",
            value=value,
            unit=unit,
            better=better,
            evidence=Evidence(
                battery=self.battery, label=label, axis="seconds", start=0.0, end=0.0
            ),
        )

    def departs(self, parameters: Parameters, info: DriveInfo) -> list[str]:
        """Departures: synthetic traces, and parts that are smaller than published."""
        share = _Place.of(self, parameters, info).share
        return ["synthetic traces: the originals are closed", *smaller("parts", share, info)]

    def parts(self, parameters: Parameters, info: DriveInfo) -> list[Part]:
        """The preparation, then each pass."""
        numbers = range(1, parameters.passes + 1)
        return prepared_parts(self.battery, {f"pass-{n}": f"pass {n}" for n in numbers})


@dataclass(frozen=True, kw_only=True)
class Played:
    """What a part did in all passes that came to it; `waited_s` is the sum of all latencies."""

    mix: Mix
    label: str
    passes: int
    bytes: int
    requests: int
    waited_s: float
    seconds: float

    def findings(self, traces: Traces) -> Iterator[Finding]:
        """Its bandwidth, access time and duration."""
        tell = traces.finding
        rate = self.bytes / self.seconds / MB
        mix = self.mix
        yield tell("part.bandwidth", "Bandwidth", "MB/s", rate, self.label, mix=mix)
        access_us = self.waited_s / max(self.requests, 1) * 1e6
        yield tell("part.access", "Mean access time", "us", access_us, self.label, mix=mix)
        seconds = self.seconds / self.passes
        yield tell("part.time", "Time", "s", seconds, self.label, mix=mix, better="lower")


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where the parts of a battery lie on a target, and how much of each there is room for."""

    traces: Traces
    info: DriveInfo
    offset: int
    host_ns: int

    @staticmethod
    def of(traces: Traces, parameters: Parameters, info: DriveInfo) -> _Place:
        """The place behind the full part of the drive."""
        return _Place(
            traces=traces,
            info=info,
            offset=int(info.capacity_bytes * parameters.fill_percent / 100) // MIB * MIB,
            host_ns=host_ns(parameters, info),
        )

    @property
    def _wanted(self) -> int:
        return max((mix.span_mb for mix in self.traces.mixes), default=0) * MB

    @property
    def _room(self) -> int:
        return int((self.info.capacity_bytes - self.offset) * SHARE_MOST)

    @property
    def _fits(self) -> float:
        """The share of the streams that there is room for."""
        return min(self.info.share_of(1.0), self._room / self._wanted)

    @property
    def span(self) -> int:
        """What is written before, so that there is something to read."""
        return max(int(self._wanted * self._fits), LEAST_SPAN) // MIB * MIB

    @property
    def share(self) -> float:
        """The share of its bytes that each part moves."""
        return min(self._fits, self._copies.share if self.traces.trees else 1.0)

    @property
    def _copies(self) -> Copies:
        return Copies(
            trees=self.traces.trees, info=self.info, offset=self.offset, host_ns=self.host_ns
        )

    def check(self) -> None:
        """Refuse a target without room."""
        if self._room < LEAST_SPAN:
            raise FlashtwinError(
                f"{self.traces.battery}: {self.info.name} is too small for these traces",
                hint=f"measure a target of {2 * LEAST_SPAN // MIB} MiB or more, or fill less of it",
                exit_code=USAGE,
            )
        if self.traces.trees:
            self._copies.check(self.traces.battery)

    def run(self, label: str, mix: Mix) -> Run:
        """The step of a part."""
        if mix.copy:
            return self._copies.run(label, mix.copy, mix.way)
        streams: list[tuple[Literal["read", "write"], Stream]] = []
        if mix.reads is not None:
            streams.append(("read", mix.reads))
        if mix.writes is not None:
            streams.append(("write", mix.writes))
        share = self._fits
        span = max(min(int(mix.span_mb * MB * share), self.span) // MIB, 1) * MIB
        jobs = [
            replace(
                stream.job(way, offset=self.offset, span=span, share=share), host_ns=self.host_ns
            )
            for way, stream in streams
        ]
        if len(jobs) > 1:
            most = max(stream.requests for _, stream in streams)
            jobs = [
                _in_step(job, stream.requests / most)
                for job, (_, stream) in zip(jobs, streams, strict=True)
            ]
        return Run(label=label, jobs=tuple(jobs), sample_s=SAMPLE_S)


def _in_step(job: Job, share: float) -> Job:
    """The job with a flow: the stream with fewer requests sleeps while it waits for the other."""
    assert job.fio is not None, "processes of fio's keep step"
    flow = Flow(
        weight=max(round(WEIGHT_MOST * share), 1),
        id=1,
        sleep_ns=0 if share == 1.0 else FLOW_SLEEP_NS,
    )
    return replace(job, fio=replace(job.fio, flow=flow))
