"""What is measured, as everybody may know it: its size, what it can do, and how far a step is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from flashtwin.model.job import directions_of
from flashtwin.model.step import Ask, Chain, Fill, Purge, Run, Step, Trim

Amount = TypeVar("Amount", int, float)


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a drive can do, and what it does to those who use it.

    Whoever has to decide by the drive (a battery, the runner, a page) decides by these fields and
    never by the drive's kind or class. A drive that says nothing is a whole drive in real time
    without instruments.

    - `virtual_time`: its clock is a simulation's. A rest costs no wall time, and drives that are
      measured side by side do not disturb each other.
    - `repeatable`: the same steps on a new one give the same answers, so lost steps can be had
      again.
    - `host_time`: `Job.host_ns` counts, as the host is simulated too.
    - `trim`, `purge`: it answers such steps with a result.
    - `smart`, `power_meter`, `thermometer`: it answers an `Ask` for them with a result.
    - `xray`: results show its inside.
    - `whole_drive`: false for a part of a drive, such as a file, beside which other data lie.
    - `filled_first`: it is written over its whole length before the first step, which takes time.
    - `writes`: it may be written to; of a device that is only read it is false.
    - `holds_depth`: a job's depth is kept outstanding all the time.
    """

    virtual_time: bool = False
    repeatable: bool = False
    host_time: bool = False
    trim: bool = False
    purge: bool = False
    smart: bool = False
    power_meter: bool = False
    thermometer: bool = False
    xray: bool = False
    whole_drive: bool = True
    filled_first: bool = False
    writes: bool = True
    holds_depth: bool = True

    def allow(self, step: Step) -> bool:
        """Whether the drive does such a step; reading and resting any drive does."""
        match step:
            case Trim():
                return self.trim
            case Purge():
                return self.purge
            case Ask():
                can = {"smart": self.smart, "power": self.power_meter}
                return can.get(step.of, self.thermometer)
            case Fill() | Run() | Chain():
                return self.writes or not changes_data(step)
            case _:
                return True


def changes_data(step: Step) -> bool:
    """Whether a step asks for anything but reads."""
    match step:
        case Fill() | Purge() | Trim():
            return True
        case Chain():
            return any(changes_data(part) for part in step.parts)
        case Run():
            return any(set(directions_of(job.rw)) != {"read"} for job in step.jobs)
        case _:
            return False


@dataclass(frozen=True, kw_only=True)
class DriveInfo:
    """What is known of a target before it is asked anything.

    `kind` is a word for people and for the manifest ("twin", "file"); nothing is decided by it.
    `can` is what the drive can do. `identity` goes into the manifest (of a twin: the resolved spec
    and its hash) and must not name the host. `memory_bytes` is what
    the target takes of this machine's memory while it is open.
    """

    name: str
    kind: str
    capacity_bytes: int
    can: Capabilities
    identity: dict[str, object]
    memory_bytes: int = 0

    @property
    def is_prepared_untimed(self) -> bool:
        """Whether it is filled without time where a battery does not look."""
        return self.identity.get("preparation") == "untimed"

    @property
    def scale(self) -> int:
        """How many times smaller it is than the drive that it stands for."""
        known = self.identity.get("scale")
        return known if isinstance(known, int) and known > 0 else 1

    def share_of(self, amount: Amount) -> Amount:
        """Bytes or seconds that a test asks of the whole drive, divided by the scale of this copy;
        bytes stay whole."""
        return amount // self.scale if isinstance(amount, int) else amount / self.scale

    @property
    def raw_bytes(self) -> int | None:
        """The flash in it where somebody says so; 0 where the target is no whole drive."""
        known = self.identity.get("raw_bytes")
        if isinstance(known, int):
            return known
        return None if self.can.whole_drive else 0


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a step stands: bytes done since it began, and seconds on the drive's clock."""

    bytes: int
    drive_s: float


# Called now and then during a step; returns False to stop the step (Ctrl-C, a budget).
Watch = Callable[[Progress], bool]


class Interrupted(Exception):  # noqa: N818 - a state of the run, not an error
    """The watch said stop; the step has no result."""
