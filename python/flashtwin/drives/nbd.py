"""The beginning of an NBD session: which export answers to a name, and how large it is.

Enough to find out whether a server is ours before anything is written to it; fio does the rest.
"""

from __future__ import annotations

import secrets
import socket
import struct
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from flashtwin.drives import control
from flashtwin.errors import ENVIRONMENT, REFUSED, USAGE, FlashtwinError

PREFIX = "nbd+unix:"
PATIENCE_S = 10.0
_MAGIC, _OPTION, _REPLY = 0x4E42444D41474943, 0x49484156454F5054, 0x3E889045565A9
_INFO, _ABORT, _ACK, _TELLS = 6, 2, 1, 3
_MOST_BYTES = 1 << 16


def socket_of(uri: str) -> Path:
    """The path of the unix socket that an address names."""
    parts = urlsplit(uri)
    paths = parse_qs(parts.query).get("socket", [])
    if parts.scheme != "nbd+unix" or len(paths) != 1 or parts.netloc:
        raise FlashtwinError(
            f"{uri} is no address of a unix socket",
            hint="write nbd+unix:///?socket=PATH, as flashtwin serve prints it",
            exit_code=USAGE,
        )
    return Path(paths[0])


def size_of(path: Path, name: str = "") -> int | None:
    """Bytes of the export that answers to a name; none where no export does."""
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE_S)
            link.connect(str(path))
            return _ask(link, name.encode())
    except (OSError, struct.error) as error:
        why = getattr(error, "strerror", None) or error
        raise FlashtwinError(
            f"no NBD server answers at {path}: {why}",
            hint="flashtwin serve prints the address of what it serves",
            exit_code=ENVIRONMENT,
        ) from error


def _ask(link: socket.socket, name: bytes) -> int | None:
    magic, option, flags = struct.unpack(">QQH", _exactly(link, 18))
    if (magic, option) != (_MAGIC, _OPTION) or not flags & 1:
        raise OSError("it speaks another language")
    query = struct.pack(">I", len(name)) + name + bytes(2)
    link.sendall(struct.pack(">IQII", 3, _OPTION, _INFO, len(query)) + query)
    size = None
    while True:
        magic, _, kind, length = struct.unpack(">QIII", _exactly(link, 20))
        if magic != _REPLY or length > _MOST_BYTES:
            raise OSError("it speaks another language")
        data = _exactly(link, length)
        if kind == _TELLS and length >= 12 and data[:2] == bytes(2):
            (size,) = struct.unpack(">Q", data[2:10])
        elif kind != _TELLS:
            link.sendall(struct.pack(">QII", _OPTION, _ABORT, 0))
            return size if kind == _ACK else None


def _exactly(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = link.recv(count - len(data))
        if not piece:
            raise OSError("it hung up")
        data += piece
    return data


def prove(path: Path) -> int:
    """Bytes of the export at a socket, which is proved to be one that `flashtwin serve` serves:
    its control socket, beside it, is told a word, and the export answers to that word."""
    where = path.with_name("ctl.sock")
    word = secrets.token_hex(16)
    try:
        control.send(where, {"order": "challenge", "token": word})
    except FlashtwinError as error:
        raise _foreign(path, error.message) from error
    size = size_of(path, word)
    if size is None:
        raise _foreign(path, f"{where} belongs to another server")
    return size


def _foreign(path: Path, why: str) -> FlashtwinError:
    return FlashtwinError(
        f"what is served at {path} is not known to be a simulated drive: {why}",
        hint="only what flashtwin serve serves is written to",
        exit_code=REFUSED,
    )
