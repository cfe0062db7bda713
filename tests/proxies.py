"""A proxy that promises a way and hangs up, for tests of installing."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator

import pytest


class BreaksOff(socketserver.BaseRequestHandler):
    """A proxy that promises a way and hangs up."""

    def handle(self) -> None:
        self.request.recv(4096)
        self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n\x16")


@pytest.fixture
def proxy() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), BreaksOff) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
