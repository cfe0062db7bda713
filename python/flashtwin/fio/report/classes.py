"""fio's tables of latency: the share of requests in each class, in ns, us and ms."""

from __future__ import annotations

from collections.abc import Mapping

from flashtwin.fio.report.job import JobReport, six
from flashtwin.model.buckets import Bins, middle_of, summed

# Upper ends of the classes of fio's latency tables, the same for ns and us; ms has two more.
CLASSES = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
# A share that is not nothing is shown as at least so many percent.
LEAST_LATENCY, LEAST_DEPTH = 0.01, 0.1


def classes_of(bins: Bins) -> dict[str, dict[str, float]]:
    """fio's three tables of latency: percent by class in ns (below 1 us), us and ms."""
    total = sum(bins.values())
    shares = {unit: dict.fromkeys(class_names(unit), 0.0) for unit in ("ns", "us", "ms")}
    for bucket, count in bins.items():
        unit, name = _class(middle_of(bucket))
        shares[unit][name] += count / total * 100
    return {unit: shown(row, LEAST_LATENCY) for unit, row in shares.items()}


def latency_classes(job: JobReport) -> dict[str, dict[str, float]]:
    """The tables of a job in percent, all directions together."""
    if job.classes is not None:
        return {unit: shown(row, LEAST_LATENCY) for unit, row in job.classes.items()}
    return classes_of(summed(one.clats for one in job.directions.values()))


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
