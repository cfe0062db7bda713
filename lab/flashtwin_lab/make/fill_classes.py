"""Makes python/flashtwin/analysis/fill_classes.toml again, after a change to the analysis of fills.

    .venv/bin/python -m flashtwin_lab.make.fill_classes [DRIVES [SEED]]

Drives of the prior of `flashtwin blind` and of four programs with other laws are filled and looked
at, with as many negatives beside them, and it is counted what stood behind each look, and how many
were slowed by heat or from outside; for that the drives of `blind --with heat` count too. Then
drives of the next seed are looked at, and it is printed how many of them were what they were said
to be with 90 % or more, and the Brier score beside that of the plain share.

600 drives a generator take a quarter of an hour of a processor for each of both seeds.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from functools import partial
from itertools import product
from multiprocessing.pool import Pool

from flashtwin.analysis import fill_classes, two_speeds
from flashtwin.analysis.curve import Curve, curve_of
from flashtwin.analysis.sawtooth import teeth
from flashtwin.analysis.shape import Shape, shape_of
from flashtwin.batteries.fill.causes import CAUSES
from flashtwin.errors import FlashtwinError
from flashtwin_lab.blind import generate, heated, negatives, run
from flashtwin_lab.blind.truth import Measured
from flashtwin_lab.make import SERIES, typed_numbers

PROGRAMS = ("prior", "synthetic", "fills_core", "fills_hot", "fills_rough")
SURE = 0.9
# What the generators call their effects.
HEAT = {"throttle", "heat"}
OUTSIDE = {"limiter", "slow_start", "slow start"}
VERDICTS = ("flat", "gradual", "swings")
ENDS = ("brief", "late", fill_classes.PLAIN, "slower once more", *fill_classes.RARE)
DROPS = (", weak", "", ", steep", ", far")
BEGINNINGS = (
    *(f"{verdict}{lows}" for verdict in VERDICTS for lows in ("", fill_classes.LOWS)),
    *(
        "short",
        "comes back",
        "cut off",
        fill_classes.BRIEF_TWICE,
    ),
    *(f"{ends}{drop}" for ends in ENDS for drop in DROPS),
)
LOOKS = {
    "cache": (tuple(CAUSES), BEGINNINGS),
    "part": (tuple(CAUSES), tuple(look for look in BEGINNINGS if not look.startswith("late"))),
    "slowed": (
        ("nothing", "throttling", "outside"),
        (
            "none",
            "slow start",
            "teeth",
            fill_classes.UNEVEN_TEETH,
            fill_classes.RISES_AGAIN,
            "even",
            "few",
            "few deep",
            "many",
            "many long",
            fill_classes.WARMED_UP,
            "many deep",
            fill_classes.MANY_EVEN,
            fill_classes.RELAXING,
            *two_speeds.LOOKS,
        ),
    ),
}
HEAD = """\
# How many fills of each look turned out to be what; see fill_classes.py. Made by
# flashtwin_lab.make.fill_classes:
# {drives} drives each, and as many negatives, of `flashtwin blind`'s prior and of the programs
# {programs} in tests/study, seed {seed};
# [slowed] also has as many of `blind --with heat`, which count as those of a sixth generator.
schema = 1

# How common each cause is among fills that somebody hands over: an estimate of this project. Nearly
# all consumer drives whose fills reviewers published show a cache; a plateau of the public series
# that were looked at one by one (docs/reference/real-series.md) may end for another reason. A drive
# that was written before is the most usual of these; a limit for good, and a fall that nothing
# explains, are rare. Were caches half as common, 75 % for a plain drop would be 60 %.
[common]
cache = 0.59
none = 0.12
used = 0.08
burst = 0.05
limit = 0.05
heat = 0.04
load = 0.03
turns = 0.02
fall = 0.02

# How common it is that heat, or something outside, slows a fill for a while: their shares of the
# drives of the five generators.
[common_slowed]
nothing = 0.758
throttling = 0.144
outside = 0.098
"""

Seen = dict[str, tuple[str, str]]


def effects_of(measured: Measured) -> set[str]:
    """The effects by name; programs tell them in the name of the drive."""
    told = measured.effects or measured.name.rpartition(" with ")[2].split(", ")
    return {word.partition(" (")[0] for word in told}


def looked_at(seed: int, drive: tuple[str, int, bool]) -> Seen | None:
    """The looks of one drive's fill, and the true words; none of a drive that cannot be built."""
    generator, number, as_negative = drive
    prior = generate.read_prior(None)
    program = None if generator == "prior" else SERIES / f"{generator}.py"
    try:
        draw = run.negative if as_negative else run.drawn
        measured = draw(prior, program, seed, number)
    except FlashtwinError:
        return None
    if measured is None:
        return None
    curve = curve_of(measured.t_ns, measured.dt_ns, measured.bytes)
    shape = shape_of(curve)
    if measured.negative:
        _, cause = negatives.LAWS[measured.negative]
        return _beginnings(curve, shape, cause)
    return seen_of(curve, shape, measured.truth.cache_bytes is not None, effects_of(measured))


