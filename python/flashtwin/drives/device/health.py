"""What a drive says of itself: SMART data, a maker's log, and its temperature.

smartctl's JSON is the form in which it is kept; nvme-cli's log is put into that form where smartctl
is not there, and its OCP log, which counts what was written to flash, is kept beside it. Invariant:
nothing that names the device leaves this module (`identity.without_secrets`).
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

from flashtwin.drives.device import identity, tools
from flashtwin.drives.device.facts import Facts, line
from flashtwin.model import smart

# A drive's sensor has a new value about once a second.
EVERY_S = 1.0


def of(facts: Facts) -> dict[str, Any]:
    """SMART data now, as smartctl prints them; empty where nobody may ask or nothing answers."""
    path = str(facts.path)
    data = tools.asked(["smartctl", "--json", "--all", path])
    if not smart.has_counters(data) and facts.name.startswith("nvme"):
        log = tools.asked(["nvme", "smart-log", path, "--output-format=json"])
        data = smart.of_nvme_cli(log, facts.model, facts.firmware) if log else {}
    if not smart.has_counters(data):
        return {}
    if facts.name.startswith("nvme"):
        ocp = tools.asked(["nvme", "ocp", "smart-add-log", path, "--output-format=json"])
        data = {**data, **({smart.OCP: ocp} if ocp else {})}
    plain: dict[str, Any] = identity.without_secrets(data, facts.secrets)
    return plain


class Thermometer:
    """The temperature of a drive while a step goes on, from the kernel's sensor: nothing is sent
    to the drive but what the sensor's driver sends."""

    def __init__(self, disk: Path) -> None:
        self._sensor = next(iter(sorted((disk / "device").glob("hwmon*/temp1_input"))), None) or (
            next(iter(sorted((disk / "device").glob("hwmon/hwmon*/temp1_input"))), None)
        )
        self._rows: list[tuple[int, int]] = []
        self._last_s = 0.0

    @property
    def is_there(self) -> bool:
        """Whether the drive has a sensor that the kernel reads."""
        return self.now() is not None

    def now(self) -> int | None:
        """Thousandths of a degree Celsius."""
        if self._sensor is None:
            return None
        with contextlib.suppress(ValueError):
            return int(line(self._sensor))
        return None

    def begin(self) -> None:
        """A step begins."""
        self._rows, self._last_s = [], 0.0

    def look(self, at_ns: int) -> None:
        """Note a value if the last one is old enough; `at_ns` since the step began."""
        now_s = time.monotonic()
        if self._sensor is None or now_s - self._last_s < EVERY_S:
            return
        if (value := self.now()) is not None:
            self._rows.append((at_ns, value))
            self._last_s = now_s

    @property
    def rows(self) -> list[tuple[int, int]]:
        """Nanoseconds since the step began, and the temperature then."""
        return self._rows
