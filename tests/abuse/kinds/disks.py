"""Disks that are full, read-only or limited: what is lost is said, and more room mends it."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox import Sandbox

from kinds.prepared import TWIN, differences, test_words


def case(box: Sandbox) -> None:
    """A run, an export, a report or fio's answer where there is too little room."""
    needed = sum(path.stat().st_size for path in (box.prepared / "run").rglob("*"))
    room = box.rng.choice((0, 4096, box.rng.randrange(needed), box.rng.randrange(3 * needed)))
    if os.geteuid() == 0 and box.rng.random() < 0.7:
        with _small_disk(box.inside / "disk", room) as disk:
            _full(box, disk)
    else:
        _limited(box, room)


def _full(box: Sandbox, disk: Path) -> None:
    """On a disk of its own, which then gets more room."""
    words = _words(box, "disk/out")
    if box.rng.random() < 0.15:
        _remount(disk, "ro")
    first = box.call(*words)
    left = sorted(str(path.relative_to(disk)) for path in disk.rglob("*"))
    if first.code not in (0, 1, 2, 3):
        box.fail(f"a full disk ended in exit code {first.code}")
    if first.code != 0 and words[0] == "export" and any(_is_whole(name) for name in left):
        box.fail(f"a full disk left {left[:4]} of an export")
    _remount(disk, "rw,size=64m")
    _mended(box, words, first.code, disk / "out")


def _limited(box: Sandbox, room: int) -> None:
    """No file may grow beyond so much, as with a quota."""
    (box.inside / "disk").mkdir()
    words = _words(box, "disk/out")
    first = box.call(*words, limits=((resource.RLIMIT_FSIZE, max(room, 1)),))
    _mended(box, words, first.code, box.inside / "disk" / "out")


def _words(box: Sandbox, out: str) -> tuple[str, ...]:
    if not (box.inside / "run").exists():
        shutil.copytree(box.prepared / "run", box.inside / "run")
        os.symlink(box.prepared / "run", box.inside / "whole")
    fio = ("fio", "--name=a", "--rw=write", "--size=1m", "--write_lat_log=disk/log", "--on", *TWIN)
    choices = [
        test_words(out),
        test_words(out),
        ("export", "run", "--format", box.rng.choice(("csv", "parquet", "fio-json")), "--out", out),
        ("report", "run", "--out", out),
        ("compare", "run", "whole", "--out", out),
        (*fio, "--output", out),
        ("fio", "--convert", "run", "--out", out),
    ]
    return box.rng.choice(choices)


def _mended(box: Sandbox, words: tuple[str, ...], code: int, out: Path) -> None:
    """With room the same command, or the run that is gone on with, ends well."""
    if words[0] != "test":
        if words[0] != "export" or not out.exists():
            box.call(*words, codes=(0,))
        return
    if code != 0 and (out / "manifest.json").exists():
        box.call("test", "--resume", "disk/out", "--quiet", codes=(0,))
    elif code != 0:
        shutil.rmtree(out, ignore_errors=True)
        box.call(*words, codes=(0,))
    if wrong := differences(out, box.prepared / "run"):
        box.fail(f"after a full disk the run differs in {wrong}")


def _is_whole(name: str) -> bool:
    return name.startswith("out/") and not name.endswith(".new")


@contextmanager
def _small_disk(folder: Path, room: int) -> Iterator[Path]:
    folder.mkdir()
    size = max(room, 4096)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    subprocess.run(mount, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
