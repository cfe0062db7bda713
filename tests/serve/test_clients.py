"""Others' clients on a served drive: what they write is what they read."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

from served import needs, ran, served

MIB = 1 << 20


def image(path: Path, size: int = 8 * MIB) -> Path:
    """A file of data that is not the same anywhere."""
    path.write_bytes(random.Random(1).randbytes(size))
    return path


@needs("nbdinfo")
def test_nbdinfo_sees_all_abilities() -> None:
    with served() as drive:
        (export,) = json.loads(ran("nbdinfo", "--json", drive.uri))["exports"]
        regions = json.loads(ran("nbdinfo", "--map", "--json", drive.uri))
    for ability in ("can_fua", "can_flush", "can_trim", "can_zero", "can_multi_conn", "can_df"):
        assert export[ability], ability
    assert not export["is_read_only"] and not export["can_cache"]
    sizes = ("block_size_minimum", "block_size_preferred", "block_size_maximum")
    assert [export[size] for size in sizes] == [512, 4096, 32 * MIB]
    assert export["contexts"] == ["base:allocation"]
    assert [region["type"] for region in regions] == [3]


@needs("nbdcopy", "nbdinfo")
def test_nbdcopy_brings_back_what_it_wrote(tmp_path: Path) -> None:
    there, back = image(tmp_path / "there"), tmp_path / "back"
    with served() as drive:
        ran("nbdcopy", there, drive.uri)
        ran("nbdcopy", drive.uri, back)
        regions = json.loads(ran("nbdinfo", "--map", "--json", drive.uri))
    with back.open("rb") as file:
        assert file.read(8 * MIB) == there.read_bytes()
        assert not any(file.read(MIB))
    assert (regions[0]["length"], regions[0]["type"]) == (8 * MIB, 0)


@needs("qemu-io", "qemu-img")
def test_qemu_writes_with_fua_and_discards(tmp_path: Path) -> None:
    commands = [
        *("write -P 5 0 64k", "write -f -P 6 4k 4k", "discard 16k 4k", "write -z 32k 8k"),
        *("write -P 9 1536 512", "flush", "read -P 5 0 1536", "read -P 9 1536 512"),
        *("read -P 6 4k 4k", "read -P 0 16k 4k", "read -P 0 32k 8k", "read -P 5 8k 8k"),
    ]
    words = [word for command in commands for word in ("-c", command)]
    with served() as drive:
        ran("qemu-io", "-f", "raw", "-d", "unmap", *words, drive.uri)
        state = drive.state()
        size = state["capacity_bytes"]
        there = image(tmp_path / "there")
        os.truncate(there, size)
        convert = ("qemu-img", "convert", "-n", "--target-is-zero", "-f", "raw", "-O", "raw")
        ran(*convert, there, drive.uri)
        ran("qemu-img", "compare", "-f", "raw", "-F", "raw", there, drive.uri)
    assert state["fua_writes"] >= 1 and state["trims"] >= 1 and state["flushes"] >= 1


@needs("nbdkit", "nbdcopy")
def test_checkwrite_of_nbdkit_agrees(tmp_path: Path) -> None:
    there = image(tmp_path / "there")
    with served() as drive:
        ran("nbdcopy", there, drive.uri)
        os.truncate(there, drive.state()["capacity_bytes"])
        nbdkit = ("nbdkit", "--filter=checkwrite", "nbd", f"uri={drive.uri}")
        ran(*nbdkit, "--run", f"nbdcopy {there} $nbd")


@needs("fio")
def test_fio_verifies_random_writes() -> None:
    job = ("--name=verified", "--ioengine=nbd", "--rw=randwrite", "--bs=4k", "--iodepth=32")
    # Without the last word fio leaves a file of its state in the checkout.
    verify = ("--size=16m", "--verify=crc32c", "--verify_backlog=64", "--fsync=32")
    verify += ("--verify_state_save=0",)
    with served() as drive:
        ran("fio", *job, *verify, f"--uri={drive.uri}")
        state = drive.state()
    assert state["writes"] >= 4096 and state["flushes"] > 0 and state["failed"] == 0


@needs("fio")
def test_a_timed_drive_takes_its_time() -> None:
    """Programs of 4 ms on a drive that is written through, four times as fast: at least 1 ms each,
    less what the drive's dies differ by."""
    job = ("--name=w", "--ioengine=nbd", "--rw=randwrite", "--bs=4k", "--size=1m", "--iodepth=1")
    sets = (
        "controller.acknowledge=write-through",
        "controller.gather=false",
        "nand.slc.tprog=4ms",
    )
    with served(sets=sets, is_timed=True, speed=4) as drive:
        told = ran("fio", *job, "--output-format=json", f"--uri={drive.uri}")
    (row,) = json.loads(told[told.index("{") :])["jobs"]
    assert row["write"]["total_ios"] == 256
    assert row["write"]["lat_ns"]["min"] >= 0.8e6
    assert drive.outcome["answers"] >= 256
    assert drive.outcome["lateness_us_p50"] is not None
