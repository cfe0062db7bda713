"""A drive to play with: what of it can be moved, and what is known beforehand at which positions.

A page moves a few keys of a spec and has the core simulate a fill at the drive's smallest scale,
where that takes a fraction of a second. What the curve means is concluded here alone, by the fill
battery at the positions that differ from the drive as it is in one key: a page has no analysis of
its own and says "not analysed" elsewhere.

Invariants: every option of a control is a drive by itself (options together may contradict each
other, which the core says); a position's curve is what the core answers to its question, so that a
page with the core and one without show the same there.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flashtwin import _core
from flashtwin.catalogue import shorthand
from flashtwin.catalogue.loader import load
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import parse_json
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.text import Shown
from flashtwin.model.units import parse_seconds, parse_size, percent, readable_size
from flashtwin.runner import request
from flashtwin.runner.events import Observer
from flashtwin.runner.request import Request
from flashtwin.runs.rundir import Run

BATTERY = "fill:patterns=128k-q32,passes=1"
# Findings of a position, by name, in the order in which a page has them.
FINDINGS = ("cache_size", "speed_cache", "speed_past_cache", "mean", "duration")
# Units in which a smaller drive has less by its scale.
SCALED = ("GB", "s")
CACHE_FACTORS = (0.25, 0.5, 1.0, 2.0)
SPARES = (0.07, 0.14, 0.28)
# Shares that are closer read alike.
SAME_SPARE = 0.01
DIE_FACTORS = (1, 2, 4)
FILL_LEVELS = (0, 25, 50, 75)
RESTS_S = (0, 60, 600, 3600)
REST_WORDS = ("none", "1 min", "10 min", "1 h")
# Samples of a fill, about one a pixel or two of a chart.
SAMPLES = 240
WORDS = {
    "slc_cache.mode": "Kind of SLC cache",
    "slc_cache.when_full": "When the cache is full",
}


@dataclass(frozen=True, kw_only=True)
class Option:
    """A position of a control: what a page calls it, and the values of the spec that it changes.

    `divisor`: the smallest scale of the drive with it, 176 for 1/176.
    """

    text: str
    sets: tuple[str, ...]
    divisor: int


@dataclass(frozen=True, kw_only=True)
class Control:
    """One thing to move; `usual` is the option that changes nothing."""

    id: str
    title: str
    options: tuple[Option, ...]
    usual: int


@dataclass(frozen=True, kw_only=True)
class Position:
    """Options by control, the core's answer there, and what the fill battery found, in words."""

    options: Mapping[str, int]
    answer: Mapping[str, Any]
    findings: Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Board:
    """A drive with all that can be moved of it; `choices` are the positions that are known
    beforehand, the first of them the drive as it is. `divisor`: that of its smallest scale.
    `idle_s`: how long the firmware waits before it folds."""

    id: str
    name: str
    text: str
    divisor: int
    idle_s: float
    controls: Sequence[Control]
    choices: Sequence[Mapping[str, int]]


@dataclass(frozen=True, kw_only=True)
class Game:
    """All that a page knows of a drive. `question` is that of the drive as it is: a page adds
    settings, a scale and steps. `apart`: by how many percent of the whole drive's value the small
    one's findings are off, by title, both as they are and times the scale."""

    board: Board
    question: Mapping[str, Any]
    positions: Sequence[Position]
    apart: Sequence[tuple[str, float]]


# Told how many positions are done.
Progress = Callable[[int], None]


def board(drive: str, *, firmware: Sequence[str] = (), sets: Sequence[str] = ()) -> Board:
    """Looks for what can be moved. Raises `FlashtwinError` where the drive cannot be made small."""
    spec = load(drive, firmware=firmware, sets=sets)
    text = spec.to_toml()
    values = {row["key"]: row["value"] for row in spec.values()}
    divisor = _smallest(text, ())
    if divisor is None:
        raise FlashtwinError(
            f"{drive} cannot be made smaller, and a whole drive takes minutes a redraw",
            hint=f"flashtwin test {drive} --battery fill fills it once",
            exit_code=USAGE,
        )
    controls = list(_controls(text, values, divisor))
    usual = {control.id: control.usual for control in controls}
    moved = [
        usual | {control.id: at}
        for control in controls
        for at in range(len(control.options))
        if at != control.usual
    ]
    idle = values.get("fold.idle_after", "never")
    return Board(
        id=spec.id,
        name=spec.name,
        text=text,
        divisor=divisor,
        idle_s=0.0 if idle == "never" else parse_seconds(idle),
        controls=controls,
        choices=[usual, *moved],
    )


