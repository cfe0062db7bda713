"""The live block on a terminal: a run in two lines, under them what was found last.

    bx500-240  fill/128k-q32/pass-1       ━━━━━━━━━╸━━━━━━━━━━  43 %  2 min left
               step 2 of 61  109.8 MB/s ▇▇▇▃▃▃▂▂▂▂
                  Speed in the SLC cache  461 MB/s

Invariants: nothing is wider than the terminal and the block is not higher (then a run has one line,
and the last runs are counted only); what is over keeps one line; without Unicode there is no graph.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from flashtwin.cli import findings, terminal
from flashtwin.model import units
from flashtwin.runner.events import Status

if TYPE_CHECKING:
    from flashtwin.model.finding import Finding

LEVELS = " ▁▂▃▄▅▆▇█"
REFRESHED = 8
# Rates that are kept, one each half a second: the last twelve seconds.
RATES, RATE_EVERY_S = 24, 0.5
FINDINGS_ALONE, FINDINGS_TOGETHER = 4, 1


@dataclass
class Line:
    """One run as it is shown."""

    name: str
    status: Status | None = None
    over: bool = False
    rates: deque[float] = field(default_factory=lambda: deque(maxlen=RATES))
    rated_at: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    def moved(self, status: Status) -> None:
        """The run is there now."""
        before, self.status = self.status, status
        if before is None or before.label != status.label:
            self.rates.clear()
        now = time.monotonic()
        if now - self.rated_at >= RATE_EVERY_S and status.rate_bytes_s:
            self.rated_at = now
            self.rates.append(status.rate_bytes_s)


class Block:
    """The runs, on the console while the block is open."""

    def __init__(self, console: Console) -> None:
        self.lines: list[Line] = []
        self.live = Live(
            self, console=console, refresh_per_second=REFRESHED, vertical_overflow="crop"
        )

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        room = max(options.size.height - 1, 1)
        going = [line for line in self.lines if line.status and not line.over]
        findings_each = FINDINGS_ALONE if len(going) == 1 else FINDINGS_TOGETHER
        for each in (findings_each, 0, None):
            rows = sum(self._height(line, each) for line in self.lines)
            if rows <= room:
                break
        lines, hidden = self.lines, 0
        if rows > room:
            # Those under way first; the others are counted.
            first = sorted(self.lines, key=lambda line: line not in going)
            lines, hidden = first[: room - 1], len(first) - room + 1
        named = min(max(map(len, (line.name for line in lines)), default=0), options.max_width // 3)
        for line in lines:
            yield _first_row(line, named)
            if each is not None and line.status and not line.over:
                yield from _rows(line, each, named + 1, options.ascii_only)
        if hidden:
            yield Text(f"and {hidden} more")

    def _height(self, line: Line, most_findings: int | None) -> int:
        if most_findings is None or line.over or line.status is None:
            return 1
        return 1 + bool(_under(line.status)) + min(len(line.findings), most_findings)


def _first_row(line: Line, named: int) -> RenderableType:
    """A run's name, what it does, how far it is; the columns of all runs stand under each other."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(no_wrap=True, overflow="ellipsis", width=named)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column(ratio=2)
    table.add_column(no_wrap=True, justify="right", width=5)
    table.add_column(no_wrap=True, justify="right", width=11)
    table.add_row(terminal.cell(line.name), *_cells(line))
    return table


def _cells(line: Line) -> tuple[Text, ProgressBar, Text, Text]:
    status = line.status
    if line.over:
        text = f"done, {terminal.counted_findings(len(line.findings))}" if line.findings else "done"
        spent = units.rough_seconds(status.elapsed_s) if status else ""
        return Text(text), _bar(1.0), Text("100 %"), Text(spent)
    if status is None:
        return Text("waits", "dim"), _bar(0.0), Text("0 %"), Text("")
    remaining = "" if status.eta_s is None else f"{units.rough_seconds(status.eta_s)} left"
    percent = Text(f"{100 * status.fraction:.0f} %")
    return terminal.cell(status.label), _bar(status.fraction), percent, Text(remaining)


def _bar(fraction: float) -> ProgressBar:
    return ProgressBar(total=1.0, completed=fraction)


def _rows(line: Line, most_findings: int, indent: int, ascii_only: bool) -> Iterator[Text]:
    """Under a run: where it is, how fast, and its last findings."""
    assert line.status is not None, "a run that waits has one row"
    under = _under(line.status)
    if under:
        graph = "" if ascii_only else f" {sparkline(line.rates)}"
        yield _indented(under + graph, indent, "cyan")
    for finding in line.findings[len(line.findings) - min(most_findings, len(line.findings)) :]:
        yield _indented(f"{finding.title}  {findings.value(finding)}", indent, "dim")


def _indented(text: str, indent: int, style: str) -> Text:
    return Text(" " * indent + text.rstrip(), style, no_wrap=True, overflow="ellipsis")


def _under(status: Status) -> str:
    if status.kind == "part":
        return ""
    step = f"step {status.step + 1} of {status.steps}"
    if not status.rate_bytes_s:
        return step
    return f"{step}  {units.readable_size(round(status.rate_bytes_s))}/s"


def sparkline(rates: Sequence[float]) -> str:
    """Rates from nothing to the highest of them."""
    most = max(rates, default=0.0)
    if len(rates) < 2 or not most:
        return ""
    steps = len(LEVELS) - 1
    return "".join(LEVELS[round(rate / most * steps)] for rate in rates)
