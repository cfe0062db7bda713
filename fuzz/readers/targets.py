"""The readers of Python's that take files from outside, each as a function of bytes.

Each tells whether the input is right, and raises where something is wrong with us: a reader either
reads, or refuses with a `FlashtwinError` of one sentence; nothing else comes out of it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent.parent / "tests"
GOLDEN = TESTS / "golden" / "runs"
sys.path.append(str(TESTS))
CAPACITY = 240 * 10**9
JOURNAL = "steps.jsonl"
# More jobs are read, and not planned: time goes into shapes, not into numbers.
_MOST_JOBS = 64


def jobfile(data: bytes) -> bool:
    """A job file: read, planned for a drive, and printed for fio, which reads the same again."""
    from flashtwin.errors import FlashtwinError
    from flashtwin.fio.language.job import text_of
    from flashtwin.fio.language.lines import read_text
    from flashtwin.fio.language.script import typed
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan

    text = data.decode("utf-8", "replace")
    if "include" in text:
        return False  # It would read files of this machine.
    try:
        jobs = typed(read_text(text), environment={}).jobs
    except FlashtwinError as error:
        return _refused(error)
    printed = text_of(jobs)
    again = typed(read_text(printed), environment={}).jobs
    if text_of(again) != printed:
        raise AssertionError(f"printed again it is another job file:\n{printed}")
    if any(job["read_iolog"] for job in jobs) or len(jobs) > _MOST_JOBS:
        return True
    with contextlib.suppress(FlashtwinError):
        plan(jobs, Target(name="drive", bytes=CAPACITY))
    return True


def run(data: bytes) -> bool:
    """A file of a stored run, its name on the first line: what reads runs answers or refuses. The
    checks are made right again, so that what comes after them is tried."""
    from changed_runs import reseal

    from flashtwin.errors import FlashtwinError
    from flashtwin.runs import listing
    from flashtwin.runs.rundir import Run

    name, _, content = data.partition(b"\n")
    if name.decode("ascii", "replace") not in _files():
        return False
    folder = _run()
    victim = folder / name.decode()
    try:
        victim.write_bytes(content)
        reseal(folder)
        stored_run = listing.stored_in(folder)
        stored = Run(folder)
        try:
            _ = (stored.manifest, stored.target, stored.findings, stored.host)
            _ = (stored.smart("before"), stored.steps, stored.table("series"), stored.table("hist"))
        except FlashtwinError as error:
            return _refused(error)
        return stored_run.is_run
    finally:
        for file in (*_files(), JOURNAL):
            shutil.copyfile(GOLDEN / "finished" / file, folder / file)


def journal(data: bytes) -> bool:
    """A journal, of a run that is finished or not: its lines are steps up to the first that is
    none, and what is wrong with that one is said."""
    from changed_runs import chained

    from flashtwin.runs import journal as journals

    right = False
    for finished in (True, False):
        found = journals.scan(Path(JOURNAL), chained(data, ""), "", finished=finished)
        if found.wrong is not None:
            _refused(found.wrong)
        if [step.step for step in found.steps] != list(range(len(found.steps))):
            raise AssertionError("steps that do not follow one another")
        right = right or bool(found.steps)
    return right


TARGETS: dict[str, Callable[[bytes], bool]] = {"jobfile": jobfile, "run": run, "journal": journal}
OPTIONS = {"jobfile": 4096, "run": 16384, "journal": 16384}


def _refused(error: Exception) -> bool:
    """A refusal says something."""
    if not str(error).strip():
        raise AssertionError(f"{error!r} says nothing")
    return False


@functools.cache
def _files() -> tuple[str, ...]:
    """The files of the run that are text; a table has a digest, which no mutation gets past."""
    folder = GOLDEN / "finished"
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.suffix[:5] == ".json")
    return tuple(sorted(map(str, found)))


@functools.cache
def _run() -> Path:
    """A whole run in memory, for the life of the process."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    place = Path(tempfile.mkdtemp(prefix="flashtwin-fuzz-", dir=memory))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(shutil.copytree(GOLDEN / "finished", place / "run"))
