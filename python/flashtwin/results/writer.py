"""Writes a run directory, step by step, from the beginning or from where a run stopped.

Invariants: see `results.rundir`. A writer holds the journal locked from its making to its close.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from flashtwin.battery.step import NotPossible, Result
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.outputs import UNFINISHED, disk
from flashtwin.results import frames, journal, lock, parts
from flashtwin.results.finding import Finding
from flashtwin.results.journal import StepRecord
from flashtwin.results.lock import JOURNAL
from flashtwin.results.rundir import SCHEMA, Moment, Run, State
from flashtwin.results.storage import digest_of, json_bytes, parquet_bytes, write_whole

# What a drive was after so many steps: kept by the runner while a run goes on.
STATE = "state"


class Writer:
    """Writes one run directory; leaving it as a context by an exception closes it as failed.

    `durable`: what a step measured is on the disk before the step is, which costs a wait for each
    step; for drives whose time is dear. Without it a power cut may cost the last steps.
    """

    def __init__(
        self,
        path: Path,
        manifest: Mapping[str, Any],
        host: Mapping[str, Any],
        *,
        durable: bool = False,
    ) -> None:
        _claim(path)
        # Unbuffered: after an error there must be nothing left that close() tries again.
        with disk(path / JOURNAL, "write"):
            made = os.open(path / JOURNAL, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self._begin(path, manifest, made, [], durable)
        try:
            lock.hold(made, path)
            self.host(host)
            self._write_manifest({"schema": SCHEMA, "state": "running", **manifest, "steps": []})
        except BaseException:
            self._release()
            raise

    @classmethod
    def resume(cls, path: Path, *, durable: bool = False) -> Self:
        """Take up a run that is not finished, with the steps in its journal.

        What a step left that never ended is removed; else nothing changes before `go_on`. Raises
        `FlashtwinError` where another process writes the run, and where it is finished, damaged,
        or of another schema.
        """
        _checked_for_resume(Run(path))
        with disk(path / JOURNAL, "write"):
            held = os.open(path / JOURNAL, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            lock.hold(held, path)
            # Read anew under the lock: whoever held it before may have gone on.
            run = Run(path)
            _checked_for_resume(run)
            records = _whole(run, refuse=durable)
            with disk(path / JOURNAL, "write"):
                journal.cut(held, len(records))
            _sweep(path, len(records))
            made = cls.__new__(cls)
            made._begin(path, run.manifest, held, records, durable)
        except BaseException:
            os.close(held)
            raise
        return made

    def _begin(
        self,
        path: Path,
        manifest: Mapping[str, Any],
        held: int,
        records: list[StepRecord],
        durable: bool,
    ) -> None:
        self.path, self._durable, self._closed = path, durable, False
        self._manifest: dict[str, Any] = dict(manifest)
        self._records = records
        # A file object, so that a writer that is forgotten lets the run go.
        self._journal = os.fdopen(held, "r+b", buffering=0)

    @property
    def records(self) -> Sequence[StepRecord]:
        """The steps so far."""
        return tuple(self._records)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest as it was written last."""
        return self._manifest

    def go_on(self) -> None:
        """A run that was taken up is under way again."""
        if self._manifest["state"] != "running":
            self._write_manifest({**self._manifest, "state": "running"})

    def leave(self) -> None:
        """Let the run go without a word on how it ended; safe after `close`."""
        self._closed = True
        self._release()

    def answer(self, step: int) -> Result | NotPossible:
        """A step as the drive answered it: what a resumed run plays back."""
        return parts.answer_of(self._records[step], partial(parts.read, self.path, step))

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
            parts.write(self.path, number, answer, durable=self._durable)
        with disk(self.path / JOURNAL, "write"):
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
        write_whole(self.path / "smart" / f"{when}.json", json_bytes(dict(values)))

    def close(
        self,
        findings: Sequence[Finding],
        *,
        state: State = "finished",
        more: Mapping[str, Any] | None = None,
    ) -> Run:
        """Write the findings and how the run ended; of a finished one the tables are joined.

        `more` joins the manifest. Safe to call twice.
        """
        if not self._closed:
            self._closed = True
            try:
                self._close(findings, state, more or {})
            finally:
                self._release()
        return Run(self.path)

    def _close(self, findings: Sequence[Finding], state: State, more: Mapping[str, Any]) -> None:
        rows = {"schema": SCHEMA, "findings": [finding.to_json() for finding in findings]}
        write_whole(self.path / "findings.json", json_bytes(rows), durable=True)
        tables: dict[str, Any] = {}
        if state == "finished":
            for name in frames.SCHEMAS:
                frame = parts.joined(self.path, name, self._records)
                whole, data = self.path / f"{name}.parquet", parquet_bytes(frame)
                write_whole(whole, data, durable=True)
                tables[name] = digest_of(data)
        steps = [record.heading() for record in self._records]
        if tables:
            more = {**more, "tables": tables}
        self._write_manifest({**self._manifest, **more, "steps": steps, "state": state})
        if state == "finished":
            tidy(self.path)

    def _write_manifest(self, values: Mapping[str, Any]) -> None:
        # The steps stand last, whatever joined on the way.
        first = {name: value for name, value in values.items() if name != "steps"}
        self._manifest = {**first, "steps": values["steps"]}
        write_whole(self.path / "manifest.json", json_bytes(self._manifest), durable=True)

    def _release(self) -> None:
        self._journal.close()

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
            self._release()


