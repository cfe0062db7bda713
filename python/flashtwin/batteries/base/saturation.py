"""Saturation: random writes on an erased drive until they are steady, as SNIA's WSAT has them.

The whole target is written once in one step, with a sample a minute; then a round is a tenth of
the capacity, and rounds go on until the rate is steady by both criteria, or four times the capacity
or 24 hours have been written. Five minutes in a row would be even on a drive that falls for hours
(the BX500 at 1/16: 17,200 requests a second after 1.2 fills, 5,900 at last), and so are five
minutes in an empty cache. Public implementations judge the last minute of each half an hour, which
is many fills of a small drive and a tenth of one of a slow drive. By rounds of a tenth the BX500 is
steady after 3.8 fills, and by half hours it is not: its rate falls by a quarter a drive fill even
there. So the change a drive fill is a finding, and a steady rate that still moves has a note.
Invariant: what ends it are the answers alone, so a resumed run
ends at the same round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flashtwin.analysis.steady import WINDOW, Window, window_of
from flashtwin.batteries.base import pts
from flashtwin.batteries.base.loads import KIB, Load, Teller, rates_of, totals_of
from flashtwin.batteries.base.registry import Part, host_ns
from flashtwin.batteries.base.rounds import USUAL_SATURATION, Rounds
from flashtwin.model.step import Purge, Run

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flashtwin.analysis.curve import Curve
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer, Forecast
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job, Step
    from flashtwin.model.target import DriveInfo

# The part of a battery that goes on until it is steady.
UNTIL = "until steady"


@dataclass(frozen=True, kw_only=True)
class Saturation:
    """The write that is kept up by `threads` over the first `range_percent` of the target; a round
    writes `percent` of that range, and `fills` count it."""

    battery: str
    load: Load
    threads: int
    sample_s: float
    percent: float
    fills: float
    most_s: float
    host_ns: int
    range_percent: float = 100.0

    @property
    def first(self) -> str:
        """The step that writes everything once."""
        return f"{self.battery}/first"

    @staticmethod
    def of(battery: str, parameters: Any, info: DriveInfo) -> Saturation:
        """With a battery's parameters: of 4 KiB, over all of the target and with a sample a minute
        where it has none for these."""
        block = getattr(parameters, "block", 4 * KIB)
        return Saturation(
            battery=battery,
            load=Load(random=True, block_bytes=block, read_percent=0, depth=parameters.depth),
            threads=parameters.threads,
            sample_s=getattr(parameters, "sample_s", 60.0),
            percent=parameters.round_percent,
            fills=parameters.fills,
            most_s=parameters.hours * 3600,
            host_ns=host_ns(parameters, info),
            range_percent=getattr(parameters, "range_percent", 100.0),
        )

    def rounds(self, info: DriveInfo) -> Rounds:
        """The rounds after the first write."""
        most = (self.fills - 1) * 100 / self.percent
        return Rounds(
            battery=f"{self.battery}/steady",
            loads=[self.load],
            tracked=self.load,
            value=pts.rate,
            most=max(round(most), WINDOW),
            usual=USUAL_SATURATION,
            most_s=self.most_s,
            sample_s=self.sample_s,
        )

    def span(self, info: DriveInfo) -> int:
        """Bytes of the range that is written."""
        return int(info.capacity_bytes * self.range_percent / 100)

    def job(self, info: DriveInfo) -> Job:
        """The job of a round."""
        job = self.load.job(info, size=self.span(info), seconds=0.0, host_ns=self.host_ns)
        size, block = job.size or info.capacity_bytes, self.load.block_bytes
        part = max(int(size * self.percent / 100) // block, 1) * block
        return replace(job, threads=self.threads, runtime_s=None, io_bytes=part)

    def before(self, info: DriveInfo) -> Generator[Step, object, None]:
        """Purge, and everything written once."""
        yield Purge(label=f"{self.battery}/purge")
        job = self.job(info)
        # A round with the same addresses in the same order would give back what was written here
        # superblock by superblock, as an overwrite in order does.
        seed = self.rounds(info).most + 1
        everything = replace(job, name="first", io_bytes=job.size, seed=seed)
        yield Run(label=self.first, jobs=(everything,), sample_s=self.sample_s)

    def steps(self, info: DriveInfo) -> Generator[Step, Answer, None]:
        """The first write, and the rounds."""
        yield from self.before(info)
        yield from self.rounds(info).steps(lambda _: self.job(info))

    def forecast(self, info: DriveInfo, after: Sequence[Step]) -> Forecast:
        """The steps with the usual rounds, or all, after the first write."""
        return self.rounds(info).forecast(lambda _: self.job(info), list(self.before(info)), after)

    def curve(self, record: Record) -> Curve | None:
        """Requests over time while everything was written once."""
        return rates_of(record, self.first)

    def curves(self, record: Record) -> dict[str, Curve]:
        """Requests over time from the purge to the end, by step."""
        labels = (self.label(record.info, number + 1) for number in range(len(self.values(record))))
        known = {label: rates_of(record, label) for label in (self.first, *labels)}
        return {label: curve for label, curve in known.items() if curve is not None}

    def steadiness(self, record: Record, title: str) -> list[Finding]:
        """The steady rate with the figures of both criteria, and by how much it still changes while
        the drive is filled once, by the line through the last rounds."""
        values, window = self.values(record), self.window(record)
        label = self.label(record.info, len(values))
        findings = pts.steadiness(self.battery, label, values, window, title=title)
        if window is None:
            return findings
        teller = Teller(
            battery=self.battery, label=label, title="Change a drive fill, by that line"
        )
        drift = window.each_round * 100 / self.percent
        return [*findings, teller.tell("drift", "", "fraction", drift, beside="steady")]

    def values(self, record: Record) -> list[float]:
        """The rate of each round after the first write."""
        return self.rounds(record.info).values_of(record)

    def window(self, record: Record) -> Window | None:
        """The last five rounds."""
        return window_of(self.values(record))

    def label(self, info: DriveInfo, number: int) -> str:
        """The step of a round."""
        return self.rounds(info).label(number, self.load)

    def written(self, record: Record) -> tuple[int, float]:
        """Bytes and seconds from the purge to the last round."""
        labels = [self.label(record.info, number + 1) for number in range(len(self.values(record)))]
        done = [totals for label in (self.first, *labels) if (totals := totals_of(record, label))]
        return sum(row.bytes for row in done), sum(row.duration_ns for row in done) / 1e9

    def parts(self) -> tuple[Part, Part]:
        """What a budget may leave out."""
        first = Part(title="everything once", labels=(f"{self.battery}/purge", self.first))
        rounds = f"{self.battery}/steady"
        return first, Part(title=UNTIL, labels=(rounds,), needs=(first.title,), begins=True)
