"""fio job files on real files: fio itself runs them, on files of our own that are removed.

Each file that the jobs name becomes one of ours, at the path that the user gave (more than one: the
path with a number behind it), as large as the furthest that any job reaches, and is filled with
random data first, as a sparse file answers reads from nothing. fio sees links to them in an empty
directory and no other name: what a job file says of places on this machine reaches no file of
anybody's. Invariants as in `real`: nothing that was there before is opened, no command of a job
file is executed, and no fio is left running.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flashtwin import outputs
from flashtwin.drives import real_file, real_fio
from flashtwin.drives.protocol import Interrupted
from flashtwin.errors import DONE, MISS, TERMINATED
from flashtwin.fiojob.language.job import FioJob, Setting
from flashtwin.fiojob.language.kinds import Percent
from flashtwin.fiojob.language.text import text_of
from flashtwin.fiojob.language.where import JobFileError
from flashtwin.fiojob.plan.clones import clones
from flashtwin.fiojob.plan.files import Target, is_whole, names, parts

# Engines that reach a file by its name.
LOCAL = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring", "posixaio")
# What a job file may not do to this machine, or what our own files decide.
_DROPPED = (
    "exec_prerun",
    "exec_postrun",
    "directory",
    "fallocate",
    "unlink",
    "unlink_each_loop",
    "create_only",
    "cgroup",
    "uid",
    "gid",
)
_WRITTEN = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "write_iolog")
_POLL_S = 0.1
_NO_LIMIT = 1 << 60
_GRAIN = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The jobs as fio gets them, and each file's name in fio's directory with its length."""

    text: str
    files: dict[str, int]


def prepare(jobs: Sequence[FioJob], target: str) -> Prepared:
    """The job file for files of our own; jobs whose files have no size of their own are refused."""
    whole = Target(name=target, bytes=_NO_LIMIT)
    lengths: dict[str, int] = {}
    for clone in clones(jobs):
        _check(clone.job, [is_whole(name, whole) for name in names(clone)])
        for part in parts(clone, whole):
            name = _link(part.name, whole)
            reach = part.offset + part.size
            lengths[name] = max(lengths.get(name, 0), -(-reach // _GRAIN) * _GRAIN)
    return Prepared(text=text_of([_ours(job, whole) for job in jobs]), files=lengths)


def _check(job: FioJob, wholes: Sequence[bool]) -> None:
    if job["ioengine"] not in LOCAL:
        raise JobFileError(
            job.line("ioengine"),
            f"ioengine={job['ioengine']} does not reach a file",
            hint=f"write one of {', '.join(LOCAL)}",
        )
    if job["read_iolog"]:
        raise JobFileError(
            job.line("read_iolog"),
            "a trace names files of its own, which fio would write to wherever they are",
            hint="replay it on a simulated drive: --on bx500-240",
        )
    unknown = job["size"] is None and not job.has("filesize")
    if isinstance(job["size"], Percent) or (unknown and (any(wholes) or job["fill_device"])):
        raise JobFileError(
            job.line("size"),
            f"job {job.name} takes its size from its target, which is a file to be made",
            hint="write size= in bytes, for example size=1g",
        )


def _link(name: str, target: Target) -> str:
    """The name of a file in the directory of fio: none of the characters that fio reads."""
    if is_whole(name, target):
        return "target"
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)


def _ours(job: FioJob, target: Target) -> FioJob:
    """The job with our files for its own, and without what it may not do."""
    settings = {name: one for name, one in job.settings.items() if name not in _DROPPED}

    def put(name: str, value: object) -> None:
        settings[name] = Setting(value=value, where=job.where, text="")

    # Copies of a job have files of their own, which fio names itself where no name is given.
    shared = {tuple(names(clone)) for clone in clones([_alone(job)])}
    if len(shared) == 1:
        (own,) = shared
        put("filename", ":".join(_link(name, target) for name in own))
    else:
        for clone in clones([_alone(job)]):
            for name in names(clone):
                if _link(name, target) != name.rpartition("/")[2]:
                    raise JobFileError(
                        job.where, f"{name} is no name for a file here", hint="give filename="
                    )
    put("allow_file_create", False)
    for name in _WRITTEN:
        if name in settings:
            put(name, str(Path.cwd() / (str(settings[name].value) or job.name)))
    return replace(job, settings=settings)


def _alone(job: FioJob) -> FioJob:
    """The job alone, which waits for no other."""
    kept = {name: one for name, one in job.settings.items() if name != "wait_for"}
    return replace(job, settings=kept)


def run(
    prepared: Prepared,
    path: Path,
    arguments: Sequence[str],
    say: Callable[[str], None],
    stopped: Callable[[], int | None],
) -> int:
    """Make and fill the files, let fio run, remove them; fio's exit code, or 1 for any of its own.

    `stopped` tells the signal that somebody sent, if so. fio gets it too, and ends by telling what
    it has counted (exit code 128); while the files are filled there is nothing to be told, and
    `Interrupted` is raised.
    """
    where = real_file.place(path)
    fio = real_fio.find()
    total = sum(prepared.files.values())
    real_file.check_space(where, total)
    made: list[real_file.OwnFile] = []
    with tempfile.TemporaryDirectory(prefix="flashtwin-fio-", ignore_cleanup_errors=True) as work:
        try:
            for number, (name, length) in enumerate(prepared.files.items()):
                own = where if number == 0 else real_file.place(Path(f"{where}.{number}"))
                made.append(real_file.create(own, length))
                (Path(work) / name).symlink_to(own.absolute())
            say(f"{len(made)} file(s) at {where}, {total} bytes; removed at the end")
            say("filling with random data first: a sparse file answers from nothing")
            _fio(fio, _filling(prepared.files), work, ["--output=fill.txt"], stopped)
            if stopped():
                raise Interrupted("the files were being filled, and nothing was measured")
            code = _fio(fio, prepared.text, work, arguments, stopped)
            return code if code in (DONE, TERMINATED) else MISS
        finally:
            for file in made:
                real_file.remove(file)


def _filling(files: dict[str, int]) -> str:
    lines = ["[global]", "rw=write", "bs=1m", "refill_buffers=1", "end_fsync=1", "ioengine=psync"]
    for number, (name, length) in enumerate(files.items()):
        lines += [f"[fill{number}]", f"filename={name}", f"size={length}", "stonewall=1"]
    return "\n".join(lines) + "\n"


def _fio(
    fio: real_fio.Fio,
    text: str,
    work: str,
    arguments: Sequence[str],
    stopped: Callable[[], int | None],
) -> int:
    outputs.write(Path(work) / "job.fio", text, within=Path(work))
    process = subprocess.Popen(
        [fio.program, *arguments, "job.fio"],
        cwd=work,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
    )
    try:
        return _ended(process, stopped)
    finally:
        real_fio.end(process)


def _ended(process: subprocess.Popen[bytes], stopped: Callable[[], int | None]) -> int:
    """Wait for fio, which hears once of a signal; it takes its time to tell what it has."""
    told = False
    while True:
        try:
            return process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            number = stopped()
        if number is not None and not told:
            # fio has no handler for a terminal that hangs up.
            sent = signal.SIGINT if number == signal.SIGHUP else number
            os.killpg(process.pid, sent)
            told = True
