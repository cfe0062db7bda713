"""What a page shows of cross stimulus recovery: tables, and the curves of the three writes."""

from __future__ import annotations

from flashtwin.batteries.base.present import Present, Ranked, Subject
from flashtwin.batteries.snia_xsr import AFTER, BEFORE, NAME, RANDOM, TITLES
from flashtwin.charts.curves import Phase


class SniaXsrPresent(Present):
    """A stream before and after random writes."""

    title = "PTS-2.0-like cross stimulus recovery"
    # How long random writes are felt.
    ranked = (Ranked(title="Stream back after", name="recovery", better="lower"),)

    def phases(self, subject: Subject) -> list[Phase]:
        """Both streams on one chart, the random writes on another."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{kind}",
                group=f"{NAME}/{RANDOM}" if kind == RANDOM else NAME,
                group_title="Cross stimulus recovery, "
                + ("random writes" if kind == RANDOM else "the stream"),
                name=kind,
                title=TITLES[kind].lower(),
            )
            for kind in (BEFORE, AFTER, RANDOM)
        )


PRESENT = SniaXsrPresent()
