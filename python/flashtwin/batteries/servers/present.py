"""What a page shows of the server loads: a table each, and its curve."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Present, Ranked, Subject
from flashtwin.batteries.servers import NAME, TITLES
from flashtwin.charts.curves import Phase


class ServersPresent(Present):
    """Three loads of servers."""

    title = "Servers"
    # Random requests of a web server.
    ranked = (
        Ranked(
            title="Web server",
            name="mean",
            variant="web",
            claim=Claim(alone="serves a web server {}"),
        ),
    )

    def phases(self, subject: Subject) -> list[Phase]:
        """Each load by itself."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{kind}",
                group=f"{NAME}/{kind}",
                group_title=title,
                name="load",
                title="load",
            )
            for kind, title in TITLES.items()
        )


PRESENT = ServersPresent()
