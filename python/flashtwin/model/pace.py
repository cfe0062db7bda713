"""How fast this machine simulates a drive, in work a second of one processor, and what else waits.

Invariant: nothing here measures, and nothing of it goes into a run: an estimate is told and
forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass

# Requests a second of a host that waits for each: reads of flash, writes into a buffer.
ALONE_READS, ALONE_WRITES = 12e3, 30e3
# The paces of random requests are those of pages. A large random write over data leaves as much to
# collect as its pages do: it moves 1.5 times their bytes a second of the drive's clock, and takes a
# fifth of their time to simulate (64 KiB to 1 MiB on a copy of the BX500).
PAGE, LARGE_OWN, LARGE_COST = 4096, 1.5, 0.2


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Bytes and requests that are simulated in a second of one processor.

    `first_`: writes to an erased drive; `again_bytes_s` and `random_write_iops`: to one that is
    full of data, which is collected. `open_s`: to make the drive. Those of `own_` are what the
    drive itself does in a second of its clock, 0 where that is not known: what a step that time
    ends does.
    """

    first_bytes_s: float
    again_bytes_s: float
    read_bytes_s: float
    random_read_iops: float
    random_write_iops: float
    first_random_write_iops: float
    open_s: float = 0.0
    own_first_bytes_s: float = 0.0
    own_again_bytes_s: float = 0.0
    own_read_bytes_s: float = 0.0
    own_random_read_iops: float = 0.0
    own_random_write_iops: float = 0.0
    own_first_random_write_iops: float = 0.0

    def own_request_s(
        self, reads: float, block_bytes: float, outstanding: int, *, random: bool, erased: bool
    ) -> float | None:
        """How long the drive's clock takes for a request, of which a share are `reads`; none where
        that is not known. `erased`: there is erased flash for what is written."""
        if not self.own_read_bytes_s or not self.own_again_bytes_s:
            return None
        most_reads, most_writes = ALONE_READS * outstanding, ALONE_WRITES * outstanding
        if random:
            most_reads = min(most_reads, self.own_random_read_iops)
            of_full, of_erased = self.own_random_write_iops, self.own_first_random_write_iops
            most_writes = min(most_writes, of_erased if erased else of_full)
        most_bytes_s = self.own_first_bytes_s if erased else self.own_again_bytes_s
        if random and not erased:
            most_bytes_s = min(most_bytes_s, LARGE_OWN * PAGE * self.own_random_write_iops)
        read_s = max(1 / most_reads, block_bytes / self.own_read_bytes_s)
        write_s = max(1 / most_writes, block_bytes / most_bytes_s)
        return reads * read_s + (1 - reads) * write_s


def small_writes(requests: float, written_bytes: float) -> float:
    """How many random writes of a page cost as much to simulate as larger ones over data."""
    return max(requests, LARGE_COST * written_bytes / PAGE)


# Of the slower designs of the catalogue on one core of a server, for what is not worth measuring.
USUAL = Pace(
    first_bytes_s=80e9,
    again_bytes_s=80e9,
    read_bytes_s=200e9,
    random_read_iops=1.5e6,
    random_write_iops=1e6,
    first_random_write_iops=1.5e6,
    open_s=0.5,
)


# A machine on which a piece of work gets less than this of a processor is not foretold.
LEAST_SHARE = 0.01


def busy(share: float, at_once: int, processors: int) -> float:
    """How many times longer than its processor's time a piece of work takes, of which `at_once` go
    on together. `share` of a processor is what each of them gets, or as many of them as there are
    `processors`."""
    together = at_once / min(at_once, processors)
    return together / max(min(share, 1.0), LEAST_SHARE)
