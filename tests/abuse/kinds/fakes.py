"""Programs called fio that are something else: what each may answer, say, and how it may end."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sandbox import Sandbox, program

_SCRIPT = """#!/bin/sh
if [ "$1" = --version ]; then {version}; exit 0; fi
for word in "$@"; do case "$word" in --output=*) place="${{word#--output=}}";; esac; done
{says}
[ -n "$place" ] && cat {answer} > "$place"
{ends}
"""
_GOOD = "echo fio-3.33"
_VERSIONS = (
    *("exit 0", "echo", "echo fio-", "echo fio-3.33 and more", "echo fio-999999999.1", "exit 7"),
    *("printf '\\377\\000'", "printf 'fio-3.33\\033[2J'", "kill -9 $$", "yes fio-3.33"),
    *("echo fio-3.1", "cat /dev/zero", "echo fio-3.33 >&2", "env"),
)
_SAYS = (
    *("", "", "printf '\\033]0;x\\007\\033[31m' >&2", "yes no | head -n 9999 >&2"),
    *("head -c 999999 /dev/zero >&2", "printf '\\377\\376' >&2", "echo no; echo no >&2"),
    *("printf '\\r[r=99999999999999999999G/s]\\r'", "yes '[w=1e9GiB/s]' | head -n 9999"),
)
_ENDS = ("exit 0", "exit 0", "exit 1", "exit 255", *(f"kill -{n} $$" for n in (1, 6, 9, 11, 15)))
_LATENCY = {"min": 1, "max": 2, "mean": 1.5, "stddev": 0.0, "N": 4, "bins": {"1": 4}}
_SIDE = {"total_ios": 64, "io_bytes": 1 << 26, "io_kbytes": 1 << 16, "runtime": 9, "bw": 1} | {
    name: _LATENCY for name in ("slat_ns", "clat_ns", "lat_ns")
}
_ODD = (
    *(None, True, -1, 1.5, 10**40, 10**400, "", "x", "\x1b[2J", [], {}, [None], {"": 0}),
    *(float("nan"), float("inf"), -(2**63), 2**64),
)


def case(box: Sandbox) -> None:
    """A program that is almost fio, and the commands that start it."""
    folder = box.inside / "bin"
    folder.mkdir()
    rng = box.rng
    is_asked_only = rng.random() < 0.3
    box.write("bin/answer", rng.choice((_document, _text))(rng))
    script = _SCRIPT.format(
        version=rng.choice(_VERSIONS) if is_asked_only else _GOOD,
        says=rng.choice(_SAYS),
        answer=folder / "answer",
        ends=rng.choice(_ENDS),
    )
    box.write("bin/fio", script)
    (folder / "fio").chmod(0o755)
    work = _with(folder)
    jobs = ("--name=a", "--size=1m", "--bs=64k", "--rw=randrw")
    box.call("fio", *jobs, "--on", "./probe.bin", work=work)
    box.call("fio", *jobs, "--on", "./probe.bin", "--out", "kept", work=work)
    battery = ("--battery", "fill:patterns=1m-q1,passes=1,idle_s=0", "--quiet", "--no-report")
    box.call("test", "./probe.bin", "--size", "32MiB", *battery, "--out", "run", work=work)


def _with(folder: Path) -> Callable[[Sequence[str]], int | str | None]:
    def work(arguments: Sequence[str]) -> int | str | None:
        os.environ["PATH"] = f"{folder}:/usr/bin:/bin"
        return program(arguments)

    return work


def _document(rng: random.Random) -> str:
    """JSON of fio's, of which something is another thing."""
    names = ["a", "fill", "probe", "job0", *(f"j{n}" for n in range(3))]
    jobs: list[Any] = [
        {"jobname": name, "groupid": 0, "error": 0, "read": dict(_SIDE), "write": dict(_SIDE)}
        for name in names
    ]
    document: dict[str, Any] = {"fio version": "fio-3.33", "jobs": jobs}
    for _ in range(rng.randint(0, 3)):
        _spoil(rng, document)
    text = json.dumps(document, indent=1)
    return f"fio: a warning\n{text}" if rng.random() < 0.2 else text


def _spoil(rng: random.Random, value: Any) -> None:
    while isinstance(value, dict | list) and value:
        place = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if rng.random() < 0.4 or not isinstance(value[place], dict | list):
            if rng.random() < 0.3 and isinstance(value, dict):
                del value[place]
            else:
                value[place] = rng.choice(_ODD)
            return
        value = value[place]


def _text(rng: random.Random) -> str:
    return rng.choice(
        (
            *("", "{", "[]", "{}", '{"jobs": []}', '{"jobs": [[]]}', "null", "\x1b]0;x\x07"),
            *('{"a":' * 9999, "{\n" * 9999, "[" * 99999, '{"jobs": [{"a": NaN}]}'),
            *('{"jobs": [{"jobname": "a", "error": "no"}]}', "a" * 999999, "{" + "9" * 5000),
        )
    )
