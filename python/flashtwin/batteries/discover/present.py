"""What a page shows of discover: the kinds with their probabilities, and the curve of each test."""

from __future__ import annotations

from collections.abc import Collection

from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.batteries.discover.tests import AGAIN, LEVEL, PAST
from flashtwin.batteries.discover.words import FILL, NAME, PARTS
from flashtwin.charts.curves import Phase
from flashtwin.charts.numbers import gb
from flashtwin.hypothesis.structures import NONE
from flashtwin.model.shares import probability
from flashtwin.model.units import readable_seconds, rough_seconds

# A rest of more is told in minutes.
ROUGH_S = 90.0


def _title(name: str) -> str:
    """What a test wrote on, for a reader: "at 96 % full, rested"."""
    if name == AGAIN.name:
        return "at once again"
    if not name.startswith(LEVEL):
        return name
    percent = float(name.removeprefix(LEVEL))
    if percent <= 100:
        return f"at {percent:g} % full, rested"
    return f"full, {percent - 100:g} % overwritten, rested"


def _another(title: str, others: Collection[str]) -> str:
    """The title of a test; one that repeats an earlier test also gets a number."""
    times = sum(other == title or other.startswith(f"{title}, test ") for other in others)
    return f"{title}, test {times + 1}" if times else title


class DiscoverPresent(Present):
    """The fill and the tests in the order in which they were run."""

    title = "Kind of cache"

    def phases(self, subject: Subject) -> list[Phase]:
        """The fill and every test, on one chart."""
        titles = {FILL: "erased drive"}
        for label in subject.labels:
            if label.startswith(f"{NAME}/") and label.endswith("/write"):
                title = label.split("/")[1].partition("-")[2]
                # Reads of where data lies, and single writes, draw no curve.
                if title != PAST.name:
                    titles[label] = _another(_title(title), titles.values())
        return subject.phases(
            Phase(label=label, group=NAME, group_title=self.title, name=label, title=title)
            for label, title in titles.items()
        )

    def alone(self, subject: Subject) -> str:
        """The kind of cache with its probability, the way past it, and when it is back."""
        kind = subject.finding(PARTS[0], "")
        if kind is None or not isinstance(kind.value, str):
            return ""
        if kind.value == NONE:
            return "Shows no cache"
        likely = subject.finding(f"{PARTS[0]}.{kind.value}", "")
        share = (
            "" if likely is None or likely.number is None else f" ({probability(likely.number)})"
        )
        size = subject.finding("size", "")
        of = "" if size is None or size.number is None else f" of {gb(size.number)}"
        text = f"{kind.value[:1].upper()}{kind.value[1:]} cache{of}{share}"
        past, back = subject.finding(PARTS[1], ""), subject.finding("rest_full", "")
        if past is not None and isinstance(past.value, str):
            text += f", {past.value}"
        if back is not None and back.number is not None:
            seconds = back.number
            after = readable_seconds if seconds < ROUGH_S else rough_seconds
            text += f"; back after {after(seconds)}"
        return text.replace(" %)", "\u00a0%)")

    def columns(self, subject: Subject) -> list[Column]:
        """How soon the cache is back."""
        return [
            Column(
                title="Rest until the cache is back",
                finding=subject.finding("rest_full", ""),
                better="lower",
            )
        ]


PRESENT = DiscoverPresent()
