"""Two kinds of cache, or two ways past it, that no test left parts: said as such, and why.

Neither is probable enough, both together are, and on no test of the menu would drives of both that
still fit be told apart. Then the answer is "dynamic or hybrid" and not "cannot tell", which would
promise that another test tells. Invariants: pure; the reason is of what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from flashtwin.batteries.discover.posterior import Posterior
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.hypothesis.structures import DYNAMIC, FOLD_FIRST, HYBRID, NONE, STAGED
from flashtwin.model.units import percent

SEPARATOR = " or "
# Each side of the range of a value leaves this share out.
TAIL = 0.025


def choices(words: Sequence[str]) -> tuple[str, ...]:
    """The words, and each two of them; no cache is not one of two caches."""
    pairs = combinations([word for word in words if word != NONE], 2)
    return (*words, *(SEPARATOR.join(pair) for pair in pairs))


def words_of(value: str) -> tuple[str, ...]:
    """The words that a value names: one, or two that no test parts."""
    return tuple(value.split(SEPARATOR))


def pair_of(likely: Mapping[str, float], probability: float) -> tuple[str, str] | None:
    """The two most probable words in the order of the table, where both together are probable
    enough."""
    first, second = sorted(likely, key=lambda word: -likely[word])[:2]
    if NONE in (first, second) or likely[first] + likely[second] < probability:
        return None
    left, right = (word for word in likely if word in (first, second))
    return left, right


def reason(belief: Posterior, pair: tuple[str, str]) -> str:
    """Why no test of a host parts the two."""
    if set(pair) == {DYNAMIC, HYBRID}:
        low, high = _own_share(belief)
        return (
            f"with {percent(low, 1)} to {percent(high, 1)} of the capacity as blocks of its own it"
            " would draw the same curves as with none: both kinds shrink by as much as the drive"
            " fills, and differ only where nothing is left to borrow"
        )
    if set(pair) == {STAGED, FOLD_FIRST}:
        return (
            "where few programs are folded at a time, single writes wait for them no longer than"
            " for data that passes through the cache; on a smaller drive of the same model, which"
            " has fewer dies, a step would be more programs"
        )
    return "drives of both that fit what was measured draw the same curves in every other test"


def _own_share(belief: Posterior) -> tuple[float, float]:
    """Between which shares of the capacity the own part of a hybrid cache lies, if it is one."""
    hybrid = belief.only(HYBRID)
    values = [candidate.static_share for candidate in hybrid.candidates]
    low, high = hybrid.quantiles(values, (TAIL, 1 - TAIL))
    return low, high


def unseen(word: str) -> str | None:
    """What a word that was told may also be, as no test of a host shows the difference."""
    if word != DYNAMIC:
        return None
    least, _ = hypothesis.values()["static"].ends
    share = percent(least, 1)
    return f"{HYBRID} with less than {share} of the capacity as its own looks the same to a host"
