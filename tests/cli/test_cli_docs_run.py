"""What the documentation and the help pages tell people to type is run, in that spelling.

What a line names is made first: see `WORDS` and `supply`. Simulated drives are a 32nd of their
size where a line says nothing of it. A drive behind a path does not rest between steps, and the
lines of `STOPPED`, whose timed steps on a path take minutes, are stopped after the first ones.
Twins are fitted to a fill of one small simulated drive, in the fewest simulations that a fit takes.
What takes long runs with `./dev test --full`.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from stored_runs import store
from test_cli_docs import ROOT, walk

from flashtwin import _core
from flashtwin.catalogue.loader import drive_ids
from flashtwin.cli.app import EPILOG, app
from flashtwin.drives.real.real import Real
from flashtwin.errors import DONE, ENVIRONMENT, INTERRUPTED, MISS, USAGE
from flashtwin.runner import request as measuring
from flashtwin.runs.writer import Writer
from flashtwin.study.fit import settling
from flashtwin.study.fit.beside import unseen
from flashtwin_lab import proof

assert _core.load_spec, "these tests need the compiled part"

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# The core that a page plays with, which ./dev page makes.
CORE = ROOT / "python/flashtwin/charts/kit/core.wasm.gz"
STORED = "flashtwin-runs/20260115-101500-bx500-240"
# Words of a line that stand for something of the reader's own, and what is typed for them here.
WORDS = {
    "RUN": Path(STORED).name,
    "flashtwin-runs/RUN": STORED,
    "/mnt/ssd/probe": "./probe",
    "/data/runs": "flashtwin-runs",
}
PATHS = {"./probe", "./probe.bin"}
# Files of so many bytes are enough to see that a line about a file is taken.
SIZES = {"4GB": "64MiB", "32GB": "64MiB", "64GB": "64MiB"}
SCALE = "1/32"
# A fit simulates its drive hundreds of times.
FITTED_SCALE, FITTED_GB, SIMULATIONS = "1/176", 2, 300
HANG_SECONDS, LONG_HANG_SECONDS = 60, 3600
# Drives that have no copy as small.
LARGER = {"samsung-970-evo-500": "1/8"}
# Of each command, in each `./dev test`.
QUICK_LINES = 2
LONG = ("validate", "sweep", "review", "blind", "fit", "ask", "demo")

# Whether two runs differ, and so the exit code, is up to the runs that stand in here; how often an
# analysis is right, to the one that stands in.
COMPARING = ("compare", "blind")
# On a path each cell of crystaldiskmark, of which lines without --battery run some too, is timed,
# and a budget has its time to spend.
STOPPED = ("--budget", "fill,crystaldiskmark")
STOPPED_AFTER = 3
# The test file of crystaldiskmark has 1 GiB and has to fit; nothing of it is made.
STOPPED_SIZE = "2GiB"
# Asks for what is missing, and a test has no terminal to answer on.
ASKING = ("flashtwin new mine",)
ICF = """Version 1.1.0
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\t4K read,ALL
'size,% of size,% reads,% random,delay,burst,align,reply
\t4096,100,100,100,0,1,0,0
'END access specifications
"""
# Half of the reads at random, which the battery cannot say.
SERVERS = """Version 1.1.0
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\tserver,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t8192,100,80,50,0,1,0,0
'END access specifications
'MANAGER LIST ==================================================================
'Manager ID, manager name
\t1,HOST
'Worker
\tWorker 1
'Worker type
\tDISK
'Assigned access specs
\tserver
'End assigned access specs
'Target assignments
'Target
\tD:
'Target type
\tDISK
'End target
'End target assignments
'End worker
'End manager
'END manager list
"""
# One in ten seconds: their times say how much a day has.
MSR = "12816637{}03061629,hm,0,Write,{},4096,100\n"
# Of Alibaba's block traces: disk, kind, offset, bytes, microseconds.
VOLUME = "3,W,{},4096,1577808000000{}\n"
BLKPARSE = "  8,0 1 {0} 0.00{0} 1 D W {1} + 8 [a]\n"
# A minute at 400 MB/s and four at 100, as fio logs it and as a table.
RATES = [400] * 60 + [100] * 240
BW_LOG = "".join(
    f"{1000 * n}, {rate * 10**6 // 1024}, 1, 131072\n" for n, rate in enumerate(RATES, 1)
)
RATE_TABLE = "second,write_MB_s\n" + "".join(f"{n},{rate}\n" for n, rate in enumerate(RATES, 1))
LABELS = """
[[series]]
file = "fill.csv"
cache = true
history = "fresh"
size = "24 GB"
"""
DETECTOR = "def detect(t_ns, dt_ns, bytes, capacity_bytes):\n    return {'cache': None}\n"
IOLOG = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 0 4096\n/dev/sda close\n"


def fenced(text: str) -> Iterator[str]:
    """The lines of blocks that are typed into a shell, in fences or four blanks in; there a wide
    gap parts a command from what is said of it."""
    fences = r"^```(\w*)\n(.*?)^```"
    for kind, block in re.findall(fences, text, re.M | re.S):
        if kind in ("", "sh", "console"):
            yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    bare = re.sub(fences, "", text, flags=re.M | re.S)
    for line in re.sub(r"\\\n\s*", " ", bare).splitlines():
        if line.startswith("    flashtwin "):
            yield re.split(r"\s{3,}(?=[a-z])", line.strip())[0]


def commands(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        bare = re.split(r"\s#\s", line.strip().removeprefix("$ "))[0]
        for call in re.split(r"\s*(?:;|&&)\s*", bare):
            if call.startswith("flashtwin ") and "…" not in call:
                yield call.strip()


def examples() -> Iterator[str]:
    for page in (EPILOG, *(command.epilog or "" for command in walk(app))):
        yield from page.partition("Examples:\n")[2].splitlines()


def takes_long(call: str) -> bool:
    """Whether a line measures more than one fill of one target."""
    _, command, *words = call.split()
    one_fill = words[-1:] == ["fill"] and words[1:2] in (["--battery"], ["--size"])
    measures = command == "same" and not {*words}.isdisjoint(drive_ids())
    measures |= command == "test" and not one_fill and "--resume" not in words
    return command in LONG or measures


# A server waits for clients, other commands for the server or for its log: tests/serve has all.
# Processes and disks are not recorded here: tests/load/test_recording.py has some of its own.
SERVING = ("serve", "ctl", "replay", "record")
# Adopts the file of a process that was killed: tests/cli/test_cli_resume.py kills one.
ADOPTING = "flashtwin runs adopt "
# Devices of whoever runs the tests are not tried (tests/cli/test_cli_device.py has its own), and
# nothing is expected of the machine; nor is a fleet of hours (tests/load/test_fleet.py has one).
ON_DEVICES = ("identify", "doctor")
OF_A_MACHINE = ("/dev/", "flashtwin doctor", "--fleet")
# Its file would fill what the directory lies on; tests/drives/test_directory_targets.py has it.
FILLED = "/mnt/ssd"
TYPED = dict.fromkeys(
    call
    for call in (
        *(one for page in PAGES for one in commands(fenced(page.read_text()))),
        *commands(examples()),
    )
    if call.split()[1] not in SERVING
    and not call.startswith(ADOPTING)
    and FILLED not in call.split()
    and not any(words in call for words in OF_A_MACHINE)
)


def cases() -> Iterator[object]:
    """The first lines of each command run in each `./dev test`; that all are taken as they are
    typed is asked of the others too (`test_cli_docs`)."""
    quick: Counter[str] = Counter()
    for call in TYPED:
        command = call.split()[1]
        full = takes_long(call) or quick[command] == QUICK_LINES
        quick[command] += not full
        yield pytest.param(call, marks=pytest.mark.full if full else (), id=call)


CALLS = list(cases())


def supply(place: Path) -> None:
    """The files, specs and runs that the lines name, in a directory of the test's own."""
    shutil.copytree(ROOT / "examples", place / "examples")
    spec = (ROOT / "python/flashtwin/catalogue/drives/bx500-240.toml").read_text()
    (place / "mine.toml").write_text(spec)
    (place / "job.fio").write_text("[fill]\nrw=write\nbs=128k\nsize=16m\nioengine=psync\n")
    for name in ("trace.csv", "server.csv", "app.csv", "host.trace"):
        (place / name).write_text("".join(MSR.format(20 + n, 4096 * n) for n in range(9)))
    (place / "sda.blkparse.txt").write_text("".join(BLKPARSE.format(n, 8 * n) for n in range(1, 9)))
    shutil.copy(place / "sda.blkparse.txt", place / "app.blkparse.txt")
    (place / "volumes.csv").write_text("".join(VOLUME.format(4096 * n, n) for n in range(9)))
    for name in ("fio.iolog", "main.iolog", "pr.iolog"):
        (place / name).write_text(IOLOG)
    (place / "sweep.icf").write_text(ICF)
    (place / "servers.icf").write_text(SERVERS)
    shutil.copy(place / "job.fio", place / "servers.fio")
    for name in ("fill_bw.1.log", "job_bw.1.log", "job_bw.2.log", "write_bw.1.log"):
        (place / name).write_text(BW_LOG)
    for name in ("monday.csv", "tuesday.csv", "erased.csv", "again.csv"):
        (place / name).write_text(RATE_TABLE)
    (place / "sda.json").write_text('{"nvme_smart_health_information_log": {}}')
    for name in ("prior.toml", "my-prior.toml"):
        shutil.copy(ROOT / "lab/flashtwin_lab/blind/prior.toml", place / name)
    (place / "mine.py").write_text(DETECTOR)
    (place / "series").mkdir()
    (place / "series" / "fill.csv").write_text(RATE_TABLE)
    (place / "series" / "labels.toml").write_text(LABELS)
    for name in (
        STORED,
        "run-a",
        "run-b",
        "before",
        "after",
        "golden",
        "measured",
        "bought-in-march",
        "bought-in-june",
        "unit-1",
        "unit-2",
        "unit-3",
        "flashtwin-runs/mine",
        "flashtwin-runs/two-drives/a",
    ):
        store(place / name)
    store(place / "flashtwin-runs/two-drives/b", target="bx500-240-nocache")
    store(place / "flashtwin-runs/20260115-101500-mx500", target="probe", kind="file")
    (place / "catalogue").mkdir()
    (place / "catalogue" / "mine.toml").write_text(spec.replace('"bx500-240"', '"mine"', 1))


