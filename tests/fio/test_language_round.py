"""Jobs to text and back: equal, and taken by the real fio; over every row of the option table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import real_fio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from thinning import thinned

from flashtwin.fio.language import kinds, patterns
from flashtwin.fio.language.job import text_of
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import typed
from flashtwin.fio.language.table import ROWS, Option, Role, by_name

WORD = st.from_regex(r"[a-zA-Z0-9_./-]{1,12}", fullmatch=True)


def texts(row: Option) -> st.SearchStrategy[str]:
    """Ways to write an option's value."""
    kind: Any = row.kind
    if row.name == "ioengine":
        return st.sampled_from(["libaio", "psync", "null", "io_uring", "sync"])
    if row.name in FREE_TEXT:
        return st.sampled_from(FREE_TEXT[row.name])
    match kind:
        case kinds.Text():
            return WORD
        case kinds.Flag():
            return st.sampled_from(["0", "1"])
        case kinds.Choice():
            return st.sampled_from([*kind.words, *(other for other, _ in kind.others)])
        case kinds.Integer():
            if kind.power:
                return st.sampled_from(["1", "512", "4k"])
            most = min(kind.most, 10_000)
            plain = st.integers(kind.least, most).map(str)
            small = st.integers(2, 9).map(lambda n: f"{n}k")
            return plain if most < 10_000 else st.one_of(plain, small)
        case kinds.Size():
            sizes = st.integers(0, 1 << 40).map(str)
            return st.one_of(sizes, st.integers(0, 100).map(lambda n: f"{n}%"))
        case kinds.Time():
            units = st.sampled_from(["", "s", "ms", "us", "m"])
            return st.tuples(st.integers(0, 999), units).map(lambda t: f"{t[0]}{t[1]}")
        case kinds.TimeRange():
            return st.sampled_from(["0", "5", "3-7", "500ms"])
        case kinds.Real():
            return st.floats(kind.least, min(kind.most, 1e6)).map(lambda x: f"{x:.4f}")
        case kinds.Reals():
            number = st.floats(kind.least, min(kind.most, 1e6)).map(lambda x: f"{x:.4f}")
            return st.lists(number, min_size=1, max_size=4).map(":".join)
        case kinds.Directions():
            each = texts(Option(name="", kind=kind.each, role=row.role, says=""))
            return st.lists(each, min_size=1, max_size=3).map(",".join)
    return st.sampled_from(GRAMMARS[type(kind)])


FREE_TEXT = {
    "numa_cpu_nodes": ["0"],
    "cpus_allowed": ["0", "0-1"],
    "numa_mem_policy": ["local"],
    "mem": ["malloc", "mmap"],
    "fallocate": ["none", "native", "keep"],
    "sync_file_range": ["write:8", "wait_before"],
    "verify_pattern": ["0xff", "0xdeadface"],
    "buffer_pattern": ["0xff", '"abc"'],
    "ignore_error": ["EIO", "ENOSPC"],
    "log_compression_cpus": ["0"],
    "verify_async_cpus": ["0"],
    "replay_skip": ["write", "trim"],
    "cmdprio_bssplit": ["4k/50"],
    "wait_for": ["other"],
}
GRAMMARS: dict[type, list[str]] = {
    patterns.PatternKind: ["read", "randrw", "randread:8", "write:4k", "read:-8k", "trimwrite"],
    patterns.RangeKind: ["4k-8k", "4k-8k,1k-2k", "8k-4k,4k-4k,1m-2m"],
    patterns.SplitKind: ["4k/50:8k/50", "4k/10:8k:16k", "4k,8k/40:16k/60", "512"],
    patterns.DistributionKind: [
        "random",
        "zipf",
        "zipf:1.3",
        "zipf:0.9:0.25",
        "pareto:0.3",
        "normal:20",
        "zoned:50/5:30/15:20/80",
        "zoned:70/10:30/",
        "zoned_abs:90/1g:10/2g",
    ],
    patterns.ServiceKind: ["random", "roundrobin:8", "sequential", "zipf:1.2", "gauss:3"],
    patterns.ThresholdKind: ["iops:10%", "bw_slope:0.25%", "iops:100", "bw:1m"],
    patterns.FileSizeKind: ["4k", "1m-4m"],
}

# Options that fio 3.33 knows but prints a word about, or that another one excludes.
TAKEN = [row for row in ROWS if not row.engines and row.name not in ("read_iolog",)]
OURS = [row for row in TAKEN if row.role is not Role.REFUSED]


