"""Signals at any moment of a command, and the same command or a resume after them.

A run that was stopped however often ends with the bytes of one that was not.
"""

from __future__ import annotations

import json
import os
import shutil
import signal

from sandbox import Sandbox

from kinds.prepared import TWIN, differences, test_words

ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FIO = ("--name=a", "--rw=randrw", "--size=256m", "--runtime=60", "--time_based", "--numjobs=4")


def case(box: Sandbox) -> None:
    """One of the commands that take long."""
    box.rng.choice((_test, _test, _twin, _path, _page))(box)


def _number(box: Sandbox) -> int:
    return box.rng.choice((*ASKED, signal.SIGKILL))


def _test(box: Sandbox) -> None:
    """A run that is stopped up to four times."""
    words = test_words("out")
    for _ in range(box.rng.choice((1, 1, 2, 4))):
        number = _number(box)
        ended = box.call(*words, stop_after_s=box.rng.random() * 1.5, number=number)
        if ended.code == 0:
            break
        _is_told(box, ended.code, number, 130)
        if (box.inside / "out" / "manifest.json").exists():
            words = ("test", "--resume", "out", "--quiet")
    else:
        box.call(*words, codes=(0,))
    if wrong := differences(box.inside / "out", box.prepared / "run"):
        box.fail(f"a run that was stopped differs in {wrong}")


def _twin(box: Sandbox) -> None:
    """fio's jobs on a twin: the answer is there, whatever asked for the end."""
    number = _number(box)
    words = ("fio", *_FIO, "--output-format=json", "--on", *TWIN)
    ended = box.call(*words, stop_after_s=0.1 + box.rng.random() * 2, number=number)
    _is_told(box, ended.code, number, 128)
    if number != signal.SIGKILL and ended.code == 128 and not _is_json(ended.stdout):
        box.fail("a signal lost the answer of fio's jobs")


def _path(box: Sandbox) -> None:
    """fio itself: it goes with us, and our files with it."""
    number = _number(box)
    words = ("fio", "--name=a", "--rw=randrw", "--size=4m", "--runtime=20", "--time_based")
    ended = box.call(
        *words, "--on", "./probe.bin", stop_after_s=box.rng.random() * 2, number=number
    )
    _is_told(box, ended.code, number, 128)
    if number != signal.SIGKILL and list(box.inside.glob("probe.bin*")):
        box.fail("a signal left the file of a target")


def _page(box: Sandbox) -> None:
    """What makes files of a run: none of them, or whole; and the run stays as it was."""
    shutil.copytree(box.prepared / "run", box.inside / "run")
    os.symlink(box.prepared / "run", box.inside / "whole")
    form = box.rng.choice(("csv", "parquet", "fio-json"))
    words = box.rng.choice(
        (
            ("report", "run", "--out", "page.html"),
            ("compare", "run", "whole", "--out", "page.html"),
            ("export", "run", "--format", form, "--out", "exported"),
        )
    )
    number = _number(box)
    ended = box.call(*words, stop_after_s=box.rng.random(), number=number)
    _is_told(box, ended.code, number, 130)
    page = box.inside / "page.html"
    if page.exists() and not page.read_text().rstrip().endswith("</html>"):
        box.fail("a signal left half a page")
    if ended.code != 0 and words[0] == "export" and (box.inside / "exported").exists():
        if number != signal.SIGKILL:
            box.fail("a signal left half an export")
        shutil.rmtree(box.inside / "exported")
    if ended.code != 0:
        box.call(*words, codes=(0,))
    if wrong := differences(box.inside / "run", box.prepared / "run"):
        box.fail(f"reading a run changed {wrong}")


def _is_told(box: Sandbox, code: int, number: int, expected: int) -> None:
    """A signal that asks ends in the documented code; one of the first moments may end Python."""
    told = (0, expected, 130, -number)
    if code not in told:
        box.fail(f"{signal.Signals(number).name} ended in exit code {code}")


def _is_json(text: str) -> bool:
    try:
        json.loads(text[text.find("{") :])
    except ValueError:
        return False
    return True
