"""The one small interface that batteries, analysis and reports know: a drive is a drive.

Twin (virtual time) and Real (fio) stand behind it, and whatever a user writes that passes
`flashtwin.drives.contract.check_drive`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    from flashtwin.model.pace import Pace
    from flashtwin.model.step import NotPossible, Result, Step
    from flashtwin.model.target import DriveInfo, Watch


@runtime_checkable
class TellsSmart(Protocol):
    """A drive that can be asked for its SMART data."""

    def smart(self) -> dict[str, Any]:
        """As `smartctl --json` prints it; what only a simulation knows is under `flashtwin`."""
        ...


@runtime_checkable
class Keeps(Protocol):
    """A drive whose whole state can be put into a file, so that a run can go on from there."""

    def save(self, path: Path) -> None:
        """Write the state after the steps so far; the file is whole or not there."""
        ...

    def restore(self, path: Path) -> None:
        """Load a state that `save` wrote; on any other file raise `FlashtwinError` and change
        nothing."""
        ...


@runtime_checkable
class Resumes(Protocol):
    """A drive in real time whose run is resumed: nothing brings back the state that it had."""

    def resume(self, at_ns: int, preparing: Sequence[Step], watch: Watch) -> str:
        """Go on at `at_ns` of the drive's clock; the answer is a sentence on what was done to it.

        `preparing` is what prepared the drive for the step to come, for one that has lost that.
        """
        ...


@runtime_checkable
class TellsHost(Protocol):
    """A drive that knows facts for host.json, by which it is found again."""

    def host(self) -> dict[str, Any]:
        """Facts of this machine, such as paths; they go into host.json and nowhere else."""
        ...


@runtime_checkable
class Remarks(Protocol):
    """A drive that has to tell a user of this machine something that changes no result."""

    def remarks(self) -> list[str]:
        """Sentences since the last call; they are said and go into no file of the run."""
        ...


@runtime_checkable
class BelongsToRun(Protocol):
    """A drive of which something lies outside of the run directory that measures it."""

    def claim(self, run: Path) -> None:
        """Say there which run it belongs to; the directory is there by now."""
        ...


@runtime_checkable
class Foresees(Protocol):
    """A drive that has its full `info` only while it is open, and knows most of it before."""

    @property
    def foreseen(self) -> DriveInfo:
        """What its `info` will be: enough for an estimate."""
        ...


@runtime_checkable
class Paces(Protocol):
    """A simulated drive that knows how fast this machine simulates its design."""

    def pace(self, expected_s: float) -> Pace:
        """Measured once and kept, where a run that takes `expected_s` is worth it."""
        ...


def opened(info: DriveInfo | None) -> DriveInfo:
    """The info of a drive that is open; raises where it is not."""
    if info is None:
        raise FlashtwinError(
            "the target is not open",
            hint="call open() first, or use it in a with statement",
            exit_code=USAGE,
        )
    return info


class Drive(Protocol):
    """A drive: does one step at a time, in order, on a clock of its own.

    Building the object does nothing: no file is made, no program started, no memory taken.
    """

    def open(self) -> Self:
        """Make or reach the target; nothing else is asked of a drive before. Safe to call twice."""
        ...

    @property
    def info(self) -> DriveInfo: ...

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Carry out one step; raises `Interrupted` when the watch says stop."""
        ...

    def close(self) -> None:
        """Give back what the drive holds (a real target removes its file). Safe to call twice."""
        ...
