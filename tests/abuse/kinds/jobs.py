"""Job files and fio's words: read, planned, run on a twin, and through fio itself on a path.

A job may be right and take hours: one that runs is stopped after a moment, and has to hear that.
What goes through fio is small, but for the options that are drawn: the canaries lie beside it.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import mutate
import targets
from sandbox import Sandbox

from kinds.prepared import TWIN

MOMENT_S = 2.0
_FORMATS = ("normal", "json", "json+", "terse", "normal,json")


def case(box: Sandbox) -> None:
    """One job file or command line, one way to run it."""
    rng = box.rng
    paths = sorted(str(path) for path in box.outside.iterdir())
    draw = rng.random()
    if draw < 0.15 and shutil.which("fio"):
        return _on_path(box, paths)
    if draw < 0.45:
        data = mutate.job_file(rng, paths)
        box.write("a.fio", data)
        box.call(
            "fio", "a.fio", "--parse-only", work=lambda arguments: targets.check_job_file(data)
        )
        return
    if draw < 0.55:
        words: Sequence[str] = mutate.job_words(rng, paths)
    else:
        words = (box.write("a.fio", mutate.job_file(rng, paths)),)
    if draw < 0.8:
        box.call("fio", *words, "--parse-only", *rng.choice(((), ("--on", *TWIN))))
        return
    wishes = [f"--output-format={rng.choice(_FORMATS)}"]
    if rng.random() < 0.15:
        wishes.append(f"--status-interval={rng.choice(('1s', '10ms', mutate.number(rng)))}")
    if rng.random() < 0.2:
        wishes += rng.choice((["--readonly"], ["--quiet"], ["--section", mutate.text(rng)]))
    wishes = [wish.replace("\0", "") for wish in wishes]
    box.call("fio", *words, *wishes, "--on", *TWIN, stop_after_s=MOMENT_S)


def _on_path(box: Sandbox, paths: Sequence[str]) -> None:
    """fio itself, on files of ours beside somebody else's."""
    rng = box.rng
    lines = ["[global]", "size=1m", "runtime=1", "bs=4k", "ioengine=psync", "[a]"]
    lines.append(f"rw={rng.choice(('read', 'write', 'randrw', 'randread', 'readwrite'))}")
    if rng.random() < 0.3:
        lines.append(f"filename={rng.choice(('x', 'x:y', *paths))}")
    for _ in range(rng.choice((1, 1, 2, 3))):
        lines.insert(rng.randrange(1, len(lines) + 1), _harmful(box, paths))
    words = [box.write("a.fio", "\n".join(lines) + "\n")]
    if rng.random() < 0.3:
        option = _harmful(box, paths)
        while option.startswith("write_"):
            option = _harmful(box, paths)  # A log may go wherever somebody types.
        words = ["--name=a" + rng.choice(("", f"\nexec_prerun=cp {paths[0]} touched"))]
        words += ["--rw=read", "--size=1m", "--runtime=1", f"--{option}"]
    wishes = rng.choice(((), ("--readonly",), ("--output-format=json",)))
    box.call("fio", *words, *wishes, "--on", "./probe.bin", stop_after_s=MOMENT_S)
    if (box.inside / "touched").exists():
        box.fail("a command of a job file was executed")
    for left in sorted(box.inside.glob("probe.bin*")):
        box.fail(f"{left.name} is left")


_PATHS = (
    *("iomem=mmapshared", "mem=mmap", "mmap=", "iomem=mmaphuge", "filename=", "directory="),
    *(
        "write_iolog=",
        "write_bw_log=",
        "write_lat_log=",
        "read_iolog=",
        "opendir=",
        "hugepage-size=",
    ),
    *(
        "exec_prerun=cp /dev/null ",
        "exec_postrun=cp /dev/null ",
        "verify_state_save=",
        "ioengine=external:",
    ),
    *("cgroup=", "replay_redirect=", "filename_format=", "logfile=", "aux-path=", "log_store="),
    *("cpus_allowed=", "fsync_on_close=", "verify_dump=", "write_hist_log=", "iolog="),
)


def _harmful(box: Sandbox, paths: Sequence[str]) -> str:
    """An option that reaches a path, or any of fio's; never more than the drive of a test takes."""
    rng = box.rng
    if rng.random() < 0.5:
        option = rng.choice(_PATHS)
        return option + ("" if option[-1] in "= " else ":") + rng.choice(paths)
    while True:
        option = mutate.option(rng, paths).replace("\n", " ").replace("\r", " ")
        # Whatever changes the machine for all of us is tried where it can be watched, by hand.
        if option.partition("=")[0] not in ("ioscheduler", "lockmem", "invalidate", "prio", "nice"):
            return option
