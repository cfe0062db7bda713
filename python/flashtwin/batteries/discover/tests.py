"""The tests that discover chooses from: the state that each begins at, and what it asks.

A test writes or reads on a drive that was erased and filled to a level. Invariants: a test's name
says all of it, so that a stored run is concluded without anything else; tests named by an earlier
flashtwin (rests of a length, on a full or a half full drive) can still be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flashtwin.model.target import Capabilities


@dataclass(frozen=True, kw_only=True)
class Test:
    """A test after the fill; a write past the size of the cache ends it.

    `level`: the share of the drive that is written before, in sequence. `overwrites`: so large a
    share of the capacity is then overwritten in 4 KiB all over the drive, which takes spare flash
    that a borrowed cache then lacks. `rests`: the drive is left alone for long enough that all of
    its cache comes back; `rest_s` says how long where that was asked for. `reads`: no write but
    reads, of where the cache holds data (see `places`), then single writes (see `latency`).
    """

    __test__ = False

    name: str
    level: float = 1.0
    overwrites: float = 0.0
    rests: bool = False
    rest_s: float = 0.0
    reads: bool = False

    @property
    def needs_trim(self) -> bool:
        """Whether its state cannot be had by writing over what is there."""
        return self.level < 1.0


AGAIN = Test(name="again")
PAST = Test(name="past", level=0.0, reads=True)
# Tests of an earlier flashtwin that are passed over: how long single writes wait tells something
# beside reads alone.
SHOW_NOTHING = ("single",)
# As a share of the capacity: what the test `random` overwrites, and what single writes take.
RANDOM_SHARE, SINGLE_SHARE = 0.02, 0.04
LEVEL, REST, HALF = "level-", "rest-", "half-"
# Levels in percent; beyond 100 a full drive is overwritten by so much at random.
LEVELS = (0.0, 50.0, 80.0, 90.0, 95.0, 100.0, 102.0, 105.0)


def level(percent: float) -> Test:
    """A write after a long rest on a drive that is so full."""
    percent = round(percent * 2) / 2
    return Test(
        name=f"{LEVEL}{percent:g}",
        level=min(percent / 100, 1.0),
        overwrites=round(max(percent / 100 - 1.0, 0.0), 6),
        rests=True,
    )


def named(name: str) -> Test:
    """The test of that name."""
    for known in (AGAIN, PAST):
        if name == known.name:
            return known
    if name.startswith(LEVEL):
        return level(float(name.removeprefix(LEVEL)))
    return _of_before(name)


def _of_before(name: str) -> Test:
    """A test as an earlier flashtwin named it."""
    match name:
        case "random":
            return Test(name=name, overwrites=RANDOM_SHARE, rest_s=600.0)
        case "trim":
            return Test(name=name, level=0.0)
    half = name.startswith(HALF)
    seconds = name.removeprefix(HALF if half else REST).removesuffix("s")
    return Test(name=name, level=0.5 if half else 1.0, rest_s=float(seconds))


def menu(can: Capabilities, more: Iterable[float] = ()) -> list[Test]:
    """What a target can do: levels besides those of the menu may be asked for. A file has no level:
    what is written over it takes no free space from the drive."""
    if not can.whole_drive:
        return []
    tests = [AGAIN, *(level(percent) for percent in (*LEVELS, *more))]
    return [test for test in dict.fromkeys(tests) if can.trim or not test.needs_trim]
