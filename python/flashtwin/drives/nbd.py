"""A little of NBD: which export answers to a name, what it can, whose it is, flush and TRIM.

Enough to find out whether a server is ours before anything is written to it, and for what fio does
not do.
"""

from __future__ import annotations

import os
import secrets
import socket
import struct
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import parse_qs, unquote, urlsplit

from flashtwin import system
from flashtwin.drives import control
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError

PREFIX = "nbd+unix:"
PATIENCE_S = 10.0
_MAGIC, _OPTION, _REPLY = 0x4E42444D41474943, 0x49484156454F5054, 0x3E889045565A9
_INFO, _GO, _ABORT, _ACK, _TELLS = 6, 7, 2, 1, 3
_REQUEST, _ANSWER, _FLUSH, _TRIM = 0x25609513, 0x67446698, 3, 4
# A drive that is served in real time has this time for a flush or a TRIM.
_LONG_S = 300.0
# Bytes of the largest TRIM, of a sector (a TRIM is of whole ones), and of the longest answer to an
# option.
_MOST_TRIM, _SECTOR = 1 << 30, 512
_MOST_BYTES = 1 << 16
# Flags of an export.
_READ_ONLY, _TAKES_FLUSH, _TAKES_TRIM = 1 << 1, 1 << 2, 1 << 5


class Export(NamedTuple):
    """What a server says of an export. `foreign`: why it is not known to be a simulated drive;
    empty where it proved to be one."""

    name: str
    size_bytes: int
    flags: int
    foreign: str = ""

    @property
    def is_read_only(self) -> bool:
        """Whether the server lets nobody write."""
        return bool(self.flags & _READ_ONLY)

    @property
    def takes_flush(self) -> bool:
        """Whether it can be asked to make durable what it answered."""
        return bool(self.flags & _TAKES_FLUSH)

    @property
    def takes_trim(self) -> bool:
        """Whether ranges can be deallocated."""
        return bool(self.flags & _TAKES_TRIM)


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
    if not hasattr(socket, "AF_UNIX"):
        raise system.only_on("Linux and macOS", "served drives are reached")
    return Path(paths[0])


def name_in(uri: str) -> str:
    """The name of the export in an address; the server's own choice has an empty one."""
    return unquote(urlsplit(uri).path.removeprefix("/"))


def export_of(path: Path, name: str = "") -> Export | None:
    """The export that answers to a name; none where no export does."""
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE_S)
            link.connect(str(path))
            size_and_flags = _ask(link, name.encode(), _INFO)
            link.sendall(struct.pack(">QII", _OPTION, _ABORT, 0))
            return None if size_and_flags is None else Export(name, *size_and_flags)
    except (OSError, struct.error) as error:
        raise _silent(path, error) from error


def _silent(path: Path, error: Exception) -> FlashtwinError:
    why = getattr(error, "strerror", None) or error
    return FlashtwinError(
        f"no NBD server answers at {path}: {why}",
        hint="flashtwin serve prints the address of what it serves",
        exit_code=ENVIRONMENT,
    )


class Session:
    """A session with the export at a socket, for what fio does not do."""

    def __init__(self, path: Path, name: str = "") -> None:
        self._path, self._name = path, name
        self._link = socket.socket(socket.AF_UNIX)
        self._link.settimeout(_LONG_S)

    def __enter__(self) -> Self:
        try:
            self._link.connect(str(self._path))
            if _ask(self._link, self._name.encode(), _GO) is None:
                raise OSError("it has no export")
        except (OSError, struct.error) as error:
            self._link.close()
            raise _silent(self._path, error) from error
        return self

    def __exit__(self, *error: object) -> None:
        self._link.close()

    def flush(self) -> None:
        """Make durable what was answered."""
        self._request(_FLUSH, 0, 0)

    def trim(self, offset: int, size: int) -> None:
        """Deallocate a range, whose part of a sector at each end stays."""
        at, end = -(-offset // _SECTOR) * _SECTOR, (offset + size) // _SECTOR * _SECTOR
        while at < end:
            length = min(end - at, _MOST_TRIM)
            self._request(_TRIM, at, length)
            at += length

    def _request(self, kind: int, offset: int, length: int) -> None:
        try:
            self._link.sendall(struct.pack(">IHHQQI", _REQUEST, 0, kind, 0, offset, length))
            magic, number, _ = struct.unpack(">IIQ", _exactly(self._link, 16))
        except (OSError, struct.error) as error:
            raise _silent(self._path, error) from error
        if magic != _ANSWER or number:
            raise FlashtwinError(
                f"the drive at {self._path} failed: {os.strerror(number)}",
                hint="the terminal of flashtwin serve says why",
                exit_code=ENVIRONMENT,
            )


def _ask(link: socket.socket, name: bytes, option: int) -> tuple[int, int] | None:
    """Size and flags of an export; none where no export has the name."""
    magic, follows, flags = struct.unpack(">QQH", _exactly(link, 18))
    if (magic, follows) != (_MAGIC, _OPTION) or not flags & 1:
        raise OSError("it speaks another language")
    query = struct.pack(">I", len(name)) + name + bytes(2)
    link.sendall(struct.pack(">IQII", 3, _OPTION, option, len(query)) + query)
    size_and_flags = None
    while True:
        magic, _, kind, length = struct.unpack(">QIII", _exactly(link, 20))
        if magic != _REPLY or length > _MOST_BYTES:
            raise OSError("it speaks another language")
        data = _exactly(link, length)
        if kind == _TELLS and length >= 12 and data[:2] == bytes(2):
            size_and_flags = struct.unpack(">QH", data[2:12])
        elif kind != _TELLS:
            return size_and_flags if kind == _ACK else None


def _exactly(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = link.recv(count - len(data))
        if not piece:
            raise OSError("it hung up")
        data += piece
    return data


def look(uri: str) -> Export:
    """The export at an address, with its name for people, and whether it is one of ours.

    It is proved to be one that `flashtwin serve` serves: its control socket, beside it, is told a
    word, and the export answers to that word.
    """
    path = socket_of(uri)
    export = export_of(path, name_in(uri))
    if export is None:
        raise _silent(path, OSError(f"it has no export {name_in(uri)!r}"))
    where = control.beside(path)
    word = secrets.token_hex(16)
    try:
        name = str(control.send(where, {"order": "challenge", "token": word})["name"])
    except FlashtwinError as error:
        return export._replace(name=export.name or path.name, foreign=error.message)
    proved = export_of(path, word)
    if proved is None:
        foreign = f"{where} belongs to another server"
        return export._replace(name=export.name or path.name, foreign=foreign)
    return proved._replace(name=name)
