"""What a page shows of write saturation: a table, and the curve from the erased drive on."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Present, Ranked, Subject
from flashtwin.batteries.snia_wsat import NAME
from flashtwin.charts.curves import Phase


class SniaWsatPresent(Present):
    """From the erased drive to the steady one."""

    title = "PTS-2.0-like write saturation"
    # What is left of random writes when the drive is saturated.
    ranked = (
        Ranked(
            title="Saturated 4 KiB writes",
            name="steady",
            claim=Claim(alone="settles at {} in random writes of 4\u00a0KiB"),
        ),
    )

    def phases(self, subject: Subject) -> list[Phase]:
        """All that was written at random, from the erased drive to the end, as one curve."""
        return subject.phases(
            [
                Phase(
                    label=f"{NAME}/first",
                    group=NAME,
                    group_title="Write saturation, random writes",
                    name="saturation",
                    title="from the erased drive on",
                    goes_on=tuple(
                        label for label in subject.labels if label.startswith(f"{NAME}/steady/")
                    ),
                )
            ]
        )


PRESENT = SniaWsatPresent()
