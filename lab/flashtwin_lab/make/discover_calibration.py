"""Makes python/flashtwin/batteries/discover/calibration.toml again, after a change to `discover`.

    nice .venv/bin/python -m flashtwin_lab.make.discover_calibration [DRIVES [SEED]]

Drives of `flashtwin blind --with discover` are drawn from a seed that no published campaign uses,
and discovered: some 10 s of a processor each. What they say (`blind.calibrated`) is kept in
.tools/calibration, so that one that was stopped goes on and one that is done takes seconds; a
change of discover or of the drives' generator makes them anew.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Sequence
from functools import partial

import numpy as np

from flashtwin.batteries.discover import posterior
from flashtwin.runner.pool import Work
from flashtwin_lab.blind import calibration
from flashtwin_lab.blind.calibration import Tried
from flashtwin_lab.blind.run import DRIVE_BYTES, pooled
from flashtwin_lab.make import ROOT, typed_numbers

KEPT = ROOT / ".tools" / "calibration"
# What the drives and what discover says of them come from; the calibration itself is beside it.
SOURCES = ("python/flashtwin/batteries/discover", "lab/flashtwin_lab/blind")
# Of fewer drives the file is only shown.
FEWEST = 20
HEAD = """\
# What makes the probabilities and intervals of discover hold as often as they say. Made by
# flashtwin_lab.make.discover_calibration with seed {seed}, drives 0 to {last}; {seen} have a
# cache that can be seen. Each drive was judged with values that all other drives gave. The mean
# logarithm of the probability of the true answer is {before:.3f} with the `calmer` before this and
# {after:.3f} with {found:.2f}; the better one stands here. {held} of {count} intervals hold.
schema = 1

[structure]
# Logarithms of weights are divided by this: bins of a curve are not independent.
calmer = {calmer:.2f}

[reads]
# Standard deviations of what reads after a write past the cache say: whether there are two speeds,
# that of data past the cache, that of the oldest data; and of how many programs single writes wait.
noise = [{noise}]

[rest]
# An interval of a rest reaches at least this share of the value each side.
wider = {wider:.3f}
"""


def version() -> str:
    """What the code is that the drives depend on."""
    paths = sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*"))
    digest = hashlib.sha256()
    for path in paths:
        if path.suffix in (".py", ".toml") and path != posterior.DATA:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def text_of(drives: Sequence[Tried], count: int, seed: int) -> str:
    """The file, from drives on which a cache can be seen."""
    calmers = calibration.left_out(drives, calibration.calmer_of)
    widers = calibration.left_out(drives, calibration.wider_of)
    pairs = list(zip(drives, calmers, widers, strict=True))
    held = [reach <= wider for d, _, wider in pairs for reach in calibration.beyond(d)]
    before = np.mean([score for d in drives for score in calibration.scores(d, d.calmer)])
    after = np.mean([score for d, calmer, _ in pairs for score in calibration.scores(d, calmer)])
    calmer = calibration.calmer_of(drives)
    return HEAD.format(
        seed=seed,
        last=count - 1,
        seen=len(drives),
        before=before,
        after=after,
        found=calmer,
        held=sum(held),
        count=len(held),
        calmer=calmer if after > before else float(np.median([d.calmer for d in drives])),
        noise=", ".join(f"{value:.2f}" for value in calibration.reads_of(drives)),
        wider=calibration.wider_of(drives),
    )


def main(count: int, seed: int) -> None:
    folder = KEPT / version()
    paths = [folder / f"{seed}-{number}.pickle" for number in range(count)]
    works = [
        Work(call=partial(calibration.kept, path, seed, number), memory_bytes=DRIVE_BYTES)
        for number, path in enumerate(paths)
    ]
    pooled(works, lambda at, drive: print(f"{at} of {count}: {drive.name}", file=sys.stderr))
    drives = [pickle.loads(path.read_bytes()) for path in paths]
    text = text_of([item for item in drives if item.drive.truth.visible], count, seed)
    print(text)
    if count >= FEWEST:
        posterior.DATA.write_text(text)


if __name__ == "__main__":
    main(*typed_numbers(drives=60, seed=5171))
