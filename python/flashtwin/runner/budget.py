"""What fits into a time: the parts of the batteries that are worth most, and what is left out.

Time is the drive's: of a real one the wall's, with the making of its file; of a twin its virtual
time, so that the same budget chooses the same on a drive and on its twin, and again tomorrow. Parts
are taken in the order of their worth, the first of every battery before the second of any, each if
it still fits by the estimate, which is careful here: a drive past its cache is slow (priors: 16 GB
of a write go at the estimate's rate, the rest at 100 MB/s). On the way estimates are corrected by
what steps that move a given amount of data have taken, and parts that no longer fit are left out
before they begin; once the budget is used up nothing more begins, and a step that is still going
on is cut where its kind allows it: a write of a whole drive gets a runtime beside its bytes, a
timed run a shorter one, a rest is shorter. The drive itself ends it, on its own clock, so a twin
ends it at the same request again tomorrow. What is done as a whole or not at all (a preparation, an
erase, parts that follow without a gap) is given as it is; it is named before the first byte, for it
may overrun.

Invariants: every decision follows from the batteries, the estimate and the journal so far, so a run
that is taken up comes to the same ones; a step that has all the time that it would take gives the
same result as without a bound; what was cut says so, in its result and in the journal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.registry import Part
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import LEFT_OUT, Finding
from flashtwin.model.step import Job, NotPossible, Rest, Result, Run, Step
from flashtwin.model.units import readable_number, rough_seconds
from flashtwin.runner.estimate import can_be_cut

if TYPE_CHECKING:
    from flashtwin.batteries.base.registry import Request
    from flashtwin.model.target import DriveInfo
    from flashtwin.runner.estimate import Estimate, StepEstimate
    from flashtwin.runs.journal import StepRecord


# A step is not begun with fewer seconds left, or with a smaller share of a short budget.
LEAST_S, LEAST_SHARE = 0.5, 0.02
# Nanoseconds to which fio's runtimes are rounded.
GRAIN_NS = 1e6
CACHED_BYTES = 16e9
PAST_CACHE_BYTES_S = 100e6


def careful_s(step: StepEstimate) -> float:
    """Seconds of a step on a drive that is slow past its cache."""
    slow = 0.0 if step.timed else max(step.write_bytes - CACHED_BYTES, 0.0)
    if not slow:
        return step.drive_s
    quick = 1 - slow / step.bytes
    return quick * step.drive_s + slow / PAST_CACHE_BYTES_S


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a battery with the time it takes: `timed_s` in steps that end by the clock,
    `moved_s` in steps that end when their data is moved."""

    battery: str
    part: Part
    rank: int
    timed_s: float
    moved_s: float

    def seconds(self, slower: float = 1.0) -> float:
        """The seconds of the piece on a drive that moves data `slower` times slower than
        estimated."""
        return self.timed_s + slower * self.moved_s

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        seconds = round(self.seconds(), 3)
        return {"battery": self.battery, "part": self.part.title, "seconds": seconds}


