"""A series out of fio's JSON: one document alone has totals, several are a series.

`fio --output-format=json --status-interval=1` prints a document a second, each with the bytes that
every job has written so far and the milliseconds that it took. Their differences are the samples;
jobs are summed. What fio prints between documents is skipped.

Invariants: bytes and time never fall; documents of several runs are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from flashtwin.study.infer.samples import FEWEST, Samples, UnreadableError

LOG = "--write_bw_log=NAME --log_avg_msec=500"
HINT = f"hand over what fio prints with --status-interval=1, or the log of {LOG}"


def samples_of(text: str) -> Samples:
    """The writes of all jobs; raises `UnreadableError` where there is no series."""
    points = [point for document in _documents(text) if (point := _written(document)) is not None]
    if len(points) < FEWEST:
        raise UnreadableError(
            f"is JSON with {len(points)} reports of fio, which is no series", HINT
        )
    table = np.array(points, dtype=np.float64)
    end, done = table[:, 0] * 1e-3, table[:, 1]
    if np.any(np.diff(end) < 0) or np.any(np.diff(done) < 0):
        raise UnreadableError(
            "has reports whose time or bytes fall, as of several runs",
            "hand over one file a run, with --join",
        )
    # The report at the very end repeats the one before it.
    later = np.concatenate(([True], np.diff(end) > 0))
    end, done = end[later], done[later]
    return Samples(
        end_s=end,
        dt_s=np.diff(end, prepend=0.0),
        size=np.diff(done, prepend=0.0),
        columns="runtime and io_bytes of fio's reports, writes only",
    )


def _documents(text: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            document, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            # A report that was cut short ends the series.
            return
        if isinstance(document, dict):
            yield document
        at = text.find("{", end)


def _written(document: dict[str, Any]) -> tuple[float, float] | None:
    """Milliseconds so far and bytes written by all jobs of a report; none where nothing began."""
    try:
        writes = [job["write"] for job in document["jobs"]]
        time = max((float(write["runtime"]) for write in writes), default=0.0)
        return (time, sum(float(write["io_bytes"]) for write in writes)) if time > 0 else None
    except (KeyError, TypeError, ValueError):
        return None
