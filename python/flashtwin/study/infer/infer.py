"""A fill that somebody else measured: is there a cache, how large, and every plateau.

The same analysis as the battery fill, with intervals as `flashtwin blind` calibrated them. What the
history changes what a curve means: on a preconditioned drive a first plateau may also end because
erased flash runs out, so that it gives no size of a cache, and none seen says nothing; on a drive
that held data the cache may have been so much larger, and the interval reaches there. What else
the battery concludes of a fill stands beside it (`findings`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Literal

import numpy as np

from flashtwin.analysis import calibration, fill_classes, first_plateau, left_out
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.shape import Shape, shape_of
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.finding import Finding, FindingRow
from flashtwin.model.findings import Findings
from flashtwin.model.shares import probability as as_probability
from flashtwin.model.units import parse_size
from flashtwin.model.units import readable_gb as gb
from flashtwin.model.units import readable_mb_s as mbs
from flashtwin.study.infer import findings
from flashtwin.study.infer.pauses import up_to, without_pauses
from flashtwin.study.infer.read import SEQUENTIAL
from flashtwin.study.infer.samples import Figure, Samples, Summary

# "yes" is a claim, of 95 % or more; "likely" is more probable than all else together.
Cache = Literal["yes", "likely", "none seen", "below resolution", "cannot tell"]
LIKELY = 0.5
TAKEN_FOR_FRESH = (
    "the file does not say what the drive held: it is taken for fresh (--history names another "
    "state). On a drive that was written before, the speed also falls where erased flash runs out"
)
TAKEN_FOR_A_FILL = (
    "the file does not say how it was written: it is taken for one sequential fill (--pattern "
    "names another). Random writes, reads beside them or another queue depth make steps too"
)
HEAT_OR_A_LIMIT = (
    "some of it is slower, by heat, a limit outside of the drive or by itself: a column with the "
    "drive's temperature would tell"
)
FEWEST = 12
RESOLVED = 3
# The difference from a plateau's speed from which on a mean is told beside it.
MEAN_TOLD = 0.02
# A plateau that ends within this share of a pause's place ends at the pause.
AT_A_PAUSE = 0.02
NO_FIRST = (
    "only a fill of the erased drive shows whether the cache or erased flash ran out: add it with "
    "--first FILE"
)
FRESH, PRECONDITIONED = "fresh", "preconditioned"


class InferredPlateau(Document, frozen=True):
    """A plateau: its speed with the interval, and its bytes over its time."""

    start_bytes: float
    end_bytes: float
    bytes_per_s: list[float | None]
    mean_bytes_per_s: float


class InferredDocument(Document, frozen=True):
    """flashtwin infer --json"""

    cache: Cache
    sentence: str
    size_bytes: list[float | None] | None
    bound_bytes: float | None
    plateaus: list[InferredPlateau]
    stalls: int
    columns: str
    notes: tuple[str, ...]
    findings: list[FindingRow]
    figures: tuple[Figure, ...]
    page: str | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Inferred:
    """The answer, with a sentence for people and what else could be the reason."""

    cache: Cache
    sentence: str
    size: Estimate | None
    bound: float | None
    plateaus: tuple[tuple[float, float, Estimate], ...]
    means: tuple[float, ...] = ()
    stalls: int
    columns: str
    notes: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    figures: tuple[Figure, ...] = ()

    def __str__(self) -> str:
        return "\n".join((self.sentence, *(f"note: {note}" for note in self.notes)))

    def __repr__(self) -> str:
        return f"Inferred({self.sentence!r})"

    def _repr_html_(self) -> str:
        """The sentence and the findings, for a notebook."""
        return f"<p>{escape(str(self))}</p>{Findings(self.findings)._repr_html_()}"

    def document(self, page: str | None = None) -> InferredDocument:
        """What `flashtwin infer --json` prints; `page`: where its page was written."""
        return InferredDocument(
            cache=self.cache,
            sentence=self.sentence,
            size_bytes=None if self.size is None else _triple(self.size),
            bound_bytes=self.bound,
            plateaus=[
                InferredPlateau(start, end, _triple(speed), mean_bytes_per_s=mean)
                for (start, end, speed), mean in zip(self.plateaus, self.means, strict=True)
            ],
            stalls=self.stalls,
            columns=self.columns,
            notes=self.notes,
            findings=[finding.row() for finding in self.findings],
            figures=self.figures,
            page=page,
        )


def _triple(estimate: Estimate) -> list[float | None]:
    return [estimate.value, estimate.low, estimate.high]


def infer(samples: Samples, history: str | None = None, first: Samples | None = None) -> Inferred:
    """What the series tells; see the module's text. `history`: the drive before, none where nobody
    says it, and it is taken for fresh. `first`: the series of the erased drive, where this one is
    of the full drive after it."""
    samples = without_pauses(samples)
    first = None if first is None else without_pauses(first)
    curve = findings.curve(samples)
    reason = _why_nothing(curve)
    if reason is not None:
        return _answer(samples, None, "cannot tell", f"cannot tell: {reason}")
    if samples.pattern not in (None, SEQUENTIAL):
        return _of_no_fill(samples, curve)
    of_cache, decides = _with_pauses(_of_cache(samples, curve, history), samples, history)
    taken = [TAKEN_FOR_FRESH] if history is None else []
    # Who knows the history of a drive knows how it was written.
    if history is None and samples.pattern is None:
        taken.append(TAKEN_FOR_A_FILL)
    of_fill = _findings(samples, history, first)
    if decides is not samples:
        of_beginning = {finding.name: finding for finding in _findings(decides, history, first)}
        claim = of_beginning["cache_probability"]
        of_fill = tuple(claim if each.name == claim.name else each for each in of_fill)
    if samples.degrees is None and any(map(_is_open, of_fill)):
        taken.append(HEAT_OR_A_LIMIT)
    return replace(
        of_cache,
        findings=of_fill,
        notes=(*of_cache.notes, *_lacks(history, first), *taken),
    )


def _is_open(finding: Finding) -> bool:
    """Whether slower stretches were seen and it is not told what made them."""
    return finding.name == "slowed_by" and finding.value is None


def _of_no_fill(samples: Samples, curve: Curve) -> Inferred:
    """Writes that the file itself calls something else than one sequential fill."""
    mean = mbs(curve.total_bytes / curve.total_s)
    why = (
        f"cannot tell: the file says {samples.pattern}, which is no sequential fill; a step in it "
        f"need not be the end of a cache (--pattern write, if it was a fill); mean {mean}"
    )
    return _answer(samples, None, "cannot tell", why)


def check_history(history: str | None, *, with_first: bool) -> None:
    """Refuse a state of the drive before that is none, or to which a first fill says nothing."""
    if with_first and history != PRECONDITIONED:
        raise FlashtwinError(
            "--first says what ended the fast part of a full drive, not of one that was "
            f"{history or FRESH}",
            hint="add --history preconditioned",
            exit_code=USAGE,
        )
    if history is None:
        return
    try:
        checked_history(history)
    except ValueError as error:
        raise FlashtwinError(
            f"--history {history} is not known",
            hint="write fresh, preconditioned, or used:SIZE, for example used:200GB",
            exit_code=USAGE,
        ) from error


def of_summary(summary: Summary) -> Inferred:
    """Figures that are no series: they are shown, and say nothing of a cache."""
    return Inferred(
        cache="cannot tell",
        sentence=f"cannot tell: {summary.program} has {summary.why}; {summary.test}",
        size=None,
        bound=None,
        plateaus=(),
        stalls=0,
        columns=f"figures of {summary.program}",
        notes=(),
        figures=summary.figures,
    )


def _lacks(history: str | None, first: Samples | None) -> list[str]:
    """What is missing to tell what ended the first plateau of a full drive."""
    if history != PRECONDITIONED:
        return []
    if first is None:
        return [NO_FIRST]
    reason = _why_nothing(findings.curve(first))
    return [] if reason is None else [f"the fill of the erased drive before says nothing: {reason}"]


def _findings(samples: Samples, history: str | None, first: Samples | None) -> tuple[Finding, ...]:
    if history == PRECONDITIONED:
        return findings.of_a_full_drive(samples, first)
    if history in (None, FRESH):
        return findings.of_an_erased_drive(samples, is_erased=history == FRESH)
    return findings.of_a_used_drive(samples)


def _of_cache(samples: Samples, curve: Curve, history: str | None) -> Inferred:
    """Is there a cache, how large, and the plateaus."""
    shape = shape_of(curve)
    if history == PRECONDITIONED:
        return _answer(samples, shape, "cannot tell", _of_a_full_drive(shape))
    if shape.first_plateau.verdict == "swings":
        why = (
            "cannot tell: the speed comes back again and again; heat, a limit outside of the "
            "drive and a cache that takes data again look alike (fill it once more when it is cool)"
        )
        return _answer(samples, shape, "cannot tell", why, history=history)
    if shape.edge is None:
        most = calibration.bound(first_plateau.smallest_cache(curve), curve.total_bytes)
        if most >= curve.total_bytes:
            seen = (
                "cannot tell: the samples scatter so far that the end of a cache within "
                f"{gb(curve.total_bytes)} would not show; measure with longer samples"
            )
            return _answer(samples, shape, "cannot tell", seen, bound=most, history=history)
        most += _held(history)
        hidden = f"below {gb(most)} or above {gb(curve.total_bytes)}"
        hidden = hidden if most < curve.total_bytes else "of any size"
        seen = f"no end of a cache within {gb(curve.total_bytes)}: one {hidden} would not show"
        return _answer(samples, shape, "none seen", seen, bound=most, history=history)
    end = calibration.widened_edge(shape.edge, "cache", curve, shape.quiet).place
    # In a hole of the times nothing may have been written.
    unsure = sum(in_hole for at, in_hole in samples.holes if at < end.value)
    end = replace(end, low=max((end.low or end.value) - unsure, 0.0))
    size = _size(end, shape, history)
    if int(np.searchsorted(curve.bytes_at, end.value)) <= RESOLVED:
        most = size.high or size.value
        seen = f"below resolution: {RESOLVED} samples or fewer are faster, up to {gb(most)}"
        return _answer(samples, shape, "below resolution", seen, bound=most, history=history)
    seen = _said_of_the_end(end, shape, size, history)
    of_fill = findings.of_an_erased_drive(samples, is_erased=history == FRESH)
    chance = next(finding for finding in of_fill if finding.name == "cache_probability")
    probability = chance.number or 0.0
    if probability < LIKELY:
        # The end of the plateau is told, and no size of a cache.
        why = (chance.note or "").removeprefix("cannot tell: ")
        return _answer(
            samples, shape, "cannot tell", f"cannot tell: {seen}: {why}", history=history
        )
    cache: Cache = "yes" if probability >= fill_classes.CLAIMED else "likely"
    seen = f"{seen}; that it is a cache is {as_probability(probability)} probable"
    return _answer(samples, shape, cache, seen, size=size, history=history)


def _size(end: Estimate, shape: Shape, history: str | None) -> Estimate:
    """The size of a cache whose fast part ends there: a larger drop that follows may be its end,
    and what the drive held may have taken that much of it, and no more."""
    ends = [end] if shape.cliff is None else [end, shape.cliff.place]
    most = max(each.high or each.value for each in ends)
    return replace(end, high=most + _held(history))


def _said_of_the_end(end: Estimate, shape: Shape, size: Estimate, history: str | None) -> str:
    """Where the fast part ends, and where else it may."""
    seen = f"the fast part ends at {gb(end.value)} ({gb(end.low or 0)} to {gb(end.high or 0)})"
    if shape.cliff is not None:
        seen += f", or at {gb(shape.cliff.place.value)}, if a cache became slower as it filled"
    if shape.burst is not None:
        seen += f", or at {gb(shape.burst[0])} unless the faster beginning went into memory"
    if _held(history):
        seen += f"; on an empty drive a cache may be as large as {gb(size.high or 0)}"
    return seen


def _with_pauses(
    of_all: Inferred, samples: Samples, history: str | None
) -> tuple[Inferred, Samples]:
    """The answer of a series with pauses, and the samples that decide it: what comes after a pause
    says nothing against a cache, which was emptied in it. So the write up to the first pause
    decides where the whole leaves it open."""
    if of_all.cache != "cannot tell" or not samples.pauses:
        return of_all, samples
    first = up_to(samples, samples.pauses[0])
    curve = findings.curve(first)
    before = None if _why_nothing(curve) else _of_cache(first, curve, history)
    if before is None or before.cache not in ("yes", "likely"):
        return of_all, samples
    later = [
        (stretch, mean)
        for stretch, mean in zip(of_all.plateaus, of_all.means, strict=True)
        if stretch[1] > curve.total_bytes * (1 + AT_A_PAUSE)
    ]
    after = _speeds(tuple(stretch for stretch, _ in later), tuple(mean for _, mean in later))
    sentence = f"up to the first pause: {before.sentence}; after it {after}"
    return replace(of_all, cache=before.cache, size=before.size, sentence=sentence), first


def _of_a_full_drive(shape: Shape) -> str:
    """What a first plateau means on a drive that was written full before: no size of a cache."""
    again = "erase the drive and fill it once more"
    if shape.edge is None:
        return (
            "cannot tell: the drive was preconditioned, and a cache that is full shows no end; "
            f"{again}"
        )
    end = gb(shape.edge.place.value)
    return (
        f"cannot tell: the first {end} went faster, which on a preconditioned drive is what had "
        f"been freed, of the cache or of erased flash, and not the size of a cache; {again}"
    )


def checked_history(history: str) -> str:
    """A state of the drive before the fill; raises `ValueError` with what to write instead."""
    word, _, size = history.partition(":")
    if history not in (FRESH, PRECONDITIONED):
        if word != "used":
            raise ValueError(f"history {history} (write fresh, preconditioned, or used:200GB)")
        parse_size(size)
    return history


def _held(history: str | None) -> float:
    """Bytes that the drive held before the fill."""
    word, _, size = (history or FRESH).partition(":")
    return float(parse_size(size)) if word == "used" else 0.0


def _why_nothing(curve: Curve) -> str | None:
    if curve.total_bytes <= 0:
        return "nothing was written"
    moving = int((curve.size > 0).sum())
    return f"only {moving} samples with data" if moving < FEWEST else None


def _answer(
    samples: Samples,
    shape: Shape | None,
    cache: Cache,
    sentence: str,
    *,
    size: Estimate | None = None,
    bound: float | None = None,
    history: str | None = FRESH,
) -> Inferred:
    curve = findings.curve(samples)
    plateaus = () if shape is None else shape.plateaus
    stretches = tuple((p.start, p.end, calibration.widened(p.speed, "speed")) for p in plateaus)
    means = tuple(curve.mean_between(p.start, p.end) for p in plateaus)
    if stretches:
        sentence = f"{sentence}; {_speeds(stretches, means)}"
    return Inferred(
        cache=cache,
        sentence=sentence,
        size=size,
        bound=bound,
        plateaus=stretches,
        means=means,
        stalls=0 if shape is None else len(shape.stalls),
        columns=samples.columns,
        notes=(*samples.notes, *_notes(samples, size is not None, history), *_left_out(shape)),
    )


def _speeds(stretches: tuple[tuple[float, float, Estimate], ...], means: tuple[float, ...]) -> str:
    """The speed of each plateau, and its mean where slow stretches are left out of the speed."""
    parts = []
    for (_, end, speed), mean in zip(stretches, means, strict=True):
        beside = f" (mean {mbs(mean)})" if abs(mean - speed.value) > MEAN_TOLD * mean else ""
        parts.append(f"{mbs(speed.value)} to {gb(end)}{beside}")
    return ", then ".join(parts)


def _left_out(shape: Shape | None) -> list[str]:
    """What no speed counts, in the battery's words."""
    if shape is None:
        return []
    sentences = (left_out.beginning, left_out.rising, left_out.dipping, left_out.bursts)
    notes = [sentence(shape) for sentence in sentences]
    for plateau in shape.plateaus:
        about = left_out.about(plateau)
        if about is not None:
            notes.append(f"from {gb(plateau.start)} to {gb(plateau.end)}: {about}")
    return list(dict.fromkeys(note for note in notes if note))


def _notes(samples: Samples, size_told: bool, history: str | None) -> tuple[str, ...]:
    notes = []
    if samples.reads:
        notes.append(
            "the file has reads too: writes beside reads are slower than a fill's, and the speeds "
            "are those of the mix"
        )
    if _held(history) and size_told:
        notes.append(
            f"the drive held data ({history}), which may have taken that much of its cache: the "
            "interval reaches to the size on an empty drive"
        )
    return tuple(notes)
