"""Clients that break off, ask for what there is not, do not read, or are too many."""

from __future__ import annotations

import os
import resource
import socket
import stat
import struct

import pytest
from served import CACHE, FLUSH, FUA, READ, STATUS, TRIM, WRITE, ZEROES, Client, go, request, served

KIB, MIB = 1 << 10, 1 << 20
INVALID, NO_SPACE = 22, 28


def test_a_client_may_break_off_at_any_byte() -> None:
    session = struct.pack(">I", 3) + go() + request(WRITE, 0, 512) + bytes([1] * 512)
    with served() as drive:
        for count in [*range(0, 90), 200, 500, len(session) - 1]:
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(str(drive.addresses.socket))
                link.sendall(session[:count])
        with drive.client().go() as client:
            client.write(0, bytes([2] * 512))
            assert client.read(0, 512) == bytes([2] * 512)


def test_wrong_requests_change_nothing() -> None:
    with served() as drive, drive.client().go() as client:
        size = drive.state()["capacity_bytes"]
        client.write(0, bytes([7] * 4096))
        cases = [
            (READ, 0, 0, b"", INVALID),
            (READ, 1, 512, b"", INVALID),
            (READ, size, 512, b"", INVALID),
            (READ, size - 512, 1024, b"", INVALID),
            (READ, 2**64 - 512, 1024, b"", INVALID),
            (READ, 0, 33 * MIB, b"", INVALID),
            (WRITE, 0, 33 * MIB, bytes(33 * MIB), INVALID),
            (WRITE, size, 512, bytes(512), NO_SPACE),
            (WRITE, 100, 512, bytes(512), INVALID),
            (WRITE, 0, 0, b"", INVALID),
            (TRIM, size - 512, 4096, b"", INVALID),
            (TRIM, 0, 0, b"", INVALID),
            (ZEROES, size, 512, b"", NO_SPACE),
            (CACHE, 0, 4096, b"", INVALID),
            (STATUS, 0, 4096, b"", INVALID),
            (99, 0, 512, b"", INVALID),
        ]
        for kind, offset, length, data, error in cases:
            assert client.ask(kind, offset, length, data) == error, (kind, offset, length)
        assert client.ask(READ, 0, 512, flags=1 << 12) == INVALID
        assert client.read(0, 4096) == bytes([7] * 4096)


def test_a_thousand_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if most < 2200:
        pytest.skip(f"this process may have {hard} files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    with served() as drive:
        clients = [drive.client() for _ in range(1000)]
        for client in (clients[0], clients[-1]):
            client.go().write(0, bytes([3] * 512))
        assert clients[0].read(0, 512) == bytes([3] * 512)
        for client in clients:
            client.link.close()
        with drive.client().go() as client:
            assert client.read(0, 512) == bytes([3] * 512)
        assert drive.state()["connections"] >= 1000


def test_a_slow_reader_holds_nobody_up() -> None:
    with served() as drive, drive.client().go() as slow:
        # More than a client may hold: the server stops reading from it.
        for _ in range(8):
            slow.send(READ, 0, 16 * MIB)
        with drive.client().go() as other:
            other.write(0, bytes([9] * 4096), FUA)
            assert other.read(0, 4096) == bytes([9] * 4096)
        for _ in range(8):
            assert slow.error() == 0
            slow.exactly(16 * MIB)


def test_a_client_may_send_a_lot_before_it_reads() -> None:
    """The reply that it has begun to read fills its socket; its requests fill the server's room."""
    flushes = 6000
    with served() as drive, drive.client().go() as client:
        client.send(READ, 0, 2 * MIB)
        assert client.error() == 0
        client.link.sendall(request(FLUSH, 0, 0) * flushes)
        # The server takes up no more than it has room for, and hangs up on nobody for it.
        assert drive.state()["clients"] == 2
        client.exactly(2 * MIB)
        assert [client.error() for _ in range(flushes)] == [0] * flushes


def test_sockets_are_their_owners_alone() -> None:
    with served(tcp="127.0.0.1:0", metrics="127.0.0.1:0") as drive:
        for path in (drive.addresses.socket, drive.addresses.control):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        home = drive.addresses.socket.parent
        host, _, port = str(drive.addresses.tcp).rpartition(":")
        assert host == "127.0.0.1"
        with socket.create_connection((host, int(port))) as link:
            assert link.recv(8) == b"NBDMAGIC"
        host, _, port = str(drive.addresses.metrics).rpartition(":")
        with socket.create_connection((host, int(port))) as link:
            link.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            text = b""
            while piece := link.recv(65536):
                text += piece
        assert b"flashtwin_writes_total" in text and text.endswith(b"# EOF\n")
    assert not home.exists()


def test_wrong_orders_are_answered() -> None:
    with served() as drive:
        for line in (b"x", b"{}", b"[1]", b'{"order": "fault", "fault": "slow-die", "die": -1}'):
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(str(drive.addresses.control))
                link.sendall(line + b"\n")
                assert b'"error"' in link.recv(4096)
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(10)
            link.connect(str(drive.addresses.control))
            try:
                link.sendall(os.urandom(1 << 20).replace(b"\n", b""))
                assert link.recv(1) == b""
            except ConnectionError:
                pass
        assert drive.state()["reads"] == 0


def test_an_old_client_gets_the_export_by_name() -> None:
    with served() as drive, drive.client() as client:
        client.link.sendall(struct.pack(">QII", 0x49484156454F5054, 1, 0))
        size, flags = struct.unpack(">QH", client.exactly(10))
        assert size == drive.state()["capacity_bytes"] and flags & 1
        client.write(4096, bytes([1] * 512))
        assert Client.read(client, 4096, 512) == bytes([1] * 512)
