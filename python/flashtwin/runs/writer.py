"""Writes a run directory, step by step, from the beginning or from where a run stopped.

Invariants: see `rundir`. A writer holds the journal locked from its making to its close.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from flashtwin import __version__, system
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.step import NotPossible, Result
from flashtwin.outputs import UNFINISHED, disk
from flashtwin.runs import frames, journal, lock, summary
from flashtwin.runs.blocks import TABLES, Blocks, answer_of
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.lock import JOURNAL
from flashtwin.runs.rundir import (
    FINDINGS,
    HOST,
    MANIFEST,
    SCHEMA,
    SUMMARY,
    Moment,
    Run,
    State,
    seal_of,
    smart_name,
    why_of,
)
from flashtwin.runs.storage import (
    MOST_JOURNAL,
    MOST_JSON,
    check_of,
    damaged,
    digest_of,
    is_there,
    parquet_bytes,
    read_file,
    remove_tree,
    sealed_bytes,
    write_whole,
)

# A drive's state after some of the steps: kept by the runner while a run goes on.
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
        blocks = _claimed(path)
        # Unbuffered: after an error there must be nothing left that close() tries again.
        with disk(path / JOURNAL, "write"):
            descriptor = os.open(
                path / JOURNAL, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.BYTES, 0o666
            )
        values = {"schema": SCHEMA, "state": "running", **manifest, "steps": []}
        self._begin(
            path,
            values,
            descriptor,
            blocks,
            _Intact(steps=[], checks=[journal.origin_of(values)]),
            durable,
        )
        try:
            lock.hold(descriptor, path)
            self.host(host)
            self._write_manifest(values)
        except BaseException:
            self._release()
            raise

    @classmethod
    def resume(cls, path: Path, *, durable: bool = False) -> Self:
        """Take up a run that is not finished, with the steps in its journal.

        What a step left that never ended is removed, and so are the steps from the first on that
        is not what was written: `redone` says which. A `durable` run has no second one of them, and
        is refused. Else nothing changes before `go_on`. Raises `FlashtwinError` where another
        process writes the run, and where it is finished, damaged, or of another schema.
        """
        _checked_for_resume(Run(path))
        with disk(path / JOURNAL, "write"):
            descriptor = os.open(
                path / JOURNAL, os.O_RDWR | system.NOFOLLOW | system.NONBLOCK | system.BYTES
            )
        try:
            lock.hold(descriptor, path)
            # Read anew under the lock: whoever held it before may have gone on.
            run = Run(path)
            _checked_for_resume(run)
            blocks = Blocks.taken_up(path, repeatable=not durable)
            stored = _intact(run, blocks, refuse=durable)
            with disk(path / JOURNAL, "write"):
                journal.cut(descriptor, len(stored.steps))
            blocks.cut(stored.steps)
            _sweep(path)
            writer = cls.__new__(cls)
            writer._begin(path, run.manifest, descriptor, blocks, stored, durable)
            writer._forget_smart(run)
        except BaseException:
            os.close(descriptor)
            raise
        return writer

    def _begin(
        self,
        path: Path,
        manifest: Mapping[str, Any],
        descriptor: int,
        blocks: Blocks,
        stored: _Intact,
        durable: bool,
    ) -> None:
        self.path, self._durable, self._closed = path, durable, False
        self._manifest: dict[str, Any] = dict(manifest)
        self._records, self._checks = list(stored.steps), list(stored.checks)
        self._origin = journal.origin_of(manifest)
        self.redone = tuple(stored.redone)
        # A file object, so that a writer that is forgotten lets the run go.
        self._journal = os.fdopen(descriptor, "r+b", buffering=0)
        self._blocks = blocks

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
        """Unlock the run without writing how it ended; safe after `close`."""
        self._closed = True
        self._release()

    def answer(self, step: int) -> Result | NotPossible:
        """A step as the drive answered it: what a resumed run plays back."""
        record = self._records[step]
        return answer_of(self.path, record, self._blocks.read(record))

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
        block = None
        if isinstance(answer, Result):
            block = self._blocks.append(self._records, answer, durable=self._durable)
        number = len(self._records)
        record = journal.record_of(number, battery, label, kind, answer, detail or {}, block)
        with disk(self.path / JOURNAL, "write"):
            handle = self._journal.fileno()
            check = journal.append(handle, record, self._checks[-1], durable=self._durable)
        self._checks.append(check)
        self._records.append(record)
        return record

    @property
    def checks(self) -> Sequence[str]:
        """The checks of the journal's lines: each stands for the run up to its step."""
        return tuple(self._checks)

    def host(self, values: Mapping[str, Any]) -> None:
        """What is known of the machine: the one file that may differ from run to run."""
        self._write_sealed(HOST, values)

    def smart(self, when: Moment, values: Mapping[str, Any]) -> None:
        """The drive's SMART data, as it tells them before the first step or after the last."""
        with disk(self.path / "smart", "create"):
            (self.path / "smart").mkdir(exist_ok=True)
        data = self._write_sealed(smart_name(when), values)
        if when == "before":
            # They cannot be read again; those of the end are read anew when the run is resumed.
            files = {smart_name(when): digest_of(data)}
            self._write_manifest({**self._manifest, "files": files})

    def _write_sealed(
        self, name: str, values: Mapping[str, Any], *, durable: bool = False
    ) -> bytes:
        data = sealed_bytes(values, seal_of(name, self._origin))
        write_whole(self.path / name, data, durable=durable)
        return data

    def _forget_smart(self, run: Run) -> None:
        """Drop SMART data that were read before. A run that begins anew reads them again;
        another one does without them where it has to, as those from before a real drive's first
        step cannot be had any more."""
        name = smart_name("before")
        if name not in self._manifest.get("files", {}):
            return
        try:
            run.smart("before")
            if self._records:
                return
        except FlashtwinError as error:
            if self._records:
                self.redone += (f"the run goes on without {name}: {why_of(error)}",)
        with disk(self.path / name, "remove"):
            if is_there(self.path / name):
                remove_tree(self.path / name)
        self._manifest.pop("files")

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
        self._write_sealed(FINDINGS, rows, durable=True)
        if state == "finished":
            more = {**more, "tables": self._join(), "files": self._files()}
        steps = [record.heading() for record in self._records]
        check = self._write_manifest({**self._manifest, **more, "steps": steps, "state": state})
        if state == "finished":
            # Not every system removes what is open, and nothing is read of the blocks any more.
            self._blocks.close()
            tidy(self.path)
            summary.write(self.path, self._manifest, check, findings)

    def _join(self) -> dict[str, str]:
        """Write the tables of all steps; the answer is their digests."""
        tables = {}
        for name, table in self._blocks.joined(self._records).items():
            if name in frames.OPTIONAL and not frames.rows(table):
                continue
            data = parquet_bytes(table)
            write_whole(self.path / f"{name}.parquet", data, durable=True)
            tables[name] = digest_of(data)
        return tables

    def _files(self) -> dict[str, str]:
        """The digests of the other files, but for host.json."""
        names = [FINDINGS, JOURNAL, smart_name("after"), smart_name("before")]
        return {
            name: digest_of(read_file(self.path / name, MOST_JOURNAL))
            for name in names
            if is_there(self.path / name)
        }

    def _write_manifest(self, values: Mapping[str, Any]) -> str:
        """Replace the manifest; the answer is its check."""
        # The steps stand last, whatever joined on the way.
        first = {name: value for name, value in values.items() if name != "steps"}
        self._manifest = {**first, "steps": values["steps"]}
        return _write_manifest(self.path, self._manifest)

    def _release(self) -> None:
        self._blocks.close()
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
            # The first error is the one to tell; journal and tables stay as they are.
            self._release()


