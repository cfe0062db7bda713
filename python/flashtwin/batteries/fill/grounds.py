"""When a fill has grounds for a probability of a cache, and when its patterns disagree.

The counts behind the probability are of drives that were erased and then written for minutes. A
drive that was not erased may hold anything in its cache, and a busy host slows writes of seconds as
a cache does. A drive that writes all of its flash once, one bit a cell, is not a drive with a cache
of some size: what it does is said instead.

Invariant: only what a host knows of the run is read here: whether the target was erased, whose
clock it has, how long was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from flashtwin.analysis.estimate import Estimate
from flashtwin.batteries.base.assumed import stated_bits
from flashtwin.batteries.base.record import Answered, Record
from flashtwin.batteries.fill.signature import presence
from flashtwin.model.finding import Finding
from flashtwin.model.units import readable_gb, readable_seconds

# Writes that last less may be slowed by anything on a real host.
LEAST_S = 30.0
# Two sizes of a cache that differ by more contradict each other.
SAME_SIZE = 1.5
# A note of a finding begins with this where a drive writes all of its cells once before it folds.
WHOLE_DRIVE = "it behaves as one whole-drive SLC cache"


def held_to(
    findings: Sequence[Finding], record: Record, purge: str, step: Answered
) -> list[Finding]:
    """The findings of a first pass, without a probability that nothing bears."""
    reason = _no_grounds(findings, record, purge, step)
    return [
        replace(finding, value=None, interval=None, note=f"cannot tell: {reason}")
        if reason and finding.name == "cache_probability" and finding.value is not None
        else finding
        for finding in findings
    ]


def _no_grounds(
    findings: Sequence[Finding], record: Record, purge: str, step: Answered
) -> str | None:
    erased = record.step(purge)
    if erased is not None and erased.not_possible is not None:
        return "the target was not erased, so that its cache may have held data"
    seconds = step.duration_ns / 1e9
    if not record.info.can.virtual_time and seconds < LEAST_S and erased is not None:
        return (
            f"{readable_seconds(seconds)} of writing are too few: what else the host does slows "
            "writes as much; write more"
        )
    of_pass = {finding.name: finding for finding in findings}
    if _fills_all_cells(of_pass.get("one_third"), stated_bits(record.info) or 3):
        size = of_pass["cache_size"].number or 0.0
        return f"{WHOLE_DRIVE} of {readable_gb(size * 1e9)}"
    return None


def _fills_all_cells(share: Finding | None, bits: int) -> bool:
    if share is None or share.number is None:
        return False
    known = Estimate(value=share.number, low=share.low, high=share.high)
    return presence(known, bits) == "present"


def is_whole_drive(of_pass: Mapping[str, Finding]) -> bool:
    """True where the fill shows that a drive uses all of its flash as the cache: it wrote each cell
    once with one bit before it folded."""
    probability = of_pass.get("cache_probability")
    return probability is not None and WHOLE_DRIVE in (probability.note or "")


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """A contradiction between the patterns of a run about the cache: a sentence, and a shorter one
    without the patterns' names."""

    sentence: str
    brief: str


def contradiction(by_pattern: Mapping[str, Mapping[str, Finding]]) -> Contradiction | None:
    """Where the patterns of a run say different things of the cache, else nothing.

    `by_pattern`: the findings of each first pass by name, under the pattern as a reader knows it.
    """
    seen = {}
    for pattern, of_pass in by_pattern.items():
        size = of_pass.get("cache_size")
        if size is not None and size.number:
            seen[pattern] = size
    if not seen:
        return None
    (first, size), *others = seen.items()
    for pattern, of_pass in by_pattern.items():
        if pattern in seen or "cache_size" not in of_pass:
            continue
        written = of_pass["cache_size"].evidence
        if written is not None and written.end > (size.high or size.number or 0.0) * 1e9:
            within = readable_gb(written.end)
            return Contradiction(
                sentence=f"{first} shows a drop at {_gb(size)} and {pattern} none within {within}: "
                "what slowed one of them was no cache",
                brief=f"no cache is shown: one pattern drops at {_gb(size)}, another not within "
                f"{within}",
            )
    for pattern, other in others:
        if _differ(size, other):
            return Contradiction(
                sentence=f"{first} shows a drop at {_gb(size)} and {pattern} at {_gb(other)}: "
                "at most one of them is the end of a cache",
                brief=f"no cache is shown: one pattern drops at {_gb(size)}, another at "
                f"{_gb(other)}",
            )
    return None


def _differ(first: Finding, other: Finding) -> bool:
    low, high = sorted((first.number or 0.0, other.number or 0.0))
    apart = None in (first.low, first.high, other.low, other.high) or (
        (first.low or 0.0) > (other.high or 0.0) or (other.low or 0.0) > (first.high or 0.0)
    )
    return high > SAME_SIZE * low and apart


def _gb(size: Finding) -> str:
    return readable_gb((size.number or 0.0) * 1e9)
