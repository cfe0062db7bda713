"""What a page shows of the NIOBench-like test: a table, and the mean as a column."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Column, Present, Subject


class NioBenchPresent(Present):
    """Files written one after another."""

    title = "NIOBench-like"

    def columns(self, subject: Subject) -> list[Column]:
        """The means of all files."""
        return [
            Column(
                title=f"NIOBench-like {way}",
                finding=subject.finding(f"{way}.mean", "")
                or subject.finding(f"{way}.mean", "native"),
                better="higher",
                tile="NIOBench-like write / read",
                claim=Claim(alone=f"{way}s {{}} in NIOBench's way"),
            )
            for way in ("write", "read")
        ]


PRESENT = NioBenchPresent()