def store_findings(run: Run, findings: Sequence[Finding]) -> None:
    """Put other findings into a stored run, which nobody else may be writing.

    Whenever this ends, the run can be read: the manifest lets go of the old findings, then the new
    ones come, which hold their own check, and then the manifest has the digest of what is there.
    """
    rows = {
        "schema": SCHEMA,
        "flashtwin": __version__,
        "findings": [finding.to_json() for finding in findings],
    }
    with lock.holding(run.path, JOURNAL):
        manifest, path = run.manifest, run.path / FINDINGS
        data = sealed_bytes(rows, seal_of(FINDINGS, run.origin))
        digests: dict[str, str] | None = manifest.get("files") if run.finished else None
        if digests is None:
            write_whole(path, data, durable=True)
            return
        others = {name: digest for name, digest in digests.items() if name != FINDINGS}
        _write_manifest(run.path, {**manifest, "files": others})
        try:
            write_whole(path, data, durable=True)
        finally:
            there = {FINDINGS: digest_of(read_file(path, MOST_JOURNAL))} if is_there(path) else {}
            manifest = {**manifest, "files": {**there, **others}}
            check = _write_manifest(run.path, manifest)
        summary.write(run.path, manifest, check, findings)


def _write_manifest(run: Path, values: Mapping[str, Any]) -> str:
    data = sealed_bytes(values, MANIFEST)
    write_whole(run / MANIFEST, data, durable=True)
    return check_of(data)


def end_again(run: Run) -> None:
    """Do once more what comes after the manifest of a finished run is written: whoever wrote it may
    have been killed then."""
    tidy(run.path)
    if not is_there(run.path / SUMMARY):
        check = check_of(read_file(run.path / MANIFEST, MOST_JSON))
        summary.write(run.path, run.manifest, check, list(run.findings))


