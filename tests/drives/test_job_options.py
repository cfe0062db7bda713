"""A job in fio's options: read back as the same job, run as fio runs it, refused by its field."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from abuse import fio_beside
from fio.real_fio import accepts
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from flashtwin.drives.real.engines import LINUX
from flashtwin.drives.real.jobfile import impossible, job_file, plain_job_file
from flashtwin.drives.real.options import options_of, section_text, unsaid
from flashtwin.drives.real.real import Real
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan
from flashtwin.model.fio_job import (
    Batch,
    Blocks,
    Distribution,
    Ends,
    Fio,
    Flow,
    Gate,
    LatencyTarget,
    Logs,
    Pace,
    Sequence,
    Span,
    Steady,
    Strides,
    Syncs,
    Think,
    Trace,
)
from flashtwin.model.job import Job, job_of
from flashtwin.model.step import Chain, NotPossible, Rest, Run
from flashtwin.runs.export.job_files import step_of

MIB = 1 << 20
TARGET = Target(name="target", bytes=16 * MIB)
WHOLE = Span(start=0, bytes=TARGET.bytes)
READS = Job(name="job0", rw="randread", block_bytes=4096, size=MIB)


def fio_job(rw: str = "randrw", **fields: Any) -> Job:
    """One of fio's processes over the whole target, as a plan makes it."""
    fio: dict[str, Any] = {"spans": (replace(WHOLE, size=WHOLE.bytes),), "blocks": one_size(4096)}
    job = Job(name="job0", rw=rw, block_bytes=4096, depth=4)  # type: ignore[arg-type]
    own = {name: fields.pop(name) for name in ("depth", "io_bytes", "runtime_s") if name in fields}
    return replace(job, **own, fio=Fio(**{**fio, **fields}))


def one_size(size: int) -> tuple[Blocks, Blocks, Blocks]:
    return (Blocks(least=size, most=size),) * 3


# ------------------------------------------------------------------------------------ drawn jobs

SIZES = st.sampled_from([512, 4096, 8192, 65536, 12288, 5000])
COUNTS = st.integers(1, 40)
TIMES = st.integers(1, 5000).map(lambda us: us * 1000)


@st.composite
def blocks(draw: st.DrawFn) -> Blocks:
    low, high = sorted([draw(SIZES), draw(SIZES)])
    shape = draw(st.sampled_from(["one", "range", "split"]))
    align = draw(st.sampled_from([None, None, 4096]))
    if shape == "one" or low == high:
        return Blocks(least=low, most=low, align=align)
    if shape == "range":
        return Blocks(least=low, most=high, align=align)
    share = draw(st.integers(0, 100))
    split = ((high, share), (low, 100 - share))
    return Blocks(least=low, most=high, split=split, align=align)


