"""fio's JSON: one document alone has totals, several are a series.

`fio --output-format=json --status-interval=1` prints a document a second, each with the bytes that
every job has written so far and the milliseconds that it took. Their differences are the samples;
jobs are summed. What fio prints between documents is skipped.

Invariants: bytes and time never fall; documents of several runs are refused.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.documents import objects
from flashtwin.study.infer.read.series import Builder
from flashtwin.study.infer.read.source import Source
from flashtwin.study.infer.samples import FEWEST, NoWritesError, Samples, UnreadableError

LOG = "--write_bw_log=NAME --log_avg_msec=500"
HINT = f"hand over what fio prints with --status-interval=1, or the log of {LOG}"


def read(source: Source, choices: Choices) -> Samples:
    """The writes of all jobs."""
    points: list[tuple[float, float]] = []
    reads, pattern = False, None
    inside = 1 if source.head.lstrip().startswith("[") else 0
    for document in objects(source.pieces(), inside):
        point = _written(document)
        if point is not None:
            reads = reads or _has_reads(document)
            pattern = pattern or _pattern(document)
            points.append(point)
    if len(points) < FEWEST:
        raise UnreadableError(
            f"is JSON with {len(points)} reports of fio, which is no series", HINT
        )
    table = np.array(points)
    end, done = table[:, 0] * 1e-3, table[:, 1]
    if np.any(np.diff(end) < 0) or np.any(np.diff(done) < 0):
        raise UnreadableError(
            "has reports whose time or bytes fall, as of several runs",
            "hand over one file a run, with --join",
        )
    if done[-1] <= 0 and reads:
        raise NoWritesError("has reports of reads alone", "infer reads what was written")
    # The report at the very end repeats the one before it.
    later = np.concatenate(([True], np.diff(end) > 0))
    builder = Builder()
    builder.begin(0.0)
    builder.add(builder.lengths(end[later]), np.diff(done[later], prepend=0.0))
    samples = builder.samples("runtime and io_bytes of fio's reports, writes only", reads=reads)
    return replace(samples, pattern=pattern)


def _written(document: dict[str, Any]) -> tuple[float, float] | None:
    """Milliseconds so far and bytes written by all jobs of a report; none where nothing began."""
    try:
        jobs = document["jobs"]
        sides = [job[side] for job in jobs for side in ("write", "read") if side in job]
        time = max((float(side["runtime"]) for side in sides), default=0.0)
        done = sum(float(job["write"]["io_bytes"]) for job in jobs)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if not (math.isfinite(time) and math.isfinite(done)) or time <= 0 or done < 0:
        return None
    return time, done


def _has_reads(document: dict[str, Any]) -> bool:
    try:
        return any(float(job["read"]["io_bytes"]) > 0 for job in document["jobs"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return False


def _pattern(document: dict[str, Any]) -> str | None:
    """How the jobs write, as their options say: the first that is no sequential write, if any; or
    that they write one after another at depths of their own."""
    options = [document.get("global options", {})]
    options += [job.get("job options", {}) for job in document["jobs"]]
    words = [str(option[key]) for option in options for key in ("rw", "readwrite") if key in option]
    depths = dict.fromkeys(str(option["iodepth"]) for option in options if "iodepth" in option)
    in_turn = any("stonewall" in option for option in options)
    if len(depths) > 1 and in_turn and set(words) <= {"write"}:
        return f"write at depths {', '.join(depths)} in turn"
    return next((word for word in words if word != "write"), words[0] if words else None)
