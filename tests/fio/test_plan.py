"""Typed jobs to what the core runs: copies, files as spans, phases, fields, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import script, typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.job import notes_on_changes
from flashtwin.fio.plan.plan import Plan, plan
from flashtwin.model.fio_job import Blocks, Distribution, Span, Steady, Think

DRIVE = Target(name="bx500-240", bytes=240 * 10**9)
G = 1 << 30


def made(text: str, target: Target = DRIVE) -> Plan:
    return plan(typed(read_text(text), environment={}).jobs, target)


def section(options: str) -> str:
    return "[a]\n" + "\n".join(options.split()) + "\n"


def spans(text: str) -> list[tuple[str, tuple[Span, ...]]]:
    found = []
    for process in made(text).processes:
        assert process.job.fio is not None
        found.append((process.job.name, process.job.fio.spans))
    return found


def span(start: int, length: int, offset: int = 0, size: int | None = None) -> Span:
    return Span(start=start, bytes=length, offset=offset, size=length if size is None else size)


WHOLE = 240 * 10**9

LAYOUTS = [
    # One file a copy, in fio's order of copies; the second job's file behind them.
    (
        "[a]\nsize=1g\nnumjobs=3\n[b]\nsize=1m\n",
        [span(0, G), span(G, G), span(2 * G, G), span(3 * G, 1 << 20)],
    ),
    # The same name is the same file, as long as the furthest of them reaches.
    (
        "[global]\nfilename=x\n[a]\nsize=1g\n[b]\nsize=2g\n[c]\noffset=2g\nsize=1g\n",
        [span(0, G, 0, G), span(0, 2 * G, 0, 2 * G), span(0, 3 * G, 2 * G, G)],
    ),
    ("[a]\nfilename=/dev/nvme0n1\n", [span(0, WHOLE)]),
    ("[/dev/sdb]\nrw=read\n", [span(0, WHOLE)]),
    ("[a]\nfilename=bx500-240\nsize=50%\n", [span(0, WHOLE, 0, WHOLE // 2 // 4096 * 4096)]),
    (
        "[a]\nfilename=/dev/sda\noffset=10%\nsize=1g\n",
        [span(0, WHOLE, WHOLE // 10 // 4096 * 4096 + (4096 if WHOLE // 10 % 4096 else 0), G)],
    ),
    (
        "[a]\nfilename=/dev/sda\nsize=1g\nnumjobs=3\noffset_increment=2g\n",
        [span(0, WHOLE, 0, G), span(0, WHOLE, 4 * G, G), span(0, WHOLE, 2 * G, G)],
    ),
    ("[a]\nfilesize=1m\noffset=256k\n", [span(0, 1 << 20, 256 << 10, 768 << 10)]),
    ("[a]\nioengine=rbd\npool=x\n", [span(0, WHOLE)]),
    ("[a]\nioengine=libiscsi\nfilename=iscsi\\://host/lun\n", [span(0, WHOLE)]),
    ("[a]\nfill_device=1\n", [span(0, WHOLE // 4096 * 4096)]),
]


@pytest.mark.parametrize(("text", "expected"), LAYOUTS)
def test_files_are_spans(text: str, expected: list[Span]) -> None:
    assert [found[0] for _, found in spans(text)] == expected


def test_several_files_share_the_size() -> None:
    ((_, found),) = spans("[a]\nnrfiles=4\nsize=1g\n")
    assert found == tuple(span(place * (G // 4), G // 4) for place in range(4))
    ((_, found),) = spans("[a]\nfilename=x:y\\:z\ndirectory=/d\nsize=1g\n")
    assert len(found) == 2
    ((_, found),) = spans("[a]\nnrfiles=2\nfilesize=1m\nsize=1m\n")
    (process,) = made("[a]\nnrfiles=2\nfilesize=1m\nsize=1m\n").processes
    assert process.job.fio is not None and process.job.fio.size == 1 << 20


PHASES = [
    ("[a]\n[b]\n[c]\n", [0, 0, 0], [0, 0, 0]),
    ("[a]\n[b]\nstonewall\n[c]\n", [0, 1, 1], [0, 1, 1]),
    ("[a]\nstonewall\n[b]\nnew_group\n[c]\nwait_for_previous\n", [0, 0, 1], [0, 1, 2]),
    ("[global]\nstonewall\n[a]\nnumjobs=2\n[b]\n", [0, 0, 1], [0, 0, 1]),
    # Where more decides than who stands before a stonewall, the core opens the gates.
    ("[a]\n[b]\nwait_for=a\n[c]\n", [0, 0, 0], [0, 0, 0]),
    ("[a]\n[b]\nstonewall\n[c]\nwait_for=a\n", [0, 0, 0], [0, 1, 1]),
    ("[a]\n[b]\nstartdelay=1\n[c]\nstonewall\n", [0, 0, 0], [0, 0, 1]),
]


@pytest.mark.parametrize(("text", "phases", "groups"), PHASES)
def test_phases_and_groups(text: str, phases: list[int], groups: list[int]) -> None:
    found = made(text.replace("]\n", "]\nsize=1m\n")).processes
    assert [process.clone.phase for process in found] == phases
    assert [process.clone.group for process in found] == groups


def test_copies_have_streams_of_their_own() -> None:
    found = made("[a]\nsize=1m\nnumjobs=4\n[b]\nsize=1m\n").processes
    assert [process.clone.number for process in found] == [0, 3, 2, 1, 0]
    assert len({process.job.seed for process in found}) == 5
    again = made("[a]\nsize=1m\nnumjobs=4\n[b]\nsize=1m\n").processes
    assert [process.job.seed for process in found] == [process.job.seed for process in again]
    other = made("[a]\nsize=1m\nnumjobs=4\nrandseed=5\n").processes
    assert {one.job.seed for one in other}.isdisjoint(one.job.seed for one in found)


JOBS = [
    ("ioengine=libaio iodepth=32", "depth", 32),
    ("iodepth=32", "depth", 1),
    ("runtime=1500ms", "runtime_s", 1.5),
    ("ramp_time=2", "ramp_s", 2.0),
    ("rwmixread=70", "read_percent", 70),
    ("rwmixread=70 rwmixwrite=40", "read_percent", 60),
    ("zero_buffers", "compress_percent", 100),
    ("buffer_compress_percentage=40", "compress_percent", 40),
    ("buffer_pattern=0xab", "compress_percent", 100),
    ("buffer_pattern=0xab buffer_compress_percentage=40", "compress_percent", 40),
    ("buffer_compress_percentage=40 zero_buffers", "compress_percent", 40),
    ("ioengine=io_uring_cmd fdp=1 fdp_pli=0,2-4", "handles", (0, 2, 3, 4)),
    ("ioengine=io_uring_cmd fdp=1 plids=5", "handles", (5,)),
    ("ioengine=io_uring_cmd fdp_pli=1", "handles", ()),
    ("ioengine=sg writefua=1", "sync", True),
    ("sync=dsync", "sync", True),
]


@pytest.mark.parametrize(("options", "field", "value"), JOBS)
def test_fields_of_the_job(options: str, field: str, value: object) -> None:
    (process,) = made(section("size=1g " + options)).processes
    assert getattr(process.job, field) == value


FIELDS: list[tuple[str, str, Any]] = [
    ("iodepth=8", "synchronous", True),
    ("io_size=50%", "size", G // 2),
    ("random_generator=lfsr", "random_starts", True),
    ("randrepeat=1", "draws_repeat", True),
    ("allrandrepeat=1", "draws_repeat", True),
    ("randrepeat=0", "draws_repeat", False),
    ("randseed=7 randrepeat=1", "draws_repeat", False),
    ("ioengine=libaio", "synchronous", False),
    ("bs=8k,4k", "blocks", tuple(Blocks(least=s, most=s) for s in (8192, 4096, 4096))),
    ("bsrange=4k-8k", "blocks", (Blocks(least=4096, most=8192),) * 3),
    (
        "bssplit=4k/60:8k/40",
        "blocks",
        (Blocks(least=4096, most=8192, split=((4096, 60), (8192, 40))),) * 3,
    ),
    ("ba=512", "blocks", (Blocks(least=4096, most=4096, align=512),) * 3),
    ("norandommap", "random_map", False),
    ("ba=512", "random_map", False),
    ("ba=4k", "random_map", True),
    (
        "random_distribution=zipf:1.2:0.3",
        "distribution",
        Distribution(kind="zipf", value=1.2, center=0.3),
    ),
    ("random_distribution=pareto:0.3", "random_map", False),
    (
        "random_distribution=zoned:60/10:40/90",
        "distribution",
        Distribution(kind="zoned", zones=(((60, 10), (40, 90)),) * 3),
    ),
    ("startdelay=1500ms", "start_ns", 1_500_000_000),
    ("time_based", "time_based", False),
    ("time_based runtime=5", "time_based", True),
    ("loops=0", "loops", 1),
    ("thinktime=10 thinktime_spin=20", "think", Think(ns=10_000, spin_ns=10_000)),
    ("thinktime=10 thinktime_iotime=1s", "think", Think(ns=10_000, blocks=None, iotime_ns=10**9)),
    (
        "steadystate=iops_slope:0.3% ss_dur=30 group_reporting",
        "steady",
        Steady(metric="iops", slope=True, limit=0.3, duration_s=30, group=0),
    ),
    ("steadystate=iops:1%", "steady", None),
    ("max_latency=1ms", "max_latency_ns", (10**6,) * 3),
]


@pytest.mark.parametrize(("options", "field", "value"), FIELDS)
def test_fields_of_fio(options: str, field: str, value: object) -> None:
    (process,) = made(section("size=1g " + options)).processes
    assert getattr(process.job.fio, field) == value


BAD = [
    ("rw=read", 1, "no size", "filename=bx500-240"),
    ("size=300g", 2, "322122547200 bytes, and bx500-240 has 240000000000", "size=100%"),
    ("size=100g numjobs=3", 2, "3 files", "numjobs"),
    ("filename=/dev/sda offset=300g", 3, "begins at 322122547200", "offset"),
    ("filename=/dev/sda offset=200g size=100g", 4, "behind offset", "lower size"),
    ("size=4k bs=8k", 2, "blocks are 8192", "bs"),
    ("size=1g bs=1000 rw=trim", 3, "sectors of 512", "bs"),
    ("size=1g zonemode=strided", 3, "zonesize", "zonesize="),
    ("size=1g zonemode=strided zonesize=1m openfiles=2 numjobs=2", 3, "fio refuses", "openfiles=1"),
    (
        "filesize=1g size=50% ioengine=null zonemode=strided zonesize=1m rw=trim",
        5,
        "the zones never end",
        "size in bytes",
    ),
    (
        "size=1g rw=write verify=crc32c number_ios=9 verify_backlog=8",
        6,
        "verify_backlog reads back",
        "io_size",
    ),
    ("size=1g zonesize=1m zonemode=none", 3, "without zones", "strided"),
    ("size=1g zonesize=1m", 3, "without zones", "strided"),
    ("size=1g zonemode=strided zonesize=1m rw=trimwrite", 3, "zones", "trim"),
    (
        "size=1g nrfiles=2 random_distribution=zipf:1.2 file_service_type=zipf:1.3",
        5,
        "numbers for zipf",
        "same",
    ),
    ("size=1g rw=randread bs=4k ba=16k random_generator=lfsr", 5, "does not start", "block size"),
    (
        "size=1g rw=randwrite bs=2k,4k norandommap=1 random_generator=lfsr",
        5,
        "smallest size",
        "norandommap",
    ),
    ("size=1g rate=1m rate_iops=5", 4, "exclude", "leave one"),
    ("size=1g rate_iops=5 rate_iops_min=6", 4, "above the rate", "lower"),
    ("size=1g wait_for=a", 3, "itself", "another"),
    ("size=1g wait_for=b", 3, "does not exist", "before"),
    ("size=1g numjobs=5000", 3, "4096", "numjobs"),
    ("size=1g rw=read verify=md5 verify_state_load=1", 5, "state file", "number_ios"),
    ("size=1g read_iolog=x", 3, "the trace x cannot be read", "exists"),
]


@pytest.mark.parametrize(("options", "line", "word", "hint"), BAD)
def test_what_does_not_fit_is_told(options: str, line: int, word: str, hint: str) -> None:
    with pytest.raises(FlashtwinError) as found:
        made(section(options))
    assert found.value.message.startswith(f"text:{line}: ")
    assert word in found.value.message and hint in (found.value.hint or "")
    assert found.value.exit_code == 2


def test_what_fio_changes_by_itself_is_told() -> None:
    notes = made(section("size=1g iodepth=32 time_based steadystate=iops:1%")).notes
    assert [note.where.line for note in notes] == [3, 4, 5]


def test_a_clock_of_the_machine_s_is_told_to_be_the_twin_s() -> None:
    for option in ("log_unix_epoch", "log_alternate_epoch"):
        (note,) = notes_on_changes(script(["--name=a", "--size=1m", f"--{option}=1"]).jobs[0])
        assert str(note).startswith(f"--{option}=1: {option}: a twin's clock begins with the run")
        assert notes_on_changes(script(["--name=a", "--size=1m", f"--{option}=0"]).jobs[0]) == []
