"""Questions of many runs: a grid of drives, and what is stored.

`sweep` and `runs` do what the commands of these names do, and give back values in place of tables
on a terminal.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, overload

from flashtwin.api.calls import scale_text
from flashtwin.api.progress import Progress, progress_shown
from flashtwin.api.run import Run
from flashtwin.api.twin import as_sets, as_words
from flashtwin.arguments import checked
from flashtwin.charts.chart import Chart
from flashtwin.model import text
from flashtwin.model.findings import Findings
from flashtwin.model.units import readable_number
from flashtwin.report.notebook import over_points
from flashtwin.runner.events import counted
from flashtwin.runs import tables
from flashtwin.runs.query import runs as runs

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a sweep: what was set, and the run, or why there is none."""

    settings: Mapping[str, str]
    run: Run | None
    error: str | None = None

    @property
    def findings(self) -> Findings:
        """What the run found; nothing where there is none."""
        return self.run.findings if self.run else Findings()


@dataclass(frozen=True, kw_only=True)
class Sweep(Sequence[Point]):
    """The points of a sweep in the order of its grid; `path` is its directory.

    There lie `table.csv`, a row a point, and `report.html`. `repeated` points were there before.
    """

    path: Path
    points: tuple[Point, ...]
    repeated: int = 0

    @overload
    def __getitem__(self, index: int) -> Point: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Point, ...]: ...

    def __getitem__(self, index: int | slice) -> Point | tuple[Point, ...]:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    @property
    def failures(self) -> tuple[Point, ...]:
        """The points without a result."""
        return tuple(point for point in self.points if point.run is None)

    @checked
    def values(self, finding: str) -> list[float | str | None]:
        """A finding's value at each point, in order; none where a point has none."""
        at_points = [point.findings.get(finding) for point in self.points]
        return [None if at_point is None else at_point.value for at_point in at_points]

    def rows(self, *names: str) -> list[dict[str, float | str | None]]:
        """A row a point: what was set, the values of these findings (by default of the headlines
        of the first point that has any), and why there is none."""
        chosen = names or self._headlines()
        return [
            {
                **point.settings,
                **{
                    name: None if (row := point.findings.get(name)) is None else row.value
                    for name in chosen
                },
                **({"error": point.error} if point.error else {}),
            }
            for point in self.points
        ]

    def _headlines(self) -> tuple[str, ...]:
        known = next((point.findings for point in self.points if point.findings), Findings())
        return tuple(finding.id for finding in known if finding.headline)

    def table(self, *names: str) -> pl.DataFrame:
        """`rows` as a table of polars."""
        return tables.of_rows(self.rows(*names))

    @checked
    def chart(self, finding: str | None = None) -> Chart:
        """A finding over what was varied, by default the first of the table: a point each, in the
        order of the grid."""
        finding = finding or next(iter(self._headlines()), "")
        points = [
            (", ".join(f"{key}={value}" for key, value in point.settings.items()), row.number)
            for point in self.points
            if (row := point.findings.get(finding)) is not None and row.number is not None
        ]
        unit = next((row.unit for point in self.points if (row := point.findings.get(finding))), "")
        return over_points(points, f"{finding} ({unit})" if unit else finding)

    def __str__(self) -> str:
        """A row a point, for `print`."""
        rows = self.rows()
        heads = list(dict.fromkeys(key for row in rows for key in row))
        return text.table(heads, [[_cell(row.get(head)) for head in heads] for row in rows])

    def _repr_html_(self) -> str:
        """A table, for a notebook."""
        rows = self.rows()
        heads = list(dict.fromkeys(key for row in rows for key in row))
        head = "".join(f"<th>{escape(name)}</th>" for name in heads)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(row.get(name)))}</td>" for name in heads) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        return f"Sweep({str(self.path)!r}, {len(self)} points, {len(self.failures)} failed)"


def _cell(value: float | str | None) -> str:
    """A value of a row, as people read it."""
    if value is None:
        return text.MISSING
    return value if isinstance(value, str) else readable_number(value, text.DIGITS)


@checked
def sweep(
    drive: str | Path,
    vary: Mapping[str, str | Iterable[object]],
    *,
    battery: str | None = None,
    seed: int = 1,
    firmware: str | Sequence[str] = (),
    sets: Mapping[str, object] | Sequence[str] | None = None,
    scale: str | float | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    report: bool = True,
    progress: Progress = None,
) -> Sweep:
    """Run a battery over a grid of a drive's variants: what `flashtwin sweep` does.

    `vary` has the values of each key: a list, or text as on the command line ("6GB..48GB/8"). A key
    is one of the spec, `op`, `firmware` or `seed`. `battery`: by default the first of those that
    `test` runs. `jobs` are points at once, by default one a
    processor; `cluster` is the address of a Dask scheduler. Points that are finished in `out` are
    not run again. `progress` as of `test`; a function is called as each point is over.
    A point that fails has an `error`; raises `Interrupted` where it was stopped.
    """
    from flashtwin.batteries.base import registry
    from flashtwin.study.sweep.executors import executor_of
    from flashtwin.study.sweep.grid import axes
    from flashtwin.study.sweep.plan import Plan
    from flashtwin.study.sweep.run import Silent
    from flashtwin.study.sweep.run import sweep as carried_out

    class Points(Silent):
        """Tells how many points are over."""

        def ended(self, result: int, total: int, name: str, failure: object) -> None:
            observer.progress(counted("sweep", result, total, name, began_s))

    plan = Plan(
        drive=str(drive),
        batteries=battery or registry.standard()[0],
        axes=tuple(axes([f"{key}={_values(values)}" for key, values in vary.items()])),
        seed=seed,
        sets=as_sets(sets),
        firmware=as_words(firmware),
        scale=scale_text(scale),
    )
    where = plan.default_out(datetime.now()) if out is None else Path(out)
    began_s = time.monotonic()
    with progress_shown(progress, None) as observers:
        observer = observers("sweep")
        result = carried_out(plan, where, executor=executor_of(jobs, cluster), watcher=Points())
    if report:
        from flashtwin.report import sweep as page

        page.build(result, where)
    points = tuple(
        Point(
            settings=dict(row.settings),
            run=None if row.run is None else Run(stored=row.run),
            error=None if row.failure is None else row.failure.message,
        )
        for row in result.rows
    )
    return Sweep(path=where, points=points, repeated=result.repeated)


def _values(values: str | Iterable[object]) -> str:
    return values if isinstance(values, str) else ",".join(map(str, values))
