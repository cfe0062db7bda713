"""Device: a whole drive as a block device of this machine, measured through fio.

It is a whole drive that forgets nothing between two runs. Where somebody consented it is held
exclusively and may be erased, trimmed and written; else it is opened for reading alone, beside
others, and every step that writes is answered with `NotPossible`. Invariants: before each step that
changes data everything is looked at again (`Held.writable`); fio opens what is open here, not a
name; nothing that names the device goes into a run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flashtwin.batteries.base.counters import from_smart
from flashtwin.drives.device import health, identity, purge
from flashtwin.drives.device.facts import Facts, Roots, facts_of
from flashtwin.drives.device.held import Held
from flashtwin.drives.real.engines import SYSTEM, Engine, caveats
from flashtwin.drives.real.instruments import Thermometer
from flashtwin.drives.real.jobfile import TARGET
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.drives.real.through_fio import GRAIN_BYTES, ThroughFio
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.step import (
    Chain,
    Fill,
    Job,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Trim,
    joined,
)
from flashtwin.model.target import Capabilities, DriveInfo, Watch, changes_data

_PROBE = Job(name="probe", rw="randread", block_bytes=4096, depth=4, io_bytes=GRAIN_BYTES)


class Device(ThroughFio):
    """The block device at a path, as `facts` told of it before."""

    no_trim = "the device takes no TRIM"
    no_purge = "--no-purge: what the drive held before is still in it"
    no_smart = "smartctl tells no SMART data of this device"
    read_only = "the device is only read: --destroy-data lets it be written over"
    taken_up = "taken up on the drive as it is now: nothing tells what was done to it meanwhile"
    too_small = "measure a device of at least 1 MiB"
    is_full = "what the device stands on is full, a file or a pool of thin volumes: make room there"

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
        power: PowerLog | None = None,
    ) -> None:
        """`writes`: somebody consented to lose what is on it. `salt` is that of a run that is
        gone on with."""
        super().__init__(facts.size_bytes, say=say, power=power)
        self._facts, self._writes, self._purges = facts, writes, purges
        self._interest, self._salt, self._roots = tuple(of_interest), salt, roots

    def reach(self) -> Engine:
        self._held = Held(
            self._facts.path, writes=self._writes, of_interest=self._interest, roots=self._roots
        )
        self._check_same(self._held.facts)
        return self._probe(_PROBE)

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
                power_meter=self._power is not None,
                thermometer=bool(self.thermometer().source),
            ),
            identity={},
        )

    def smart(self) -> dict[str, Any]:
        """SMART data now; see `model.drive.TellsSmart`."""
        return health.of(self._facts)

    def host(self) -> dict[str, Any]:
        """By what it is known again, and what it hangs on; see `model.drive.TellsHost`."""
        facts = self._facts
        known = {"device_model": facts.model, "device_firmware": facts.firmware}
        known |= {"device": facts.name, "device_link": facts.link}
        return {
            "drive": identity.of(facts, self._salt),
            **{key: value for key, value in known.items() if value},
        }

    def close(self) -> None:
        """Give the device back. A second call does nothing."""
        super().close()
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

    def abilities(self) -> Capabilities:
        return replace(
            self.foreseen.can,
            smart=bool(health.of(self._facts)),
            purge=self._purges and self._writes and purge.can_purge(self._held),
        )

    def identity(self) -> dict[str, object]:
        names = {"model": self._facts.model, "firmware": self._facts.firmware}
        return {**super().identity(), **names, "notes": self.notes()}

    def notes(self) -> list[str]:
        read = [] if self._writes else ["it is read while others may write to it"]
        return [*self._facts.remarks, *caveats(self._engine), *read]

    def thermometer(self) -> Thermometer:
        roots = self._roots or Roots()
        return Thermometer(roots.sys / "class" / "block" / self._facts.name)

    def is_gone(self) -> bool:
        roots = self._roots or Roots()
        return not (roots.sys / "dev" / "block" / self._facts.number).exists()

    def trim(self, step: Trim, watch: Watch) -> Result | NotPossible:
        if not self._facts.discards:
            return NotPossible(reason=self.no_trim)
        began_ns = self._now_ns()
        size = self._size - step.offset if step.size is None else step.size
        purge.discard(self._held, step.offset, size, watch)
        return self._passed(step.label, began_ns)

    def purge(self, step: Purge, watch: Watch) -> Result | NotPossible:
        if not self._purges:
            return NotPossible(reason=self.no_purge)
        began_ns = self._now_ns()
        outcome = purge.purge(self._held, watch)
        if isinstance(outcome, str):
            return NotPossible(reason=outcome)
        return replace(self._passed(step.label, began_ns), note=str(outcome))

    def _worked(self, step: Run | Chain | Rest | Fill, watch: Watch) -> Result | NotPossible:
        """A step; what the drive counted of one that writes stands in its note."""
        if not changes_data(step):
            return super()._worked(step, watch)
        self._held.writable()
        before = self.smart() if self.info.can.smart else {}
        answer = super()._worked(step, watch)
        if not before or not isinstance(answer, Result):
            return answer
        after = self.smart()
        ratio = from_smart(before, after)
        counted = [answer.note, health.slowed(before, after)]
        # Too little was written, or the drive does not count: the runs as a whole say that.
        if not isinstance(ratio, str):
            words = f"by the drive's own counters write amplification was {ratio[0]:.2f}"
            counted.insert(1, words)
        return replace(answer, note=joined(counted))

    def sync(self) -> None:
        if self._writes:
            os.fsync(self._held.handle)

    def put_target(self) -> tuple[int, ...]:
        (self._work / TARGET).symlink_to(f"/proc/self/fd/{self._held.handle}")
        return (self._held.handle,)


def looked_at(
    path: Path, of_interest: Sequence[tuple[str, Path]], roots: Roots | None = None
) -> Facts:
    """The facts of a device by any of its names, under the kernel's: names in /dev/disk hold
    serial numbers."""
    if SYSTEM != "linux":
        raise FlashtwinError(
            f"{path} is a device, and devices are measured on Linux alone",
            hint="name a directory on it: a file of its own is measured there",
            exit_code=ENVIRONMENT,
        )
    return facts_of(Path(os.path.realpath(path)), of_interest=of_interest, roots=roots)
