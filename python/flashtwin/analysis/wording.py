"""How findings of a fill are written down: ids, titles, units, rounding, evidence.

Invariants: the variant of a finding is the pattern, and the name of a later pass's begins with
`second_pass.`; values, intervals and evidence are rounded here and nowhere else (six digits, whole
bytes), so that the last bits of a sum do not reach a file.

Source of the numbers: GB is 10^9 bytes, MB/s 10^6 bytes a second, as drives are advertised.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.model.finding import Better, Evidence, Finding, Interval, Means

if TYPE_CHECKING:
    # Titles are read where nothing is estimated, and estimating imports SciPy.
    from flashtwin.analysis.estimate import Estimate

BATTERY = "fill"
GB = 1e9
MB = 1e6

TITLES = {
    "cache_size": ("Cache: where the first plateau ends", "GB"),
    "speed_cache": ("Speed in the cache", "MB/s"),
    "speed_past_cache": ("Speed past the cache", "MB/s"),
    "fold_begin": ("Where folding begins", "GB"),
    "speed_folding": ("Speed while folding", "MB/s"),
    "mean_past_cache": ("Mean speed past the cache", "MB/s"),
    "mean": ("Mean speed of the fill", "MB/s"),
    "duration": ("Duration of the fill", "s"),
    "one_third": ("End of the first plateau as a share of the raw flash", "fraction"),
}
LATER_TITLES = {
    "cache_size": ("where the first plateau ends", "GB"),
    "speed_first": ("speed of the first plateau", "MB/s"),
    "mean": ("mean speed", "MB/s"),
}
HEADLINES = ("cache_size", "speed_cache", "speed_past_cache", "mean")
# The longer a drive is quick the better.
PLACES = ("cache_size", "fold_begin")
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

    def found(
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
        low = None if scaled.low is None else rounded(scaled.low)
        high = None if scaled.high is None else rounded(scaled.high)
        return Finding(
            battery=BATTERY,
            name=self.name(name),
            variant=self.pattern,
            title=title,
            value=rounded(scaled.value),
            unit=unit,
            interval=Interval.of(low, high, means),
            better=self.better(name),
            headline=self.first and self.pass_number == 1 and name in HEADLINES,
            evidence=Evidence(
                battery=BATTERY,
                label=self.label,
                axis="bytes",
                start=float(round(start)),
                end=float(round(end)),
            ),
            note=note,
        )

    def missing(self, name: str, reason: str) -> Finding:
        """A finding without a value, and why."""
        title, unit = self.title(name)
        return Finding(
            battery=BATTERY,
            name=self.name(name),
            variant=self.pattern,
            title=title,
            value=None,
            unit=unit,
            better=self.better(name),
            headline=self.first and self.pass_number == 1 and name in HEADLINES,
            note=f"not found: {reason}",
        )

    def name(self, name: str) -> str:
        """The name of a finding of this pass."""
        return name if self.pass_number == 1 else f"{self.ordinal}_pass.{name}"

    @staticmethod
    def better(name: str) -> Better | None:
        """Whether more of it is better, where its unit does not say so."""
        return "higher" if name in PLACES else None

    def title(self, name: str) -> tuple[str, str]:
        """The title for a table and the unit."""
        if self.pass_number == 1:
            return TITLES[name]
        title, unit = LATER_TITLES[name]
        return f"{self.ordinal.capitalize()} pass: {title}", unit

    @property
    def ordinal(self) -> str:
        """The pass in words."""
        known = self.pass_number <= len(ORDINALS)
        return ORDINALS[self.pass_number - 1] if known else f"{self.pass_number}th"


def rounded(value: float) -> float:
    """Six significant digits."""
    return float(f"{value:.6g}")


def gb(size: float) -> str:
    """Bytes as text in GB."""
    value = size / GB
    return f"{value:.0f} GB" if value >= 100 else f"{value:.3g} GB"


def mbs(rate: float) -> str:
    """Bytes a second as text in MB/s."""
    return f"{rate / MB:.0f} MB/s" if rate >= 100 * MB else f"{rate / MB:.3g} MB/s"


def sentence(parts: Iterable[str | None]) -> str | None:
    """Notes joined by semicolons, without the empty ones."""
    said = [part for part in parts if part]
    return "; ".join(said) if said else None
