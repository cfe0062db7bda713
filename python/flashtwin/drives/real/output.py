"""fio's JSON as values: what each job did, by direction.

fio surrounds its JSON with warnings when it has any, so reading begins at the first line that opens
an object. The program of that name on the PATH may be anything: whatever it prints is an answer of
fio's, or one sentence says that it is none. Units as fio's: bytes, milliseconds of runtime,
latencies in nanoseconds; `bins` are the histogram of json+ (a bucket's middle value to its count).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flashtwin import inputs
from flashtwin.errors import ENVIRONMENT, FlashtwinError, shortened

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
    requests. With `unified_rw_reporting` all directions are one, "mixed". `syncs` are the
    latencies of its flushes in bins."""

    name: str
    error: int
    errors: int
    by_direction: Mapping[str, DirectionTotals]
    syncs: Mapping[int, int] = field(default_factory=dict)

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
    if data is None:
        raise _no_answer(_shortened(text))
    rows = []
    for entry in data["jobs"]:
        try:
            rows.append(_job(entry))
        except KeyError as error:
            raise _no_answer(f"a job has no {error.args[0]}") from error
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise _no_answer("a job's numbers are not what fio writes") from error
    version = data.get("fio version", "")
    return FioOutput(version=str(version).removeprefix("fio-"), rows=tuple(rows))


def divided(text: str) -> tuple[str, dict[str, Any] | None, str]:
    """fio's output in three parts: the text before its JSON object, the object, whose "jobs" are
    one object or more, and the text behind it."""
    try:
        answer = inputs.json_object(text)
    except ValueError as error:
        raise _no_answer(str(error)) from error
    if answer is None:
        return text, None, ""
    begin, document, end = answer
    rows = document.get("jobs")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _no_answer("it has no jobs")
    if not rows:
        raise _no_answer("it has no job, and jobs were to run")
    return text[:begin], document, text[end:]


def _no_answer(why: str) -> FlashtwinError:
    return FlashtwinError(
        f"fio's answer holds no result: {why}",
        hint="flashtwin doctor says which fio this machine has",
        exit_code=ENVIRONMENT,
    )


def _job(entry: Mapping[str, Any]) -> JobOutput:
    known = {
        name: entry[name] for name in (*DIRECTIONS, "mixed") if entry.get(name, {}).get("total_ios")
    }
    return JobOutput(
        name=str(entry["jobname"]),
        error=int(entry.get("error", 0)),
        errors=int(entry.get("total_err", 0)),
        by_direction={name: _direction(totals) for name, totals in known.items()},
        syncs=_bins(entry.get("sync", {}).get("lat_ns", {}).get("bins", {})),
    )


def _bins(bins: Mapping[str, Any]) -> dict[int, int]:
    return {_count(middle): _count(count) for middle, count in bins.items()}


def _direction(totals: Mapping[str, Any]) -> DirectionTotals:
    latency = totals["lat_ns"]
    if not latency["mean"]:
        # With `disable_lat` only the time from the submission on is known.
        latency = totals["clat_ns"]
    # Of whole requests only where a job has `lat_percentiles`.
    bins = latency.get("bins") or totals.get("clat_ns", {}).get("bins", {})
    return DirectionTotals(
        ios=_count(totals["total_ios"]),
        bytes=_count(totals["io_bytes"]),
        runtime_ms=_count(totals["runtime"]),
        latency_mean_ns=float(latency["mean"]),
        latency_min_ns=_count(latency["min"]),
        latency_max_ns=_count(latency["max"]),
        bins=_bins(bins),
    )


def _count(value: Any) -> int:
    """A number of fio's, which counts in 64 bits."""
    number = int(value)
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{number} is none of fio's counts")
    return number


def _shortened(text: str) -> str:
    words = " ".join(text[:4096].split())
    return shortened(words, 200) or "nothing"
