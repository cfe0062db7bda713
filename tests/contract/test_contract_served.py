"""The drive contract on a served twin, in real time through fio's nbd engine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "serve"))

from processes import wait_for  # noqa: E402
from served import needs, power_losses, served  # noqa: E402

from flashtwin.drives import nbd  # noqa: E402
from flashtwin.drives.consent import Consent  # noqa: E402
from flashtwin.drives.contract import check_drive  # noqa: E402
from flashtwin.errors import RefusedError  # noqa: E402
from flashtwin.model.drive import Drive  # noqa: E402
from flashtwin.model.job import Job  # noqa: E402
from flashtwin.model.step import (  # noqa: E402
    Fill,
    NotPossible,
    Purge,
    Result,
    Run,
    Step,
    Trim,
)
from flashtwin.runner.target import served_target  # noqa: E402

WRITES, READS = (
    Run(label=rw, jobs=(Job(name=rw, rw=rw, block_bytes=4096, depth=4, io_bytes=64 * 4096),))
    for rw in ("randwrite", "randread")
)
pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def test_served_twin() -> None:
    with served(is_timed=True) as drive:
        check_drive(served_target(drive.uri, say=lambda text: None).make)


def asked(drive: Drive, step: Step) -> Result | NotPossible:
    with closing(drive):
        return drive.open().do(step, lambda progress: True)


def test_an_export_that_is_not_ours_is_only_read(tmp_path: Path) -> None:
    with served() as drive:
        foreign = tmp_path / "nbd.sock"
        foreign.symlink_to(drive.addresses.socket)
        uri = f"nbd+unix:///?socket={foreign}"
        # The control socket of another server proves nothing.
        with served() as other:
            (tmp_path / "ctl.sock").symlink_to(other.addresses.control)
            assert "belongs to another server" in nbd.look(uri).foreign
        target = served_target(uri, say=lambda text: None)
        for step in (WRITES, Trim(label="trim"), Fill(label="fill"), Purge(label="purge")):
            answer = asked(target.make(), step)
            assert isinstance(answer, NotPossible) and "--destroy-data" in answer.reason
        assert isinstance(asked(target.make(), READS), Result)
        state = drive.state()
        assert (state["writes"], state["trims"], state["reads"]) == (0, 0, 64)


@needs("nbdkit")
def test_anybodys_export_is_written_to_with_its_name_typed_back(tmp_path: Path) -> None:
    socket = tmp_path / "disk"
    command = ["nbdkit", "-f", "-U", str(socket), "-e", "photos", "memory", "64M"]
    with subprocess.Popen(command) as server:
        try:
            assert wait_for(socket.exists, 30)
            uri = f"nbd+unix:///photos?socket={socket}"

            def written(*words: str) -> Result | NotPossible:
                consent = Consent(destroy=True, words=words)
                target = served_target(uri, consent=consent, say=lambda text: None)
                assert target.confirm is not None
                target.confirm(1 << 20)
                return asked(target.make(), WRITES)

            assert isinstance(asked(served_target(uri).make(), WRITES), NotPossible)
            for words in ((), ("music",), ("photos", "music")):
                with pytest.raises(RefusedError):
                    written(*words)
            assert isinstance(written("photos"), Result)
        finally:
            server.terminate()


def test_name_and_size_are_typed_back(tmp_path: Path) -> None:
    with served() as drive:
        foreign = tmp_path / "disk"
        foreign.symlink_to(drive.addresses.socket)
        uri = f"nbd+unix:///?socket={foreign}"
        size = str(drive.state()["capacity_bytes"])
        for answers, consents in ((("disk", size), True), (("disk", "1"), False)):
            typed, lines = [*answers, "", ""], list[str]()
            consent = Consent(
                destroy=True, ask=lambda text, typed=typed: typed.pop(0), say=lines.append
            )
            target = served_target(uri, consent=consent, say=lambda text: None)
            assert target.confirm is not None
            if consents:
                target.confirm(1 << 20)
            else:
                with pytest.raises(RefusedError, match="size was not typed"):
                    target.confirm(1 << 20)
            assert any("ALL DATA" in line for line in lines)


def test_drives_at_named_sockets_of_one_directory_are_told_apart(tmp_path: Path) -> None:
    with served(socket=tmp_path / "a") as one, served(socket=tmp_path / "b") as other:
        one.order("cut", off_s=0)
        drives = [served_target(each.uri, say=lambda text: None).make() for each in (one, other)]
        assert [power_losses(drive.smart()) for drive in drives] == [1, 0]
