"""The cost of a trace's requests on a drive: time and flash, the same on every machine.

The requests go to a twin one after another, each when the one before is answered, as a single
thread would wait for them; the times of the trace do not count, so that neither the machine that
recorded it nor the one that judges it is in the result. Afterwards the drive rests until what it
put off (folding, collection) is done, and all that it programmed counts. Virtual time has no noise:
two traces with the same requests cost the same to the nanosecond.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from flashtwin import _core
from flashtwin.drives import serving
from flashtwin.drives.twin import reads_note
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.fio.language.script import script
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import PhaseResult, plan
from flashtwin.fio.plan.traces import Replaying
from flashtwin.fio.run import FioTwin, check_memory, run_plan
from flashtwin.load.profile import profile
from flashtwin.load.words import Change, Cost, Kind
from flashtwin.model.fio_job import Reading
from flashtwin.model.histogram import percentiles_of
from flashtwin.model.target import Progress
from flashtwin.model.units import readable_period, readable_size, significant
from flashtwin.runner.target import Variant

# An hour of rest: folding and collection that a drive put off are done by then.
REST_S = 3600.0
SHARES = (50.0, 99.0, 99.9)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A figure that a change may make worse: its name, its unit, and how it is read."""

    name: str
    unit: Literal["ns", "bytes", "1"]
    of: Callable[[Cost], int]


MEASURES = (
    Measure(name="time", unit="ns", of=lambda cost: cost.time_ns),
    Measure(name="flash bytes", unit="bytes", of=lambda cost: cost.programmed_bytes),
    Measure(name="bytes written", unit="bytes", of=lambda cost: cost.host_bytes),
    Measure(name="requests", unit="1", of=lambda cost: cost.requests),
    Measure(name="syncs", unit="1", of=lambda cost: cost.sync.count),
    Measure(name="places written in part", unit="1", of=lambda cost: cost.partial_writes),
)


def cost(
    trace: Path,
    variant: Variant,
    state: str = "full",
    reading: Reading | None = None,
    watch: Callable[[Progress], bool] = lambda progress: True,
) -> Cost:
    """Put a trace to a drive in a state; see `drives.serving.STATES`.

    A full drive has data wherever the trace reads, and its cache is as small as it gets.
    """
    spec = variant.spec()
    # A trace that cannot be read is told before a drive is filled.
    profiled = profile(trace, reading)
    words = (
        "--name=trace",
        f"--read_iolog={str(trace).replace(':', chr(92) + ':')}",
        "--ioengine=libaio",
        "--iodepth=1",
        "--replay_no_stall=1",
    )
    target = Target(name=variant.drive, bytes=spec.capacity_bytes, unit_bytes=spec.map_unit_bytes)
    replaying = Replaying(reading=reading or Reading(), is_shaped=False)
    planned = plan(script(words).jobs, target, replaying=replaying)
    check_memory(spec, planned)
    with closing(serving.prepared(spec, state, variant.seed)) as prepared:
        drive = FioTwin(spec, seed=variant.seed, drive=prepared.simulation)
        drive.rest(REST_S)
        before = _written(drive)
        (phase,) = run_plan(drive, planned, watch)
        _refuse_failed(phase, trace)
        drive.rest(REST_S)
        after, missed = _written(drive), drive.reads_of_nothing
    row = phase.rows[0]
    return Cost(
        trace=trace.name,
        drive=spec.id,
        state=state,
        hash=spec.hash,
        model=_core.MODEL,
        time_ns=row["ended_ns"] - row["started_ns"],
        reads_of_nothing=missed,
        partial_writes=profiled.load.places.partial_writes,
        host_bytes=after[0] - before[0],
        programmed_bytes=after[1] - before[1],
        read=_kind(row["read"]),
        write=_kind(row["write"]),
        trim=_kind(row["trim"]),
        sync=_syncs(row["sync"]),
        remarks=profiled.remarks,
    )


def changes(after: Sequence[Cost], before: Sequence[Cost]) -> list[Change]:
    """Each figure of a trace beside that of another one on the same drives."""
    rows = []
    for spent, base in zip(after, before, strict=True):
        for measure in MEASURES:
            now, then = measure.of(spent), measure.of(base)
            rows.append(
                Change(
                    drive=spent.drive,
                    measure=measure.name,
                    unit=measure.unit,
                    before=then,
                    after=now,
                    ratio=now / then if then else None,
                )
            )
    return rows


def sentence(of: Cost) -> str:
    """The cost in one sentence."""
    took = readable_period(of.time_ns / 1e9)
    waf = "" if of.waf is None else f", {significant(of.waf, 3)} for each byte written"
    parts = [
        f"{kind.count:,} {name}"
        for name, kind in (
            ("reads", of.read),
            ("writes", of.write),
            ("TRIMs", of.trim),
            ("syncs", of.sync),
        )
        if kind.count
    ]
    return (
        f"{of.trace} on {of.drive} ({of.state}): {took} for {', '.join(parts)}, and"
        f" {readable_size(of.programmed_bytes)} of flash{waf}."
    )


def notes(of: Cost) -> list[str]:
    """Remarks that a reader of the cost needs."""
    lines = [f"{of.trace}: {text}" for text in of.remarks]
    if of.reads_of_nothing:
        lines.append(f"{of.drive}: {reads_note(of.reads_of_nothing)}")
    return lines


def _written(drive: FioTwin) -> tuple[int, int]:
    counted = drive.smart()["flashtwin"]["waf"]
    return int(counted["host_bytes"]), int(counted["programmed_bytes"])


def _refuse_failed(phase: PhaseResult, trace: Path) -> None:
    """A replay that ended early has no cost."""
    failure = phase.rows[0]["failure"] if phase.rows else None
    if phase.stopped or failure:
        why = failure[1] if failure else "it was stopped"
        raise FlashtwinError(
            f"the drive did not take all of {trace.name}: {why}",
            hint="take a drive or a state that holds what the trace writes",
            exit_code=USAGE,
        )


def _kind(side: _core.FioSide) -> Kind:
    return _waited(side["ios"], side["bytes"], side["lat"], side["lat_hist"])


def _syncs(sync: _core.FioSync) -> Kind:
    return _waited(sync["issued"], 0, sync["lat"], sync["lat_hist"])


def _waited(count: int, moved: int, lat: _core.Moments, hist: dict[int, int]) -> Kind:
    at = percentiles_of(hist, SHARES) if hist else dict.fromkeys(SHARES, 0)
    p50, p99, p999 = (at[share] for share in SHARES)
    return Kind(
        count=count,
        bytes=moved,
        waited_ns=round(lat["mean"] * lat["count"]),
        p50_ns=p50,
        p99_ns=p99,
        p999_ns=p999,
    )
