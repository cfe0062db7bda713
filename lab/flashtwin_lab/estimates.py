"""What runs were told to take and what they took: `./dev bench --estimates [--json] [NAME…]`.

Every battery that is expected to take more than ten seconds on one of two twins is run there, on
the largest copy of the drive (a whole one, a quarter, a sixteenth) on which it is told to take less
than `MOST_S`; so are `review --quick` and a `sweep`. What it took of a processor is set
beside what was told before it for a machine that does nothing else, so that the bench may run
beside other work. Right is within a factor of two. Batteries that take longer on every copy are
named and not run. Each row is printed as it is measured, and names choose some of them: the bench
can be run in pieces.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from flashtwin.batteries.base import groups, registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.runner.estimate import Estimate, estimate
from flashtwin.runner.run import run_batteries
from flashtwin.study.sweep.executors import executor_of
from flashtwin.study.sweep.grid import axes
from flashtwin.study.sweep.plan import Plan
from flashtwin.study.sweep.run import Silent, sweep

DRIVES = ("bx500-240", "samsung-980-1tb")
SCALES = (None, "1/4", "1/16")
LEAST_S, MOST_S, FACTOR = 10.0, 40.0, 2.0
QUICK, SWEPT = "review --quick", "sweep"
COMMANDS = (QUICK, SWEPT)
# A fill of caches of 4 GB and more.
VARIED, POINTS = "slc_cache.size=4GB,8GB,12GB,16GB", 4

Clock = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One battery or command on one drive, in seconds of a processor."""

    drive: str
    what: str
    told_s: float
    at_most_s: float
    took_s: float

    @property
    def is_right(self) -> bool:
        """Whether what was told is within a factor of two of what it took."""
        return self.told_s / FACTOR <= self.took_s <= self.told_s * FACTOR

    @property
    def holds(self) -> bool:
        """Whether it took no more than the most that was told."""
        return self.took_s <= self.at_most_s


def processor_s() -> float:
    """Seconds of a processor that this process and those that it waited for have used."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def told(drive: str, scale: str | None, batteries: str) -> Estimate | None:
    """What batteries are expected to take of a processor; none where they do not suit the drive."""
    twin = Twin(load(drive, scale=scale), seed=1)
    try:
        requests = registry.parse(batteries)
        return estimate(requests, twin.info, pace=twin.pace(estimate(requests, twin.info).wall_s))
    except FlashtwinError:
        return None


def measured(
    drive: str, scale: str | None, what: str, batteries: str, clock: Clock = processor_s
) -> Row | None:
    """Tell what it will take, run it, and look at the clock."""
    takes = told(drive, scale, batteries)
    if takes is None:
        return None
    twin = Twin(load(drive, scale=scale), seed=1)
    began = clock()
    with tempfile.TemporaryDirectory() as place:
        run_batteries(twin, registry.parse(batteries), Path(place) / "run")
    return row_of(drive, scale, what, takes.wall_s, takes.most_wall_s, clock() - began)


def row_of(
    drive: str, scale: str | None, what: str, told_s: float, most_s: float, took_s: float
) -> Row:
    name = drive if scale is None else f"{drive} {scale}"
    numbers = [round(seconds, 1) for seconds in (told_s, most_s, took_s)]
    return Row(drive=name, what=what, told_s=numbers[0], at_most_s=numbers[1], took_s=numbers[2])


def swept(drive: str, clock: Clock = processor_s) -> Row:
    """A sweep over a few points, one after another."""
    heard: list[Estimate] = []

    class Hears(Silent):
        """Keeps what a point is told to take."""

        def expected(self, points: int, each: Estimate, at_once: int | None) -> None:
            heard.append(each)

    plan = Plan(drive=drive, batteries="fill", axes=tuple(axes([VARIED])), scale="1/4")
    began = clock()
    with tempfile.TemporaryDirectory() as place:
        sweep(plan, Path(place) / "sweep", executor=executor_of(1, None), watcher=Hears())
    each, took_s = heard[0], clock() - began
    return row_of(drive, "1/4", SWEPT, POINTS * each.wall_s, POINTS * each.most_wall_s, took_s)


def rows(names: list[str], left_out: list[str]) -> Iterator[Row]:
    """The rows of the names, or of everything over ten seconds, as they are measured."""
    for drive in DRIVES:
        for battery in names or registry.names():
            if battery in COMMANDS:
                continue
            whole = told(drive, None, battery)
            if whole is None or (whole.wall_s < LEAST_S and not names):
                continue
            scale = next((at for at in SCALES if _takes(drive, at, battery) <= MOST_S), "none")
            if scale == "none":
                left_out.append(f"{drive} {battery}")
            elif (row := measured(drive, scale, battery, battery)) is not None:
                yield row
        chosen = [command for command in COMMANDS if not names or command in names]
        if QUICK in chosen:
            quick = ",".join(groups.get("quick").batteries)
            if (row := measured(drive, "1/16", QUICK, quick)) is not None:
                yield row
        if SWEPT in chosen:
            yield swept(drive)


def _takes(drive: str, scale: str | None, battery: str) -> float:
    takes = told(drive, scale, battery)
    return float("inf") if takes is None else takes.wall_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    done, left_out = [], list[str]()
    for row in rows(words.names, left_out):
        done.append(row)
        text = f"{row.drive:24}{row.what:18}told {row.told_s:6.1f} s, took {row.took_s:6.1f} s"
        print(text, file=sys.stderr if words.json else sys.stdout, flush=True)
    right, hold = sum(row.is_right for row in done), sum(row.holds for row in done)
    if words.json:
        answer = {
            "rows": [asdict(row) for row in done],
            "within_twice": right,
            "at_most": hold,
            "left_out": left_out,
        }
        print(json.dumps(answer, indent=2))
    else:
        print(f"{right} of {len(done)} within a factor of two, {hold} within the most told")
        print(f"too long on every copy: {', '.join(left_out) or 'none'}")


if __name__ == "__main__":
    main()
