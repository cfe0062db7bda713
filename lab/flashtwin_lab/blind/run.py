"""A campaign: so many drives drawn, measured, analysed and judged, on every core.

Each drive is drawn from the campaign's seed and its own number, so that one of them can be had
again alone and the order in which they end does not matter. Threads would share Python's lock with
the analysis, which takes as long as the drive: processes it is.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner.pool import Ended, Pool, Send, Work
from flashtwin.runner.stop import listening
from flashtwin_lab.blind import detect, generate, judge, negatives
from flashtwin_lab.blind.judge import CampaignDocument, Judged, Row
from flashtwin_lab.blind.truth import Measured, Truth

DRIVE_BYTES = 200 << 20
WORST = 5
# Numbers of the drives that negatives are made of, and how many a program may draw for each until
# one has no cache.
NEGATIVES_FROM, TRIES = 1_000_000, 64


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """Rows of the table, and every drive's judgement."""

    rows: tuple[Row, ...]
    drives: tuple[Judged, ...]

    @property
    def missed(self) -> int:
        return sum(not row.passes for row in self.rows)

    @property
    def worst(self) -> list[Judged]:
        """The drives that were judged worst."""
        wrong = [drive for drive in self.drives if drive.badness > 0]
        return sorted(wrong, key=lambda drive: -drive.badness)[:WORST]

    def worst_lines(self) -> list[str]:
        """The drives that were judged worst, in words."""
        lines = []
        for drive in self.worst:
            wrong = [name for name, right in drive.right.items() if not right]
            errors = [
                f"{name} off by {max(errors):.1%}"
                for name, errors in drive.errors.items()
                if max(errors, default=0.0) > 0.01
            ]
            with_what = f" with {', '.join(drive.effects)}" if drive.effects else ""
            reasons = "; ".join([*(f"wrong: {name}" for name in wrong), *errors])
            lines.append(f"worst: {drive.name}{with_what}: {reasons}")
        return lines

    def document(self) -> CampaignDocument:
        """As `flashtwin blind --json` prints it."""
        return CampaignDocument([row.document() for row in self.rows], missed=self.missed)


def campaign(
    count: int,
    seed: int,
    *,
    generator: Path | None = None,
    detector: Path | None = None,
    on_end: Callable[[int, str], None] | None = None,
) -> Campaign:
    """Run it. `generator` is another prior (.toml) or a program (.py); `detector` a program. As
    many negatives are drawn beside the drives, unless the generator has none without a cache."""
    is_program = generator is not None and generator.suffix == ".py"
    prior = generate.read_prior(None if is_program else generator)
    if detector is not None:
        detect.from_file(detector)
    program = generator if is_program else None
    works = [
        Work(call=partial(call, prior, program, detector, seed, number), memory_bytes=DRIVE_BYTES)
        for number in range(count)
        for call in (_drive, _negative)
    ]
    drives = [drive for drive in pooled(works, named(on_end)) if drive is not None]
    targets = [*prior["targets"], *negatives.TARGETS]
    return Campaign(rows=tuple(judge.rows(drives, targets)), drives=tuple(drives))


def named(on_end: Callable[[int, str], None] | None) -> Callable[[int, Any], None] | None:
    """What tells `on_end` the name of what the last piece of work gave."""
    return (
        None if on_end is None else lambda count, value: on_end(count, value.name if value else "")
    )


def pooled(
    works: Sequence[Work],
    on_end: Callable[[int, Any], None] | None,
    failed: Callable[[Ended], Any] | None = None,
) -> list[Any]:
    """What each piece of work gave, in their order, on every core; `on_end` is told how many are
    done and what the last gave.

    `failed` makes of work that gave nothing what counts in its place; without it this
    raises `FlashtwinError`.
    """
    done: dict[int, Any] = {}
    with listening() as stop:
        for happened in Pool().run(works, stop):
            assert isinstance(happened, Ended), "a drive tells nothing on its way"
            if happened.failed and failed is not None:
                value = failed(happened)
            else:
                value = _value_of(happened)
            done[happened.number] = value
            if on_end is not None:
                on_end(len(done), value)
        if stop.asked:
            raise Interrupted("stopped; nothing is kept of a blind campaign")
    return [done[number] for number in range(len(works))]


