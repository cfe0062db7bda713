"""What a page shows of the server loads: a table each, and its curve."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.batteries.servers import NAME, TITLES
from flashtwin.charts.curves import Phase


class ServersPresent(Present):
    """Three loads of servers."""

    title = "Servers"

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

    def columns(self, subject: Subject) -> list[Column]:
        """Random requests of a web server."""
        mean = subject.finding("mean", "web")
        return [Column(title="Web server", finding=mean, better="higher")]


PRESENT = ServersPresent()
