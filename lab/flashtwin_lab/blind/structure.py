"""What discover said of drives whose kind of cache is known: rows, confusion tables, calibration.

A kind counts as right where the most probable one is the true one, also where the battery says
"cannot tell" because it is not probable enough; rows beside it count those that were said, and
those that were said to be one of two which no test parts. Rests
count all drives on which a cache can be seen: "cannot tell" is none within the bound. Probabilities
are tried in bins of the most probable word's: the number of right ones among them with the exact
binomial test at the bin's mean probability, at 1 % over all bins together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin.analysis.estimate import Estimate
from flashtwin.batteries.discover import ambiguous
from flashtwin.hypothesis.structures import NONE
from flashtwin.runner.pool import Send, Work
from flashtwin_lab.blind import generate, judge, kinds
from flashtwin_lab.blind.judge import CampaignDocument, Row
from flashtwin_lab.blind.kinds import Discovered
from flashtwin_lab.blind.run import DRIVE_BYTES, named
from flashtwin_lab.blind.shards import Shard

PARTS = {"structure": "kind of cache", "past": "way past the cache"}
RESTS = {"rest_begin": "rest before recovery begins", "rest_full": "rest to full"}
# The word for this kind of campaign in a file of `--append`.
KIND = "discover"
BINS = (0.0, 0.5, 0.8, 0.95, 1.01)


@dataclass(frozen=True, kw_only=True)
class Structures:
    """Rows of the table, and every drive."""

    rows: tuple[Row, ...]
    drives: tuple[Discovered, ...]

    @property
    def missed(self) -> int:
        return sum(not row.passes for row in self.rows)

    def worst_lines(self) -> list[str]:
        """Confusion tables, what it took, and the drives whose kind or way was taken wrongly."""
        lines = [line for part in PARTS for line in _table(part, self.drives)]
        cpu = [drive.cpu_s for drive in self.drives]
        tests = [len(drive.tests) for drive in self.drives]
        lines.append(
            f"{np.mean(cpu):.1f} s of one core and {np.mean(tests):.1f} tests a drive in the mean"
        )
        for drive in self.drives:
            wrong = [
                f"{PARTS[part]} {true}, taken for {best}"
                for part in PARTS
                for true, best, _ in [choice(drive, part)]
                if true is not None and best != true
            ]
            if wrong and drive.truth.visible:
                lines.append(
                    f"wrong: {drive.name} after {', '.join(drive.tests)}: {'; '.join(wrong)}"
                )
        return lines

    def document(self) -> CampaignDocument:
        """As `flashtwin blind --json` prints it."""
        return CampaignDocument([row.document() for row in self.rows], missed=self.missed)


def campaign(
    count: int,
    seed: int,
    *,
    generator: Path | None = None,
    settings: Mapping[str, str] | None = None,
    on_end: Callable[[int, str], None] | None = None,
    append: Path | None = None,
    each_kind: bool = False,
) -> Structures:
    """Draw drives, discover each, and judge. `generator` is another prior (.toml); `append`: the
    file of a campaign in pieces, of which all drives count; with `each_kind` all kinds come in
    turn."""
    prior = generate.read_prior(generator)
    works = [
        Work(
            call=partial(_drive, prior, seed, number, settings, each_kind), memory_bytes=DRIVE_BYTES
        )
        for number in range(count)
    ]
    shard = Shard(kind=kind_of(each_kind), path=append, seed=seed, of_json=kinds.of_json)
    drives = shard.drives(works, named(on_end))
    return Structures(rows=tuple(rows(drives, kinds.section(prior))), drives=tuple(drives))


def kind_of(each_kind: bool) -> str:
    """The kind of campaign: drives of both stand in files of their own."""
    return f"{KIND}, each kind" if each_kind else KIND


def _drive(
    prior: Mapping[str, Any],
    seed: int,
    number: int,
    settings: Mapping[str, str] | None,
    each_kind: bool,
    _send: Send,
) -> Discovered:
    return kinds.discovered(prior, seed, number, settings, each_kind=each_kind)


def rows(drives: Sequence[Discovered], targets: Mapping[str, Any]) -> Iterator[Row]:
    """What was reached of each target."""
    seen = [drive for drive in drives if drive.truth.visible]
    for part, title in PARTS.items():
        yield from _right(part, title, seen, targets["right"])
        yield _calibration(part, title, seen)
    for name, title in RESTS.items():
        yield _near(name, title, seen, targets)
        yield _coverage(name, title, seen, targets["says"])
    none = [drive for drive in drives if drive.truth.visible is False]
    claimed = sum(drive.said["structure"] not in (None, NONE) for drive in none)
    yield Row(
        finding="kind claimed where there is no cache",
        target=f"at most {targets['claimed']:.0%}",
        found=f"{claimed} of {len(none)}",
        n=len(none),
        passes=not judge.excluded(claimed, len(none), targets["claimed"]),
    )


def choice(drive: Discovered, part: str) -> tuple[str | None, str | None, float]:
    """The true word, the most probable one (none where nothing could be told), its probability."""
    likely = drive.likely[part]
    true = drive.truth.structure if part == "structure" else drive.truth.past
    best = max(likely, key=lambda word: likely[word]) if likely else None
    if part == "structure" and best is not None and best == drive.truth.also:
        true = best
    return true, best, likely[best] if best is not None else 0.0


def _right(part: str, title: str, drives: Sequence[Discovered], share: float) -> Iterator[Row]:
    answers = [
        (best == true, (true, *also_of(drive, part)), drive.said[part])
        for drive in drives
        for true, best, _ in [choice(drive, part)]
        if true is not None
    ]
    right = sum(is_right for is_right, _, _ in answers)
    named = [(hit, trues, ambiguous.words_of(value)) for hit, trues, value in answers if value]
    sure = [hit for hit, _, words in named if len(words) == 1]
    pairs = [any(word in trues for word in words) for _, trues, words in named if len(words) > 1]
    unsure = f"{len(answers) - len(named)} cannot tell, {len(pairs)} either of two"
    yield Row(
        finding=title,
        target=f"{share:.0%} right",
        found=f"{right} of {len(answers)} most probable, {unsure}",
        n=len(answers),
        passes=judge.reaches(right, len(answers), share),
    )
    for words, hits in (
        ("where it is said", sure),
        ("where it is said to be either of two", pairs),
    ):
        yield Row(
            finding=f"{title}, {words}",
            target=f"{share:.0%} right",
            found=f"{sum(hits)} of {len(hits)}",
            n=len(hits),
            passes=judge.reaches(sum(hits), len(hits), share),
        )


def also_of(drive: Discovered, part: str) -> tuple[str, ...]:
    """What else may be said of the drive, as no test tells it from what is true."""
    also = drive.truth.also
    return () if also is None or part != "structure" else (also,)


def _calibration(part: str, title: str, drives: Sequence[Discovered]) -> Row:
    pairs = [
        (probability, best == true)
        for drive in drives
        for true, best, probability in [choice(drive, part)]
        if true is not None and best is not None
    ]
    texts, passes, apart = [], True, 0.0
    for low, high in pairwise(BINS):
        inside = [pair for pair in pairs if low <= pair[0] < high]
        if not inside:
            continue
        right, mean = sum(hit for _, hit in inside), float(np.mean([p for p, _ in inside]))
        apart += abs(right - mean * len(inside))
        share = min(max(mean, 1e-6), 1 - 1e-6)
        passes &= judge.binomial_test(right, len(inside), share) >= judge.TEST / (len(BINS) - 1)
        texts.append(f"{right} of {len(inside)} at {mean:.0%}")
    brier = float(np.mean([(1 - p if hit else p) ** 2 for p, hit in pairs])) if pairs else 0.0
    error = apart / len(pairs) if pairs else 0.0
    return Row(
        finding=f"probability: {title}",
        target="right as often as they say",
        found=f"{'; '.join(texts)}; off by {error:.1%}, Brier {brier:.3f}",
        n=len(pairs),
        passes=passes,
    )


def true_rest(drive: Discovered, name: str) -> float:
    value = drive.truth.begin_s if name == "rest_begin" else drive.truth.full_s
    assert value is not None, "a cache that can be seen is folded after some rest"
    return value


def off_by(estimate: Estimate, true: float) -> float:
    """By which share a rest is off; one that is told as "at most" is if the true one is longer."""
    off = estimate.value / true - 1
    return max(-off, 0.0) if estimate.low is None else abs(off)


def _near(name: str, title: str, drives: Sequence[Discovered], targets: Mapping[str, Any]) -> Row:
    values = [(drive.rests[name], true_rest(drive, name)) for drive in drives]
    within, share = targets["within"], targets["within_share"]
    off = [off_by(estimate, true) for estimate, true in values if estimate is not None]
    near = sum(error <= within for error in off)
    middle = f"median off by {np.median(off):.0%}" if off else "none said"
    return Row(
        finding=title,
        target=f"within {within:.0%} in {share:.0%}",
        found=f"{near} of {len(values)}, {len(values) - len(off)} cannot tell; {middle}",
        n=len(values),
        passes=judge.reaches(near, len(values), share),
    )


def _coverage(name: str, title: str, drives: Sequence[Discovered], says: float) -> Row:
    pairs = [
        (estimate.low <= true <= estimate.high, (estimate.high - estimate.low) / true)
        for drive in drives
        for estimate, true in [(drive.rests[name], true_rest(drive, name))]
        if estimate is not None and estimate.low is not None and estimate.high is not None
    ]
    held = sum(holds for holds, _ in pairs)
    width = float(np.median([width for _, width in pairs])) if pairs else 0.0
    return Row(
        finding=f"interval: {title}",
        target=f"{says:.0%} hold",
        found=f"{held} of {len(pairs)}, median width {width:.0%}",
        n=len(pairs),
        passes=judge.binomial_test(held, len(pairs), says) >= judge.TEST,
    )


def _table(part: str, drives: Sequence[Discovered]) -> list[str]:
    """A line a true word: what it was taken for, most often first."""
    counts: dict[str, Counter[str]] = {}
    for drive in drives:
        true, best, _ = choice(drive, part)
        if drive.truth.visible and true is not None:
            answer = drive.said[part]
            sure = "" if answer and answer == best else f" ({answer or 'cannot tell'})"
            counts.setdefault(true, Counter())[f"{best or 'no cache'}{sure}"] += 1
    return [
        f"{PARTS[part]} {true}: "
        + ", ".join(f"{word} {count}" for word, count in counts[true].most_common())
        for true in sorted(counts)
    ]
