"""Twin: a simulated drive behind the drive protocol.

Steps go to `flashtwin._core`, dicts come back. Virtual time: a step costs the simulation's time and
nothing else, and between two steps no time passes, which is why a chain is simply its parts in
turn. Preparation (`Fill`) is a sequential write whose series is dropped, or where that is asked for
one without time (`drives.untimed`). With a store of
preconditioned drives, the steps at the beginning that only prepare are looked up there, and the
drive is loaded once a step needs it. A twin sits on a meter: `meter` has the watts and degrees of
every step, which a reviewer's instrument would show. Invariants: nothing is decided here; what is
seen from outside is `series`, `jobs`, `hist` and `meter`, and the X-ray goes past every conclusion
into its own file; a store changes no result.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from flashtwin import _core, outputs
from flashtwin.catalogue.shorthand import raw_bytes
from flashtwin.drives import memory, pace, untimed
from flashtwin.drives.snapshots import Preparation, Preparing, Store
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.histogram import BUCKETS, summed
from flashtwin.model.job import Job, jobs_json
from flashtwin.model.pace import Pace
from flashtwin.model.series import COLUMNS, Series
from flashtwin.model.step import (
    Ask,
    Chain,
    Fill,
    Flush,
    JobTotals,
    Mark,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Step,
    Trim,
    chained,
    joined,
)
from flashtwin.model.target import Capabilities, DriveInfo, Interrupted, Progress, Watch

# The X-ray of a rest or a preparation has at most so many samples, and none is shorter than half a
# second: what goes on there is slow.
SAMPLES = 1200
SAMPLE_NS = 500_000_000
MOST_SEED = (1 << 63) - 1
_SCALED = re.compile(r"divided by ([0-9]{1,9}) \(--scale\)")
# What is asked of a drive in a step; the answer is as the core gives it.
Work = Callable[[_core.Twin], Mapping[str, Any]]


class Twin:
    """A drive in virtual time. One seed, one answer. Its memory is taken by `open`."""

    def __init__(
        self,
        spec: _core.Spec,
        *,
        seed: int = 1,
        name: str | None = None,
        store: Store | None = None,
        preparation: str = untimed.TIMED,
    ) -> None:
        if not isinstance(seed, int) or not 0 <= seed <= MOST_SEED:
            raise FlashtwinError(
                f"--seed {seed} is not a whole number from 0 to {MOST_SEED}",
                hint="the same seed gives the same noise; 1 is the default",
                exit_code=USAGE,
            )
        self._spec, self._seed, self._store = spec, seed, store
        self._untimed = untimed.is_untimed(spec, preparation)
        self._drive: _core.Twin | None = None
        # The steps so far, while all of them only prepared; and the result of the last one, where
        # the drive after it is kept and was not loaded yet.
        self._preparation: Preparation | None = None
        self._ahead: Result | None = None
        self._info = info_of(spec, name, is_untimed=self._untimed)

    def open(self) -> Self:
        """Make the drive as it leaves the factory."""
        if self._drive is None:
            self._drive = _new(self._spec, self._seed)
            if self._store:
                self._preparation = Preparation(
                    self._store, self._spec, self._seed, is_untimed=self._untimed
                )
        return self

    def pace(self, expected_s: float) -> Pace:
        """How fast this machine simulates it; see `drives.pace`."""
        return pace.pace_of(self._spec, expected_s)

    @classmethod
    def load(
        cls, spec: _core.Spec, path: str | os.PathLike[str], *, name: str | None = None
    ) -> Self:
        """The twin of a spec in the state that `save` wrote; refused under another spec."""
        drive = _loaded(spec, path)
        twin = cls(spec, seed=drive.seed, name=name)
        twin._drive = drive
        return twin

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drive's whole state; what follows is the same in this and in a loaded twin."""
        with outputs.replacing(Path(path)) as part:
            self._core.save(part)

    @property
    def repeat_refusal(self) -> str | None:
        """Why nothing that it does can be repeated without simulating it; none where it can."""
        return self._spec.repeat_refusal()

    def precondition_refusal(self, jobs: Sequence[Job]) -> str | None:
        """Why what jobs write would not leave the drive as in their time; none where it would."""
        return self._spec.precondition_refusal(any(job.rw == "randwrite" for job in jobs))

    def precondition(self, jobs: Sequence[Job], watch: Watch) -> None:
        """Write what jobs write, one after another, without time. Raises `FlashtwinError` where
        that would leave the drive in another state than the same writes in their time."""
        if (why := self.precondition_refusal(jobs)) is not None:
            raise untimed.refusal(self._spec, why, "write the same with do(Fill()) or play")
        core, self._preparation = self._core, None
        try:
            core.precondition(jobs_json(jobs), _progress_to(watch))
        except _core.Stopped as stopped:
            raise Interrupted(untimed.NOTE) from stopped

    def record(self, path: str | os.PathLike[str], from_ns: int, to_ns: int) -> None:
        """From now on, write what goes on between two moments of the drive's clock into a file.

        It is a trace that Perfetto opens: dies, channels and commands, each with its beginning and
        its end. `end_recording` ends it.
        """
        self._core.record(path, self._info.name, from_ns, to_ns)

    def end_recording(self) -> tuple[int, int] | None:
        """End the recording, if there is one: what is recorded, in slices and in bytes."""
        return self._core.end_recording()

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Become the drive that `save` wrote, of this spec and seed; see `model.drive.Keeps`."""
        drive = _loaded(self._spec, path)
        if drive.seed != self._seed:
            raise FlashtwinError(
                f"{path} is the state of a drive with another seed",
                hint="open the drive with the seed that it was saved with",
                exit_code=USAGE,
            )
        self._drive, self._preparation, self._ahead = drive, None, None

    @property
    def info(self) -> DriveInfo:
        """What is known of the drive: its whole spec, as it is simulated."""
        return self._info

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Carry out one step; everything is possible on a twin."""
        try:
            return memory.built(lambda: self._answer(step, _progress_to(watch)))
        except _core.Stopped as stopped:
            raise Interrupted(step.label) from stopped

    def smart(self) -> dict[str, Any]:
        """SMART data now, and what a twin knows beyond it; see `model.drive.TellsSmart`."""
        return self._core.smart()

    def remarks(self) -> list[str]:
        """Which kept drives were damaged; see `model.drive.Remarks`."""
        return self._store.remarks() if self._store else []

    def close(self) -> None:
        """Give the memory back."""
        self._drive = self._preparation = self._ahead = None

    @property
    def simulation(self) -> _core.Twin:
        """The drive itself, for programs that submit their own requests; see `api.twin`."""
        return self._core

    @property
    def _core(self) -> _core.Twin:
        """The drive after the steps so far. It is loaded or made now, if that was put off."""
        if self._drive is None:
            raise FlashtwinError(
                "the drive is not open",
                hint="call open() first, or use it in a with statement",
                exit_code=USAGE,
            )
        if self._ahead and self._preparation:
            # The old drive goes first: there may be no memory for two.
            self._ahead = self._drive = None
            loaded = self._preparation.load()
            self._drive = loaded or _new(self._spec, self._seed)
            if loaded is None:
                for step in self._preparation.steps:
                    self._do(step, lambda bytes_done, ns: True)
        return self._drive

    def _answer(self, step: Step, watch: Callable[[int, int], bool]) -> Result:
        """Carry out a step; for a prepared drive that is kept, the answer is the result that is
        kept with it."""
        if self._preparation is None:
            return self._do(step, watch)
        if isinstance(step, Mark) or (isinstance(step, Ask) and step.of != "smart"):
            return self._marked(step)
        if isinstance(step, Preparing):
            return self._prepared(self._preparation, step, watch)
        _ = self._core
        self._preparation = None
        return self._do(step, watch)

    def _prepared(
        self, preparation: Preparation, step: Preparing, watch: Callable[[int, int], bool]
    ) -> Result:
        prepared = preparation.find(step)
        if prepared:
            self._ahead = prepared
            return replace(prepared, label=step.label)
        drive = self._core
        # After a step that was broken off nothing says what state the drive is in.
        self._preparation = None
        began = time.monotonic()
        result = self._do(step, watch)
        preparation.done(step, result, time.monotonic() - began, drive)
        self._preparation = preparation
        return result

    def _marked(self, step: Step) -> Result:
        """A result in which no time passed."""
        last = self._ahead
        now_ns = last.start_ns + last.duration_ns if last else self._core.now_ns()
        return Result(label=step.label, start_ns=now_ns, duration_ns=0, series=Series.empty())

    def _do(self, step: Step, watch: Callable[[int, int], bool]) -> Result:
        match step:
            case Run():
                return self._run(step, watch)
            case Rest():
                ns = round(step.seconds * 1e9)
                return self._result(
                    step.label, lambda core: core.rest(ns, max(SAMPLE_NS, ns // SAMPLES), watch)
                )
            case Trim():
                return self._result(
                    step.label, lambda core: core.trim(step.offset, self._size(step), watch)
                )
            case Flush():
                return self._result(step.label, lambda core: core.flush(watch))
            case Purge():
                return self._result(step.label, lambda core: core.purge(watch))
            case Ask():
                smart = self.smart() if step.of == "smart" else {}
                return replace(self._marked(step), smart=smart)
            case Fill():
                return self._fill(step, watch)
            case Mark():
                return self._marked(step)
            case Chain():
                parts = tuple(self._do(part, watch) for part in step.parts)
                return replace(chained(step.label, parts), parts=parts)

    def _run(self, step: Run, watch: Callable[[int, int], bool]) -> Result:
        """Jobs; what fio's or a trace's reads do not find on the drive is told."""
        before, sample_ns = self._core.reads_of_nothing, max(round(step.sample_s * 1e9), 1)
        result = self._result(
            step.label, lambda core: core.run(jobs_json(step.jobs), sample_ns, watch)
        )
        count = self._core.reads_of_nothing - before
        if not count or not any(job.fio for job in step.jobs):
            return result
        return replace(result, note=joined([reads_note(count), result.note]))

    def _size(self, step: Trim | Fill) -> int:
        return step.size if step.size is not None else self._info.capacity_bytes - step.offset

    def _fill(self, step: Fill, watch: Callable[[int, int], bool]) -> Result:
        """Preparation: whole blocks, then the rest in units of the map."""
        results = []
        for job in untimed.fill_jobs(step.offset, self._size(step), step.block_bytes, step.depth):
            jobs = jobs_json([job])
            if self._untimed and untimed.is_whole_units(job, self._core.map_unit_bytes):
                run: Work = partial(_precondition, jobs=jobs, watch=watch)
            else:
                run = partial(_prepare, jobs=jobs, watch=watch)
            results.append(self._result(step.label, run))
        if not results:
            return self._marked(step)
        result = chained(step.label, results)
        return Result(
            label=step.label,
            start_ns=result.start_ns,
            duration_ns=result.duration_ns,
            series=Series.empty(),
            jobs=result.jobs,
            xray=result.xray,
            note=joined([untimed.NOTE if self._untimed else None, result.note]),
            meter=result.meter,
        )

    def _result(self, label: str, work: Work) -> Result:
        core = self._core
        before_uj = _meter_of(core)[0]
        answer = work(core)
        series, xray = answer["series"], answer["xray"]
        duration_ns = int(answer["duration_ns"])
        return Result(
            label=label,
            start_ns=int(answer["start_ns"]),
            duration_ns=duration_ns,
            series=Series(**{name: series[name] for name in COLUMNS}) if series else Series.empty(),
            jobs=tuple(JobTotals(**job) for job in answer["jobs"]),
            hist=answer["hist"] | _syncs_of(answer["fio"]),
            xray=xray,
            fio=tuple(answer["fio"]),
            note=waits_note(core),
            meter=_readings(xray, before_uj, duration_ns, core),
        )


def _syncs_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The latencies of the flushes of fio's jobs together; nothing where there are none."""
    bins = summed(row["sync"]["lat_hist"] for row in rows)
    if not bins:
        return {}
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    counts[list(bins)] = list(bins.values())
    return {"sync": counts}


def reads_note(count: int) -> str:
    """The note on reads that found nothing on the drive."""
    reads = "1 read" if count == 1 else f"{count:,} reads"
    return (
        f"{reads} met no data: nothing was written there before, and a drive answers such reads"
        " without its flash"
    )


def waits_note(core: _core.Twin) -> str | None:
    """The note on commands that the drive kept waiting for longer than its spec allows."""
    waits = core.take_waits()
    if waits is None:
        return None
    op, until_ns, span_ns, cause, count = waits
    more = f", and {count - 1:,} more waited beyond the bound" if count > 1 else ""
    return (
        f"a {op} waited {span_ns / 1e9:.1f} s for {cause} until {until_ns / 1e9:.1f} s of the"
        f" drive's time{more}; controller.longest_wait is the bound"
    )


def _loaded(spec: _core.Spec, path: str | os.PathLike[str]) -> _core.Twin:
    """The drive that a snapshot holds."""
    memory.check(spec)
    try:
        return memory.built(lambda: _core.Twin.load(spec, path))
    except OSError as error:
        raise _unread(path, error) from error
    except _core.SnapshotError as error:
        hint = "a snapshot is loaded under the spec and the version that it was taken with"
        raise FlashtwinError(f"{path}: {error}", hint=hint, exit_code=USAGE) from error


def _new(spec: _core.Spec, seed: int) -> _core.Twin:
    """A drive as it leaves the factory; refused where there is no memory for it."""
    memory.check(spec)
    return memory.built(lambda: _core.Twin(spec, seed))


def _precondition(
    core: _core.Twin, jobs: str, watch: Callable[[int, int], bool]
) -> Mapping[str, Any]:
    return core.precondition(jobs, watch)


def _prepare(core: _core.Twin, jobs: str, watch: Callable[[int, int], bool]) -> Mapping[str, Any]:
    return core.run(jobs, SAMPLE_NS, watch)


def _meter_of(core: _core.Twin) -> tuple[int, int]:
    """Microjoules drawn since the drive was made, and its temperature in thousandths of a
    degree."""
    inside = core.smart()["flashtwin"]
    return int(inside["energy"]["energy_uj"]), round(1000 * inside["thermal"]["celsius"])


def _readings(
    xray: Mapping[str, Any], before_uj: int, duration_ns: int, core: _core.Twin
) -> dict[str, Any]:
    """What a meter at the twin read in a step: watts, from the counter of energy, and degrees."""
    ends, counted, degrees = (xray[name] for name in ("t_ns", "energy_uj", "temperature_mc"))
    if not len(ends) and duration_ns:
        # A step that the drive does by itself, a purge: one sample for all of it.
        after_uj, now_mc = _meter_of(core)
        ends, counted, degrees = (np.array([value]) for value in (duration_ns, after_uj, now_mc))
    took = np.diff(ends, prepend=0)
    drawn = np.diff(counted, prepend=before_uj)
    there = took > 0
    return {
        "t_ns": ends[there],
        "dt_ns": took[there],
        "power_uw": np.rint(drawn[there] / took[there] * 1e9).astype(np.int64),
        "temperature_mc": degrees[there],
    }


def _unread(path: str | os.PathLike[str], error: OSError) -> FlashtwinError:
    message = f"cannot read the snapshot {os.fspath(path)}: {error.strerror or error}"
    hint = "look at the path, and at who may read it"
    return FlashtwinError(message, hint=hint, exit_code=ENVIRONMENT)


def info_of(spec: _core.Spec, name: str | None = None, *, is_untimed: bool = False) -> DriveInfo:
    """What is known of the twin of a spec before it is made."""
    return DriveInfo(
        name=name or spec.id,
        kind="twin",
        capacity_bytes=spec.capacity_bytes,
        can=Capabilities(
            virtual_time=True,
            repeatable=True,
            host_time=True,
            trim=True,
            purge=True,
            smart=True,
            power_meter=True,
            thermometer=True,
            xray=True,
        ),
        identity=identity_of(spec) | ({untimed.KEY: untimed.UNTIMED} if is_untimed else {}),
        memory_bytes=spec.memory_bytes,
    )


def identity_of(spec: _core.Spec) -> dict[str, object]:
    """What a manifest says of a twin: the resolved spec value by value, its hash, and the model."""
    (capacity,) = (row for row in spec.values() if row["key"] == "drive.capacity")
    # A spec that was made smaller says so where its capacity comes from, also once it is stored.
    scaled = _SCALED.search(str(capacity.get("source")))
    return {
        "spec": spec.id,
        "name": spec.name,
        "hash": spec.hash,
        "model": _core.MODEL,
        **({"scale": int(scaled[1])} if scaled else {}),
        "raw_bytes": raw_bytes({row["key"]: row["value"] for row in spec.values()}),
        "values": spec.values(),
        "toml": spec.to_toml(),
    }


def _progress_to(watch: Watch) -> Callable[[int, int], bool]:
    return lambda bytes_done, ns: watch(Progress(bytes=bytes_done, drive_s=ns / 1e9))