def warmed_at(seed: int, number: int) -> Seen | None:
    """The look of the slower stretches of a fill that heat slowed, or something else; none of one
    behind a limit."""
    drive = heated.warmed(generate.read_prior(), seed, number)
    series = drive.measured
    curve = curve_of(series.t_ns, series.dt_ns, series.bytes)
    shape = shape_of(curve)
    law = drive.law.removesuffix(heated.WITH_WARMTH)
    if law == negatives.FOR_A_WHILE:
        slowed = "outside"
    elif law in negatives.LAWS and negatives.LAWS[law][1] == "limit":
        return None  # slower for good, and not for a while
    elif drive.is_slowed:
        slowed = "throttling"
    else:
        slowed = "outside" if effects_of(series) & OUTSIDE else "nothing"
    return {"slowed": (fill_classes.slower(curve, shape, teeth(shape)), slowed)}


def seen_of(curve: Curve, shape: Shape, has_cache: bool, effects: set[str]) -> Seen:
    """The looks of a fill with the true words."""
    slowed = "throttling" if effects & HEAT else "outside" if effects & OUTSIDE else "nothing"
    return {
        **_beginnings(curve, shape, "cache" if has_cache else "none"),
        "slowed": (fill_classes.slower(curve, shape, teeth(shape)), slowed),
    }


def _beginnings(curve: Curve, shape: Shape, cause: str) -> Seen:
    """The looks of a beginning as that of a whole drive, and of a part of one."""
    kinds: tuple[fill_classes.Beginning, ...] = ("cache", "part")
    return {kind: (fill_classes.beginning(curve, shape, kind), cause) for kind in kinds}


def table(seen: list[Seen], drives: int, seed: int) -> str:
    """The file."""
    lines = [HEAD.format(drives=drives, programs=", ".join(PROGRAMS[1:]), seed=seed)]
    for kind, (words, names) in LOOKS.items():
        counts = Counter(row[kind] for row in seen if kind in row)
        unknown = {look for look, _ in counts} - set(names)
        assert not unknown, f"{unknown} are no looks"
        lines.append(f"[{kind}]")
        for look in names:
            row = ", ".join(f"{word} = {counts[look, word]}" for word in words)
            lines.append(f'"{look}" = {{ {row} }}')
        lines.append("")
    return "\n".join(lines)


def judged(seen: list[Seen]) -> list[str]:
    """How the counts hold on other drives, a line a kind."""
    lines = []
    for kind, (words, _) in LOOKS.items():
        rows = [row[kind] for row in seen if kind in row]
        shares = Counter(truth for _, truth in rows)
        score, plain, sure, right = 0.0, 0.0, 0, 0
        for look, truth in rows:
            likely, _ = fill_classes.likely(kind, look)  # type: ignore[arg-type]
            for word in words:
                there = float(word == truth)
                score += (likely[word].value - there) ** 2 / len(rows)
                plain += (shares[word] / len(rows) - there) ** 2 / len(rows)
            best = max(words, key=lambda word: likely[word].value)
            if likely[best].value >= SURE:
                sure, right = sure + 1, right + (best == truth)
        lines.append(
            f"{kind}: of {len(rows)} fills {sure} are said with {SURE:.0%}, {right} of them right;"
            f" Brier score {score:.4f}, of the plain shares {plain:.4f}"
        )
    return lines


def seen_with(seed: int, drives: int, pool: Pool) -> list[Seen]:
    """The looks of all drives of a seed, and of the fills that heat or something else slowed, which
    count as those of one more generator."""
    jobs = list(product(PROGRAMS, range(drives), (False, True)))
    seen = pool.map(partial(looked_at, seed), jobs, 8)
    seen += pool.map(partial(warmed_at, seed), range(drives), 8)
    return [row for row in seen if row is not None]


def main(drives: int, seed: int) -> None:
    with multiprocessing.Pool() as pool:
        fill_classes.DATA.write_text(table(seen_with(seed, drives, pool), drives, seed))
        print("\n".join(judged(seen_with(seed + 1, drives, pool))))


if __name__ == "__main__":
    main(*typed_numbers(drives=600, seed=97))
