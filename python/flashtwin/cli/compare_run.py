"""`flashtwin compare`: runs side by side, and a regression test with `--fail-on`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin import report
from flashtwin.cli import findings, terminal
from flashtwin.errors import DONE, MISS, shortened
from flashtwin.model import text, units
from flashtwin.model.finding import Finding
from flashtwin.runs.compare import limits as limits_of_findings
from flashtwin.runs.compare.compare import Comparison, Pair, compare
from flashtwin.runs.compare.curves import CurvePair, spark
from flashtwin.runs.compare.latencies import RESOLUTION, SHARES, LatencyPair
from flashtwin.runs.compare.measures import LEAST_PERCENT, Measure, counts, percent_text
from flashtwin.runs.fitted import with_twins
from flashtwin.runs.listing import named

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text


STYLES = {
    "better": "green",
    "worse": "bold red",
    "vanished": "bold red",
    "differs": "yellow",
    "unclear": "yellow",
}
QUIET = ("same", "no value", "not measured")
# Findings and keys of the set-up that a short answer names.
MOST_FINDINGS, MOST_KEYS = 5, 3
NO_FINDINGS = "neither run has findings"
LATENCIES_SHOWN = 12
LATENCY_DIGITS = 3
# Characters of a value of a set-up, and of a hash: as many as tell specs apart.
MOST_SHOWN, HASH_SHOWN = 60, 12


def run(
    runs: tuple[str, ...],
    limits: tuple[str, ...],
    every: bool,
    verbose: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    allowed = limits_of_findings.parse(limits) if limits else None
    stored = named(runs, once=True)
    comparison = compare(with_twins(stored) if len(stored) == 1 else stored, allowed)
    page = None if out is None else report.build(comparison.runs, out, comparison=comparison)
    if as_json:
        terminal.print_json(comparison.document(page))
    else:
        terminal.emit(*(_page(comparison, every) if verbose or every else _brief(comparison)))
        if page is not None:
            terminal.say(f"page: {page}")
    return MISS if comparison.failed else DONE


def _brief(comparison: Comparison) -> list[RenderableType]:
    """What fits on a screen: of each run a line, its largest differences, and where more stands."""
    parts: list[RenderableType] = []
    for pair in comparison.pairs:
        head = f"{pair.name} against {comparison.names[0]}: {_verdicts(pair)}"
        parts.append(terminal.cell(head, "bold"))
        chosen = _largest(pair.measures)
        if chosen:
            parts.append(_measures_table(comparison.names[0], pair, chosen))
        parts += [*_sparks(comparison.names[0], pair), *_failures(pair)]
    parts.append(terminal.cell(_setup_line(comparison)))
    return [
        *parts,
        terminal.cell("-v shows every difference, curve and latency, --all what is alike"),
    ]


def _largest(measures: Sequence[Measure]) -> list[Measure]:
    """The findings that differ most, each in one of its variants; what is worse or better first."""

    def size(measure: Measure) -> tuple[bool, float]:
        judged = measure.verdict in ("worse", "better", "vanished", "appeared")
        return not judged, -abs(measure.percent or 0.0)

    differing = sorted((row for row in measures if row.verdict not in QUIET), key=size)
    names: dict[str, Measure] = {}
    for measure in differing:
        names.setdefault(measure.finding.stem, measure)
    return list(names.values())[:MOST_FINDINGS]


def _measures_table(base: str, pair: Pair, measures: Sequence[Measure]) -> RenderableType:
    """Findings by their titles; with intervals where a line has room for them."""
    columns = [base, pair.name, "difference"]
    for value_text in (findings.value, findings.plain):
        rows = [
            (
                measure.finding.title,
                _side_text(measure.base, value_text),
                _side_text(measure.other, value_text),
                percent_text(measure.percent),
                _verdict(measure),
            )
            for measure in measures
        ]
        table = terminal.table(["", *columns, ""], rows, right=columns)
        if terminal.fits(table):
            break
    return table


def _setup_line(comparison: Comparison) -> str:
    """The set-ups in a line: the first values that differ."""
    setups = comparison.setups
    differing = [row for row in setups.rows if row.key != "hash"] or list(setups.rows)
    if not differing:
        return f"set-up: the same in all of its {setups.same} values"
    rows = []
    for row in differing[:MOST_KEYS]:
        texts: Sequence[str] = ["-" if value is None else value for value in row.values]
        name, texts = row.key, units.readable_sizes(texts)
        if row.key.endswith("_bytes") and all(text.isdigit() for text in texts):
            name = row.key.removesuffix("_bytes")
            texts = [units.readable_size(int(text)) for text in texts]
        first, *others = (shortened(text, HASH_SHOWN * 2) for text in texts)
        rows.append(f"{name} {first} against {' and '.join(others)}")
    more = f"; {len(differing) - len(rows)} more" if len(differing) > len(rows) else ""
    return f"set-up: {', '.join(rows)}{more}"


def _page(comparison: Comparison, every: bool) -> list[RenderableType]:
    parts: list[RenderableType] = [*_setup(comparison)]
    for pair in comparison.pairs:
        parts += _pair(comparison.names[0], pair, every)
    return parts


def _setup(comparison: Comparison) -> list[RenderableType]:
    setups = comparison.setups
    if not setups.rows:
        return [terminal.cell(f"set-up: the same in all of its {setups.same} values")]
    rows = []
    for row in setups.rows:
        values = ["-" if value is None else value for value in row.values]
        if row.key == "hash":
            values = [value[:HASH_SHOWN] for value in values]
        texts = (f"{row.section} {row.key}", *units.readable_sizes(values))
        rows.append([shortened(text, MOST_SHOWN) for text in texts])
    same = f"{setups.same} values of the set-ups are the same"
    return [terminal.table(["set-up", *comparison.names], rows), terminal.cell(same)]


def _pair(base: str, pair: Pair, every: bool) -> list[RenderableType]:
    parts: list[RenderableType] = [terminal.cell(f"\n{pair.name} against {base}", "bold")]
    failed = {failure.measure.id for failure in pair.failures}
    measures = [
        measure
        for measure in pair.measures
        if every or measure.verdict not in QUIET or measure.id in failed
    ]
    if measures:
        parts.append(_measures(base, pair, measures))
    parts.append(terminal.cell(_counts(pair)))
    if pair.curves:
        parts += [_curves(pair.curves), *_sparks(base, pair)]
    return [*parts, *_latencies(pair, every), *_failures(pair)]


def _failures(pair: Pair) -> list[RenderableType]:
    return [
        terminal.cell(
            f"beyond its limit of {failure.limit:g} %: {failure.measure.id},"
            f" {_failed(failure.measure)}",
            "bold red",
        )
        for failure in pair.failures
    ]


def _failed(measure: Measure) -> str:
    if measure.verdict == "vanished":
        return "not found in this run"
    if measure.verdict == "not measured":
        return "not measured in this run"
    if measure.beyond is None:
        return "0 in the first run"
    return f"{percent_text(measure.beyond)} beyond its interval"


def _measures(base: str, pair: Pair, measures: Sequence[Measure]) -> RenderableType:
    columns = [base, pair.name, "difference", "beyond intervals"]
    rows = [
        (
            measure.id,
            _side_text(measure.base, findings.value),
            _side_text(measure.other, findings.value),
            percent_text(measure.percent),
            percent_text(measure.beyond).removeprefix("+"),
            {None: "", True: "overlap", False: "apart"}[measure.overlap],
            _verdict(measure),
        )
        for measure in measures
    ]
    with_all = terminal.table(["finding", *columns, "intervals", "verdict"], rows, right=columns)
    return with_all if terminal.fits(with_all) else _narrow_measures(base, pair, measures)


def _narrow_measures(base: str, pair: Pair, measures: Sequence[Measure]) -> RenderableType:
    """What fits on a narrow terminal: findings under headings of battery and variant, and values
    without intervals where both do not fit. What is left out is in --json."""
    columns = [base, pair.name, "difference"]
    for value_text in (findings.value, findings.plain):
        table = terminal.table(["finding", *columns, "verdict"], right=columns)
        group = ""
        for measure in measures:
            of = f"{measure.finding.battery} {measure.finding.variant}".rstrip()
            if of != group:
                group = of
                table.add_row(terminal.cell(group, "bold"), "", "", "", "")
            sides = (_side_text(side, value_text) for side in (measure.base, measure.other))
            cells = (*sides, percent_text(measure.percent))
            name = terminal.cell(f"  {measure.finding.name}")
            table.add_row(name, *map(terminal.cell, cells), _verdict(measure))
        for column in (*table.columns[:1], *table.columns[3:]):
            column.no_wrap = True
        if terminal.fits(table):
            break
    return table


def _verdict(measure: Measure) -> Text:
    return terminal.cell(measure.verdict, STYLES.get(measure.verdict, ""))


def _side_text(finding: Finding | None, text_of: Callable[[Finding], str]) -> str:
    return "" if finding is None else text_of(finding)


def _counts(pair: Pair) -> str:
    return f"findings: {_verdicts(pair)}" if pair.measures else NO_FINDINGS


def _verdicts(pair: Pair) -> str:
    """How many of each verdict; those that differ first."""
    verdicts = sorted(counts(pair.measures).items(), key=lambda row: row[0] in QUIET)
    return ", ".join(f"{number} {verdict}" for verdict, number in verdicts) or NO_FINDINGS


def _curves(curves: Sequence[CurvePair]) -> RenderableType:
    numbers = ["mean", "typical place", "largest"]
    rows = []
    for pair in curves:
        at = "" if abs(pair.largest) < LEAST_PERCENT else f"{units.readable_number(pair.at_gb)} GB"
        shares = map(percent_text, (pair.percent, pair.typical, pair.largest))
        rows.append((pair.name, *shares, at))
    return terminal.table(["curve", *numbers, "at"], rows, title="", right=numbers)


def _sparks(base: str, pair: Pair) -> list[RenderableType]:
    """The curve that differs most as two lines of blocks; none where no curve differs."""
    most = max(pair.curves, key=lambda curve: curve.typical, default=None)
    if most is None or most.typical < LEAST_PERCENT:
        return []
    top = float(max(most.base.max(), most.other.max()))
    width = max(len(base), len(pair.name))
    lines = ((base, most.base), (pair.name, most.other))
    head = f"{most.name}, up to {units.readable_number(top)} MB/s over {most.gb[-1]:.4g} GB"
    return [
        terminal.cell(head),
        *(terminal.cell(f"{name:<{width}} {spark(rates, top)}") for name, rates in lines),
    ]


def _shift(pair: LatencyPair, share: float, *, percent: bool = True) -> str:
    before, after = (
        text.quantity(side[share] / 1000, "us", LATENCY_DIGITS) for side in (pair.base, pair.other)
    )
    return f"{before} to {after}" + (f", {percent_text(pair.shift(share))}" if percent else "")


def _latency_table(
    latencies: Sequence[LatencyPair], shares: Sequence[float], *, percent: bool
) -> Table:
    columns = [f"p{share:g}" for share in shares]
    rows = [
        (
            f"{latency.label}, {latency.direction}",
            *(_shift(latency, share, percent=percent) for share in shares),
        )
        for latency in latencies
    ]
    return terminal.table(["latency", *columns], rows, title="", right=columns)


def _latencies(pair: Pair, every: bool) -> list[RenderableType]:
    moved = [latency for latency in pair.latencies if every or latency.largest > RESOLUTION]
    moved.sort(key=lambda latency: -latency.largest)
    latencies = moved if every else moved[:LATENCIES_SHOWN]
    if not latencies:
        return []
    wide = _latency_table(latencies, SHARES, percent=True)
    narrow = _latency_table(latencies, (SHARES[0], SHARES[-1]), percent=False)
    parts: list[RenderableType] = [wide if terminal.fits(wide) else narrow]
    if hidden := len(moved) - len(latencies):
        parts.append(terminal.cell(f"{hidden} more shift: --all shows them"))
    return parts
