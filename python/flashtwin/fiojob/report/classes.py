"""fio's tables of latency: the share of requests in each class, in ns, us and ms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flashtwin.fiojob.report.job import JobReport, six
from flashtwin.results.hist import Counts, middle_of

# Upper ends of the classes of fio's latency tables, the same for ns and us; ms has two more.
CLASSES = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
# A share that is not nothing is shown as at least so many percent.
LEAST_LATENCY, LEAST_DEPTH = 0.01, 0.1


def classes_of(counts: Counts) -> dict[str, dict[str, float]]:
    """fio's three tables of latency: percent by class in ns (below 1 us), us and ms."""
    used = np.flatnonzero(counts)
    total = float(counts.sum())
    shares = {"ns": dict.fromkeys(class_names("ns"), 0.0), "us": {}, "ms": {}}
    shares["us"] = dict.fromkeys(class_names("us"), 0.0)
    shares["ms"] = dict.fromkeys(class_names("ms"), 0.0)
    for bucket in used:
        unit, name = _class(middle_of(int(bucket)))
        shares[unit][name] += float(counts[bucket]) / total * 100
    return {unit: shown(row, LEAST_LATENCY) for unit, row in shares.items()}


def latency_classes(job: JobReport) -> dict[str, dict[str, float]]:
    """The tables of a job in percent, all directions together."""
    if job.classes is not None:
        return {unit: shown(row, LEAST_LATENCY) for unit, row in job.classes.items()}
    counted = [one.counts for one in job.directions.values() if one.counts is not None]
    return classes_of(np.sum(counted, axis=0) if counted else np.zeros(0, dtype=np.uint64))


def class_names(unit: str) -> list[str]:
    return [*map(str, CLASSES), *(["2000", ">=2000"] if unit == "ms" else [])]


def _class(nanoseconds: int) -> tuple[str, str]:
    for unit, size in (("ns", 1), ("us", 1000)):
        if nanoseconds < 1000 * size:
            return unit, _end(nanoseconds // size)
    milliseconds = nanoseconds // 1_000_000
    if milliseconds < CLASSES[-1]:
        return "ms", _end(milliseconds)
    return "ms", "2000" if milliseconds < 2000 else ">=2000"


def _end(value: int) -> str:
    return str(next(end for end in CLASSES if value < end))


def shown(shares: Mapping[str, float], least: float) -> dict[str, float]:
    """Six places, and nothing that is there told as less than `least`."""
    return {name: six(max(share, least)) if share else 0.0 for name, share in shares.items()}
