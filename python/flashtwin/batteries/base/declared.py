"""What a battery declares besides its steps and findings: parts, clauses, forecasts, instruments.

They are told apart from the registry, which hands batteries out, so that what checks another
package's battery knows them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from flashtwin.model.document import Document

if TYPE_CHECKING:
    from flashtwin.model.step import Step

# Instruments that a battery may need: their names in `Capabilities`, and in words.
Instrument = Literal["smart", "power_meter", "thermometer"]
INSTRUMENTS: dict[Instrument, str] = {
    "smart": "SMART data",
    "power_meter": "watt meter",
    "thermometer": "sensor of its temperature",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a battery can do without: the steps whose labels are in `labels` or under them.

    Steps of a part that is left out are answered with `NotPossible`, and the battery has to cope;
    `needs` names the titles of parts without which this one says nothing. `begins`: as long as
    there is time the part is begun, even where it does not fit: it says something when it is cut.
    """

    title: str
    labels: tuple[str, ...]
    needs: tuple[str, ...] = ()
    begins: bool = False

    def holds(self, label: str) -> bool:
        """Whether a step belongs to it."""
        return any(label == stem or label.startswith(f"{stem}/") for stem in self.labels)


class Clause(Document, frozen=True):
    """One thing that a battery's original does: `says` what, `source` who tells it.

    `here` is what the battery does instead, on any target; empty where it does the same.
    """

    says: str
    source: str
    here: str = ""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The steps that a battery expects to ask for, and those that it asks for at most."""

    expected: Sequence[Step]
    most: Sequence[Step] = ()
