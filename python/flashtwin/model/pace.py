"""How fast this machine simulates a drive, in work a second of one processor, and what else waits.

Invariant: nothing here measures, and nothing of it goes into a run: an estimate is told and
forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass

# A fresh file takes random requests faster than the full drive on which a pace is measured, twice
# and more.
SPRINT = 2.0


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Bytes and requests that are simulated in a second of one processor.

    `first_bytes_s`: sequential writes to an erased drive; `again_bytes_s`: to one that holds data,
    which is collected. `open_s`: to make the drive. Those of `own_` are what the drive itself does
    in a second of its clock, 0 where that is not known: a step that time ends does no more.
    """

    first_bytes_s: float
    again_bytes_s: float
    read_bytes_s: float
    random_read_iops: float
    random_write_iops: float
    open_s: float = 0.0
    own_first_bytes_s: float = 0.0
    own_again_bytes_s: float = 0.0
    own_read_bytes_s: float = 0.0
    own_random_read_iops: float = 0.0
    own_random_write_iops: float = 0.0

    def share_in(self, seconds: float, read: float, write: float, *, random: bool) -> float:
        """How much of that work the drive does in that time, at most all; `read` and `write` are
        requests where they are `random`, and bytes over data otherwise."""
        of_reads = self.own_random_read_iops if random else self.own_read_bytes_s
        of_writes = self.own_random_write_iops if random else self.own_again_bytes_s
        if not of_reads or not of_writes:
            return 1.0
        needed_s = read / of_reads + write / of_writes
        sprint = SPRINT if random else 1.0
        return min(sprint * seconds / needed_s, 1.0) if needed_s else 1.0


# Of the slower designs of the catalogue on one core of a server, for what is not worth measuring.
USUAL = Pace(
    first_bytes_s=80e9,
    again_bytes_s=80e9,
    read_bytes_s=200e9,
    random_read_iops=1.5e6,
    random_write_iops=1e6,
    open_s=0.5,
)


def busy(load: float, beside: int, processors: int) -> float:
    """How many times longer than its processor's time work takes on a machine with that load, of
    which `beside` other pieces of ours are about to begin."""
    return max(1.0, (load + beside + 1) / max(processors, 1))