def tidy(path: Path) -> None:
    """Remove what only a resumption needs: a finished run has it no more."""
    with disk(path / TABLES, "remove"):
        for path_left in (path / TABLES, *path.glob(f"{STATE}-*"), *path.rglob(f"*{UNFINISHED}")):
            path_left.unlink(missing_ok=True)


def abandoned(path: Path) -> bool:
    """Whether a run directory was left before anything was in it, not even a manifest."""
    if not path.is_dir() or Run(path).under_way:
        return False
    for file in path.iterdir():
        if file.name in (TABLES, JOURNAL):
            if file.stat().st_size:
                return False
        elif file.name != "host.json" and file.suffix != UNFINISHED:
            return False
    return (path / TABLES).is_file()


# Names of what a run has in its directory, whole or half written.
_OF_A_RUN = re.compile(
    r"(manifest|findings|host|summary)\.json|report\.html|steps\.(jsonl|tables)|smart"
    r"|[a-z_]+\.parquet|state-\d+(-[0-9a-f]{32}\.snap|\.part)|\..+\.[0-9a-f]{12}"
    + re.escape(UNFINISHED)
)


def is_part_of_a_run(name: str) -> bool:
    """Whether a run has something of that name in its directory."""
    return _OF_A_RUN.fullmatch(name) is not None


def holds_a_run_only(path: Path) -> bool:
    """Whether a folder itself, and no link to one, holds nothing but what a run has."""
    if path.is_symlink() or not path.is_dir():
        return False
    return all(is_part_of_a_run(inside.name) for inside in path.iterdir())


def _claimed(path: Path) -> Blocks:
    """Make the directory, with the file for its tables. A directory with something in it is
    refused: it may be another run."""
    with disk(path, "create"):
        path.mkdir(parents=True, exist_ok=True)
        try:
            if any(path.iterdir()):
                raise FileExistsError
            # Of two processes at once, one makes it.
            return Blocks.created(path)
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
            f"{run.path} is finished, there is nothing to resume",
            hint=f"flashtwin report {run.path} makes its page anew",
            exit_code=USAGE,
        )
    # Files in these are written and removed: behind a link they would be somebody else's.
    for name in (TABLES, "smart"):
        if (run.path / name).is_symlink():
            raise FlashtwinError(
                f"{run.path / name} is a symbolic link, and a run is resumed only where its files"
                " lie in its own directory",
                hint="replace the link by what it leads to",
                exit_code=USAGE,
            )


@dataclass(frozen=True, kw_only=True)
class _Intact:
    """The steps after which a run is resumed, their checks, and why later ones are done again."""

    steps: Sequence[StepRecord]
    checks: Sequence[str]
    redone: Sequence[str] = ()


_NO_OTHER = (
    "put it back as it was if there is a copy; or remove line {line} of steps.jsonl and what"
    " follows it: flashtwin test --resume then measures those steps again"
)


def _intact(run: Run, blocks: Blocks, *, refuse: bool) -> _Intact:
    """The steps up to the first that is not what was written, in the journal or in its tables.
    `refuse` raises where such a step cannot be done again."""
    stored = run.journal
    if stored.wrong is not None and refuse:
        raise stored.wrong
    steps, redone = stored.steps, []
    if stored.wrong is not None:
        redone.append(_done_again(len(steps), "", f"{JOURNAL}: {why_of(stored.wrong)}"))
    elif len(steps) < len(run.manifest.get("steps") or ()):
        redone.append(_done_again(len(steps), "", f"{JOURNAL}: lines that were there are missing"))
    elif stored.breaks_off:
        redone.append(_done_again(len(steps), "", f"{JOURNAL}: its last line breaks off"))
    if not refuse and (why := _smart_is_wrong(run)):
        steps, redone = [], [_done_again(0, "", why)]
    for record in steps:
        try:
            blocks.read(record)
        except FlashtwinError as error:
            why = why_of(error)
            if refuse:
                hint = _NO_OTHER.format(line=record.step + 1)
                raise damaged(blocks.path, why, hint=hint) from error
            repeated = _done_again(record.step, f" ({record.label})", f"{TABLES}: {why}")
            steps, redone = steps[: record.step], [repeated]
            break
    return _Intact(steps=steps, checks=stored.checks[: len(steps) + 1], redone=redone)


def _smart_is_wrong(run: Run) -> str | None:
    """What is wrong with the SMART data from before the first step; none where they are not
    there."""
    try:
        run.smart("before")
    except FlashtwinError as error:
        return f"{smart_name('before')}: {why_of(error)}"
    return None


def _done_again(step: int, label: str, why: str) -> str:
    return f"done again from step {step}{label} on: {why}"


def _sweep(path: Path) -> None:
    """Remove files that were only half written."""
    with disk(path, "write"):
        for file in path.iterdir():
            half_kept = file.name.startswith(f"{STATE}-") and file.suffix == ".part"
            if file.suffix == UNFINISHED or half_kept:
                remove_tree(file)
