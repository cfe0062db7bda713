"""Resuming a run: its journal answers the steps that were done, then the drive catches up.

First the battery hears the journal's answers, as fast as they can be read, and so comes to where it
was. Then the drive does: one that is repeatable is loaded as it was kept and the steps since are
simulated again, a real one cannot get its past back and is prepared as it can be.

A kept state is a file `state-00012-….snap` in the run directory: the drive after the first 12 steps
of the journal; the digest in its name is over what it holds and those steps. One is written once
the steps since the last took so long that repeating them would be a nuisance; the one before goes
then, and the last with the run's end.

Invariants: a step that is asked for is the one that was answered, else nothing goes on; a drive
that answers otherwise than it did is not the drive that was measured, and is refused; nothing that
goes wrong with a kept state ends a run or changes a result: without the file, or with one that is
damaged, of another run or of other steps, the steps are simulated again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flashtwin import outputs
from flashtwin.errors import USAGE, FlashtwinError, UsageError
from flashtwin.model.drive import Drive, Keeps, Resumes
from flashtwin.model.step import Fill, Flush, Mark, NotPossible, Purge, Rest, Result, Step, Trim
from flashtwin.model.target import DriveInfo, Watch
from flashtwin.runner.budget import BoundStep
from flashtwin.runs.journal import StepRecord, record_of
from flashtwin.runs.storage import TABLE_SHARE, memory_bytes
from flashtwin.runs.writer import STATE, Writer

# Seconds of work that are worth a file, and how many times longer than its writing they have to be.
WORTH_S = 10.0
WORTH_TIMES = 5.0

_NAME = re.compile(rf"{STATE}-(\d{{1,9}})-([0-9a-f]{{32}})\.snap")

# Facts of the target that may differ when a run is resumed.
MAY_DIFFER = ("fio", "notes")

_ANEW = "begin the run anew with flashtwin test; what it measured can still be read"


class States:
    """Keeps the states of one drive in files; does nothing for a drive whose state cannot be
    kept."""

    def __init__(self, drive: Drive, place: Path) -> None:
        self.unusable: list[str] = []
        self._drive, self._place = drive, place
        self._took_s, self._saving_s = 0.0, 0.0

    def after(self, checks: Sequence[str], took_s: float) -> None:
        """A step was written into the journal and took `took_s` on the wall's clock: keep the
        drive's state if that saves more time than it costs. `checks` are the journal's, one more
        than it has steps."""
        self._took_s += took_s
        if self._took_s >= max(WORTH_S, WORTH_TIMES * self._saving_s):
            self._save(len(checks) - 1, checks[-1])

    def restore(self, checks: Sequence[str]) -> int:
        """Load the latest kept state that belongs to the journal; the answer is how many of its
        steps that state covers. `unusable` says afterwards which files were of no use, and why."""
        if not isinstance(self._drive, Keeps):
            return 0
        for covered, path, digest in sorted(self._stored(), reverse=True):
            if covered >= len(checks):
                continue
            try:
                if _digest(path, checks[covered]) == digest:
                    self._drive.restore(path)
                    return covered
                why = "it is not the state that was kept after these steps"
            except FlashtwinError as error:
                why = error.message
            except OSError as error:
                why = os.strerror(error.errno or 0)
            self.unusable.append(f"{path.name} is of no use, steps are simulated again: {why}")
        return 0

    def _save(self, steps: int, check: str) -> None:
        if not isinstance(self._drive, Keeps):
            return
        began = time.monotonic()
        older = [path for _, path, _ in self._stored()]
        part = self._place / f"{STATE}-{steps:05}.part"
        # If it cannot be written, for example on a full disk, only time is lost.
        with contextlib.suppress(OSError, FlashtwinError):
            with outputs.replacing(part, within=self._place) as state_file:
                self._drive.save(state_file)
            path = self._place / f"{STATE}-{steps:05}-{_digest(part, check)}.snap"
            # The digest in its name shows whether it was written whole, so nothing waits for the
            # disk.
            outputs.copy(part, path, within=self._place)
            part.unlink()
            for old in older:
                if old != path:
                    old.unlink(missing_ok=True)
        self._took_s, self._saving_s = 0.0, time.monotonic() - began

    def _stored(self) -> list[tuple[int, Path, str]]:
        named = ((_NAME.fullmatch(path.name), path) for path in self._place.glob(f"{STATE}-*"))
        return [(int(match[1]), path, match[2]) for match, path in named if match]


def _digest(path: Path, check: str) -> str:
    """What stands for a file's bytes after the steps that `check` stands for.

    Raises `OSError`, and `FlashtwinError` for what is no file or more than a drive has.
    """
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode) or about.st_size > memory_bytes() // TABLE_SHARE:
        raise FlashtwinError("it is not a file with a drive's state", hint="it is simulated again")
    digest = hashlib.sha256(check.encode())
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()[:32]


def detail_of(step: Step) -> dict[str, Any]:
    """A step's own fields as JSON values, by which the same step is recognised."""
    fields = asdict(step)
    del fields["label"]
    for part in (fields, *fields.get("parts", ())):
        if part.get("repeats", "") is None:
            del part["repeats"]
        for job in part.get("jobs", ()):
            if job["fio"] is None:
                del job["fio"]
    return fields


