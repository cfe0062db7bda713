"""Makes python/flashtwin/analysis/calibration.toml again, after a change to the analysis of fills.

    .venv/bin/python docs/make_calibration.py [DRIVES [SEED]]

Split conformal scaling (Lei and others 2018): drives of the prior of `flashtwin blind`, with this
seed and no other, are analysed, and of each kind of figure the 95 % quantile of how far it is off,
in units of its own half-width, is the factor. The shares of the value and of a sample stay: they
keep intervals from having no width where the noise says nothing; `most` bounds what is scaled.
Report on other seeds.
"""

from __future__ import annotations

import math
import sys
import tomllib
from functools import partial
from multiprocessing import Pool

from flashtwin.analysis import calibrated
from flashtwin.analysis.calibrated import DATA, sample_at
from flashtwin.analysis.curve import curve_of
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.shape import shape_of
from flashtwin.batteries.base.writing import GB
from flashtwin.batteries.fill.findings import analyse_fill
from flashtwin.study.blind import generate, judge
from flashtwin.study.blind.detect import Answer

HOLDS = 0.95
HEAD = """\
# Factors that make intervals hold as often as they say; see calibrated.py. Made by
# docs/make_calibration.py with `flashtwin blind`'s prior, seed {seed}, drives 0 to {last} (split
# conformal: the 95 % quantile of error over half-width; {counts}).
# Not the seeds on which results are reported.
# Half-width = scale * (own + share * value + samples * a sample's bytes), where of `own` at most
# `most` times the value counts; never less than `own`.
schema = 1
"""
BOUND = """
# A cache that was not seen: so many times the smallest that change points resolve (few cases).
[bound]
scale = {scale}
share = 0.0
samples = 0.0
most = 1.0
"""
WORDS = {"cache": "cache ends", "fold": "places of folding", "speed": "speeds"}


def errors(seed: int, number: int) -> list[tuple[str, float, float, float, float]]:
    """(kind, how far off, half-width on that side, value, bytes of a sample) of one drive."""
    measured = generate.measured(generate.read_prior(None), seed, number)
    series = measured.t_ns, measured.dt_ns, measured.bytes
    capacity = measured.capacity_bytes
    findings = {
        finding.name: finding
        for finding in analyse_fill(
            *series, pattern="blind", label="blind", capacity_bytes=capacity, calibrate=False
        )
    }
    curve, truth = curve_of(*series), measured.truth
    rows = []
    places = (
        ("cache", "cache_size", truth.cache_bytes if truth.visible else None),
        ("fold", "fold_begin", truth.fold_bytes),
    )
    for kind, name, place in places:
        finding = findings[name]
        if place is None or not finding.number:
            continue
        interval = finding.interval
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        estimate = Estimate(value=finding.number, low=low, high=high).scaled(GB)
        rows.append(_row(kind, estimate, place, sample_at(curve, estimate.value)))
    plateaus = tuple((p.start, p.end, p.speed) for p in shape_of(curve).plateaus)
    for speed, estimate in judge.speeds(truth, Answer(cache=None, plateaus=plateaus)):
        rows.append(_row("speed", estimate, speed, 0.0))
    return rows


def _row(
    kind: str, estimate: Estimate, truth: float, sample: float
) -> tuple[str, float, float, float, float]:
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    own = high - estimate.value if truth > estimate.value else estimate.value - low
    return kind, abs(truth - estimate.value), own, estimate.value, sample


def main(drives: int, seed: int) -> None:
    table = tomllib.loads(DATA.read_text())
    with Pool() as pool:
        rows = [row for part in pool.imap(partial(errors, seed), range(drives), 8) for row in part]
    sections, counts = [], []
    for kind, words in WORDS.items():
        share, samples, most = (float(table[kind][key]) for key in ("share", "samples", "most"))
        scores = sorted(
            0.0 if off <= own else off / (min(own, most * value) + share * value + samples * sample)
            for name, off, own, value, sample in rows
            if name == kind
        )
        place = math.ceil((len(scores) + 1) * HOLDS) - 1
        scale = max(scores[min(place, len(scores) - 1)], 1.0)
        counts.append(f"{len(scores)} {words}")
        keys = (
            f"scale = {scale:.3g}",
            f"share = {share}",
            f"samples = {samples}",
            f"most = {most}",
        )
        sections.append("\n".join(["", f"[{kind}]", *keys, ""]))
        print(f"{kind}: {table[kind]['scale']} was, {scale:.3g} is, of {len(scores)}")
    head = HEAD.format(seed=seed, last=drives - 1, counts=", ".join(counts))
    DATA.write_text(head + "".join(sections) + BOUND.format(scale=table["bound"]["scale"]))
    calibrated._factors.cache_clear()


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:3]]
    main(*(numbers + [1200, 2][len(numbers) :]))
