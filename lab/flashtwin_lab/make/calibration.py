"""Makes python/flashtwin/analysis/calibration.toml again, after a change to the analysis of fills.

    .venv/bin/python -m flashtwin_lab.make.calibration [GENERATOR=DRIVES:SEED ...]

Split conformal scaling (Lei and others 2018): drives of the prior of `flashtwin blind` and of four
programs with other laws, each of a seed of its own, are analysed, and of each kind of figure
the 95 % quantile of how far it is off, in units of its own half-width, is the factor. It is that of
the prior's drives: where the analysis reads other places than the true ones no factor mends that,
and a few such drives of a program would decide. A plateau that the analysis did not find counts as
one whose speed no interval holds, as `flashtwin blind` counts it. The shares of the value and of a
sample stay: they keep intervals from having no width where the noise says nothing; `most` bounds
what is scaled. For each generator it prints how many of its intervals hold with the factor, and how
wide they are. Report on other seeds.

160 drives a generator take five minutes of a processor. GENERATOR=DRIVES:SEED takes others of one.
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import Pool

import numpy as np

from flashtwin.analysis import calibration
from flashtwin.analysis.calibration import DATA, sample_at
from flashtwin.analysis.curve import curve_of
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.shape import shape_of
from flashtwin.batteries.base.writing import GB
from flashtwin_lab.blind import generate, judge, run
from flashtwin_lab.blind.detect import Answer, findings_of
from flashtwin_lab.blind.truth import Measured
from flashtwin_lab.make import SERIES

HOLDS = 0.95
# Drives of a generator and their seed, where nothing is typed.
USUAL = (160, 2)
PROGRAMS = ("prior", "synthetic", "fills_core", "fills_hot", "fills_rough")
HEAD = """\
# Factors that make intervals hold as often as they say; see calibration.py. Made by
# flashtwin_lab.make.calibration of drives of `flashtwin blind`'s prior and of the programs in
# tests/study: {drawn}
# (split conformal: the 95 % quantile of error over half-width, of the prior; {counts}).
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


@dataclass(frozen=True, kw_only=True)
class Score:
    """An answer beside the truth: how far off, its own half-width on that side, its value, the
    bytes of a sample there, and whether a pause at the end or interrupted samples at it, which the
    interval takes in whole, explain the rest."""

    generator: str
    kind: str
    off: float
    own: float
    value: float
    sample: float
    paused: bool = False


def measured_of(drive: tuple[str, int, int]) -> Measured:
    """The drive of a generator, by its seed and number."""
    generator, seed, number = drive
    if generator == "prior":
        return generate.measured(generate.read_prior(None), seed, number)
    return run._of_program(SERIES / f"{generator}.py", seed, number)


def scores_of(drive: tuple[str, int, int]) -> list[Score]:
    """Those of one drive."""
    return scores(drive[0], measured_of(drive))


def scores(generator: str, measured: Measured) -> list[Score]:
    """Those of one drive's series."""
    curve = curve_of(measured.t_ns, measured.dt_ns, measured.bytes)
    shape = shape_of(curve)
    findings = findings_of(measured, calibrate=False, shape=shape)
    truth = measured.truth
    edges = [edge for edge in (shape.edge, *shape.rest.edges) if edge is not None]
    rows = []
    places = (
        ("cache", "cache_size", truth.cache_bytes if truth.visible else None),
        ("fold", "fold_begin", truth.fold_bytes),
    )
    for kind, name, place in places:
        value = findings[name].number
        if place is None or not value:
            continue
        edge = min(edges, key=lambda edge: abs(edge.place.value - value * GB))
        score = _score(generator, kind, edge.place, place, sample_at(curve, value * GB))
        paused = edge.paused is not None and edge.place.value <= place <= edge.paused
        taken_in = calibration.with_interrupted(edge.place, curve, shape.quiet)
        paused |= (taken_in.low or 0.0) <= place <= (taken_in.high or 0.0)
        rows.append(replace(score, paused=paused))
    plateaus = tuple((p.start, p.end, p.speed) for p in shape.plateaus)
    pairs = judge.speeds(truth, Answer(cache=None, plateaus=plateaus))
    rows += [_score(generator, "speed", estimate, speed, 0.0) for speed, estimate in pairs]
    if truth.visible is not None:
        nowhere = Estimate(value=1.0, low=None, high=None)
        lost = replace(_score(generator, "speed", nowhere, 1.0, 0.0), off=math.inf)
        rows += [lost] * max(len(truth.plateaus) - len(pairs), 0)
    return rows


