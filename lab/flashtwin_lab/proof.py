"""The proof of a fit: drives of the prior are measured and fitted; twins predict other tests.

No drive is a candidate of the fit (`blind.strangers`): its firmware is another one, and its host
has noise. It is measured by the batteries fill, discover, crystaldiskmark, states and sync (this on
the erased drive alone) as a run is, and the fit is told nothing of it. Drive and twin are then
simulated on four tests that are not among these: the mean of a write of the second half of a half
full drive, 4 KiB random writes once they are steady, a web server's mix on that drive, and 4 KiB
writes on it that wait for the flash. Each has a 90 % interval, of drives that the run leaves
possible. A target passes unless its one-sided 95 % binomial bound excludes it, as everywhere in
`blind`; of fewer than 19 drives no share is told.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin import _core
from flashtwin.analysis.estimate import student_t
from flashtwin.catalogue.loader import load
from flashtwin.errors import FlashtwinError
from flashtwin.load.drawn import drawn
from flashtwin.model.job import Job, jobs_json
from flashtwin.model.target import Interrupted
from flashtwin.runner import request
from flashtwin.runner.events import Observer
from flashtwin.runner.pool import Ended, Send, Work
from flashtwin.runner.stop import listening
from flashtwin.runner.target import Target, Variant
from flashtwin.runs.rundir import Run
from flashtwin.study.fit.fit import SIMULATIONS, fit
from flashtwin.study.fit.intervals import TELLING
from flashtwin_lab.blind import generate, judge, kinds, shards, strangers
from flashtwin_lab.blind.judge import CampaignDocument, Row
from flashtwin_lab.blind.shards import Shard

BATTERIES = (
    "fill:patterns=128k-q32,passes=1",
    "discover",
    "crystaldiskmark:loops=1,mix=off",
    "states:fills=1",
    "sync:states=fresh,writers=1,seconds=1s",
)
CAPACITY_GB = 8
REST_NS = 60_000_000_000
SAMPLE_NS = 50_000_000
# Random writes of so many capacities, the last of which counts as steady, or as much of one.
RANDOM, STEADY, WEB = 2.5, 0.5, 0.2
# Writes that wait for the flash, on that full drive.
SYNC_WRITES = 4000
AT_LEAST, HOLDS = 0.8, 0.9
# Drives that the run leaves possible and that are simulated.
DRAWS = 8
# The name of this campaign in files of `blind --append`.
KIND = "fit"
# The memory that the work on a drive takes.
FIT_BYTES = 400 << 20
# The predictions that are asked, and how near they have to be.
NEAR = {
    "fill at 50 % full": 0.05,
    "steady 4 KiB random write": 0.25,
    "web server's mix": 0.25,
    "sync 4 KiB write": 0.25,
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What is done to each drive: the batteries that measure it, its size, the search's simulated
    drives, and the drives that are drawn of what the run leaves possible."""

    batteries: Sequence[str]
    gb: float
    simulations: int
    draws: int


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """A drive: its own kind of cache, its twin's, and the twin's rates over the drive's.

    `inside`: of each prediction whether its 90 % interval holds the drive's rate; `wide`: the
    interval's upper end over its lower one. `cpu_s`: what measuring, fitting and predicting took of
    a processor. `error`: why it could not be fitted; there are no rates then.
    """

    name: str
    kind: str
    structure: str
    ratios: Mapping[str, float]
    held: Mapping[str, bool]
    inside: Mapping[str, bool]
    wide: Mapping[str, float]
    cpu_s: float = 0.0
    error: str | None = None

    @property
    def right(self) -> dict[str, bool]:
        """Which predictions are near enough."""
        return {
            name: name in self.ratios and abs(self.ratios[name] - 1) <= near
            for name, near in NEAR.items()
        }

    @property
    def told(self) -> str:
        """The drive in a line."""
        if self.error is not None:
            return f"{self.name} could not be fitted: {self.error}"
        ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in self.ratios.items())
        not_held = [name for name, held in self.held.items() if not held]
        missed = f"; intervals that miss: {', '.join(not_held)}" if not_held else ""
        return f"{self.name} as {self.structure}: {ratios}{missed}"


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Rows of the table, and every drive."""

    rows: tuple[Row, ...]
    drives: tuple[Predicted, ...]

    @property
    def missed(self) -> int:
        return sum(not row.passes for row in self.rows)

    def worst_lines(self) -> list[str]:
        """Each kind in a line, then every drive, first those that were not predicted."""
        lines = []
        for kind in sorted({drive.kind for drive in self.drives}):
            drives = [drive for drive in self.drives if drive.kind == kind]
            right = ", ".join(f"{name} {sum(d.right[name] for d in drives)}" for name in NEAR)
            lines.append(f"{kind}, of {_of(len(drives))}: {right}")
        far = [f"not near: {drive.told}" for drive in self.drives if not all(drive.right.values())]
        near = [f"near: {drive.told}" for drive in self.drives if all(drive.right.values())]
        return [*lines, *far, *near]

    def document(self) -> CampaignDocument:
        """As `flashtwin blind --json` prints it."""
        return CampaignDocument([row.document() for row in self.rows], missed=self.missed)


def proof(
    count: int,
    seed: int,
    *,
    simulations: int = SIMULATIONS,
    on_end: Callable[[int, str], None] | None = None,
    append: Path | None = None,
) -> Proof:
    """Measure, fit and predict so many drives, on every core; `on_end` is told each in words.
    `append`: the file of a proof in pieces, of which all drives count."""
    prior = generate.read_prior()
    trial = Trial(batteries=BATTERIES, gb=CAPACITY_GB, simulations=simulations, draws=DRAWS)
    works = [
        Work(
            call=partial(_worked_on, prior, trial, seed, number),
            memory_bytes=FIT_BYTES,
        )
        for number in range(count)
    ]

    def failed(ended: Ended) -> Predicted:
        name = strangers.name_of(prior, seed, ended.number, CAPACITY_GB)
        return _not_fitted(name, kinds.kind_of(prior, ended.number), _why(ended))

    def told(done: int, drive: Predicted) -> None:
        if on_end is not None:
            on_end(done, drive.told)

    shard = Shard(kind=KIND, path=append, seed=seed, of_json=_of_json)
    drives = shard.drives(works, told, failed)
    return Proof(rows=tuple(rows(drives)), drives=tuple(drives))


def kept(path: Path) -> list[shards.Kept]:
    """The drives that a proof in pieces has kept in a file, each a `Predicted`."""
    return shards.kept(path, KIND, _of_json)


def _of_json(fields: Mapping[str, Any]) -> Predicted:
    return Predicted(**fields)


def _why(ended: Ended) -> str:
    """Why a drive's work gave nothing, in a line."""
    if ended.error is not None:
        return ended.error.message
    if ended.mistake is not None:
        return ended.mistake.strip().splitlines()[-1]
    return f"its process was killed (exit code {ended.exit_code})"


