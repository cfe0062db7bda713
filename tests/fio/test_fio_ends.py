"""Jobs that end before their time, and disks that take no more: what was counted is not lost."""

from __future__ import annotations

import errno
import json
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from processes import children, wait_for
from thinning import thinned

from flashtwin import outputs
from flashtwin.cli.app import app
from flashtwin.runner import stop

FIO = shutil.which("fio")
needs_fio = pytest.mark.skipif(FIO is None, reason="fio is not installed")
TWIN = ("--on", "bx500-240", "--scale", "1/64", "--quiet")
JOBS = """[global]
ioengine=libaio
iodepth=8
bs=4k
size=64m
time_based
runtime=3600
[a]
rw=randwrite
write_bw_log=a
log_avg_msec=10
[b]
rw=randread
startdelay=3000
[c]
stonewall
rw=read
"""


class Later(stop.Stop):
    """Somebody asks the run to end once it was asked a few times."""

    left = 3

    @property
    def asked(self) -> bool:  # type: ignore[override]
        self.left -= 1
        if self.left < 0:
            self.number = signal.SIGINT
        return self.left < 0

    @asked.setter
    def asked(self, value: bool) -> None:
        """The dataclass begins with no."""


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @contextmanager
    def listening() -> Iterator[stop.Stop]:
        yield Later()

    monkeypatch.setattr(stop, "listening", listening)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.fio").write_text(JOBS)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["fio", "jobs.fio", *words, *TWIN])


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize("form", ["json", "json+"])
def test_json_of_an_interrupted_run_is_whole(form: str, tmp_path: Path) -> None:
    done = run(f"--output-format={form}")
    assert done.exit_code == 128
    jobs = {one["jobname"]: one for one in json.loads(done.stdout)["jobs"]}
    assert list(jobs) == ["a", "b", "c"]
    wrote = jobs["a"]["write"]
    assert wrote["total_ios"] == wrote["clat_ns"]["N"] > 4000 and wrote["runtime"] > 0
    # What has not begun is told as nothing; fio leaves out its depth.
    assert [jobs[name]["read"]["total_ios"] for name in "bc"] == [0, 0]
    assert ["latency_depth" in jobs[name] for name in "abc"] == [True, False, False]
    assert "terminating on signal 2" in done.stderr
    rows = [line.split(", ") for line in (tmp_path / "a_bw.1.log").read_text().splitlines()]
    assert int(rows[-1][0]) == pytest.approx(wrote["runtime"], abs=11)


@pytest.mark.usefixtures("stopped")
def test_the_text_of_an_interrupted_run_says_so_where_fio_does() -> None:
    said = run().stdout
    begin = said.index("Starting 3 processes\n\nfio: terminating on signal 2\n\na: (groupid=0")
    assert "Run status group 0 (all jobs):\n  WRITE:" in said[begin:]
    assert said.endswith("\nRun status group 1 (all jobs):\n")


@pytest.mark.usefixtures("stopped")
def test_terse_lines_of_an_interrupted_run() -> None:
    rows = [line.split(";") for line in run("--minimal").stdout.splitlines()]
    assert [row[2] for row in rows] == ["a", "b", "c"]
    assert {len(row) for row in rows} == {121}


@pytest.mark.parametrize("number", thinned([signal.SIGTERM, signal.SIGINT], every=2))
def test_a_signal_ends_the_jobs_and_not_the_answer(number: int, tmp_path: Path) -> None:
    (tmp_path / "jobs.fio").write_text(JOBS)
    words = ["fio", "jobs.fio", "--output-format=json", "--output=out.json", *TWIN]
    with begun(words, tmp_path, lambda _: any(tmp_path.glob("*out.json*"))) as process:
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128
    assert f"fio: terminating on signal {number}" in said
    assert json.loads((tmp_path / "out.json").read_text())["jobs"][2]["jobname"] == "c"


@needs_fio
@pytest.mark.parametrize("number", thinned([signal.SIGINT, signal.SIGQUIT], every=2))
def test_a_signal_reaches_fio_on_a_path(number: int, tmp_path: Path) -> None:
    job = "--name=a --rw=read --bs=4k --size=1m --time_based --runtime=100 --output=out.json"
    words = ["fio", *job.split(), "--output-format=json", "--on", "./probe.bin"]

    def jobs_run(process: subprocess.Popen[str]) -> bool:
        """fio's job has read more than its file; what filled the file was another fio."""
        return any(
            has(number, "answer.txt") and read_bytes(number) > 2**20
            for number in children(process.pid)
        )

    with begun(words, tmp_path, jobs_run) as process:
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == 128
    said = (tmp_path / "out.json").read_text()
    job_of = json.loads(said[said.index("{") :])["jobs"][0]
    assert job_of["jobname"] == "a" and not (tmp_path / "probe.bin").exists()


