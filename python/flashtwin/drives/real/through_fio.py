"""A drive in real time that fio reads and writes: what a file, a device and an export share.

Whoever stands on it says how the target is reached (`reach`), under which name fio finds it
(`put_target`), how it is synced, and why it cannot do what it cannot. The clock is the wall's and
begins when the drive is open. fio's first request comes 0.2 to 0.4 s after its start: between two
steps the drive is idle for that time, and a step's `start_ns` is its first request's. Invariants:
no fio is left running; what is not to be written to gets no step that writes, and fio itself
refuses to; what is read beside a step (`instruments`) is read by nobody that fio waits for.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

from flashtwin.drives.real import engines, real_fio
from flashtwin.drives.real.answers import collect, one_result, part_results, quiet
from flashtwin.drives.real.engines import Engine
from flashtwin.drives.real.instruments import Instruments, Thermometer
from flashtwin.drives.real.jobfile import TARGET, impossible, job_file
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.drives.real.scratch import Scratch
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
)
from flashtwin.model.target import (
    Capabilities,
    DriveInfo,
    Interrupted,
    Progress,
    Watch,
    changes_data,
)

GRAIN_BYTES = 1 << 20
_POLL_S = 0.1
# The first MiB of a drive that answers takes a second, also where it has to spin up.
PROBE_S = 60.0


class ThroughFio(ABC):
    """A target of `size_bytes`, in whole MiB, so that every usual block size divides it."""

    # Why it cannot do what it cannot.
    no_trim = no_purge = no_smart = read_only = ""
    # How a run goes on with it.
    taken_up = ""
    # A hint where it is too small, and one where it is full.
    too_small = "give --size of at least 1MiB"
    is_full = "free some space, or give a smaller --size"

    def __init__(
        self,
        size_bytes: int,
        *,
        say: Callable[[str], None] | None = None,
        power: PowerLog | None = None,
    ) -> None:
        size = size_bytes // GRAIN_BYTES * GRAIN_BYTES
        if size <= 0:
            raise FlashtwinError(
                f"a target of {size_bytes} bytes is too small",
                hint=self.too_small,
                exit_code=USAGE,
            )
        self._size, self._say, self._power = size, say or to_stderr, power
        self._closed = False
        self._zero_ns = self._last_ns = 0
        self._info: DriveInfo | None = None

    def open(self) -> Self:
        """Get hold of the target, and find out how fio reaches it."""
        if self._info is not None:
            return self
        self._fio = real_fio.find()
        clocks = self._power.opened() if self._power else []
        self._scratch = Scratch("fio")
        self._work = self._scratch.path
        try:
            self._engine = self.reach()
        except BaseException:
            self.close()
            raise
        thermometer = self.thermometer()
        self._instruments = Instruments(thermometer, self._power)
        self._zero_ns = time.monotonic_ns()
        for note in [*self.notes(), *clocks]:
            self._say(note)
        degrees = thermometer is not None and thermometer.now() is not None
        can = replace(self.abilities(), holds_depth=self._engine.holds_depth, thermometer=degrees)
        told_by = {"thermometer": thermometer.source} if thermometer and degrees else {}
        self._info = replace(self.foreseen, can=can, identity=self.identity() | told_by)
        return self

    @property
    @abstractmethod
    def foreseen(self) -> DriveInfo:
        """What is known of it before it is opened."""

    @property
    def info(self) -> DriveInfo:
        """Size, and how fio reaches it."""
        return opened(self._info)

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Carry out one step."""
        if self._closed:
            raise FlashtwinError("the target is closed", hint="open it again", exit_code=USAGE)
        if changes_data(step) and not self.info.can.writes:
            return NotPossible(reason=self.read_only)
        if isinstance(step, Run | Chain) and (reason := impossible(step, self._size)):
            return NotPossible(reason=reason)
        self.get_ready(watch)
        began_ns = self._now_ns()
        match step:
            case Run() | Chain() | Rest() | Fill():
                with self._instruments.reading():
                    answer = self._worked(step, watch)
                if isinstance(answer, Result):
                    return self._instruments.told(answer, self._zero_ns)
                return answer
            case Flush():
                self.sync()
            case Ask(of="power") if self._power is None:
                return NotPossible(reason="no watt meter between this host and its drives is known")
            case Ask(of="temperature") if not self.info.can.thermometer:
                return NotPossible(reason="nothing tells this host how warm the drive is")
            case Ask(of="smart"):
                return self.told_smart(step)
            case Trim():
                return self.trim(step, watch)
            case Purge():
                return self.purge(step, watch)
            case Mark() | Ask():
                return self._after(quiet(step.label, began_ns, 0))
        return self._passed(step.label, began_ns)

    def resume(self, at_ns: int, preparing: Sequence[Step], watch: Watch) -> str:
        """Go on with the drive as it is now; see `model.drive.Resumes`."""
        self._goes_on(at_ns)
        return self.taken_up

    def close(self) -> None:
        """Give the target back. A second call does nothing."""
        self._closed = True
        if hasattr(self, "_scratch"):
            self._scratch.close()

    def smart(self) -> dict[str, Any]:
        """SMART data now; see `model.drive.TellsSmart`."""
        return {}

    # Each target says these of itself.

    @abstractmethod
    def reach(self) -> Engine:
        """Get hold of it; the engine by which fio reaches it."""

    @property
    def name_for_fio(self) -> str:
        """Its name in fio's directory, or its path as fio takes it."""
        return TARGET

    @abstractmethod
    def put_target(self) -> tuple[int, ...]:
        """Put its name into fio's directory, where it has one there; the answer is which
        descriptors fio takes."""

    def identity(self) -> dict[str, object]:
        """What the manifest says of it."""
        return {
            "size_bytes": self._size,
            "fio": self._fio.version,
            "engine": self._engine.name,
            "direct": self._engine.direct,
            "holds_depth": self._engine.holds_depth,
        }

    def abilities(self) -> Capabilities:
        return self.foreseen.can

    def notes(self) -> Sequence[str]:
        return ()

    def thermometer(self) -> Thermometer | None:
        return None

    def is_gone(self) -> bool:
        """True where what was opened is no longer in this machine."""
        return False

    def get_ready(self, watch: Watch) -> None:
        """Do what the first step waits for; a target that is not open refuses."""
        _ = self.info

    @abstractmethod
    def sync(self) -> None:
        """Have what was written reach the target."""

    def trim(self, step: Trim, watch: Watch) -> Result | NotPossible:
        return NotPossible(reason=self.no_trim)

    def purge(self, step: Purge, watch: Watch) -> Result | NotPossible:
        return NotPossible(reason=self.no_purge)

    def told_smart(self, step: Ask) -> Result | NotPossible:
        at = quiet(step.label, self._now_ns(), 0)
        data = self.smart() if self.info.can.smart else {}
        return replace(self._after(at), smart=data) if data else NotPossible(reason=self.no_smart)

    # The work is one for all of them.

    def _probe(self, probe: Job) -> Engine:
        """The best engine that carries out a job on the target, found by trying."""
        refused, verb = "", "read" if "read" in probe.rw else "write to"
        until_s = time.monotonic() + PROBE_S
        for engine in engines.preferred():
            step = Run(label="probe", jobs=(probe,))
            file = job_file(
                step, capacity_bytes=self._size, engine=engine, filename=self.name_for_fio
            )
            try:
                self._fio_in_directory(file.text, lambda done: time.monotonic() < until_s)
            except Interrupted as error:
                raise FlashtwinError(
                    f"fio did not {verb} {self.foreseen.name} within {PROBE_S:g} s",
                    hint="look at the drive, and at what the program fio on the PATH is",
                    exit_code=ENVIRONMENT,
                ) from error
            except real_fio.FioError as failure:
                if failure.full or failure.too_old:
                    raise
                refused = failure.complaint
                continue
            return engine
        raise FlashtwinError(
            f"fio cannot {verb} {self.foreseen.name} with any of its engines: {refused}",
            hint="flashtwin doctor PATH says what can be done there",
            exit_code=ENVIRONMENT,
        )

    def _worked(self, step: Run | Chain | Rest | Fill, watch: Watch) -> Result | NotPossible:
        match step:
            case Run() | Chain():
                return self._run(step, watch)
            case Rest():
                return self._rest(step, watch)
            case Fill():
                return self._prepare(step, watch)

    def _run(
        self, step: Run | Chain, watch: Watch, *, fresh_data: bool = False
    ) -> Result | NotPossible:
        parts: Sequence[Run | Rest] = step.parts if isinstance(step, Chain) else (step,)
        jobs = [job for part in parts if isinstance(part, Run) for job in part.jobs]
        if any("trim" in job.rw for job in jobs) and not self.foreseen.can.trim:
            return NotPossible(reason=self.no_trim)
        rest_s = _trailing_s(parts)
        if not jobs:
            result = self._rest(Rest(label=step.label, seconds=rest_s), watch)
            over_ns = result.start_ns + result.duration_ns
            return replace(result, parts=part_results(parts, [], [], over_ns))
        began_ns, unix_ns = self._now_ns(), time.time_ns()
        file = job_file(
            step,
            capacity_bytes=self._size,
            engine=self._engine,
            filename=self.name_for_fio,
            fresh_data=fresh_data,
        )
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
        assert isinstance(result, Result), "what may be written to takes a write"
        return replace(result, series=Series.empty(), hist={})

    def _rest(self, step: Rest, watch: Watch) -> Result:
        began_ns = self._now_ns()
        self._sleep(step.seconds, began_ns, watch)
        return self._passed(step.label, began_ns)

    def _sleep(self, seconds: float, began_ns: int, watch: Watch) -> None:
        """Wait on the clock; the watch's time counts from the step's beginning."""
        until = time.monotonic() + seconds
        while (remaining_s := until - time.monotonic()) > 0:
            time.sleep(min(remaining_s, _POLL_S))
            if not watch(Progress(bytes=0, drive_s=(self._now_ns() - began_ns) / 1e9)):
                raise Interrupted("the rest was cut short")

    def _fio_in_directory(self, text: str, report: Callable[[int], bool]) -> str:
        """One fio process over the target, in an empty directory but for the name `target`.

        That name is a link to what is open here: fio splits file names at colons and expands
        dollars, and so sees none. Where there are no links, fio gets the path (`name_for_fio`).
        """
        for old_file in self._work.iterdir():
            old_file.unlink()
        inherited, readonly = self.put_target(), not self.foreseen.can.writes
        try:
            return real_fio.run(
                self._fio, text, self._work, report, inherited=inherited, readonly=readonly
            )
        except real_fio.FioError as error:
            if self.is_gone():
                raise FlashtwinError(
                    f"{self.foreseen.name} is gone: {error.complaint}",
                    hint="attach it again",
                    exit_code=ENVIRONMENT,
                ) from error
            if error.full:
                error.hint = self.is_full
            raise

    def _progress_to(self, began_ns: int, watch: Watch) -> Callable[[int], bool]:
        return lambda bytes_done: watch(
            Progress(bytes=bytes_done, drive_s=(self._now_ns() - began_ns) / 1e9)
        )

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._zero_ns

    def _goes_on(self, at_ns: int) -> None:
        """The clock of a run that is gone on with."""
        self._last_ns = at_ns
        self._zero_ns = time.monotonic_ns() - at_ns

    def _passed(self, label: str, began_ns: int) -> Result:
        """A step that took until now, and in which the host asked for no data."""
        return self._after(quiet(label, began_ns, self._now_ns() - began_ns))

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