def _not_fitted(name: str, kind: str, why: str) -> Predicted:
    return Predicted(
        name=name, kind=kind, structure="", ratios={}, held={}, inside={}, wide={}, error=why
    )


def _of(count: int) -> str:
    """How many drives, and whether they are enough to tell a share."""
    return f"{count}" if count >= TELLING else f"{count} (fewer than {TELLING})"


def rows(drives: Sequence[Predicted]) -> Iterator[Row]:
    """What was reached of each target, over all drives."""
    for name, near in NEAR.items():
        right = sum(drive.right[name] for drive in drives)
        off = [abs(drive.ratios[name] - 1) for drive in drives if name in drive.ratios]
        middle = f"; median off by {np.median(off):.1%}" if off else ""
        yield _row(name, f"within {near:.0%}", right, len(drives), middle)
    all_right = sum(all(drive.right.values()) for drive in drives)
    yield _row("all four", "each within its bound", all_right, len(drives), "")
    for name in NEAR:
        inside = [drive.inside[name] for drive in drives if name in drive.inside]
        if inside:
            held = sum(inside)
            yield Row(
                finding=f"90 % interval: {name}",
                target=f"{HOLDS:.0%} hold",
                found=f"{held} of {_of(len(inside))}; median {_factor(drives, name)}",
                n=len(inside),
                passes=judge.reaches(held, len(inside), HOLDS),
            )
    holds = [hold for drive in drives for hold in drive.held.values()]
    if holds:
        yield _row("intervals of cache and rates", "hold the truth", sum(holds), len(holds), "")


def off(drive: Predicted) -> float:
    """How far the worst prediction of a drive is off, in the bounds of what is asked."""
    if drive.error is not None:
        return math.inf
    return max(abs(drive.ratios[name] - 1) / near for name, near in NEAR.items())


def _factor(drives: Sequence[Predicted], name: str) -> str:
    """How wide the intervals of a prediction are, in words."""
    wide = [drive.wide[name] for drive in drives if name in drive.wide]
    return f"a factor of {np.median(wide):.2f} wide"


def _row(name: str, what_for: str, right: int, count: int, more: str) -> Row:
    return Row(
        finding=f"twin: {name}",
        target=f"{what_for} in {AT_LEAST:.0%}",
        found=f"{right} of {_of(count)}{more}",
        n=count,
        passes=judge.reaches(right, count, AT_LEAST),
    )


