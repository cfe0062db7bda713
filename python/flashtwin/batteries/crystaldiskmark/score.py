"""How CrystalDiskMark and KDiskMark turn the runs of a cell into numbers (trust S for both).

CrystalDiskMark 9: the score is the maximum over the scored runs in 10^6 bytes a second, the latency
the minimum of their means. KDiskMark: means of both, and MB/s is KiB/s / 1000. `low` and `high` are
the range over the scored runs, not a confidence interval: two to nine runs of 5 s carry none.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Literal

from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.units import show_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtwin.model.step import JobTotals

Direction = Literal["read", "write", "mix"]
DIRECTIONS: tuple[Direction, ...] = ("read", "write", "mix")
BATTERY_NAME = "crystaldiskmark"
HEADLINES = tuple((way, cell) for cell in ("SEQ1M-Q8T1", "RND4K-Q1T1") for way in ("read", "write"))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One row of the tool's window, spelled SEQ1M-Q8T1."""

    sequential: bool
    block_bytes: int
    depth: int
    threads: int

    def __str__(self) -> str:
        return f"{self.access}-Q{self.depth}T{self.threads}"

    @property
    def access(self) -> str:
        """Order and block size: SEQ1M."""
        return f"{'SEQ' if self.sequential else 'RND'}{show_block(self.block_bytes).upper()}"

    @property
    def title(self) -> str:
        """As the tool's window has it: SEQ1M Q8T1."""
        return f"{self.access} Q{self.depth}T{self.threads}"


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """`mean`: KDiskMark's way; otherwise CrystalDiskMark's."""

    mean: bool = False

    @property
    def bytes_a_mb(self) -> float:
        """What the tool calls an MB."""
        return 1024 * 1000 if self.mean else 1e6

    def note(self, best: str) -> str:
        """What the number is, for the reader; `best` is what CrystalDiskMark takes."""
        meaning = f"the {best} of the scored runs"
        if self.mean:
            meaning = "KDiskMark: the mean of the runs, MB of 1,024,000 bytes"
        return f"{meaning}; low to high is the range of the runs"


def score(
    cell: Cell,
    direction: Direction,
    runs: Sequence[tuple[str, JobTotals]],
    scoring: Scoring,
) -> list[Finding]:
    """Speed, rate and latency of a cell out of its scored runs, given as (step label, totals)."""
    completed = [(label, totals) for label, totals in runs if totals.ios and totals.duration_ns]
    if not completed:
        return []
    seconds = [totals.duration_ns / 1e9 for _, totals in completed]
    pairs = list(zip(completed, seconds, strict=True))
    speeds = [totals.bytes / scoring.bytes_a_mb / s for (_, totals), s in pairs]
    rates = [totals.ios / s for (_, totals), s in pairs]
    means = [totals.latency_mean_ns / 1000 for _, totals in completed]
    labels = [label for label, _ in completed]
    failed = sum(totals.errors for _, totals in completed)
    errors = f"{failed} requests failed; " if failed else ""
    best = max(range(len(speeds)), key=speeds.__getitem__)
    quickest = min(range(len(means)), key=means.__getitem__)
    title = f"{cell.title} {direction}"

    def finding(suffix: str, quantity: str, unit: str, values: list[float], at: int) -> Finding:
        best_is = "least mean" if unit == "us" else "highest"
        return Finding(
            battery=BATTERY_NAME,
            name=direction + suffix,
            variant=str(cell),
            title=title + quantity,
            value=fsum(values) / len(values) if scoring.mean else values[at],
            unit=unit,
            interval=Interval(low=min(values), high=max(values), means="range"),
            beside=direction if suffix else None,
            headline=not suffix and (direction, str(cell)) in HEADLINES,
            evidence=Evidence(
                battery=BATTERY_NAME, label=labels[at], axis="cell", start=0.0, end=0.0
            ),
            note=errors + scoring.note(best_is),
        )

    return [
        finding("", "", "MB/s", speeds, best),
        finding(".latency", ", latency", "us", means, quickest),
        finding(".iops", ", rate", "IOPS", rates, best),
    ]
