"""What runs were told to take and what they took: `./dev bench --estimates [--json] [CASE…]`.

A case is a battery or a command on one of two twins: `bx500-240/fill`, or `fill` on both. There is
one for every battery that is told more than `LEAST_S` on the whole drive. Each runs on the largest
copy of the drive on which it is told at most `--most` seconds; a battery that is told more on every
copy runs with the shorter times of `SHORTER`, and if these are too long as well, on the quickest
copy. Commands are run as they are typed, and told is the line that they print. Right is within a
factor of two.

Told is what a machine that does nothing else takes, and what a case took is counted in seconds of a
processor, so that it may run beside other work; of a command whose processes work side by side each
does its share. Commands that tell by how long their first parts took, or by what they get of the
processors, are judged by the wall's clock. A row has both clocks and says by which it is judged.

The cases run in processes of their own, as many at a time as there are processors, commands one
after another. What was measured lies in `target/estimates.jsonl`, and the same command goes on from
there; `--fresh` begins anew.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from flashtwin import _core, cli, system
from flashtwin.batteries.base import registry
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import INTERRUPTED, MISS, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner.estimate import Estimate, expected
from flashtwin.runner.run import run_batteries

DRIVES = ("bx500-240", "samsung-980-1tb")
SCALES = (None, "1/4", "1/16", "1/64")
LEAST_S, FACTOR = 10.0, 2.0
KEPT = Path("target") / "estimates.jsonl"
# In front of a command, in a process of its own: it tells as if nothing else ran.
ALONE = "--alone"
# Batteries of hours, with shorter loads of every kind that they have.
SHORTER = {
    "dispersion": "dispersion:seconds=60s",
    "iometer": "iometer:preset=quick",
    "qos": "qos:seconds=60s,random_percent=10",
    "servers": "servers:seconds=30s,random_percent=10",
    "snia_dirth": "snia_dirth:seconds=5s,before_s=30s,point_s=30s,threads=32+1,depths=32+1",
    "snia_hir": "snia_hir:waits=5s+25s,bursts=20,return_s=30s,fills=1",
    "snia_iops": "snia_iops:seconds=2s",
    "snia_xsr": "snia_xsr:stream_s=10m,random_s=5m",
    "wafmap": "wafmap:zones=1GiB,active=8,fills=90,passes=0.5,measured=0.1",
}
# Commands that run for more than ten seconds; DRIVE and OUT are put in.
COMMANDS = {
    "demo": "demo --out OUT",
    "review": "review DRIVE --quick --scale 1/16 --out OUT",
    "sweep": "sweep DRIVE --vary slc_cache.size=4GB,8GB,12GB,16GB --battery fill --scale 1/4"
    " --out OUT",
    "ask": "ask DRIVE --workload desktop",
    "validate": "validate DRIVE",
    "fit": "fit RUN --simulations 300 --no-run -o OUT.toml",
}
# How many processes of a command work side by side where there are processors for them.
SIDE_BY_SIDE = {"sweep": 4}
# Commands that tell by how long their first parts took, or in processes of their own, where they
# look at what they get of the processors.
BY_THE_WALL = ("ask", "demo", "fit", "validate")
# Commands that are run on one drive alone, as they take minutes; and what one needs before it.
ONCE = ("demo", "fit", "validate")
BEFORE = {"fit": "test DRIVE --scale 1/16 --battery fill --out RUN"}
# "about 3 min (at most 8 min)", and of a sweep "together about 3 min".
_TIME = r"(\d+(?:\.\d+)?) (ms|s|min|h|days?)"
_TOLD = re.compile(rf"(together )?about {_TIME}(?: \(at most {_TIME}\))?")
_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0, "days": 86400.0}

# An order to Linux: orphans of what this process begins are its own children.
_ADOPT_ORPHANS = 36

# Seconds of a processor, and seconds on the wall.
Clock = Callable[[], tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One battery or command on one drive, in seconds. `at_most_s` is none where only one time was
    told. `took_s` is by the clock that is named; both are there too."""

    case: str
    what: str
    told_s: float
    at_most_s: float | None
    took_s: float
    by: Literal["processor", "wall"]
    processor_s: float
    wall_s: float

    @property
    def is_right(self) -> bool:
        """Whether what was told is within a factor of two of what it took."""
        return self.told_s / FACTOR <= self.took_s <= self.told_s * FACTOR

    @property
    def holds(self) -> bool:
        """Whether it took no more than the most that was told."""
        return self.at_most_s is None or self.took_s <= self.at_most_s


