"""Every output of every command, aimed at what is no regular file."""

from __future__ import annotations

import os
import shutil
import stat

from sandbox import Sandbox

from kinds.prepared import TWIN

_FIO = ("--name=a", "--rw=write", "--size=64k", "--on", *TWIN)
_JOB_LOGS = ("write_iolog", "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log")


def case(box: Sandbox) -> None:
    """One command, one place that it should not write to."""
    rng = box.rng
    shutil.copytree(box.prepared / "run", box.inside / "run")
    os.symlink(box.prepared / "run", box.inside / "whole")
    aim = rng.choice((_somebody_elses, _beside))(box)
    small = "crystaldiskmark:profile=real,loops=1,size=1MiB,mix=off"
    label = ("--capacity", "1 TB", "--interface", "sata", "--cell", "tlc", "--dram", "yes")
    job = ("--name=a", "--rw=read", "--size=64k")
    commands = [
        ("report", "run", "--out", aim),
        ("compare", "run", "whole", "--out", aim),
        ("export", "run", "--format", rng.choice(("csv", "parquet", "fio-json")), "--out", aim),
        ("new", "x", *label, "--out", aim, *rng.choice(((), ("--force",)))),
        ("test", *TWIN, "--battery", small, "--out", aim),
        ("fio", *_FIO, "--output", aim),
        ("fio", *_FIO, f"--output={aim}", "--output-format=json"),
        ("fio", f"--{rng.choice(_JOB_LOGS)}={_log(box)}", *_FIO),
        ("fio", "--convert", "run", "--out", aim),
        ("fio", *job, f"--output={aim}", "--on", "./probe.bin"),
        ("sweep", *TWIN, "--vary", "op=0.07", "--battery", "fill", "--out", aim),
    ]
    words = rng.choice(commands)
    box.call(*words, stop_after_s=4.0)


def _somebody_elses(box: Sandbox) -> str:
    """A pipe, a device, or something in a folder that is a file."""
    nodes = [name for name in ("fifo", "null", "block") if (box.outside / name).exists()]
    return str(box.outside / box.rng.choice((*nodes, "file/x")))


def _log(box: Sandbox) -> str:
    """A log's name; what fio adds to it is a device or a pipe."""
    for name in ("log_lat.1.log", "log_bw.1.log", "log_clat_hist.1.log", "log"):
        if box.rng.random() < 0.7 and (box.outside / "block").exists():
            os.mknod(
                box.inside / name, 0o600 | stat.S_IFBLK, (box.outside / "block").stat().st_rdev
            )
        else:
            os.mkfifo(box.inside / name)
    return "log"


def _beside(box: Sandbox) -> str:
    """Odd names and links of the case's own."""
    here = box.inside
    os.symlink("nowhere", here / "dangling")
    os.symlink("loop", here / "loop")
    os.symlink(box.outside / "fifo", here / "to-fifo")
    (here / "folder").mkdir()
    (here / "full").symlink_to("/dev/full")
    names = ("dangling", "loop", "to-fifo", "folder", "full", "x" * 300, "a/b/c", "\udcff.html")
    return box.rng.choice((*names, "-", "", " ", "run/manifest.json", "folder/", "\x1b[31mx"))
