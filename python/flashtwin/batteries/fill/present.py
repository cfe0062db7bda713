"""What a page shows of a fill: its stages by pattern, curves of its passes, and where they break.

The sentences and the numbers beside a drive's name are those of the first pattern. Invariant: a
sentence says only what a finding says; where one is lacking, so is its half sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from flashtwin.batteries.base.present import (
    Claim,
    Column,
    Counterpart,
    Event,
    Fact,
    Place,
    Plateau,
    Present,
    Section,
    Subject,
)
from flashtwin.batteries.fill import Parameters, grounds
from flashtwin.batteries.fill.wording import GB, LATER_TITLES, NAME, ORDINALS
from flashtwin.charts import numbers, tables
from flashtwin.charts.curves import Phase
from flashtwin.model import units
from flashtwin.model.finding import Better, Finding
from flashtwin.model.units import percent

# Means that differ by less are the same for a reader.
WORTH_SAYING = 1.1
# What a finding is called where its place is marked in a curve.
PLATEAUS = ("speed_cache", "speed_past_cache", "speed_folding")
PLACES = {"cache_size": "SLC cache ends", "fold_begin": "folding begins at"}
# Findings of the passes after the first, by name: which pass, and what they are called under it.
LATER = {
    f"{ordinal}_pass.{name}": (ordinal, name) for ordinal in ORDINALS[1:] for name in LATER_TITLES
}
# The columns that drives are ranked by: title, finding, which is better, and its sentences.
COLUMNS: tuple[tuple[str, str, Better, Claim], ...] = (
    (
        "SLC cache",
        "cache_size",
        "higher",
        Claim(
            than="has an SLC cache {} larger",
            most="has the largest SLC cache",
            what="the size of the cache",
            only="alone shows an SLC cache",
        ),
    ),
    (
        "Speed in the cache",
        "speed_cache",
        "higher",
        Claim(
            than="writes {} faster in its cache",
            most="writes fastest in its cache",
            what="the speed in the cache",
        ),
    ),
    (
        "Speed past the cache",
        "speed_past_cache",
        "higher",
        Claim(
            than="writes {} faster past its cache",
            most="writes fastest past its cache",
            what="the speed past the cache",
        ),
    ),
    (
        "Time to fill",
        "duration",
        "lower",
        Claim(
            than="fills the drive {} sooner",
            most="fills soonest",
            alone="is full after {}",
            brief="full in {}",
            what="the time of a fill",
        ),
    ),
)
# The events inside a twin that findings of a pass are about, by name.
COUNTERPARTS: dict[str, tuple[Event, Event | None]] = {
    "cache_size": ("past_slc", None),
    "speed_cache": ("start", "past_slc"),
    "speed_past_cache": ("past_slc", "cache_shrinks"),
    "fold_begin": ("cache_shrinks", None),
    "speed_folding": ("cache_shrinks", "end"),
}
SECOND = f"{ORDINALS[1]}_pass."


class FillPresent(Present):
    """The whole drive written, pattern by pattern and pass by pass."""

    title = "Fill"

    def section(self, subjects: Sequence[Subject]) -> Section:
        """A table a pattern; its passes apart from each other, where there is more than one."""
        columns = {subject.index: subject.findings for subject in subjects}
        later = any(finding.name in LATER for column in columns.values() for finding in column)
        titles = _pattern_titles(subjects)
        by_pattern = tables.by_variant(
            self.title,
            columns,
            pattern=lambda variant: titles.get(variant, variant),
            heading=_pass_title(subjects) if later else lambda _: "",
            naming=_row_title,
        )
        return Section(tables=tuple(by_pattern))

    def phases(self, subject: Subject) -> list[Phase]:
        """The passes of each pattern with the rests between them."""
        parameters = subject.parameters(Parameters)
        return subject.phases(
            Phase(
                label=f"{NAME}/{pattern}/{kind}-{number}",
                group=f"{NAME}/{pattern}",
                group_title=pattern.title,
                name=f"{kind}-{number}",
                title=f"{kind} {number}",
            )
            for pattern in parameters.patterns
            for number in range(parameters.passes + 1)
            for kind in ("rest", "pass")
        )

    def places(self, subject: Subject) -> list[Place]:
        """The ends of plateaus."""
        return [
            Place(
                label=finding.evidence.label,
                gb=finding.number,
                text=f"{PLACES[name]} {numbers.significant(finding.number)} GB",
            )
            for finding in subject.findings
            if (name := LATER.get(finding.name, ("", finding.name))[1]) in PLACES
            and finding.number
            and finding.evidence
        ]

    def plateaus(self, subject: Subject) -> list[Plateau]:
        """The stages of each first pass."""
        return [
            Plateau(
                label=finding.evidence.label,
                start_gb=finding.evidence.start / GB,
                end_gb=finding.evidence.end / GB,
                mb_per_s=finding.number,
            )
            for finding in subject.findings
            if finding.name in PLATEAUS and finding.number and finding.evidence
        ]

    def counterparts(self, subject: Subject) -> list[Counterpart]:
        """The edges of plateaus and the speeds between them, of every pass."""
        passes = {"": 1} | {ordinal: number for number, ordinal in enumerate(ORDINALS, 1)}
        counterparts = []
        for finding in subject.findings:
            ordinal, name = LATER.get(finding.name, ("", finding.name))
            if name in COUNTERPARTS:
                begin, until = COUNTERPARTS[name]
                label = f"{NAME}/{finding.variant}/pass-{passes[ordinal]}"
                counterparts.append(
                    Counterpart(finding=finding, label=label, begin=begin, until=until)
                )
        return counterparts

    def facts(self, subjects: Sequence[Subject]) -> list[Fact]:
        """The stages of the first pattern, in words."""
        variants = dict.fromkeys(
            finding.variant for subject in subjects for finding in subject.findings
        )
        variants.pop("", None)
        if not variants:
            return []
        first = next(iter(variants))
        facts = [fact for subject in subjects for fact in _sentences(subject, first)]
        facts += [
            Fact(text=f"{apart.sentence[:1].upper()}{apart.sentence[1:]}.", drive=subject.index)
            for subject in subjects
            if (apart := _contradiction(subject))
        ]
        if len(variants) > 1:
            title = _pattern_titles(subjects).get(first, first)
            facts.append(Fact(text=f"These are the numbers of {title}."))
        return facts

    def columns(self, subject: Subject) -> list[Column]:
        """The stages of the pattern that the drive was filled with first."""
        variants = (finding.variant for finding in subject.findings if finding.variant)
        pattern = next(variants, "")

        of_pass = {row.name: row for row in subject.findings if row.variant == pattern}

        def column(title: str, name: str, better: Better, claim: Claim) -> Column:
            finding = of_pass.get(name)
            if name == "cache_size" and grounds.is_whole_drive(of_pass):
                claim = replace(
                    claim,
                    than="writes {} more before its speed drops",
                    most="writes most before its speed drops",
                )
            if name == "duration" and not subject.whole:
                # A file is full then, and no drive.
                claim = replace(claim, alone="", brief="")
            return Column(title=title, finding=finding, better=better, claim=claim)

        return [column(*row) for row in COLUMNS]

    def brief(self, subject: Subject) -> str:
        """The cache and the two rates with their unit once."""
        values = _of_first_pattern(subject)
        cache, fast = _value(values, "cache_size"), _value(values, "speed_cache")
        slow = _value(values, "speed_past_cache")
        if not cache or fast is None or slow is None or _contradiction(subject):
            return self.alone(subject)
        head = "All as SLC," if grounds.is_whole_drive(values) else "Writes"
        speeds = f"{numbers.significant(fast)}, then {numbers.mbs(slow)}"
        return f"{head} {numbers.gb(cache)} at {speeds}{_doubt(values)}"

    def alone(self, subject: Subject) -> str:
        """The cache of the pattern that the drive was filled with first, and the rate past it."""
        values = _of_first_pattern(subject)
        cache, fast = _value(values, "cache_size"), _value(values, "speed_cache")
        slow, mean = _value(values, "speed_past_cache"), _value(values, "mean")
        if apart := _contradiction(subject):
            return f"{apart.brief[:1].upper()}{apart.brief[1:]}"
        if cache and fast is not None and slow is not None:
            if grounds.is_whole_drive(values):
                return (
                    f"Behaves as one whole-drive SLC cache of {numbers.gb(cache)}: "
                    f"{numbers.mbs(fast)}, then {numbers.mbs(slow)}"
                )
            speeds = f"{numbers.mbs(fast)}, then {numbers.mbs(slow)}"
            return f"Writes {numbers.gb(cache)} at {speeds}{_doubt(values)}"
        if not cache and mean is not None:
            rests_on = values["cache_size"].evidence if "cache_size" in values else None
            within = f" within {numbers.gb(rests_on.end / GB)}" if rests_on else ""
            if within or cache == 0:
                return f"No lasting drop{within}: {numbers.mbs(mean)} on average"
        return "" if mean is None else f"Writes {numbers.mbs(mean)} on average"


def _doubt(values: dict[str, Finding]) -> str:
    """How likely a cache is, where something else is likelier."""
    chance = _value(values, "cache_probability")
    return "" if chance is None or chance >= 0.5 else f" (a cache is {percent(chance)} likely)"


def _of_first_pattern(subject: Subject) -> dict[str, Finding]:
    """Findings by name, of the pattern that the drive was filled with first."""
    pattern = next((finding.variant for finding in subject.findings if finding.variant), "")
    return {finding.name: finding for finding in subject.findings if finding.variant == pattern}


def _contradiction(subject: Subject) -> grounds.Contradiction | None:
    """Where the patterns of a run say different things of the cache."""
    titles = _pattern_titles([subject])
    by_pattern: dict[str, dict[str, Finding]] = {}
    for finding in subject.findings:
        title = titles.get(finding.variant, finding.variant)
        by_pattern.setdefault(title, {})[finding.name] = finding
    return grounds.contradiction(by_pattern)


def _pattern_titles(subjects: Sequence[Subject]) -> dict[str, str]:
    """How a reader calls the pattern of each variant: "128 KiB, queue depth 32"."""
    return {
        str(pattern): pattern.title
        for subject in subjects
        for pattern in subject.parameters(Parameters).patterns
    }


def _pass_title(subjects: Sequence[Subject]) -> Callable[[Finding], str]:
    """What a finding's pass is called: of a drive that was erased the first began on an empty and
    a later one on a full drive; of a file nothing is known of the drive around it."""
    unerased = {label for subject in subjects for label in subject.refused}

    def title(finding: Finding) -> str:
        erased = f"{NAME}/{finding.variant}/purge" not in unerased
        if later := LATER.get(finding.name):
            return f"{later[0].capitalize()} pass{', on the full drive' if erased else ''}"
        return "First pass, from empty" if erased else "First pass"

    return title


def _row_title(finding: Finding) -> str:
    later = LATER.get(finding.name)
    if later is None:
        return tables.row_title(finding)
    title = LATER_TITLES[later[1]][0]
    return title[:1].upper() + title[1:]


def _sentences(subject: Subject, pattern: str) -> list[Fact]:
    values = {finding.name: finding for finding in subject.findings if finding.variant == pattern}
    return [
        *_stages(subject, values),
        *_third(subject, values),
        *_whole_fill(subject, values),
        *_second_pass(subject, values),
    ]


def _stages(subject: Subject, values: dict[str, Finding]) -> list[Fact]:
    """The stages of the first pass in one sentence."""
    cache, fast = _value(values, "cache_size"), _value(values, "speed_cache")
    slow = _value(values, "speed_past_cache")
    if cache is None:
        mean = _value(values, "mean")
        text = "" if mean is None else f"writes at {numbers.mbs(mean)} on average"
    elif cache == 0 or fast is None:
        at = f" at {numbers.mbs(slow)}" if slow is not None else ""
        text = f"shows no cache: it writes{at} from beginning to end"
    else:
        text = f"writes {numbers.gb(cache)} at {numbers.mbs(fast)}"
        if slow is not None:
            text += f", then {numbers.mbs(slow)}"
        begin, folding = _value(values, "fold_begin"), _value(values, "speed_folding")
        if begin is not None and folding is not None:
            text += (
                f"; from {numbers.gb(begin)} on it has to fold, and {numbers.mbs(folding)} are left"
            )
    return [Fact(subject=subject.name, text=f" {text}.", drive=subject.index)] if text else []


def _third(subject: Subject, values: dict[str, Finding]) -> list[Fact]:
    share = values.get("one_third")
    if share is None or share.number is None or not grounds.is_whole_drive(values):
        return []
    text = (
        f"That is {numbers.significant(share.number * 100)} % of the raw flash: it behaves as one "
        "whole-drive SLC cache, which writes all of its cells once, one bit each, before it folds."
    )
    return [Fact(text=text, drive=subject.index)]


def _whole_fill(subject: Subject, values: dict[str, Finding]) -> list[Fact]:
    mean, took = _value(values, "mean"), _value(values, "duration")
    if mean is None or took is None or _value(values, "cache_size") is None:
        return []
    text = f"The whole fill takes {units.readable_seconds(took)}, {numbers.mbs(mean)} on average."
    return [Fact(text=text, drive=subject.index, detail=True)]


def _second_pass(subject: Subject, values: dict[str, Finding]) -> list[Fact]:
    """What the second pass adds; of a cache only where its size was found, or that there is none:
    a file without a drop says nothing of either."""
    cache, mean = _value(values, f"{SECOND}cache_size"), _value(values, f"{SECOND}mean")
    first = _value(values, "mean")
    if mean is None:
        return []
    if cache is None:
        text = f"Written once more, the mean is {numbers.mbs(mean)}."
        return [Fact(text=text, drive=subject.index, detail=True)]
    if cache:
        text = f"{numbers.gb(cache)} of cache are left; {numbers.mbs(mean)} overall"
    elif first and max(first / mean, mean / first) < WORTH_SAYING:
        text = f"no cache shows and the mean stays at {numbers.mbs(mean)}"
    else:
        text = f"no cache shows; the mean is {numbers.mbs(mean)}"
    return [Fact(text=f"Written once more when full, {text}.", drive=subject.index, detail=True)]


def _value(values: dict[str, Finding], name: str) -> float | None:
    finding = values.get(name)
    return None if finding is None else finding.number


PRESENT = FillPresent()