@contextmanager
def interrupted(after: int) -> Iterator[None]:
    """Ctrl-C behind so many steps."""
    real, count = Writer.step, 0

    def step(self: Writer, **values: object) -> object:
        nonlocal count
        count += 1
        if count > after:
            raise KeyboardInterrupt
        return real(self, **values)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Writer, "step", step)
        yield


@pytest.fixture(autouse=True)
def _hang_guard(request: pytest.FixtureRequest) -> Iterator[None]:
    """A line that hangs fails with the place where it stands."""
    seconds = LONG_HANG_SECONDS if request.node.get_closest_marker("full") else HANG_SECONDS

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"the line has not ended within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def supplied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("supplied")
    supply(place)
    return place


@pytest.fixture(name="run")
def real(
    supplied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[list[str]], Result]:
    shutil.copytree(supplied, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Real, "_sleep", lambda *asked: None)

    def call(words: list[str]) -> Result:
        with pytest.MonkeyPatch.context() as scaled:
            scale = next((LARGER[word] for word in words if word in LARGER), SCALE)
            for option in app.commands[words[0]].params:
                if option.name == "scale" and not PATHS & set(words) and words[0] != "batteries":
                    scaled.setattr(option, "default", scale)
            return CliRunner().invoke(app, words)

    return call


