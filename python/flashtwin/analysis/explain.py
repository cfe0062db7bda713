"""What each finding means, how it is found, what it rests on, and when it misleads.

The texts behind `flashtwin explain FINDING`. A family covers findings that differ only in a part
in angle brackets: a pattern, a cell, a direction. `lookup` takes what people type: the whole id,
the id without its pattern, the last part alone.

Invariants: every id that a battery can write has a family (tested); plain text, no markup.

Source of the numbers: the limits named here are those of `opening`, `stages`, `readings`,
`changepoints` and of the batteries; docs/concepts/findings.md tells the same at length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """One family of findings; `family` has its changing parts in angle brackets."""

    family: str
    title: str
    unit: str
    means: str
    found: str
    rests_on: str
    misleads: str


EDGE = (
    "The speed is cut where it changes for good: the cheapest way to cut the whole series, each "
    "cut at a price, single odd samples and stalls counting little."
)
PLACED = (
    "The place is then read finer than a sample: the sample in which the change fell has a rate "
    "between the two levels, and its share of each says when it happened."
)
SPEED = (
    "Bytes over time of the samples that lie wholly in the plateau. The interval comes from "
    "their scatter, in blocks where neighbouring samples are alike, as in a saw-tooth."
)

EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation(
        family="fill.cache_size[<pattern>]",
        title="Cache: where the first plateau ends",
        unit="GB (10^9 bytes)",
        means="So much can be written in one go to an empty drive before it slows down for "
        "good. On drives with an SLC cache that is the cache as the host sees it, together with "
        "what the drive emptied out of it meanwhile. 0 means that no cache was seen.",
        found=EDGE + " The first drop of a tenth or more that lasts ends the plateau. A drop "
        "that recovers is a dip, and a slow decline has no end. " + PLACED,
        rests_on="The write series of the first pass up to the end of the second plateau, on "
        "the axis of bytes written.",
        misleads="A drive that slows down from heat and never recovers looks the same. So does "
        "the end of a write buffer, if it is large. Without a cache the upper end of the "
        "interval is the smallest first plateau that would have been seen; a cache as large as "
        "all that was written would not. Where the speed swings from the start there is no "
        "value.",
    ),
    Explanation(
        family="fill.speed_cache[<pattern>]",
        title="Speed in the cache",
        unit="MB/s (10^6 bytes a second)",
        means="How fast the drive takes data until the first plateau ends.",
        found=SPEED + " Dips that recover are left out; a slower beginning is not.",
        rests_on="The samples from the start to the end of the first plateau.",
        misleads="The interface or the queue depth may be the limit and not the cache. A cache "
        "of a few samples has a wide interval; waves longer than a short plateau make it too "
        "narrow.",
    ),
    Explanation(
        family="fill.speed_past_cache[<pattern>]",
        title="Speed past the cache",
        unit="MB/s (10^6 bytes a second)",
        means="How fast the drive goes on right after its cache: writing straight to native "
        "cells, or emptying the cache at the same pace, or in a second and slower cache.",
        found="The rest of the fill is cut anew in up to 200 bins of equal bytes, so that teeth "
        "and stalls average out; this is its first plateau. " + SPEED,
        rests_on="The second plateau, without stretches at another speed in its middle.",
        misleads="It is one plateau and not the mean of the rest: see fill.mean_past_cache. "
        "Where no cache was seen it is the whole fill.",
    ),
    Explanation(
        family="fill.fold_begin[<pattern>]",
        title="Where folding begins",
        unit="GB (10^9 bytes)",
        means="From here on the drive has to give borrowed cells back: data in one bit a cell "
        "is rewritten with all bits a cell while new data comes in.",
        found="The first later plateau that stays below the second to the end of the fill, if "
        "native cells can have run out by then: P - (k-1) x cache bytes of P native ones, with "
        "k up to 4 and up to a quarter of the flash held back. " + PLACED,
        rests_on="The second plateau and all that follows it.",
        misleads="The host only sees that it gets slower. A second cache tier that ends late, a "
        "full map cache or heat look alike; and a drive that folds from the end of its cache on "
        "has no third plateau at all. No value then, with the reason.",
    ),
    Explanation(
        family="fill.speed_folding[<pattern>]",
        title="Speed while folding",
        unit="MB/s (10^6 bytes a second)",
        means="What is left for the host while the drive gives borrowed cells back.",
        found=SPEED + " Of several plateaus after that point, all together.",
        rests_on="The fill from where folding begins to its end.",
        misleads="As fill.fold_begin: there is a value only where the slower plateau reads as "
        "folding.",
    ),
    Explanation(
        family="fill.mean_past_cache[<pattern>]",
        title="Mean speed past the cache",
        unit="MB/s (10^6 bytes a second)",
        means="What to expect of a long write once the cache is full: bytes over time of "
        "everything after the first plateau, stalls, bursts and folding included.",
        found="Counted from the end of the first plateau. The interval joins the scatter of the "
        "plateaus and the uncertainty of that end.",
        rests_on="The fill from the end of the first plateau to its end.",
        misleads="It depends on how far was written: a file on a drive ends before folding "
        "begins. It is total bytes over total time, not a mean of speeds.",
    ),
    Explanation(
        family="fill.mean[<pattern>]",
        title="Mean speed of the fill",
        unit="MB/s (10^6 bytes a second)",
        means="The whole target written once: bytes over time.",
        found="Counted, not estimated. The interval is what the scatter within the plateaus "
        "allows another fill with the same plateaus.",
        rests_on="The whole write series of the first pass.",
        misleads="It compares only drives of like size: a cache is a larger share of a small fill.",
    ),
    Explanation(
        family="fill.duration[<pattern>]",
        title="Duration of the fill",
        unit="s",
        means="Time from the first request to the last completion of the first pass.",
        found="Counted; the interval is that of fill.mean.",
        rests_on="The whole write series of the first pass.",
        misleads="It grows with the size of the target, and does not say when it became slow.",
    ),
    Explanation(
        family="fill.one_third[<pattern>]",
        title="End of the first plateau as a share of the raw flash",
        unit="fraction",
        means="A third of TLC flash is what it holds at one bit a cell. A first plateau that "
        "ends there has written every cell once, SLC-like, before anything else: the cache is "
        "the whole drive, whatever the firmware calls it. The note says whether the signature "
        "is present, and whether it would be 1/2 of MLC or 1/4 of QLC.",
        found="The end of the first plateau with its interval, over the raw flash: as "
        "published, else the capacity rounded up to a power of two of GiB. 0.90/k to 1.02/k "
        "counts as 1/k, since up to a tenth is held back.",
        rests_on="The first plateau, and the raw flash as known from outside.",
        misleads="A large cache can end at a third by coincidence, and the bits a cell are not "
        "seen from outside. The raw flash of a file, or of a drive with other flash than its "
        "size suggests, is not known.",
    ),
    Explanation(
        family="fill.<nth>_pass.cache_size[<pattern>]",
        title="Later pass: where the first plateau ends",
        unit="GB (10^9 bytes)",
        means="So much of the cache is there again when the drive is full and had its rest: the "
        "worst case of a dynamic cache, and about the size of a static one.",
        found="As fill.cache_size, in the series of that pass.",
        rests_on="The write series of the pass over a full drive, after the rest.",
        misleads="The rest may have been too short to empty the cache; its length is a "
        "parameter of the battery. Overwriting also costs garbage collection, which makes all "
        "speeds lower.",
    ),
    Explanation(
        family="fill.<nth>_pass.speed_first[<pattern>]",
        title="Later pass: speed of the first plateau",
        unit="MB/s (10^6 bytes a second)",
        means="How fast a full, rested drive takes data at first.",
        found=SPEED + " Where no plateau ends it is the whole pass, and the note says so.",
        rests_on="The first plateau of that pass.",
        misleads="Without a cache left it is no cache speed.",
    ),
    Explanation(
        family="fill.<nth>_pass.mean[<pattern>]",
        title="Later pass: mean speed",
        unit="MB/s (10^6 bytes a second)",
        means="A full drive overwritten once in order: bytes over time.",
        found="Counted; the interval as for fill.mean.",
        rests_on="The whole write series of that pass.",
        misleads="Sequential overwriting is kind to garbage collection; random writes are slower.",
    ),
    Explanation(
        family="cdm.<cell>.<read|write|mix>",
        title="CrystalDiskMark: speed of a cell",
        unit="MB/s (10^6 bytes a second)",
        means="One cell of CrystalDiskMark: sequential 1 MiB or random 4 KiB at a queue depth "
        "and number of threads, SEQ1M-Q8T1 for example.",
        found="Each cell runs once unscored and then as often as scored runs are set; the score "
        "is the highest of them, as in the original. The variant kdiskmark takes the mean. low "
        "and high are the lowest and the highest run, not a 95 % interval.",
        rests_on="The scored runs of that cell on a file of the set size, and on nothing else.",
        misleads="The file mostly fits into the SLC cache, so it shows the best case; the "
        "highest of three runs hides a bad one; the data is one buffer repeated, which a "
        "compressing drive sees.",
    ),
    Explanation(
        family="cdm.<cell>.<read|write|mix>.latency",
        title="CrystalDiskMark: latency of a cell",
        unit="us",
        means="Mean time of a request in that cell, in the run where it was least.",
        found="The least of the scored runs' means, as in the original. low and high are the "
        "least and the greatest of them.",
        rests_on="The scored runs of that cell.",
        misleads="A mean hides the tail. At depths above one it is mostly waiting in the queue: "
        "depth over rate.",
    ),
    Explanation(
        family="cdm.<cell>.<read|write|mix>.iops",
        title="CrystalDiskMark: requests a second of a cell",
        unit="IOPS",
        means="Requests completed a second in that cell.",
        found="As the speed of the cell, counted in requests.",
        rests_on="The scored runs of that cell.",
        misleads="As the speed of the cell.",
    ),
)

_CELL = r"[A-Za-z]+\d+[KM]?-Q\d+T\d+"
_PARTS = {
    "<pattern>": r"[^\]]+",
    "<nth>": r"[a-z0-9]+",
    "<cell>": _CELL,
    "<read|write|mix>": r"(?:read|write|mix)",
}


def lookup(name: str) -> tuple[Explanation | None, tuple[str, ...]]:
    "The explanation of a finding, or none and up to three families that may have been"
    "meant.\n\n    Takes `fill.cache_size[128k-q32]`, `fill.cache_size` and `cache_size` "
    "alike.\n    "
    asked = name.strip()
    for explanation in EXPLANATIONS:
        if any(re.fullmatch(form, asked, re.IGNORECASE) for form in _forms(explanation.family)):
            return explanation, ()
    return None, _nearest(asked)


def families() -> tuple[str, ...]:
    """All families, in the order of the batteries."""
    return tuple(explanation.family for explanation in EXPLANATIONS)


def _forms(family: str) -> list[str]:
    """Regular expressions of what people may type: whole, without pattern, without battery."""
    whole = re.escape(family)
    for part, expression in _PARTS.items():
        whole = whole.replace(re.escape(part), expression)
    bare = whole.replace(r"\[" + _PARTS["<pattern>"] + r"\]", "")
    forms = [re.escape(family), re.escape(family.partition("[")[0]), whole, bare]
    return [*forms, *(form.partition(r"\.")[2] for form in (whole, bare))]


def _nearest(asked: str) -> tuple[str, ...]:
    """Families whose name is most like what was typed, on the whole or in its last part."""
    short = asked.partition("[")[0].lower()
    known: dict[str, str] = {}
    for family in families():
        bare = family.partition("[")[0]
        known[bare.replace("<nth>", "second").lower()] = bare
        known.setdefault(bare.rpartition(".")[2].lower(), bare)
    near = get_close_matches(short, list(known), n=6, cutoff=0.5)
    near += [key for key in known if short and (short in key or key in short)]
    return tuple(dict.fromkeys(known[key] for key in near))[:3]