def fills(on: Board) -> int:
    """How many times `game` fills a drive."""
    return 1 + len(on.choices)


def game(on: Board, progress: Progress = lambda done: None) -> Game:
    """Fills the whole drive once, which takes longest, and the small one at each position that is
    known beforehand."""
    drives = [_made(on.controls, choice) for choice in on.choices]
    with tempfile.TemporaryDirectory(prefix="flashtwin-") as folder:
        at_full_size, *runs = _filled(on.text, [((), 1), *drives], Path(folder), progress)
        question = _question(on.text, runs[0])
        apart = _apart(at_full_size, runs[0], drives[0][1])
        positions = [
            Position(
                options=choice,
                answer=_answer(question, *of_choice),
                findings=_findings(run, of_choice[1]),
            )
            for choice, of_choice, run in zip(on.choices, drives, runs, strict=True)
        ]
    return Game(board=on, question=question, positions=positions, apart=apart)


# ------------------------------------------------------------------------------ what can be moved


def _controls(text: str, values: Mapping[str, str], divisor: int) -> Iterator[Control]:
    """The controls that have more than one option on this drive."""
    yield from _control("size", "SLC cache", text, _cache_sizes(values), divisor)
    for key, title in WORDS.items():
        words = _core.spec_words(key)
        rows = [(word, () if word == values[key] else (f"{key}={word}",)) for word in words]
        yield from _control(key, title, text, rows, divisor)
    yield from _control("op", "Over-provisioning", text, _spares(values), divisor)
    yield from _control("dies", "Dies", text, _dies(values), divisor)


def _control(
    name: str,
    title: str,
    text: str,
    rows: Sequence[tuple[str, tuple[str, ...]]],
    divisor: int,
) -> Iterator[Control]:
    """A control of the options that are drives; none where there is nothing to choose."""
    options = []
    for label, sets in rows:
        of_option = divisor if not sets else _smallest(text, sets, near=divisor)
        if of_option is not None:
            options.append(Option(text=label, sets=sets, divisor=of_option))
    usual = [at for at, option in enumerate(options) if not option.sets]
    if len(options) > 1 and usual:
        yield Control(id=name, title=title, options=tuple(options), usual=usual[0])


