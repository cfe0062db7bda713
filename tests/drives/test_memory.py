"""What a simulated drive takes of this machine's memory: known before, and refused in words."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from flashtwin.catalogue.loader import load
from flashtwin.drives import memory
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.fio import run
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan
from flashtwin.fio.run import FioTwin

# What a drive adds to a process that has everything loaded, in a child of its own.
GROWTH = """
import sys
from flashtwin import _core
from flashtwin.catalogue.loader import load

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

spec = load("bx500-240", sets=sys.argv[2:], scale=sys.argv[1])
before = resident()
twin = _core.Twin(spec, 1)
job = '[{"name": "w", "rw": "write", "block_bytes": 1048576, "depth": 8, "io_bytes": 1073741824}]'
twin.run(job, 10**18, lambda done, ns: True)
print(spec.memory_bytes, resident() - before)
"""


def child(code: str, *words: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    def confine() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True, text=True, timeout=300, preexec_fn=confine, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("1/4",),
        pytest.param(("1",), marks=pytest.mark.full),
        pytest.param(("1/2",), marks=pytest.mark.full),
        pytest.param(("1", "ftl.mapping_unit=16 KiB"), marks=pytest.mark.full),
        pytest.param(("1", "map.residency=dram"), marks=pytest.mark.full),
        ("1/4", "compression.best_ratio=2", "map.residency=dram"),
    ],
)
def test_what_is_said_is_what_is_taken(words: tuple[str, ...]) -> None:
    done = child(GROWTH, *words)
    assert done.returncode == 0, done.stderr
    said, taken = map(int, done.stdout.split())
    assert said == pytest.approx(taken, rel=0.15)


def test_a_drive_that_does_not_fit_is_refused_with_the_scale_that_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = load("bx500-240")
    there = spec.memory_bytes // 3
    monkeypatch.setattr(memory, "available_bytes", lambda: there)
    for make in (lambda spec: Twin(spec).open(), FioTwin):
        with pytest.raises(FlashtwinError) as found:
            make(spec)
        assert found.value.exit_code == 3
        assert "takes 513 MB of memory to simulate, and 171 MB are available" in str(found)
        assert found.value.hint is not None
        scale = found.value.hint.split()[1]
        assert load("bx500-240", scale=scale).memory_bytes <= there
    Twin(load("bx500-240", scale=scale)).open()


def test_no_scale_fits_into_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(FlashtwinError) as found:
        Twin(load("bx500-240", scale="1/16")).open()
    assert "no scale of this drive fits" in str(found.value.hint)


FIO = """
import sys
from flashtwin.cli import program
sys.argv = ["flashtwin", *sys.argv[1:]]
program()
"""


def test_a_limit_of_the_process_is_a_sentence_and_no_abort(tmp_path: Path) -> None:
    words = ("fio", "--name=a", "--rw=read", "--size=1m", "--on", "bx500-240", "--quiet")
    done = child(FIO, *words, limit=400 << 20)
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert "of memory to simulate" in done.stderr and "--scale 1/" in done.stderr


def test_a_table_that_cannot_be_had_is_no_abort() -> None:
    code = """
import resource
from flashtwin import _core
from flashtwin.catalogue.loader import load
spec = load("bx500-240")
resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
try:
    _core.Twin(spec, 1)
except MemoryError as error:
    print(error)