@contextmanager
def begun(
    words: list[str], where: Path, jobs_run: Callable[[subprocess.Popen[str]], bool]
) -> Iterator[subprocess.Popen[str]]:
    """The program, once its jobs run: of a twin the file of the answer lies beside its place."""
    process = subprocess.Popen(
        [sys.executable, "-m", "flashtwin.cli", *words],
        cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_for(lambda: jobs_run(process))
        yield process
    finally:
        process.kill()
        process.wait()


def has(number: int, word: str) -> bool:
    """Whether a process was started with a word."""
    with suppress(OSError):
        return word in Path(f"/proc/{number}/cmdline").read_text()
    return False


def read_bytes(number: int) -> int:
    """What a process has read."""
    with suppress(OSError):
        return int(Path(f"/proc/{number}/io").read_text().split()[1])
    return 0


def full(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """A disk that takes no more of these files."""
    create = outputs._Part.create

    def refused(self: outputs._Part) -> None:
        if self.place.name in names:
            raise OSError(errno.ENOSPC, "No space left on device")
        create(self)

    monkeypatch.setattr(outputs._Part, "create", refused)


SHORT = ("--name=j", "--rw=write", "--size=1m", "--write_bw_log=j", "--write_lat_log=j")


def test_a_full_disk_takes_what_it_can(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    full(monkeypatch, "j_bw.1.log")
    done = CliRunner().invoke(app, ["fio", *SHORT, "--output-format=json", *TWIN])
    assert (
        done.exit_code == 3 and json.loads(done.stdout)["jobs"][0]["write"]["io_bytes"] == 1 << 20
    )
    assert "cannot write j_bw.1.log: No space left on device" in done.stderr
    assert len((tmp_path / "j_lat.1.log").read_text().splitlines()) == 256


def test_an_answer_that_its_file_does_not_take_goes_to_stdout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    full(monkeypatch, "out.json")
    words = ["fio", *SHORT, "--output-format=json", "--output=out.json", *TWIN]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 3 and "cannot write out.json" in done.stderr
    assert json.loads(done.stdout)["jobs"][0]["write"]["total_ios"] == 256
    assert (tmp_path / "j_lat.1.log").exists()


def test_statuses_that_their_file_takes_no_more_of_go_on_stdout(tmp_path: Path) -> None:
    """The file may grow to so much, as on a disk that fills up on the way."""
    words = ["fio", "--name=j", "--rw=read", "--size=1m", "--time_based", "--runtime=1",
             "--status-interval=100ms", "--output-format=json", *TWIN]  # fmt: skip

    def confine() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    def answer(*more: str, expected: int) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "flashtwin.cli", *words, *more], cwd=tmp_path,
            capture_output=True, text=True, timeout=120, check=False,
            preexec_fn=confine if more else None,
        )  # fmt: skip
        assert done.returncode == expected, done.stderr
        return done.stdout

    whole = answer(expected=0)
    assert len(whole) > 50_000 and answer("--output=out.json", expected=3) == whole
    assert not list(tmp_path.iterdir())


def test_a_log_on_a_clock_begins_with_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second job begins a second after the first, and its log does with it."""
    monkeypatch.chdir(tmp_path)
    jobs = ["--name=a", "--rw=write", "--size=1m", "--name=b", "--stonewall", "--rw=write",
            "--size=1m", "--startdelay=1", "--write_lat_log=b"]  # fmt: skip
    for option, first in ((), 0), (("--log_unix_epoch=1",), 1000):
        assert CliRunner().invoke(app, ["fio", *jobs, *option, *TWIN]).exit_code == 0
        rows = Path("b_lat.2.log").read_text().splitlines()
        times = [int(row.split(",")[0]) for row in rows]
        assert times[0] == pytest.approx(first, abs=2) and times == sorted(times)


@needs_fio
def test_a_latency_target_is_told_as_fio_does(tmp_path: Path) -> None:
    job = "--name=j --ioengine=null --iodepth=8 --rw=randread --size=64m --time_based --runtime=1"
    words = [*job.split(), "--latency_target=1ms", "--latency_window=100ms",
             "--latency_percentile=90", "--output-format=json"]  # fmt: skip
    ours = CliRunner().invoke(app, ["fio", *words, *TWIN]).stdout
    theirs = subprocess.run(
        [str(FIO), *words], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    (mine,), (its,) = (json.loads(said)["jobs"] for said in (ours, theirs))
    names = ("latency_target", "latency_window", "latency_percentile")
    assert [mine[name] for name in names] == [its[name] for name in names]
    said, meant = mine["job options"], its["job options"]
    assert [said[name] for name in names] == [meant[name] for name in names]