def begin(run: Callable[[list[str]], Result], words: list[str]) -> None:
    """The run that a line goes on with, interrupted behind its second step."""
    where = words[words.index("--resume") + 1]
    where = f"flashtwin-runs/{where.removeprefix('flashtwin-runs/')}"
    shutil.rmtree(where, ignore_errors=True)
    if words[0] == "fio":
        kept = ["fio", "job.fio", "--on", "bx500-240", "--scale", SCALE, "--out", where]
        assert run(kept).exit_code == DONE
        return
    target = ["bx500-240"] if where.endswith("bx500-240") else ["./probe.bin", "--size", "16MiB"]
    with interrupted(2):
        begun = run(["test", *target, "--battery", "fill", "--out", where])
    assert begun.exit_code == INTERRUPTED, begun.output


# One figure of a small drive.
PUBLISHED_TABLE = """schema = 1
source = "simulated"
[drive]
id = "small"
capacity = "4 GB"
interface = "pcie4"
cell = "tlc"
dram = "yes"
dies = 4
slc_cache = "0"
[[figure]]
load = "uniform"
span = "70%"
waf = 1.5
"""


def fit_quickly(
    run: Callable[[list[str]], Result], words: list[str], patch: pytest.MonkeyPatch
) -> list[str]:
    """The words of a line that fits twins, for small drives; the run that it names is made."""
    if words[0] == "blind":
        patch.setattr(proof, "CAPACITY_GB", FITTED_GB)
        patch.setattr(proof, "DRAWS", 0)
        patch.setattr(proof, "BATTERIES", proof.BATTERIES[:1])
        patch.setattr(proof, "proof", partial(proof.proof, simulations=SIMULATIONS))
        return [*words[: words.index("--count")], "--count", "1"]
    if "--published" in words:
        patch.setattr(settling, "COPY_BYTES", 1 << 26)
        patch.setattr(settling, "POLICIES", ("greedy",))
        table = Path("figures.toml")
        table.write_text(PUBLISHED_TABLE)
        words[words.index("--published") + 1] = str(table)
        return words
    place = Path(words[1])
    place = place if place.exists() else Path("flashtwin-runs") / place
    shutil.rmtree(place)
    fill = ["--battery", "fill:patterns=128k-q32,passes=1", "--scale", FITTED_SCALE]
    assert run(["test", "bx500-240", *fill, "--out", str(place)]).exit_code == DONE
    words = words[: words.index("--simulations")] if "--simulations" in words else words
    return [*words, "--simulations", str(SIMULATIONS)]


