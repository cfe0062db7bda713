"""How findings of a fill are written down: names, titles, units, evidence.

Invariant: the variant of a finding is the pattern, and the name of a later pass's begins with
`second_pass.` and so on.

Source of the numbers: GB is 10^9 bytes, MB/s 10^6 bytes a second, as drives are advertised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtwin.model.finding import Evidence, Finding, Interval, Means

if TYPE_CHECKING:
    # Titles are read where nothing is estimated, and estimating imports numpy.
    from flashtwin.analysis.estimate import Estimate

NAME = "fill"
GB = 1e9
MB = 1e6

TITLES = {
    "cache_size": ("Size of the SLC cache", "GB"),
    "speed_cache": ("Speed in the SLC cache", "MB/s"),
    "speed_past_cache": ("Speed past the SLC cache", "MB/s"),
    "fold_begin": ("Where folding begins", "GB"),
    "speed_folding": ("Speed while folding", "MB/s"),
    "mean_past_cache": ("Mean speed past the SLC cache", "MB/s"),
    "mean": ("Mean speed of the fill", "MB/s"),
    "duration": ("Duration of the fill", "s"),
    "one_third": ("SLC cache as a share of the raw flash", "fraction"),
    "cache_probability": ("Probability of a cache", "fraction"),
    "slowed_by": ("What slowed the fill for a while", ""),
    "rate_held": ("Highest rate held", "MB/s"),
}
# Of a fill that has a second tier of cache, slower stretches, or a saw-tooth.
FURTHER_TITLES = {
    "tier_end": ("Where the second cache tier ends", "GB"),
    "speed_past_tiers": ("Speed past both tiers", "MB/s"),
    "slowed_by.nothing": ("Probability: nothing, the drive always does so", "fraction"),
    "slowed_by.throttling": ("Probability: the drive throttles itself", "fraction"),
    "slowed_by.outside": ("Probability: a limit outside of the drive", "fraction"),
    "tooth_period": ("Period of the saw-tooth", "GB"),
}
LATER_TITLES = {
    "cache_size": ("size of the SLC cache", "GB"),
    "speed_first": ("speed at its beginning", "MB/s"),
    "mean": ("mean speed", "MB/s"),
    "ended_by": ("what ended its fast part", ""),
}
# The words that the value of a choice may be.
CHOICES = {
    "slowed_by": ("nothing", "throttling", "outside"),
    "ended_by": ("cache", "erased flash", "nothing"),
}
HEADLINES = ("cache_size", "speed_cache", "speed_past_cache", "mean")
PLACES = ("cache_size", "fold_begin", "tier_end")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
DIVISORS = {"GB": GB, "MB/s": MB, "s": 1.0, "fraction": 1.0}


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Makes the findings of one pass; estimates come in bytes, bytes a second and seconds.

    `first`: the pattern is the first of the run.
    """

    pattern: str
    label: str
    pass_number: int = 1
    first: bool = True

    def value(
        self,
        name: str,
        estimate: Estimate,
        start: float,
        end: float,
        note: str | None = None,
        *,
        means: Means = "estimate",
    ) -> Finding:
        """A finding with a value, resting on the bytes from `start` to `end`."""
        title, unit = self.title(name)
        scaled = estimate.scaled(1.0 / DIVISORS[unit])
        return replace(
            self._finding(name, title, unit, note),
            value=scaled.value,
            interval=Interval.of(scaled.low, scaled.high, means),
            evidence=self._on(start, end),
        )

    def choice(self, name: str, word: str | None, start: float, end: float, note: str) -> Finding:
        """A finding whose value is one of the words of `CHOICES`, or none where nobody can tell."""
        unsaid = self._finding(name, *self.title(name), note)
        return replace(unsaid, value=word, evidence=self._on(start, end))

    def missing(
        self, name: str, reason: str, *, looked_at: float | None = None, lead: str = "not found"
    ) -> Finding:
        """A finding without a value, and why; `looked_at`: the bytes in which it was looked for."""
        lacking = self._finding(name, *self.title(name), f"{lead}: {reason}")
        return lacking if looked_at is None else replace(lacking, evidence=self._on(0.0, looked_at))

    def _on(self, start: float, end: float) -> Evidence:
        start, end = float(round(start)), float(round(end))
        return Evidence(battery=NAME, label=self.label, axis="bytes", start=start, end=end)

    def _finding(self, name: str, title: str, unit: str, note: str | None) -> Finding:
        return Finding(
            battery=NAME,
            name=name_of(name, self.pass_number),
            variant=self.pattern,
            title=title,
            value=None,
            unit=unit,
            choices=CHOICES.get(name, ()),
            # The longer a drive is quick the better; other units say by themselves what is better.
            better="higher" if name in PLACES else None,
            headline=self.first and self.pass_number == 1 and name in HEADLINES,
            note=note,
        )

    def title(self, name: str) -> tuple[str, str]:
        """The title for a table and the unit."""
        if self.pass_number == 1:
            return {**TITLES, **FURTHER_TITLES}[name]
        title, unit = LATER_TITLES[name]
        return f"{ORDINALS[self.pass_number - 1].capitalize()} pass: {title}", unit


def name_of(name: str, pass_number: int) -> str:
    """The name of a finding of that pass."""
    return name if pass_number == 1 else f"{ORDINALS[pass_number - 1]}_pass.{name}"
