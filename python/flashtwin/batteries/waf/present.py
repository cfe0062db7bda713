"""What ranks drives by their write amplification: that of the last fill that was measured."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Column, Subject
from flashtwin.batteries.base.presents import DeclaredPresent

CLAIM = Claim(
    than="programs {} less flash for random writes",
    most="programs least flash for random writes",
    alone="has a write amplification of {} in random writes",
    what="the write amplification of random writes",
    in_times=False,
)


class WafPresent(DeclaredPresent):
    """Write amplification of random writes."""

    def columns(self, subject: Subject) -> list[Column]:
        """The last fill, which is the fullest as a rule, where write amplification is highest."""
        measured = [row for row in subject.findings if not row.name and row.number is not None]
        last = measured[-1] if measured else None
        return [Column(title="WAF", finding=last, better="lower", claim=CLAIM)]


PRESENT = WafPresent.beside(__file__)
