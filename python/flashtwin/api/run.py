"""Runs as a program has them: findings by name, everything measured as polars frames, charts.

It reads the run directory when something is asked for, and keeps what it read. In a notebook it
shows itself: what it is, its findings, and its curves in outline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from flashtwin.arguments import checked
from flashtwin.charts.chart import Chart
from flashtwin.cli import findings, terminal
from flashtwin.cli.findings import value
from flashtwin.errors import USAGE, FlashtwinError, UnknownNameError
from flashtwin.model.findings import Findings
from flashtwin.model.histogram import percentiles
from flashtwin.model.step import NotPossible, Result
from flashtwin.report import build
from flashtwin.report.notebook import latencies, outline, speeds
from flashtwin.runner.conclude import reconclude
from flashtwin.runs import tables
from flashtwin.runs.compare.compare import Comparison, compare
from flashtwin.runs.export.export import Format, export
from flashtwin.runs.fitted import with_twins
from flashtwin.runs.rundir import Run as Stored

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a test of one target left behind; `ft.test` and `ft.load_run` make one.

    `stored` is the run directory itself, for what is not here.
    """

    stored: Stored

    @property
    def path(self) -> Path:
        """The run directory."""
        return self.stored.path

    @property
    def target(self) -> str:
        """The name of what was tested."""
        return str(self.stored.target["name"])

    @property
    def state(self) -> str:
        """ "finished", "interrupted", "failed", or "running" where it never got to say."""
        return self.stored.state

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.stored.manifest["seed"])

    @property
    def manifest(self) -> dict[str, Any]:
        """What was asked for: target with its whole spec, batteries, seed, version."""
        return self.stored.manifest

    @cached_property
    def findings(self) -> Findings:
        """What was concluded: a sequence that also answers to names, findings["cache_size"]."""
        return self.stored.findings

    @checked
    def conclude(self, *, write: bool = False) -> Findings:
        """The findings again, with today's analysis of what was measured; `write` stores them."""
        findings = reconclude(self.stored, write=write).findings
        if write:
            self.__dict__.pop("findings", None)
        return findings

    @cached_property
    def series(self) -> pl.DataFrame:
        """What the host saw, a row an interval and direction; see docs/reference/python.md."""
        return tables.series(self.stored).polars()

    @cached_property
    def hist(self) -> pl.DataFrame:
        """Latency counts in fio's buckets by step and direction."""
        return tables.hist(self.stored).polars()

    @cached_property
    def steps(self) -> pl.DataFrame:
        """A row a step."""
        return tables.steps(self.stored).polars()

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """A row a job of each step."""
        return tables.jobs(self.stored).polars()

    @cached_property
    def per_gb(self) -> pl.DataFrame:
        """How long each GB took."""
        return tables.per_gb(self.stored).polars()

    @cached_property
    def meter(self) -> pl.DataFrame:
        """Watts and degrees, a row a sample of a meter; no row where there was none."""
        return tables.meter(self.stored).polars()

    @cached_property
    def xray(self) -> pl.DataFrame:
        """The inside of a twin over time; no row for a real drive."""
        return tables.xray(self.stored).polars()

    @checked
    def smart(self, when: Literal["before", "after"] = "after") -> dict[str, Any]:
        """The drive's SMART data, where the drive has them."""
        return self.stored.smart(when)

    @checked
    def result(self, label: str) -> Result | NotPossible:
        """A step as the drive answered it, in arrays; the answer of a chain has each part's in
        `parts`."""
        return self.stored.result(self._step(label))

    @checked
    def percentiles(
        self, label: str, direction: str = "write", shares: Sequence[float] = (50, 99, 99.9)
    ) -> dict[float, float]:
        """Microseconds below which a percentage of a step's requests lies."""
        counts = self.stored.hist(self._step(label)).get(direction)
        if counts is None:
            return {}
        return {share: ns / 1000 for share, ns in percentiles(counts, shares).items()}

    @checked
    def report(self, out: str | Path | None = None) -> Path:
        """Write the HTML page, by default report.html in the run directory; a twin that was fitted
        to the run is on it."""
        runs = with_twins([self.stored])
        if out is not None:
            return build(runs, Path(out))
        return build(runs, self.path / "report.html", within=self.path)

    @checked
    def export(self, form: Format, out: str | Path) -> list[Path]:
        """Write the tables ("csv", "parquet") or fio's JSON ("fio-json") into a new directory."""
        return export(self.stored, form, Path(out))

    @checked
    def compare(self, *others: Run) -> Comparison:
        """Hold other runs against this one."""
        return compare([self.stored, *(run.stored for run in others)])

    @checked
    def chart(self, label: str | None = None, *, over: Literal["gb", "s"] = "gb") -> Chart:
        """Speed over data or time: of one step, or of every step that is a curve."""
        return speeds(tables.series(self.stored), label, over)

    @checked
    def latency_chart(self, label: str | None = None) -> Chart:
        """The share of requests below each latency, of one step or of all."""
        return latencies(tables.hist(self.stored), label)

    def _step(self, label: str) -> int:
        step = self.stored.step(label)
        if step is None:
            labels = [step.label for step in self.stored.steps if step.kind == "run"]
            raise FlashtwinError(
                f"no step is called {label}",
                hint=f"there are {', '.join(labels[:8])}",
                exit_code=USAGE,
            )
        return step.step

    def table(self) -> pl.DataFrame:
        """A row a finding."""
        return tables.findings(self.stored).polars()

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, {self.target}, {self.state})"

    def __str__(self) -> str:
        """What `print` shows: the findings as the command line has them."""
        head = f"{self.target}: {self.state}, seed {self.seed}, in {self.path}"
        return f"{head}\n{_tables({self.target: self.findings})}"

    def _repr_html_(self) -> str:
        head = f"<p><b>{escape(self.target)}</b>, {escape(self.state)}, seed {self.seed}<br>"
        place = f"<code>{escape(str(self.path))}</code></p>"
        return head + place + outline(tables.series(self.stored)) + self.findings._repr_html_()

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """For notebooks, in all the forms that they choose from."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


@dataclass(frozen=True, kw_only=True)
class Runs(Sequence[Run]):
    """The runs in a folder, in the order of their targets; text as an index is a run's name.

    A name is that of the run's directory: the target's, with `~2` for the second of a name.
    """

    path: Path
    runs: tuple[Run, ...]

    @overload
    def __getitem__(self, index: int | str) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Run, ...]: ...

    def __getitem__(self, index: int | str | slice) -> Run | tuple[Run, ...]:
        if not isinstance(index, str):
            return self.runs[index]
        run = next((run for run in self.runs if run.path.name == index), None)
        if run is None:
            hint = f"there are {', '.join(self.keys())}"
            raise UnknownNameError(f"no run is called {index}", hint=hint)
        return run

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def keys(self) -> list[str]:
        """The names, in order."""
        return [run.path.name for run in self.runs]

    def items(self) -> list[tuple[str, Run]]:
        """Names with runs, in order."""
        return [(run.path.name, run) for run in self.runs]

    @property
    def findings(self) -> dict[str, Findings]:
        """The findings of each run, by the run's name."""
        return {name: run.findings for name, run in self.items()}

    @checked
    def values(self, finding: str) -> list[float | str | None]:
        """The value of a finding in each run; none where a run has none of it."""
        there = [run.findings.get(finding) for run in self.runs]
        return [None if finding is None else finding.value for finding in there]

    def table(self) -> pl.DataFrame:
        """A row a finding of each run: `run`, then the columns of a run's own table."""
        polars = tables.need_polars()
        frames = [
            run.table().select(polars.lit(name).alias("run"), polars.all())
            for name, run in self.items()
        ]
        joined: pl.DataFrame = polars.concat(frames)
        return joined

    def compare(self) -> Comparison:
        """Hold all of them against the first."""
        return self.runs[0].compare(*self.runs[1:])

    @checked
    def report(self, out: str | Path | None = None) -> Path:
        """Write the HTML page of all, by default report.html in their folder."""
        stored = [run.stored for run in self.runs]
        if out is not None:
            return build(stored, Path(out))
        return build(stored, self.path / "report.html", within=self.path)

    def __repr__(self) -> str:
        return f"Runs({str(self.path)!r}, {', '.join(self.keys())})"

    def __str__(self) -> str:
        """What `print` shows: the findings side by side."""
        return f"{len(self)} runs in {self.path}\n{_tables(self.findings)}"

    def _repr_html_(self) -> str:
        """Findings side by side, for a notebook."""
        ids = list(dict.fromkeys(finding.id for run in self.runs for finding in run.findings))
        head = "".join(f"<th>{escape(name)}</th>" for name in ("finding", *self.keys()))
        rows = "".join(
            f"<tr><td>{escape(name)}</td>"
            + "".join(_cell(run.findings, name) for run in self.runs)
            + "</tr>"
            for name in ids
        )
        place = f"<p>{len(self)} runs in <code>{escape(str(self.path))}</code></p>"
        return f"{place}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """For notebooks, in all the forms that they choose from."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _cell(findings: Findings, name: str) -> str:
    """A value with its interval; the note is what the pointer shows."""
    finding = next((finding for finding in findings if finding.id == name), None)
    if finding is None:
        return "<td></td>"
    return f"<td title='{escape(finding.note or '')}'>{escape(value(finding))}</td>"


def _tables(by_run: Mapping[str, Findings]) -> str:
    return terminal.rendered(*findings.tables(by_run))
