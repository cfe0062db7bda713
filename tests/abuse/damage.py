"""Runs that are stopped anywhere, damaged anywhere, and gone on with or read.

Two campaigns, each case from a seed: `resume_case` stops a run, damages one thing in its directory
and goes on with it; `read_case` damages a finished run, at times so that all its checks are right
again, and has every reader of runs look at it. What may come of it: the results of a run that
nobody disturbed, and a note where something was done again; or one sentence. Never a difference
that nobody speaks of, never another exception.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from changed_runs import reseal
from fakes import FakeDrive, Law

from flashtwin.errors import FlashtwinError
from flashtwin.model.step import NotPossible, Result, Step
from flashtwin.model.target import Interrupted, Watch
from flashtwin.runner import replay as replaying
from flashtwin.runner.events import Observer
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run

LAW = Law(capacity_bytes=8 * 10**9, cache_bytes=10**9, fold_begin_bytes=6 * 10**9)
BATTERIES = [
    ("fill", {"patterns": "1m-q1", "passes": "1"}),
    ("crystaldiskmark", {"profile": "real", "loops": "1", "mix": "off", "size": "64MiB"}),
]
# These may differ from run to run, and are no result.
APART = ("host.json", "report.html")


class Killed(BaseException):
    """Stands for kill -9: what comes after it in the program does nothing for the run."""


@dataclass
class Stopping(FakeDrive):
    """Keeps its state, tells SMART data, and is interrupted or killed at a step of its life."""

    law: Law = LAW
    at: int = 10**9
    how: type[BaseException] = Interrupted
    count: int = 0
    life: list[int] = field(default_factory=lambda: [0])

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.count += 1
        if self.count > self.at:
            raise self.how(step.label)
        return super().do(step, watch)

    def smart(self) -> dict[str, Any]:
        return {"power_on_time": {"hours": self.now_ns // 10**9}, "flashtwin": {"waf": {}}}

    def save(self, path: Path) -> None:
        path.write_text(json.dumps([self.written, self.now_ns]))

    def restore(self, path: Path) -> None:
        try:
            self.written, self.now_ns = json.loads(path.read_text())
        except (ValueError, OSError) as error:
            raise FlashtwinError("no state") from error


class Notes(Observer):
    """What a user is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def noted(self, text: str) -> None:
        self.notes.append(text)


def replay(name: str, seed: int) -> str:
    """How to see a case again."""
    return f"\n  replay: PYTHONPATH=tests:tests/abuse .venv/bin/python -m damage {name} {seed}"


def contents(run: Path) -> dict[str, bytes]:
    """The results of a run directory."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name not in APART
    }


@contextmanager
def states_kept(always: bool) -> Iterator[None]:
    """The state of a drive is kept after every step, or only when it is worth it."""
    before = replaying.WORTH_S, replaying.WORTH_TIMES
    if always:
        replaying.WORTH_S = replaying.WORTH_TIMES = 0.0
    try:
        yield
    finally:
        replaying.WORTH_S, replaying.WORTH_TIMES = before


@cache
def undisturbed(seed: int = 7) -> dict[str, bytes]:
    """The results of the run that is damaged, as nobody disturbed it."""
    with tempfile.TemporaryDirectory(prefix="flashtwin-abuse-") as folder:
        run_batteries(Stopping(), BATTERIES, Path(folder) / "run", seed=seed, command=["flashtwin"])
        return contents(Path(folder) / "run")


def begun(folder: Path, at: int, how: type[BaseException], seed: int = 7) -> bool:
    """A run that stops at a step; whether it did."""
    try:
        drive = Stopping(at=at, how=how)
        run_batteries(drive, BATTERIES, folder, seed=seed, command=["flashtwin"])
    except Interrupted:
        return True
    except Killed:
        as_killed(folder)
        return True
    return False


def as_killed(folder: Path) -> None:
    """What the program did on its way out of a process that was killed did not happen."""
    (folder / "findings.json").unlink(missing_ok=True)
    (folder / "smart" / "after.json").unlink(missing_ok=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"state": "running", "steps": []}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    reseal(folder)


def damage(rng: random.Random, folder: Path) -> str:
    """Damage one thing under a folder; the answer says what was done."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    path = rng.choice(files)
    name = path.relative_to(folder)
    data = bytearray(path.read_bytes())
    match rng.choice(["bit", "bit", "bits", "cut", "remove", "swap", "twice", "tail", "node"]):
        case "bit" | "bits" if data:
            places = [rng.randrange(len(data)) for _ in range(rng.choice([1, 1, 4]))]
            for at in places:
                data[at] ^= 1 << rng.randrange(8)
            path.write_bytes(data)
            return f"{name}: bits flipped in bytes {places}"
        case "cut" if data:
            size = rng.randrange(len(data))
            path.write_bytes(data[:size])
            return f"{name}: cut to {size} bytes"
        case "swap":
            other = rng.choice(files)
            theirs = other.read_bytes()
            other.write_bytes(data)
            path.write_bytes(theirs)
            return f"{name} and {other.relative_to(folder)} swapped"
        case "twice":
            return f"{name}: {_repeat(rng, path, bytes(data))}"
        case "tail":
            path.write_bytes(bytes(data) + rng.randbytes(rng.randrange(1, 80)))
            return f"{name}: something behind its end"
        case "node":
            return f"{name}: {other_node(rng, path)}"
    path.unlink()
    return f"{name}: removed"


