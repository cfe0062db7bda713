"""What the tests of SNIA's PTS 2.0 have in common: their clauses, cells over the last five rounds.

PTS-2.0-like, with no claim of conformance: all of it is taken from public implementations that
quote the standard (trust P), and each battery's page says clause by clause what is followed. A
run that never was steady says so with every finding. Rounds are those of `base.rounds`, and what
is steady `analysis.steady` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtwin.analysis.steady import RISE, WINDOW
from flashtwin.batteries.base.registry import PREPARATION, Part
from flashtwin.batteries.base.rounds import way_of
from flashtwin.model.finding import Better, Evidence, Finding, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashtwin.analysis.steady import Window
    from flashtwin.batteries.base.loads import Load
    from flashtwin.model.step import JobTotals
    from flashtwin.model.target import DriveInfo


def rate(totals: JobTotals) -> float:
    """Requests a second."""
    return totals.ios * 1e9 / totals.duration_ns


def latency_us(totals: JobTotals) -> float:
    """The mean latency of a request."""
    return totals.latency_mean_ns / 1000


def departs(parameters: object, info: DriveInfo) -> list[str]:
    """How a run departs from the original."""
    departures = []
    if not info.can.purge:
        departures.append(f"{info.name} cannot be erased: it is filled as it is")
    if not info.can.whole_drive:
        departures.append("a part of a drive is measured, beside which other data lie")
    return departures


def round_parts(stem: str, rounds: int, preparation: str = PREPARATION) -> list[Part]:
    """What a budget may leave out: the preparation, then round after round of the label `stem`."""
    first = Part(title=preparation, labels=(f"{stem}/prepare",))
    titles = [
        f"round {number}" if "/" not in stem else f"{stem.rpartition('/')[2]} round {number}"
        for number in range(1, rounds + 1)
    ]
    return [
        first,
        *(
            Part(
                title=title,
                labels=(f"{stem}/round-{number}",),
                needs=(first.title, *titles[: number - 1]),
                begins=True,
            )
            for number, title in enumerate(titles, 1)
        ),
    ]


def marked(
    findings: Iterable[Finding], values: Sequence[float], window: Window | None
) -> list[Finding]:
    """Findings of rounds; where the rounds ended before they were steady, each has a note of
    that."""
    if window is not None and window.steady:
        return list(findings)
    return [finding.noted(f"not steady after {len(values)} rounds") for finding in findings]


def still_moving(window: Window) -> str | None:
    """The note of a value that only just is steady by both criteria."""
    if not window.moves:
        return None
    way = "falling" if window.trend < 0 else "rising"
    return (
        f"still {way}: {100 * window.rise:.1f} % over the last {WINDOW} rounds,"
        f" {100 * float(RISE):.0f} % are allowed"
    )


def cell(battery: str, load: Load, window: Sequence[JobTotals], label: str) -> list[Finding]:
    """Rate, speed and latency of a cell: means over the rounds, with the range of the rounds."""
    if not window:
        return []
    rates = [rate(totals) for totals in window]
    latencies = [latency_us(totals) for totals in window]
    way = way_of(load)
    rows: tuple[tuple[str, str, list[float], str | None], ...] = (
        (way, "MB/s", [value * load.block_bytes / 1e6 for value in rates], None),
        (f"{way}.latency", "us", latencies, way),
        (f"{way}.iops", "IOPS", rates, way),
    )
    return [
        Finding(
            battery=battery,
            name=name,
            variant=load.access,
            title=cell_title(load),
            value=sum(values) / len(values),
            unit=unit,
            interval=Interval.of(min(values), max(values), "range"),
            beside=next_to,
            evidence=Evidence(battery=battery, label=label, axis="cell", start=0.0, end=0.0),
        )
        for name, unit, values, next_to in rows
    ]


def cell_title(load: Load) -> str:
    """Order, size and way of a cell: RND4K 65 % read."""
    way = f"{load.read_percent} % read" if load.way == "mix" else load.way
    return f"{load.access} {way}"


def steadiness(
    battery: str,
    label: str,
    values: Sequence[float],
    window: Window | None,
    *,
    title: str,
    unit: str = "IOPS",
    better: Better = "higher",
    scale: float = 1.0,
    variant: str = "",
) -> list[Finding]:
    """The tracked value over the window, times `scale`, and the figures of both criteria."""

    def finding(
        name: str, title: str, unit: str, value: float, better: Better | None = None
    ) -> Finding:
        return Finding(
            battery=battery,
            name=name,
            variant=variant,
            title=title,
            value=value,
            unit=unit,
            better=better,
            beside=None if name == "steady" else "steady",
            headline=name == "steady",
            evidence=Evidence(battery=battery, label=label, axis="seconds", start=0.0, end=0.0),
        )

    rounds = finding("rounds", "Rounds that ran", "", len(values))
    if window is None:
        return [rounds]
    steady = finding("steady", title, unit, window.mean * scale, better)
    note = still_moving(window)
    return [
        steady.noted(note) if note else steady,
        rounds,
        finding(
            "excursion", "Highest minus lowest round, of the mean", "fraction", window.excursion
        ),
        finding("rise", "Line through the rounds, of the mean", "fraction", window.rise),
    ]
