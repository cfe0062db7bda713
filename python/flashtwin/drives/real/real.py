"""Real: a file on a real drive, tested through fio.

The file is made when the drive is opened and filled with random data over its whole length before
the first step, as a sparse file answers reads from nothing; it is removed at `close`, or when the
process ends. Its clock is the wall's and begins after that filling; in a run that is taken up it
goes on where it stopped, on the file that a killed process left or on one made and filled again.
What a file cannot do (trim, purge) is answered with `NotPossible`. A target's size is in whole MiB,
so that every usual block size divides it. Invariants: only a regular file of our own is ever
opened, and no fio is left running. fio's first request comes 0.2 to 0.4 s after its start: between
two steps the drive is idle for that time, and a step's `start_ns` is its first request's.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from flashtwin.drives.real import disk, real_file, real_fio
from flashtwin.drives.real.jobfile import TARGET, JobFile, impossible, job_file
from flashtwin.drives.real.output import parse_output
from flashtwin.drives.real.real_fio import PREFERRED, Engine, caveats
from flashtwin.drives.real.scratch import Scratch
from flashtwin.drives.real.series import Measured, from_averages, from_requests
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.drive import opened
from flashtwin.model.series import Series
from flashtwin.model.step import (
    Ask,
    Chain,
    Fill,
    Flush,
    Job,
    Mark,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Step,
    Trim,
    chained,
)
from flashtwin.model.target import Capabilities, DriveInfo, Interrupted, Progress, Watch
from flashtwin.model.units import readable_size

GRAIN_BYTES = 1 << 20
_POLL_S = 0.1
# From this size on the filling takes long enough to be told of.
_LONG_FILL_BYTES = 16 * 10**9
_PROBE = Job(name="probe", rw="write", block_bytes=4096, depth=4, size=GRAIN_BYTES)


class Real:
    """A regular file of `size_bytes` at `path`, or under our own name in the directory `path`."""

    def __init__(
        self,
        path: str | Path,
        size_bytes: int,
        *,
        say: Callable[[str], None] | None = None,
        leftover: real_file.Leftover | None = None,
    ) -> None:
        """`leftover`: the file of a killed run, which is used again if it is still there."""
        self._say, self._path, self._leftover = say or to_stderr, Path(path), leftover
        size = size_bytes // GRAIN_BYTES * GRAIN_BYTES
        if size <= 0:
            raise FlashtwinError(
                f"a target of {size_bytes} bytes is too small",
                hint="give --size of at least 1MiB",
                exit_code=USAGE,
            )
        self._size = size
        self._taken_over = self._closed = self._filled = False
        self._zero_ns = self._last_ns = 0
        self._info: DriveInfo | None = None

    def open(self) -> Self:
        """Make the file, or take over the one of a killed run, and find out how fio reaches it."""
        if self._info is not None:
            return self
        # What may not be written to is refused before a missing fio.
        if self._leftover is None:
            real_file.place(self._path)
        self._fio = real_fio.find()
        taken_over = real_file.take_over(self._leftover) if self._leftover else None
        # The file of a killed run; whether it was filled is not known here.
        self._taken_over = taken_over is not None
        where = taken_over.path if taken_over else real_file.place(self._path)
        if taken_over is None:
            real_file.check_space(where, self._size)
        self._scratch = Scratch("fio")
        self._work = self._scratch.path
        try:
            self._file = taken_over or real_file.create(where, self._size)
            size = readable_size(self._size)
            self._say(f"the target is {where}, {size}; it is removed at the end")
            self._say(
                "a file takes no TRIM and cannot be erased: what lies beside it on the drive, and"
                " the file system, are measured too"
            )
            self._engine = self._probe()
        except BaseException:
            self.close()
            raise
        for caveat in caveats(self._engine):
            self._say(caveat)
        foreseen = self.foreseen
        self._info = replace(
            foreseen,
            can=replace(foreseen.can, holds_depth=self._engine.holds_depth),
            identity=self._identity(),
        )
        return self

    @property
    def foreseen(self) -> DriveInfo:
        """What is known of the file before it is made."""
        return DriveInfo(
            name=self._path.absolute().name or "file",
            kind="file",
            capacity_bytes=self._size,
            can=Capabilities(whole_drive=False, filled_first=True),
            identity={},
        )

    @property
    def info(self) -> DriveInfo:
        """Size, and how fio reaches it."""
        return opened(self._info)

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Carry out one step; the first one fills the file before it."""
        if self._closed:
            raise FlashtwinError("the target is closed", exit_code=USAGE)
        _ = self.info
        if isinstance(step, Run | Chain) and (reason := impossible(step, self._size)):
            return NotPossible(reason=reason)
        self._fill_once(watch)
        match step:
            case Run() | Chain():
                return self._run(step, watch)
            case Rest():
                return self._rest(step, watch)
            case Fill():
                return self._prepare(step, watch)
            case Flush():
                return self._flush(step)
            case Mark():
                now_ns = self._now_ns()
                return self._after(quiet(step.label, now_ns, 0))
            case Ask(of="power"):
                return NotPossible(reason="no watt meter between this host and its drives is known")
            case Ask():
                return NotPossible(reason="a file has no SMART data, only the drive under it has")
            case Trim():
                return NotPossible(reason="a regular file takes no TRIM, only a device does")
            case Purge():
                return NotPossible(
                    reason="a file cannot be purged: the drive under it holds other data"
                )

    def resume(self, at_ns: int, preparing: Sequence[Step], watch: Watch) -> str:
        """Take over the file of a run that is resumed; see `model.drive.Resumes`. A file that was
        never filled is filled now."""
        is_filled = self._taken_over and at_ns > 0
        self._filled = is_filled
        self._fill_once(watch)
        if not is_filled:
            for step in preparing:
                self.do(step, watch)
        self._last_ns = at_ns
        self._zero_ns = time.monotonic_ns() - at_ns
        if self._taken_over:
            filled = "" if is_filled else ", filled with random data"
            return f"taken up on the file that the interrupted run left{filled}"
        repeated = ", ".join(step.label for step in preparing)
        prepared = f", and prepared by {repeated}" if repeated else ""
        return f"taken up on a file that was made again, filled with random data{prepared}"

    def host(self) -> dict[str, Any]:
        """The file's place and identity, and the disk under it; see `model.drive.TellsHost`."""
        file = real_file.left_behind(self._file, self._size)
        return {"file": file, **disk.facts_of(self._file.path)}

    def claim(self, run: Path) -> None:
        """The file belongs to that run; see `model.drive.BelongsToRun`."""
        real_file.claim(self._file, run)

    def close(self) -> None:
        """Remove the file and what fio left. A second call does nothing."""
        self._closed = True
        if hasattr(self, "_file"):
            real_file.remove(self._file)
        if hasattr(self, "_scratch"):
            self._scratch.close()

    def _probe(self) -> Engine:
        """The best engine that writes to the file, found by trying."""
        refused = ""
        for engine in PREFERRED:
            file = job_file(
                Run(label="probe", jobs=(_PROBE,)), capacity_bytes=self._size, engine=engine
            )
            try:
                self._fio_in_directory(file.text, lambda bytes_done: True)
            except real_fio.FioError as failure:
                if failure.full or failure.too_old:
                    raise
                refused = failure.complaint
                continue
            return engine
        raise FlashtwinError(
            f"fio cannot write to {self._file.path} with any of its engines: {refused}",
            exit_code=ENVIRONMENT,
        )

    def _identity(self) -> dict[str, object]:
        return {
            "size_bytes": self._size,
            "fio": self._fio.version,
            "engine": self._engine.name,
            "direct": self._engine.direct,
            "holds_depth": self._engine.holds_depth,
            "file_system": real_file.file_system(self._file.path),
            "notes": caveats(self._engine),
        }

    def _fill_once(self, watch: Watch) -> None:
        if self._filled:
            return
        self._say(
            "filling it with random data first: reads of what was never written would not reach the"
            " drive"
        )
        job = Job(name="fill", rw="write", block_bytes=GRAIN_BYTES, depth=8, size=self._size)
        file = job_file(
            Run(label="fill", jobs=(job,)),
            capacity_bytes=self._size,
            engine=self._engine,
            fresh_data=True,
        )
        shown_tenths = 0

        def report(bytes_done: int) -> bool:
            # Not part of the step that waits for it: the watch hears of no bytes and no time.
            nonlocal shown_tenths
            tenths = min(10 * bytes_done // self._size, 9)
            if tenths > shown_tenths and self._size >= _LONG_FILL_BYTES:
                shown_tenths = tenths
                self._say(f"filled {10 * tenths} %")
            return watch(Progress(bytes=0, drive_s=0.0))

        self._fio_in_directory(file.text, report)
        self._sync()
        self._filled = True
        self._zero_ns = time.monotonic_ns()

    def _run(
        self, step: Run | Chain, watch: Watch, *, fresh_data: bool = False
    ) -> Result | NotPossible:
        parts: Sequence[Run | Rest] = step.parts if isinstance(step, Chain) else (step,)
        jobs = [job for part in parts if isinstance(part, Run) for job in part.jobs]
        if any("trim" in job.rw for job in jobs) and not self.foreseen.can.trim:
            return NotPossible(reason="a regular file takes no TRIM, only a device does")
        rest_s = _trailing_s(parts)
        if not jobs:
            result = self._rest(Rest(label=step.label, seconds=rest_s), watch)
            over_ns = result.start_ns + result.duration_ns
            return replace(result, parts=part_results(parts, [], [], over_ns))
        began_ns, unix_ns = self._now_ns(), time.time_ns()
        file = job_file(step, capacity_bytes=self._size, engine=self._engine, fresh_data=fresh_data)
        text = self._fio_in_directory(file.text, self._progress_to(began_ns, watch))
        measured = collect(file, text, self._work)
        self._sleep(rest_s, began_ns, watch)
        ended_ns = self._now_ns() if rest_s else None
        return self._after(one_result(step, measured, file.notes, began_ns - unix_ns, ended_ns))

    def _prepare(self, step: Fill, watch: Watch) -> Result:
        """Carry out a step that only prepares: its totals are kept, its series is not."""
        job = Job(
            name="prepare",
            rw="write",
            block_bytes=step.block_bytes,
            depth=step.depth,
            offset=step.offset,
            size=step.size,
        )
        result = self._run(Run(label=step.label, jobs=(job,)), watch, fresh_data=True)
        assert isinstance(result, Result), "a write is possible on a file"
        return Result(
            label=step.label,
            start_ns=result.start_ns,
            duration_ns=result.duration_ns,
            series=Series.empty(),
            jobs=result.jobs,
            note=result.note,
        )

    def _rest(self, step: Rest, watch: Watch) -> Result:
        began_ns = self._now_ns()
        self._sleep(step.seconds, began_ns, watch)
        return self._after(quiet(step.label, began_ns, self._now_ns() - began_ns))

    def _sleep(self, seconds: float, began_ns: int, watch: Watch) -> None:
        """Wait on the clock; the watch's time counts from the step's beginning."""
        until = time.monotonic() + seconds
        while (remaining_s := until - time.monotonic()) > 0:
            time.sleep(min(remaining_s, _POLL_S))
            if not watch(Progress(bytes=0, drive_s=(self._now_ns() - began_ns) / 1e9)):
                raise Interrupted("the rest was cut short")

    def _flush(self, step: Flush) -> Result:
        began_ns = self._now_ns()
        self._sync()
        return self._after(quiet(step.label, began_ns, self._now_ns() - began_ns))

    def _sync(self) -> None:
        os.fsync(self._file.handle)

    def _fio_in_directory(self, text: str, report: Callable[[int], bool]) -> str:
        """One fio process over the file, in an empty directory but for the name `target`.

        That name is a link to the file that is open here: fio splits file names at colons and
        expands dollars, and so sees none.
        """
        for old_file in self._work.iterdir():
            old_file.unlink()
        inherited, readonly = self._put_target(), not self.foreseen.can.writes
        return real_fio.run(
            self._fio, text, self._work, report, inherited=inherited, readonly=readonly
        )

    def _put_target(self) -> tuple[int, ...]:
        """Put the target's name into fio's directory; the answer is which descriptors it takes."""
        if not self._file.is_there():
            raise FlashtwinError(
                f"{self._file.path} is no longer the file that was made for the test",
                exit_code=ENVIRONMENT,
            )
        (self._work / TARGET).symlink_to(self._file.link)
        return (self._file.handle,)

    def _progress_to(self, began_ns: int, watch: Watch) -> Callable[[int], bool]:
        return lambda bytes_done: watch(
            Progress(bytes=bytes_done, drive_s=(self._now_ns() - began_ns) / 1e9)
        )

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._zero_ns

    def _after(self, result: Result) -> Result:
        """A result moved so that no step begins before the one before it ended: fio's clock is
        coarse."""
        start_ns = max(result.start_ns, self._last_ns)
        self._last_ns = start_ns + result.duration_ns
        late_ns = start_ns - result.start_ns
        parts = tuple(replace(part, start_ns=part.start_ns + late_ns) for part in result.parts)
        return replace(result, start_ns=start_ns, parts=parts)


def _trailing_s(parts: Sequence[Run | Rest]) -> float:
    """The rests after the last run, for which no job of fio's stands."""
    seconds = 0.0
    for part in reversed(parts):
        if isinstance(part, Run):
            break
        seconds += part.seconds
    return seconds


def to_stderr(text: str) -> None:
    """Print a line on stderr."""
    print(text, file=sys.stderr, flush=True)


def one_result(
    step: Run | Chain,
    measured: Sequence[Measured],
    notes: Sequence[str],
    clock_ns: int,
    ended_ns: int | None,
) -> Result:
    """All runs as one result, with times counted from the first request. `clock_ns` leads from
    the wall clock to the drive's. `ended_ns` is when the step ended on the drive's clock, if
    that was not with its last request."""
    offsets = _offsets(measured)
    begins = [_first(measured) + clock_ns + offset for offset in offsets]
    step_parts = step.parts if isinstance(step, Chain) else (step,)
    parts = part_results(step_parts, measured, begins, ended_ns)
    texts = [*notes, *(note for run in measured for note in run.notes)]
    texts += _silences(measured, offsets)
    return replace(
        chained(step.label, parts),
        note="; ".join(texts) or None,
        parts=parts if isinstance(step, Chain) else (),
    )


def part_results(
    parts: Sequence[Run | Rest],
    measured: Sequence[Measured],
    begins: Sequence[int],
    ended_ns: int | None,
) -> tuple[Result, ...]:
    """The answer of each part of a step, on the drive's clock; `begins` are the beginnings of
    the runs. A rest begins where the part before it ends, and ends where the next one begins;
    the last one ends with the step."""
    runs = iter(zip(measured, begins, strict=True))
    leading_s = sum(part.seconds for part in _first_rests(parts))
    clock_ns = next(iter(begins), ended_ns or 0) - round(leading_s * 1e9)
    results: list[Result] = []
    for part in parts:
        if isinstance(part, Run):
            run, clock_ns = next(runs)
            result = Result(
                label=part.label,
                start_ns=clock_ns,
                duration_ns=run.duration_ns,
                series=run.series,
                jobs=run.jobs,
                hist=run.hist,
            )
        else:
            asked_ns = round(part.seconds * 1e9)
            result = quiet(part.label, clock_ns, asked_ns)
        results.append(result)
        clock_ns = result.start_ns + result.duration_ns
    ends = [*(after.start_ns for after in results[1:]), ended_ns]
    return tuple(
        result
        if isinstance(part, Run) or end is None
        else quiet(part.label, result.start_ns, max(end - result.start_ns, 0))
        for part, result, end in zip(parts, results, ends, strict=True)
    )


def _first_rests(parts: Sequence[Run | Rest]) -> Iterator[Rest]:
    for part in parts:
        if isinstance(part, Run):
            return
        yield part


def quiet(label: str, start_ns: int, duration_ns: int) -> Result:
    """The result of a step in which the host asked for nothing."""
    return Result(label=label, start_ns=start_ns, duration_ns=duration_ns, series=Series.empty())


def _first(measured: Sequence[Measured]) -> int:
    """The wall clock at the first request."""
    return next((run.start_unix_ns for run in measured if run.start_unix_ns), 0)


def _offsets(measured: Sequence[Measured]) -> list[int]:
    """When each run began after the first; one without a request begins as the last one ends."""
    offsets = [0]
    for before, run in pairwise(measured):
        ended = offsets[-1] + before.duration_ns
        began = run.start_unix_ns - _first(measured)
        offsets.append(max(began, ended))
    return offsets


def _silences(measured: Sequence[Measured], offsets: Sequence[int]) -> list[str]:
    """How long the target really had no request between the runs of a chain."""
    ends = [offset + run.duration_ns for offset, run in zip(offsets, measured, strict=True)]
    silent = [began - ended for began, ended in zip(offsets[1:], ends[:-1], strict=True)]
    if not silent:
        return []
    return ["seconds of silence between the runs: " + ", ".join(f"{ns / 1e9:.3f}" for ns in silent)]


def collect(file: JobFile, text: str, directory: Path) -> list[Measured]:
    """Read fio's JSON and the logs in `directory`."""
    output = parse_output(text)
    missing = [section.name for section in file.sections if section.name not in output.jobs]
    if missing:
        raise FlashtwinError(f"fio gave no result for {', '.join(missing)}", exit_code=ENVIRONMENT)
    measured = from_requests if file.exact else from_averages
    return [
        measured(
            [section for section in file.sections if section.part == part],
            output,
            directory,
            sample_ns,
        )
        for part, sample_ns in enumerate(file.samples_ns)
    ]
