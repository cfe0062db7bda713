"""How probable each answer is that a finding chose from: shares of one whole, told together.

A choice has a finding of its own for each word, `kind.static` beside `kind`, whose value is a
fraction. A reader wants them in one bar, the most probable first, and not in a row each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flashtwin.model.finding import Finding
from flashtwin.model.units import percent

# A share below this reads as 0 %, and is left out.
LEAST = 0.005
# Blocks of a terminal's bar for 100 %, and the parts that one is divided into.
BLOCKS, EIGHTHS = 20, "▏▎▍▌▋▊▉█"


def probability(value: float) -> str:
    """How likely something is, in %; short of certain, it is not called so."""
    rounded = percent(value)
    return "> 99 %" if rounded == "100 %" and value < 1 else rounded


@dataclass(frozen=True, kw_only=True)
class Share:
    """A word that might be the answer, and how probable it is."""

    word: str
    finding: Finding

    @property
    def value(self) -> float:
        """From 0 to 1."""
        return self.finding.number or 0.0

    @property
    def percent(self) -> str:
        """The value as it is told; short of certain, it is not called so."""
        return probability(self.value)


Shares = Mapping[str, Sequence[Share]]


def shares_of(findings: Iterable[Finding]) -> Shares:
    """The shares by the id of the choice that they are of, the most probable first."""
    rows = list(findings)
    chosen = {(row.battery, row.name, row.variant): row.id for row in rows if row.choices}
    shares: dict[str, list[Share]] = {}
    for row in rows:
        name, _, _ = row.name.rpartition(".")
        choice = chosen.get((row.battery, name, row.variant))
        if choice is not None and row.unit == "fraction":
            word = row.title.partition(" [")[0].removeprefix("Probability: ")
            shares.setdefault(choice, []).append(Share(word=word, finding=row))
    return {choice: sorted(of, key=lambda share: -share.value) for choice, of in shares.items()}


def told(shares: Sequence[Share]) -> Iterator[Share]:
    """Those that are not next to nothing."""
    return (share for share in shares if share.value >= LEAST)


def bar(shares: Sequence[Share]) -> str:
    """One line for a terminal: dynamic ██████████ 50 %, hybrid █████████▉ 50 %."""
    return ", ".join(
        f"{share.word} {blocks(share.value)} {share.percent}" for share in told(shares)
    )


def blocks(value: float) -> str:
    """A bar of a terminal for a share from 0 to 1."""
    eighths = max(round(value * BLOCKS * len(EIGHTHS)), 1)
    full, part = divmod(eighths, len(EIGHTHS))
    return EIGHTHS[-1] * full + (EIGHTHS[part - 1] if part else "")
