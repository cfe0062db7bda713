"""The control socket of a served drive: one order, one answer.

A socket that is not ours, not a server's, or that does not answer is told apart by what it does,
and nothing is sent to one that somebody else owns.
"""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flashtwin.errors import ENVIRONMENT, REFUSED, USAGE, FlashtwinError
from flashtwin.inputs import parse_json

PATIENCE_S = 60.0
# The names of the two sockets in a directory that is the drive's own.
SOCKET, CONTROL = "nbd.sock", "ctl.sock"
_MOST_BYTES = 1 << 20
_HINT = "flashtwin serve prints the path of its control socket"


def place(path: Path) -> Path:
    """The control socket at a path, or in the directory that the path names."""
    return path / CONTROL if path.is_dir() else path


def beside(socket: Path) -> Path:
    """The control socket of the drive whose NBD socket is at a path.

    A socket that the user named lies where others may lie too: its own name goes into that of the
    control socket.
    """
    name = CONTROL if socket.name == SOCKET else f"{socket.name}.ctl"
    return socket.with_name(name)


def send(path: Path, order: Mapping[str, Any]) -> dict[str, Any]:
    """Send an order; the answer is what the server says. Raises where it refuses."""
    where = place(path)
    try:
        status = where.stat()
    except OSError as error:
        raise FlashtwinError(
            f"no drive is served at {where}: {error.strerror}", hint=_HINT, exit_code=ENVIRONMENT
        ) from error
    if not stat.S_ISSOCK(status.st_mode):
        raise FlashtwinError(f"{where} is no socket", hint=_HINT, exit_code=USAGE)
    if status.st_uid not in (os.getuid(), 0):
        raise FlashtwinError(f"{where} belongs to somebody else", hint=_HINT, exit_code=REFUSED)
    answer = _exchange(where, json.dumps(order))
    if "error" in answer:
        raise FlashtwinError(
            f"the drive refuses: {answer['error']}",
            hint="flashtwin ctl --help says what a served drive can be told",
            exit_code=USAGE,
        )
    return answer


def _exchange(where: Path, line: str) -> dict[str, Any]:
    answer = b""
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE_S)
            link.connect(str(where))
            link.sendall(f"{line}\n".encode())
            while not answer.endswith(b"\n") and len(answer) < _MOST_BYTES:
                piece = link.recv(1 << 16)
                if not piece:
                    break
                answer += piece
    except OSError as error:
        raise FlashtwinError(
            f"the server at {where} does not answer: {error.strerror or error}",
            hint=_HINT,
            exit_code=ENVIRONMENT,
        ) from error
    try:
        value = parse_json(answer)
        if isinstance(value, dict):
            return value
    except ValueError:
        pass
    raise FlashtwinError(
        f"what listens at {where} is no server of a drive", hint=_HINT, exit_code=ENVIRONMENT
    )