TRIPLES = st.tuples(*[st.sampled_from([0, 1000, 2000])] * 3).filter(any)
LAWS = st.one_of(
    st.builds(Distribution, kind=st.just("zipf"), value=st.sampled_from([0.9, 1.2])),
    st.builds(Distribution, kind=st.just("pareto"), value=st.just(0.3), center=st.just(0.25)),
    st.just(Distribution(kind="zoned", zones=(((60, 10), (40, 90)),) * 3)),
    st.just(Distribution(kind="zoned_abs", zones=(((60, MIB), (40, 15 * MIB)),) * 3)),
    st.just(Distribution(kind="normal", value=20.0)),
)
# What a process of fio's may say beside its pattern and its sizes, each by itself.
MECHANISMS: dict[str, st.SearchStrategy[Any]] = {
    "random_percent": st.sampled_from([(30, 30, 30), (100, 0, 50)]),
    "distribution": LAWS,
    "number_ios": COUNTS,
    "loops": st.integers(2, 3),
    "start_ns": TIMES,
    "pace": st.one_of(
        st.builds(Pace, bytes_s=TRIPLES, poisson=st.booleans(), ignore_think=st.booleans()),
        st.builds(Pace, iops=TRIPLES, cycle_ns=st.just(5_000_000)),
        st.just(Pace(bytes_s=(2000, 0, 0), min_bytes_s=(1000, 0, 0))),
    ),
    "think": st.one_of(
        st.builds(Think, ns=TIMES, blocks=COUNTS, count=st.sampled_from(["complete", "issue"])),
        st.just(Think(ns=9000, spin_ns=4000, blocks=None, iotime_ns=2_000_000)),
    ),
    "batch": st.sampled_from(
        [
            Batch(submit=3),
            Batch(complete_min=2),
            Batch(complete_min=1, complete_max=4),
            Batch(low=2),
        ]
    ),
    "flow": st.builds(Flow, weight=COUNTS, id=COUNTS, sleep_ns=TIMES),
    "syncs": st.builds(
        Syncs,
        fsync_every=COUNTS,
        fdatasync_every=COUNTS,
        at_end=st.booleans(),
        on_close=st.booleans(),
    ),
    "latency_target": st.builds(
        LatencyTarget, ns=TIMES, window_ns=TIMES, percentile=st.sampled_from([99.9, 100.0])
    ),
    "max_latency_ns": st.just((5_000_000_000, 5_000_000_000, 5_000_000_000)),
    "steady": st.builds(
        Steady,
        metric=st.sampled_from(["iops", "bw"]),
        slope=st.booleans(),
        limit=st.sampled_from([0.25, 20.0]),
        duration_s=st.integers(2, 9),
        ramp_ns=TIMES,
    ),
    "ends": st.sampled_from(
        [
            Ends(all=True, what="all"),
            Ends(on_error=True, what="all", continue_reads=True),
            Ends(continue_reads=True, continue_writes=True),
        ]
    ),
    "files_end_once": st.just(True),
    "strides": st.builds(Strides, size=st.just(65536), range=st.just(131072), skip=st.just(4096)),
    "blocks_by_order": st.just(True),
    "blocks_unaligned": st.just(True),
}
# These do not go together in one job, in fio neither.
APART = [{"loops", "files_end_once"}, {"distribution", "random_percent"}]


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    rw = draw(st.sampled_from(["read", "write", "rw", "randread", "randwrite", "randrw"]))
    chosen = draw(st.sets(st.sampled_from(sorted(MECHANISMS)), max_size=5))
    for pair in APART:
        chosen -= {sorted(pair)[0]} if pair <= chosen else set()
    if not rw.startswith("rand"):
        chosen -= {"distribution"}
    said = {name: draw(MECHANISMS[name]) for name in sorted(chosen)}
    sizes = (draw(blocks()), draw(blocks()), draw(blocks()))
    if any(one.align for one in sizes):
        # ba is one value for all directions, or one for each.
        reads, writes, trims = (replace(one, align=one.align or one.least) for one in sizes)
        sizes = (reads, writes, trims)
    grains = any(one.align not in (None, one.least) for one in sizes)
    random_map = not grains and "distribution" not in said and draw(st.booleans())
    # Without a map fio's lfsr counts blocks of the least size of any direction.
    lfsr = not grains and (random_map or len({one.least for one in sizes}) == 1)
    random = rw.startswith("rand")
    order = Sequence(
        every=draw(st.sampled_from([1, 1, 8, 0])) if random else 1,
        add_bytes=0 if random else draw(st.sampled_from([0, 0, 4096, -8192])),
        identical=draw(st.booleans()),
    )
    at = draw(st.sampled_from([0, MIB]))
    runtime = draw(st.sampled_from([None, 1.5]))
    fio = Fio(
        spans=(replace(WHOLE, offset=at, size=draw(st.sampled_from([MIB, 3 * MIB]))),),
        blocks=sizes,
        sequence=order,
        random_map=random_map,
        random_starts=lfsr and draw(st.booleans()),
        draws_repeat=draw(st.booleans()),
        time_based=bool(runtime) and "files_end_once" not in said and draw(st.booleans()),
        **said,
    )
    direction = 1 if rw in ("write", "randwrite") else 0
    return Job(
        name="job0",
        rw=rw,
        block_bytes=sizes[direction].least,
        depth=draw(st.sampled_from([4, 8])),
        io_bytes=draw(st.sampled_from([None, 2 * MIB])),
        runtime_s=runtime,
        ramp_s=draw(st.sampled_from([0.0, 0.5])),
        read_percent=draw(st.sampled_from([0, 30, 50, 100])) if rw in ("rw", "randrw") else 50,
        compress_percent=draw(st.sampled_from([0, 40])),
        sync=draw(st.booleans()),
        fio=fio,
    )


def printed(job: Job, **more: str) -> str:
    return section_text("job0", {"ioengine": "libaio", **options_of(job), **more}) + "\n"


def read_back(text: str) -> Job:
    made = plan(typed(read_text(text), environment={}).jobs, TARGET)
    ((process,),) = made.phases
    return process.job


