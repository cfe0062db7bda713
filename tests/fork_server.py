"""The command line, and the process that judges a condition over runs, as processes of their own
without the start of one: a server forks each.

A start of Python and its imports take a third of a second of a processor, a fork of a process
that has imported flashtwin a fiftieth. The child has words, a directory, an environment and
streams of its own, and ends as `python -m flashtwin.cli` does. What a test has to say about
signals, terminals, imports or the start itself needs a process that is started.

Invariants: the server has one thread and has run no command, so that no child inherits what a
test or a command left behind; it ends with the process that asked for it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import IO

CLI = "flashtwin.cli"
# What a server has imported before it forks. Of the command line: the rooms whose modules the
# commands import as they need them, and what these import.
CONDITION = "flashtwin.runs.condition"
ROOMS = ("cli", "batteries", "catalogue", "drives", "fio", "report", "runner", "runs")
LIBRARIES = {CLI: ("numpy", "jinja2", "rich.live", "rich.table"), CONDITION: ("duckdb", CONDITION)}
MOST_BYTES = 1 << 20


def run(
    words: Sequence[str], *, cwd: Path, environment: Mapping[str, str], timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run `flashtwin` with these words to its end."""
    status, *texts = _forked(CLI, words, b"", cwd, environment, timeout)
    out, err = (text.decode() for text in texts)
    return subprocess.CompletedProcess(list(words), status, out, err)


def judge(question: str) -> subprocess.CompletedProcess[bytes]:
    """What `flashtwin.runs.query` starts to judge a condition, at its end."""
    from flashtwin.runs import query

    words = [str(query.MOST_S), str(query.MOST_BYTES)]
    asked = question.encode()
    status, out, err = _forked(CONDITION, words, asked, Path.cwd(), os.environ, 300)
    return subprocess.CompletedProcess(words, status, out, err)


def _forked(
    program: str,
    words: Sequence[str],
    given: bytes,
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float,
) -> tuple[int, bytes, bytes]:
    """The exit code, and what was said on stdout and stderr."""
    with ExitStack() as files:
        streams = [files.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        streams[0].write(given)
        streams[0].seek(0)
        asked = {"words": list(words), "cwd": str(cwd), "environment": dict(environment)}
        server = _server(program)
        server.settimeout(timeout)
        numbers = [stream.fileno() for stream in streams]
        socket.send_fds(server, [json.dumps(asked).encode()], numbers)
        status = int(server.recv(64))
        return status, _written(streams[1]), _written(streams[2])


def _written(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


@cache
def _server(program: str) -> socket.socket:
    """One of a program for each process that tests; it hears that process's end."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
    paths = [os.path.abspath(path) for path in sys.path if path]
    subprocess.Popen(
        [sys.executable, __file__, program, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    theirs.close()
    return ours


def serve(program: str, asker: socket.socket) -> None:
    """Fork for each question, and answer with the exit code."""
    for name in (*LIBRARIES[program], *(_modules() if program == CLI else ())):
        importlib.import_module(name)
    os.fsync = os.fdatasync = lambda handle: None  # as in conftest
    gc.freeze()  # the children write nothing into what they share
    while True:
        told, streams, _, _ = socket.recv_fds(asker, MOST_BYTES, 3)
        if not told:
            return
        child = os.fork()
        if child == 0:
            asker.close()
            _become(program, json.loads(told), streams)
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        asker.send(str(os.waitstatus_to_exitcode(status)).encode())


def _modules() -> Iterator[str]:
    """But for the programs among them, which DuckDB's process is one of."""
    package = Path(__file__).parent.parent / "python" / "flashtwin"
    for room in ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            if not name.endswith((".__main__", ".condition", ".launch")):
                yield name.removesuffix(".__init__")


def _become(program: str, asked: dict[str, object], streams: list[int]) -> None:
    """`python -m` the program, from its first line to the interpreter's end."""
    for stream, number in zip(streams, (0, 1, 2), strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(str(asked["cwd"]))
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]
    sys.argv = ["flashtwin", *asked["words"]]  # type: ignore[misc]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if program == CLI:
        from flashtwin.cli import program as main
    else:
        from flashtwin.runs.condition import main
    main()
    sys.exit(0)


if __name__ == "__main__":
    serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
