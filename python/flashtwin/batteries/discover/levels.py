"""What sizes of the cache at several levels say of its blocks, in closed form.

What is free beyond a reserve can be lent, and a cell that is lent holds one bit of its k. So at a
level f (the share of the drive that is written, and what was overwritten at random on top of it) a
cache of borrowed blocks holds (F - f)/k of the capacity, up to its size C: it shrinks to nothing at
F; where the drive is full, what is written over frees as much, and it holds (F - f)/(k - 1). One
that has S of its own besides holds S + (F - f)/k, and where F is reached it ends with S. A fill
that was written into that cache becomes slower a second time at P = F - k(C - S) + C. So P and
every size that is seen say the same sum a = S + F/k; what S is, only the size at which the cache
vanishes says. Candidates of each split of that sum are what the simulations are given to judge.

Invariants: pure; nothing is decided here, values are proposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from flashtwin.batteries.discover.candidates import (
    HELD_BACK,
    SLACK,
    Candidate,
    Facts,
    bin_ends,
    structures,
)
from flashtwin.batteries.discover.tests import Test
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.hypothesis.structures import BITS, DYNAMIC, HYBRID

# So many bins in a row are slow where a cache has ended.
LASTING = 3
# A size is read off where it is at least this share of the capacity and at most this one of the
# cache's size: one that holds all of a cache says nothing of what was free.
LEAST, MOST = 0.003, 0.93
# Own parts that are proposed, evenly on a logarithmic scale.
OWN = 5


def size_seen(facts: Facts, curve: Sequence[float], test: Test) -> float:
    """How much of a test's write was fast, as a share of the capacity."""
    slow = np.array(curve) < 0.5 * np.log(facts.second)
    ends = np.append(0.0, bin_ends(facts, test))
    lasting = np.convolve(slow, np.ones(LASTING), mode="valid") >= LASTING
    return float(ends[int(np.argmax(lasting))] if lasting.any() else ends[-1])


def proposed(
    facts: Facts, sizes: Sequence[tuple[float, float]], like: Candidate
) -> Iterator[Candidate]:
    """Candidates of the structure of `like` that the fill and the sizes at levels allow; `sizes`
    has pairs of a level and the size that was seen there."""
    name = structures()[like.structure][0]
    if name not in (DYNAMIC, HYBRID):
        return
    low, high = hypothesis.values()["static"].ends
    owns = np.geomspace(low, high, OWN) if name == HYBRID else [0.0]
    # A part of the cache is less than all of it.
    owns = [float(own) for own in owns if own < facts.cache_share]
    for cell, bits in BITS.items():
        for total in _sums(facts, sizes, bits):
            for own in owns:
                yield _with(replace(like, cell=cell), own, bits * (total - own))


def _sums(facts: Facts, sizes: Sequence[tuple[float, float]], bits: int) -> list[float]:
    """The sum of the own part and of what is free over the bits of a cell: by the smallest size
    that was seen, and by where the fill became slower a second time."""
    cache = facts.cache_share
    inside = [(level, size) for level, size in sizes if LEAST < size < MOST * cache]
    smallest = sorted(inside, key=lambda pair: pair[1])[:1]
    # What is written over a full drive frees as much as it takes: of k bits a cell k - 1 are lent.
    sums = [
        level / bits + size * ((bits - 1) / bits if level >= 1.0 else 1.0)
        for level, size in smallest
    ]
    later = [begin for begin, _, _ in facts.stages if begin > 1.05 * cache]
    return sums + [(place + (bits - 1) * cache) / bits for place in later[:1]]


def _with(like: Candidate, own: float, free: float) -> Candidate:
    """The candidate with an own part, and with so much free beyond its reserve."""
    reserve = SLACK - HELD_BACK - free
    lowest, highest = hypothesis.values()["reserve"].ends
    static = own or like.static_share
    return replace(
        like, static_share=static, reserve_share=float(np.clip(reserve, lowest, 3 * highest))
    )