@settings(deadline=None, max_examples=80)
@given(job=jobs())
def test_a_job_is_read_back_as_it_was_printed(job: Job) -> None:
    back = read_back(printed(job, filename="target"))
    # fio draws its streams from the seed and a process's place.
    assert replace(back, seed=job.seed) == job
    assert job_of(json.loads(json.dumps(asdict(job)))) == job


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@settings(
    deadline=None,
    max_examples=6,
    # To shrink would start fio hundreds of times.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(job=jobs())
def test_fio_takes_what_is_printed(job: Job, tmp_path: Path) -> None:
    taken, complaint = accepts(printed(job, filename="target"), tmp_path)
    assert taken, f"{complaint}\n{printed(job)}"


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@settings(deadline=None, max_examples=5, derandomize=True, phases=[Phase.generate])
@given(job=jobs())
def test_fio_asks_for_what_a_twin_is_asked_for(job: Job) -> None:
    """Counts, bytes and mixes; what depends on how fast a drive is, is left out."""
    assert job.fio is not None
    fio = replace(
        job.fio,
        time_based=False,
        pace=Pace(),
        think=None,
        start_ns=0,
        steady=None,
        latency_target=None,
        flow=None,
        ends=Ends(),
        syncs=Syncs(),
        batch=Batch(),
    )
    job = replace(job, runtime_s=None, ramp_s=0.0, fio=fio)
    case = fio_beside.Case(text=printed(job, ioengine="null"))
    assert fio_beside.outcome(case) == "equal"


# ------------------------------------------------------------------------------- nothing in silence

# A job with all that one can say at once, to change each field of it.
FULL = fio_job(
    io_bytes=MIB,
    runtime_s=2.0,
    blocks=(Blocks(least=4096, most=8192, split=((4096, 50), (8192, 50)), align=4096),) * 3,
    random_map=False,
    draws_repeat=False,
    distribution=Distribution(kind="zipf", value=1.2, center=0.5),
    strides=Strides(size=65536, range=131072, skip=4096),
    pace=Pace(bytes_s=(1, 2, 3), iops=(4, 5, 6), min_bytes_s=(7, 8, 9), min_iops=(1, 1, 2)),
    think=Think(ns=5000, spin_ns=1000, blocks=3, iotime_ns=9000),
    batch=Batch(complete_max=3, low=2),
    flow=Flow(weight=3, sleep_ns=4000),
    latency_target=LatencyTarget(ns=1000, window_ns=2000),
    steady=Steady(metric="iops", limit=1.0, duration_s=4),
    ends=Ends(all=True, what="all"),
)
# What has no effect beside the rest of that job: bounds of a split, the group where all end, its
# own span and block beside those of fio's, laws that it does not use. The host's time is in a note.
WITHOUT_EFFECT = {
    *("name", "host_ns", "block_bytes", "offset", "size", "fio.blocks.least", "fio.blocks.most"),
    *("fio.ends.group", "fio.distribution.zones", "fio.file_law.kind", "fio.file_law.value"),
    *("fio.file_law.center", "fio.file_law.zones"),
}


def other(kind: Any, value: Any) -> Any:
    """Another value of a field."""
    if value is None:
        return {"Trace": Trace(path="x")}.get(getattr(kind, "__name__", ""), 5000)
    match value:
        case bool():
            return not value
        case str():
            words = get_args(kind)
            return next(word for word in words if word != value) if words else value + "x"
        case int() | float():
            return value + 1_000_000
        case tuple():
            first = value[0] if value else None
            if isinstance(first, int):
                return tuple(one + 1_000_000 for one in value)
            return (((50, 50), (50, 50)),) * 3 if first is None else (*value, *value)
    raise AssertionError(f"no other value for {value}")


def changed(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field of a value with the value in which it alone is another."""
    hints = get_type_hints(type(value))
    for field in fields(value):
        name, old = f"{path}{field.name}", getattr(value, field.name)
        kind = next((k for k in get_args(hints[field.name]) if k is not type(None)), None)
        kind = kind if get_origin(hints[field.name]) is UnionType else hints[field.name]
        if is_dataclass(old):
            for inner, new in changed(old, f"{name}."):
                yield inner, replace(value, **{field.name: new})
        elif isinstance(old, tuple) and old and is_dataclass(old[0]):
            for inner, new in changed(old[0], f"{name}."):
                yield inner, replace(value, **{field.name: (new, *old[1:])})
        else:
            yield name, replace(value, **{field.name: other(kind, old)})


@pytest.mark.parametrize(("name", "job"), [pytest.param(*c, id=c[0]) for c in changed(FULL)])
def test_no_field_of_a_job_is_left_out_in_silence(name: str, job: Job) -> None:
    assert unsaid(FULL, TARGET.bytes) is None
    reason = unsaid(job, TARGET.bytes)
    if reason is not None:
        parts = reason.partition(":")[0]
        assert name.startswith(parts) or parts.startswith(name)
    elif name not in WITHOUT_EFFECT:
        assert options_of(job) != options_of(FULL)


@pytest.mark.parametrize(
    ("job", "field"),
    [
        (fio_job(trace=Trace(path="x")), "fio.trace"),
        (fio_job(verify="reads_back"), "fio.verify"),
        (fio_job(spans=(WHOLE, WHOLE)), "fio.spans"),
        (fio_job(spans=(replace(WHOLE, start=4096),)), "fio.spans"),
        (fio_job(gate=Gate(stonewall=True)), "fio.gate"),
        (fio_job(logs=Logs(requests=True)), "fio.logs"),
        (fio_job(ends=Ends(all=True)), "fio.ends.what"),
        (replace(fio_job(), threads=2), "threads"),
    ],
)
def test_what_fio_cannot_be_told_is_refused_by_its_name(job: Job, field: str) -> None:
    step = Run(label="r", jobs=(READS, job))
    reason = impossible(step, TARGET.bytes)
    assert reason is not None and reason.startswith(f"job job0, {field}: ")
    with pytest.raises(FlashtwinError, match=field):
        plain_job_file(step, capacity_bytes=TARGET.bytes)


def test_a_chain_says_itself_when_a_job_begins() -> None:
    run = Run(label="r", jobs=(fio_job(start_ns=5000),))
    assert impossible(run, TARGET.bytes) is None
    reason = impossible(Chain(label="c", parts=(run, Rest(seconds=1.0), run)), TARGET.bytes)
    assert reason is not None and "fio.start_ns" in reason


def test_mixed_sizes_and_zones_stand_in_the_job_file_of_a_real_drive() -> None:
    split = (Blocks(least=4096, most=65536, split=((4096, 60), (65536, 40))),) * 3
    zones = Distribution(kind="zoned", zones=(((60, 10), (40, 90)),) * 3)
    job = fio_job(blocks=split, distribution=zones, random_map=False)
    step = Run(label="r", jobs=(job,))
    file = job_file(step, capacity_bytes=TARGET.bytes, engine=LINUX[0])
    for text in (file.text, plain_job_file(step, capacity_bytes=TARGET.bytes)):
        assert "\nbssplit=4096/60:65536/40\n" in text
        assert "\nrandom_distribution=zoned:60/10:40/90\n" in text


def test_a_run_that_was_stored_is_converted_with_all_that_its_jobs_say() -> None:
    job = fio_job(blocks=(Blocks(least=512, most=1024, split=((512, 9), (1024, 91))),) * 3)
    detail = json.loads(json.dumps({"jobs": [asdict(job)], "sample_s": 0.5}))
    record: Any = SimpleNamespace(kind="run", label="r", detail=detail, not_possible=None)
    step = step_of(record, TARGET.bytes)
    assert step is not None
    assert "bssplit=512/9:1024/91" in plain_job_file(step, capacity_bytes=TARGET.bytes)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_a_real_drive_runs_mixed_sizes_and_refuses_before_it_fills(tmp_path: Path) -> None:
    drive = Real(tmp_path, 8 * MIB, say=lambda text: None)
    split = (Blocks(least=4096, most=16384, split=((4096, 50), (16384, 50))),) * 3
    size = drive._size
    span = Span(start=0, bytes=size)
    drive.open()
    try:
        refused = Run(label="r", jobs=(fio_job(spans=(span,), verify="later"),))
        answer = drive.do(refused, lambda progress: True)
        assert isinstance(answer, NotPossible) and "fio.verify" in answer.reason
        assert not drive._filled
        job = fio_job("randwrite", spans=(span,), blocks=split, number_ios=400, io_bytes=64 * MIB)
        done = drive.do(Run(label="r", jobs=(job,)), lambda progress: True)
        assert not isinstance(done, NotPossible)
        (totals,) = done.jobs
        assert totals.ios == 400
        small = (400 * 16384 - totals.bytes) / (16384 - 4096)
        assert small == int(small) and 140 < small < 260
        assert int(done.series.bytes.sum()) == totals.bytes
    finally:
        drive.close()
