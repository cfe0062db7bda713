"""Reports of a system's disks, one after another: what iostat and dstat print.

Each report has rates of writes for some devices. The first one may be since the system began: it
is left out unless it looks like those that follow. Of several devices the one that wrote is read;
where more than one did, the user says which.

Invariants: the time between reports is never guessed: it is in the file, or said with --interval.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import numpy as np

from flashtwin.analysis.quantiles import median
from flashtwin.study.infer.read.cells import Numbers
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.clock import Clock
from flashtwin.study.infer.read.series import Builder
from flashtwin.study.infer.samples import (
    FEWEST,
    Floats,
    NoWritesError,
    OpenError,
    Samples,
    UnreadableError,
)

MOST_DEVICES = 1024
# What wrote less than this share of the busiest device is not what was filled.
IDLE_SHARE = 0.01
# A first report that is as fast as the next ones within this share is one of them.
ALIKE, LIKE = 0.2, 5


class Reports:
    """The reports of one file."""

    def __init__(self, program: str, choices: Choices, *, timed_by: str) -> None:
        self._program, self._choices, self._timed_by = program, choices, timed_by
        self._clock = Clock(Numbers(choices.decimal), None, f"{program}'s time")
        self._seconds = array("d")
        self._stamps: list[tuple[str, int]] = []
        self._writes: dict[str, array[float]] = {}
        self._reads: dict[str, float] = {}
        self._count = 0
        self._lengths = array("d")

    def add(
        self,
        stamp: tuple[str, int] | None,
        rates: Mapping[str, tuple[float, float]],
        length_s: float | None = None,
    ) -> None:
        """A report: its time with its line, writes and reads of each device in bytes a second, and
        the seconds that it covers, where bytes and rates say them."""
        if stamp is not None:
            self._stamps.append(stamp)
            if len(self._stamps) >= 4096:
                self._flush()
        for device, (write, read) in rates.items():
            if device not in self._writes:
                if len(self._writes) == MOST_DEVICES:
                    raise UnreadableError(f"has more than {MOST_DEVICES} devices", "report one")
                self._writes[device] = array("d", bytes(8 * self._count))
            self._writes[device].append(write)
            self._reads[device] = self._reads.get(device, 0.0) + read
        self._count += 1
        for written in self._writes.values():
            if len(written) < self._count:
                written.append(0.0)
        if length_s is not None:
            self._lengths.append(length_s)

    def _flush(self) -> None:
        if self._stamps:
            cells, lines = zip(*self._stamps, strict=True)
            self._seconds.extend(self._clock.seconds(cells, lines).tolist())
            self._stamps.clear()

    def samples(self, columns: str) -> Samples:
        """The writes of one device."""
        self._flush()
        if self._count < FEWEST:
            raise UnreadableError(
                f"has {self._count} report{'' if self._count == 1 else 's'} of {self._program}",
                f"at least {FEWEST} samples are needed: give it an interval, as in "
                f"{self._timed_by}",
            )
        device, notes = self._device()
        rate = np.array(self._writes[device])
        end = self._ends()
        first_alone = _since_the_beginning(rate)
        builder = Builder()
        if first_alone:
            notes.append(f"the first report of {self._program} is since the system began: left out")
            builder.begin(float(end[0]))
            end, rate = end[1:], rate[1:]
        builder.timed(end, rate)
        return builder.samples(
            f"{columns} of {device} ({self._program})",
            notes=notes,
            reads=self._reads[device] > IDLE_SHARE * float(rate.sum()),
        )

    def _ends(self) -> Floats:
        interval_s = self._choices.interval_s
        if interval_s is None and len(self._seconds) == self._count:
            return np.array(self._seconds)
        if interval_s is None and len(self._lengths) >= FEWEST:
            interval_s = round(median(np.array(self._lengths)), 2)
        if not interval_s:
            raise OpenError(
                f"has reports of {self._program} that do not say how far apart they are",
                f"say it with --interval SECONDS, or measure with {self._timed_by}",
            )
        return np.arange(1, self._count + 1, dtype=np.float64) * interval_s

    def _device(self) -> tuple[str, list[str]]:
        """The device that was filled, and what is said of the others."""
        device = self._choices.device
        if device is not None:
            if device not in self._writes:
                raise UnreadableError(
                    f"has no device {device}: {_some(list(self._writes))}",
                    "write a name of the file with --device",
                )
            return device, []
        totals = {name: sum(written) for name, written in self._writes.items()}
        most = max(totals.values(), default=0.0)
        if most <= 0:
            raise NoWritesError("has no device that wrote anything", "infer reads what was written")
        busy = [name for name, total in totals.items() if total >= IDLE_SHARE * most]
        if len(busy) > 1:
            raise OpenError(
                f"has several devices that wrote: {_some(busy)}", "say which with --device NAME"
            )
        idle = [name for name, total in totals.items() if name not in busy and total > 0]
        notes = [f"{_some(idle)} wrote less than a hundredth of it: left out"] if idle else []
        return busy[0], notes


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 8 else [*names[:8], f"… {len(names)} in all"])


def _since_the_beginning(rate: Floats) -> bool:
    """Whether the first report is of another time than those that follow."""
    following = rate[1 : 1 + LIKE]
    usual = median(following)
    return abs(float(rate[0]) - usual) > ALIKE * usual
