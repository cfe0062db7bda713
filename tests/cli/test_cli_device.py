"""The program on a block device: read by anybody who may, written to by consent alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import MIB, lacking, looped, unchanged
from processes import group_lives, reached
from program import begun, flashtwin
from thinning import thinned

PROGRAMS = ("fio", "mkfs.ext4", "mount", "umount")
pytestmark = pytest.mark.skipif(
    bool(lacking(*PROGRAMS)), reason=f"this machine lacks {', '.join(lacking(*PROGRAMS))}"
)
FILL = "fill:patterns=1m-q1,passes=1,idle_s=0"
REACH = "reach:least=16MiB,settle_s=0,seconds=0.2s"


@pytest.fixture
def image(tmp_path: Path) -> Path:
    place = tmp_path / "image"
    place.write_bytes(b"precious" * (64 * MIB // 8))
    return place


@pytest.fixture
def loop(image: Path) -> Iterator[Path]:
    with looped(image) as device:
        yield device


def test_without_consent_it_is_only_read(loop: Path, image: Path, tmp_path: Path) -> None:
    with unchanged(image):
        done = flashtwin(
            *[
                "test",
                str(loop),
                "--battery",
                REACH,
                "--out",
                "r",
            ],
            *["--json", "--no-report"],
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    assert "others may write to it" in done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert any(row["id"].startswith("reach.latency") for row in run["findings"])


def test_a_battery_that_writes_is_refused(loop: Path, image: Path, tmp_path: Path) -> None:
    with unchanged(image):
        done = flashtwin(
            "test", str(loop), "--battery", FILL, "--out", "r", "--no-report", cwd=tmp_path
        )
    assert done.returncode == 2, done.stderr
    assert f"{loop.name} can do nothing that fill asks for" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--destroy-data"], "nobody can be asked here"),
        (["--yes-destroy", "another"], "is none of its words"),
        (["--yes-destroy", ""], "is none of its words"),
    ],
)
def test_without_its_words_each_byte_stays(
    options: list[str], words: str, loop: Path, image: Path, tmp_path: Path
) -> None:
    with unchanged(image):
        done = flashtwin("test", str(loop), "--battery", FILL, *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    assert words in done.stderr
    assert "ALL DATA ON IT WILL BE LOST" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["image"]


def test_a_label_is_a_word_too(loop: Path, image: Path, tmp_path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", "-L", "holiday", str(loop)], check=True)
    command = ["test", str(loop), "--battery", FILL, "--out", "r", "--yes-destroy", str(image)]
    with unchanged(image):
        done = flashtwin(*command, cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "its label was not given" in done.stderr
    done = flashtwin(*command, "--yes-destroy", "holiday", "--no-report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_mounted_device_is_refused_whatever_is_said(
    loop: Path, image: Path, tmp_path: Path
) -> None:
    subprocess.run(["mkfs.ext4", "-q", str(loop)], check=True)
    (tmp_path / "at").mkdir()
    subprocess.run(["mount", "-o", "ro", str(loop), str(tmp_path / "at")], check=True)
    try:
        os.sync()
        with unchanged(image):
            done = flashtwin(
                *["test", str(loop), "--battery", FILL, "--yes-destroy", str(image)], cwd=tmp_path
            )
            # It may be read meanwhile.
            words = ["--battery", REACH, "--out", "r", "--no-report"]
            read = flashtwin("test", str(loop), *words, cwd=tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path / "at")], check=True)
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    assert f"{loop.name} is mounted at {tmp_path / 'at'}" in done.stderr
    assert read.returncode == 0, read.stderr


def test_a_run_says_nothing_of_who_the_device_is(loop: Path, image: Path, tmp_path: Path) -> None:
    """The backing file stands for the serial number of a loop device; names in /dev/disk hold it
    too."""
    by_id = tmp_path / "ata-DISK_S4X9SECRET"
    by_id.symlink_to(loop)
    done = flashtwin(
        *["test", str(by_id), "--battery", FILL, "--out", "r", "--yes-destroy", str(image)],
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    run = tmp_path / "r"
    for path in (path for path in run.rglob("*") if path.is_file()):
        assert str(image).encode() not in path.read_bytes(), path
        assert b"S4X9SECRET" not in path.read_bytes(), path
    manifest = json.loads((run / "manifest.json").read_text())
    host = json.loads((run / "host.json").read_text())
    assert manifest["target"]["kind"] == "device"
    assert "--destroy-data" in manifest["command"]
    assert {*host["drive"]} == {"salt", "hash"}
    assert "erased by TRIM of everything" in (run / "steps.jsonl").read_text()


def test_no_purge_is_said(loop: Path, image: Path, tmp_path: Path) -> None:
    done = flashtwin(
        *["test", str(loop), "--battery", FILL, "--out", "r", "--yes-destroy", str(image)],
        *["--no-purge", "--json", "--no-report"],
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "not erased" in done.stdout


def test_it_goes_on_with_the_device_by_its_hash(loop: Path, image: Path, tmp_path: Path) -> None:
    words = ["--yes-destroy", str(image)]
    battery = "fill:patterns=1m-q1,passes=2,idle_s=4s"
    process = begun("test", str(loop), "--battery", battery, "--out", "r", *words, cwd=tmp_path)
    journal = tmp_path / "r" / "steps.jsonl"
    reached(process, lambda: journal.exists() and "pass-1" in journal.read_text())
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    with unchanged(image):
        refused = flashtwin("test", "--resume", "r", cwd=tmp_path)
    assert refused.returncode == 4, refused.stderr
    assert "--destroy-data" in refused.stderr
    resumed = flashtwin("test", "--resume", "r", *words, "--no-report", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert "taken up on the drive as it is now" in resumed.stderr


def test_a_killed_process_leaves_neither_fio_nor_a_hold(
    loop: Path, image: Path, tmp_path: Path
) -> None:
    battery = "fill:patterns=1m-q1,passes=2,idle_s=60s"
    process = begun(
        *["test", str(loop), "--battery", battery, "--out", "r", "--yes-destroy", str(image)],
        cwd=tmp_path,
    )
    journal = tmp_path / "r" / "steps.jsonl"
    reached(process, lambda: journal.exists() and "pass-1" in journal.read_text())
    with pytest.raises(OSError, match="busy"):
        os.open(loop, os.O_RDONLY | os.O_EXCL)
    process.kill()
    process.communicate(timeout=60)
    os.close(os.open(loop, os.O_RDONLY | os.O_EXCL))
    assert not group_lives(process.pid)


FAKE = """#!/bin/sh
case "$1" in --version) echo fio-3.33; exit ;; esac
{answer}
"""


@pytest.mark.parametrize(
    ("answer", "words"),
    thinned(
        [
            ("echo 'fio: io_u error' >&2; exit 2", "io_u error"),
            ("exit 1", "fio cannot read"),
            ("exit 0", "fio gave no result"),
            ("kill -9 $$", "SIGKILL"),
            ("echo '{}' > answer.json", "fio gave no result"),
            ("head -c 100000 /dev/zero", "fio gave no result"),
        ],
        every=3,
    ),
)
def test_a_fio_that_is_none(
    answer: str, words: str, loop: Path, image: Path, tmp_path: Path
) -> None:
    """One sentence, each byte as it was, and the device is given back."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "fio").write_text(FAKE.format(answer=answer))
    (programs / "fio").chmod(0o755)
    with unchanged(image):
        done = flashtwin(
            *["test", str(loop), "--battery", "reach:least=16MiB,settle_s=0", "--out", "r"],
            cwd=tmp_path,
            PATH=f"{programs}:{os.environ['PATH']}",
        )
    assert done.returncode == 3, done.stderr
    assert words in done.stderr or "fio" in done.stderr
    assert "Traceback" not in done.stderr
    os.close(os.open(loop, os.O_RDONLY | os.O_EXCL))


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_size_and_scale_do_not_belong_to_a_device(loop: Path, image: Path, tmp_path: Path) -> None:
    with unchanged(image):
        for options in (["--size", "1GB"], ["--scale", "1/2"]):
            done = flashtwin("test", str(loop), *options, cwd=tmp_path)
            assert done.returncode == 2, done.stderr
            assert "is a device" in done.stderr


@pytest.mark.full
def test_same_measures_a_device_as_the_run_was(loop: Path, image: Path, tmp_path: Path) -> None:
    """It is only read, and known by the hash that the run keeps."""
    reach = "reach:least=16MiB,settle_s=0,seconds=0.2s"
    words = ["test", str(loop), "--battery", reach, "--out", "first", "--no-report", "-q"]
    with unchanged(image):
        assert flashtwin(*words, cwd=tmp_path).returncode == 0
        done = flashtwin("same", "first", str(loop), "--json", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["drives"]
    assert any("the very device" in note for note in row["notes"])
    assert (tmp_path / row["run"] / "manifest.json").exists()


def test_a_meter_s_file_that_is_wrong_is_told_before_a_byte(
    loop: Path, image: Path, tmp_path: Path
) -> None:
    (tmp_path / "meter.csv").write_text("time,power_w\n1780000000,1\n1780000001,much\n")
    words = ["--yes-destroy", str(image), "--power", "meter.csv", "--out", "r"]
    with unchanged(image):
        done = flashtwin("test", str(loop), "--battery", FILL, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "meter.csv, line 3: 'much' is not a number" in done.stderr
    assert not (tmp_path / "r").exists()
