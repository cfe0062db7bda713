"""The page of a fill that somebody else measured: the answer, the curve, and what was found.

The curve is over what was written, with the level of each plateau; the numbers are those of the
answer and of the file, nothing is concluded here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from flashtwin.charts import figures
from flashtwin.charts.numbers import compact
from flashtwin.model.finding import Finding
from flashtwin.model.shares import Share, shares_of, told
from flashtwin.model.text import Shown
from flashtwin.report.answer import Answer, Figure, Table, write
from flashtwin.study.infer.infer import Inferred
from flashtwin.study.infer.samples import Samples

# Points of the curve; neighbours are averaged.
MOST_POINTS = 1500
LINES = ("measured", "plateau")


def save(answer: Inferred, samples: Samples | None, files: Sequence[Path], out: Path) -> None:
    """Write the page of an answer on these files."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    write(page_of(answer, samples, f"{files[0].name}{more}"), out)


def page_of(answer: Inferred, samples: Samples | None, name: str) -> Answer:
    """The page; figures of a program that measures no series have no curve."""
    sentence, *notes = (
        f"{text[:1].upper()}{text[1:]}."
        for text in (answer.sentence, f"columns: {answer.columns}", *answer.notes)
    )
    return Answer(
        kind="Fill measured elsewhere",
        title=name,
        sentences=(sentence,),
        figures=() if samples is None else tuple(_curve(answer, samples)),
        tables=tuple(_tables(answer)),
        bars=tuple(_bars(answer.findings)),
        notes=tuple(notes),
    )


def _curve(answer: Inferred, samples: Samples) -> Iterator[Figure]:
    """Speed over what was written, in as many stretches as the eye parts, and the plateaus."""
    written = np.concatenate([[0.0], np.cumsum(samples.size)])
    if written[-1] <= 0:
        return
    times = np.concatenate([[0.0], np.cumsum(samples.dt_s)])
    cuts = np.unique(np.linspace(0, len(samples.size), MOST_POINTS + 1).round().astype(int))
    spent = np.maximum(np.diff(times[cuts]), 1e-9)
    rates = compact(np.diff(written[cuts]) / spent / 1e6)
    places = compact(written[cuts] / 1e9, 7)
    points = [
        {"x": x, "y": y, "line": LINES[0], "n": n}
        for n, (x, y) in enumerate(zip(places, [*rates, rates[-1]], strict=True))
    ]
    ends = [
        {"x": at / 1e9, "y": round(speed.value / 1e6, 3), "line": LINES[1], "n": 2 * n + k}
        for n, (start, end, speed) in enumerate(answer.plateaus)
        for k, at in enumerate((start, end))
    ]
    lines = LINES if ends else LINES[:1]
    chart = figures.overlaid([*points, *ends], lines, "data written (GB)")
    yield Figure(title="Speed over data written", lines=lines, chart=chart)


def _tables(answer: Inferred) -> Iterator[Table]:
    if answer.plateaus:
        yield Table(
            title="Plateaus",
            head=("from GB", "to GB", "MB/s", "95 %"),
            rows=[
                (
                    f"{start / 1e9:,.4g}",
                    f"{end / 1e9:,.4g}",
                    f"{speed.value / 1e6:,.4g}",
                    _ends(speed.low, speed.high),
                )
                for start, end, speed in answer.plateaus
            ],
        )
    if answer.findings:
        yield Table(title="Findings", head=("finding", "value"), rows=list(_rows(answer.findings)))
    if answer.figures:
        yield Table(
            title="Figures",
            head=("figure", "value", "unit"),
            rows=[(row.name, f"{row.value:,.6g}", row.unit) for row in answer.figures],
        )


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """A row a finding, but for those that are parts of a bar."""
    in_bars = {share.finding.id for of in shares_of(findings).values() for share in of}
    for finding in findings:
        if finding.id not in in_bars:
            yield _title(finding), Shown.of(finding).text


def _bars(findings: Sequence[Finding]) -> Iterator[tuple[str, tuple[Share, ...]]]:
    titles = {finding.id: _title(finding) for finding in findings}
    for choice, shares in shares_of(findings).items():
        yield f"{titles[choice]}: how probable", tuple(told(shares))


def _title(finding: Finding) -> str:
    return finding.title.partition(" [")[0]


def _ends(low: float | None, high: float | None) -> str:
    ends = ["" if end is None else f"{end / 1e6:,.4g}" for end in (low, high)]
    return " to ".join(ends) if any(ends) else ""
