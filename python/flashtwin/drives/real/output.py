"""fio's JSON as values: what each job did, by direction.

fio surrounds its JSON with warnings when it has any, so reading begins at the first `{` that opens
an object. Units as fio's: bytes, milliseconds of runtime, latencies in nanoseconds; `bins` are the
histogram of json+ (a bucket's middle value to its count).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.inputs import parse_json_at

DIRECTIONS = ("read", "write", "trim")


@dataclass(frozen=True, kw_only=True)
class DirectionTotals:
    """What a job did in one direction."""

    ios: int
    bytes: int
    runtime_ms: int
    latency_mean_ns: float
    latency_min_ns: int
    latency_max_ns: int
    bins: Mapping[int, int]


@dataclass(frozen=True, kw_only=True)
class JobOutput:
    """One reporting group of fio's. `error` is an errno; `by_direction` has the directions with
    requests. With `unified_rw_reporting` all directions are one, "mixed"."""

    name: str
    error: int
    errors: int
    by_direction: Mapping[str, DirectionTotals]

    @property
    def runtime_ms(self) -> int:
        """How long the job ran."""
        return max((totals.runtime_ms for totals in self.by_direction.values()), default=0)


@dataclass(frozen=True, kw_only=True)
class FioOutput:
    """fio's whole answer: a row for each job or group of jobs, and the rows by name."""

    version: str
    rows: tuple[JobOutput, ...]

    @property
    def jobs(self) -> Mapping[str, JobOutput]:
        """The rows by name, where no two have the same name."""
        return {row.name: row for row in self.rows}


def parse_output(text: str) -> FioOutput:
    """Read fio's JSON, whatever stands around it."""
    _, data, _ = divided(text)
    if data is None or not isinstance(data.get("jobs"), list):
        raise FlashtwinError(
            f"fio's answer holds no result: {_shortened(text)}", exit_code=ENVIRONMENT
        )
    return FioOutput(
        version=str(data.get("fio version", "")).removeprefix("fio-"),
        rows=tuple(_job(entry) for entry in data["jobs"]),
    )


def divided(text: str) -> tuple[str, dict[str, Any] | None, str]:
    """fio's output in three parts: the text before the first JSON object, the object, and the
    text behind it."""
    at = text.find("{")
    while at >= 0:
        try:
            document, end = parse_json_at(text, at)
        except ValueError:
            at = text.find("{", at + 1)
            continue
        return text[:at], document, text[end:]
    return text, None, ""


def _job(entry: Mapping[str, Any]) -> JobOutput:
    known = {
        name: entry[name] for name in (*DIRECTIONS, "mixed") if entry.get(name, {}).get("total_ios")
    }
    return JobOutput(
        name=str(entry["jobname"]),
        error=int(entry.get("error", 0)),
        errors=int(entry.get("total_err", 0)),
        by_direction={name: _direction(totals) for name, totals in known.items()},
    )


def _direction(totals: Mapping[str, Any]) -> DirectionTotals:
    latency = totals["lat_ns"]
    if not latency["mean"]:
        # With `disable_lat` only the time from the submission on is known.
        latency = totals["clat_ns"]
    # Of whole requests only where a job has `lat_percentiles`.
    bins = latency.get("bins") or totals.get("clat_ns", {}).get("bins", {})
    return DirectionTotals(
        ios=int(totals["total_ios"]),
        bytes=int(totals["io_bytes"]),
        runtime_ms=int(totals["runtime"]),
        latency_mean_ns=float(latency["mean"]),
        latency_min_ns=int(latency["min"]),
        latency_max_ns=int(latency["max"]),
        bins={int(middle): int(count) for middle, count in bins.items()},
    )


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words[:200] or "nothing"