@st.composite
def job_files(draw: st.DrawFn) -> str:
    def lines(rows: list[Option]) -> list[str]:
        chosen = draw(st.lists(st.sampled_from(rows), max_size=12, unique_by=lambda r: r.name))
        return [f"{row.name}={draw(texts(row))}" for row in chosen]

    sections = ["[global]", *lines(OURS)]
    for name in ("a", "b c"):
        sections += [f"[{name}]", *lines(OURS)]
    return "\n".join(sections) + "\n"


@settings(deadline=None, max_examples=50)
@given(text=job_files())
def test_what_is_printed_is_read_as_the_same(text: str) -> None:
    jobs = typed(read_text(text), environment={}).jobs
    printed = text_of(jobs)
    assert typed(read_text(printed), environment={}).jobs == jobs
    assert text_of(typed(read_text(printed), environment={}).jobs) == printed


@settings(
    deadline=None,
    max_examples=6,
    # To shrink would start fio hundreds of times.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=job_files())
def test_what_is_printed_is_taken_by_fio(text: str, tmp_path: Path) -> None:
    jobs = typed(read_text(text), environment={}).jobs
    taken, said = real_fio.accepts(text_of(jobs), tmp_path)
    assert taken, f"{said}\n{text_of(jobs)}"


@settings(
    deadline=None,
    max_examples=2,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_every_option_alone(tmp_path: Path, data: st.DataObject) -> None:
    """Each name and alias in a section of its own, and all of them printed back."""
    names = {
        f"{row.name}-{place}": (row, name)
        for row in TAKEN
        if row.name != "rwmixcycle"
        for place, name in enumerate((row.name, *row.aliases))
    }
    wanted = {key: f"{name}={data.draw(texts(row))}" for key, (row, name) in names.items()}
    taken, said = real_fio.accepts(
        "".join(f"[{key}]\n{line}\n" for key, line in wanted.items()), tmp_path
    )
    assert taken, said
    kept = {key: line for key, line in wanted.items() if names[key][0] in OURS}
    text = "".join(f"[{key}]\n{line}\n" for key, line in kept.items())
    jobs = typed(read_text(text), environment={}).jobs
    assert [set(job.settings) for job in jobs] == [{names[key][0].name} for key in kept]
    assert typed(read_text(text_of(jobs)), environment={}).jobs == jobs
    assert real_fio.accepts(text_of(jobs), tmp_path)[0]


@pytest.mark.parametrize("engine", thinned(["libaio", "io_uring", "pvsync2", "sg", "rbd"], every=3))
def test_options_of_engines(engine: str, tmp_path: Path) -> None:
    rows = [row for row in ROWS if engine in row.engines]
    special = {"cmdprio_bssplit": "4k/50", "cmd_type": "nvme", "sg_write_mode": "write"}
    lines = [f"{row.name}={special.get(row.name, '1')}" for row in rows]
    text = "".join(f"[{line}]\nioengine={engine}\n{line}\n" for line in lines)
    assert lines and real_fio.accepts(text, tmp_path)[0]
    jobs = typed(read_text(text), environment={}).jobs
    assert typed(read_text(text_of(jobs)), environment={}).jobs == jobs
    assert real_fio.accepts(text_of(jobs), tmp_path)[0]


def test_the_table_has_every_option_of_fio() -> None:
    missing = {name for name in real_fio.option_names() if name not in by_name()}
    assert not missing
    # Rows without a line in fio's list: old spellings that it still reads, and the engines' own.
    listed = real_fio.option_names()
    more = {row.name for row in ROWS if row.name not in listed and not row.engines}
    assert more == {
        "bs_is_seq_rand",
        "softrandommap",
        "iomem_align",
        "verify_async_cpus",
        "verifysort",
        "verifysort_nr",
        "flow_watermark",
        "rwmixcycle",
        "block",
        "dir",
        "numruns",
        "threads",
    }


@pytest.mark.parametrize("share", [150, pytest.param(1, marks=pytest.mark.full)])
def test_aliases_are_those_of_fio(share: int) -> None:
    """fio tells of one option a process: all of them with `--full`."""
    import subprocess

    for row in ROWS[::share]:
        if row.engines:
            continue
        told = subprocess.run(
            ["fio", f"--cmdhelp={row.name}"], capture_output=True, text=True, check=False
        ).stdout
        alias = re.search(r"alias: (\S+)", told)
        assert not alias or alias[1] in row.aliases, f"{row.name}: {alias and alias[1]}"