@pytest.mark.parametrize("call", CALLS)
def test_a_line_of_the_docs_runs(
    call: str,
    run: Callable[[list[str]], Result],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = [WORDS.get(word, SIZES.get(word, word)) for word in shlex.split(call)[1:]]
    needs_fio = "probe" in call
    if needs_fio and shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    if "--cluster" in words:
        distributed = pytest.importorskip("distributed")
        cluster = distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        )
        request.addfinalizer(cluster.close)
        words[words.index("--cluster") + 1] = cluster.scheduler_address
    if "--resume" in words:
        begin(run, words)
    if words[0] == "compare" and words[1:2] == words[2:3]:
        words[2] = "run-b"
    if words[0] in ("new", "fit"):
        Path("mine.toml").unlink()
    if words[0] == "fit" or "--fit" in words:
        words = fit_quickly(run, words, monkeypatch)
    if words[0] == "test" and "--out" in words and "--resume" not in words:
        shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)
    if words[:2] == ["compare", "measured"]:
        # The run of a twin that was fitted to it.
        measuring.test(
            measuring.Request(
                targets=("bx500-240",),
                batteries="fill:patterns=128k-q32,passes=1",
                scale=FITTED_SCALE,
                out=Path("measured-twin"),
                command=("flashtwin", "fit", "measured"),
            ),
            unseen,
        )
    if words[:2] == ["compare", "probe"]:
        # The runs that the lines before it keep.
        shutil.copytree("run-a", "probe")
        shutil.copytree("run-b", "twin")
    if words[0] == "batteries" and "crystaldiskmark" in words and "--size" in words:
        words[words.index("--size") + 1] = STOPPED_SIZE
    on_path = words[0] == "test" and PATHS & set(words) and "--resume" not in words
    stopped = on_path and ("--battery" not in words or set(STOPPED) & set(words))
    if stopped:
        words[words.index("--size") + 1] = STOPPED_SIZE
    with interrupted(STOPPED_AFTER) if stopped else nullcontext():
        done = run(words)
    allowed = [INTERRUPTED if stopped else DONE]
    if words[0] == "play" and not CORE.exists():
        allowed = [ENVIRONMENT]
    if words[0] in COMPARING:
        allowed = [DONE, MISS]
    if call in ASKING:
        allowed = [USAGE]
        assert "there is no terminal to ask on" in done.output
    assert not isinstance(done.exception, TimeoutError), done.exception
    assert done.exit_code in allowed, f"{done.output}\n{done.exception!r}"


def test_every_command_has_a_line_that_is_run() -> None:
    assert len(TYPED) > 80
    assert {call.split()[1] for call in TYPED} == {*app.commands} - {*SERVING, *ON_DEVICES}
    assert all(isinstance(command, click.Command) for command in app.commands.values())


def test_keys_that_texts_set_are_those_of_specs() -> None:
    """`--set cache.size=8GB` stood in a help page and was refused."""
    keys = set(re.findall(r"^\| `([a-z_.]+)`", (ROOT / "docs/reference/spec.md").read_text(), re.M))
    options = [option for command in walk(app) for option in command.params]
    helps = [option.help or "" for option in options if isinstance(option, click.Option)]
    texts = [*(page.read_text() for page in PAGES), *examples(), *helps]
    named = {key for text in texts for key in re.findall(r"--set '?([a-z_]+\.[a-z_.]+)", text)}
    assert named and named <= keys, named - keys