"""
    done = child(code)
    assert done.returncode == 0, done.stderr
    assert "which cannot be had" in done.stdout


def test_the_limit_of_a_control_group_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Version 2 with a limit above our group, and version 1 beside it."""
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n")
    (proc / "self" / "cgroup").write_text("0::/work/ours\n5:cpu,memory:/other\n")
    for place, files in {
        groups / "work": {"memory.max": "3000000000", "memory.current": "2500000000",
                          "memory.stat": "anon 5\ninactive_file 700000000\n"},
        groups / "work" / "ours": {"memory.max": "max", "memory.current": "9"},
        groups / "memory" / "other": {"memory.limit_in_bytes": "2000000000",
                                      "memory.usage_in_bytes": "100000000"},
    }.items():  # fmt: skip
        place.mkdir(parents=True)
        for name, text in files.items():
            (place / name).write_text(text)
    monkeypatch.setattr(memory, "_PROC", proc)
    monkeypatch.setattr(memory, "_GROUPS", groups)
    assert memory.available_bytes() == 1_200_000_000
    (groups / "work" / "memory.max").write_text("max")
    assert memory.available_bytes() == 1_900_000_000
    (proc / "self" / "cgroup").write_text("")
    assert memory.available_bytes() == 8_000_000 * 1024


SAMPLES = """
import resource
from pathlib import Path
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.errors import FlashtwinError
from flashtwin.model.step import Job, Run
twin = Twin(load("bx500-240", scale="1/16"))
twin.open()
job = Job(name="a", rw="read", block_bytes=1 << 20, runtime_s=3000.0, rate_bytes_s=10**8)
lines = Path("/proc/self/status").read_text().splitlines()
size = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (size + (60 << 20),) * 2)
try:
    twin.do(Run(label="w", jobs=(job,), sample_s=0.0001), lambda progress: True)
except FlashtwinError as error:
    print(error.exit_code, error.message)
"""


def test_samples_that_outgrow_memory_are_a_sentence_and_no_abort() -> None:
    done = child(SAMPLES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 there is not enough memory: the samples of a step")


LOGS = """
import resource, sys
from pathlib import Path
from flashtwin.catalogue.loader import load
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan
from flashtwin.fio.run import FioTwin, check_memory, run_plan
spec = load("bx500-240", scale="1/16")
text = "\\n".join(["[a]", "rw=randread", "bs=4k", "write_lat_log=x", *sys.argv[1:], ""])
target = Target(name="a", bytes=spec.capacity_bytes)
made = plan(typed(read_text(text), environment={}).jobs, target)
twin = FioTwin(spec)
assert twin.now_ns == 0, "its memory is taken now"
lines = Path("/proc/self/status").read_text().splitlines()
size = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (size + (16 << 20),) * 2)
try:
    run_plan(twin, made, lambda progress: True)
except FlashtwinError as error:
    print(error.exit_code, error.message)
"""


@pytest.mark.parametrize(
    "options",
    [
        ("size=4g", "norandommap=1"),
        # A row a millisecond, for hours.
        ("size=1m", "time_based=1", "runtime=10h", "rate_iops=1000", "log_avg_msec=1"),
    ],
    ids=["single requests", "averages"],
)
def test_logs_that_outgrow_memory_are_a_sentence_and_no_abort(options: tuple[str, ...]) -> None:
    done = child(LOGS, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 there is not enough memory: what the jobs keep")


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ("rw=randread size=12g bs=512 numjobs=8 filename=x", "norandommap"),
        pytest.param("rw=read size=1m bs=4k numjobs=4096", "numjobs", marks=pytest.mark.full),
        ("rw=randwrite size=12g bs=4k norandommap=1 write_lat_log=y", "log_avg_msec"),
    ],
)
def test_what_jobs_take_is_refused_beforehand_with_what_to_change(
    monkeypatch: pytest.MonkeyPatch, options: str, hint: str
) -> None:
    spec = load("bx500-240", scale="1/16")
    text = "[a]\n" + "\n".join(options.split()) + "\n"
    target = Target(name="a", bytes=spec.capacity_bytes)
    made = plan(typed(read_text(text), environment={}).jobs, target)
    run.check_memory(spec, made)
    monkeypatch.setattr(run, "available_bytes", lambda: spec.memory_bytes + (20 << 20))
    with pytest.raises(FlashtwinError) as refused:
        run.check_memory(spec, made)
    assert refused.value.exit_code == 3 and hint in str(refused.value.hint)
    assert "the jobs take about" in refused.value.message