def check_target(run: Path, before: Mapping[str, Any], info: DriveInfo) -> list[str]:
    """Refuse a drive that is not the run's; the answer is notes on what may differ."""
    now = _plain({name: getattr(info, name) for name in ("name", "kind", "capacity_bytes")})
    now["identity"] = _plain(info.identity)
    old = {**before, "identity": dict(before["identity"])}
    flat = [
        *((name, old.get(name), now[name]) for name in ("name", "kind", "capacity_bytes")),
        *(
            (name, old["identity"].get(name), now["identity"].get(name))
            for name in {**old["identity"], **now["identity"]}
        ),
    ]
    # These follow from the spec, whose hash is compared.
    compared = [row for row in flat if row[0] not in ("values", "toml")]
    other = [(name, was, is_) for name, was, is_ in compared if was != is_]
    for name, was, is_ in other:
        if name not in MAY_DIFFER:
            raise FlashtwinError(
                f"{run} cannot be resumed: {name} of the target was {was}, now it is {is_}",
                hint=_ANEW,
                exit_code=USAGE,
            )
    return [f"{name} was {was}, now it is {is_}" for name, was, is_ in other]


class CannotGoOnError(UsageError):
    """The run cannot be resumed, and is left as it is: what is there now is not what was
    measured."""


class Replay:
    """The steps that were done when this process began; empty in a run that begins here."""

    def __init__(self, writer: Writer, drive: Drive, states: States) -> None:
        self._writer, self._drive, self._states = writer, drive, states
        self._records = tuple(writer.records)
        self._steps: list[BoundStep] = []
        self._caught_up = not self._records

    def __len__(self) -> int:
        return len(self._records)

    @property
    def caught_up(self) -> bool:
        """Whether the drive is where the battery is."""
        return self._caught_up

    @property
    def over(self) -> bool:
        """Whether the battery has heard all steps of the journal."""
        return len(self._steps) == len(self._records)

    def answer(self, battery: str, bound: BoundStep) -> Result | NotPossible:
        """The journal's answer to the next step."""
        number, step = len(self._steps), bound.step
        record = self._records[number]
        now = (
            battery,
            step.label,
            type(step).__name__.lower(),
            _comparable(_plain(detail_of(step))),
        )
        if now != (record.battery, record.label, record.kind, _comparable(record.detail)):
            raise CannotGoOnError(
                f"{self._writer.path} cannot be resumed: its step {number} was {record.label},"
                f" and this flashtwin asks for {_other(step, record)}",
                hint=f"the battery {record.battery} has changed since; {_ANEW}",
                exit_code=USAGE,
            )
        self._steps.append(bound)
        return self._writer.answer(number)

    def catch_up(self, watch: Watch, report: Callable[[str, Step, bool], None]) -> str | None:
        """Bring the drive to where the battery is; the answer is a note for the steps that
        follow. `report` is called for each step that is simulated again, as it begins and as it
        ends."""
        if self._caught_up:
            return None
        self._caught_up = True
        if self._drive.info.can.repeatable:
            for number in range(self._states.restore(self._writer.checks), len(self._records)):
                self._simulate(number, watch, report)
            return None
        if isinstance(self._drive, Resumes):
            last = max(
                (record.start_ns + record.duration_ns for record in self._records), default=0
            )
            return self._drive.resume(last, self._preparing(), watch)
        return "taken up after an interruption"

    def _simulate(
        self, number: int, watch: Watch, report: Callable[[str, Step, bool], None]
    ) -> None:
        bound, record = self._steps[number], self._records[number]
        step = bound.step
        report(record.battery, step, True)
        answer = bound.marked(self._drive.do(step, watch))
        now = record_of(number, record.battery, record.label, record.kind, answer, record.detail)
        # Tables may be packed otherwise; what they hold follows the jobs.
        if _plain(asdict(now)) != _plain(asdict(replace(record, block=None))):
            raise CannotGoOnError(
                f"{self._writer.path} cannot be resumed: the drive answers {record.label}"
                " differently now",
                hint=f"this version of flashtwin simulates the drive differently; {_ANEW}",
                exit_code=USAGE,
            )
        report(record.battery, step, False)

    def _preparing(self) -> list[Step]:
        """The steps of the battery under way that prepared the drive for the next step: fills,
        purges, TRIMs and flushes, each with the rest right after it, and the rest right before
        the next step. What was measured between them is not measured again."""
        work = [
            (bound.step, record)
            for bound, record in zip(self._steps, self._records, strict=True)
            if not isinstance(bound.step, Mark) and record.not_possible is None
        ]
        battery = self._records[-1].battery
        of_battery = [step for step, record in work if record.battery == battery]
        preparing: list[Step] = []
        for number, step in enumerate(of_battery):
            before = of_battery[number - 1] if number else None
            rests = isinstance(step, Rest) and (
                isinstance(before, Fill | Trim) or number == len(of_battery) - 1
            )
            if isinstance(step, Purge | Fill | Trim | Flush) or rests:
                preparing.append(step)
        return preparing


def _comparable(detail: Mapping[str, Any]) -> dict[str, Any]:
    """What a step asks of the drive, without `repeats`: older runs do not say what a step
    repeats."""
    return {name: value for name, value in detail.items() if name != "repeats"}


def _plain(detail: dict[str, Any]) -> Any:
    """A value as it would come back from the journal."""
    return json.loads(json.dumps(detail))


def _other(step: Step, record: StepRecord) -> str:
    return step.label if step.label != record.label else "it with other values"
