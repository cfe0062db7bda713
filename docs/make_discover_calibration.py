"""Makes python/flashtwin/batteries/discover/calibration.toml again, after a change to `discover`.

    .venv/bin/python docs/make_discover_calibration.py [DRIVES [SEED]]

Drives of `flashtwin blind --with discover` are drawn from a seed that no published campaign uses,
and discovered. Probabilities are made calmer, or less calm, by the power of them under which the
true kinds and ways are most likely; intervals of rests reach as far as 95 % of them have to. What
holds is told for each drive with the values that the other drives say.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from flashtwin.batteries.discover import posterior
from flashtwin.study.blind import structure
from flashtwin.study.blind.kinds import Discovered

HEAD = """\
# What makes the probabilities and intervals of discover hold as often as they say. Made by
# docs/make_discover_calibration.py with seed {seed}, drives 0 to {last}, of which {seen} have a
# cache that can be seen. Each with the values that the others say: the mean logarithm of what the
# true words were given is {before:.3f} with the values before and {after:.3f} with these, and
# {held} of {count} intervals hold.
schema = 1

[structure]
calmer = {calmer:.2f} # logarithms of weights are divided by this: bins are not independent

[rest]
wider = {wider:.3f} # an interval of a rest reaches at least this share of the value each side
"""
# No probability is less than this: they are rounded.
LEAST = 5e-5
# Powers that are tried, and how much a campaign of a few drives is trusted over no change: as much
# as so many drives whose kind is sure either way.
POWERS = np.geomspace(0.25, 4.0, 33)
PRIOR = 0.5
HOLDS = 0.95


def scores(drive: Discovered, power: float) -> list[float]:
    """The logarithms of what the true kind and way are given at a power of the probabilities."""
    found = []
    for part in structure.PARTS:
        true, _, _ = structure.choice(drive, part)
        likely = drive.likely[part]
        if true is not None and likely:
            powers = {word: max(value, LEAST) ** power for word, value in likely.items()}
            found.append(float(np.log(powers[true] / sum(powers.values()))))
    return found


def power_of(drives: Sequence[Discovered]) -> float:
    """The power under which the truth is most likely."""
    totals = [
        sum(score for drive in drives for score in scores(drive, power))
        - PRIOR * float(np.log(power)) ** 2
        for power in POWERS
    ]
    return float(POWERS[int(np.argmax(totals))])


def beyond(drive: Discovered) -> list[float]:
    """By which share of its value each interval of a rest has to reach beyond it."""
    reaches = []
    for name in structure.RESTS:
        estimate = drive.rests[name]
        if estimate is not None:
            true = structure.true_rest(drive, name)
            reaches.append(max(true / estimate.value, estimate.value / true) - 1)
    return reaches


def wider_of(drives: Sequence[Discovered]) -> float:
    """How far 95 % of the intervals have to reach: conformal."""
    reaches = sorted(reach for drive in drives for reach in beyond(drive))
    at = min(int(np.ceil(HOLDS * (len(reaches) + 1))), len(reaches)) - 1
    return reaches[at] if reaches else 0.0


def left_out(
    drives: Sequence[Discovered], of: Callable[[Sequence[Discovered]], float]
) -> list[float]:
    """The value for each drive that the other drives say."""
    return [of([*drives[:at], *drives[at + 1 :]]) for at in range(len(drives))]


def main(count: int, seed: int) -> None:
    done = structure.campaign(count, seed, on_end=lambda at, name: print(at, name, file=sys.stderr))
    write([drive for drive in done.drives if drive.truth.visible], count, seed)


def write(seen: Sequence[Discovered], count: int, seed: int) -> None:
    """The file, from the drives on which a cache can be seen."""
    calmer = float(posterior.calibration()["structure"]["calmer"])
    before = [score for drive in seen for score in scores(drive, 1.0)]
    powers = left_out(seen, power_of)
    pairs = list(zip(seen, powers, strict=True))
    after = [score for drive, power in pairs for score in scores(drive, power)]
    held = [
        reach <= wider
        for drive, wider in zip(seen, left_out(seen, wider_of), strict=True)
        for reach in beyond(drive)
    ]
    text = HEAD.format(
        seed=seed,
        last=count - 1,
        seen=len(seen),
        before=float(np.mean(before)),
        after=float(np.mean(after)),
        held=sum(held),
        count=len(held),
        calmer=calmer / power_of(seen),
        wider=wider_of(seen),
    )
    posterior.DATA.write_text(text)
    print(text)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:3]]
    main(*(numbers + [40, 913][len(numbers) :]))
