"""Specs and values of the command line: checked, shown, and run on a moment's job."""

from __future__ import annotations

import mutate
import targets
from sandbox import Sandbox

_JOB = ("--name=a", "--rw=randwrite", "--size=1m", "--runtime=1")


def case(box: Sandbox) -> None:
    """One spec, or one command line, and what is asked of it."""
    rng = box.rng
    if rng.random() < 0.3:
        data = mutate.spec(rng)
        box.write("a.toml", data)
        box.call("check", "./a.toml", work=lambda arguments: targets.check_spec(data))
        return
    if rng.random() < 0.5:
        drive = box.write("./a.toml", mutate.spec(rng))
        sets: list[str] = []
    else:
        drive = rng.choice(("bx500-240", "bx500-240-nocache"))
        sets = [f"--set={mutate.spec_set(rng)}" for _ in range(rng.choice((1, 1, 2, 4)))]
    if rng.random() < 0.4:
        scale = rng.choice(("1/64", "1/16", "1/0", "0", "2", "1/1e9", mutate.number(rng)))
        sets.append(f"--scale={scale}")
    if rng.random() < 0.1:
        sets.append(f"--firmware={mutate.text(rng)}".replace("\0", ""))
    draw = rng.random()
    if draw < 0.5:
        box.call("check", drive, *sets, *rng.choice(((), ("--json",))))
    elif draw < 0.7:
        box.call("show", drive, *sets, *rng.choice(((), ("--json",), ("--all",))))
    elif draw < 0.75:
        box.call("diff", drive, "bx500-240")
    elif draw < 0.95:
        box.call("fio", *_JOB, "--on", drive, *sets, stop_after_s=3.0)
    else:
        words = ("--battery", "crystaldiskmark:profile=real,loops=1,size=16MiB,mix=off")
        box.call("test", drive, *sets, *words, "--out", "out", stop_after_s=3.0)