def tidy(path: Path) -> None:
    """Remove what only a run that goes on needs; a run that is finished has it no more."""
    with disk(path / "parts", "remove"):
        if (path / "parts").is_dir():
            shutil.rmtree(path / "parts")
        for left in (*path.glob(f"{STATE}-*"), *path.rglob(f"*{UNFINISHED}")):
            left.unlink(missing_ok=True)


def abandoned(path: Path) -> bool:
    """Whether a run directory was left before there was anything in it, not even a manifest."""
    if not path.is_dir() or Run(path).under_way:
        return False
    for left in path.iterdir():
        if left.name == "parts":
            if any(left.iterdir()):
                return False
        elif left.name == JOURNAL:
            if left.stat().st_size:
                return False
        elif left.name != "host.json" and left.suffix != UNFINISHED:
            return False
    return (path / "parts").is_dir()


def _claim(path: Path) -> None:
    """Make the directory; one with something in it is somebody's, perhaps another run."""
    with disk(path, "create"):
        path.mkdir(parents=True, exist_ok=True)
        try:
            if any(path.iterdir()):
                raise FileExistsError
            # Of two processes at once, one makes it.
            (path / "parts").mkdir()
        except FileExistsError:
            raise FlashtwinError(
                f"{path} is not empty",
                hint=_NOT_EMPTY,
                exit_code=USAGE,
            ) from None


_NOT_EMPTY = "choose another directory with --out, remove this one, or go on with its run: --resume"


def _checked_for_resume(run: Run) -> None:
    if run.finished:
        raise FlashtwinError(
            f"{run.path} is finished, there is nothing to go on with",
            hint=f"flashtwin report {run.path} makes its page anew",
            exit_code=USAGE,
        )
    check_schema(run)


def check_schema(run: Run) -> None:
    """Refuse to go on with a run that an older flashtwin began; it says how to begin it anew."""
    if run.manifest["schema"] == SCHEMA:
        return
    words = [str(word) for word in run.manifest.get("command") or ()]
    anew = shlex.join(words) if words[:2] == ["flashtwin", "test"] else "flashtwin test"
    raise FlashtwinError(
        f"{run.path} was begun by an older flashtwin (schema {run.manifest['schema']}, now"
        f" {SCHEMA}), and cannot be gone on with",
        hint=f"begin it anew in another directory: {anew}; what it measured is kept, and"
        " flashtwin report, compare and export read it",
        exit_code=USAGE,
    )


def _whole(run: Run, *, refuse: bool) -> list[StepRecord]:
    """The steps up to the first whose tables a power cut took; `refuse` where that cannot be."""
    for record in run.steps:
        try:
            parts.answer_of(record, partial(parts.read, run.path, record.step))
        except FlashtwinError:
            if refuse:
                raise
            return run.steps[: record.step]
    return list(run.steps)


def _sweep(path: Path, records: int) -> None:
    """Remove what belongs to steps that are not in the journal, and files half written."""
    with disk(path, "write"):
        (path / "parts").mkdir(exist_ok=True)
        for part in (path / "parts").iterdir():
            number = part.name.partition(".")[0]
            if not number.isdigit() or int(number) >= records or part.suffix == UNFINISHED:
                part.unlink()
        for left in path.iterdir():
            half_kept = left.name.startswith(f"{STATE}-") and left.suffix == ".part"
            if left.suffix == UNFINISHED or half_kept:
                left.unlink()
