"""Runs of several targets, as a program has them: one after another, by name, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, overload

from flashtwin.api.run import Run
from flashtwin.model.findings import Findings

if TYPE_CHECKING:
    import polars as pl

    from flashtwin.model.finding import Finding
    from flashtwin.runs.compare.compare import Comparison


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
        found = next((run for run in self.runs if run.path.name == index), None)
        if found is None:
            raise KeyError(f"no run is called {index}; there are {', '.join(self.keys())}")
        return found

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
    def findings(self) -> pl.DataFrame:
        """A row a finding of each run: `run`, then the columns of `Finding`."""
        from flashtwin.runs import tables

        tables.need_polars()
        import polars as pl

        frames = [
            tables.findings(run.stored).polars().select(pl.lit(name).alias("run"), pl.all())
            for name, run in self.items()
        ]
        return pl.concat(frames)

    def compare(self) -> Comparison:
        """Hold all of them against the first."""
        return self.runs[0].compare(*self.runs[1:])

    def report(self, out: str | Path | None = None) -> Path:
        """Write the HTML page of all, by default report.html in their folder."""
        from flashtwin.report import build

        stored = [run.stored for run in self.runs]
        if out is not None:
            return build(stored, Path(out))
        return build(stored, self.path / "report.html", within=self.path)

    def __repr__(self) -> str:
        return f"Runs({str(self.path)!r}, {', '.join(self.keys())})"

    def _repr_html_(self) -> str:
        """Findings side by side, for a notebook."""
        ids = list(dict.fromkeys(one.id for run in self.runs for one in run.findings))
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
    one = next((one for one in findings if one.id == name), None)
    if one is None:
        return "<td></td>"
    return f"<td title='{escape(one.note or '')}'>{escape(_text(one))}</td>"


def _text(one: Finding) -> str:
    if isinstance(one.value, str):
        return one.value
    if one.value is None:
        return "\u2013"
    interval = ""
    if one.low is not None and one.high is not None and one.high > one.low:
        interval = f" ({one.low:.4g} to {one.high:.4g})"
    return f"{one.value:.4g}{interval} {one.unit}".rstrip()
