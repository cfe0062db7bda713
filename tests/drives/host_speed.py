"""What measuring costs: `./dev bench --host`.

The same job on the same file by hand, with the options that one types, and through flashtwin, with
its logs and its watch, in turns. Told are the median of the pairs' ratios and the interval that
holds it with 95 % (the 6th and the 15th of 20 by order). The file lies in FLASHTWIN_BENCH_DIR.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from flashtwin.drives.real.real import Real
from flashtwin.model.step import Job, Result, Run

PAIRS, SECONDS, SIZE = 20, 1.0, 256 << 20
# By order the 6th and the 15th of 20 hold the median of what they are drawn from with 95.9 %.
LOW, HIGH = 5, 14
JOBS = (
    Job(name="stream", rw="write", block_bytes=128 << 10, depth=8, runtime_s=SECONDS),
    Job(name="random reads", rw="randread", block_bytes=4096, depth=32, runtime_s=SECONDS),
    Job(name="single reads", rw="randread", block_bytes=4096, depth=1, runtime_s=SECONDS),
)


def by_hand(job: Job, target: Path, drive: Real) -> float:
    """Bytes a second of fio as one types it."""
    identity = drive.info.identity
    words = [
        *("--name=w", f"--filename={target}", f"--rw={job.rw}", f"--bs={job.block_bytes}"),
        *(f"--iodepth={job.depth}", f"--ioengine={identity['engine']}", f"--size={SIZE}"),
        *(f"--direct={int(bool(identity['direct']))}", "--norandommap", "--time_based"),
        *(f"--runtime={SECONDS:g}", "--output-format=json"),
    ]
    done = subprocess.run(["fio", *words], check=True, capture_output=True, text=True)
    (row,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return float(max(row["write"]["bw_bytes"], row["read"]["bw_bytes"]))


def through(job: Job, drive: Real) -> float:
    """Bytes a second by flashtwin."""
    answer = drive.do(Run(label="bench", jobs=(job,)), lambda progress: True)
    assert isinstance(answer, Result)
    (row,) = answer.jobs
    return row.bytes / (row.duration_ns / 1e9)


def main() -> None:
    """Measure, and print what each job costs."""
    rows = []
    place = Path(tempfile.mkdtemp(dir=os.environ.get("FLASHTWIN_BENCH_DIR")))
    drive = Real(place / "file", SIZE, say=lambda text: None).open()
    try:
        for job in JOBS:
            through(job, drive)
            pairs = []
            for number in range(PAIRS):
                # Whoever is first has the colder processor, so they take turns in that too.
                if number % 2:
                    ours, plain = through(job, drive), by_hand(job, place / "file", drive)
                else:
                    plain, ours = by_hand(job, place / "file", drive), through(job, drive)
                pairs.append(1 - ours / plain)
            pairs.sort()
            rows.append(
                {
                    "job": job.name,
                    "cost": statistics.median(pairs),
                    "low": pairs[LOW],
                    "high": pairs[HIGH],
                    "pairs": PAIRS,
                }
            )
    finally:
        drive.close()
        place.rmdir()
    if "--json" in sys.argv[1:]:
        print(json.dumps({"engine": str(drive.info.identity["engine"]), "jobs": rows}))
        return
    for row in rows:
        interval = f"({100 * row['low']:.1f} to {100 * row['high']:.1f} %, {PAIRS} pairs)"
        print(f"{row['job']:<14}{100 * row['cost']:6.1f} % slower than by hand {interval}")


if __name__ == "__main__":
    main()