def _repeat(rng: random.Random, path: Path, data: bytes) -> str:
    """A line that is there twice, or the whole file."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        path.write_bytes(data + data)
        return "all of it twice"
    at = rng.randrange(len(lines))
    path.write_bytes(b"".join([*lines[: at + 1], *lines[at:]]))
    return f"line {at + 1} twice"


def other_node(rng: random.Random, path: Path) -> str:
    """Something else than a regular file in a file's place."""
    path.unlink()
    match rng.choice(["FIFO", "directory", "endless", "socket", "nowhere", "huge"]):
        case "FIFO":
            os.mkfifo(path)
            return "a FIFO"
        case "directory":
            path.mkdir()
            return "a directory"
        case "endless":
            path.symlink_to("/dev/zero")
            return "a link to an endless file"
        case "socket":
            here = os.getcwd()
            os.chdir(path.parent)
            try:
                with socket.socket(socket.AF_UNIX) as made:
                    made.bind(path.name)
            finally:
                os.chdir(here)
            return "a socket"
        case "nowhere":
            path.symlink_to(path.parent / "nothing is here")
            return "a link into nowhere"
    with path.open("wb") as file:
        file.truncate(1 << 42)
    return "4 TB of holes"


def resume_case(seed: int) -> None:
    """Stop a run, damage it, go on with it, and hold what comes of it against the promise."""
    rng = random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="flashtwin-abuse-") as folder,
        states_kept(rng.random() < 0.5),
    ):
        run = Path(folder) / "run"
        how: type[BaseException] = rng.choice([Interrupted, Killed])
        if not begun(run, rng.randrange(1, 14), how):
            return
        done = [damage(rng, run) for _ in range(rng.choice([1, 1, 1, 2]))]
        told = f"{how.__name__}; {'; '.join(done)}{replay('resume', seed)}"
        notes = Notes()
        try:
            run_batteries(Stopping(), None, run, observer=notes)
        except FlashtwinError as error:
            assert error.message and "\n" not in error.message, f"no sentence: {error}; {told}"
            return
        except BaseException as error:
            raise AssertionError(f"{type(error).__name__}: {error}; {told}") from error
        after = contents(run)
        others = {
            name for name in {*after, *undisturbed()} if after.get(name) != undisturbed().get(name)
        }
        assert not others, f"differs in {sorted(others)}, notes {notes.notes}; {told}"


TEXTS: list[Callable[[random.Random, str], str]] = [
    lambda rng, text: text.replace(": ", ": NaN, ", 1),
    lambda rng, text: _at_value(rng, text, '"\\ud800"'),
    lambda rng, text: _at_value(rng, text, "1e30"),
    lambda rng, text: _at_value(rng, text, "-1"),
    lambda rng, text: _at_value(rng, text, "true"),
    lambda rng, text: _at_value(rng, text, "null"),
    lambda rng, text: _at_value(rng, text, "[]"),
    lambda rng, text: _at_value(rng, text, "{}"),
    lambda rng, text: _at_value(rng, text, '"\\u001b[31m\\n\\u0000"'),
    lambda rng, text: _at_value(rng, text, "9" * 5000),
    lambda rng, text: _at_value(rng, text, "9" * 30),
    lambda rng, text: _at_value(rng, text, "[" * 5000 + "]" * 5000),
    lambda rng, text: _at_value(rng, text, "Infinity"),
]


