"""The drive contract on a served twin, in real time through fio's nbd engine."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "serve"))

from served import power_losses, served  # noqa: E402

from flashtwin.drives.contract import check_drive  # noqa: E402
from flashtwin.errors import RefusedError  # noqa: E402
from flashtwin.runner.target import served_target  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def test_served_twin() -> None:
    with served(is_timed=True) as drive:
        check_drive(served_target(drive.uri, say=lambda text: None).make)


def test_an_export_that_is_not_ours_is_not_written_to(tmp_path: Path) -> None:
    with served() as drive:
        foreign = tmp_path / "nbd.sock"
        foreign.symlink_to(drive.addresses.socket)
        with pytest.raises(RefusedError, match="not known to be a simulated drive"):
            served_target(f"nbd+unix:///?socket={foreign}")
        # The control socket of another server proves nothing.
        with served() as other:
            (tmp_path / "ctl.sock").symlink_to(other.addresses.control)
            with pytest.raises(RefusedError, match="belongs to another server"):
                served_target(f"nbd+unix:///?socket={foreign}")
        assert drive.state()["writes"] == 0


def test_drives_at_named_sockets_of_one_directory_are_told_apart(tmp_path: Path) -> None:
    with served(socket=tmp_path / "a") as one, served(socket=tmp_path / "b") as other:
        one.order("cut", off_s=0)
        drives = [served_target(each.uri, say=lambda text: None).make() for each in (one, other)]
        assert [power_losses(drive.smart()) for drive in drives] == [1, 0]
