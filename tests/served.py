"""A drive served by a thread of this process, and a client that can misbehave."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest

from flashtwin.drives import control, served_log, serving
from flashtwin.drives.serving import Addresses, Service, Worse
from flashtwin.runner.target import Variant

SCALE = "1/176"
READ, WRITE, DISCONNECT, FLUSH, TRIM, CACHE, ZEROES, STATUS = range(8)
FUA = 1


def power_losses(smart: Mapping[str, Any]) -> int:
    """How often an ATA drive lost its power, as its SMART data tell."""
    rows = smart["ata_smart_attributes"]["table"]
    (count,) = (row["raw"]["value"] for row in rows if row["name"] == "Unexpect_Power_Loss_Ct")
    return int(count)


@dataclass
class Served:
    """Where a drive is served; `outcome` once it ended."""

    addresses: Addresses
    stop: threading.Event
    thread: threading.Thread
    outcome: dict[str, Any] = field(default_factory=dict)

    def order(self, order: str, **arguments: Any) -> dict[str, Any]:
        return control.send(self.addresses.control, {"order": order, **arguments})

    def state(self) -> dict[str, Any]:
        return self.order("state")

    def client(self) -> Client:
        return Client(self.addresses.socket)

    @property
    def uri(self) -> str:
        return self.addresses.uri


@contextmanager
def served(
    drive: str = "bx500-240",
    *,
    state: str = "fresh",
    sets: tuple[str, ...] = (),
    is_timed: bool = False,
    log_to: Path | None = None,
    log_bytes: bool = True,
    **options: Any,
) -> Iterator[Served]:
    """Serve a drive until the block ends."""
    spec = Variant(drive=drive, scale=SCALE, sets=sets, kept=False).spec()
    if log_to is not None:
        worse = options.get("worse", Worse())
        options["log"] = served_log.begun(
            log_to, spec, state=state, seed=1, worse=worse, with_bytes=log_bytes
        )
    begun: threading.Event = threading.Event()
    stop = threading.Event()
    places: list[Addresses] = []
    ends: list[Any] = []

    def ready(addresses: Addresses) -> None:
        places.append(addresses)
        begun.set()

    def run() -> None:
        try:
            service = Service(is_timed=is_timed, **options)
            ends.append(
                serving.serve(
                    spec,
                    lambda: serving.prepared(spec, state, 1),
                    service,
                    ready,
                    lambda state: not stop.is_set(),
                )
            )
        except BaseException as error:
            ends.append(error)
        begun.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(60)
    if not places:
        thread.join()
        raise ends[0]
    drive_served = Served(places[0], stop, thread)
    try:
        yield drive_served
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive(), "the server does not end"
        if isinstance(ends[0], BaseException):
            raise ends[0]
        drive_served.outcome.update(ends[0])


class Client:
    """An NBD client with simple replies."""

    def __init__(self, path: Path) -> None:
        self.link = socket.socket(socket.AF_UNIX)
        self.link.settimeout(30)
        self.link.connect(str(path))
        assert self.exactly(8) == b"NBDMAGIC"
        self.exactly(10)
        self.link.sendall(struct.pack(">I", 3))
        self.cookie = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.link.close()

    def go(self) -> Self:
        self.link.sendall(go())
        while True:
            _, _, kind, length = struct.unpack(">QIII", self.exactly(20))
            self.exactly(length)
            if kind == 1:
                return self
            assert kind == 3, hex(kind)

    def exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.link.recv(count - len(data))
            if not piece:
                raise ConnectionResetError("the server hung up")
            data += piece
        return data

    def send(self, kind: int, offset: int, length: int, data: bytes = b"", flags: int = 0) -> None:
        self.cookie += 1
        self.link.sendall(request(kind, offset, length, flags, self.cookie) + data)

    def error(self) -> int:
        magic, error, _ = struct.unpack(">IIQ", self.exactly(16))
        assert magic == 0x67446698
        return int(error)

    def ask(self, kind: int, offset: int, length: int, data: bytes = b"", flags: int = 0) -> int:
        """The error that a request ends with; 0 for none."""
        self.send(kind, offset, length, data, flags)
        return self.error()

    def write(self, offset: int, data: bytes, flags: int = 0) -> None:
        assert self.ask(WRITE, offset, len(data), data, flags) == 0

    def flush(self) -> None:
        assert self.ask(FLUSH, 0, 0) == 0

    def read(self, offset: int, length: int) -> bytes:
        assert self.ask(READ, offset, length) == 0
        return self.exactly(length)


def go() -> bytes:
    """The option that chooses the export."""
    return struct.pack(">QII", 0x49484156454F5054, 7, 6) + bytes(6)


def request(kind: int, offset: int, length: int, flags: int = 0, cookie: int = 7) -> bytes:
    """A request."""
    return struct.pack(">IHHQQI", 0x25609513, flags, kind, cookie, offset, length)


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skips a test where a program is not there, and says which."""
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def ran(*command: str | Path, cwd: Path | None = None) -> str:
    """What a program printed, which has to end well."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        # nbdinfo 1.14 describes contents by bytes that are no text.
        errors="replace",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
