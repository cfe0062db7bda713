"""The option table before real fio: every row is ruled upon, and no value of any says more."""

from __future__ import annotations

import re

import pytest
from thinning import thinned

from flashtwin.errors import REFUSED, USAGE, FlashtwinError
from flashtwin.fio.language.errors import COMMAND_LINE
from flashtwin.fio.language.kinds import Names, Prefix, Text
from flashtwin.fio.language.lines import Line, Section
from flashtwin.fio.language.script import typed
from flashtwin.fio.language.table import LOCAL, ROWS, Fate, Option, find, ruling, undecided
from flashtwin.fio.on_files import prepare

CANARY = "/precious/file"
HOSTILE = (
    f"mmapshared:{CANARY}",
    f"mmaphuge:{CANARY}",
    f"mmap:{CANARY}",
    CANARY,
    "../file",
    f"'{CANARY}'",
    f"external:{CANARY}.so",
    "x\nexec_prerun=touch BAD",
    "1\r\nexec_prerun=touch BAD",
    "4k\x00exec_prerun=touch BAD",
    "x\u2028exec_prerun=touch BAD",
    "$(touch BAD)",
    "`touch BAD`",
    "${HOME}",
    "$ncpus+1",
    "1$pagesize'; touch BAD; '",
    "a;exec_prerun=touch BAD",
    "a#b",
    "]\n[global]\nmem=malloc",
    "x" * 5000,
    "1" * 4096 + "\\",
    "-",
    "..",
    "",
    " ",
    "%s%n",
    "\ud800",
    "\x1b[2J",
    "0",
    "1",
    "4k",
    "4k/50:8k/50",
    "1,2,3",
    "none",
    "all",
)


def section(name: str, *lines: str) -> Section:
    return Section(
        name=name,
        where=COMMAND_LINE,
        lines=tuple(Line(text=line, where=COMMAND_LINE) for line in lines),
    )


def given_to_fio(*lines: str, name: str = "a") -> list[str]:
    jobs = typed([section(name, "size=1m", *lines)], environment={}).jobs
    return prepare(jobs, "probe.bin").text.splitlines()


def check_line(line: str) -> None:
    """A line that fio may get: an option that is passed on or set, with a value of its own."""
    if line in ("", "[a]"):
        return
    name, _, value = line.partition("=")
    option = find(name)
    assert option is not None and option.name == name, line
    found = ruling(option)
    if found.fate in (Fate.REFUSED, Fate.HARMFUL):
        assert value in [option.kind.show(one) for one in found.only], line
    assert found.fate is not Fate.LEFT_OUT, line
    assert len(line.encode()) < 4096 and line.isprintable(), line
    assert not re.search(r"[;#\\]|\$(?!jobnum|filenum)", value), line
    if name not in ("name", "description", "wait_for"):
        assert CANARY not in value and ".." not in value, line


def test_every_row_is_ruled_upon() -> None:
    assert undecided() == set()


def test_a_row_that_nobody_ruled_upon_is_refused() -> None:
    new = Option(name="new_in_fio_4", kind=Text(), role=ROWS[0].role, says="")
    assert ruling(new).fate is Fate.REFUSED


def test_text_that_is_passed_on_has_a_grammar() -> None:
    free = [
        row.name
        for row in ROWS
        if isinstance(row.kind, Text | Names | Prefix)
        and ruling(row).fate is Fate.PASSED
        and ruling(row).grammar is None
    ]
    assert free == []


@pytest.mark.parametrize("row", thinned(ROWS, every=3), ids=lambda row: row.name)
def test_no_value_of_any_option_gives_fio_another_line(row: Option) -> None:
    engines = [engine for engine in LOCAL if engine in row.engines] or list(row.engines[:1])
    before = [f"ioengine={engines[0]}"] if engines else []
    for name in (row.name, *row.aliases):
        for value in HOSTILE:
            try:
                lines = given_to_fio(*before, f"{name}={value}")
            except FlashtwinError as error:
                assert error.exit_code in (USAGE, REFUSED)
                continue
            for line in lines:
                check_line(line)


@pytest.mark.parametrize("value", HOSTILE)
def test_no_name_of_a_job_gives_fio_another_line(value: str) -> None:
    for more in ((), ("numjobs=2",), ("filename=x",)):
        try:
            lines = given_to_fio(*more, name=value)
        except FlashtwinError as error:
            assert error.exit_code in (USAGE, REFUSED)
            continue
        assert lines[0] == f"[{value}]" and lines[0].isprintable()
        for line in lines[1:]:
            check_line(line)
        assert "filename_format" not in str(lines) or "/" not in value


HARM = [
    "mem=mmapshared:/precious/file",
    "iomem=mmap:/precious/file",
    "mem=mmaphuge:/dev/sda",
    "mem=shm",
    "ioscheduler=none",
    "lockmem=1g",
    "cgroup=x",
    "uid=1000",
    "gid=1000",
    "fill_device=1",
    "read_iolog=trace",
    "buffer_pattern='/etc/shadow'",
    "verify_pattern='/etc/shadow'",
    "description=${HOME}",
    "cpus_allowed=$ncpus",
]


@pytest.mark.parametrize("line", HARM)
def test_harm_is_refused_by_name_and_line(line: str) -> None:
    with pytest.raises(FlashtwinError) as refused:
        given_to_fio("bs=4k", line)
    assert refused.value.exit_code == REFUSED
    name = line.partition("=")[0].replace("iomem", "mem")
    assert f"{name}=" in refused.value.message and refused.value.hint


def test_long_patterns_do_not_take_long() -> None:
    with pytest.raises(FlashtwinError):
        given_to_fio("buffer_pattern=" + "1" * 3000 + "'")


USUAL = [
    "rw=randrw:8",
    "bssplit=4k/60:64k/40",
    "random_distribution=zipf:1.2:0.5",
    "rate=1m,2m",
    "iomem=malloc",
    "mem=mmap",
    "lockmem=0",
    "cpus_allowed=0-1,3",
    'buffer_pattern=0xff"abc"-12',
    "sync_file_range=wait_before:8,write:16",
    "ignore_error=EIO,ENOSPC:16",
    "numa_mem_policy=bind:0-1",
    "zonemode=strided",
    "description=Bob's 1st: 4k (read), 50 % = half",
    "percentile_list=50:99.9",
    "verify=md5",
]


@pytest.mark.parametrize("line", USUAL)
def test_what_shapes_the_stream_is_passed_on(line: str) -> None:
    name = line.partition("=")[0].replace("iomem", "mem")
    lines = given_to_fio(line)
    assert [one for one in lines if one.startswith(f"{name}=")]
    for one in lines:
        check_line(one)
