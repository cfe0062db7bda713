"""The one paragraph on top: which drives, and what was found, made from the findings alone.

Invariant: a sentence says only what a finding says; where one is lacking, so is its half sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.model.finding import Finding
from flashtwin.report import cells, numbers
from flashtwin.report.findings import SECOND, group_of
from flashtwin.report.view import Drive, pattern_title

# Drives that differ by less are the same for a reader.
WORTH_SAYING = 1.1
SIGNATURE = "one-third signature present"
# So many drives get a few sentences each.
BRIEF = 2


def title(drives: Sequence[Drive]) -> str:
    """The page's heading."""
    names = [drive.name for drive in drives]
    if not names:
        return "No runs"
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2} more"
    return _listed(names)


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of the summary; `name` is the drive that it begins with, if it does."""

    name: str
    text: str


def summary(drives: Sequence[Drive]) -> list[Sentence]:
    """Sentences, in order; of more than two drives only what each begins with."""
    said: list[Sentence] = []
    pattern = _pattern(drives)
    for drive in drives:
        texts = _of_drive(drive, pattern, brief=len(drives) > BRIEF)
        said += [_sentence(drive.name, text) for text in texts]
    more = _largest_difference(drives)
    patterns = {group_of(one) for drive in drives for one in drive.findings if _fill(one)}
    if pattern and len(patterns) > 1:
        more.insert(0, f"These are the numbers of {pattern_title(pattern)}.")
    return said + [Sentence(name="", text=text) for text in more]


def _sentence(name: str, text: str) -> Sentence:
    if text.startswith(f"{name} "):
        return Sentence(name=name, text=text.removeprefix(name))
    return Sentence(name="", text=text)


def _pattern(drives: Sequence[Drive]) -> str | None:
    """The first pattern of a fill."""
    groups = [group_of(one) for drive in drives for one in drive.findings if _fill(one)]
    return groups[0] if groups else None


def _fill(finding: Finding) -> bool:
    return finding.battery == "fill"


def _of_drive(drive: Drive, pattern: str | None, *, brief: bool) -> list[str]:
    values = {one.name: one for one in drive.findings if _fill(one) and group_of(one) == pattern}
    said = [*_filling(drive.name, values), *_third(values)]
    if not brief:
        said += [*_whole(values), *_again(values)]
    if drive.state != "finished":
        state = {"running": "was cut off"}.get(drive.state, f"was {drive.state}")
        state = "failed" if drive.state == "failed" else state
        steps = len(drive.run.steps)
        said.append(f"The run of {drive.name} {state} after {steps} steps; what was done is shown.")
    return said


def _filling(name: str, values: dict[str, Finding]) -> list[str]:
    """The stages of the first pass in one sentence."""
    cache, fast = _value(values, "cache_size"), _value(values, "speed_cache")
    slow = _value(values, "speed_past_cache")
    if cache is None:
        mean = _value(values, "mean")
        return [] if mean is None else [f"{name} writes at {_mbs(mean)} on average."]
    if cache == 0 or fast is None:
        at = f" at {_mbs(slow)}" if slow is not None else ""
        return [f"{name} shows no cache: it writes{at} from beginning to end."]
    text = f"{name} writes {_gb(cache)} at {_mbs(fast)}"
    if slow is not None:
        text += f", then {_mbs(slow)}"
    begin, folding = _value(values, "fold_begin"), _value(values, "speed_folding")
    if begin is not None and folding is not None:
        text += f"; from {_gb(begin)} on it folds, and {_mbs(folding)} are left"
    return [text + "."]


def _whole(values: dict[str, Finding]) -> list[str]:
    mean, took = _value(values, "mean"), _value(values, "duration")
    if mean is None or took is None or _value(values, "cache_size") is None:
        return []
    return [f"The whole fill takes {numbers.duration(took)}, {_mbs(mean)} on average."]


def _third(values: dict[str, Finding]) -> list[str]:
    share = values.get("one_third")
    if share is None or share.number is None or SIGNATURE not in (share.note or ""):
        return []
    return [
        f"Its first plateau covers {numbers.significant(share.number * 100)} % of the raw flash: "
        "the mark of a drive that writes all of its cells once, one bit each, before it folds."
    ]


def _again(values: dict[str, Finding]) -> list[str]:
    """What the second pass adds, where a cache is left or the mean has moved."""
    cache, mean = _value(values, f"{SECOND}cache_size"), _value(values, f"{SECOND}mean")
    first = _value(values, "mean")
    if mean is None:
        return []
    if cache:
        return [
            f"Written once more when full, {_gb(cache)} of cache are left; {_mbs(mean)} overall."
        ]
    if first and max(first / mean, mean / first) < WORTH_SAYING:
        return [f"Written once more when full, no cache shows and the mean stays at {_mbs(mean)}."]
    return [f"Written once more when full, no cache shows; the mean is {_mbs(mean)}."]


def _largest_difference(drives: Sequence[Drive]) -> list[str]:
    """The cell of CrystalDiskMark in which the first two drives differ most."""
    grid = cells.grid_of(drives)
    if grid is None or len(drives) < 2:
        return []
    best: tuple[float, str, list[tuple[str, float]]] | None = None
    for place in grid.cells:
        for direction in grid.directions:
            speeds = []
            for drive in drives:
                found = grid.values.get((drive.index, place.cell, direction, "speed"))
                if found is not None and found.number:
                    speeds.append((drive.name, found.number))
            if len(speeds) > 1:
                ratio = max(s for _, s in speeds) / min(s for _, s in speeds)
                if best is None or ratio > best[0]:
                    best = (ratio, f"{place.title} {direction}", speeds)
    if best is None:
        return []
    ratio, where, speeds = best
    if ratio < WORTH_SAYING:
        return ["In CrystalDiskMark they differ by less than 10 % in every cell."]
    high, low = max(speeds, key=lambda s: s[1]), min(speeds, key=lambda s: s[1])
    return [
        f"In CrystalDiskMark they differ most in {where}: {_mbs(high[1])} ({high[0]}) against "
        f"{_mbs(low[1])} ({low[0]}), {numbers.significant(ratio, 2)} times."
    ]


def _value(values: dict[str, Finding], name: str) -> float | None:
    finding = values.get(name)
    return None if finding is None else finding.number


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _mbs(value: float) -> str:
    return f"{numbers.significant(value)}\u00a0MB/s"


def _gb(value: float) -> str:
    return f"{numbers.significant(value)}\u00a0GB"