def _worked_on(
    prior: Mapping[str, Any],
    trial: Trial,
    seed: int,
    number: int,
    _send: Send,
) -> Predicted:
    """The drive `number` of a campaign, in a worker."""
    try:
        drive = strangers.stranger(prior, seed, number, trial.gb)
        return _predicted(drive, number, trial)
    except FlashtwinError as error:
        name = strangers.name_of(prior, seed, number, trial.gb)
        kind = kinds.kind_of(prior, number)
        return _not_fitted(name, kind, "; ".join(str(error).splitlines()))


def _predicted(drive: strangers.Stranger, number: int, trial: Trial) -> Predicted:
    began_s = time.process_time()
    with listening() as stop, tempfile.TemporaryDirectory() as folder:

        def tell(_count: int, _label: str) -> None:
            if stop.asked:
                raise Interrupted("stopped while a drive was fitted")

        place = Path(folder) / "run"
        target = Target(name="stranger", make=partial(drive.drive, number))
        wanted = request.Request(
            targets=(target,), batteries=",".join(trial.batteries), out=place, kept=False
        )
        request.test(wanted, _unseen)
        twin = fit(Run(place), simulations=trial.simulations, seed=1, cores=1, tell=tell)
        twin.write(Path(folder) / "twin.toml")
        possible = _possible(Path(folder) / "twin.toml", trial.draws)
        predicted = [rates(variant.spec()) for variant in possible]
    true, fitted = rates(drive.spec), rates(load(twin.toml))
    intervals = twin.fitted.intervals
    ends = {name: _ends([fitted[name], *(each[name] for each in predicted)]) for name in NEAR}
    return Predicted(
        name=drive.name,
        kind=drive.kind,
        structure=f"{twin.fitted.space.structure.name}, {twin.fitted.space.structure.past}",
        ratios={name: fitted[name] / true[name] for name in NEAR},
        held={
            name: low <= value <= high
            for name, value in drive.inside.items()
            if name in intervals
            for low, high in [intervals[name]]
        },
        inside={name: low <= true[name] <= high for name, (low, high) in ends.items()},
        wide={name: high / low for name, (low, high) in ends.items()},
        cpu_s=time.process_time() - began_s,
    )


def _possible(path: Path, draws: int) -> list[Variant]:
    """Twins that the run leaves possible, evenly over their weights."""
    twin = Variant(drive=str(path), kept=False)
    return [variant for _, variant in drawn(twin, 1, draws, _exists)]


def _exists(variant: Variant) -> bool:
    try:
        variant.spec()
    except FlashtwinError:
        return False
    return True


def _ends(rates_of_twins: Sequence[float]) -> tuple[float, float]:
    """The 90 % interval of a prediction: where one more of such drives would be."""
    logs = np.log(rates_of_twins)
    middle, count = float(logs.mean()), len(logs)
    if count < 2:
        return math.exp(middle), math.exp(middle)
    reach = student_t(count - 1, HOLDS) * float(logs.std(ddof=1)) * math.sqrt(1 + 1 / count)
    return math.exp(middle - reach), math.exp(middle + reach)


@contextmanager
def _unseen() -> Iterator[Callable[[str], Observer]]:
    yield lambda _name: Observer()


def rates(spec: _core.Spec) -> dict[str, float]:
    """The rates of a drive on the four tests, in bytes a second."""
    capacity, half = spec.capacity_bytes, spec.capacity_bytes // 2 >> 20 << 20

    def job(rw: Any, block: int, **more: Any) -> str:
        fields = {"depth": 32, "host_ns": 5000, "size": capacity // block * block, **more}
        return jobs_json([Job(name="test", rw=rw, block_bytes=block, **fields)])

    def amount(share: float) -> int:
        return int(share * capacity) // 4096 * 4096

    write, random = 128 << 10, 4096
    by_half = [
        (job("write", write, size=half), SAMPLE_NS),
        ("", REST_NS),
        (job("write", write, offset=half, size=half), SAMPLE_NS),
    ]
    steady = [
        (job("write", write), SAMPLE_NS),
        (job("randwrite", random, io_bytes=amount(RANDOM)), SAMPLE_NS),
        (job("randwrite", random, io_bytes=amount(STEADY), seed=2), SAMPLE_NS),
        (job("randrw", random, io_bytes=amount(WEB), read_percent=80, seed=3), SAMPLE_NS),
        (job("randwrite", random, depth=1, sync=True, io_bytes=random * SYNC_WRITES), SAMPLE_NS),
    ]
    tests = [(spec, 1, steps) for steps in (by_half, steady)]
    fills, loads = _core.simulate(tests, 1)
    steps = (fills[2], loads[2], loads[3], loads[4])
    return dict(zip(NEAR, (_mean(step) for step in steps), strict=True))


def _mean(step: Mapping[str, Any]) -> float:
    return float(step["series"]["bytes"].sum() / (step["duration_ns"] / 1e9))