def _cache_sizes(values: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """Shares and multiples of the size that the cache has."""
    written = values["slc_cache.size"]
    if values["slc_cache.mode"] == "none" or written.startswith("0"):
        return []
    sizes = [(int(parse_size(written) * factor), factor == 1) for factor in CACHE_FACTORS]
    return [
        (readable_size(bytes_, 3), () if is_usual else (f"slc_cache.size={bytes_} B",))
        for bytes_, is_usual in sizes
    ]


def _spares(values: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """The drive's own share of spare flash among usual ones."""
    raw = shorthand.raw_bytes(values)
    if raw is None:
        return []
    own = raw / parse_size(values["drive.capacity"]) - 1
    rows: list[tuple[float, tuple[str, ...]]] = [(own, ())]
    for share in SPARES:
        if abs(share - own) > SAME_SPARE:
            rows.append((share, tuple(shorthand.expanded([f"op={share}"], values))))
    return [(percent(share), sets) for share, sets in sorted(rows)]


def _dies(values: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """More and smaller dies, or fewer and larger ones: the flash stays as much as it is."""
    each, blocks = int(values["nand.dies_per_channel"]), int(values["nand.blocks_per_plane"])
    channels = int(values["nand.channels"])
    counts = sorted({each * by for by in DIE_FACTORS} | {each // 2 or each})
    return [
        (
            str(channels * count),
            ()
            if count == each
            else (
                f"nand.dies_per_channel={count}",
                f"nand.blocks_per_plane={blocks * each // count}",
            ),
        )
        for count in counts
        if blocks * each % count == 0
    ]


def _smallest(text: str, sets: Sequence[str], near: int | None = None) -> int | None:
    """The divisor of the smallest scale of a drive; none where it is no drive or has no scale.

    `near`: that of the drive as it is, which most settings leave.
    """
    try:
        unscaled = _core.parse_spec(text, [], [], list(sets))
    except _core.SpecError:
        return None
    if near is not None and _is_drive(text, sets, near):
        return near
    return next((by for by in reversed(unscaled.scales()) if _is_drive(text, sets, by)), None)


def _is_drive(text: str, sets: Sequence[str], divisor: int) -> bool:
    try:
        _core.parse_spec(text, [], [], list(sets), f"1/{divisor}")
    except _core.SpecError:
        return False
    return True


def _made(controls: Sequence[Control], choice: Mapping[str, int]) -> tuple[tuple[str, ...], int]:
    """The settings of a choice and its scale, that of the option which allows the least."""
    options = [control.options[choice[control.id]] for control in controls]
    sets = tuple(setting for option in options for setting in option.sets)
    return sets, min(option.divisor for option in options)


# --------------------------------------------------------------------- what is known beforehand


def _filled(
    text: str, drives: Sequence[tuple[tuple[str, ...], int]], folder: Path, progress: Progress
) -> list[Run]:
    """The run of the fill battery on each drive, in a folder."""
    done = 0

    class Counting(Observer):
        def closed(self, run: Run) -> None:
            nonlocal done
            done += 1
            progress(done)

    @contextmanager
    def show() -> Iterator[Callable[[str], Observer]]:
        yield lambda name: Counting()

    requests = {
        str(number): Request(
            targets=(text,),
            batteries=BATTERY,
            sets=sets,
            scale=None if divisor == 1 else f"1/{divisor}",
            out=folder / str(number),
            kept=False,
            say=lambda text: None,
        )
        for number, (sets, divisor) in enumerate(drives)
    }
    return request.test_all(requests, show)


def _question(text: str, run: Run) -> dict[str, Any]:
    """What a page asks the core, but for settings, scale and steps."""
    step = next(step for step in run.steps if step.kind == "run")
    job = step.detail["jobs"][0]
    every_ns = step.duration_ns / SAMPLES
    return {
        "spec": text,
        "seed": 1,
        "sample_ns": max(int(every_ns) // 1_000_000, 1) * 1_000_000,
        "job": {
            name: job[name] for name in ("name", "rw", "block_bytes", "depth", "host_ns", "seed")
        },
    }


def _answer(question: Mapping[str, Any], sets: Sequence[str], divisor: int) -> dict[str, Any]:
    """The core's answer to a fill without a rest."""
    steps = [{"fill": {"from": 0, "to": 1}}]
    here = {**question, "sets": list(sets), "scale": f"1/{divisor}", "steps": steps}
    answer: dict[str, Any] = parse_json(_core.play(json.dumps(here)).encode())
    assert "error" not in answer, answer
    return answer


def _findings(run: Run, divisor: int) -> list[tuple[str, str]]:
    """Titles and values of the whole drive: what a smaller drive has less of, times its scale."""
    by_name = {finding.name: finding for finding in run.findings}
    return [
        (by_name[name].title, Shown.of(_of_the_whole(by_name[name], divisor)).text)
        for name in FINDINGS
        if name in by_name
    ]


def _apart(at_full_size: Run, small: Run, divisor: int) -> list[tuple[str, float]]:
    """Findings that both have as a number, and how far off the small drive's is in percent."""
    by_name = {finding.name: _of_the_whole(finding, divisor) for finding in small.findings}
    rows = []
    for finding in at_full_size.findings:
        other = by_name.get(finding.name)
        if finding.name not in FINDINGS or not finding.number or other is None:
            continue
        if other.number is not None:
            rows.append((finding.title, 100 * (other.number / finding.number - 1)))
    return rows


def _of_the_whole(finding: Finding, divisor: int) -> Finding:
    if finding.unit not in SCALED or finding.number is None:
        return finding
    low, high = (None if end is None else end * divisor for end in (finding.low, finding.high))
    means = finding.interval.means if finding.interval is not None else "estimate"
    interval = Interval.of(low, high, means)
    return replace(finding, value=finding.number * divisor, interval=interval)