def clocks() -> tuple[float, float]:
    """Seconds of a processor that this process and those that it waited for have used, and seconds
    on the wall."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used), time.monotonic()


def told(drive: str, scale: str | None, batteries: str) -> Estimate | None:
    """What batteries are expected to take of a processor; none where they do not suit the drive."""
    try:
        twin = Twin(load(drive, scale=scale), seed=1)
        return expected(registry.parse(batteries), twin, twin.info, slower=1.0)
    except FlashtwinError:
        return None


def measured(drive: str, scale: str | None, batteries: str, clock: Clock = clocks) -> Row | None:
    """Tell what it will take, run it, and look at the clock."""
    takes = told(drive, scale, batteries)
    if takes is None:
        return None
    twin = Twin(load(drive, scale=scale), seed=1)
    began = clock()
    with tempfile.TemporaryDirectory() as place:
        run_batteries(twin, registry.parse(batteries), Path(place) / "run")
    case = f"{drive}/{batteries.partition(':')[0]}"
    what = f"{batteries} --scale {scale}" if scale else batteries
    return row_of(case, what, (takes.wall_s, takes.most_wall_s), (began, clock()))


def row_of(
    case: str,
    what: str,
    told: tuple[float, float | None],
    readings: tuple[tuple[float, float], tuple[float, float]],
    *,
    side_by_side: int = 1,
    by_the_wall: bool = False,
) -> Row:
    """The row of a case with the time that was told and the most, from what both clocks showed
    before and after it. `side_by_side`: how many processes share its work."""
    (expected_s, most_s), (before, after) = told, readings
    processor_s, wall_s = (end - begin for begin, end in zip(before, after, strict=True))
    return Row(
        case=case,
        what=what,
        told_s=round(expected_s, 1),
        at_most_s=None if most_s is None else round(most_s, 1),
        took_s=round(wall_s if by_the_wall else processor_s / side_by_side, 1),
        by="wall" if by_the_wall else "processor",
        processor_s=round(processor_s, 1),
        wall_s=round(wall_s, 1),
    )


def said(lines: str) -> tuple[float, float | None] | None:
    """The longest time, and the most, that a command has told on stderr."""
    told = list(_TOLD.finditer(lines))
    rows = [match for match in told if match[1]] or told
    if not rows:
        return None
    expected = max(float(row[2]) * _UNITS[row[3]] for row in rows)
    most = [float(row[4]) * _UNITS[row[5]] for row in rows if row[4]]
    return expected, max(most, default=None)


def commanded(name: str, drive: str) -> Row | None:
    """Run a command as it is typed, and read what it tells."""
    by_the_wall = name in BY_THE_WALL
    told_by = "flashtwin.cli" if by_the_wall else __spec__.name
    program = [sys.executable, "-m", told_by, *([] if by_the_wall else [ALONE])]
    with tempfile.TemporaryDirectory() as place:

        def typed(text: str) -> list[str]:
            words = text.replace("OUT", f"{place}/out").replace("RUN", f"{place}/run")
            return [*program, *words.replace("DRIVE", drive).split()]

        if name in BEFORE:
            subprocess.run(typed(BEFORE[name]), capture_output=True, check=True, cwd=place)
        _adopt_orphans()
        began = clocks()
        answer = subprocess.run(typed(COMMANDS[name]), capture_output=True, text=True, cwd=place)
        _wait_for_orphans()
        readings = (began, clocks())
    times = said(answer.stderr)
    if times is None or answer.returncode not in (0, 1):
        print(f"{name}: no time told, or failed\n{answer.stderr}", file=sys.stderr)
        return None
    what = COMMANDS[name].replace("DRIVE", drive).partition(" --out")[0]
    return row_of(
        f"{drive}/{name}",
        what,
        times,
        readings,
        side_by_side=min(SIDE_BY_SIDE.get(name, 1), system.processors()),
        by_the_wall=by_the_wall,
    )


def _adopt_orphans() -> None:
    """Have the server of a command's workers, which outlives the command, be waited for here."""
    ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)


def _wait_for_orphans() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _as_if_alone(words: Sequence[str]) -> None:
    """Carry out a command, which tells what it takes where nothing else runs on this machine."""
    system.share_of_processors = lambda threads: 1.0
    cli.main(words)