def _at_value(rng: random.Random, text: str, other: str) -> str:
    """Another value behind one of the names of a JSON text."""
    colons = [at for at in range(len(text)) if text[at] == ":" and text[at - 1] == '"']
    if not colons:
        return other
    at = rng.choice(colons) + 1
    end = min((i for i in (text.find(end, at) for end in ",}\n") if i > 0), default=len(text))
    return text[:at] + other + text[end:]


def mutate(rng: random.Random, folder: Path) -> str:
    """Another value in a JSON file of a run, and every check right again."""
    files = sorted(path for path in folder.rglob("*.json*") if path.is_file())
    path = rng.choice(files)
    number = rng.randrange(len(TEXTS))
    path.write_text(TEXTS[number](rng, path.read_text()))
    # A number that flashtwin would not write, infinity say, has no right check.
    with suppress(ValueError):
        reseal(folder)
    return f"{path.relative_to(folder)}: mutation {number}, resealed"


def readers(run: Path, out: Path) -> dict[str, Callable[[], object]]:
    """Everything that reads a stored run."""
    import flashtwin as ft
    from flashtwin import report
    from flashtwin.runs import listing, query
    from flashtwin.runs.compare.compare import compare
    from flashtwin.runs.export.export import export_all
    from flashtwin.runs.export.job_files import convert

    return {
        "list": lambda: listing.stored([run.parent]),
        "where": lambda: query.matching(
            [one for one in listing.stored([run.parent]) if one.is_run], "steps > 0"
        ),
        "load": lambda: _all_of(ft.load_run(run)),
        "report": lambda: report.build([Run(run)], out / "report.html"),
        "compare": lambda: compare([Run(run), Run(run)]),
        "csv": lambda: export_all({out / "csv": Run(run)}, "csv"),
        "fio": lambda: export_all({out / "fio": Run(run)}, "fio-json"),
        "convert": lambda: convert(Run(run)),
        "resume": lambda: run_batteries(Stopping(), None, run),
    }


def _all_of(run: Any) -> object:
    return (run.manifest, run.findings, run.series, run.hist, run.smart("after"))


def read_case(seed: int) -> None:
    """Damage a finished run and have every reader look at it."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="flashtwin-abuse-") as folder:
        run = Path(folder) / "runs" / "run"
        for name, data in finished_run().items():
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            (run / name).write_bytes(data)
        shutil.copytree(run, Path(folder) / "runs" / "whole")
        done = (mutate if rng.random() < 0.6 else damage)(rng, run)
        for name, read in readers(run, Path(folder) / "out").items():
            told = f"{name}: {done}{replay('read', seed)}"
            try:
                answer = read()
            except FlashtwinError as error:
                assert error.message.isprintable(), f"{error.message!r}: {told}"
                assert name != "list", f"one run takes the others with it: {error}; {told}"
                continue
            except BaseException as error:
                raise AssertionError(f"{type(error).__name__}: {error}; {told}") from error
            if name == "list":
                there = {one.path.name: one.state for one in answer}  # type: ignore[attr-defined]
                assert there.get("whole") == "finished" and "run" in there, f"{there}; {told}"


@cache
def finished_run() -> dict[str, bytes]:
    """All files of a finished run, host.json too."""
    with tempfile.TemporaryDirectory(prefix="flashtwin-abuse-") as folder:
        run = Path(folder) / "run"
        run_batteries(Stopping(), BATTERIES, run, seed=7, command=["flashtwin", "test", "paper"])
        return contents(run) | {"host.json": (run / "host.json").read_bytes()}


CASES: dict[str, Callable[[int], None]] = {"resume": resume_case, "read": read_case}

if __name__ == "__main__":
    CASES[sys.argv[1]](int(sys.argv[2]))
