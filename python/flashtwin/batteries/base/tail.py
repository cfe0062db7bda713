"""Percentiles of latency, as findings: how long the slowest few requests of a load take.

They are those of fio's buckets, 1/64 wide (`model.histogram`). Invariant: a percentile is told only
where a request lies beyond it: 99.99 % of 2,000 requests is none of them. No interval: latencies
of neighbouring requests hang together, so that counts alone do not say how far one is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flashtwin.model.histogram import Bins, bins_of, percentiles_of, summed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashtwin.batteries.base.loads import Teller
    from flashtwin.model.finding import Finding
    from flashtwin.model.series import Counts
    from flashtwin.model.step import Result

# A finding's name for each share of the requests in %.
SHARES = {"p50": 50.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99, "p99_999": 99.999}


def bins_in(results: Iterable[Result], direction: str) -> dict[int, int]:
    """The latencies of one direction ("read", "write") of all results together."""
    there = [result.hist[direction] for result in results if direction in result.hist]
    return summed(bins_of(cast("Counts", counts)) for counts in there)


def percentile_us(bins: Bins, name: str) -> float | None:
    """A percentile in microseconds; none where no request lies beyond it."""
    share = SHARES[name]
    if sum(bins.values()) * (100 - share) / 100 < 1:
        return None
    return percentiles_of(bins, [share])[share] / 1000


def tail_findings(teller: Teller, bins: Bins, headline: str = "p99") -> list[Finding]:
    """The percentiles that the requests tell; `headline` is the one that says most. Their texts
    are those of tail.toml (`meaning.shared`)."""
    findings = []
    for name, share in SHARES.items():
        value = percentile_us(bins, name)
        if value is not None:
            title = f"{share:g} % of the requests are faster than"
            findings.append(
                teller.tell(name, title, "us", value, better="lower", headline=name == headline)
            )
    return findings
