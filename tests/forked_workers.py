"""`pytest --workers N`: the tests in N processes, forked when all tests are collected.

Imports and collection take twelve seconds of a processor in a fresh clone. Processes that are
started, as pytest-xdist does it, each pay them again; forked ones do not. A worker that is free
takes the next module, so that what a module makes once is made once.

Invariants: each collected test is reported, also where its worker died; a worker writes nothing to
the terminal, and its temporary directories lie in those of the process that forked it.
"""

from __future__ import annotations

import gc
import io
import os
import random
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# Folders whose modules take tens of seconds: handed out last, one of them would go on alone when
# all others are done.
FIRST = ("browser", "cli", "runner", "study")
# Folders that one worker takes as a whole: each would start a Chromium of its own.
TOGETHER = ("browser",)
# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# A worker keeps whole runs, and by default Python looks through all of them some seven times.
NEW_OBJECTS = 50_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="run tests in so many processes")


@dataclass
class Worker:
    """A forked process, the tests that it has to end, and the way to it."""

    pid: int
    way: Connection
    open: list[pytest.Item] = field(default_factory=list)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count = session.config.getoption("--workers")
    if not count or session.config.option.collectonly or session.testsfailed:
        return None
    given(st.none())(lambda _: None)()  # Hypothesis reads all modules once, for their constants
    gc.collect()
    gc.freeze()  # the workers write nothing into what they share
    workers: list[Worker] = []
    try:
        for number in range(count):
            workers.append(_fork(session, workers, number))
        _serve(session, workers, _modules(session))
    finally:
        gc.unfreeze()
        for worker in workers:
            worker.way.close()  # whoever still runs ends behind its test
        for worker in workers:
            os.waitpid(worker.pid, 0)
    return True


def _modules(session: pytest.Session) -> Iterator[slice]:
    """The places of each module's tests, those of the folders in `FIRST` before all others; all
    modules of a folder in `TOGETHER` as one."""
    modules = []
    begin = 0
    for path, items in groupby(session.items, _handed_out_as):
        end = begin + sum(1 for _ in items)
        folder = path if path.name in TOGETHER else path.parent
        modules.append((folder.name not in FIRST, begin, end))
        begin = end
    return (slice(begin, end) for _, begin, end in sorted(modules))


def _handed_out_as(item: pytest.Item) -> Path:
    """The module or the folder that a worker takes with this test."""
    return item.path.parent if item.path.parent.name in TOGETHER else item.path


def _serve(session: pytest.Session, workers: list[Worker], modules: Iterator[slice]) -> None:
    """Hand out modules and take reports until all workers have ended."""
    alive = {worker.way.fileno(): worker for worker in workers}
    while alive:
        for number in wait(list(alive)):
            worker = alive[number]  # type: ignore[index]
            try:
                message = worker.way.recv()
            except (EOFError, ConnectionResetError):
                del alive[number]  # type: ignore[arg-type]
                _fail(session, worker.open, "its process ended before it did")
                continue
            if message is None:
                places = next(modules, slice(0, 0))
                worker.open += session.items[places]
                worker.way.send(places)
            else:
                _report(session, worker, *message)
    for places in modules:
        _fail(session, session.items[places], "no process was left for it")


def _report(session: pytest.Session, worker: Worker, name: str, values: dict[str, Any]) -> None:
    hook = session.config.hook
    if name == "warning":
        warning = warnings.WarningMessage(*values.pop("of"))
        hook.pytest_warning_recorded.call_historic(kwargs={**values, "warning_message": warning})
        return
    report = hook.pytest_report_from_serializable(config=session.config, data=values)
    if report.when == "teardown":
        worker.open = [item for item in worker.open if item.nodeid != report.nodeid]
    hook.pytest_runtest_logreport(report=report)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)


def _fail(session: pytest.Session, items: list[pytest.Item], why: str) -> None:
    for item in items:
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        session.config.hook.pytest_runtest_logreport(report=report)


def _fork(session: pytest.Session, others: list[Worker], number: int) -> Worker:
    ours, theirs = Pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        for way in (ours, *(worker.way for worker in others)):
            way.close()
        _become_worker(session, theirs, number)
    theirs.close()
    return Worker(pid, ours)


def _become_worker(session: pytest.Session, way: Connection, number: int) -> NoReturn:
    """Run what the parent hands out, and end without what the parent does at its end."""
    try:
        plugins: Any = session.config.pluginmanager
        plugins.getplugin("terminalreporter")._tw._file = io.StringIO()
        capture = plugins.getplugin("capturemanager")
        capture.stop_global_capturing()  # its files are the parent's
        capture.start_global_capturing()
        plugins.register(Reporter(session.config, way))
        temporary: Any = session.config._tmp_path_factory  # type: ignore[attr-defined]
        temporary._basetemp = temporary.getbasetemp() / f"worker-{number}"
        temporary._basetemp.mkdir(mode=0o700)
        random.seed(number)
        gc.set_threshold(NEW_OBJECTS)
        _work(session, way)
    except (BrokenPipeError, EOFError, KeyboardInterrupt):
        pass  # the parent was stopped
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(0)


def _work(session: pytest.Session, way: Connection) -> None:
    """The next module is asked for before the last test of one, which is torn down for it."""

    def handed_out() -> list[pytest.Item]:
        way.send(None)
        return session.items[way.recv()]

    items = handed_out()
    while items:
        item = items.pop(0)
        items = items or handed_out()
        nextitem = items[0] if items else None
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)


class Reporter:
    """Sends what a worker has to report to its parent."""

    def __init__(self, config: pytest.Config, way: Connection) -> None:
        self.config, self.way = config, way

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self.config.hook
        values = hook.pytest_report_to_serializable(config=self.config, report=report)
        self.way.send(("report", values))

    def pytest_warning_recorded(
        self,
        warning_message: warnings.WarningMessage,
        when: str,
        nodeid: str,
        location: tuple[str, int, str] | None,
    ) -> None:
        text = UserWarning(f"{warning_message.category.__name__}: {warning_message.message}")
        of = (text, UserWarning, warning_message.filename, warning_message.lineno)
        self.way.send(("warning", {"of": of, "when": when, "nodeid": nodeid, "location": location}))
