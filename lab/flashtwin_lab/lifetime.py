"""A lifetime sampled beside one in its time: `./dev bench --lifetime [--timed N] [--json]`.

The samsung-980-1tb at 1/64 is full and written at random, 4 KiB at a depth of 32, until the host
has written what 600 TB are at that scale. Sampled (`drives.sampled`), it takes about a minute. A
second drive is prepared in the same way and then written in its time, N capacities of it: what WAF,
rate and p99 of the two differ by is what sampling gets wrong, beside the interval that it gives
itself. All 600 capacities in their time take most of an hour.
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

DRIVE, SCALE = "samsung-980-1tb", "1/64"
CAPACITIES = 600
# The most that a sampled life may differ from a timed one, in WAF and p99, and take, in seconds.
WAF_OFF, P99_OFF, MOST_S = 0.02, 0.10, 60.0


def full() -> Twin:
    """The drive, filled without time."""
    twin = Twin(load(DRIVE, scale=SCALE), seed=1, preparation=untimed.UNTIMED).open()
    twin.do(Fill(label="full"), lambda progress: True)
    return twin


def load_of(capacity_bytes: int) -> Job:
    """The load of the life."""
    return untimed.writing(0, capacity_bytes // 4096 * 4096, 4096, rw="randwrite", depth=32)


def timed(capacities: float, plan: sampled.Plan) -> dict[str, float]:
    """WAF, rate and p99 of a load of `capacities` in its time, after the same preparation."""
    twin = full()
    capacity = twin.info.capacity_bytes
    job = load_of(capacity)

    def part(share: float, seed: int) -> Job:
        size = int(share * capacity) // 4096 * 4096
        return untimed.writing(
            0, job.size or 0, 4096, rw="randwrite", depth=32, io_bytes=size, seed=seed
        )

    twin.precondition([part(plan.before, 1)], lambda progress: True)
    before = twin.smart()["flashtwin"]["waf"]
    step = Run(label="timed", jobs=(part(capacities, 2),), sample_s=3600.0)
    result = twin.do(step, lambda progress: True)
    assert isinstance(result, Result), "a twin does everything"
    after = twin.smart()["flashtwin"]["waf"]
    wrote, programmed = (after[key] - before[key] for key in ("host_bytes", "programmed_bytes"))
    latencies = percentiles_of(bins_of(np.asarray(result.hist["write"])), [sampled.P99])
    return {
        "capacities": capacities,
        "waf": programmed / wrote,
        "rate_bytes_s": result.jobs[0].bytes / (result.duration_ns / 1e9),
        "p99_ns": float(latencies[sampled.P99]),
    }


def measured(capacities: float) -> dict[str, Any]:
    """Both, with the time on the wall."""
    plan = sampled.Plan()
    began = time.monotonic()
    twin = full()
    capacity = twin.info.capacity_bytes
    life = sampled.live(twin, load_of(capacity), CAPACITIES * capacity, plan)
    sampled_s = time.monotonic() - began
    began = time.monotonic()
    beside = timed(capacities, plan)
    off = {
        "waf": life.waf.value / beside["waf"] - 1,
        "rate": life.rate_bytes_s.value / beside["rate_bytes_s"] - 1,
        "p99": life.p99_ns.value / beside["p99_ns"] - 1,
    }
    return {
        "drive": f"{DRIVE} at {SCALE}",
        "seconds": round(sampled_s, 1),
        "seconds_timed": round(time.monotonic() - began, 1),
        "life": msgspec.to_builtins(life),
        "timed": beside,
        "off": off,
        "holds": sampled_s <= MOST_S and abs(off["waf"]) <= WAF_OFF and abs(off["p99"]) <= P99_OFF,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timed", type=float, default=2.0, metavar="CAPACITIES")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    answer = measured(words.timed)
    if words.json:
        print(json.dumps(answer))
    else:
        life, beside, off = answer["life"], answer["timed"], answer["off"]
        print(f"{answer['drive']}: {life['host_bytes'] / 1e12:.2f} TB in {answer['seconds']} s")
        for name, key, scale, unit in (
            ("WAF", "waf", 1.0, ""),
            ("rate", "rate_bytes_s", 1e-6, " MB/s"),
            ("p99", "p99_ns", 1e-6, " ms"),
        ):
            value, low, high = (
                (life[key][part] or 0.0) * scale for part in ("value", "low", "high")
            )
            print(
                f"{name:5} {value:9.3f} ({low:.3f} to {high:.3f}){unit}, "
                f"timed {beside[key] * scale:.3f}, off by {100 * off[key.split('_')[0]]:+.1f} %"
            )
    raise SystemExit(0 if answer["holds"] else 1)


if __name__ == "__main__":
    main()
