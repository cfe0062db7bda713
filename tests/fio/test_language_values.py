"""Values: what each kind reads, held against the values that the real fio reads."""

from __future__ import annotations

from typing import Any

import pytest
import real_fio

from flashtwin.fio.language.errors import BadValueError, JobFileError
from flashtwin.fio.language.kinds import Percent
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.numbers import Reading
from flashtwin.fio.language.patterns import Distribution, Pattern, Service, Threshold
from flashtwin.fio.language.script import typed
from flashtwin.fio.language.table import ROWS, Role, find


def read(option: str, text: str | None, kb_base: int = 1024) -> Any:
    row = find(option)
    assert row is not None, option
    return row.kind.parse(text, Reading(kb_base=kb_base))


# The last number that fio reads has to be ours; `base` is kb_base.
SAME_AS_FIO = [
    *[("bs", text, 1024) for text in ("4k", "4kb", "4ki", "4kib", "1m", "1mib", "65536", "0x1000")],
    *[("bs", text, 1000) for text in ("4k", "4kb", "4ki", "4kib", "1m", "1mib", "4096b")],
    *[("io_size", text, 1024) for text in ("1g", "1gib", "1t", "1p", "08", "010", "+4k", "0")],
    *[
        ("runtime", text, 1024)
        for text in ("1", "1s", "2m", "3h", "1d", "500ms", "7us", "2M", "5 s")
    ],
    *[("thinktime", text, 1024) for text in ("10", "10ms", "1s", "1m", "10us", "8msec", "9usec")],
    *[("thinktime_iotime", text, 1024) for text in ("10", "10ms", "3us")],
    *[("latency_target", text, 1024) for text in ("10", "10ms", "1s")],
    *[("ramp_time", "90", 1024), ("steadystate_duration", "30", 1024), ("iodepth", "1k", 1024)],
]


def test_numbers_are_those_that_fio_reads() -> None:
    for asked, theirs in zip(SAME_AS_FIO, real_fio.numbers(SAME_AS_FIO), strict=True):
        value = read(*asked)
        ours = value[0] if isinstance(value, tuple) else value
        assert [ours] == theirs[:1], asked


