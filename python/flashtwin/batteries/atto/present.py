"""What a page says first of the ATTO-like battery: its highest rate, and the sizes that suffice."""

from __future__ import annotations

from flashtwin.batteries.base.present import Subject
from flashtwin.batteries.base.presents import DeclaredPresent
from flashtwin.model.text import AT_LEAST, Shown

WAYS = ("write", "read")


class AttoPresent(DeclaredPresent):
    """The program's chart, in words."""

    def alone(self, subject: Subject) -> str:
        """The least size that reads and writes at full speed, or the highest rate."""
        limit = subject.finding("interface", "")
        full = [subject.finding(f"full.{way}-Q4", "") for way in WAYS]
        sizes = [finding.number for finding in full if finding is not None and finding.number]
        if limit is None or limit.number is None:
            return ""
        size = f" from {max(sizes):g}\u00a0KiB on" if len(sizes) == len(WAYS) else ""
        # The number that the table has: a bound is rounded down there.
        rate = Shown.of(limit).value.removeprefix(f"{AT_LEAST} ")
        return f"Up to {rate}\u00a0MB/s{size}"


PRESENT = AttoPresent.beside(__file__)
