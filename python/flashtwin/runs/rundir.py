"""The run directory: what a test of one target leaves behind, written step by step and read back.

    manifest.json   what was asked for: schema, target, seed, batteries, steps, how it ended
                    and of a finished run the digests of its tables and of its other files
    steps.jsonl     the journal: a line as each step ends, with the place of its tables
    series, hist, xray, meter and per_gb.parquet  of all steps, joined when the run is finished;
                    where there is a chain parts and part_hist.parquet too
    steps.tables    the same by step, a block each, and state-… (what the drive was), until then
    smart/          before.json and after.json, of a drive that tells SMART, or of a file's disk
    findings.json   host.json
    summary.json    of a finished run: what a listing tells of it (`summary`)

Invariants: a step in the journal has its block (it is written before its line), so
whatever ends a run, all finished steps can be read, and a run that is not finished can be gone on
with. Whoever writes holds the journal locked, so that nobody else does; the lock goes with the
process. Everything but host.json depends on nothing but the target, the batteries, the seed and the
budget. Every file tells whether it is what was
written, by its own check (`storage.sealed_bytes`, `journal`) or a digest in the manifest or the
journal: what is not is never read as a result. What lies in a directory may be anybody's, so all of
it is read through `storage.read_file` and held against `schema`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.finding import LEFT_OUT
from flashtwin.model.findings import Findings
from flashtwin.model.series import Series
from flashtwin.model.step import NotPossible, Result
from flashtwin.outputs import disk
from flashtwin.runs import frames, journal, lock
from flashtwin.runs import schema as schemas
from flashtwin.runs.blocks import Blocks, answer_of
from flashtwin.runs.frames import Table
from flashtwin.runs.journal import Journal, StepRecord
from flashtwin.runs.schema import SchemaError
from flashtwin.runs.storage import (
    AS_PART,
    MOST_JOURNAL,
    MOST_JSON,
    damaged,
    digest_of,
    is_there,
    object_of,
    read_file,
    unsealed,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCHEMA = 1
MANIFEST, FINDINGS, HOST = "manifest.json", "findings.json", "host.json"
SUMMARY = "summary.json"
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
            raise FlashtwinError(f"no run in {self.path}", hint=_LOOK, exit_code=USAGE)
        file = self.path / MANIFEST
        if not is_there(file):
            raise FlashtwinError(
                f"{self.path} holds no manifest.json, so it is not a run",
                hint=_LOOK,
                exit_code=USAGE,
            )
        data = read_file(file, MOST_JSON)
        value = object_of(file, data)
        _checked_schema(file, value)
        unsealed(file, data, value, MANIFEST)
        return _shaped(file, value, schemas.Manifest)

    @property
    def state(self) -> str:
        """The state in the manifest; a run that was killed still has "running"."""
        return str(self.manifest.get("state", "finished"))

    @property
    def under_way(self) -> bool:
        """Whether a process is writing it now; a run that was killed is not."""
        return lock.is_held(self.path)

    @property
    def finished(self) -> bool:
        """Every step that was asked for is there, and so are the findings."""
        return self.state == "finished"

    @property
    def target(self) -> dict[str, Any]:
        """The target's name (that of the directory where there is none), kind, capacity and
        identity."""
        return {"name": self.path.name, **self.manifest["target"]}

    @property
    def is_simulated(self) -> bool:
        """Whether the drive's clock was a simulation's: then no hardware was measured."""
        return bool(self.target.get("can", {}).get("virtual_time"))

    @property
    def origin(self) -> str:
        """A digest that tells files of this run from another's."""
        return journal.origin_of(self.manifest)

    @cached_property
    def journal(self) -> Journal:
        """The journal, as far as it can be read."""
        data = self._bytes(lock.JOURNAL, MOST_JOURNAL)
        return journal.scan(self.path / lock.JOURNAL, data, self.origin, finished=self.finished)

    @cached_property
    def steps(self) -> list[StepRecord]:
        """The steps that ended."""
        return self.journal.complete()

    def step(self, label: str, *, battery: str | None = None) -> StepRecord | None:
        """The first step with that label."""
        for record in self.steps:
            if record.label == label and battery in (None, record.battery):
                return record
        return None

    def series(self, step: int) -> Series:
        """What the host saw in a step; empty where it asked for nothing."""
        return frames.series_of(self.table("series"), step)

    def xray(self, step: int) -> dict[str, NDArray[np.int64]]:
        """The inside of a twin during a step, by column; empty for a real drive."""
        return frames.columns_of(self.table("xray"), step)

    def meter(self, step: int) -> dict[str, NDArray[np.int64]]:
        """What a meter read during a step (see `Result`); empty where there was none."""
        return frames.columns_of(self.table("meter"), step)

    def hist(self, step: int) -> dict[str, NDArray[np.uint64]]:
        """Latency counts in fio's buckets, by direction and, of flushes, as `sync`."""
        return frames.histograms(self.table("hist"), step)

    def result(self, step: int) -> Result | NotPossible:
        """A finished step as the drive answered it."""
        record = self.steps[step]
        return answer_of(self.path, record, self._tables_of(record))

    def smart(self, when: Moment) -> dict[str, Any]:
        """The drive's SMART data before or after the run; empty where it gave none."""
        name = smart_name(when)
        if not self._has(name):
            return {}
        return _shaped(self.path / name, self._object(name), schemas.Smart)

    @property
    def findings(self) -> Findings:
        """What was concluded, in order and by name; empty where the run was killed before."""
        path = self.path / FINDINGS
        if not is_there(path) and not self.finished:
            return Findings()
        value = self._object(FINDINGS)
        try:
            stored = schemas.check(value, schemas.Findings)
        except SchemaError as error:
            raise damaged(path, f"a finding is malformed ({error})") from error
        return Findings(row.read() for row in stored.findings or ())

    @property
    def left_out(self) -> list[str]:
        """What the run lacks of its batteries, and why; each reason once."""
        reasons = [
            f"{finding.battery}: {finding.note or finding.title}"
            for finding in self.findings
            if finding.name == LEFT_OUT
        ]
        reasons += [
            f"{step.label}: not possible, {step.not_possible}"
            for step in self.steps
            if step.not_possible
        ]
        if not self.finished:
            reasons.append(f"the run is not finished: {len(self.steps)} steps are done")
        return list(dict.fromkeys(reasons))

    @property
    def host(self) -> dict[str, Any]:
        """The machine that ran it; empty where host.json was removed."""
        path = self.path / HOST
        if not is_there(path):
            return {}
        try:
            return _shaped(path, self._object(HOST), schemas.Host)
        except FlashtwinError as error:
            raise damaged(path, why_of(error), hint=_NO_HOST) from error

    def _object(self, name: str) -> dict[str, Any]:
        """The object in a file, which is what was written."""
        data = self._bytes(name, MOST_JSON)
        path = self.path / name
        value = object_of(path, data)
        if name == FINDINGS:
            _checked_schema(path, value)
        unsealed(path, data, value, seal_of(name, self.origin))
        return value

    def _bytes(self, name: str, most_bytes: int) -> bytes:
        """The bytes of a file; refused where the manifest has their digest and they are not what
        was written."""
        data, digest = read_file(self.path / name, most_bytes), self._digests.get(name)
        if digest is not None and digest_of(data) != digest:
            raise damaged(self.path / name, "its contents are not what flashtwin wrote")
        return data

    def _has(self, name: str) -> bool:
        """Whether a run has a file that not every run has."""
        if self.finished:
            return name in self._digests
        return name in self._digests or is_there(self.path / name)

    @property
    def _digests(self) -> dict[str, str]:
        digests: dict[str, str] = self.manifest.get("files", {})
        return digests

    def table(self, name: str) -> Table:
        """A table of `frames.SCHEMAS`, of all steps."""
        if name not in self._tables:
            if self.finished:
                self._tables[name] = self._joined(name)
            else:
                self._tables.update(self._of_blocks())
        return self._tables[name]

    def _joined(self, name: str) -> Table:
        """A table of a finished run, which is what the manifest has the digest of."""
        digest = self.manifest.get("tables", {}).get(name)
        if digest is not None:
            return frames.read(self.path / f"{name}.parquet", name, digest)
        if name in frames.OPTIONAL:
            return frames.empty(name)
        raise damaged(self.path / MANIFEST, f"it has no digest of {name}.parquet")

    def _tables_of(self, record: StepRecord) -> dict[str, Table]:
        """A step's tables. Of a run that is not finished, only those of this step are read."""
        if self.finished:
            return {name: self.table(name) for name in frames.SCHEMAS}
        if record.block is None:
            return {}
        blocks = Blocks.of(self.path)
        try:
            return blocks.read(record)
        finally:
            blocks.close()

    def _of_blocks(self) -> dict[str, Table]:
        """The tables of a run that is not finished."""
        if not any(record.block for record in self.steps):
            return {name: frames.empty(name) for name in frames.SCHEMAS}
        blocks = Blocks.of(self.path)
        try:
            return blocks.joined(self.steps)
        finally:
            blocks.close()

    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {}


