"""Lives that are sampled, beside one in its time: `./dev bench --lifetime [DRIVE] [--timed N]`.

A drive at 1/64 is full and written at random, 4 KiB at a depth of 32, until the host has written
600 capacities: 600 TB of a drive of 1 TB. Sampled (`drives.sampled`), it takes less than a minute.
A life of N capacities is then sampled and lived in its time from the fill on: how far WAF, rate and
p99 of these two differ is the error of sampling, beside the interval that it gives itself. As a
drive wears its figures change, so that only lives of one length are alike: `--timed 600` proves the
whole one, in half an hour of processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import msgspec
import numpy as np

from flashtwin.catalogue.loader import load
from flashtwin.drives import sampled, untimed
from flashtwin.drives.twin import Twin
from flashtwin.model.histogram import bins_of, percentiles_of
from flashtwin.model.job import Job
from flashtwin.model.step import Fill, Result, Run

DRIVE, SCALE = "transcend-220s-1tb", "1/64"
CAPACITIES = 600
# The most that a sampled life may differ from a timed one, in WAF and p99, and take of a processor
# in seconds: a busy machine makes the clock say more.
WAF_OFF, P99_OFF, MOST_S = 0.02, 0.10, 60.0


def full(drive: str) -> Twin:
    """The drive, filled without time."""
    twin = Twin(load(drive, scale=SCALE), seed=1, preparation=untimed.UNTIMED).open()
    twin.do(Fill(label="full"), lambda progress: True)
    return twin


def load_of(capacity_bytes: int, capacities: float = 1.0, seed: int = 1) -> Job:
    """The load of the life."""
    size = capacity_bytes // 4096 * 4096
    length = int(capacities * capacity_bytes) // 4096 * 4096
    return untimed.writing(0, size, 4096, rw="randwrite", depth=32, io_bytes=length, seed=seed)


def timed(drive: str, capacities: float) -> dict[str, float]:
    """WAF, rate and p99 of a life in its time, from where a sampled one has its first stage."""
    twin, before = full(drive), sampled.Plan().before
    capacity = twin.info.capacity_bytes

    def written(share: float, seed: int) -> Result:
        step = Run(label="timed", jobs=(load_of(capacity, share, seed),), sample_s=3600.0)
        result = twin.do(step, lambda progress: True)
        assert isinstance(result, Result), "a twin does everything"
        return result

    written(before, 1)
    earlier = twin.smart()["flashtwin"]["waf"]
    result = written(capacities - before, 2)
    after = twin.smart()["flashtwin"]["waf"]
    wrote, programmed = (after[key] - earlier[key] for key in ("host_bytes", "programmed_bytes"))
    latencies = percentiles_of(bins_of(np.asarray(result.hist["write"])), [sampled.P99])
    return {
        "waf": programmed / wrote,
        "rate_bytes_s": result.jobs[0].bytes / (result.duration_ns / 1e9),
        "p99_ns": float(latencies[sampled.P99]),
    }


def lived(drive: str, capacities: float) -> sampled.Life:
    """A sampled life, the fill not counted."""
    twin = full(drive)
    capacity = twin.info.capacity_bytes
    return sampled.live(twin, load_of(capacity), int((capacities + 1) * capacity))


def measured(drive: str, capacities: float) -> dict[str, Any]:
    """The whole life with the time that it takes, and a shorter one both ways."""
    began = time.monotonic(), time.process_time()
    life = lived(drive, CAPACITIES)
    took_s, cpu_s = time.monotonic() - began[0], time.process_time() - began[1]
    short, beside = lived(drive, capacities), timed(drive, capacities)
    off = {
        "waf": short.waf.value / beside["waf"] - 1,
        "rate": short.rate_bytes_s.value / beside["rate_bytes_s"] - 1,
        "p99": short.p99_ns.value / beside["p99_ns"] - 1,
    }
    return {
        "drive": f"{drive} at {SCALE}",
        "seconds": round(took_s, 1),
        "processor_seconds": round(cpu_s, 1),
        "life": msgspec.to_builtins(life),
        "capacities": capacities,
        "sampled": msgspec.to_builtins(short),
        "timed": beside,
        "off": off,
        "holds": cpu_s <= MOST_S and abs(off["waf"]) <= WAF_OFF and abs(off["p99"]) <= P99_OFF,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("drive", nargs="?", default=DRIVE, metavar="DRIVE")
    parser.add_argument("--timed", type=float, default=20.0, metavar="CAPACITIES")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    answer = measured(words.drive, words.timed)
    if words.json:
        print(json.dumps(answer))
    else:
        show(answer)
    raise SystemExit(0 if answer["holds"] else 1)


def show(answer: dict[str, Any]) -> None:
    """Both lives in a few lines."""
    life, short, beside, off = (answer[key] for key in ("life", "sampled", "timed", "off"))
    print(
        f"{answer['drive']}: {life['host_bytes'] / 1e12:.2f} TB in {answer['seconds']} s "
        f"({answer['processor_seconds']} s of processor time), WAF {life['waf']['value']:.3f}"
    )
    print(f"{answer['capacities']:g} capacities, sampled and in their time:")
    for name, key, scale, unit in (
        ("WAF", "waf", 1.0, ""),
        ("rate", "rate_bytes_s", 1e-6, " MB/s"),
        ("p99", "p99_ns", 1e-6, " ms"),
    ):
        value, low, high = ((short[key][part] or 0.0) * scale for part in ("value", "low", "high"))
        print(
            f"{name:5} {value:9.3f} ({low:.3f} to {high:.3f}){unit}, "
            f"timed {beside[key] * scale:.3f}, off by {100 * off[key.split('_')[0]]:+.1f} %"
        )


if __name__ == "__main__":
    main()