class Budget:
    """The choice for one run, and its course."""

    def __init__(
        self, seconds: float, requests: Sequence[Request], info: DriveInfo, estimate: Estimate
    ) -> None:
        self.seconds = seconds
        self._expected = {(step.battery, step.label): step for step in estimate.steps}
        self._pieces: list[Piece] = []
        self._common: dict[str, Piece] = {}
        for request in requests:
            self._divide(request, info, [s for s in estimate.steps if s.battery == request.name])
        self._pieces.sort(key=lambda piece: piece.rank)
        self._made_s = estimate.making_s
        self._begun: set[str] = set()
        self._started: list[Piece] = []
        self._cut: list[Piece] = []
        # Seconds that steps which move a given amount took, and should have taken.
        self._took_s, self._should_s = 0.0, 0.0
        self._chosen = self._choose(self._pieces, seconds - self._made_s)
        if not self._chosen:
            raise self._too_little()
        self._out = [piece for piece in self._pieces if piece not in self._chosen]

    @property
    def left_out(self) -> list[Piece]:
        """The parts that are not done, or not to their end."""
        return sorted([*self._out, *self._cut], key=lambda piece: piece.rank)

    def left_s(self, clock_s: float) -> float:
        """The seconds of the budget that are left at that time of the drive's clock."""
        return max(self.seconds - self._made_s - clock_s, 0.0)

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it: `cut` of a part that began and was not done to its end."""
        rows = [
            {**piece.to_json(), **({"cut": True} if piece in self._cut else {})}
            for piece in self.left_out
        ]
        return {"seconds": self.seconds, "left_out": rows}

    def text(self, remaining: Estimate) -> str:
        """The choice in one line, printed before the first byte."""
        takes = remaining.making_s + sum(careful_s(step) for step in remaining.steps)
        within = f"about {rough_seconds(takes)} of a budget of {rough_seconds(self.seconds)}"
        out = [f"{piece.battery} {piece.part.title}" for piece in self.left_out]
        fits = f"left out: {', '.join(out)}" if out else "all fits"
        if takes > self.seconds:
            fits = "what goes on when it is used up is cut" + (f"; {fits}" if out else "")
        long = [step.label for step in remaining.steps if not step.cuts and step.bytes]
        if remaining.making_s:
            long = ["the making of the file", *long]
        may = f"; may overrun by what is not cut: {', '.join(long)}" if long else ""
        return f"{within}; {fits}{may}"

    def without_left_out(self, estimate: Estimate) -> Estimate:
        """The estimate without what is left out."""
        steps = tuple(step for step in estimate.steps if self._is_chosen(step.battery, step.label))
        return replace(estimate, steps=steps)

    def leaves_out(self, battery: str, step: Step, clock_s: float) -> bool:
        """Whether the budget leaves out this step, which is to begin at `clock_s` on the drive's
        clock. Where its part no longer fits, the whole part is dropped."""
        used_s = self._made_s + clock_s
        piece = self._piece(battery, step.label)
        if piece is None:
            is_chosen = any(chosen.battery == battery for chosen in self._chosen)
            if is_chosen and not self._used_up(used_s):
                self._begun.add(battery)
                return False
            return True
        if piece in self._chosen and self._used_up(used_s):
            self._drop(
                [chosen for chosen in self._chosen if chosen not in self._over(battery, step)]
            )
        elif piece in self._chosen and piece not in self._started:
            waiting = [chosen for chosen in self._chosen if chosen not in self._started]
            fit = self._choose(waiting, self.seconds - used_s, self._started)
            self._drop([chosen for chosen in waiting if chosen not in fit])
        if piece not in self._chosen:
            return True
        self._begun.add(battery)
        if piece not in self._started:
            self._started.append(piece)
        return False

    def ended(self, battery: str, label: str, answer: Result) -> None:
        """A step is over: what it took on the drive's clock corrects the estimate."""
        piece = self._piece(battery, label)
        if answer.cut and piece is not None:
            self._cut.append(piece)
            self._chosen = [chosen for chosen in self._chosen if chosen is not piece]
        if answer.cut:
            return
        expected = self._expected.get((battery, label))
        if expected is not None and not expected.timed and expected.bytes:
            self._took_s += answer.duration_ns / 1e9
            self._should_s += careful_s(expected)

    def _used_up(self, used_s: float) -> bool:
        return self.seconds - used_s < min(LEAST_S, LEAST_SHARE * self.seconds)

    def _over(self, battery: str, step: Step) -> list[Piece]:
        """The pieces that must end once the budget is used up: those begun, but for the one to
        which this step belongs."""
        return [
            piece
            for piece in self._started
            if piece.battery != battery or not piece.part.holds(step.label)
        ]

    def _divide(self, request: Request, info: DriveInfo, steps: Sequence[StepEstimate]) -> None:
        parts = request.battery.parts(request.parameters, info)
        if not parts:
            parts = [Part(title=request.battery.title, labels=tuple(s.label for s in steps))]
        for rank, part in enumerate(parts):
            of_part = [step for step in steps if part.holds(step.label)]
            self._pieces.append(_piece(request.name, part, rank, of_part))
        rest = [step for step in steps if not any(part.holds(step.label) for part in parts)]
        self._common[request.name] = _piece(request.name, Part(title="", labels=()), 0, rest)

    def _choose(
        self, pieces: Iterable[Piece], seconds: float, before: Collection[Piece] = ()
    ) -> list[Piece]:
        """The pieces that fit into the time, the worthiest first; those in `before` are begun
        already."""
        slower = max(self._took_s / self._should_s, 1.0) if self._should_s else 1.0
        chosen: list[Piece] = []
        begun_batteries = set(self._begun)
        for piece in pieces:
            takes = piece.seconds(slower)
            if piece.battery not in begun_batteries:
                takes += self._common[piece.battery].seconds(slower)
            titles = {
                earlier.part.title
                for earlier in (*before, *chosen)
                if earlier.battery == piece.battery
            }
            fits = takes <= seconds or (piece.part.begins and seconds > 0)
            if fits and titles.issuperset(piece.part.needs):
                chosen.append(piece)
                begun_batteries.add(piece.battery)
                seconds -= takes
        return chosen

    def _drop(self, pieces: Sequence[Piece]) -> None:
        self._out += pieces
        self._chosen = [piece for piece in self._chosen if piece not in pieces]

    def _piece(self, battery: str, label: str) -> Piece | None:
        of_battery = (piece for piece in self._pieces if piece.battery == battery)
        return next((piece for piece in of_battery if piece.part.holds(label)), None)

    def _is_chosen(self, battery: str, label: str) -> bool:
        piece = self._piece(battery, label)
        if piece is None:
            return any(chosen.battery == battery for chosen in self._chosen)
        return piece in self._chosen

    def _too_little(self) -> FlashtwinError:
        needless = [piece for piece in self._pieces if not piece.part.needs]
        least = min(
            needless,
            key=lambda candidate: candidate.seconds() + self._common[candidate.battery].seconds(),
        )
        takes = self._made_s + least.seconds() + self._common[least.battery].seconds()
        making = rough_seconds(self._made_s)
        file_note = f", {making} of it to make the file" if self._made_s else ""
        return FlashtwinError(
            f"nothing fits into a budget of {rough_seconds(self.seconds)}: the least,"
            f" {least.battery} {least.part.title}, takes about {rough_seconds(takes)}{file_note}",
            hint="give a longer budget, or less to do: a smaller --size or --scale, or smaller"
            " values of the battery's parameters",
            exit_code=USAGE,
        )