def _value_of(ended: Ended) -> Any:
    if ended.error is not None:
        raise ended.error
    if ended.failed:
        raise FlashtwinError(
            f"drive {ended.number} could not be measured: "
            f"{ended.mistake or 'its process was killed'}",
            exit_code=ENVIRONMENT,
        )
    return ended.value


def _drive(
    prior: Mapping[str, Any],
    program: Path | None,
    detector: Path | None,
    seed: int,
    number: int,
    _send: Send,
) -> Judged:
    return _judged(drawn(prior, program, seed, number), detector)


def _negative(
    prior: Mapping[str, Any],
    program: Path | None,
    detector: Path | None,
    seed: int,
    number: int,
    _send: Send,
) -> Judged | None:
    measured = negative(prior, program, seed, number)
    return None if measured is None else _judged(measured, detector)


def _judged(measured: Measured, detector: Path | None) -> Judged:
    analyse = detect.ours if detector is None else detect.from_file(detector)
    return judge.judged(measured, analyse(measured))


def drawn(prior: Mapping[str, Any], program: Path | None, seed: int, number: int) -> Measured:
    """The drive `number` of the prior or of a program."""
    if program is None:
        return generate.measured(prior, seed, number)
    return _of_program(program, seed, number)


def negative(
    prior: Mapping[str, Any], program: Path | None, seed: int, number: int
) -> Measured | None:
    """A fill of the same generator that looks as if a cache ended, and none did; none where the
    generator draws no drive without a cache."""
    even = [design for design in prior["designs"] if _has_no_cache(design)]
    # Each kind in turn is made of one drive, which costs more than what is made of it.
    block = NEGATIVES_FROM + number // len(negatives.LAWS) * TRIES
    drive = _even(json.dumps({**prior, "designs": even}), program, seed, block)
    return None if drive is None else negatives.negative(drive, seed, number)


@lru_cache(maxsize=1)
def _even(prior: str, program: Path | None, seed: int, first: int) -> Measured | None:
    """A drive without a cache, of a prior or a program; none where neither draws one."""
    if program is None:
        document = json.loads(prior)
        return generate.measured(document, seed, first) if document["designs"] else None
    for number in range(first, first + TRIES):
        drive = _of_program(program, seed, number)
        if drive.truth.cache_bytes is None:
            return drive
    return None


def _has_no_cache(design: Mapping[str, Any]) -> bool:
    return design["name"] == "none" or design.get("structure") == "none"


def _of_program(program: Path, seed: int, number: int) -> Measured:
    """A drive of another's generator: a file with generate(seed, number) that returns a dict.

    Its keys: t_ns, dt_ns, bytes (arrays), capacity_bytes, and truth with visible, cache_bytes,
    fold_bytes, and plateaus as [start, end, speed].
    """
    try:
        document = runpy.run_path(str(program))["generate"](seed, number)
        truth = document["truth"]
        columns = [np.asarray(document[key], dtype=np.int64) for key in ("t_ns", "dt_ns", "bytes")]
        return Measured(
            name=str(document.get("name", number)),
            t_ns=columns[0],
            dt_ns=columns[1],
            bytes=columns[2],
            capacity_bytes=int(document["capacity_bytes"]),
            truth=Truth(
                design=str(truth.get("design", "")),
                visible=truth["visible"],
                cache_bytes=truth["cache_bytes"],
                fold_bytes=truth.get("fold_bytes"),
                plateaus=tuple((a, b, speed) for a, b, speed in truth["plateaus"]),
            ),
        )
    except (OSError, SyntaxError, KeyError, TypeError, ValueError) as error:
        raise FlashtwinError(
            f"--generator {program}: {type(error).__name__}: {error}",
            hint="flashtwin_lab/blind/run.py says what generate(seed, number) returns",
            exit_code=USAGE,
        ) from error
