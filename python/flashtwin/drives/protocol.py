"""The one small interface that batteries, analysis and reports know: a drive is a drive.

Twin (virtual time) and Real (fio) stand behind it, and whatever a user writes that passes
`flashtwin.drives.contract.check_drive`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from flashtwin.battery.step import NotPossible, Result, Step


@dataclass(frozen=True, kw_only=True)
class DriveInfo:
    """What is known of a target before it is asked anything.

    `kind`: "twin" or "file". `virtual_time`: rests cost no wall time. `identity` goes into the
    manifest (of a twin: the resolved spec and its hash) and must not name the host.
    """

    name: str
    kind: Literal["twin", "file"]
    capacity_bytes: int
    virtual_time: bool
    identity: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a step stands: bytes done since it began, and seconds on the drive's clock."""

    bytes: int
    drive_s: float


# Called now and then during a step; returns False to stop the step (Ctrl-C, a budget).
Watch = Callable[[Progress], bool]


class Interrupted(Exception):  # noqa: N818 - a state of the run, not an error
    """The watch said stop; the step has no result."""


@runtime_checkable
class TellsSmart(Protocol):
    """A drive that can be asked for its SMART data."""

    def smart(self) -> dict[str, Any]:
        """As `smartctl --json` prints it; what only a simulation knows is under `flashtwin`."""
        ...


class Drive(Protocol):
    """A drive: does one step at a time, in order, on a clock of its own."""

    @property
    def info(self) -> DriveInfo: ...

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Carry out one step; raises `Interrupted` when the watch says stop."""
        ...

    def close(self) -> None:
        """Give back what the drive holds (a real target removes its file). Safe to call twice."""
        ...
