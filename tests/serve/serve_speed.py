"""How much of a client's speed a served drive leaves it: `./dev bench --serve`.

fio's nbd engine writes to a served twin without timing and, in turns, to nbdkit's null plugin,
which does nothing; both by a unix socket on the same machine. Rates are shares of the plugin's in
the same turn, so that other work on the machine weighs on both. The processor time of the server is
counted for each operation. Lateness is measured by the server just before it sends, at depth 1 in
the drive's time; beside it stands a loop that only sleeps and spins to deadlines 100 us apart.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from processes import wait_for

DRIVE = ("bx500-240", "--scale", "1/64")
TURNS = 5
RUN_S = 2
RANDOM = ("--rw=randwrite", "--bs=4k", "--iodepth=32", "--size=256m")
SEQUENTIAL = ("--rw=write", "--bs=128k", "--iodepth=8", "--size=256m")
READS = ("--rw=randread", "--bs=4k", "--iodepth=1", "--size=64m")
# The bare loop: deadlines so far apart, the least and the most that it spins.
PERIOD_NS, LEAST_NS, MOST_NS = 100_000, 10_000, 60_000
PROGRAM = (sys.executable, "-m", "flashtwin.cli")


@contextmanager
def plugin(place: Path) -> Iterator[tuple[str, int]]:
    """nbdkit's null plugin: its address and its process."""
    path = place / "null.sock"
    path.unlink(missing_ok=True)
    process = subprocess.Popen(["nbdkit", "-f", "-U", str(path), "null", "size=4G"])
    try:
        assert wait_for(path.exists, 30)
        yield f"nbd+unix:///?socket={path}", process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def twin(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A served twin: its address and its process, which prints what came of it when it ends."""
    process = subprocess.Popen(
        [*PROGRAM, "serve", *DRIVE, "--print-uri", "--json", *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def processor_s(pid: int) -> float:
    """What a process and the threads that it had took of the processors, to the nanosecond.

    The ticks of /proc/PID/stat miss who sleeps before each of them, as servers do. The number of
    the clock is the kernel's for CPUCLOCK_SCHED of a process.
    """
    return time.clock_gettime((~pid << 3) | 2)


def driven(uri: str, pid: int, job: tuple[str, ...], *more: str) -> tuple[float, float]:
    """Operations a second, and microseconds of the server's processors for each."""
    before = processor_s(pid)
    bounds = ("--time_based", f"--runtime={RUN_S}", "--output-format=json", *more)
    command = ["fio", "--name=w", "--ioengine=nbd", f"--uri={uri}", *job, *bounds]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed: {done.stderr}{done.stdout[:500]}")
    text = done.stdout
    (row,) = json.loads(text[text.index("{") :])["jobs"]
    counts = row["write"] if row["write"]["total_ios"] else row["read"]
    return counts["iops"], 1e6 * (processor_s(pid) - before) / max(counts["total_ios"], 1)


def bare_lateness(seconds: float) -> list[float]:
    """Microseconds by which a loop misses its deadlines that sleeps and then spins, with a margin
    that it learns."""
    late, margin = [], LEAST_NS
    due, end = time.monotonic_ns() + PERIOD_NS, time.monotonic_ns() + int(seconds * 1e9)
    while due < end:
        sleep_ns = due - time.monotonic_ns() - margin
        if sleep_ns > 0:
            meant = time.monotonic_ns() + sleep_ns
            time.sleep(sleep_ns / 1e9)
            over = time.monotonic_ns() - meant
            margin = over if over > margin else margin - (margin - over) // 64
            margin = min(max(margin, LEAST_NS), MOST_NS)
        while (now := time.monotonic_ns()) < due:
            pass
        late.append((now - due) / 1e3)
        due = max(due + PERIOD_NS, now)
    return sorted(late)


def touch(uri: str) -> None:
    """Write the whole drive, twice: the first touch of memory is the system's, and data that are
    written over stay in the flash, and so in memory, until it is erased."""
    words = ("--name=t", "--rw=write", "--bs=1m", "--iodepth=4", "--loops=2")
    subprocess.run(
        ["fio", "--ioengine=nbd", f"--uri={uri}", *words], check=True, stdout=subprocess.DEVNULL
    )


def in_turns(place: Path, job: tuple[str, ...]) -> dict[str, list[tuple[float, float]]]:
    with plugin(place) as (null_uri, null_pid), twin("--no-timing") as (uri, process):
        touch(uri)
        turns: dict[str, list[tuple[float, float]]] = {"null": [], "twin": []}
        for _ in range(TURNS):
            turns["null"].append(driven(null_uri, null_pid, job))
            turns["twin"].append(driven(uri, process.pid, job))
    return turns


def shares(turns: dict[str, list[tuple[float, float]]]) -> dict[str, float]:
    ratios = [twin[0] / null[0] for twin, null in zip(turns["twin"], turns["null"], strict=True)]
    return {
        "share_of_null": statistics.median(ratios),
        "iops": max(rate for rate, _ in turns["twin"]),
        "null_iops": max(rate for rate, _ in turns["null"]),
        "server_us": min(cost for _, cost in turns["twin"]),
        "null_server_us": min(cost for _, cost in turns["null"]),
    }


def lateness() -> dict[str, float]:
    served, bare = [], []
    for _ in range(2):
        bare += bare_lateness(RUN_S)
        with twin("--state", "half-full") as (uri, process):
            driven(uri, process.pid, READS)
            process.terminate()
            assert process.stdout is not None
            served.append(json.loads(process.stdout.read()))
            process.wait()
    bare.sort()
    return {
        "lateness_us_p50": min(row["lateness_us_p50"] for row in served),
        "lateness_us_p99": min(row["lateness_us_p99"] for row in served),
        "late_share": min(row["late_share"] for row in served),
        "bare_lateness_us_p50": bare[len(bare) // 2],
        "bare_lateness_us_p99": bare[len(bare) * 99 // 100],
    }


def figures(place: Path) -> dict[str, Any]:
    random, sequential = (shares(in_turns(place, job)) for job in (RANDOM, SEQUENTIAL))
    return {
        "random_write_share_of_null": random["share_of_null"],
        "sequential_share_of_null": sequential["share_of_null"],
        **{f"random_write_{key}": value for key, value in random.items() if "share" not in key},
        **{f"sequential_{key}": value for key, value in sequential.items() if "share" not in key},
        **lateness(),
        "load_average": os.getloadavg()[0],
    }


def main() -> int:
    if missing := [name for name in ("fio", "nbdkit") if shutil.which(name) is None]:
        sys.exit(f"lacking: {', '.join(missing)}; apt install {' '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        values = figures(Path(folder))
    if "--json" in sys.argv[1:]:
        print(json.dumps(values, indent=2))
        return 0
    for name, value in values.items():
        print(f"{name:32} {value:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
