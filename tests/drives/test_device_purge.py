"""How a device is erased: by the first command that does something, never believed, and never one
that would erase more than the device."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from machines import MIB, Machine, lacking, looped, number_of

from flashtwin.drives.device import purge
from flashtwin.drives.device.held import Held
from flashtwin.errors import FlashtwinError
from flashtwin.model.target import Interrupted

pytestmark = pytest.mark.skipif(
    bool(lacking()), reason=f"this machine lacks {', '.join(lacking())}"
)
SIZE = 16 * MIB
NVME = """#!{python}
import json, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(" ".join(words) + "\\n")
if words[0] == "id-ctrl":
    print(json.dumps({{"sanicap": {sanicap}, "oacs": {oacs}, "nn": 32}}))
elif words[0] == "list-ns" and {spaces}:
    print(json.dumps({{"nsid_list": [{{"nsid": 1 + number}} for number in range({spaces})]}}))
elif words[0] == "id-ns":
    print(json.dumps({{"flbas": 0x21}}))
elif words[0] == "sanitize-log":
    print(json.dumps({{"nvme0": {{"sprog": 65535, "sstat": {{"status": "0x{status:x}"}}}}}}))
elif words[0] in {erases!r}:
    with open({image!r}, "r+b") as file:
        file.write(bytes({size}))
elif words[0] in {fails!r}:
    sys.exit("NVMe status: Invalid Command Opcode")
"""


@pytest.fixture
def image(tmp_path: Path) -> Path:
    place = tmp_path / "image"
    place.write_bytes(b"precious" * (SIZE // 8))
    return place


class Stand:
    """A loop device that calls itself an NVMe drive, and an nvme that does as it is told."""

    def __init__(self, place: Path, image: Path, loop: Path) -> None:
        self.place, self.image, self.loop = place, image, loop
        self.machine = Machine(place / "machine", name="nvme0n1", number=number_of(loop), size=SIZE)
        self.log = place / "log"
        self.log.touch()

    def nvme(
        self,
        patch: pytest.MonkeyPatch,
        *,
        sanicap: int = 0,
        oacs: int = 0,
        status: int = 1,
        spaces: int = 1,
        erases: tuple[str, ...] = (),
        fails: tuple[str, ...] = (),
    ) -> None:
        folder = self.place / "bin"
        folder.mkdir()
        text = NVME.format(
            python=shutil.which("python3"),
            log=str(self.log),
            image=str(self.image),
            size=SIZE,
            sanicap=sanicap,
            oacs=oacs,
            status=status,
            spaces=spaces,
            erases=erases,
            fails=fails,
        )
        (folder / "nvme").write_text(text)
        (folder / "nvme").chmod(0o755)
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def discards(self) -> None:
        self.machine.put(self.machine.disk / "queue/discard_max_bytes", "4294966784")

    @contextmanager
    def held(self) -> Iterator[Held]:
        held = Held(self.loop, writes=True, roots=self.machine.roots)
        try:
            yield held
        finally:
            held.close()

    def asked(self) -> list[str]:
        return [line.split()[0] for line in self.log.read_text().splitlines()]


@pytest.fixture
def stand(image: Path, tmp_path: Path) -> Iterator[Stand]:
    with looped(image) as loop:
        yield Stand(tmp_path, image, loop)


def go_on(progress: object) -> bool:
    return True


def test_sanitize_comes_first(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    stand.nvme(monkeypatch, sanicap=3, oacs=2 | 8, erases=("sanitize",))
    with stand.held() as held:
        outcome = purge.purge(held, go_on)
    assert not isinstance(outcome, str)
    assert outcome.by == "NVMe sanitize (block erase)"
    assert "none of 64 marks is left, 64 places read as zeros" in outcome.seen
    assert "format" not in stand.asked()


def test_a_format_that_lies_is_not_believed(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    stand.nvme(monkeypatch, oacs=2)
    stand.discards()
    with stand.held() as held:
        outcome = purge.purge(held, go_on)
    assert not isinstance(outcome, str)
    assert outcome.by == "TRIM of everything"
    assert "NVMe format: said that it is done and left 64 of 64 marks" in str(outcome)


def test_a_format_keeps_the_form_of_its_sectors(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.nvme(monkeypatch, oacs=2, erases=("format",))
    with stand.held() as held:
        assert not isinstance(purge.purge(held, go_on), str)
    (line,) = [line for line in stand.log.read_text().splitlines() if line.startswith("format")]
    # Format 1 and bit 5: the upper half of the number of a drive with more than 16 forms.
    assert "--lbaf=17" in line
    assert "--ses=1" in line


@pytest.mark.parametrize(
    ("status", "fails"), [(3, ()), (1, ("sanitize", "format"))], ids=["log", "refused"]
)
def test_what_fails_is_told(
    status: int, fails: tuple[str, ...], stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.nvme(monkeypatch, sanicap=2, oacs=2, status=status, fails=fails)
    with stand.held() as held:
        outcome = purge.purge(held, go_on)
    assert isinstance(outcome, str)
    assert outcome.startswith("nothing erased the drive (NVMe sanitize (block erase): ")


def test_another_namespace_is_never_erased_with_it(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.nvme(monkeypatch, sanicap=3, oacs=2, erases=("sanitize", "format"))
    controller = stand.place / "controller"
    (controller / "nvme0n2").mkdir(parents=True)
    (stand.machine.disk / "device").symlink_to(controller)
    with stand.held() as held:
        assert held.facts.siblings == ("nvme0n2",)
        assert not purge.can_purge(held)
        assert isinstance(purge.purge(held, go_on), str)
    assert {"sanitize", "format"}.isdisjoint(stand.asked())
    assert stand.image.read_bytes() == b"precious" * (SIZE // 8)


@pytest.mark.parametrize("spaces", [0, 2])
def test_a_namespace_that_is_not_attached_is_kept(
    spaces: int, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no device of this machine; where the list of them cannot be read nobody knows."""
    stand.nvme(monkeypatch, sanicap=3, oacs=2 | 8, spaces=spaces, erases=("sanitize", "format"))
    with stand.held() as held:
        assert not purge.can_purge(held)
    assert {"sanitize", "format"}.isdisjoint(stand.asked())


