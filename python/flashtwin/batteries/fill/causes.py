"""What stands behind the shape of a fill: is there a cache, and what else slowed the drive.

What: the probability that there is a cache at all, what slowed the fill for a while (heat, a limit
outside of the drive, or nothing), the period of a saw-tooth, and the highest rate that was held,
below which no interface can be. Of a later pass, on a drive that is full: whether what ended its
first plateau was the cache or the erased flash.

How: probabilities are counts of drives whose inside is known (`analysis.fill_classes`). A
temperature, where a drive tells one, counts beside that (`analysis.heating`). On a full drive the
first pass says how fast the cache is and how fast erased native flash: a plateau of the one speed
or of the other is what has ended.

Invariants: a word is said from `SURE` on, otherwise there is none, and the note names the test
that would tell.

Source of the numbers: choices, and the counts of `analysis/fill_classes.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flashtwin.analysis import fill_classes, heating, two_speeds
from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.left_out import sentence
from flashtwin.analysis.quantiles import median
from flashtwin.analysis.sawtooth import Teeth
from flashtwin.analysis.shape import Shape
from flashtwin.batteries.fill.notes import Target
from flashtwin.batteries.fill.wording import CHOICES, Writer
from flashtwin.model.finding import Finding
from flashtwin.model.units import percent, readable_seconds
from flashtwin.model.units import readable_gb as gb
from flashtwin.model.units import readable_mb_s as mbs

SURE = 0.9
UNTOLD = "cannot tell"
SLOWED = CHOICES["slowed_by"]
# Their names in a note.
CALLED = {"outside": "a limit outside"}
# The causes of how a fill begins; those less likely than a share are not told.
CAUSES = {
    "cache": "a cache",
    "limit": "a limit outside of the drive",
    "used": "erased flash used up",
    "heat": "heat",
    "turns": "a drive that works in turns",
    "burst": "a burst of the host",
    "load": "writes that are no even fill",
    "fall": "a fall of another kind",
    "none": "no cache",
}
LEAST_SHARE = 0.02
# How many times a thermometer counts what the look of a fill says where it shows that heat slows a
# drive, which may leave no look, and where it denies that; less where it is warmest at a lasting
# drop.
THERMOMETER, DENIED, WARMEST = 1000.0, 50.0, 10.0
# A first plateau ends by a decay within such a share of its time.
AROUND_DECAY = 0.35
# The highest rate is that of so many seconds, of a short fill of such a share; of three samples.
HELD_S, HELD_SHARE, HELD_SAMPLES = 5.0, 0.01, 3
LOOKS = {
    "none": "no slower stretch that recovers",
    "slow start": "a slower beginning",
    "teeth": "an even saw-tooth",
    fill_classes.UNEVEN_TEETH: "a speed that goes up and down again and again, unevenly",
    fill_classes.RISES_AGAIN: "a plateau that is faster than one before it",
    "even": "a slower stretch without any scatter of its own, as under a limit",
    "few": "one or two slower stretches that recover",
    "few deep": "one or two much slower stretches that recover",
    "many": "slower stretches that recover again and again",
    "many long": "slower stretches that recover again and again, and last",
    fill_classes.WARMED_UP: (
        "slower stretches that recover again and again, and last, after a first stretch that is "
        "longer than those between them, as of a drive that warms up"
    ),
    fill_classes.RELAXING: (
        "a speed that decays exponentially to a lower one, as where firmware holds a temperature"
    ),
    "many deep": "much slower stretches that recover again and again",
    fill_classes.MANY_EVEN: (
        "slower stretches again and again without any scatter of their own, as under a limit"
    ),
    two_speeds.TURNS: (
        "two speeds in turns, each for equally long, after a longer first stretch, as of a drive "
        "that is hot and cool in turn"
    ),
    two_speeds.BRIEF: (
        "two speeds in turns, the faster one briefly, after a longer first stretch, as of a cache "
        "that takes data again and again, or of a drive that is hot and cool in turn"
    ),
    two_speeds.BRIEF_EARLY: (
        "two speeds in turns, the faster one briefly, after a first stretch that is few times as "
        "long, as of a drive that is hot and cool in turn: a cache takes most at first"
    ),
    two_speeds.IN_FEW: (
        "two speeds in turns, after a longer first stretch, as of a drive that is hot and cool in "
        "turn, but only a few times"
    ),
    two_speeds.GO_ON: (
        "two speeds in turns, of one ratio before and after another plateau ends, as of a drive "
        "that is hot and cool in turn: a cache that takes data again has one slower speed"
    ),
    two_speeds.BY_CLOCK: (
        "two speeds in turns that come at a round period, as of work that a host does by the clock"
    ),
    two_speeds.PAST: (
        "two speeds in turns, each for equally long, that begin long after the first plateau, as "
        "of a drive that is hot and cool in turn"
    ),
}
TESTS = {
    "throttling": "fill it once more with a fan on it, or with pauses",
    "outside": "read the same range, which a limit slows too",
    "nothing": "fill it once more: what the drive does by itself comes at the same bytes",
}


@dataclass(frozen=True, kw_only=True)
class Degrees:
    """Temperatures in °C and when they were told, in seconds since the pass began."""

    at_s: Floats
    degrees: Floats


def cache_probability(
    curve: Curve,
    shape: Shape,
    write: Writer,
    target: Target,
    warm: Degrees | None,
    excluded: frozenset[str] = frozenset(),
) -> Finding:
    """How likely there is a cache, and what else it may be; of a part of a drive only where a first
    plateau ends. `excluded`: the words of `CAUSES` that are known not to be so."""
    if warm is not None and _ends_warmest(curve, shape, warm):
        reason = (
            f"the drive is at its warmest ({warm.degrees.max():.0f} °C) where its "
            "fast beginning ends, so that heat may end it; fill it once more with a fan on it: "
            "a cache ends at the same byte"
        )
        return write.missing("cache_probability", reason, lead=UNTOLD)
    if shape.edge is None and not target.is_whole:
        reason = (
            f"a cache may be larger than the {gb(curve.total_bytes)} that were "
            "written; a larger file would tell"
        )
        return write.missing("cache_probability", reason, lead=UNTOLD)
    kind: fill_classes.Beginning = "cache" if target.is_whole else "part"
    look = fill_classes.beginning(curve, shape, kind)
    likely, total = fill_classes.likely(kind, look, excluded)
    if _ends_by_decay(curve, shape):
        weight = fill_classes.weight_of_heat(fill_classes.RELAXING)
        likely = _weighed(likely, weight, "heat")
    note = f"{_chances(likely)}; counted on {total} fills of random drives that begin like this"
    if likely["cache"].value < fill_classes.CLAIMED and shape.edge is not None:
        note = f"{note}; a second fill after a long rest would tell: a cache ends at the same byte"
    return write.value("cache_probability", likely["cache"], 0.0, curve.total_bytes, note)


def _ends_warmest(curve: Curve, shape: Shape, warm: Degrees | None) -> bool:
    """True where the drive is as warm as it ever is when its first plateau ends."""
    if shape.edge is None or warm is None:
        return False
    end_s = float(curve.seconds_to(np.array([shape.edge.place.value]))[0])
    return heating.is_warmest(end_s, warm.at_s, warm.degrees)


def _ends_by_decay(curve: Curve, shape: Shape) -> bool:
    """True where the first plateau ends in an exponential decay, as firmware ends it that holds a
    temperature."""
    if shape.edge is None or shape.decay_s is None:
        return False
    (end_s,) = curve.seconds_to(np.array([shape.edge.place.value])).tolist()
    return bool(abs(end_s - shape.decay_s) <= AROUND_DECAY * shape.decay_s)


def _chances(likely: Mapping[str, Estimate]) -> str:
    """All causes with their probabilities, the most likely first."""
    words = sorted(likely, key=lambda word: -likely[word].value)
    return ", ".join(
        f"{CAUSES[word]} {percent(likely[word].value)}"
        for word in words
        if likely[word].value >= LEAST_SHARE
    )


def slowed_by(
    curve: Curve, shape: Shape, tooth: Teeth | None, write: Writer, warm: Degrees | None
) -> list[Finding]:
    """What slowed the fill for a while; with how likely each is, where something did."""
    look = fill_classes.slower(curve, shape, tooth)
    likely, total = fill_classes.likely("slowed", look)
    from_s, how = _heated_from(curve, warm)
    is_denied = from_s is None and _is_denied(curve, shape, warm, look)
    if from_s is not None:
        likely = _weighed(likely, THERMOMETER, "throttling")
    elif is_denied:
        likely = _weighed(likely, 1 / DENIED, "throttling")
    elif look == "none" and _ends_warmest(curve, shape, warm):
        likely = _weighed(likely, WARMEST, "throttling")
    best = max(SLOWED, key=lambda word: likely[word].value)
    sure = likely[best].value >= SURE
    chances = ", ".join(
        f"{CALLED.get(word, word)} {percent(likely[word].value)}" for word in SLOWED
    )
    parts = (
        LOOKS[look] if from_s is None else f"from {readable_seconds(from_s)} on {how}",
        "the drive's temperature does not go with it" if is_denied else None,
        f"{chances}, counted on {total} fills of drives drawn at random",
    )
    note = sentence(parts) or ""
    if not sure:
        second = sorted(SLOWED, key=lambda word: likely[word].value)[-2]
        test = TESTS[best if best != "nothing" else second]
        note = f"cannot tell: {note}; {test}"
    start, end = _slower_stretch(curve, shape, tooth)
    if from_s is not None:
        at = float(np.interp(from_s, curve.time_at, curve.bytes_at))
        start, end = at, curve.total_bytes
    findings = [
        write.choice("slowed_by", best if sure else None, start, end, note),
    ]
    if look != "none" or from_s is not None:
        findings += [write.value(f"slowed_by.{word}", likely[word], start, end) for word in SLOWED]
    return findings


# The words for how the temperature shows that heat slows a drive.
HEATED = {
    "held": "its temperature rises no more, and it becomes slower little by little",
    "turns": "it is slower each time that its temperature falls, from its highest",
}


def _heated_from(curve: Curve, warm: Degrees | None) -> tuple[float | None, str]:
    """From which second on the temperature says that heat slows a drive, and how."""
    slowed = None if warm is None else heating.slowed_from(curve, warm.at_s, warm.degrees)
    return (None, "") if slowed is None else (slowed[0], HEATED[slowed[1]])


def _is_denied(curve: Curve, shape: Shape, warm: Degrees | None, look: str) -> bool:
    """True where a temperature that is known does not go with what looks like heat, or with slower
    stretches."""
    lows = fill_classes.lows_of(curve, shape)
    turns = {look for look in two_speeds.LOOKS if look != two_speeds.BY_CLOCK}
    of_heat = {fill_classes.RELAXING, fill_classes.WARMED_UP, *turns}
    if warm is not None and look in of_heat:
        return True
    if warm is None or not lows:
        return False
    places = np.array([[low.start, low.end] for low in lows])
    seconds = curve.seconds_to(places.ravel()).reshape(-1, 2)
    return heating.denies([(a, b) for a, b in seconds], warm.at_s, warm.degrees)


def _weighed(likely: Mapping[str, Estimate], factor: float, cause: str) -> dict[str, Estimate]:
    """The probabilities once evidence counts `factor` times for a cause, and their intervals."""

    def after(share: float, word: str) -> float:
        odds = share / max(1 - share, 1e-9) * (factor if word == cause else 1 / factor)
        return odds / (1 + odds)

    odds = likely[cause].value / max(1 - likely[cause].value, 1e-9) * factor
    own = odds / (1 + odds)
    others = 1 - likely[cause].value
    values = {
        word: own if word == cause else (1 - own) * likely[word].value / max(others, 1e-9)
        for word in likely
    }
    return {
        word: Estimate(
            value=values[word],
            low=min(after(old.low or 0.0, word), values[word]),
            high=max(after(1.0 if old.high is None else old.high, word), values[word]),
        )
        for word, old in likely.items()
    }


def _slower_stretch(curve: Curve, shape: Shape, tooth: Teeth | None) -> tuple[float, float]:
    """From the first slower stretch to the last; the whole fill where there is none."""
    if lows := fill_classes.lows_of(curve, shape):
        return lows[0].start, max(low.end for low in lows)
    if tooth is not None:
        return tooth.start, tooth.end
    return (0.0, shape.rise) if shape.rise else (0.0, curve.total_bytes)


def saw_tooth(tooth: Teeth | None, write: Writer) -> list[Finding]:
    """The period of a saw-tooth, of a fill that has one."""
    if tooth is None:
        return []
    duty = "" if tooth.duty is None else f", fast for {percent(tooth.duty)} of the bytes"
    note = (
        f"{tooth.cycles:.0f} teeth, {tooth.ratio:.2g} times as fast at the top as at the bottom, "
        f"one each {readable_seconds(tooth.seconds)}{duty}; a cache that is emptied a step at a "
        "time or takes data again each time so much of it is free does so, and a drive that is hot "
        "and cool in turn"
    )
    return [write.value("tooth_period", tooth.period, tooth.start, tooth.end, note)]


def rate_held(curve: Curve, shape: Shape, write: Writer) -> Finding:
    """The highest rate held for seconds, or for as long as the fastest plateau lasts where that is
    shorter: an interface carries that much, or more."""
    seconds = min(HELD_S, HELD_SHARE * curve.total_s)
    usual = median(curve.dt)
    samples = int(np.clip(np.ceil(seconds / usual), HELD_SAMPLES, len(curve)))
    fastest = max(shape.plateaus, key=lambda plateau: plateau.speed.value)
    lasts_s = (fastest.end - fastest.start) / max(fastest.speed.value, 1e-9)
    # A sample at either end of a plateau holds some of what is beside it.
    samples = min(samples, max(int(lasts_s / usual) - 1, 1))
    took = curve.time_at[samples:] - curve.time_at[:-samples]
    rates = (curve.bytes_at[samples:] - curve.bytes_at[:-samples]) / took
    best = int(rates.argmax())
    highest = Estimate(value=float(rates[best]), low=float(rates[best]), high=None)
    start, end = curve.bytes_at[best], curve.bytes_at[best + samples]
    note = (
        f"held for {readable_seconds(float(took[best]))}: the interface, and all else between the "
        "program and the flash, carries at least that"
    )
    return write.value("rate_held", highest, float(start), float(end), note, means="bound")


def ended_by(first: Mapping[str, Finding], later: Mapping[str, Finding], write: Writer) -> Finding:
    """What ended the first plateau of a pass over the full drive; findings by their names without
    the pass."""
    size, fast = later["cache_size"], later["speed_first"]
    end = 0.0 if size.evidence is None else size.evidence.end

    def saying(word: str | None, note: str) -> Finding:
        return write.choice("ended_by", word, 0.0, end, note)

    if size.value is None or fast.number is None:
        return saying(None, "cannot tell: no fast beginning is seen; write once more after a rest")
    if not size.value:
        return saying("nothing", "no fast part ended: nothing was there to be used up")
    cache, past = first["speed_cache"].number, first["speed_past_cache"].number
    if past is None:
        return saying(
            None, "cannot tell: the first pass shows no speed past a cache; fill all of it"
        )
    if cache is None:
        if fast.number >= past / _margin(fast, first["speed_past_cache"]):
            note = f"as fast as the erased drive ({mbs(past * 1e6)}), which shows no cache"
            return saying("erased flash", note)
        return saying(None, "cannot tell: slower than the erased drive; write it after a long rest")
    between = (cache * past) ** 0.5
    if fast.number >= between * _margin(fast, first["speed_cache"]):
        return saying("cache", f"as fast as the erased drive's cache ({mbs(cache * 1e6)})")
    if fast.number <= between / _margin(fast, first["speed_past_cache"]):
        note = (
            f"no faster than erased native flash ({mbs(past * 1e6)}): what had been collected and "
            "erased was used up, and not a cache"
        )
        return saying("erased flash", note)
    note = (
        "cannot tell: its speed lies between those of the cache and of erased flash; write it "
        "once more after a longer rest"
    )
    return saying(None, note)


def _margin(*speeds: Finding) -> float:
    """How far apart speeds have to be: as far as their intervals reach, together."""
    shares = [
        (speed.high - speed.low) / 2 / speed.number
        for speed in speeds
        if speed.number and speed.low is not None and speed.high is not None
    ]
    return 1.05 + sum(shares)
