"""What is measured, as everybody may know it: its kind and size, and how far a step has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


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
