"""What a settled drive takes in time: a copy of it is settled without time, and then written.

A copy has the drive's dies and planes with shorter blocks, so that a program and a read take as
long, and as many superblocks. Invariant: each run writes other pages, for a drive that is written
in the same order again has little to move.
"""

from __future__ import annotations

from flashtwin import _core
from flashtwin.catalogue.loader import BadSpecError, load
from flashtwin.hypothesis import settled
from flashtwin.model.job import Job, jobs_json
from flashtwin.study.fit.settling import SCALED, UNIT, bytes_of

# Wordlines of a copy's blocks at least: more where a write buffer would not fit into a superblock.
WORDLINES = 8
# What is written in time, in superblocks, and how much of that does not count.
SUPERBLOCKS, BEGINNING = 24, 0.25
SAMPLE_NS = 20_000_000
# Four threads with 128 requests each, as the shipped tables were measured.
DEPTH = 512


def settled_rate(text: str, span_bytes: int, seed: int) -> float:
    """Bytes a second of even 4 KiB writes over a span, 512 outstanding, once the drive that a spec
    describes has settled."""
    spec, scale = copy(text)
    pattern = settled.Pattern(kind="uniform")
    _, twin = settled.settle(spec, pattern, span_bytes, scale=scale, seed=seed)
    job = Job(
        name="write",
        rw="randwrite",
        block_bytes=UNIT,
        depth=DEPTH,
        size=int(span_bytes / scale) // UNIT * UNIT,
        io_bytes=settled.superblock_bytes(settled.values_of(spec)) * SUPERBLOCKS // UNIT * UNIT,
        seed=seed + 1,
    )
    answer = twin.run(jobs_json([job]), SAMPLE_NS, _go_on)
    series = answer["series"]
    counts = series["t_ns"] >= BEGINNING * answer["duration_ns"]
    return float(series["bytes"][counts].sum() / series["dt_ns"][counts].sum() * 1e9)


def copy(text: str) -> tuple[_core.Spec, float]:
    """The spec of a copy, and how many times smaller it is."""
    full = settled.values_of(load(text))
    wordlines = small = int(full["nand.wordlines_per_block"])
    while small % 2 == 0 and small // 2 >= WORDLINES:
        small //= 2
    while True:
        scale = wordlines / small
        keys = ("drive.capacity", *SCALED)
        sizes = {key: int(bytes_of(full[key]) / scale) // UNIT * UNIT for key in keys}
        sets = [f"nand.wordlines_per_block={small}", *(f"{k}={v} B" for k, v in sizes.items())]
        try:
            return load(text, sets=sets), scale
        except BadSpecError:
            if small >= wordlines:
                raise
        small *= 2


def _go_on(*_: object) -> bool:
    return True