def left_out(
    budget: Mapping[str, Any],
    requests: Sequence[Request],
    info: DriveInfo,
    steps: Sequence[StepRecord],
) -> list[Finding]:
    """A finding for each battery of which the budget left something out, as the manifest says."""
    findings = []
    for request in requests:
        rows = [row for row in budget.get("left_out") or () if row["battery"] == request.name]
        if rows:
            labels = [step.label for step in steps if step.battery == request.name]
            missing = {row["part"] for row in rows if not row.get("cut")}
            parts = [
                part
                for part in request.battery.parts(request.parameters, info)
                if part.title not in missing
            ]
            any_part = any(part.holds(label) for part in parts for label in labels)
            findings.append(_finding(request.name, rows, budget["seconds"], any_part=any_part))
    return findings


def _finding(
    battery: str, rows: Sequence[Mapping[str, Any]], seconds: float, *, any_part: bool
) -> Finding:
    """`any_part`: some part of the battery was done, or was begun and cut."""
    titles = [f"{row['part']} (cut short)" if row.get("cut") else row["part"] for row in rows]
    named = ", ".join(titles) if any_part else "all of it"
    return Finding(
        battery=battery,
        name=LEFT_OUT,
        title="Left out for the budget",
        value=float(len(titles)),
        unit="parts",
        note=f"{named}; the budget was {rough_seconds(seconds)}",
    )


def _piece(battery: str, part: Part, rank: int, steps: Sequence[StepEstimate]) -> Piece:
    return Piece(
        battery=battery,
        part=part,
        rank=rank,
        timed_s=sum(step.drive_s for step in steps if step.timed),
        moved_s=sum(careful_s(step) for step in steps if not step.timed),
    )


@dataclass(frozen=True, kw_only=True)
class BoundStep:
    """A step as the battery asked for it, and as the drive gets it."""

    original: Step
    step: Step
    bytes: int | None = None

    def marked(self, answer: Result | NotPossible) -> Result | NotPossible:
        """The answer, with a word on it where the step ended before it was over."""
        if not isinstance(answer, Result) or not self._ended_early(answer):
            return answer
        cut = f"cut short by the budget after {readable_number(answer.duration_ns / 1e9)} s"
        note = f"{answer.note}; {cut}" if answer.note else cut
        return replace(answer, cut=True, note=note)

    def _ended_early(self, answer: Result) -> bool:
        if self.step == self.original:
            return False
        if isinstance(self.step, Run) and any(job.fio for job in self.step.jobs):
            # Only fio knows how many bytes end a job in its own language.
            return answer.duration_ns >= 1e9 * (_longest_s(self.step) or 0.0) - GRAIN_NS
        if self.bytes is not None:
            return sum(job.bytes for job in answer.jobs) < self.bytes
        return True


def unbound(step: Step) -> BoundStep:
    """The step without a bound of time."""
    return BoundStep(original=step, step=step)


def within(step: Step, seconds: float, capacity_bytes: int) -> BoundStep:
    """The step that ends after a number of seconds at the latest, where its kind allows it."""
    if isinstance(step, Rest):
        return BoundStep(original=step, step=replace(step, seconds=min(step.seconds, seconds)))
    if not isinstance(step, Run) or not can_be_cut(step):
        return unbound(step)
    moved = [_bytes(job, capacity_bytes) for job in step.jobs]
    jobs = tuple(_bounded(job, size, seconds) for job, size in zip(step.jobs, moved, strict=True))
    timed = all(size is None for size in moved)
    total = None if timed else sum(size or 0 for size in moved)
    return BoundStep(original=step, step=replace(step, jobs=jobs), bytes=total)


def _longest_s(step: Run) -> float | None:
    """When time ends the last of the jobs."""
    return max((job.runtime_s + job.ramp_s for job in step.jobs if job.runtime_s), default=None)


def _bytes(job: Job, capacity_bytes: int) -> int | None:
    """What ends the job besides its time; none of a job that only time ends."""
    if job.io_bytes is not None or job.runtime_s is not None or job.fio is not None:
        return job.io_bytes
    return (job.size if job.size is not None else capacity_bytes - job.offset) or None


def _bounded(job: Job, size: int | None, seconds: float) -> Job:
    left_s = max(seconds - job.ramp_s, 1e-3)
    runtime_s = left_s if job.runtime_s is None else min(job.runtime_s, left_s)
    return replace(job, io_bytes=size, runtime_s=runtime_s)