_NO_HOST = "remove it: a run can be read without"
_LOOK = "give the directory that flashtwin test wrote, for example flashtwin-runs/…"


def find_runs(path: Path) -> list[Run]:
    """The run in a directory, or the runs in the directories under it, by name; those of several
    drives, which lie together in one of these, among them."""
    if is_there(path / MANIFEST):
        return [Run(path)]
    if is_there(path / "sweep.json"):
        raise FlashtwinError(
            f"{path} holds a sweep",
            hint=f"its runs are in {path / 'points'}, and its page is its report.html",
            exit_code=USAGE,
        )
    runs = []
    if path.is_dir():
        with disk(path, "read"):
            for inside in sorted(path.iterdir()):
                if is_there(inside / MANIFEST):
                    runs.append(Run(inside))
                elif inside.is_dir() and not inside.is_symlink():
                    together = sorted(inside.iterdir())
                    runs += [Run(at) for at in together if is_there(at / MANIFEST)]
    if not runs:
        raise FlashtwinError(f"no run in {path}", hint=_LOOK, exit_code=USAGE)
    return runs


def smart_name(when: Moment) -> str:
    """Where the SMART data of a moment lie in a run."""
    return f"smart/{when}.json"


def seal_of(name: str, origin: str) -> str:
    """What the check of a file covers besides its text: its name and the run's origin (not in
    host.json)."""
    return name if name == HOST else f"{name} {origin}"


def why_of(error: FlashtwinError) -> str:
    """The reason within the message of `damaged`."""
    return error.message.rpartition(AS_PART)[2]


def _checked_schema(path: Path, value: dict[str, Any]) -> None:
    schema = value.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise damaged(path, f"schema {schema!r} is not a number that flashtwin writes")
    if schema > SCHEMA:
        raise FlashtwinError(
            f"{path} has schema {schema}; this flashtwin reads {SCHEMA}",
            hint="update flashtwin, or make the report with the version that made the run",
            exit_code=ENVIRONMENT,
        )


def _shaped(path: Path, value: dict[str, Any], shape: type[Struct]) -> dict[str, Any]:
    """A value that has been checked against its schema."""
    try:
        schemas.check(value, shape)
    except SchemaError as error:
        place = f"its {error.at}" if error.at else "it"
        raise damaged(path, f"{place} is not what flashtwin writes ({error})") from error
    return value