VALUES = [
    ("bs", "4k,8k", (4096, 8192, 8192)),
    ("bs", "4k,8k,16k", (4096, 8192, 16384)),
    ("bs", ",8k", (None, 8192, 8192)),
    ("bs", "8k,", (8192, None, None)),
    ("bs", "4k,,8k", (4096, None, 8192)),
    ("bs", "(3*4k)", (12288, 12288, 12288)),
    ("size", "(1g-8m)/2", ((1 << 30) - (8 << 20)) // 2),
    ("size", "(1+2)*4k", 12288),
    ("size", "(2^16)", 65536),
    ("size", "(7%4)", 3),
    ("size", "(0x10*-1+4k)", 4080),
    ("size", "30%", Percent(percent=30)),
    ("runtime", "(1m+30s)", 90_000_000),
    ("startdelay", "5", (5_000_000, 5_000_000)),
    ("startdelay", "20s-10s", (10_000_000, 20_000_000)),
    ("thread", None, True),
    ("thread", "0", False),
    ("direct", "0x1", True),
    ("rw", "readwrite", Pattern(rw="rw")),
    ("rw", "randread:8", Pattern(rw="randread", every=8)),
    ("rw", "randread:8k", Pattern(rw="randread", every=8)),
    ("rw", "randrw: +010x", Pattern(rw="randrw", every=10)),
    ("rw", "randread:0", Pattern(rw="randread", every=0)),
    ("rw", "randread:-4", Pattern(rw="randread", every=(1 << 32) - 4)),
    ("rw", "randread:4294967298", Pattern(rw="randread", every=2)),
    ("rw", "write:-8k", Pattern(rw="write", skip=-8192)),
    ("bsrange", "4k-16k", ((4096, 16384),) * 3),
    ("bsrange", "16k-4k,1k-2k", ((4096, 16384), (1024, 2048), (1024, 2048))),
    ("bssplit", "4k/60:64k/40", (((4096, 60), (65536, 40)),) * 3),
    ("bssplit", "4k/10:8k/:16k/", (((4096, 10), (8192, 45), (16384, 45)),) * 3),
    ("bssplit", "4k", (((4096, 100),),) * 3),
    ("bssplit", "4k/50:8k/40", (((4096, 50), (8192, 50)),) * 3),
    ("numjobs", "8  // as many", 8),
    ("size", "2g    // 1:2", 2 << 30),
    ("random_distribution", "zipf", Distribution(name="zipf", value=1.1)),
    ("random_distribution", "zipf:1.2:0.5", Distribution(name="zipf", value=1.2, center=0.5)),
    ("random_distribution", "pareto:0.3", Distribution(name="pareto", value=0.3)),
    ("random_distribution", "normal:40", Distribution(name="normal", value=40.0)),
    (
        "random_distribution",
        "zoned:60/10:30/20:8/30:2/40",
        Distribution(name="zoned", zones=((60, 10), (30, 20), (8, 30), (2, 40))),
    ),
    (
        "random_distribution",
        "zoned:60/10:40/",
        Distribution(name="zoned", zones=((60, 10), (40, 90))),
    ),
    (
        "random_distribution",
        "zoned_abs:95/1g:5/2g",
        Distribution(name="zoned_abs", zones=((95, 1 << 30), (5, 2 << 30))),
    ),
    ("percentile_list", "50:99.9", (50.0, 99.9)),
    ("steadystate", "iops_slope:0.3%", Threshold(watched="iops_slope", limit=0.3, percent=True)),
    ("steadystate", "bw:1m", Threshold(watched="bw", limit=float(1 << 20), percent=False)),
    ("file_service_type", "random:4", Service(name="random", every=4)),
    ("file_service_type", "gauss:3", Service(name="normal", value=3.0)),
    ("filesize", "4k-1m", (4096, 1 << 20)),
    ("sync", "1", "sync"),
    ("unified_rw_reporting", "2", "both"),
    ("max_latency", "1ms,2ms", (1000, 2000, 2000)),
    ("nice", "-20", -20),
]


@pytest.mark.parametrize(("option", "text", "value"), VALUES)
def test_values(option: str, text: str | None, value: object) -> None:
    assert read(option, text) == value


# What fio reads as something that nobody means is refused; the word is in message or hint.
REFUSED = [
    ("size", "1.5m", "point"),
    ("size", "0x10k", "suffix"),
    ("size", "4kfoo", "suffix"),
    ("size", "1,2", "more than one"),
    ("size", "101%", "100%"),
    ("size", "(1/0)", "zero"),
    ("size", "(3*4k", "parenthesis"),
    ("size", "(4k)k", "arithmetic"),
    ("size", "(2^1000)", "power"),
    ("size", "9999999999999999999", "64 bits"),
    ("size", " 4k", "blank"),
    ("bs", "4k-8k", "more than one"),
    ("bs", "0", "out of range"),
    ("bs", "4k,8k,16k,32k", "three"),
    ("bs", "", "empty"),
    ("bs", None, "missing"),
    ("iodepth", "10%", "percentage"),
    ("runtime", "1min", "1500ms"),
    ("runtime", "1.5s", "1500ms"),
    ("runtime", "1:30", "one number"),
    ("direct", "yes", "0 or 1"),
    ("direct", "2", "0 or 1"),
    ("rw", "randred", "randread"),
    ("rw", " randread", "blank"),
    ("rw", "randread:k4", "every 8"),
    ("bsrange", "4k", "4k-64k"),
    ("bssplit", "4k/60:8k/60", "120"),
    ("bssplit", "4k/x:8k/", "percentage"),
    ("random_distribution", "zipf:1", "theta"),
    ("random_distribution", "zipf:1.2,0.5", "zipf:1.2:0.5"),
    ("random_distribution", "zoned:60/10:30/20", "90"),
    ("random_distribution", "zoned:60/10:40/95", "105"),
    ("random_distribution", "zipff:1.2", "zipf"),
    ("percentile_list", "50:101", "0 to 100"),
    ("percentile_list", ":".join(["1"] * 21), "20"),
    ("steadystate", "iops", "limit"),
    ("verify_interval", "1", "80"),
    ("ioscheduler", "a\tb\x01", "control"),
]


@pytest.mark.parametrize(("option", "text", "word"), REFUSED)
def test_values_that_are_refused_say_why(option: str, text: str | None, word: str) -> None:
    with pytest.raises(BadValueError) as found:
        read(option, text)
    assert word in f"{found.value.message} {found.value.hint}"


# Options that no twin can follow, each with a value that fio takes.
UNABLE = {
    "opendir": "/tmp",
    "file_append": "1",
    "verify_only": "1",
    "trim_backlog": "8",
    "merge_blktrace_file": "merged",
    "merge_blktrace_scalars": "100",
    "merge_blktrace_iters": "2",
    "zonemode": "zbd",
    "profile": "act",
    "rwmixcycle": "500",
    "sg_write_mode": "verify",
    "fdp_pli_select": "random",
}


def test_every_option_that_no_twin_can_follow_is_tried() -> None:
    assert set(UNABLE) == {row.name for row in ROWS if row.role is Role.REFUSED}


@pytest.mark.parametrize("name", UNABLE)
def test_an_option_that_no_twin_can_follow_is_refused_by_name_and_line(name: str) -> None:
    row = find(name)
    assert row is not None
    before = [f"ioengine={engine}" for engine in row.engines]
    for spelling in (name, *row.aliases):
        line = f"{spelling}={UNABLE[name]}"
        with pytest.raises(JobFileError) as refused:
            typed(read_text("\n".join(["[a]", "size=1m", *before, line])), environment={})
        place = f"text:{len(before) + 3}"
        assert refused.value.message == f"{place}: {name} is refused: {row.says}"
        assert refused.value.hint == f"leave out {line}"
    for value in row.inert:
        line = f"{name}={row.kind.show(value)}"
        typed(read_text("\n".join(["[a]", "size=1m", *before, line])), environment={})


def test_reversed_prefixes_are_told() -> None:
    row = find("size")
    reading = Reading()
    assert row is not None and row.kind.parse("4kib", reading) == 4000
    assert "powers of 1000" in reading.notes[0]
