"""How fast this machine simulates a design: measured once, on a smaller copy of it, and kept.

A copy with the same dies, planes and ratios is written at random, erased, filled, filled again,
read, and read and written at random for a while; what that takes of a processor predicts a fill of
the whole drive to 20 % (nine drives). It is measured where a run is worth it (`WORTH_S`) and kept
in the cache folder by the spec's hash and the model's number, never in a run; without a folder this
process keeps it. Invariant: whatever goes wrong here costs the usual pace and never a run.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from flashtwin import _core, outputs
from flashtwin.errors import FlashtwinError
from flashtwin.inputs import InputError, parse_json, read_regular
from flashtwin.model.job import Job, jobs_json
from flashtwin.model.pace import USUAL, Pace

FILE = "pace.json"
# Expected seconds of a run from which on its design is measured, which takes about half a second.
WORTH_S = 4.0
# Memory of the copy: if possible, and of the copies of drives that cannot be made so small.
COPY_BYTES, LARGE_COPY_BYTES = 60_000_000, 250_000_000
# Designs that are remembered: those measured last.
MOST_KEPT, MOST_FILE_BYTES = 500, 1 << 20
BLOCK, PAGE = 128 << 10, 4 << 10
READ_BYTES, REQUESTS, SAMPLE_NS = 4 * 10**9, 100_000, 1_000_000_000
# Requests that are written at random before they are timed: the first ones find victims that are
# nearly empty. On the copies of the BX500 and the 980 a write costs the same from 700,000 on.
BEFORE = 700_000

Clock = Callable[[], float]
# Paces that this process has measured without a folder to keep them in.
_HELD: dict[str, Pace] = {}


def pace_of(spec: _core.Spec, expected_s: float) -> Pace:
    """The pace of a design on this machine; the usual one where the work is not worth measuring."""
    if expected_s < WORTH_S:
        return USUAL
    key = f"{spec.hash} {_core.MODEL}"
    folder = outputs.cache_folder()
    paces = _kept(folder)
    if key in paces:
        return paces[key]
    copy = _copy(spec)
    if copy is None:
        return USUAL
    pace = measured(copy, spec.memory_bytes)
    _keep(folder, {**paces, key: pace})
    return pace


def measured(copy: _core.Spec, memory_bytes: int, clock: Clock = time.thread_time) -> Pace:
    """The pace of a smaller copy, by its processor time; making the whole drive takes its share of
    `memory_bytes`. `clock`: seconds of the processor."""
    begun = clock()
    twin, erased = _core.Twin(copy, 1), _core.Twin(copy, 1)
    open_s = (clock() - begun) / 2 * memory_bytes / copy.memory_bytes
    size = twin.capacity_bytes // BLOCK * BLOCK

    rates: dict[str, float] = {}

    def measure(name: str, work: float, twin: _core.Twin = twin, **job: Any) -> None:
        began, began_ns = clock(), twin.now_ns()
        step = Job(name="pace", size=size, depth=32, **job)
        twin.run(jobs_json([step]), SAMPLE_NS, lambda done_bytes, now_ns: True)
        rates[name] = work / max(clock() - began, 1e-6)
        rates[f"own_{name}"] = work * 1e9 / max(twin.now_ns() - began_ns, 1)

    at_random: dict[str, Any] = {"block_bytes": PAGE, "io_bytes": REQUESTS * PAGE}
    before = {**at_random, "io_bytes": BEFORE * PAGE}
    measure("first_random_write_iops", REQUESTS, erased, rw="randwrite", **at_random)
    measure("first_bytes_s", size, rw="write", block_bytes=BLOCK)
    measure("again_bytes_s", size, rw="write", block_bytes=BLOCK)
    measure("read_bytes_s", READ_BYTES, rw="read", block_bytes=BLOCK, io_bytes=READ_BYTES)
    measure("random_read_iops", REQUESTS, rw="randread", **at_random)
    measure("before", BEFORE, rw="randwrite", seed=2, **before)
    measure("random_write_iops", REQUESTS, rw="randwrite", **at_random)
    rates = {name: rate for name, rate in rates.items() if not name.endswith("before")}
    return Pace(open_s=open_s, **rates)


def _copy(spec: _core.Spec) -> _core.Spec | None:
    """A copy that is simulated in half a second, or in two where it cannot be made so small; none
    where even that is not possible."""
    for most_bytes in (COPY_BYTES, LARGE_COPY_BYTES):
        if spec.memory_bytes <= most_bytes:
            return spec
        divisor = spec.scale_within(most_bytes)
        if divisor is not None:
            with contextlib.suppress(_core.SpecError):
                return _core.parse_spec(spec.to_toml(), [], [], [], f"1/{divisor}")
    return None


def _kept(folder: Path | None) -> dict[str, Pace]:
    """The paces measured before; a file that is not as it was written is measured anew."""
    if folder is None:
        return _HELD
    names = {field.name for field in fields(Pace)}
    try:
        rows = parse_json(read_regular(folder / FILE, most_bytes=MOST_FILE_BYTES))
    except (InputError, ValueError):
        return {}
    if not isinstance(rows, dict):
        return {}
    return {
        key: Pace(**row)
        for key, row in rows.items()
        if isinstance(row, dict)
        and row.keys() == names
        and all(isinstance(value, int | float) and value >= 0 for value in row.values())
        and all(row[name] > 0 for name in names if name != "open_s" and not name.startswith("own_"))
    }


def _keep(folder: Path | None, paces: dict[str, Pace]) -> None:
    if folder is None:
        _HELD.update(paces)
        return
    rows = {key: asdict(pace) for key, pace in list(paces.items())[-MOST_KEPT:]}
    with contextlib.suppress(OSError, FlashtwinError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        outputs.write(folder / FILE, json.dumps(rows), within=folder)
