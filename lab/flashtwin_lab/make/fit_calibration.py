"""Makes python/flashtwin/study/fit/calibration.toml again, after a change to `flashtwin fit`.

    .venv/bin/python -m flashtwin_lab.make.fit_calibration [DRIVES [SEED]]

Drives of the fit's own kinds are drawn and fitted (`coverage`), to a run with one fill and to one
with two. Of each value 95 % of
the intervals (conformal; the largest where fewer than 19 drives determine it) decides by how much
intervals have to be longer. What holds is told for each drive with the lengths of the others. The
file is written after each drive, so that one that is stopped has what the drives so far say.
"""

from __future__ import annotations

import sys
from collections import Counter

from flashtwin.study.fit import intervals
from flashtwin_lab import coverage
from flashtwin_lab.make import typed_numbers

HEAD = """\
# By how much of its logarithm each value's interval is longer at both ends than a search says, so
# that it holds as often as it says; see coverage.py. Made by `flashtwin_lab.make.fit_calibration`,
# seed {seed}, drives 0 to {last}: {held} of their {count} intervals hold with the lengths that the
# other drives say ({before} without any).
# `once`, `twice`: lengths for runs that have one fill of the erased drive, and for those that have
# more. `drives`: how many of the drives that were drawn determine the value.
schema = 1
"""


def main(drives: int, seed: int) -> None:
    # What the search says without these lengths.
    intervals._calibration = dict  # type: ignore[assignment]
    rows: list[coverage.Held] = []
    for number in range(drives):
        for fills in coverage.BATTERIES:
            rows += coverage.held(seed, number, fills)
        print(f"{number + 1} of {drives}: {write(rows, seed, number)}", file=sys.stderr)


def write(rows: list[coverage.Held], seed: int, last: int) -> str:
    """The file; what of the intervals holds."""
    counts = Counter(row.key for row in rows)
    before, after = sum(row.holds for row in rows), coverage.held_by_others(rows)
    head = HEAD.format(seed=seed, last=last, held=after, count=len(rows), before=before)
    sections = [
        f"\n[values.{'.'.join(key)}]\nlonger = {length + 0.0005:.3f}\ndrives = {counts[key]}\n"
        for key, length in coverage.longer(rows).items()
    ]
    intervals.CALIBRATION.write_text(head + "".join(sections))
    return f"{len(rows)} intervals, {before} held, {after} hold"


if __name__ == "__main__":
    main(*typed_numbers(drives=60, seed=5))
