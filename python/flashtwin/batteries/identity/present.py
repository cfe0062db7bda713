"""What a page shows of the identity: label and ratings in a table, the verdict in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtwin.batteries.base.present import Fact, Present, Subject
from flashtwin.batteries.identity import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence


class IdentityPresent(Present):
    """What the drive is, and its ratings."""

    title = "Identity and ratings"

    def alone(self, subject: Subject) -> str:
        """Whether it meets its ratings."""
        verdict = subject.finding("verdict", "")
        value = None if verdict is None else verdict.value
        return f"{value[:1].upper()}{value[1:]}" if isinstance(value, str) else ""

    def facts(self, subjects: Sequence[Subject]) -> list[Fact]:
        """Whether each drive meets its ratings, where there are any."""
        facts = []
        for subject in subjects:
            verdict = subject.finding("verdict", "")
            if verdict is not None and verdict.value in VERDICTS[:2]:
                note = f": {verdict.note}" if verdict.note else ""
                facts.append(
                    Fact(
                        text=f" {verdict.value}{note}.",
                        subject=subject.name,
                        drive=subject.index,
                        detail=True,
                    )
                )
        return facts


PRESENT = IdentityPresent()
