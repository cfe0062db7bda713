"""The run directory: what a test of one target leaves behind, written step by step and read back.

    manifest.json   what was asked for: schema, target, seed, batteries, steps, how it ended
                    and of a finished run the digests of its tables
    steps.jsonl     the journal: a line, on disk, as each step ends
    series, hist, xray, meter and per_gb.parquet  of all steps, joined when the run is finished
    parts/          the same by step, and state-… (what the drive was), until then
    smart/          before.json and after.json, of a drive that tells its SMART data
    findings.json   host.json

Invariants: a step in the journal has its parts on disk (they are written before its line), so
whatever ends a run, all finished steps can be read, and a run that is not finished can be gone on
with. Whoever writes holds the journal locked, so that nobody else does; the lock goes with the
process. Everything but host.json depends on nothing but the target, the batteries, the seed and the
budget. A reader takes its own schema and all before it.

Schemas: 1 joined the tables of an interrupted run and removed its parts; 2 keeps the parts, and the
identity of a twin names the version of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from flashtwin.battery.step import NotPossible, Result
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.results import frames, journal, lock, parts
from flashtwin.results.finding import from_json
from flashtwin.results.findings import Findings
from flashtwin.results.journal import StepRecord
from flashtwin.results.series import Series
from flashtwin.results.storage import (
    damaged,
    read_json,
    read_parquet,
)

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 2
State = Literal["running", "finished", "interrupted", "failed"]
Moment = Literal["before", "after"]


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
        file = self.path / "manifest.json"
        return _checked_shape(file, _checked_schema(file, read_json(file)))

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
        """The target's name (the directory's where there is none), kind, capacity and identity."""
        return {"name": self.path.name, **self.manifest["target"]}

    @cached_property
    def steps(self) -> list[StepRecord]:
        """The journal."""
        return journal.read(self.path / lock.JOURNAL, finished=self.finished)

    def step(self, label: str, *, battery: str | None = None) -> StepRecord | None:
        """The first step with that label."""
        for record in self.steps:
            if record.label == label and battery in (None, record.battery):
                return record
        return None

    def series(self, step: int) -> Series:
        """What the host saw in a step; empty where it asked for nothing."""
        return parts.series_of(self.series_frame(), step)

    def xray(self, step: int) -> dict[str, NDArray[np.int64]]:
        """The inside of a twin during a step, by column; empty for a real drive."""
        return parts.xray_of(self.xray_frame(), step)

    def meter(self, step: int) -> dict[str, NDArray[np.int64]]:
        """What a meter read during a step (see `Result`); empty where there was none."""
        return parts.meter_of(self.meter_frame(), step)

    def hist(self, step: int) -> dict[str, NDArray[np.uint64]]:
        """Latency counts in fio's buckets, by direction."""
        return frames.histograms(self.hist_frame(), step)

    def result(self, step: int) -> Result | NotPossible:
        """A finished step as the drive answered it."""
        return parts.answer_of(self.steps[step], self._frame)

    def series_frame(self) -> pl.DataFrame:
        """All steps' series in one frame."""
        return self._frame("series")

    def hist_frame(self) -> pl.DataFrame:
        """All steps' latency counts in one frame."""
        return self._frame("hist")

    def per_gb_frame(self) -> pl.DataFrame:
        """How long each GB took, of all steps that moved one: `end_bytes`, `bytes`, `dt_ns`."""
        return self._frame("per_gb")

    def meter_frame(self) -> pl.DataFrame:
        """All samples of a meter in one frame."""
        return self._frame("meter")

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
            if whole.exists() or (self.finished and name not in frames.LATER):
                told = self.manifest.get("tables")
                digest = told.get(name) if isinstance(told, dict) else None
                self._frames[name] = read_parquet(whole, frames.required(name), digest)
            elif self.finished:
                self._frames[name] = frames.join(name, [])
            else:
                self._frames[name] = parts.joined(self.path, name, self.steps)
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
    if not runs and (path / "sweep.json").exists():
        raise FlashtwinError(
            f"{path} holds a sweep",
            hint=f"its runs are in {path / 'points'}, and its page is its report.html",
            exit_code=USAGE,
        )
    if not runs:
        raise FlashtwinError(f"no run in {path}", hint=_LOOK, exit_code=USAGE)
    return runs


def _smart(run: Path, when: Moment) -> Path:
    return run / "smart" / f"{when}.json"


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


def _checked_shape(path: Path, value: dict[str, Any]) -> dict[str, Any]:
    """A manifest whose parts are what all readers take them for."""
    target, batteries = value.get("target"), value.get("batteries") or []
    wrong = ""
    if not isinstance(target, dict):
        wrong = "target"
    elif not isinstance(target.get("identity") or {}, dict):
        wrong = "target.identity"
    elif not isinstance(batteries, list) or not all(_is_battery(one) for one in batteries):
        wrong = "batteries"
    if wrong:
        raise damaged(path, f"its {wrong} is not what flashtwin writes")
    return value


def _is_battery(value: object) -> bool:
    return isinstance(value, dict) and "name" in value
