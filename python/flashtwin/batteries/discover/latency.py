"""How long a drive lets single writes wait while it makes room, in programs of its flash.

A drive that folds a step before it takes more spends the time in waits as long as a step, which is
many programs, with short ones between them. One that stages waits often, for a program or a few.
How many requests of a host that is depends on how many dies there are; how many programs does not.
Reads between the writes say how long a program takes: those that find their die programming wait
for its end. What the host writes meanwhile says how much all dies program at once, and so how many
programs a step of some bytes is. Invariants: pure; only ratios of latencies count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.model.histogram import Bins, middle_of

Floats = NDArray[np.float64]

BLOCK = 128 << 10
# Writes with reads among them: so many requests, so many percent of them reads.
MIXED, READ_PERCENT = 512, 30
# Parts of a write whose longest latencies are looked at. What is this much longer than the second
# longest of them is a stall of the host.
PARTS, HOSTS = 8, 1.5
# Of reads between writes so many wait less than for a whole program.
PROGRAM = 0.97
# No drive programs less at once; where reads say so they do not wait for programs.
LEAST_BYTES = 64 << 10
# As logarithms: shorter waits are alike, and longer ones too.
SHORTEST, LONGEST = 0.0, float(np.log(8.0))


@dataclass(frozen=True, kw_only=True)
class Waits:
    """Latencies of requests in nanoseconds, and how many had each."""

    each_ns: Floats
    counts: Floats

    @staticmethod
    def of_series(series: Mapping[str, Any]) -> Waits:
        """Of samples that are so short that each has about a request."""
        there = series["ios"] > 0
        counts = series["ios"][there].astype(np.float64)
        return Waits(each_ns=series["lat_sum_ns"][there] / counts, counts=counts)

    @staticmethod
    def of_histogram(bins: Bins) -> Waits:
        """Of the buckets that hold anything."""
        return Waits(
            each_ns=np.array([middle_of(bucket) for bucket in bins], dtype=np.float64),
            counts=np.array(list(bins.values()), dtype=np.float64),
        )

    def up_to(self, longest_ns: float) -> Waits:
        """Without those that are longer."""
        there = self.each_ns <= longest_ns
        return Waits(each_ns=self.each_ns[there], counts=self.counts[there])

    @property
    def mean_ns(self) -> float:
        """The mean over requests."""
        return float((self.each_ns * self.counts).sum() / self.counts.sum())

    @property
    def usual_ns(self) -> float:
        """The mean over time: how long the wait is that a moment falls into."""
        waited = self.each_ns * self.counts
        return float((self.each_ns * waited).sum() / max(waited.sum(), 1.0))

    def quantile_ns(self, share: float) -> float:
        """The wait that so many requests do not go beyond."""
        order = np.argsort(self.each_ns)
        summed = np.cumsum(self.counts[order])
        at = int(np.searchsorted(summed, share * summed[-1]))
        return float(self.each_ns[order][min(at, order.size - 1)])


def in_programs(series: Mapping[str, Any], single: Waits, reads: Waits) -> Floats:
    """The logarithm of how many programs long the wait of single writes is that a moment falls
    into, within what tells; empty where too little was written or reads do not wait for programs.

    `series` has the samples of the writes, `single` their waits, `reads` those between writes.
    """
    there = np.flatnonzero(series["ios"] > 0)
    if there.size < PARTS or not reads.counts.sum() or not single.counts.sum():
        return np.zeros(0)
    longest = [series["lat_max_ns"][part].max() for part in np.array_split(there, PARTS)]
    single = single.up_to(HOSTS * float(np.sort(longest)[-2]))
    if written_meanwhile(single, reads) == 0.0:
        return np.zeros(0)
    waits = np.log(single.usual_ns / _program_ns(reads))
    return np.array([np.clip(waits, SHORTEST, LONGEST)])


def written_meanwhile(single: Waits, reads: Waits) -> float:
    """How many bytes single writes hand over while a program lasts; 0 where reads do not say."""
    if not reads.counts.sum() or not single.counts.sum():
        return 0.0
    written = _program_ns(reads) * BLOCK / single.mean_ns
    return written if written >= LEAST_BYTES else 0.0


def _program_ns(reads: Waits) -> float:
    return reads.quantile_ns(PROGRAM) - float(reads.each_ns.min())
