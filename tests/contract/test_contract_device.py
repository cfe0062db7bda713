"""The drive contract on a block device, and what its instruments tell of a step."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from machines import MIB, Machine, lacking, looped, number_of

from flashtwin.batteries.base import registry
from flashtwin.drives.contract import check_drive
from flashtwin.drives.device.drive import Device
from flashtwin.drives.device.facts import facts_of
from flashtwin.drives.real.engines import Engine
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.step import Ask, Job, NotPossible, Purge, Rest, Result, Run
from flashtwin.model.target import Progress

pytestmark = pytest.mark.skipif(
    bool(lacking("fio")), reason=f"this machine lacks {', '.join(lacking('fio'))}"
)
SIZE = 64 * MIB
UNITS = 512_000

SMARTCTL = """#!{python}
import json
from pathlib import Path
count = Path({place!r}) / "count"
asked = int(count.read_text() or 0) if count.exists() else 0
count.write_text(str(asked + 1))
log = {{"data_units_written": 1000 * asked, "percentage_used": 3}}
print(json.dumps({{"model_name": "A DISK", "serial_number": "S4X9SECRET",
    "nvme_smart_health_information_log": log}}))
"""
NVME = """#!{python}
import json, sys
from pathlib import Path
asked = int((Path({place!r}) / "count").read_text()) - 1
if "smart-add-log" in sys.argv:
    print(json.dumps({{"Physical media units written": {{"hi": 0, "lo": 1500 * asked * {units}}}}}))
"""


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Path]:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(SIZE)
    with looped(image) as device:
        yield device


def go_on(progress: Progress) -> bool:
    return True


@pytest.mark.full
def test_a_device(loop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A loop device answers from the page cache of its file, some requests at once.
    monkeypatch.setattr(Engine, "holds_depth", False)
    make = partial(Device, facts_of(loop), writes=True, say=lambda text: None)
    check_drive(make)


@pytest.fixture
def instrumented(loop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A device that calls itself an NVMe drive, with a sensor and programs that tell of it."""
    machine = Machine(tmp_path / "machine", name="nvme0n1", number=number_of(loop), size=SIZE)
    sensor = machine.disk / "device/hwmon3/temp1_input"
    machine.put(sensor, "41850\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    words = {"python": shutil.which("python3"), "place": str(tmp_path), "units": UNITS}
    for name, text in (("smartctl", SMARTCTL), ("nvme", NVME)):
        (programs / name).write_text(text.format(**words))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    facts = facts_of(loop, roots=machine.roots)
    drive = Device(facts, writes=True, roots=machine.roots, say=lambda text: None)
    yield drive.open()
    drive.close()


def test_each_step_has_the_drive_s_own_counters(instrumented: Device) -> None:
    assert instrumented.info.can.smart
    job = Job(name="w", rw="write", block_bytes=MIB, depth=1, io_bytes=8 * MIB)
    answer = instrumented.do(Run(label="w", jobs=(job,)), go_on)
    assert isinstance(answer, Result)
    assert answer.note is not None
    assert "by the drive's own counters write amplification was 1.50" in answer.note


def test_a_step_has_the_temperature(instrumented: Device) -> None:
    can, source = instrumented.info.can, instrumented.info.identity["thermometer"]
    assert can.thermometer and not can.power_meter
    assert source == "the drive's own sensor, as the kernel reads it, each 1 s"
    assert isinstance(instrumented.do(Ask(label="m", of="temperature"), go_on), Result)
    registry.get("temperature").check(instrumented.info)
    answer = instrumented.do(Rest(label="rest", seconds=1.3), go_on)
    assert isinstance(answer, Result)
    assert set(answer.meter["temperature_mc"].tolist()) == {41850}
    assert len(answer.meter["t_ns"]) == len(answer.meter["dt_ns"]) >= 1


def test_a_device_that_was_pulled_is_told(instrumented: Device, tmp_path: Path) -> None:
    # No request of direct I/O has 1000 bytes.
    run = Run(label="r", jobs=(Job(name="r", rw="read", block_bytes=1000, size=MIB),))
    with pytest.raises(FlashtwinError, match="fio failed"):
        instrumented.do(run, go_on)
    (node,) = (tmp_path / "machine/sys/dev/block").iterdir()
    node.unlink()
    with pytest.raises(FlashtwinError, match="nvme0n1 is gone: ") as caught:
        instrumented.do(run, go_on)
    assert caught.value.exit_code == ENVIRONMENT


def test_smart_data_bear_no_name(instrumented: Device) -> None:
    answer = instrumented.do(Ask(label="smart", of="smart"), go_on)
    assert isinstance(answer, Result)
    assert answer.smart["model_name"] == "A DISK"
    assert "S4X9SECRET" not in json.dumps(answer.smart)


def test_without_a_purge_it_is_said(loop: Path) -> None:
    drive = Device(facts_of(loop), writes=True, purges=False, say=lambda text: None).open()
    try:
        assert not drive.info.can.purge
        answer = drive.do(Purge(label="purge"), go_on)
        assert isinstance(answer, NotPossible)
        assert "--no-purge" in answer.reason
    finally:
        drive.close()