def _score(generator: str, kind: str, estimate: Estimate, truth: float, sample: float) -> Score:
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    own = high - estimate.value if truth > estimate.value else estimate.value - low
    off = abs(truth - estimate.value)
    return Score(
        generator=generator, kind=kind, off=off, own=own, value=estimate.value, sample=sample
    )


def half_width(score: Score, table: dict[str, float], scale: float) -> float:
    """Half of the interval that `analysis.calibration` makes of it."""
    base = min(score.own, table["most"] * score.value)
    base += table["share"] * score.value + table["samples"] * score.sample
    return max(scale * base, score.own)


def needed(score: Score, table: dict[str, float]) -> float:
    """The least factor with which the interval holds."""
    if score.off <= score.own or score.paused:
        return 0.0
    if score.off == math.inf:
        return math.inf
    return score.off / half_width(replace(score, own=min(score.own, score.off)), table, 1.0)


def factor(scores: list[Score], table: dict[str, float]) -> float:
    """The 95 % quantile of the factors that are needed: that which one more score keeps to."""
    ordered = sorted(needed(score, table) for score in scores)
    place = int(np.ceil(HOLDS * (len(ordered) + 1))) - 1
    return max(ordered[min(place, len(ordered) - 1)], 1.0)


def held(scores: list[Score], table: dict[str, float], scale: float) -> list[str]:
    """How many intervals of each generator hold with a factor, and how wide they are."""
    lines = []
    for name in PROGRAMS:
        own = [score for score in scores if score.generator == name]
        right = sum(s.paused or s.off <= half_width(s, table, scale) for s in own)
        answered = [s for s in own if s.off < math.inf]
        width = np.median([2 * half_width(s, table, scale) / s.value for s in answered])
        lines.append(
            f"  {name}: {right} of {len(own)} hold ({right / max(len(own), 1):.1%}), "
            f"median width {width:.2%}"
        )
    return lines


def main(drawn: dict[str, tuple[int, int]]) -> None:
    jobs = [
        (name, seed, number) for name, (count, seed) in drawn.items() for number in range(count)
    ]
    with Pool() as pool:
        of_all = [score for part in pool.imap(scores_of, jobs, 8) for score in part]
    write(of_all, drawn)


def write(scores: list[Score], drawn: dict[str, tuple[int, int]]) -> None:
    """The factors of these scores into the file, and what each is on the generators left out.
    `drawn`: drives and seed by generator."""
    tables = tomllib.loads(DATA.read_text())
    sections, counts = [], []
    for kind, words in WORDS.items():
        own, table = [score for score in scores if score.kind == kind], tables[kind]
        scale = factor([score for score in own if score.generator == "prior"], table)
        counts.append(f"{len(own)} {words}")
        keys = (
            f"scale = {scale:.3g}",
            *(f"{key} = {table[key]}" for key in ("share", "samples", "most")),
        )
        sections.append("\n".join(["", f"[{kind}]", *keys, ""]))
        print(f"{kind}: {table['scale']} was, {scale:.3g} is, of {len(own)}")
        print("\n".join(held(own, table, scale)))
    each = [f"{name} {count} of seed {seed}" for name, (count, seed) in drawn.items()]
    head = HEAD.format(drawn=", ".join(each), counts=", ".join(counts))
    DATA.write_text(head + "".join(sections) + BOUND.format(scale=tables["bound"]["scale"]))
    calibration._factors.cache_clear()


def asked(words: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Drives and seed of each generator, as they are typed or as usual."""
    typed = dict(word.split("=") for word in words)
    usual = dict.fromkeys(PROGRAMS, f"{USUAL[0]}:{USUAL[1]}")
    pairs = {name: text.split(":") for name, text in {**usual, **typed}.items()}
    return {name: (int(count), int(seed)) for name, (count, seed) in pairs.items()}


if __name__ == "__main__":
    main(asked(sys.argv[1:]))