def test_nothing_is_erased_once_somebody_uses_it(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.nvme(monkeypatch, sanicap=3, oacs=2, erases=("sanitize", "format"))
    stand.discards()
    with stand.held() as held:
        stand.machine.mounted(stand.machine.number, "/data", "/dev/nvme0n1")
        for destroy in (
            lambda: purge.purge(held, go_on),
            lambda: purge.discard(held, 0, SIZE, go_on),
        ):
            with pytest.raises(FlashtwinError, match="is mounted at /data"):
                destroy()
    assert {"sanitize", "format"}.isdisjoint(stand.asked())
    assert stand.image.read_bytes() == b"precious" * (SIZE // 8)


def test_a_device_that_is_read_is_not_purged(stand: Stand) -> None:
    stand.discards()
    held = Held(stand.loop, writes=False, roots=stand.machine.roots)
    try:
        assert not purge.can_purge(held)
        with pytest.raises(FlashtwinError, match="for reading alone"):
            purge.purge(held, go_on)
    finally:
        held.close()
    assert stand.image.read_bytes() == b"precious" * (SIZE // 8)


def test_trim_takes_a_range_alone(stand: Stand) -> None:
    stand.discards()
    with stand.held() as held:
        purge.discard(held, MIB + 7, MIB, go_on)
    data = stand.image.read_bytes()
    whole = b"precious" * (SIZE // 8)
    assert data[: MIB + 7] == whole[: MIB + 7]
    assert not any(data[MIB + 512 : 2 * MIB])
    assert data[2 * MIB + 512 :] == whole[2 * MIB + 512 :]


def test_a_signal_ends_a_trim(stand: Stand) -> None:
    stand.discards()
    with stand.held() as held, pytest.raises(Interrupted):
        purge.discard(held, 0, SIZE, lambda progress: False)


HDPARM = """#!/bin/sh
echo "$*" >> {log}
case "$1" in
-I) printf 'Security:\\n\\tMaster password revision code = 65534\\n\\t\\tsupported\\n{rows}' ;;
esac
case "$*" in *--security-erase*) {erase} ;; esac
"""
FREE = "\\tnot\\tenabled\\n\\tnot\\tlocked\\n\\tnot\\tfrozen\\n"


@pytest.mark.parametrize(
    ("rows", "erase", "words"),
    [
        (FREE, "head -c {size} /dev/zero | dd of={image} conv=notrunc 2> /dev/null", None),
        (FREE, "exit 5", "password was taken off again"),
        (FREE, ":", "left 64 of 64 marks"),
        (FREE.replace("not\\tfrozen", "\\tfrozen"), ":", "its security is frozen"),
        (FREE.replace("not\\tenabled", "\\tenabled"), ":", "its security is enabled"),
    ],
)
def test_ata_secure_erase(
    rows: str, erase: str, words: str | None, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stand.place / "bin"
    folder.mkdir()
    erase = erase.format(size=SIZE, image=stand.image)
    text = HDPARM.format(log=stand.log, rows=rows.replace("\\t", "\\t"), erase=erase)
    (folder / "hdparm").write_text(text)
    (folder / "hdparm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    machine = Machine(stand.place / "ata", number=number_of(stand.loop), size=SIZE)
    machine.put(machine.disk / "link1/ata_link/link1/sata_spd", "6.0 Gbps")
    held = Held(stand.loop, writes=True, roots=machine.roots)
    try:
        outcome = purge.purge(held, go_on)
    finally:
        held.close()
    commands = stand.log.read_text()
    if words is None:
        assert not isinstance(outcome, str), outcome
        assert outcome.by == "ATA secure erase"
        return
    assert isinstance(outcome, str) and words in outcome
    # A drive that refuses stays without our password.
    assert ("--security-disable" in commands) is (erase == "exit 5")
    if "security is" in words:
        assert "--security-set-pass" not in commands


def test_json_of_any_tool_is_bounded(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program called nvme may be anything."""
    folder = stand.place / "bin"
    folder.mkdir()
    for answer in ("[]", "{", "null", json.dumps({"oacs": "x"}), '{"oacs": null}'):
        (folder / "nvme").write_text(f"#!/bin/sh\necho '{answer}'\n")
        (folder / "nvme").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        with stand.held() as held:
            assert not purge.can_purge(held)
