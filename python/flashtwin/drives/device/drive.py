"""Device: a whole drive as a block device of this machine, measured through fio.

It is a whole drive that forgets nothing between two runs. Where somebody consented it is held
exclusively and may be erased, trimmed and written; else it is opened for reading alone, beside
others, and every step that writes is answered with `NotPossible`. Invariants: before each step that
changes data everything is looked at again (`Held.writable`); fio opens what is open here, not a
name; nothing that names the device goes into a run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from flashtwin.batteries.base.counters import from_smart
from flashtwin.drives.device import health, identity, purge
from flashtwin.drives.device.facts import Facts, Roots, facts_of
from flashtwin.drives.device.held import Held
from flashtwin.drives.real import real_fio
from flashtwin.drives.real.jobfile import TARGET, job_file
from flashtwin.drives.real.real import GRAIN_BYTES, Real, quiet
from flashtwin.drives.real.real_fio import PREFERRED, Engine, caveats
from flashtwin.drives.real.scratch import Scratch
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.lazy import Lazy
from flashtwin.model.step import (
    Ask,
    Chain,
    Fill,
    Flush,
    Job,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Step,
    Trim,
)
from flashtwin.model.target import Capabilities, DriveInfo, Progress, Watch, changes_data

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

_READ_ONLY = "the device is only read: --destroy-data lets it be written over"
_PROBE = Job(name="probe", rw="randread", block_bytes=4096, depth=4, io_bytes=GRAIN_BYTES)


class Device(Real):
    """The block device at a path, as `facts` told of it before."""

    def __init__(
        self,
        facts: Facts,
        *,
        writes: bool,
        purges: bool = True,
        of_interest: Sequence[tuple[str, Path]] = (),
        salt: str | None = None,
        roots: Roots | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """`writes`: somebody consented to lose what is on it. `salt` is that of a run that is
        gone on with."""
        super().__init__(facts.path, facts.size_bytes, say=say)
        self._facts, self._writes, self._purges = facts, writes, purges
        self._interest, self._salt, self._roots = tuple(of_interest), salt, roots
        self._filled = True

    def open(self) -> Self:
        """Hold the device, and find out how fio reaches it."""
        if self._info is not None:
            return self
        self._fio = real_fio.find()
        self._held = Held(
            self._facts.path, writes=self._writes, of_interest=self._interest, roots=self._roots
        )
        self._scratch = Scratch("fio")
        self._work = self._scratch.path
        try:
            self._check_same(self._held.facts)
            self._engine = self._probe()
        except BaseException:
            self.close()
            raise
        roots = self._roots or Roots()
        self._thermometer = health.Thermometer(roots.sys / "class" / "block" / self._facts.name)
        self._zero_ns = time.monotonic_ns()
        notes = [*self._facts.remarks, *caveats(self._engine)]
        if not self._writes:
            notes.append("it is read while others may write to it")
        for note in notes:
            self._say(note)
        foreseen = self.foreseen
        can = replace(
            foreseen.can,
            holds_depth=self._engine.holds_depth,
            smart=bool(health.of(self._facts)),
            purge=self._purges and self._writes and purge.can_purge(self._held),
        )
        self._info = replace(foreseen, can=can, identity={**self._identity(), "notes": notes})
        return self

    @property
    def foreseen(self) -> DriveInfo:
        """What is known of it before it is opened."""
        facts = self._facts
        return DriveInfo(
            name=facts.model or facts.name,
            kind="device",
            capacity_bytes=self._size,
            can=Capabilities(
                whole_drive=not facts.partition_of,
                writes=self._writes,
                trim=self._writes and facts.discards,
                purge=self._writes and self._purges,
                smart=True,
            ),
            identity={},
        )

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Carry out one step."""
        if changes_data(step) and not self._writes:
            return NotPossible(reason=_READ_ONLY)
        began_ns = self._now_ns()
        match step:
            case Trim() if not self._facts.discards:
                return NotPossible(reason="the device takes no TRIM")
            case Trim():
                size = self._size - step.offset if step.size is None else step.size
                purge.discard(self._held, step.offset, size, watch)
                return self._passed(step.label, began_ns)
            case Purge():
                return self._purge(step.label, began_ns, watch)
            case Ask(of="smart"):
                data = self.smart()
                if not data:
                    return NotPossible(reason="smartctl tells no SMART data of this device")
                return replace(self._passed(step.label, began_ns), smart=data)
            case Run() | Chain() | Fill() | Rest():
                return (
                    self._written(step, watch) if changes_data(step) else self._watched(step, watch)
                )
            case Flush() if not self._writes:
                return self._passed(step.label, began_ns)
            case _:
                return super().do(step, watch)

    def _purge(self, label: str, began_ns: int, watch: Watch) -> Result | NotPossible:
        if not self._purges:
            return NotPossible(reason="--no-purge: what the drive held before is still in it")
        outcome = purge.purge(self._held, watch)
        if isinstance(outcome, str):
            return NotPossible(reason=outcome)
        return replace(self._passed(label, began_ns), note=str(outcome))

    def _written(self, step: Step, watch: Watch) -> Result | NotPossible:
        """A step that writes; what the drive counted of it stands in its note."""
        self._held.writable()
        before = self.smart() if self.info.can.smart else {}
        answer = self._watched(step, watch)
        if not before or not isinstance(answer, Result):
            return answer
        ratio = from_smart(before, self.smart())
        # Too little was written, or the drive does not count: the runs as a whole say that.
        if isinstance(ratio, str):
            return answer
        counted = f"by the drive's own counters write amplification was {ratio[0]:.2f}"
        return replace(answer, note=f"{answer.note}; {counted}" if answer.note else counted)

    def _watched(self, step: Step, watch: Watch) -> Result | NotPossible:
        """A step under the thermometer."""
        began_ns = self._now_ns()
        self._thermometer.begin()

        def look(progress: Progress) -> bool:
            self._thermometer.look(self._now_ns() - began_ns)
            return watch(progress)

        answer = super().do(step, look)
        rows = self._thermometer.rows
        if not isinstance(answer, Result) or not rows:
            return answer
        # The step begins with its first request, later than fio.
        late_ns = max(answer.start_ns - began_ns, 0)
        at, degrees = np.array(rows, dtype=np.int64).T
        keep = at > late_ns
        ends = at[keep] - late_ns
        lengths = np.diff(ends, prepend=0)
        meter = {
            "t_ns": ends,
            "dt_ns": lengths,
            "power_uw": np.zeros(len(ends), dtype=np.int64),
            "temperature_mc": degrees[keep],
        }
        return replace(answer, meter=meter) if len(ends) else answer

    def smart(self) -> dict[str, Any]:
        """SMART data now; see `model.drive.TellsSmart`."""
        return health.of(self._facts)

    def resume(self, at_ns: int, preparing: Sequence[Step], watch: Watch) -> str:
        """Go on with the drive as it is now; see `model.drive.Resumes`."""
        self._last_ns = at_ns
        self._zero_ns = time.monotonic_ns() - at_ns
        return "taken up on the drive as it is now: nothing tells what was done to it meanwhile"

    def host(self) -> dict[str, Any]:
        """By what it is known again, and what it hangs on; see `model.drive.TellsHost`."""
        facts = self._facts
        known = {"device_model": facts.model, "device_firmware": facts.firmware}
        known |= {"device": facts.name, "device_link": facts.link}
        return {
            "drive": identity.of(facts, self._salt),
            **{key: value for key, value in known.items() if value},
        }

    def claim(self, run: Path) -> None:
        """Nothing on a device says which run it belongs to."""

    def close(self) -> None:
        """Give the device back. A second call does nothing."""
        self._closed = True
        if hasattr(self, "_scratch"):
            self._scratch.close()
        if hasattr(self, "_held"):
            self._held.close()

    def _check_same(self, facts: Facts) -> None:
        """Refuse another device than the one that somebody consented to."""
        if identity.of(facts, "same") != identity.of(self._facts, "same"):
            raise FlashtwinError(
                f"{facts.path} is another device than the one that was chosen",
                hint="look at flashtwin identify, and name it by /dev/disk/by-id",
                exit_code=ENVIRONMENT,
            )

    def _probe(self) -> Engine:
        """The best engine that reads from the device, found by trying."""
        refused = ""
        for engine in PREFERRED:
            step = Run(label="probe", jobs=(_PROBE,))
            file = job_file(step, capacity_bytes=self._size, engine=engine)
            try:
                self._fio_in_directory(file.text, lambda bytes_done: True)
            except real_fio.FioError as failure:
                if failure.too_old:
                    raise
                refused = failure.complaint
                continue
            return engine
        raise FlashtwinError(
            f"fio cannot read {self._facts.path} with any of its engines: {refused}",
            exit_code=ENVIRONMENT,
        )

    def _identity(self) -> dict[str, object]:
        facts = self._facts
        return {
            "size_bytes": self._size,
            "model": facts.model,
            "firmware": facts.firmware,
            "fio": self._fio.version,
            "engine": self._engine.name,
            "direct": self._engine.direct,
            "holds_depth": self._engine.holds_depth,
        }

    def _passed(self, label: str, began_ns: int) -> Result:
        return self._after(quiet(label, began_ns, self._now_ns() - began_ns))

    def _sync(self) -> None:
        os.fsync(self._held.handle)

    def _put_target(self) -> tuple[int, ...]:
        (self._work / TARGET).symlink_to(f"/proc/self/fd/{self._held.handle}")
        return (self._held.handle,)


def looked_at(path: Path, of_interest: Sequence[tuple[str, Path]]) -> Facts:
    """The facts of a device by any of its names, under the kernel's: names in /dev/disk hold
    serial numbers."""
    return facts_of(Path(os.path.realpath(path)), of_interest=of_interest)
