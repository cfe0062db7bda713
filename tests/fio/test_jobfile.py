"""Job files as text: what fio is asked for, and in which words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flashtwin.drives.real import engines
from flashtwin.drives.real.engines import LINUX, Engine, caveats
from flashtwin.drives.real.jobfile import REQUESTS_LOGGED_MOST, JobFile, job_file, requests_most
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import Chain, Job, Rest, Run

MIB = 1 << 20
URING, PSYNC = LINUX[0], Engine(name="psync", direct=True)
WRITE = Job(name="fill", rw="write", block_bytes=128 * 1024, depth=32)
READ = Job(name="reads", rw="randread", block_bytes=4096, size=64 * MIB, runtime_s=5.0)

GOLDEN = """\
[global]
filename=target
ioengine=io_uring
direct=1
kb_base=1024
thread=1
group_reporting=1
allow_file_create=0
fallocate=none
randrepeat=1
disable_slat=1
disable_clat=1
lat_percentiles=1
clat_percentiles=0
slat_percentiles=0
per_job_logs=1
log_unix_epoch=1

[job0]
new_group=1
rw=write
bs=131072
iodepth=32
numjobs=1
offset=0
size=67108864
randseed=1
write_lat_log=job0
log_entries=1024

[job1]
new_group=1
rw=randrw
bs=4096
iodepth=4
numjobs=16
offset=1048576
size=16777216
randseed=7
rwmixread=70
norandommap=1
runtime=5500ms
time_based=1
rate=4375,1875
thinktime=2
buffer_compress_percentage=50
refill_buffers=1
sync=1
write_lat_log=job1
log_entries=1024
"""


def text(*jobs: Job, engine: Engine = URING) -> JobFile:
    step = Run(label="step", jobs=jobs, sample_s=0.5)
    return job_file(step, capacity_bytes=64 * MIB, engine=engine)


def options(file: JobFile, section: str) -> dict[str, str]:
    body = file.text.split(f"[{section}]\n", 1)[1].split("\n\n", 1)[0]
    return dict(line.partition("=")[::2] for line in body.splitlines())


def test_golden() -> None:
    mixed = Job(
        name="mix",
        rw="randrw",
        block_bytes=4096,
        depth=4,
        threads=16,
        offset=MIB,
        size=16 * MIB,
        runtime_s=5.0,
        ramp_s=0.5,
        read_percent=70,
        think_ns=1001,
        rate_bytes_s=100_000,
        compress_percent=50,
        sync=True,
        seed=7,
    )
    file = text(WRITE, mixed)
    assert file.text == GOLDEN
    assert [(section.name, section.threads, section.depth) for section in file.sections] == [
        ("job0", 1, 32),
        ("job1", 16, 4),
    ]
    assert file.exact
    assert file.samples_ns == (500_000_000,)


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        # fio's io_size is a thread's: what the job says is shared out, in whole blocks.
        (replace(READ, runtime_s=None, io_bytes=10 * 4096, threads=4), {"io_size": "12288"}),
        # Bytes and time: whichever comes first, so fio may not go on to the time.
        (replace(READ, io_bytes=MIB), {"io_size": "1048576", "time_based": None}),
        (READ, {"runtime": "5000ms", "time_based": "1", "io_size": None}),
        # One pass of each thread is what fio does without being told.
        (replace(READ, runtime_s=None, threads=4), {"io_size": None, "numjobs": "4"}),
        (replace(WRITE, threads=4, shared_stream=True), {"numjobs": "1", "iodepth": "128"}),
        (replace(WRITE, size=3 * MIB + 77), {"size": str(3 * MIB)}),
        (replace(WRITE, offset=60 * MIB), {"size": str(4 * MIB), "offset": str(60 * MIB)}),
        (replace(WRITE, rate_bytes_s=1000, threads=4), {"rate": "250"}),
        (replace(WRITE, rw="rw", read_percent=100, rate_bytes_s=1000), {"rate": "1000,1"}),
    ],
)
def test_options(job: Job, expected: dict[str, str | None]) -> None:
    found = options(text(job), "job0")
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("job", "threads", "depth", "io_size"),
    [
        (replace(READ, depth=8, threads=2), "16", "1", None),
        # Each of the job's own threads does one pass, however many fio needs for the depth.
        (replace(READ, runtime_s=None, depth=8, threads=2), "16", "1", str(8 * MIB)),
        (replace(WRITE, threads=2), "2", "1", None),
        (replace(WRITE, threads=2, shared_stream=True), "1", "1", None),
    ],
)
def test_an_engine_that_keeps_one_request_a_thread(
    job: Job, threads: str, depth: str, io_size: str | None
) -> None:
    file = text(job, engine=PSYNC)
    found = options(file, "job0")
    assert (found["numjobs"], found["iodepth"], found.get("io_size")) == (threads, depth, io_size)
    assert any("psync keeps one request outstanding for each thread" in note for note in file.notes)


def test_too_many_requests_are_averaged() -> None:
    long = replace(READ, runtime_s=3600.0, depth=32, ramp_s=10.0)
    assert requests_most(long) > REQUESTS_LOGGED_MOST
    file = text(long)
    found = options(file, "job0")
    assert not file.exact
    assert (found["log_avg_msec"], found["write_bw_log"]) == ("500", "job0")
    assert "log_entries" not in found
    # The ramp is fio's here, and then it comes on top of the runtime by itself.
    assert (found["runtime"], found["ramp_time"]) == ("3600000ms", "10000ms")
    assert any("averages" in note for note in file.notes)
    assert any("leaves out the ramp" in note for note in file.notes)


@pytest.mark.parametrize(
    ("job", "most"),
    [
        (replace(WRITE, size=MIB), 8),
        (replace(WRITE, size=MIB, threads=4), 32),
        (replace(READ, io_bytes=MIB), 257),
        # One request takes 10 us at least; sixteen at once are held back by the host's rate.
        (replace(READ, runtime_s=1.0), 100_001),
        (replace(READ, runtime_s=1.0, depth=16), 1_500_001),
        (replace(READ, runtime_s=1.0, depth=16, rate_bytes_s=8192), 3),
        (replace(READ, runtime_s=1.0, depth=64, block_bytes=MIB), 15_259),
    ],
)
def test_bound_on_requests(job: Job, most: int) -> None:
    assert requests_most(job) == most


def test_what_differs_is_said() -> None:
    assert text(WRITE).notes == ()
    assert text(replace(WRITE, host_ns=5000)).notes == (
        "how long the host takes for a command is up to this machine",
    )
    (note,) = text(replace(WRITE, threads=2, shared_stream=True)).notes
    assert "one thread of their whole depth" in note
    fine = Run(label="fine", jobs=(WRITE,), sample_s=0.0123)
    file = job_file(fine, capacity_bytes=64 * MIB, engine=URING)
    assert file.samples_ns == (12_000_000,)
    assert any("whole milliseconds" in note for note in file.notes)


def chain(*parts: Run | Rest) -> JobFile:
    return job_file(Chain(label="chain", parts=parts), capacity_bytes=64 * MIB, engine=URING)


def run(*jobs: Job) -> Run:
    return Run(label="part", jobs=jobs)


def test_a_chain_bound_by_time_is_laid_out_by_delays() -> None:
    file = chain(run(READ), Rest(seconds=1.5), run(READ, READ), run(WRITE), Rest(seconds=9))
    delays = [options(file, f"job{number}").get("startdelay") for number in range(4)]
    assert delays == [None, "6500ms", "6500ms", "11500ms"]
    assert "stonewall" not in file.text
    assert [section.part for section in file.sections] == [0, 1, 1, 2]


def test_a_chain_bound_by_bytes_waits_and_rests_in_a_job_of_its_own() -> None:
    file = chain(run(WRITE), Rest(seconds=2), run(READ, READ), run(WRITE))
    sections = [line for line in file.text.splitlines() if line.startswith("[")]
    assert sections == ["[global]", "[job0]", "[rest2]", "[job1]", "[job2]", "[job3]"]
    walls = [
        name for name in ("job0", "job1", "job2", "job3") if "stonewall" in options(file, name)
    ]
    # The second job of a run starts beside the first.
    assert walls == ["job1", "job3"]
    rest = options(file, "rest2")
    # Shorter by what the two stonewalls about it cost.
    assert (rest["ioengine"], rest["runtime"]) == ("null", "1500ms")


def test_a_rest_at_the_beginning_holds_back_the_whole_chain() -> None:
    assert options(chain(Rest(seconds=2), run(READ)), "job0")["startdelay"] == "2000ms"
    # A stonewall does not wait for a job that is delayed, so there is no delay before one.
    walled = chain(Rest(seconds=2), run(WRITE), run(WRITE))
    assert "startdelay" not in walled.text
    assert [options(walled, name)["stonewall"] for name in ("rest1", "job0", "job1")] == [""] * 3


@pytest.mark.parametrize(
    "job",
    [
        replace(WRITE, size=65 * MIB),
        replace(WRITE, offset=64 * MIB),
        replace(WRITE, offset=63 * MIB, size=2 * MIB),
        replace(WRITE, size=4096),
    ],
)
def test_a_job_that_does_not_fit(job: Job) -> None:
    with pytest.raises(FlashtwinError, match="job fill does not fit into a target of 67108864"):
        text(job)


def test_caveats() -> None:
    assert caveats(URING) == []
    said = " / ".join(caveats(Engine(name="psync", direct=False)))
    assert "psync, buffered" in said
    assert "page cache" in said
    assert "depth 1" in said


@pytest.mark.parametrize(
    ("system", "best", "words"),
    [
        ("darwin", "posixaio, direct", ["F_NOCACHE", "kern.aioprocmax", "write cache"]),
        ("win32", "windowsaio, direct", []),
        ("freebsd14", "posixaio, direct", []),
    ],
)
def test_another_system_has_engines_of_its_own(
    system: str, best: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "SYSTEM", system)
    first, *others = engines.preferred()
    assert str(first) == best and first.asynchronous
    # macOS bounds how many requests a process has outstanding.
    assert first.holds_depth == (first.name == "windowsaio")
    notes = caveats(first)
    assert len(notes) == len(words) and all(
        word in note for word, note in zip(words, notes, strict=True)
    )
    for other in others:
        assert f"{first.name} with direct I/O is refused here" in " ".join(caveats(other))
