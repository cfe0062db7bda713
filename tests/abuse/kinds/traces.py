"""Traces: replayed on a twin as fast as it can, or read by a job."""

from __future__ import annotations

import mutate
from sandbox import Sandbox

from kinds.prepared import TWIN


def case(box: Sandbox) -> None:
    """One trace, told or guessed to be of its format."""
    rng = box.rng
    paths = sorted(str(path) for path in box.outside.iterdir())
    content, form = mutate.trace(rng, paths)
    name = box.write("a.trace", content)
    words = ["--trace", name, f"--speed={rng.choice(('max', '2x', '1', mutate.number(rng)))}"]
    if rng.random() < 0.15:
        words = ["--name=a", f"--read_iolog={rng.choice((name, *paths))}", "--replay_no_stall=1"]
    if rng.random() < 0.3:
        words += ["--trace-format", rng.choice((*mutate.FORMS, form))]
    if rng.random() < 0.5:
        words += ["--trace-fit", "wrap"]
    if rng.random() < 0.2:
        words += ["--trace-disk", rng.choice(("0", "1", "hm.1", "sda", "8,0", mutate.number(rng)))]
    if rng.random() < 0.2:
        words.append(f"--{mutate.option(rng)}".replace("\0", ""))
    words += rng.choice(((), ("--parse-only",), ("--readonly",)))
    words = [word.replace("\0", "") for word in words]
    box.call("fio", *words, "--on", *TWIN, stop_after_s=2.0)