def cases(names: Sequence[str]) -> Iterator[str]:
    """The cases of the names, or of everything over ten seconds."""
    for drive in DRIVES:
        for battery in registry.names():
            case = f"{drive}/{battery}"
            whole = told(drive, None, battery)
            if whole is None or not (names or whole.wall_s >= LEAST_S):
                continue
            if not names or battery in names or case in names:
                yield case
    for name in COMMANDS:
        for drive in DRIVES[:1] if name in ONCE else DRIVES:
            if not names or name in names or f"{drive}/{name}" in names:
                yield f"{drive}/{name}"


def row(case: str, most_s: float) -> Row | None:
    """Measure a case, in this process, on the largest copy on which it is told at most that."""
    drive, _, name = case.partition("/")
    if name in COMMANDS:
        return commanded(name, drive)
    copies = []
    for batteries in (name, SHORTER.get(name, name)):
        for scale in SCALES:
            takes = told(drive, scale, batteries)
            if takes is not None and takes.wall_s <= most_s:
                return measured(drive, scale, batteries)
            copies += [(takes.wall_s, batteries, scale)] if takes is not None else []
    if not copies:
        return None
    _, batteries, scale = min(copies, key=lambda copy: copy[0])
    return measured(drive, scale, batteries)


def _in_a_process(case: str, most_s: float) -> Row | None:
    command = [sys.executable, "-B", "-m", __spec__.name, "--here", f"--most={most_s}", case]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return Row(**json.loads(answer.stdout)) if answer.returncode == 0 else None


def _kept(fresh: bool) -> dict[str, Row]:
    """What was measured before with this model."""
    if fresh:
        KEPT.unlink(missing_ok=True)
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    kept = [json.loads(line) for line in lines]
    names = {field.name for field in fields(Row)}
    return {
        row["case"]: Row(**row)
        for model, row in kept
        if model == _core.MODEL and row.keys() == names
    }


def _measure(
    names: list[str], fresh: bool, most_s: float, tell: Callable[[Row], None]
) -> list[str]:
    """Measure what is not measured yet, and name the cases that could not be."""
    before = _kept(fresh)
    wanted = list(cases(names))
    failed: list[str] = []

    def ended(case: str, row: Row | None) -> None:
        if row is None:
            failed.append(case)
            return
        tell(row)
        if case not in before:
            with KEPT.open("a") as file:
                file.write(json.dumps([_core.MODEL, asdict(row)]) + "\n")

    for case in (case for case in wanted if case in before):
        ended(case, before[case])
    left = [case for case in wanted if case not in before]
    batteries = [case for case in left if case.partition("/")[2] not in COMMANDS]
    commands = [case for case in left if case not in batteries]
    for group, at_once in ((batteries, len(os.sched_getaffinity(0))), (commands, 1)):
        with ThreadPoolExecutor(at_once) as pool:
            under_way = {pool.submit(_in_a_process, case, most_s): case for case in group}
            for done in as_completed(under_way):
                ended(under_way[done], done.result())
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--most", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    if sys.argv[1:2] == [ALONE]:
        _as_if_alone(sys.argv[2:])
        return
    words = parser.parse_args()
    if words.here:
        try:
            measured_row = row(words.names[0], words.most)
        except Interrupted:
            sys.exit(INTERRUPTED)
        if measured_row is None:
            sys.exit(MISS)
        print(json.dumps(asdict(measured_row)))
        return
    done: list[Row] = []

    def tell(row: Row) -> None:
        done.append(row)
        most = "" if row.at_most_s is None else f", at most {row.at_most_s:.0f} s"
        mark = "" if row.is_right and row.holds else "  !"
        took = f"took {row.took_s:6.1f} s by the {row.by} ({row.wall_s:.0f} s on the wall)"
        text = f"{row.case:32}told {row.told_s:6.1f} s{most}, {took}{mark}"
        print(text, file=sys.stderr if words.json else sys.stdout, flush=True)

    failed = _measure(words.names, words.fresh, words.most, tell)
    if not done and not failed:
        parser.error(f"there is no case {' '.join(words.names)}; without a name all are run")
    right, hold = sum(row.is_right for row in done), sum(row.holds for row in done)
    if words.json:
        rows = [asdict(row) for row in done]
        answer = {"rows": rows, "within_twice": right, "at_most": hold, "failed": failed}
        print(json.dumps(answer, indent=2))
    else:
        print(f"{right} of {len(done)} within a factor of two, {hold} within the most told")
    if failed:
        print(f"not measured: {', '.join(failed)}", file=sys.stderr)
        sys.exit(MISS)


if __name__ == "__main__":
    main()
