"""The run directory: what a test of one target leaves behind, written step by step and read back.

    manifest.json   what was asked for: schema, target, seed, batteries, steps, how it ended
    steps.jsonl     the journal: a line, on disk, as each step ends
    series, hist, xray and per_gb.parquet        of all steps, joined when the run is closed
    parts/          the same by step while the run goes on; a run that was killed keeps it
    smart/          before.json and after.json, of a drive that tells its SMART data
    findings.json   host.json

Invariants: a step in the journal has its parts on disk (they are written before its line), so
whatever ends a run, all finished steps can be read. Everything but host.json depends on nothing but
the target, the batteries and the seed. A reader takes its own schema and all before it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from flashtwin.battery.step import NotPossible, Result
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.results import frames, journal, lock
from flashtwin.results.finding import Finding, from_json
from flashtwin.results.findings import Findings
from flashtwin.results.journal import StepRecord
from flashtwin.results.series import COLUMNS, Series
from flashtwin.results.storage import (
    damaged,
    disk,
    json_bytes,
    parquet_bytes,
    read_json,
    read_parquet,
    write_whole,
)

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
State = Literal["running", "finished", "interrupted", "failed"]
Moment = Literal["before", "after"]


class Writer:
    """Writes one run directory; leaving it as a context by an exception closes it as failed."""

    def __init__(self, path: Path, manifest: Mapping[str, Any], host: Mapping[str, Any]) -> None:
        self.path = path
        self._manifest = {"schema": SCHEMA, "state": "running", **manifest, "steps": []}
        self._records: list[StepRecord] = []
        self._closed = False
        _claim(path)
        self.host(host)
        write_whole(path / "manifest.json", json_bytes(self._manifest))
        with disk(path / "steps.jsonl", "write"):
            # Unbuffered: after an error there must be nothing left that close() tries again.
            self._journal = (path / "steps.jsonl").open("xb", buffering=0)
        lock.hold(self._journal.fileno(), path)

    def step(
        self,
        *,
        battery: str,
        label: str,
        kind: str,
        answer: Result | NotPossible,
        detail: Mapping[str, Any] | None = None,
    ) -> StepRecord:
        """Put a finished step on disk."""
        number = len(self._records)
        record = journal.record_of(number, battery, label, kind, answer, detail or {})
        if isinstance(answer, Result):
            for name, frame in frames.of_result(number, answer).items():
                write_whole(self._part(number, name), parquet_bytes(frame))
        with disk(self.path / "steps.jsonl", "write"):
            journal.append(self._journal.fileno(), record)
        self._records.append(record)
        return record

    def host(self, values: Mapping[str, Any]) -> None:
        """What is known of the machine: the one file that may differ from run to run."""
        write_whole(self.path / "host.json", json_bytes(dict(values)))

    def smart(self, when: Moment, values: Mapping[str, Any]) -> None:
        """The drive's SMART data, as it tells them before the first step or after the last."""
        with disk(self.path / "smart", "create"):
            (self.path / "smart").mkdir(exist_ok=True)
        write_whole(_smart(self.path, when), json_bytes(dict(values)))

    def close(self, findings: Sequence[Finding], *, state: State = "finished") -> Run:
        """Join the parts, write the findings, and say how the run ended. Safe to call twice."""
        if not self._closed:
            self._closed = True
            try:
                self._finish(findings, state)
            finally:
                # Not before: until all is written, the run is under way.
                self._journal.close()
        return Run(self.path)

    def _finish(self, findings: Sequence[Finding], state: State) -> None:
        rows = [finding.to_json() for finding in findings]
        write_whole(self.path / "findings.json", json_bytes({"schema": SCHEMA, "findings": rows}))
        for name in frames.SCHEMAS:
            frame = _joined(self.path, name, self._records)
            write_whole(self.path / f"{name}.parquet", parquet_bytes(frame))
        self._manifest["steps"] = [record.heading() for record in self._records]
        self._manifest["state"] = state
        write_whole(self.path / "manifest.json", json_bytes(self._manifest))
        with disk(self.path / "parts", "remove"):
            shutil.rmtree(self.path / "parts")

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None or self._closed:
            return
        try:
            self.close([], state="failed")
        except FlashtwinError:
            # The first error is the one to tell; the parts and the journal stay as they are.
            self._journal.close()

    def _part(self, number: int, name: str) -> Path:
        return _part(self.path, number, name)


