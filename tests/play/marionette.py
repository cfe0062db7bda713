"""Firefox without a window, told what to do over its own protocol (Marionette).

Playwright drives a Firefox of its own, and geckodriver is not in Debian; the protocol is a line of
JSON each way behind its length.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
MISSING = "Firefox is not installed; type: apt-get install firefox-esr"
PATIENCE_S = 120
# No request of its own goes out, and no page of its own is opened.
SETTINGS: Mapping[str, object] = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.enabled": False,
}


class Firefox:
    """A browser that has been started, with one page."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._file = self._socket.makefile("rb")
        self._number = 0
        self._answer()
        self.tell("WebDriver:NewSession", {"strictFileInteractability": False})

    def tell(self, command: str, words: Mapping[str, object]) -> Any:
        """A command of the protocol; the answer is its value."""
        self._number += 1
        text = json.dumps([0, self._number, command, words]).encode()
        self._socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, value = self._answer()
        assert error is None, error
        return value

    def run(self, script: str, *given: object) -> Any:
        """What a script in the page returns; `arguments` are the given values."""
        words = {"script": script, "args": list(given), "sandbox": None}
        return self.tell("WebDriver:ExecuteScript", words)["value"]

    def open(self, page: Path) -> None:
        self.tell("WebDriver:Navigate", {"url": page.as_uri()})
        self.wait("return document.documentElement.dataset.ready === 'true'")

    def wait(self, condition: str) -> None:
        """Until a script returns true."""
        ends = time.monotonic() + PATIENCE_S
        while not self.run(condition):
            assert time.monotonic() < ends, f"never: {condition}"
            time.sleep(0.05)

    def _answer(self) -> Any:
        digits = b""
        while not digits.endswith(b":"):
            digits += self._file.read(1)
        return json.loads(self._file.read(int(digits[:-1])))


@contextmanager
def firefox(profile: Path, **settings: object) -> Iterator[Firefox]:
    """Start one with a profile of its own; `settings` by names with `__` for a dot."""
    assert FIREFOX is not None, MISSING
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    named = {name.replace("__", "."): value for name, value in settings.items()}
    rows = {**SETTINGS, "marionette.port": port, **named}
    profile.mkdir(parents=True)
    lines = [
        f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in rows.items()
    ]
    (profile / "user.js").write_text("".join(lines))
    process = subprocess.Popen(
        [FIREFOX, "--headless", "--no-remote", "--marionette", "--profile", profile],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield Firefox(_listening(port, process))
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


def _listening(port: int, process: subprocess.Popen[bytes]) -> int:
    ends = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < ends:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return port
        time.sleep(0.1)
    raise AssertionError("Firefox did not start")
