"""Files for `infer`: the samples of every format, damaged."""

from __future__ import annotations

import mutate
from infer_samples import FIGURES, SERIES
from sandbox import Sandbox

# The command is promised 256 MB above what its help takes, which is less than this.
_OPTIONS = (
    *(("--doubled",), ("--interval", "1s"), ("--decimal", "comma"), ("--block-size", "128k")),
    *(("--device", "nvme0n1"), ("--time-column", "1=s"), ("--rate-column", "2=MB/s"), ("--join",)),
)


def case(box: Sandbox) -> None:
    """One file, or two of one fill, with options that decide."""
    rng = box.rng
    names = []
    for number in range(rng.choice((1, 1, 1, 2))):
        kind = rng.choice((*SERIES, *FIGURES))
        name, text = SERIES[kind][:2] if kind in SERIES else FIGURES[kind]
        content = text if isinstance(text, str) else text()
        for _ in range(rng.randrange(3)):
            damage = rng.choice((mutate.of_numbers, mutate.of_lines))
            content = damage(rng, content)
        encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"))
        data = content.encode(encoding, "replace")
        if rng.random() < 0.5:
            data = mutate.of_bytes(rng, data)
        names.append(box.write(f"{number}-{rng.choice((name, 'a.csv', 'f_lat.1.log'))}", data))
    words = [*names, *rng.choice(((), (), *_OPTIONS)), *rng.choice(((), ("--json",)))]
    box.call("infer", *words)