@dataclass(frozen=True)
class Run:
    """Reads a run directory, finished or not; raises `FlashtwinError` on what it cannot read."""

    path: Path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest, its schema checked."""
        if not self.path.is_dir():
            raise FlashtwinError(f"{self.path} is not a run directory", hint=_LOOK, exit_code=USAGE)
        if not (self.path / "manifest.json").exists():
            raise FlashtwinError(
                f"{self.path} holds no manifest.json, so it is no run", hint=_LOOK, exit_code=USAGE
            )
        return _checked_schema(self.path / "manifest.json", read_json(self.path / "manifest.json"))

    @property
    def state(self) -> str:
        """How it ended; "running" also for a run that was killed."""
        return str(self.manifest.get("state", "finished"))

    @property
    def under_way(self) -> bool:
        """Whether a process is writing it now; a run that was killed is not."""
        return lock.held(self.path)

    @property
    def finished(self) -> bool:
        """Every step that was asked for is there, and so are the findings."""
        return self.state == "finished"

    @property
    def target(self) -> dict[str, Any]:
        """The target's name, kind, capacity and identity."""
        return dict(self.manifest["target"])

    @cached_property
    def steps(self) -> list[StepRecord]:
        """The journal."""
        return journal.read(self.path / "steps.jsonl", finished=self.finished)

    def step(self, label: str, *, battery: str | None = None) -> StepRecord | None:
        """The first step with that label."""
        for record in self.steps:
            if record.label == label and battery in (None, record.battery):
                return record
        return None

    def series(self, step: int) -> Series:
        """What the host saw in a step; empty where it asked for nothing."""
        rows = frames.rows_of(self.series_frame(), step)
        return Series(**{name: rows[name] for name in COLUMNS})

    def xray(self, step: int) -> dict[str, NDArray[np.int64]]:
        """The inside of a twin during a step, by column; empty for a real drive."""
        frame = self.xray_frame()
        rows = frames.rows_of(frame, step)
        return rows if rows and len(rows["t_ns"]) else {}

    def hist(self, step: int) -> dict[str, NDArray[np.uint64]]:
        """Latency counts in fio's buckets, by direction."""
        return frames.histograms(self.hist_frame(), step)

    def result(self, step: int) -> Result | NotPossible:
        """A finished step as the drive answered it: what a resumed run plays back."""
        record = self.steps[step]
        if record.not_possible is not None:
            return NotPossible(reason=record.not_possible)
        return Result(
            label=record.label,
            start_ns=record.start_ns,
            duration_ns=record.duration_ns,
            series=self.series(step),
            jobs=record.jobs,
            hist=self.hist(step),
            xray=self.xray(step),
            note=record.note,
        )

    def series_frame(self) -> pl.DataFrame:
        """All steps' series in one frame."""
        return self._frame("series")

    def hist_frame(self) -> pl.DataFrame:
        """All steps' latency counts in one frame."""
        return self._frame("hist")

    def per_gb_frame(self) -> pl.DataFrame:
        """How long each GB took, of all steps that moved one: `end_bytes`, `bytes`, `dt_ns`."""
        return self._frame("per_gb")

    def xray_frame(self) -> pl.DataFrame:
        """All steps' X-rays in one frame."""
        return self._frame("xray")

    def smart(self, when: Moment) -> dict[str, Any]:
        """The drive's SMART data before or after the run; empty where it told none."""
        path = _smart(self.path, when)
        return read_json(path) if path.exists() else {}

    @property
    def findings(self) -> Findings:
        """What was concluded, in order and by name; none of a run that was killed before."""
        path = self.path / "findings.json"
        if not path.exists() and not self.finished:
            return Findings()
        rows = _checked_schema(path, read_json(path)).get("findings")
        try:
            return Findings(from_json(row) for row in rows or [])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise damaged(path, f"a finding is malformed ({error})") from error

    @property
    def host(self) -> dict[str, Any]:
        """The machine that ran it; empty where the file was taken away."""
        path = self.path / "host.json"
        return read_json(path) if path.exists() else {}

    def _frame(self, name: str) -> pl.DataFrame:
        if name not in self._frames:
            whole = self.path / f"{name}.parquet"
            if whole.exists() or self.finished:
                self._frames[name] = read_parquet(whole, frames.required(name))
            else:
                self._frames[name] = _joined(self.path, name, self.steps)
        return self._frames[name]

    @cached_property
    def _frames(self) -> dict[str, pl.DataFrame]:
        return {}


_LOOK = "give the directory that flashtwin test wrote, for example flashtwin-runs/…"


def find_runs(path: Path) -> list[Run]:
    """The run in a directory, or the runs in the directories under it, by name."""
    if (path / "manifest.json").exists():
        return [Run(path)]
    runs = []
    if path.is_dir():
        runs = [Run(at) for at in sorted(path.iterdir()) if (at / "manifest.json").exists()]
    if not runs:
        raise FlashtwinError(f"no run in {path}", hint=_LOOK, exit_code=USAGE)
    return runs


def _claim(path: Path) -> None:
    """Make the directory; one with something in it is somebody's, perhaps another run."""
    with disk(path, "create"):
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise FlashtwinError(
                f"{path} is not empty",
                hint="choose another directory with --out, or remove this one",
                exit_code=USAGE,
            )
        (path / "parts").mkdir()


def _smart(run: Path, when: Moment) -> Path:
    return run / "smart" / f"{when}.json"


def _part(run: Path, number: int, name: str) -> Path:
    return run / "parts" / f"{number:05}.{name}.parquet"


def _joined(path: Path, name: str, records: Iterable[StepRecord]) -> pl.DataFrame:
    """The parts of the journal's steps as one frame, without those of a step that never ended."""
    parts = []
    for record in records:
        at = _part(path, record.step, name)
        if at.exists():
            parts.append(read_parquet(at, frames.required(name)))
        elif name == "series" and record.not_possible is None:
            raise damaged(at, "the file is missing")
    return frames.join(name, parts)


def _checked_schema(path: Path, value: dict[str, Any]) -> dict[str, Any]:
    schema = value.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise damaged(path, f"schema {schema!r} is not a number that flashtwin writes")
    if schema > SCHEMA:
        raise FlashtwinError(
            f"{path} has schema {schema}; this flashtwin reads up to {SCHEMA}",
            hint="update flashtwin, or make the report with the version that made the run",
            exit_code=ENVIRONMENT,
        )
    return value
